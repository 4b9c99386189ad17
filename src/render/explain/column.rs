//! The space that one prediction is told in, and sentences set into it.

use super::line::Line;
use super::strokes::Strokes;
use crate::plan::Basis;
use crate::render::wrap::{self, wrap};
use crate::render::{Glyphs, Role, Style};

/// The space of one prediction.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Spaces before each line.
    pub indent: usize,
    /// One past the last column of words.
    pub edge: usize,
    /// One past the last column of bars.
    pub bars_edge: usize,
    /// Beside another one: what is the same for every hook is left out.
    pub is_narrow: bool,
    /// What bars are drawn with.
    pub strokes: &'static Strokes,
    /// All other characters.
    pub glyphs: &'static Glyphs,
}

impl Column {
    /// A column that has the whole width to itself.
    pub fn alone(width: usize, style: Style) -> Column {
        Column {
            indent: 2,
            edge: width - 2,
            bars_edge: width - 4,
            is_narrow: false,
            strokes: Strokes::of(style),
            glyphs: style.glyphs(),
        }
    }

    /// A column of this width beside another one.
    pub fn beside(width: usize, style: Style) -> Column {
        Column {
            indent: 0,
            edge: width,
            bars_edge: width,
            is_narrow: true,
            ..Column::alone(width, style)
        }
    }

    /// Sets a sentence after what the line holds already, wrapped under its own first letter, and
    /// the word at the right edge: beside the sentence's end if there is room, else below.
    pub fn sentence(&self, mut line: Line, text: &str, word: Option<Basis>) -> Vec<Line> {
        let start = line.width();
        let room = self.edge.saturating_sub(start);
        let mut lines = Vec::new();
        for part in wrap(text, room, room) {
            line.push(Role::Plain, &part);
            lines.push(std::mem::replace(&mut line, Line::indented(start)));
        }
        if let Some(word) = word {
            self.set_right(&mut lines, word);
        }
        lines
    }

    fn set_right(&self, lines: &mut Vec<Line>, word: Basis) {
        let at = self.edge.saturating_sub(wrap::width(word.word()));
        if lines.last().is_none_or(|last| last.width() + 2 > at) {
            lines.push(Line::default());
        }
        if let Some(last) = lines.last_mut() {
            last.pad_to(at);
            last.push(role_of(word), word.word());
        }
    }
}

/// The colour of a word; the word itself says the same.
fn role_of(word: Basis) -> Role {
    match word {
        Basis::Enforced => Role::Held,
        Basis::Attempted | Basis::Polled => Role::Plain,
        Basis::Needed => Role::Warning,
    }
}
