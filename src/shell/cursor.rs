//! The place in a script up to which it has been read.

use super::script::Word;
use std::borrow::Cow;

/// How deep commands and expansions may be nested; what lies deeper is opaque.
pub(super) const MAX_DEPTH: usize = 64;

/// A script that is being read.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// The end of the line that has here-documents, and where the text goes on after them.
    pub(super) here_documents: Option<(usize, usize)>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Cursor<'a> {
        Cursor {
            text,
            at: 0,
            depth,
            here_documents: None,
        }
    }

    /// The text that is still to be read.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn is_at(&self, words: &str) -> bool {
        self.rest().starts_with(words)
    }

    /// Reads these characters if they come next.
    pub(super) fn take(&mut self, words: &str) -> bool {
        let there = self.is_at(words);
        if there {
            self.at += words.len();
        }
        there
    }

    /// Reads one character.
    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Reads up to a byte of ASCII, or to the end.
    pub(super) fn up_to(&mut self, is_end: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().position(is_end).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The text from a place that was read before up to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Skips blanks, joined lines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.is_at("\\\n") => self.at += 2,
                Some(b'\\') if self.is_at("\\\r\n") => self.at += 3,
                Some(b'#') => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and ends of lines; the here-documents of a line with it.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.end_line();
        }
    }

    /// Reads the end of a line, and the here-documents that follow it.
    pub(super) fn end_line(&mut self) {
        self.at = match self.here_documents.take() {
            Some((end, resume)) if end <= self.at => resume.max(self.at + 1),
            pending => {
                self.here_documents = pending;
                self.at + 1
            }
        };
    }

    /// Whether a reserved word comes next as a whole word.
    pub(super) fn is_at_word(&self, word: &str) -> bool {
        let Some(rest) = self.rest().strip_prefix(word) else {
            return false;
        };
        rest.bytes().next().is_none_or(ends_word)
    }

    /// Reads a reserved word if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        self.is_at_word(word) && self.take(word)
    }

    /// The body of a here-document whose end mark is this word, and its removal from the text.
    pub(super) fn here_document(&mut self, mark: &Word, strips_tabs: bool) -> String {
        let (line_end, body_start) = match self.here_documents {
            Some(pending) => pending,
            None => {
                let end = self.at + self.rest().find('\n').unwrap_or(self.rest().len());
                (end, (end + 1).min(self.text.len()))
            }
        };
        let mark = mark
            .literal()
            .unwrap_or_else(|| Cow::Borrowed(&*mark.source));
        let mut body = String::new();
        let mut resume = body_start;
        for line in self
            .text
            .get(body_start..)
            .unwrap_or_default()
            .split_inclusive('\n')
        {
            resume += line.len();
            let content = line.trim_end_matches(['\n', '\r']);
            let content = if strips_tabs {
                content.trim_start_matches('\t')
            } else {
                content
            };
            if content == mark {
                break;
            }
            body.push_str(content);
            body.push('\n');
        }
        self.here_documents = Some((line_end, resume));
        body
    }
}

/// Whether a character ends a word that is not quoted.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

/// Whether this text is a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
