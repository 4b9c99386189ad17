//! A line of coloured pieces whose width is known before it is printed.

use crate::render::wrap;
use crate::render::{Role, Style};

/// One line of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Role, String)>,
    width: usize,
}

impl Line {
    /// A line that begins with this many spaces.
    pub fn indented(columns: usize) -> Line {
        let mut line = Line::default();
        line.pad_to(columns);
        line
    }

    /// A line of one piece.
    pub fn of(role: Role, text: &str) -> Line {
        let mut line = Line::default();
        line.push(role, text);
        line
    }

    /// Adds a piece.
    pub fn push(&mut self, role: Role, text: &str) {
        self.width += wrap::width(text);
        self.pieces.push((role, text.to_owned()));
    }

    /// Fills up with spaces; nothing when the line is that long already.
    pub fn pad_to(&mut self, column: usize) {
        let missing = column.saturating_sub(self.width);
        self.push(Role::Plain, &" ".repeat(missing));
    }

    /// Adds another line's pieces.
    pub fn append(&mut self, other: Line) {
        self.width += other.width;
        self.pieces.extend(other.pieces);
    }

    /// Its columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The line as it is printed, without spaces at its end.
    pub fn to_text(&self, style: Style) -> String {
        let is_blank = |text: &str| text.trim_end_matches(' ').is_empty();
        let end = self.pieces.iter().rposition(|(_, text)| !is_blank(text));
        let Some(end) = end else {
            return String::new();
        };
        let (role, last) = &self.pieces[end];
        let before = self.pieces[..end].iter();
        let mut text: String = before
            .map(|(role, text)| style.paint(*role, text))
            .collect();
        text.push_str(&style.paint(*role, last.trim_end_matches(' ')));
        text
    }
}
