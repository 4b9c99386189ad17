//! Reading of compound commands: conditions, loops, groups and functions.

use super::cursor::Cursor;
use super::parser::plain_word;
use super::script::{Form, Script, Word};
use super::word::Ends;
use std::sync::Arc;

impl Cursor<'_> {
    pub(super) fn compound(&mut self) -> Option<Form> {
        if self.is_at("((")
            && let Some(inner) = self.arithmetic_text(2)
        {
            self.at += inner.len() + 4;
            return Some(Form::Arithmetic(inner));
        }
        if self.take("(") {
            let script = self.script_until(&[")"]);
            self.take(")");
            return Some(Form::Subshell(script));
        }
        if self.take_word("{") {
            let script = self.script_until(&["}"]);
            self.take_word("}");
            return Some(Form::Group(script));
        }
        if self.take_word("if") {
            return Some(self.conditional());
        }
        if self.is_at_word("while") || self.is_at_word("until") {
            return Some(self.repetition());
        }
        if self.take_word("for") {
            return Some(self.for_each());
        }
        if self.take_word("case") {
            return Some(self.case());
        }
        if self.is_at_word("[[") {
            return Some(self.double_bracket());
        }
        self.function()
    }

    fn conditional(&mut self) -> Form {
        let mut branches = Vec::new();
        loop {
            let condition = self.script_until(&["then", "fi", "else", "elif"]);
            self.take_word("then");
            branches.push((condition, self.script_until(&["elif", "else", "fi"])));
            if !self.take_word("elif") {
                break;
            }
        }
        let otherwise = if self.take_word("else") {
            self.script_until(&["fi"])
        } else {
            Script::default()
        };
        self.take_word("fi");
        Form::If {
            branches,
            otherwise,
        }
    }

    fn repetition(&mut self) -> Form {
        let is_until = self.take_word("until");
        if !is_until {
            self.take_word("while");
        }
        let condition = self.script_until(&["do", "done"]);
        Form::Loop {
            is_until,
            condition,
            body: self.body(),
        }
    }

    fn body(&mut self) -> Script {
        self.skip_lines();
        if self.take(";") {
            self.skip_lines();
        }
        self.take_word("do");
        let body = self.script_until(&["done"]);
        self.take_word("done");
        body
    }

    fn for_each(&mut self) -> Form {
        self.skip_blanks();
        if self.is_at("((")
            && let Some(inner) = self.arithmetic_text(2)
        {
            self.at += inner.len() + 4;
            let mut pieces = inner.splitn(3, ';').map(|piece| piece.trim().to_owned());
            let mut next = || pieces.next().unwrap_or_default();
            let (start, condition, step) = (next(), next(), next());
            return Form::Count {
                start,
                condition,
                step,
                body: self.body(),
            };
        }
        let variable = self.word(Ends::Operator).source;
        self.skip_lines();
        let words = self.take_word("in").then(|| {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                let word = self.word(Ends::Operator);
                if word.source.is_empty() {
                    return words;
                }
                words.push(word);
            }
        });
        Form::For {
            variable: variable.to_string(),
            words,
            body: self.body(),
        }
    }

    fn case(&mut self) -> Form {
        self.skip_blanks();
        let subject = self.word(Ends::Operator);
        self.skip_lines();
        self.take_word("in");
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.peek().is_none() || self.take_word("esac") {
                break;
            }
            let start = self.at;
            arms.push(self.case_arm());
            if self.at == start {
                break;
            }
        }
        Form::Case { subject, arms }
    }

    fn case_arm(&mut self) -> (Vec<Word>, Script) {
        self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.word(Ends::Operator));
            self.skip_blanks();
            if !self.take("|") {
                break;
            }
        }
        self.take(")");
        let script = self.script_until(&[";;", ";&", "esac"]);
        for end in [";;&", ";;", ";&"] {
            if self.take(end) {
                break;
            }
        }
        (patterns, script)
    }

    /// `[[ … ]]` as a simple command, its operators as plain words.
    fn double_bracket(&mut self) -> Form {
        let mut words = Vec::new();
        loop {
            while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.at += 1;
            }
            let word = self.bracket_word();
            if word.source.is_empty() {
                break;
            }
            let is_last = *word.source == *"]]";
            words.push(word);
            if is_last {
                break;
            }
        }
        Form::Simple {
            assignments: Vec::new(),
            words,
        }
    }

    fn bracket_word(&mut self) -> Word {
        let at = self.at;
        let follows_match = self.text[..at].trim_end().ends_with("=~");
        for operator in ["&&", "||", "(", ")"] {
            if !follows_match && self.take(operator) {
                return plain_word(operator, at);
            }
        }
        // `]];` ends the test although no blank follows.
        if self.is_at_word("]]") {
            self.take("]]");
            return plain_word("]]", at);
        }
        let mut word = self.word(Ends::Blank);
        if !follows_match && word.source.len() > 1 && word.source.ends_with(')') {
            let closing = word.source.len() - word.source.trim_end_matches(')').len();
            if !word.source.contains('(') {
                self.at = at + word.source.len() - closing;
                let text = self.since(at).to_owned();
                let mut again = Cursor::new(&text, self.depth);
                word = again.word(Ends::Blank);
                word.at = at;
            }
        }
        word
    }

    fn function(&mut self) -> Option<Form> {
        let start = self.at;
        let is_keyword = self.take_word("function");
        self.skip_blanks();
        let length = self
            .rest()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            .count();
        let name = self.rest()[..length].to_owned();
        self.at += length;
        self.skip_blanks();
        let has_parentheses = self.take("(") && {
            self.skip_blanks();
            self.take(")")
        };
        if name.is_empty() || !(has_parentheses || is_keyword) {
            self.at = start;
            return None;
        }
        self.skip_lines();
        let body = Arc::new(self.command());
        Some(Form::Function { name, body })
    }
}
