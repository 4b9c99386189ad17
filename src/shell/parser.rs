//! Reading of commands.

use super::cursor::{Cursor, MAX_DEPTH, is_name};
use super::script::{Assignment, Command, Connector, Form, List, Part, Pipeline, Script, Word};
use super::word::Ends;

/// The longest text that is read as a script; what is longer is opaque.
const MAX_LENGTH: usize = 256 * 1024;

/// Reads a script. Every text has a tree: what cannot be read becomes an opaque command.
pub fn parse(text: &str) -> Script {
    if text.len() > MAX_LENGTH {
        return opaque_script(String::new());
    }
    Cursor::new(text, 0).whole_script()
}

fn opaque_script(text: String) -> Script {
    Script {
        lists: vec![List {
            first: Pipeline {
                is_negated: false,
                commands: vec![Command {
                    form: Form::Opaque(text),
                    redirections: Vec::new(),
                    at: 0,
                }],
            },
            rest: Vec::new(),
            is_background: false,
        }],
    }
}

impl Cursor<'_> {
    /// Reads everything; a stray end of a construct is an opaque command.
    pub(super) fn whole_script(&mut self) -> Script {
        let mut script = Script::default();
        loop {
            script.lists.append(&mut self.script_until(&[]).lists);
            let start = self.at;
            if self.bump().is_none() {
                return script;
            }
            script
                .lists
                .append(&mut opaque_script(self.since(start).to_owned()).lists);
        }
    }

    /// Reads commands up to one of these words or operators, which is left to be read.
    pub(super) fn script_until(&mut self, ends: &[&str]) -> Script {
        let mut script = Script::default();
        loop {
            self.skip_lines();
            if self.peek().is_none() || self.is_at_end(ends) {
                return script;
            }
            let start = self.at;
            let mut list = self.list();
            self.skip_blanks();
            match self.peek() {
                Some(b';') if !self.is_at(";;") => self.at += 1,
                Some(b'&') => {
                    self.at += 1;
                    list.is_background = true;
                }
                _ => {}
            }
            if self.at == start {
                return script;
            }
            script.lists.push(list);
        }
    }

    fn is_at_end(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| {
            let is_operator = end.starts_with([')', ';']);
            (is_operator && self.is_at(end)) || (!is_operator && self.is_at_word(end))
        })
    }

    fn list(&mut self) -> List {
        let first = self.pipeline();
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let connector = if self.take("&&") {
                Connector::And
            } else if self.take("||") {
                Connector::Or
            } else {
                break;
            };
            self.skip_lines();
            rest.push((connector, self.pipeline()));
        }
        List {
            first,
            rest,
            is_background: false,
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut is_negated = false;
        loop {
            self.skip_blanks();
            if self.take_word("!") {
                is_negated = !is_negated;
            } else if !self.take_word("time") {
                break;
            }
        }
        let mut commands = vec![self.command()];
        loop {
            self.skip_blanks();
            if self.is_at("||") || !self.take("|") {
                break;
            }
            self.take("&");
            self.skip_lines();
            commands.push(self.command());
        }
        Pipeline {
            is_negated,
            commands,
        }
    }

    pub(super) fn command(&mut self) -> Command {
        let at = self.at;
        if self.depth >= MAX_DEPTH {
            return self.simple(at);
        }
        self.depth += 1;
        let form = self.compound();
        self.depth -= 1;
        match form {
            Some(form) => {
                let mut redirections = Vec::new();
                loop {
                    self.skip_blanks();
                    match self.redirection() {
                        Some(redirection) => redirections.push(redirection),
                        None => break,
                    }
                }
                Command {
                    form,
                    redirections,
                    at,
                }
            }
            None => self.simple(at),
        }
    }

    fn simple(&mut self, at: usize) -> Command {
        let (mut assignments, mut words, mut redirections) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection() {
                redirections.push(redirection);
                continue;
            }
            let word = self.word(Ends::Operator);
            if word.source.is_empty() {
                break;
            }
            let assignment = || assignment(&word).or_else(|| element_assignment(&word));
            match words.is_empty().then(assignment).flatten() {
                Some(mut assignment) => {
                    self.array(&mut assignment);
                    assignments.push(assignment);
                }
                None => words.push(word),
            }
        }
        if assignments.is_empty() && words.is_empty() && redirections.is_empty() {
            return self.unreadable(at);
        }
        Command {
            form: Form::Simple { assignments, words },
            redirections,
            at,
        }
    }

    /// `NAME=(…)`: the list becomes an opaque value.
    fn array(&mut self, assignment: &mut Assignment) {
        if !assignment.value.source.is_empty() || !self.is_at("(") {
            return;
        }
        let start = self.at;
        while let Some(next) = self.bump() {
            if next == ')' {
                break;
            }
        }
        assignment.value.parts = vec![Part::Opaque(self.since(start).to_owned())];
    }

    /// A place where no command can begin: one operator of it is left out.
    fn unreadable(&mut self, at: usize) -> Command {
        let stray = self.at;
        // What closes a construct around this one is left to be read there.
        if !matches!(self.peek(), None | Some(b')' | b'\n' | b';' | b'&' | b'|')) {
            self.bump();
        }
        Command {
            form: Form::Opaque(self.since(stray).to_owned()),
            redirections: Vec::new(),
            at,
        }
    }
}

pub(super) fn plain_word(text: &str, at: usize) -> Word {
    Word {
        parts: vec![Part::Literal {
            text: text.to_owned(),
            is_quoted: true,
        }],
        source: text.into(),
        at,
    }
}

/// The assignment that a word is, if it is one.
pub(super) fn assignment(word: &Word) -> Option<Assignment> {
    let Some(Part::Literal {
        text,
        is_quoted: false,
    }) = word.parts.first()
    else {
        return None;
    };
    let (left, right) = text.split_once('=')?;
    let (name, appends) = match left.strip_suffix('+') {
        Some(name) => (name, true),
        None => (left, false),
    };
    if !is_name(name) {
        return None;
    }
    let mut parts = word.parts.clone();
    parts[0] = Part::Literal {
        text: right.to_owned(),
        is_quoted: false,
    };
    Some(Assignment {
        name: name.to_owned(),
        appends,
        value: Word {
            parts,
            source: word.source.get(left.len() + 1..).unwrap_or_default().into(),
            at: word.at + left.len() + 1,
        },
    })
}

/// `NAME[INDEX]=value`: the array is one variable, of which nobody keeps count.
fn element_assignment(word: &Word) -> Option<Assignment> {
    let (name, rest) = word.source.split_once('[')?;
    let is_one = is_name(name) && (rest.contains("]=") || rest.contains("]+="));
    is_one.then(|| Assignment {
        name: name.to_owned(),
        appends: false,
        value: Word {
            // The commands in the index and the value run.
            parts: [word.parts.as_slice(), &[Part::Opaque(String::new())]].concat(),
            source: word.source.clone(),
            at: word.at,
        },
    })
}

#[cfg(test)]
mod tests;
