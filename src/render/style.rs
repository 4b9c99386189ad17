//! Colours and characters. Every colour repeats a word or a glyph.

use crate::finding::Severity;
use owo_colors::{OwoColorize, Style as Ansi};

/// Whether there is colour, and which characters may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub color: bool,
    /// Plain characters only.
    pub ascii: bool,
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An error, or what failed.
    Error,
    /// A warning.
    Warning,
    /// An info, or the id of a rule.
    Info,
    /// The sentence of a headline.
    Headline,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// What the kubelet guarantees, and what has held.
    Held,
    /// A stretch that somebody waits for, with its words.
    Gate,
    /// The frame, line numbers, hints, and what waits.
    Quiet,
    /// All else.
    Plain,
}

impl Role {
    /// The role of a severity's word and of its mark.
    pub fn of(severity: Severity) -> Role {
        match severity {
            Severity::Error => Role::Error,
            Severity::Warning => Role::Warning,
            Severity::Info => Role::Info,
        }
    }

    /// The sixteen colours, no background, no bright black, no blue: readable on any ground.
    fn ansi(self) -> Ansi {
        match self {
            Role::Error => Ansi::new().red().bold(),
            Role::Warning => Ansi::new().yellow().bold(),
            Role::Info => Ansi::new().cyan(),
            Role::Headline => Ansi::new().bold(),
            Role::Added | Role::Held => Ansi::new().green(),
            Role::Gate => Ansi::new().magenta(),
            Role::Removed => Ansi::new().red(),
            Role::Quiet => Ansi::new().dimmed(),
            Role::Plain => Ansi::new(),
        }
    }
}

impl Style {
    /// The text in the role's colour.
    pub fn paint(self, role: Role, text: &str) -> String {
        if self.color && role != Role::Plain && !text.is_empty() {
            text.style(role.ansi()).to_string()
        } else {
            text.to_owned()
        }
    }

    /// The characters of frames.
    pub fn glyphs(self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &UNICODE }
    }
}

/// The characters that are not letters.
#[derive(Debug)]
pub struct Glyphs {
    /// The frame's upper corner.
    pub open: &'static str,
    /// The frame's side.
    pub side: &'static str,
    /// The frame's lower corner.
    pub close: &'static str,
    /// Lines that are left out.
    pub fold: &'static str,
    /// Columns that are left out.
    pub ellipsis: &'static str,
    /// Between an object and what is said of it.
    pub dot: &'static str,
    /// Between the ends of a range.
    pub dash: &'static str,
}

static UNICODE: Glyphs = Glyphs {
    open: "╭─",
    side: "│",
    close: "╰─",
    fold: "⋮",
    ellipsis: "…",
    dot: "·",
    dash: "–",
};

static ASCII: Glyphs = Glyphs {
    open: ",-",
    side: "|",
    close: "'-",
    fold: ":",
    ellipsis: "...",
    dot: "-",
    dash: "-",
};
