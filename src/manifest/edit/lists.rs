//! Moves an item to another place of its list, or to another list of the same mapping.

use super::Refused;
use super::block::{self, Item};
use super::data::Route;
use super::emit;
use super::remove;
use super::target::{Target, is_flow};
use super::text::{Splice, Text, shifted};
use crate::manifest::{Document, FieldPath, Node};

/// The changes that move the item `from` to `to`.
pub(super) fn splices(
    text: &Text<'_>,
    document: &Document,
    from: &FieldPath,
    to: &FieldPath,
) -> Result<Vec<Splice>, Refused> {
    let route = Route::of(from, to)?;
    Target::find(document, from)?.not_shared_above(text)?;
    let source_at = route.mapping.key(route.source.to_owned());
    let source = Target::find(document, &source_at)?;
    let job = Move {
        text,
        document,
        list: source.value,
        key: source.key.ok_or_else(Refused::layout)?,
        mapping: Target::find(document, &route.mapping)?.value,
        source_at,
        route,
    };
    if job.route.stays() {
        return job.within();
    }
    if job.mapping.get(job.route.target).is_none() {
        return job.to_new_list();
    }
    let target_at = job.route.mapping.key(job.route.target.to_owned());
    let target = Target::find(document, &target_at)?;
    target.not_shared(text)?;
    let is_empty = target.value.items().next().is_none();
    match (is_flow(job.list), is_flow(target.value)) {
        (true, _) if is_empty => job.flow_to_empty(&target),
        (false, _) if is_empty => job.block_to_empty(&target),
        (true, true) => job.flow_to_flow(target.value),
        (false, false) => job.block_to_block(target.value),
        (true, false) | (false, true) => Err(Refused::because(
            "one of the two lists is written in brackets, the other in lines",
        )),
    }
}

/// A move of one item.
pub(super) struct Move<'a, 'd> {
    pub text: &'a Text<'d>,
    pub document: &'d Document,
    /// The list that the item comes from, its key, and the mapping that holds both lists.
    pub list: Node<'d>,
    pub key: Node<'d>,
    pub mapping: Node<'d>,
    pub source_at: FieldPath,
    pub route: Route<'a>,
}

/// The moved lines, and the blank lines that set the item off from its neighbour.
struct Taken {
    lines: String,
    gap: String,
    /// The changes that take them out.
    splices: Vec<Splice>,
}

impl Move<'_, '_> {
    fn within(&self) -> Result<Vec<Splice>, Refused> {
        if self.route.from == self.route.to {
            return Ok(Vec::new());
        }
        if is_flow(self.list) {
            return Ok(self.rotation());
        }
        let mut items = self.items(self.list)?;
        let taken = self.take(&items, 0)?;
        items.remove(self.route.from);
        put(&items, self.route.to, taken)
    }

    /// Makes the list above the one that the item comes from; the only item takes its list along.
    fn to_new_list(&self) -> Result<Vec<Splice>, Refused> {
        if self.list.item(1).is_none() {
            let key = self.text.span(self.key);
            return Ok(vec![Splice::replace(key, self.new_key())]);
        }
        if is_flow(self.list) {
            return self.flow_to_new();
        }
        let taken = self.take(&self.items(self.list)?, 0)?;
        let made = format!("{}:{}{}", self.new_key(), self.line_break(), taken.lines);
        let mut splices = taken.splices;
        splices.push(self.above_list(&made));
        Ok(splices)
    }

    fn block_to_block(&self, target: Node<'_>) -> Result<Vec<Splice>, Refused> {
        let others = self.items(target)?;
        let columns = self.column(target) - self.column(self.list);
        let taken = self.take(&self.items(self.list)?, columns)?;
        put(&others, self.route.to, taken)
    }

    /// Fills `initContainers:`, with `[]`, `null` or nothing behind it, below its line.
    fn block_to_empty(&self, target: &Target<'_>) -> Result<Vec<Splice>, Refused> {
        let key = target.key.ok_or_else(Refused::layout)?;
        let columns = self.column(key) - self.column(self.key);
        let taken = self.take(&self.items(self.list)?, columns)?;
        let slot = self.text.value_slot(key).ok_or_else(Refused::layout)?;
        let span = self.text.span(target.value);
        let below = self.text.line_end(slot.max(span.end));
        let mut splices = taken.splices;
        splices.push(Splice::insert(below, taken.lines));
        if !span.is_empty() {
            splices.push(Splice::delete(slot..span.end));
        }
        Ok(splices)
    }

    /// Takes the item out of its block list; `columns` is how far its lines are shifted.
    fn take(&self, items: &[Item], columns: isize) -> Result<Taken, Refused> {
        let item = items.get(self.route.from).ok_or_else(Refused::layout)?;
        let lines = item.lines.clone();
        let (gap, splices) = if items.len() == 1 {
            (0..0, self.without_list(&lines)?)
        } else if self.route.from == 0 {
            let end = self.text.blank_lines_below(lines.end);
            (lines.end..end, vec![Splice::delete(lines.start..end)])
        } else {
            let start = self.text.blank_lines_above(lines.start);
            (start..lines.start, vec![Splice::delete(start..lines.end)])
        };
        Ok(Taken {
            lines: shifted(self.text.slice(lines), columns),
            gap: self.text.slice(gap).to_owned(),
            splices,
        })
    }

    /// Takes away the list that its last item has left, down to the comments that go with the item.
    fn without_list(&self, moved: &std::ops::Range<usize>) -> Result<Vec<Splice>, Refused> {
        let at = &self.source_at;
        let mut splices = remove::entry(self.text, self.document, at, moved.clone())?;
        if let Some(splice) = splices.last_mut() {
            splice.range.end = splice.range.end.max(moved.end);
        }
        Ok(splices)
    }

    fn items(&self, list: Node<'_>) -> Result<Vec<Item>, Refused> {
        block::items(self.text, list).ok_or_else(Refused::layout)
    }

    /// The change that puts an entry (its last line break included) above the list's key and the
    /// comments that belong to it.
    pub fn above_list(&self, entry: &str) -> Splice {
        let start = self.text.full_span(self.key).start;
        let column = self.text.column(start);
        let margin = " ".repeat(column);
        if !self.text.is_first_in_line(start) {
            return Splice::insert(start, format!("{entry}{margin}"));
        }
        let first = self.mapping.own_entries().next();
        let is_first = first.is_some_and(|(first, _)| first == self.key);
        let line = self.text.line_start(start);
        let above = self.text.with_comments_above(line, column, is_first);
        Splice::insert(above, format!("{margin}{entry}"))
    }

    /// The new list's key, in quotes when the old one has them.
    pub fn new_key(&self) -> String {
        let written = self.text.slice(self.text.span(self.key));
        emit::quoted_like(written, self.route.target, false)
    }

    pub fn line_break(&self) -> &'static str {
        self.text.line_break(self.text.span(self.key).start)
    }

    fn column(&self, node: Node<'_>) -> isize {
        self.text.column(self.text.span(node).start) as isize
    }
}

/// Puts an item in place `index` among those that are there.
fn put(others: &[Item], index: usize, taken: Taken) -> Result<Vec<Splice>, Refused> {
    let Taken {
        lines,
        gap,
        mut splices,
    } = taken;
    splices.push(match others.get(index) {
        Some(next) => Splice::insert(next.lines.start, format!("{lines}{gap}")),
        None => {
            let last = others.last().ok_or_else(Refused::layout)?;
            Splice::insert(last.lines.end, format!("{gap}{lines}"))
        }
    });
    Ok(splices)
}
