//! Takes an entry out of a mapping, or an item out of a list.

use super::Refused;
use super::block;
use super::brackets::Brackets;
use super::target::{Target, is_flow};
use super::text::{Splice, Text};
use crate::manifest::path::Segment;
use crate::manifest::{Document, FieldPath};
use std::ops::Range;

/// The changes that take away what stands at `at`; its comments stay, each on its own line.
pub(super) fn splices(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
) -> Result<Vec<Splice>, Refused> {
    let target = Target::find(document, at)?;
    target.not_shared_above(text)?;
    let holder = target.holder().ok_or_else(Refused::layout)?;
    match (is_flow(holder), at.last()) {
        (true, _) => {
            let index = index_of(&target, at).ok_or_else(Refused::layout)?;
            Ok(vec![Brackets::of(text, holder).remove(index)])
        }
        (false, Some(Segment::Index(index))) => item(text, document, at, *index),
        (false, _) => entry(text, document, at, 0..0),
    }
}

fn index_of(target: &Target<'_>, at: &FieldPath) -> Option<usize> {
    match at.last()? {
        Segment::Index(index) => Some(*index),
        Segment::Key(_) => {
            let mut keys = target.holder()?.own_entries().map(|(key, _)| key);
            keys.position(|key| Some(key) == target.key)
        }
    }
}

/// The changes that take an entry out of a block mapping. Comments inside `moved` are looked after
/// by somebody else.
pub(super) fn entry(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    moved: Range<usize>,
) -> Result<Vec<Splice>, Refused> {
    let target = Target::find(document, at)?;
    let (key, mapping) = target
        .key
        .zip(target.holder())
        .ok_or_else(Refused::layout)?;
    let start = text.full_span(key).start;
    let end = text.entry_end(key, target.value);
    let margin = " ".repeat(text.column(start));
    let mut entries = mapping.own_entries();
    if mapping.own_entries().nth(1).is_none() {
        let own = at.parent().ok_or_else(Refused::layout)?;
        return emptied(text, document, &own, start..end, &margin, "{}");
    }
    if text.is_first_in_line(start) {
        let kept = comments(text, start..end, &moved, &margin);
        return Ok(vec![cut(text, text.line_start(start)..end, kept)]);
    }
    // The first entry of an item stands behind the item's dash: the next one takes its place.
    let next = entries.nth(1).map(|(next, _)| text.full_span(next).start);
    let next = next
        .filter(|next| *next > start)
        .ok_or_else(Refused::layout)?;
    let kept = comments(text, start..next, &moved, &margin);
    let behind_dash = kept.trim_start().to_owned();
    let behind_dash = if kept.is_empty() {
        behind_dash
    } else {
        behind_dash + &margin
    };
    Ok(vec![Splice::replace(start..next, behind_dash)])
}

fn item(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    index: usize,
) -> Result<Vec<Splice>, Refused> {
    let list_at = at.parent().ok_or_else(Refused::layout)?;
    let list = Target::find(document, &list_at)?.value;
    let items = block::items(text, list).ok_or_else(Refused::layout)?;
    let own = items.get(index).ok_or_else(Refused::layout)?.own.clone();
    let margin = " ".repeat(text.column(text.span(list).start));
    if items.len() == 1 {
        return emptied(text, document, &list_at, own, &margin, "[]");
    }
    let kept = comments(text, own.clone(), &(0..0), &margin);
    let leaves_gap_on_top = index == 0 && kept.is_empty() && own.start == items[0].lines.start;
    if leaves_gap_on_top {
        let end = text.blank_lines_below(own.end);
        return Ok(vec![Splice::delete(own.start..end)]);
    }
    Ok(vec![cut(text, own, kept)])
}

/// Writes `{}` or `[]` in place of the only entry or item.
fn emptied(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    only: Range<usize>,
    margin: &str,
    empty: &str,
) -> Result<Vec<Splice>, Refused> {
    let kept = comments(text, only.clone(), &(0..0), margin);
    let holder = Target::find(document, at)?;
    if let Some(key) = holder.key {
        let slot = text.value_slot(key).ok_or_else(Refused::layout)?;
        let lines = text.line_start(only.start)..only.end;
        return Ok(vec![
            Splice::insert(slot, format!(" {empty}")),
            Splice::replace(lines, kept),
        ]);
    }
    let line_break = text.line_break(only.start);
    Ok(vec![Splice::replace(
        only,
        format!("{empty}{line_break}{kept}"),
    )])
}

/// The comments of a stretch that goes away, each on its own line behind `margin`.
fn comments(text: &Text<'_>, gone: Range<usize>, moved: &Range<usize>, margin: &str) -> String {
    let line_break = text.line_break(gone.start);
    let before = text.comments_in(gone.start..gone.end.min(moved.start.max(gone.start)));
    let after = text.comments_in(moved.end.max(gone.start)..gone.end);
    let all = before.chain(after);
    all.map(|comment| format!("{margin}{comment}{line_break}"))
        .collect()
}

/// Takes lines out, and one of the two blank stretches that would then meet; at the end of the text
/// the one above.
fn cut(text: &Text<'_>, lines: Range<usize>, kept: String) -> Splice {
    let above = text.blank_lines_above(lines.start);
    if !kept.is_empty() || above == lines.start {
        Splice::replace(lines, kept)
    } else if lines.end == text.body().len() {
        Splice::delete(above..lines.end)
    } else {
        Splice::delete(lines.start..text.blank_lines_below(lines.end))
    }
}
