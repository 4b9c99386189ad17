//! Gives a value or a key another text in the same place.

use super::Refused;
use super::block;
use super::brackets;
use super::emit::{self, Outermost};
use super::target::{Target, not_an_alias};
use super::text::{self, Splice, Text};
use crate::manifest::node::Kind;
use crate::manifest::{Document, FieldPath, Node};
use serde_json::Value;

/// The changes that give what stands at `at` another value.
pub(super) fn splices(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    value: &Value,
) -> Result<Vec<Splice>, Refused> {
    let target = Target::find(document, at)?;
    target.not_shared(text)?;
    let old = target.value;
    let span = text.span(old);
    if target.is_in_flow() {
        let flow = brackets::surroundings(text, &target);
        let new = match value {
            Value::String(new) if !flow.json => emit::quoted_like(text.slice(span), new, true),
            _ => flow.value(value),
        };
        return brackets::fill(text, &target, &new);
    }
    let is_one_line = matches!(old.kind(), Kind::Plain | Kind::Quoted) && !span.is_empty();
    match value {
        Value::String(new) if is_one_line && !new.contains('\n') => {
            let new = emit::quoted_like(text.slice(span.clone()), new, false);
            Ok(vec![Splice::replace(span, new)])
        }
        Value::Null | Value::Bool(_) | Value::Number(_) if is_one_line => {
            Ok(vec![Splice::replace(span, value.to_string())])
        }
        _ => block_value(text, document, &target, value),
    }
}

/// Replaces a value of block style from its key or dash to its last line.
fn block_value(
    text: &Text<'_>,
    document: &Document,
    target: &Target<'_>,
    value: &Value,
) -> Result<Vec<Splice>, Refused> {
    let indents = block::indents(text, document);
    let end = value_end(text, target.value);
    let (start, new) = match target.key {
        Some(key) => {
            let start = text.value_slot(key).ok_or_else(Refused::layout)?;
            let column = text.column(text.span(key).start);
            let entry = emit::block_entry("k", value, column, indents, Outermost::Block);
            (start, entry.trim_start_matches("k:").to_owned())
        }
        None => {
            let header = text.block_header(target.value);
            let header = header.filter(|_| target.value.kind() == Kind::Block);
            let start = header.unwrap_or(text.span(target.value)).start;
            let list = target.holder().ok_or_else(Refused::layout)?;
            let column = text.column(text.span(list).start);
            (start, emit::block_item(value, column, indents))
        }
    };
    let new = new.trim_end_matches('\n');
    let new = new.replace('\n', text.line_break(start));
    let end = text.without_blanks_behind(end.max(start));
    Ok(vec![Splice::replace(start..end, new)])
}

/// The end of a value's own text, without its last line break and what stands behind it.
fn value_end(text: &Text<'_>, value: Node<'_>) -> usize {
    if text::last_leaf(value).kind() == Kind::Block {
        text.slice(0..text.lines_end(value)).trim_end().len()
    } else {
        text.span(value).end
    }
}

/// The changes that give an entry another key.
pub(super) fn key_splices(
    text: &Text<'_>,
    document: &Document,
    at: &FieldPath,
    key: &str,
) -> Result<Vec<Splice>, Refused> {
    let target = Target::find(document, at)?;
    target.not_shared_above(text)?;
    let old = target.key.ok_or_else(Refused::layout)?;
    not_an_alias(old)?;
    let span = text.span(old);
    let new = emit::quoted_like(text.slice(span.clone()), key, target.is_in_flow());
    Ok(vec![Splice::replace(span, new)])
}
