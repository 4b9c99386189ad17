//! One row of the picture as cells: bars and marks are painted over one another, later ones on top.

use super::glyphs::Bars;
use crate::render::wrap::{char_width, harmless};
use crate::render::{Role, Style};

/// A cell: a character and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    character: char,
    role: Role,
}

const EMPTY: Cell = Cell {
    character: ' ',
    role: Role::Plain,
};

/// How a stretch that somebody waits for ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It returned.
    Closed,
    /// It goes on.
    Open,
    /// It failed.
    Failed,
    /// It ended somewhere after this.
    Unknown,
}

/// A row's cells.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    cells: Vec<Cell>,
    bars: &'static Bars,
}

impl Strip {
    pub(super) fn new(columns: usize, bars: &'static Bars) -> Strip {
        Strip {
            cells: vec![EMPTY; columns],
            bars,
        }
    }

    /// A bar in the columns from `from` up to `until`, one column at least.
    pub(super) fn bar(&mut self, from: usize, until: usize, character: char, role: Role) {
        let last = self.cells.len().saturating_sub(1);
        let from = from.min(last);
        let until = until.clamp(from + 1, last + 1);
        for cell in self.cells.iter_mut().take(until).skip(from) {
            *cell = Cell { character, role };
        }
    }

    /// A mark in one column.
    pub(super) fn mark(&mut self, at: usize, character: char, role: Role) {
        self.bar(at, at + 1, character, role);
    }

    /// Words inside a bar whose last column is taken by a mark.
    pub(super) fn label(&mut self, from: usize, until: usize, role: Role, labels: &[String]) {
        self.words(
            from,
            until.min(self.cells.len()).saturating_sub(1),
            role,
            labels,
        );
    }

    /// Words inside a bar, the first of them that leave enough of the bar to be seen.
    pub(super) fn words(&mut self, from: usize, until: usize, role: Role, labels: &[String]) {
        let until = until.min(self.cells.len());
        let room = until.saturating_sub(from);
        // Two columns before, a space on both sides.
        let fitting = |label: &&String| label.chars().count() + 4 <= room;
        let Some(label) = labels.iter().find(fitting) else {
            return;
        };
        let drawn = label.chars().map(|character| {
            let safe = harmless(character).unwrap_or('?');
            if char_width(safe) == 1 { safe } else { '?' }
        });
        let padded = [' '].into_iter().chain(drawn).chain([' ']);
        for (cell, character) in self.cells.iter_mut().skip(from + 2).zip(padded) {
            *cell = Cell { character, role };
        }
    }

    /// A stretch that somebody waits for.
    pub(super) fn gate(&mut self, from: usize, until: usize, labels: &[String], end: End) {
        let bars = self.bars;
        self.bar(from, until, bars.gate, Role::Gate);
        self.label(from, until, Role::Gate, labels);
        self.mark(from, bars.gate_open, Role::Gate);
        let (mark, role) = match end {
            End::Closed | End::Unknown => (bars.gate_close, Role::Gate),
            End::Open => (bars.goes_on, Role::Gate),
            End::Failed => (bars.bad, Role::Error),
        };
        // In a single column only a failure is worth more than the beginning.
        if until > from + 1 || end == End::Failed {
            self.mark(until.saturating_sub(1).max(from), mark, role);
        }
    }

    /// The row as text, without spaces at its end.
    pub(super) fn text(&self, style: Style) -> String {
        let used = self.cells.iter().rposition(|cell| *cell != EMPTY);
        let used = &self.cells[..used.map_or(0, |last| last + 1)];
        let mut text = String::new();
        for run in used.chunk_by(|left, right| left.role == right.role) {
            let characters: String = run.iter().map(|cell| cell.character).collect();
            text.push_str(&style.paint(run[0].role, &characters));
        }
        text
    }

    /// The columns up to the last one that is used.
    pub(super) fn width(&self) -> usize {
        let used = self.cells.iter().rposition(|cell| *cell != EMPTY);
        used.map_or(0, |last| last + 1)
    }
}
