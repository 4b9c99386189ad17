//! Reading of words: quotes and expansions.

use super::cursor::{Cursor, MAX_DEPTH, ends_word, is_name};
use super::script::{Operator, Part, Script, Word};
use std::sync::Arc;

/// The longest `$((…))` that is looked for; what is longer is read as commands.
const MAX_ARITHMETIC: usize = 512;

/// Where a word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// At a blank or an operator.
    Operator,
    /// At the `}` of the expansion around it.
    Brace,
    /// At a blank only: the inside of `[[ … ]]`.
    Blank,
}

impl Cursor<'_> {
    /// Reads one word; it is empty when none comes next.
    pub(super) fn word(&mut self, ends: Ends) -> Word {
        let start = self.at;
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            if word_ends(byte, ends) {
                break;
            }
            if parts.is_empty() {
                // Nearly every word has one part, and parts are large.
                parts.reserve_exact(1);
            }
            match byte {
                b'\'' => self.single_quoted(&mut parts),
                b'"' => self.double_quoted(&mut parts),
                b'$' | b'`' => self.expansion(&mut parts, false),
                b'\\' => self.escaped(&mut parts),
                _ => {
                    let plain = self.up_to(|byte| {
                        word_ends(byte, ends) || matches!(byte, b'\'' | b'"' | b'$' | b'`' | b'\\')
                    });
                    push_text(&mut parts, plain, false);
                }
            }
        }
        Word {
            parts,
            source: self.since(start).into(),
            at: start,
        }
    }

    fn escaped(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        match self.bump() {
            Some('\n') | None => {}
            Some(next) => push(parts, next, true),
        }
    }

    fn single_quoted(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        let length = self.rest().find('\'').unwrap_or(self.rest().len());
        let text = self.rest()[..length].to_owned();
        self.at += length;
        self.take("'");
        parts.push(Part::Literal {
            text,
            is_quoted: true,
        });
    }

    fn double_quoted(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        // An empty pair of quotes is a word too.
        parts.push(Part::Literal {
            text: String::new(),
            is_quoted: true,
        });
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'$' | b'`' => self.expansion(parts, true),
                b'\\' => self.escaped_in_quotes(parts),
                _ => {
                    let plain = self.up_to(|byte| matches!(byte, b'"' | b'$' | b'`' | b'\\'));
                    push_text(parts, plain, true);
                }
            }
        }
    }

    fn escaped_in_quotes(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        match self.bump() {
            Some('\n') => {}
            Some(next @ ('$' | '`' | '"' | '\\')) => push(parts, next, true),
            Some(next) => {
                push(parts, '\\', true);
                push(parts, next, true);
            }
            None => push(parts, '\\', true),
        }
    }

    /// Reads what begins with `$` or a backquote.
    fn expansion(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let start = self.at;
        if self.depth >= MAX_DEPTH {
            self.at += 1;
            push(
                parts,
                if self.text.as_bytes()[start] == b'`' {
                    '`'
                } else {
                    '$'
                },
                true,
            );
            return;
        }
        self.depth += 1;
        let part = if self.take("`") {
            Some(self.backquoted(start, is_quoted))
        } else if self.is_at("$((") {
            Some(self.arithmetic_or_command(start, is_quoted))
        } else if self.take("$(") {
            Some(self.substitution(start, is_quoted))
        } else if self.take("${") {
            Some(self.braced(start, is_quoted))
        } else if !is_quoted && self.take("$'") {
            Some(self.ansi_quoted())
        } else {
            self.at += 1;
            self.plain_variable(start, is_quoted)
        };
        self.depth -= 1;
        match part {
            Some(part) => parts.push(part),
            None => push(parts, '$', is_quoted),
        }
    }

    fn plain_variable(&mut self, start: usize, is_quoted: bool) -> Option<Part> {
        let rest = self.rest();
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let length = match rest.bytes().next()? {
            b'?' | b'@' | b'*' | b'#' | b'$' | b'!' | b'-' | b'0'..=b'9' => 1,
            _ if length > 0 => length,
            _ => return None,
        };
        let name = rest[..length].to_owned();
        self.at += length;
        Some(Part::Variable {
            name,
            operator: None,
            source: self.since(start).to_owned(),
            is_quoted,
        })
    }

    fn braced(&mut self, start: usize, is_quoted: bool) -> Part {
        let rest = self.rest();
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let length = match rest.bytes().next() {
            Some(b'?' | b'@' | b'*' | b'!' | b'#') => 1,
            _ => length,
        };
        let name = rest[..length].to_owned();
        let is_special = ["?", "@", "*"].contains(&name.as_str());
        let is_known = is_special || is_name(&name) || name.bytes().all(|b| b.is_ascii_digit());
        self.at += length;
        let operator = self.braced_operator();
        let word = self.word(Ends::Brace);
        let is_closed = self.take("}");
        let is_bare = operator.is_none() && word.source.is_empty();
        if name.is_empty() || !is_known || !is_closed || (operator.is_none() && !is_bare) {
            return Part::Opaque(self.since(start).to_owned());
        }
        Part::Variable {
            name,
            operator: operator.map(|operator| (operator, word)),
            source: self.since(start).to_owned(),
            is_quoted,
        }
    }

    fn braced_operator(&mut self) -> Option<Operator> {
        let operators = [
            (":-", Operator::Default),
            (":=", Operator::Assign),
            (":+", Operator::Alternative),
            (":?", Operator::Require),
            ("-", Operator::Default),
            ("=", Operator::Assign),
            ("+", Operator::Alternative),
            ("?", Operator::Require),
            ("##", Operator::CutStart(true)),
            ("#", Operator::CutStart(false)),
            ("%%", Operator::CutEnd(true)),
            ("%", Operator::CutEnd(false)),
        ];
        operators
            .into_iter()
            .find(|(text, _)| self.take(text))
            .map(|(_, operator)| operator)
    }

    fn ansi_quoted(&mut self) -> Part {
        let mut text = String::new();
        while let Some(next) = self.bump() {
            match next {
                '\'' => break,
                '\\' => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(other) => text.push(other),
                    None => {}
                },
                _ => text.push(next),
            }
        }
        Part::Literal {
            text,
            is_quoted: true,
        }
    }

    fn backquoted(&mut self, start: usize, is_quoted: bool) -> Part {
        let mut inner = String::new();
        while let Some(next) = self.bump() {
            match next {
                '`' => break,
                '\\' => match self.bump() {
                    Some(escaped @ ('`' | '\\' | '$')) => inner.push(escaped),
                    Some(other) => inner.extend(['\\', other]),
                    None => {}
                },
                _ => inner.push(next),
            }
        }
        let script = Cursor::new(&inner, self.depth).whole_script();
        self.command_part(script, start, is_quoted)
    }

    fn arithmetic_or_command(&mut self, start: usize, is_quoted: bool) -> Part {
        if let Some(inner) = self.arithmetic_text(3) {
            self.at += inner.len() + 5;
            return Part::Arithmetic(inner);
        }
        self.take("$(");
        self.substitution(start, is_quoted)
    }

    /// The inside of `((…))` after an opening of this length.
    pub(super) fn arithmetic_text(&self, opening: usize) -> Option<String> {
        let rest = self.rest().get(opening..)?;
        let mut open = 0_usize;
        for (index, byte) in rest.bytes().enumerate().take(MAX_ARITHMETIC) {
            match byte {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' if rest[index..].starts_with("))") => return Some(rest[..index].to_owned()),
                b')' => return None,
                _ => {}
            }
        }
        None
    }

    fn substitution(&mut self, start: usize, is_quoted: bool) -> Part {
        let script = self.script_until(&[")"]);
        self.take(")");
        self.command_part(script, start, is_quoted)
    }

    fn command_part(&self, script: Script, start: usize, is_quoted: bool) -> Part {
        Part::Command {
            script: Arc::new(script),
            source: self.since(start).to_owned(),
            is_quoted,
        }
    }
}

fn word_ends(byte: u8, ends: Ends) -> bool {
    match ends {
        Ends::Operator => ends_word(byte),
        Ends::Brace => byte == b'}',
        Ends::Blank => byte.is_ascii_whitespace(),
    }
}

fn push(parts: &mut Vec<Part>, next: char, quoted: bool) {
    push_text(parts, next.encode_utf8(&mut [0; 4]), quoted);
}

fn push_text(parts: &mut Vec<Part>, next: &str, quoted: bool) {
    if let Some(Part::Literal { text, is_quoted }) = parts.last_mut()
        && *is_quoted == quoted
    {
        text.push_str(next);
        return;
    }
    parts.push(Part::Literal {
        text: next.to_owned(),
        is_quoted: quoted,
    });
}
