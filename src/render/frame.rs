//! The frame that ties an excerpt, its reason and its fix together.

use super::Options;
use super::style::{Role, Style};
use super::wrap::{width, wrap};
use std::io::{self, Write};

/// Text wraps here even on a wider terminal: longer lines are hard to read.
pub const PROSE: usize = 100;

/// Writes the rows of one block, with line numbers in a column of their own.
pub struct Frame<'o> {
    out: &'o mut dyn Write,
    /// Colour and characters.
    pub style: Style,
    columns: usize,
    numbers: usize,
}

impl<'o> Frame<'o> {
    /// A frame whose line numbers go up to `last_line`.
    pub fn new(options: &Options, last_line: usize, out: &'o mut dyn Write) -> Frame<'o> {
        Frame {
            out,
            style: options.style,
            columns: options.columns(),
            numbers: last_line.to_string().len().max(2),
        }
    }

    /// Columns for a line of a manifest.
    pub fn room(&self) -> usize {
        self.columns - self.numbers - 3
    }

    fn prose(&self) -> usize {
        self.columns.min(PROSE)
    }

    fn quiet(&self, text: &str) -> String {
        self.style.paint(Role::Quiet, text)
    }

    /// `   ╭─ place`, the text broken under its first letter.
    pub fn open(&mut self, text: &str) -> io::Result<()> {
        let glyphs = self.style.glyphs();
        let room = self.prose() - self.numbers - 4;
        for (at, line) in wrap(text, room, room).iter().enumerate() {
            let edge = if at == 0 {
                glyphs.open.to_owned()
            } else {
                format!("{} ", glyphs.side)
            };
            let edge = format!("{:indent$} {edge}", "", indent = self.numbers);
            let row = format!("{} {line}", self.quiet(&edge));
            writeln!(self.out, "{}", row.trim_end())?;
        }
        Ok(())
    }

    /// `   ╭─` alone.
    pub fn open_bare(&mut self) -> io::Result<()> {
        self.edge(self.style.glyphs().open)
    }

    /// `   ⋮`: lines are left out.
    pub fn fold(&mut self) -> io::Result<()> {
        self.edge(self.style.glyphs().fold)
    }

    fn edge(&mut self, glyph: &str) -> io::Result<()> {
        let row = self.quiet(&format!("{:indent$} {glyph}", "", indent = self.numbers));
        writeln!(self.out, "{row}")
    }

    /// `12 │ text`.
    pub fn code(&mut self, number: usize, text: &str) -> io::Result<()> {
        let side = self.style.glyphs().side;
        let edge = self.quiet(&format!("{number:>indent$} {side}", indent = self.numbers));
        writeln!(self.out, "{}", format!("{edge} {text}").trim_end())
    }

    /// `   │ text`, from a column of the manifest on.
    pub fn below(&mut self, column: usize, role: Role, text: &str) -> io::Result<()> {
        let side = self.style.glyphs().side;
        let edge = self.quiet(&format!("{:indent$} {side}", "", indent = self.numbers));
        let text = self.style.paint(role, text);
        writeln!(self.out, "{edge} {:column$}{text}", "")
    }

    /// `12 - text`: a row of a diff; without a number for added lines.
    pub fn change(&mut self, number: Option<usize>, sign: char, text: &str) -> io::Result<()> {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let number = self.quiet(&format!("{number:>indent$}", indent = self.numbers));
        let role = match sign {
            '+' => Role::Added,
            '-' => Role::Removed,
            _ => Role::Plain,
        };
        let text = self.style.paint(role, format!("{sign} {text}").trim_end());
        writeln!(self.out, "{}", format!("{number} {text}").trim_end())
    }

    /// The last rows: `   ╰─ because: …`, further remarks below it, each broken under its own
    /// first letter. Without remarks the corner alone.
    pub fn close(&mut self, remarks: &[Remark]) -> io::Result<()> {
        let corner = format!(
            "{:indent$} {}",
            "",
            self.style.glyphs().close,
            indent = self.numbers
        );
        let corner_width = width(&corner);
        if remarks.is_empty() {
            return writeln!(self.out, "{}", self.quiet(&corner));
        }
        let mut edge = self.quiet(&corner);
        for remark in remarks {
            for row in remark.rows(self.prose() - corner_width - 1) {
                writeln!(self.out, "{}", format!("{edge} {row}").trim_end())?;
                edge = " ".repeat(corner_width);
            }
        }
        Ok(())
    }
}

/// A sentence at the end of a frame.
#[derive(Debug, Default)]
pub struct Remark {
    /// What kind it is, with its colon: `because:`; may be empty.
    pub head: &'static str,
    /// Its lines, each of which may be broken further.
    pub lines: Vec<String>,
}

impl Remark {
    /// A remark of one sentence.
    pub fn new(head: &'static str, line: impl Into<String>) -> Remark {
        Remark {
            head,
            lines: vec![line.into()],
        }
    }

    fn rows(&self, room: usize) -> Vec<String> {
        let indent = if self.head.is_empty() {
            0
        } else {
            width(self.head) + 1
        };
        let room = room.saturating_sub(indent);
        let lines = self.lines.iter().flat_map(|line| wrap(line, room, room));
        let rows = lines.enumerate().map(|(at, line)| match at {
            0 if indent > 0 => format!("{} {line}", self.head),
            _ => format!("{:indent$}{line}", ""),
        });
        rows.collect()
    }
}
