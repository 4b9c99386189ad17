//! A text with a name, and places in it.

use std::sync::OnceLock;

/// A stretch of a [`Source`]'s text, in bytes; `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte offsets.
    ///
    /// Sources are at most 4 GiB ([`Source::MAX_BYTES`]), so offsets into one fit.
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The span as a range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it holds no byte: the span of a value that is left out (`key:`).
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A line and a column as people count them: from 1, columns in Unicode characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One input: a file, standard input, or the printed form of a live object.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    line_starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// The most bytes a source may have, so that spans fit in 32 bits.
    pub const MAX_BYTES: u64 = u32::MAX as u64;

    /// A source with the name that messages use: the path as the user gave it, or `-`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
        }
    }

    /// The path as the user gave it, `-`, or `TYPE/NAME`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text, byte order mark and carriage returns included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of `span`.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0)
                .chain(newlines.map(|at| at as u32 + 1))
                .collect()
        })
    }

    /// How many lines the text has; a last line without a line break counts.
    pub fn line_count(&self) -> usize {
        let starts = self.line_starts();
        let ends_open = starts
            .last()
            .is_some_and(|start| (*start as usize) < self.text.len());
        if ends_open {
            starts.len()
        } else {
            starts.len() - 1
        }
    }

    /// Line and column of a byte offset. A byte order mark takes no column.
    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset);
        let start = starts[line - 1] as usize;
        let before = self.text.get(start..offset as usize).unwrap_or("");
        let bom = usize::from(start == 0 && before.starts_with('\u{feff}'));
        Position {
            line,
            column: before.chars().count() - bom + 1,
        }
    }

    /// The span of a line (from 1) without its line break.
    pub fn line_span(&self, line: usize) -> Span {
        let starts = self.line_starts();
        let start = starts
            .get(line - 1)
            .map_or(self.text.len(), |start| *start as usize);
        let end = starts
            .get(line)
            .map_or(self.text.len(), |next| *next as usize);
        let text = self.text[start..end].trim_end_matches(['\n', '\r']);
        Span::new(start, start + text.len())
    }

    /// The text of a line (from 1) without its line break.
    pub fn line(&self, line: usize) -> &str {
        self.slice(self.line_span(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_skip_the_byte_order_mark() {
        let source = Source::new("x", "\u{feff}a: é\r\nb: 1\r\n");
        assert_eq!(source.position(3), Position { line: 1, column: 1 });
        assert_eq!(source.position(8), Position { line: 1, column: 5 });
        assert_eq!(source.position(10), Position { line: 2, column: 1 });
        assert_eq!(source.line(2), "b: 1");
        assert_eq!(source.line_count(), 2);
    }
}
