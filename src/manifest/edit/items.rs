//! Adds an item to a list.

use super::block;
use super::brackets::{self, Brackets};
use super::emit;
use super::target::{Target, is_flow};
use super::text::{Splice, Text};
use super::{Operation, Refused};
use crate::manifest::path::Segment;
use crate::manifest::{Document, FieldPath};
use serde_json::Value;

/// The changes that make `value` the item at `at`.
pub(super) fn splices(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    value: &Value,
) -> Result<Vec<Splice>, Refused> {
    let (Some(list_at), Some(Segment::Index(index))) = (at.parent(), at.last()) else {
        return Err(Refused::because("only a list takes an item"));
    };
    let target = Target::find(document, &list_at)?;
    target.not_shared(text)?;
    let list = target.value;
    if list.items().next().is_none() {
        return Err(Refused::because(format!("`{list_at}` is an empty list")));
    }
    if is_flow(list) {
        let brackets = Brackets::of(text, list);
        let flow =
            brackets::flow_of(text, list).unwrap_or_else(|| brackets::surroundings(text, &target));
        return Ok(brackets.insert(*index, &flow.value(value)));
    }
    let items = block::items(text, list).ok_or_else(Refused::layout)?;
    let start = text.span(list).start;
    let column = text.column(start);
    let item = emit::block_item(value, column, block::indents(text, document));
    let lines = format!("{}- {item}", " ".repeat(column));
    let lines = lines.replace('\n', text.line_break(start));
    let place = match items.get(*index) {
        Some(next) => next.lines.start,
        None => items.last().ok_or_else(Refused::layout)?.lines.end,
    };
    Ok(vec![Splice::insert(place, lines)])
}

/// The place of a new item in a list that does not have those yet which `before` adds above it.
pub(super) fn place_without(at: &FieldPath, before: &[Operation]) -> FieldPath {
    let (Some(list), Some(Segment::Index(index))) = (at.parent(), at.last()) else {
        return at.clone();
    };
    let is_above = |operation: &&Operation| match operation {
        Operation::InsertItem { at, .. } => {
            at.parent().as_ref() == Some(&list)
                && matches!(at.last(), Some(Segment::Index(other)) if other < index)
        }
        Operation::Insert { .. }
        | Operation::Remove { .. }
        | Operation::Replace { .. }
        | Operation::Rename { .. }
        | Operation::Move { .. } => false,
    };
    list.index(index - before.iter().filter(is_above).count().min(*index))
}
