//! Redraws a picture in place: nothing is cleared that need not be, and the last picture stays in the
//! scrollback.

use crate::render::wrap::char_width;
use std::fmt::Write as _;

/// What is on the terminal of the last picture.
#[derive(Clone, Debug, Default)]
pub struct Redraw {
    lines: Vec<String>,
}

impl Redraw {
    /// The bytes that put the new picture in the place of the last one. `columns` and `rows` are the
    /// terminal's now: a line that a narrower terminal has wrapped takes more rows than one, and what
    /// has left the screen at its upper edge cannot be reached any more.
    pub fn frame(&mut self, lines: Vec<String>, columns: usize, rows: usize) -> String {
        let lines = fitting(lines, rows);
        let taken: usize = self.lines.iter().map(|line| rows_of(line, columns)).sum();
        let reachable = taken.min(rows.saturating_sub(1));
        let mut out = String::new();
        if reachable > 0 {
            // Up, to the left edge.
            let _ = write!(out, "\u{1b}[{reachable}F");
        }
        let is_unwrapped = taken == self.lines.len() && taken == reachable;
        for (index, line) in lines.iter().enumerate() {
            if is_unwrapped && self.lines.get(index) == Some(line) {
                out.push('\n');
                continue;
            }
            out.push_str(line);
            // What is left of the old line.
            out.push_str("\u{1b}[K\n");
        }
        if taken > lines.len() || !is_unwrapped {
            // What is left of the old picture.
            out.push_str("\u{1b}[J");
        }
        self.lines = lines;
        out
    }
}

/// A picture that is taller than the terminal loses its middle: header and axis stay, and what is
/// going on stands below.
fn fitting(mut lines: Vec<String>, rows: usize) -> Vec<String> {
    // The cursor stands in a row of its own.
    let room = rows.saturating_sub(1).max(1);
    if lines.len() > room {
        let head = 2.min(room);
        lines.drain(head..head + lines.len() - room);
    }
    lines
}

/// The rows that a line takes, escape sequences not counted.
fn rows_of(line: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            let _ = characters.find(char::is_ascii_alphabetic);
        } else {
            used += char_width(character);
        }
    }
    used.div_ceil(columns.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn only_what_changed_is_written_again() {
        let mut redraw = Redraw::default();
        assert_eq!(
            redraw.frame(lines(&["a", "b"]), 80, 24),
            "a\u{1b}[K\nb\u{1b}[K\n"
        );
        assert_eq!(
            redraw.frame(lines(&["a", "c"]), 80, 24),
            "\u{1b}[2F\nc\u{1b}[K\n"
        );
        assert_eq!(redraw.frame(lines(&["a"]), 80, 24), "\u{1b}[2F\n\u{1b}[J");
    }

    #[test]
    fn a_narrower_terminal_has_wrapped_the_old_lines() {
        let mut redraw = Redraw::default();
        redraw.frame(lines(&["\u{1b}[31m12345\u{1b}[0m", "x"]), 80, 24);
        let frame = redraw.frame(lines(&["1234", "x"]), 4, 24);
        assert_eq!(frame, "\u{1b}[3F1234\u{1b}[K\nx\u{1b}[K\n\u{1b}[J");
    }

    #[test]
    fn a_tall_picture_never_scrolls() {
        let mut redraw = Redraw::default();
        let frame = redraw.frame(lines(&["head", "axis", "1", "2", "now"]), 80, 5);
        assert_eq!(frame.matches('\n').count(), 4);
        assert!(frame.contains("axis") && frame.contains("now") && !frame.contains('1'));
    }
}
