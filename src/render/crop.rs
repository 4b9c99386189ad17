//! A line of a manifest as it is drawn: tabs widened, cropped to the columns that there are, with
//! the columns of its marks.

use super::wrap::{char_width, harmless};
use std::ops::Range;

/// Tabs lead to the next multiple of this.
const TAB: usize = 4;
/// Columns of text that stay visible after a mark when the window slides.
const AFTER_MARK: usize = 5;
/// Lines longer than this (minified JSON) are looked at around the mark only.
const LONG: usize = 8 * 1024;
/// Bytes before and after the mark that are looked at in a long line.
const AROUND: usize = LONG / 4;

/// A line that fits.
#[derive(Debug, PartialEq, Eq)]
pub struct Cropped {
    /// What is drawn.
    pub text: String,
    /// The columns of the marks, in the order in which they were given; each is at least one
    /// column wide and lies within the window.
    pub marks: Vec<Range<usize>>,
}

/// Crops a line to `columns`. The marks are byte ranges of the line, the most important one first:
/// the window slides so that it is seen. Ranges may lie anywhere.
pub fn crop(line: &str, marks: &[Range<usize>], columns: usize, ellipsis: &str) -> Cropped {
    let focus = marks.first().map_or(0, |mark| mark.start.min(line.len()));
    let part = part_around(line, focus);
    let cells = cells(&line[part.clone()]);
    let places: Vec<Range<usize>> = marks
        .iter()
        .map(|mark| columns_of(&cells, mark, part.start))
        .collect();
    let end = cells.last().map_or(0, |cell| cell.column + cell.width);
    let whole = Window {
        range: 0..end,
        cut_before: part.start > 0,
        cut_after: part.end < line.len(),
    };
    let window = whole.slide(places.first(), columns, char_count(ellipsis));
    Cropped {
        text: window.draw(&cells, ellipsis),
        marks: places.iter().map(|place| window.clip(place)).collect(),
    }
}

/// The ellipsis is one character a column.
fn char_count(ellipsis: &str) -> usize {
    ellipsis.chars().count()
}

/// The bytes of a line that are looked at.
fn part_around(line: &str, focus: usize) -> Range<usize> {
    if line.len() <= LONG {
        return 0..line.len();
    }
    let start = boundary(line, focus.saturating_sub(AROUND));
    let end = boundary(line, focus.saturating_add(AROUND).min(line.len()));
    start..end
}

/// The nearest place at or before a byte where a character begins.
fn boundary(line: &str, byte: usize) -> usize {
    (0..=byte)
        .rev()
        .find(|at| line.is_char_boundary(*at))
        .unwrap_or(0)
}

/// A character as it is drawn.
#[derive(Clone, Copy)]
struct Cell {
    byte: usize,
    column: usize,
    width: usize,
    character: char,
}

fn cells(text: &str) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(text.len());
    let mut column = 0;
    for (byte, character) in text.char_indices() {
        let is_tab = character == '\t';
        let Some(character) = (if is_tab {
            Some(' ')
        } else {
            harmless(character)
        }) else {
            continue;
        };
        let count = if is_tab { TAB - column % TAB } else { 1 };
        for _ in 0..count {
            let width = char_width(character);
            cells.push(Cell {
                byte,
                column,
                width,
                character,
            });
            column += width;
        }
    }
    cells
}

/// The columns of a byte range, at least one wide.
fn columns_of(cells: &[Cell], mark: &Range<usize>, base: usize) -> Range<usize> {
    let column = |byte: usize| {
        let at = cells.partition_point(|cell| cell.byte + base < byte);
        cells.get(at).map_or_else(
            || cells.last().map_or(0, |cell| cell.column + cell.width),
            |cell| cell.column,
        )
    };
    let start = column(mark.start);
    start..column(mark.end).max(start + 1)
}

/// The columns of a line that are drawn, ellipses included.
struct Window {
    range: Range<usize>,
    cut_before: bool,
    cut_after: bool,
}

impl Window {
    fn slide(self, focus: Option<&Range<usize>>, columns: usize, ellipsis: usize) -> Window {
        let total = self.range.end;
        let fits = total <= columns && !self.cut_before && !self.cut_after;
        if fits {
            return self;
        }
        let focus = focus.map_or(0..0, Range::clone);
        let is_seen_at_once = focus.end <= columns.saturating_sub(ellipsis);
        if is_seen_at_once && !self.cut_before {
            return Window {
                range: 0..columns.min(total),
                cut_after: self.cut_after || total > columns,
                ..self
            };
        }
        let end = (focus.end + AFTER_MARK + ellipsis).min(total);
        let start = end.saturating_sub(columns);
        // A mark wider than the window is shown from its beginning.
        let start = start.min(focus.start.saturating_sub(ellipsis));
        let end = (start + columns).min(total);
        Window {
            range: start..end,
            cut_before: self.cut_before || start > 0,
            cut_after: self.cut_after || end < total,
        }
    }

    fn draw(&self, cells: &[Cell], ellipsis: &str) -> String {
        let dots = char_count(ellipsis);
        let start = self.range.start + if self.cut_before { dots } else { 0 };
        let cut_after = if self.cut_after { dots } else { 0 };
        let end = self.range.end.saturating_sub(cut_after);
        let mut text = String::new();
        if self.cut_before {
            text.push_str(ellipsis);
        }
        for cell in cells {
            let is_inside = cell.column >= start && cell.column + cell.width <= end;
            let is_cut = cell.column < end && cell.column + cell.width > start;
            if is_inside {
                text.push(cell.character);
            } else if is_cut {
                // Half of a wide character: its other half is out of the window.
                text.push(' ');
            }
        }
        if self.cut_after {
            text.push_str(ellipsis);
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn clip(&self, place: &Range<usize>) -> Range<usize> {
        let (first, last) = (self.range.start, self.range.end.max(self.range.start + 1));
        let start = place.start.clamp(first, last);
        let end = place.end.clamp(start, last).max(start + 1);
        start - first..end - first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cropped(line: &str, mark: Range<usize>, columns: usize) -> (String, Range<usize>) {
        let cropped = crop(line, &[mark], columns, "…");
        (cropped.text, cropped.marks[0].clone())
    }

    #[test]
    fn the_window_slides_to_the_mark() {
        let line = "0123456789abcdefghijklmnopqrstuvwxyz";
        assert_eq!(cropped(line, 2..4, 40), (line.into(), 2..4));
        assert_eq!(
            cropped(line, 2..4, 20),
            ("0123456789abcdefghi…".into(), 2..4)
        );
        assert_eq!(
            cropped(line, 20..22, 20),
            ("…9abcdefghijklmnopq…".into(), 12..14)
        );
        assert_eq!(
            cropped(line, 34..36, 20),
            ("…hijklmnopqrstuvwxyz".into(), 18..20)
        );
    }

    #[test]
    fn tabs_and_wide_characters_take_their_columns() {
        assert_eq!(cropped("\ta: x", 4..5, 20), ("    a: x".into(), 7..8));
        assert_eq!(cropped("日本: x", 8..9, 20), ("日本: x".into(), 6..7));
        assert_eq!(cropped("日本語日本語", 0..3, 8), ("日本語 …".into(), 0..2));
    }

    #[test]
    fn odd_ranges_stay_on_the_line() {
        assert_eq!(cropped("", 0..0, 20), (String::new(), 0..1));
        assert_eq!(cropped("ab", 2..2, 20), ("ab".into(), 2..3));
        assert_eq!(cropped("é", 1..1, 20), ("é".into(), 1..2));
        assert_eq!(cropped("ab", 90..95, 20).0, "ab");
    }

    #[test]
    fn a_long_line_is_drawn_around_its_mark() {
        let line = format!(
            "{{{}\"name\": \"proxy\"{}}}",
            "x".repeat(70_000),
            "y".repeat(70_000)
        );
        let at = line.find("proxy").expect("there");
        let (text, mark) = cropped(&line, at..at + 5, 40);
        assert_eq!(text, "…xxxxxxxxxxxxxxxxxxx\"name\": \"proxy\"yyyy…");
        let marked = text.chars().skip(mark.start).take(mark.len());
        assert_eq!(marked.collect::<String>(), "proxy");
    }
}
