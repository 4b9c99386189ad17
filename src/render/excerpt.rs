//! Lines of a source with marks below them and a few words beside each mark.

use super::crop::crop;
use super::frame::Frame;
use super::style::Role;
use super::wrap::{on_one_line, width, wrap};
use crate::manifest::{Source, Span};
use miette::LabeledSpan;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// Columns that a label below its mark has at least; it begins further left when there are fewer.
const LABEL: usize = 30;

/// A mark with its words: `^^^` where something is wrong (`is_primary`), else `---`.
pub fn mark(span: Span, words: &str, is_primary: bool) -> LabeledSpan {
    let label = Some(words.to_owned()).filter(|words| !words.is_empty());
    let range = (span.start as usize, span.range().len());
    if is_primary {
        LabeledSpan::new_primary_with_span(label, range)
    } else {
        LabeledSpan::new_with_span(label, range)
    }
}

/// The last line that [`draw`] shows.
pub fn last_line(source: &Source, marks: &[LabeledSpan]) -> usize {
    by_line(source, marks).keys().last().copied().unwrap_or(0)
}

/// Draws the lines that hold marks, in the order of the text; what lies between is folded.
pub fn draw(
    frame: &mut Frame<'_>,
    source: &Source,
    marks: &[LabeledSpan],
    primary: Role,
) -> io::Result<()> {
    let mut above: Option<Drawn> = None;
    for (line, marks) in by_line(source, marks) {
        if above.is_some_and(|above| above.needs_fold_before(line)) {
            frame.fold()?;
        }
        let stood_below = draw_line(frame, source, line, &marks, primary)?;
        above = Some(Drawn { line, stood_below });
    }
    Ok(())
}

/// A line that is on the screen.
#[derive(Clone, Copy)]
struct Drawn {
    line: usize,
    /// Its last label stands below its mark.
    stood_below: bool,
}

impl Drawn {
    /// A label below its mark sets the next line apart already: one missing line needs no more.
    fn needs_fold_before(self, next: usize) -> bool {
        let missing = next.saturating_sub(self.line + 1);
        missing > usize::from(self.stood_below)
    }
}

fn by_line<'m>(source: &Source, marks: &'m [LabeledSpan]) -> BTreeMap<usize, Vec<&'m LabeledSpan>> {
    let mut lines: BTreeMap<usize, Vec<&LabeledSpan>> = BTreeMap::new();
    for mark in marks {
        let offset = u32::try_from(mark.offset()).unwrap_or(u32::MAX);
        let line = source.position(offset).line.min(source.line_count().max(1));
        let on_line = lines.entry(line).or_default();
        let is_new = |other: &&LabeledSpan| {
            (other.offset(), other.len(), other.label())
                != (mark.offset(), mark.len(), mark.label())
        };
        if on_line.iter().all(is_new) {
            on_line.push(mark);
        }
    }
    lines
}

/// Draws one line and its marks from left to right; tells whether the last label stands below.
fn draw_line(
    frame: &mut Frame<'_>,
    source: &Source,
    line: usize,
    marks: &[&LabeledSpan],
    primary: Role,
) -> io::Result<bool> {
    let span = source.line_span(line);
    let mut marks = marks.to_vec();
    // The window slides for the first one.
    marks.sort_by_key(|mark| (!mark.primary(), mark.offset()));
    let ranges: Vec<Range<usize>> = marks.iter().map(|mark| within(span, mark)).collect();
    let ellipsis = frame.style.glyphs().ellipsis;
    let cropped = crop(source.slice(span), &ranges, frame.room(), ellipsis);
    frame.code(line, &cropped.text)?;
    let mut placed: Vec<_> = marks.into_iter().zip(cropped.marks).collect();
    placed.sort_by_key(|(mark, columns)| (columns.start, mark.primary()));
    let mut stood_below = false;
    for (mark, columns) in placed {
        let (sign, role) = if mark.primary() {
            ("^", primary)
        } else {
            ("-", Role::Plain)
        };
        let words = on_one_line(mark.label().unwrap_or_default());
        stood_below = draw_mark(frame, sign, role, &columns, &words)?;
    }
    Ok(stood_below)
}

/// The bytes of a line that a mark takes; a mark over several lines takes the rest of its first.
fn within(line: Span, mark: &LabeledSpan) -> Range<usize> {
    let line = line.range();
    let start = mark.offset().clamp(line.start, line.end);
    let end = mark
        .offset()
        .saturating_add(mark.len())
        .clamp(start, line.end);
    start - line.start..end - line.start
}

fn draw_mark(
    frame: &mut Frame<'_>,
    sign: &str,
    role: Role,
    columns: &Range<usize>,
    words: &str,
) -> io::Result<bool> {
    let underline = sign.repeat(columns.len());
    if words.is_empty() {
        frame.below(columns.start, role, &underline)?;
        return Ok(false);
    }
    if columns.end + 1 + width(words) <= frame.room() {
        frame.below(columns.start, role, &format!("{underline} {words}"))?;
        return Ok(false);
    }
    frame.below(columns.start, role, &underline)?;
    let least = width(words).min(LABEL);
    let start = columns.start.min(frame.room().saturating_sub(least));
    let room = frame.room() - start;
    for row in wrap(words, room, room) {
        frame.below(start, role, &row)?;
    }
    Ok(true)
}
