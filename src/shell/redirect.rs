//! Reading of redirections and here-documents.

use super::cursor::{Cursor, MAX_DEPTH};
use super::parser::plain_word;
use super::script::{Part, Redirection, RedirectionKind, Script, Word};
use super::word::Ends;
use std::sync::Arc;

impl Cursor<'_> {
    pub(super) fn redirection(&mut self) -> Option<Redirection> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'0'..=b'9')) {
            return None;
        }
        if self.take("&>>") || self.take("&>") {
            return Some(self.redirect_to(None, RedirectionKind::Both));
        }
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let descriptor = self.rest()[..digits].parse().ok();
        self.at += digits;
        let operators = [
            ("<<<", RedirectionKind::Text),
            ("<<-", RedirectionKind::Text),
            ("<<", RedirectionKind::Text),
            ("<>", RedirectionKind::ReadWrite),
            ("<&", RedirectionKind::Duplicate),
            (">>", RedirectionKind::Append),
            (">&", RedirectionKind::Duplicate),
            (">|", RedirectionKind::Write),
            (">", RedirectionKind::Write),
            ("<", RedirectionKind::Read),
        ];
        // `<(…)` and `>(…)` are words.
        let is_process = self.is_at("<(") || self.is_at(">(");
        let found = operators
            .into_iter()
            .find(|(operator, _)| !is_process && self.take(operator));
        if is_process && digits == 0 {
            return Some(self.process(start));
        }
        let Some((operator, kind)) = found else {
            self.at = start;
            return None;
        };
        if operator == "<<" || operator == "<<-" {
            self.skip_blanks();
            let mark = self.word(Ends::Operator);
            let text = self.here_document(&mark, operator == "<<-");
            return Some(Redirection {
                descriptor,
                kind,
                target: plain_word(&text, start),
            });
        }
        Some(self.redirect_to(descriptor, kind))
    }

    fn redirect_to(&mut self, descriptor: Option<u32>, kind: RedirectionKind) -> Redirection {
        self.skip_blanks();
        let target = self.word(Ends::Operator);
        let is_file = target
            .literal()
            .is_none_or(|text| text != "-" && !text.bytes().all(|byte| byte.is_ascii_digit()));
        let kind = match kind {
            RedirectionKind::Duplicate if is_file => RedirectionKind::Both,
            kind => kind,
        };
        Redirection {
            descriptor,
            kind,
            target,
        }
    }

    /// `<(…)`: its commands run beside this one, which is all that is kept of it.
    fn process(&mut self, start: usize) -> Redirection {
        self.at += 2;
        let script = if self.depth < MAX_DEPTH {
            self.depth += 1;
            let script = self.script_until(&[")"]);
            self.depth -= 1;
            script
        } else {
            Script::default()
        };
        self.take(")");
        let source = self.since(start).to_owned();
        Redirection {
            descriptor: None,
            kind: RedirectionKind::Text,
            target: Word {
                parts: vec![Part::Command {
                    script: Arc::new(script),
                    source: source.clone(),
                    is_quoted: true,
                }],
                source: source.into(),
                at: start,
            },
        }
    }
}
