//! Adds an entry to a mapping.

use super::Refused;
use super::block;
use super::brackets::{self, Brackets};
use super::emit::{self, Outermost};
use super::target::Target;
use super::text::{Splice, Text};
use crate::manifest::node::Kind;
use crate::manifest::{Document, FieldPath, Node};
use serde_json::{Map, Value};

/// The changes that add `key: value` to the mapping at `at`, behind the entry `after`.
pub(super) fn splices(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    (key, value): (&str, &Value),
    after: Option<&str>,
) -> Result<Vec<Splice>, Refused> {
    let target = Target::find(document, at)?;
    target.not_shared(text)?;
    let mapping = target.value;
    if is_empty(mapping) && (mapping.is_mapping() || mapping.is_null()) {
        return fill(text, document, &target, key, value);
    }
    if mapping.kind() == (Kind::Mapping { flow: true }) {
        let brackets = Brackets::of(text, mapping);
        let place = after.and_then(|after| brackets::position(mapping, after));
        let place = place.map_or(brackets.len(), |place| place + 1);
        return Ok(brackets.insert(place, &brackets.entry(key, value)));
    }
    let before = after
        .and_then(|after| mapping.own_entry(after))
        .or_else(|| mapping.own_entries().last())
        .ok_or_else(|| Refused::because(format!("`{at}` is not a mapping")))?;
    let lines = block_lines(text, document, mapping, key, value);
    Ok(vec![Splice::insert(
        behind_entry(text, mapping, before),
        lines,
    )])
}

/// Where a new entry goes behind an entry of a block mapping: below its comments, and below those
/// that end the mapping.
fn behind_entry(text: &Text<'_>, mapping: Node<'_>, (key, value): (Node<'_>, Node<'_>)) -> usize {
    let column = text.column(text.span(key).start);
    let is_last = mapping.own_entries().last().map(|(last, _)| last) == Some(key);
    let column = if is_last {
        column.saturating_sub(1)
    } else {
        column
    };
    text.with_comments_below(text.entry_end(key, value), column)
}

/// The lines of a new entry of a block mapping.
fn block_lines(
    text: &Text<'_>,
    document: &Document,
    mapping: Node<'_>,
    key: &str,
    value: &Value,
) -> String {
    let column = mapping
        .own_entries()
        .next()
        .map_or(0, |(key, _)| text.column(text.span(key).start));
    let indents = block::indents(text, document);
    let outermost = outermost(mapping);
    let entry = emit::block_entry(key, value, column, indents, outermost);
    let line_break = text.line_break(text.span(mapping).start);
    format!("{}{entry}", " ".repeat(column)).replace('\n', line_break)
}

/// A small mapping goes on its key's line if those beside it do.
fn outermost(mapping: Node<'_>) -> Outermost {
    let has = |kind: Kind| {
        let mut filled = mapping.own_entries().filter(|(_, value)| !is_empty(*value));
        filled.any(|(_, value)| value.kind() == kind)
    };
    if has(Kind::Mapping { flow: true }) && !has(Kind::Mapping { flow: false }) {
        Outermost::Flow
    } else {
        Outermost::Block
    }
}

fn is_empty(mapping: Node<'_>) -> bool {
    mapping.own_entries().next().is_none()
}

/// Gives an empty mapping (`{}`, `null` or nothing) its first entry.
fn fill(
    text: &Text<'_>,
    document: &Document,
    target: &Target<'_>,
    key: &str,
    value: &Value,
) -> Result<Vec<Splice>, Refused> {
    let span = text.span(target.value);
    let holder_key = target.key.filter(|_| !target.is_in_flow());
    let Some(holder_key) = holder_key else {
        let flow = brackets::surroundings(text, target);
        let mapping = Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
        return brackets::fill(text, target, &flow.value(&mapping));
    };
    let slot = text.value_slot(holder_key).ok_or_else(Refused::layout)?;
    let indents = block::indents(text, document);
    let column = text.column(text.span(holder_key).start) + indents.mapping;
    let entry = emit::block_entry(key, value, column, indents, Outermost::Block);
    let line_break = text.line_break(slot);
    let lines = format!("{}{entry}", " ".repeat(column)).replace('\n', line_break);
    let end = text.line_end(slot.max(span.end));
    let mut splices = vec![Splice::insert(end, lines)];
    if !span.is_empty() {
        splices.push(Splice::delete(slot..span.end));
    }
    Ok(splices)
}
