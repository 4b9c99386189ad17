//! The characters that bars are drawn with, each one column wide.

use crate::render::Style;

/// What each stretch of a bar is drawn with.
#[derive(Debug, PartialEq, Eq)]
pub struct Strokes {
    /// It waits.
    pub wait: char,
    /// Pull, create, start.
    pub start: char,
    /// The beginning of something that somebody waits for.
    pub gate_open: char,
    /// While somebody waits.
    pub gate: char,
    /// It has returned.
    pub gate_close: char,
    /// It has failed.
    pub failed: char,
    /// It runs, and nobody waits for it.
    pub run: char,
    /// It goes on.
    pub goes_on: char,
    /// From who needs to who is needed.
    pub arrow: &'static str,
}

/// The characters of a terminal that shows Unicode.
pub static UNICODE: Strokes = Strokes {
    wait: '┄',
    start: '█',
    gate_open: '├',
    gate: '─',
    gate_close: '┤',
    failed: '✗',
    run: '━',
    goes_on: '▸',
    arrow: "→",
};

/// Plain characters.
pub static ASCII: Strokes = Strokes {
    wait: '.',
    start: '#',
    gate_open: '[',
    gate: '-',
    gate_close: ']',
    failed: 'x',
    run: '=',
    goes_on: '>',
    arrow: "->",
};

impl Strokes {
    /// The characters that a style asks for.
    pub fn of(style: Style) -> &'static Strokes {
        if style.ascii { &ASCII } else { &UNICODE }
    }
}
