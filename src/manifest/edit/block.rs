//! Where things stand in block style.

use super::emit::Indents;
use super::text::Text;
use crate::manifest::node::Kind;
use crate::manifest::{Document, Node};
use std::ops::Range;

/// An item of a block list, in whole lines.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The line of its dash and all below it, comments above and below included.
    pub lines: Range<usize>,
    /// The lines without those comments.
    pub own: Range<usize>,
}

/// The items of a block list by lines; none when a dash is not where it is expected.
pub(super) fn items(text: &Text<'_>, list: Node<'_>) -> Option<Vec<Item>> {
    let first = text.span(list).start;
    let column = text.column(first);
    let mut items: Vec<Item> = Vec::new();
    for (index, item) in list.items().enumerate() {
        let line = match items.last() {
            None => text.line_start(first),
            Some(before) => next_dash(text, before.own.end, column)?,
        };
        if !text.is_first_in_line(line + column) {
            return None;
        }
        let content = if text.full_span(item).is_empty() {
            text.line_end(line)
        } else {
            text.lines_end(item).max(text.line_end(line))
        };
        let start = text.with_comments_above(line, column, index == 0);
        let end = text.with_comments_below(content, column);
        items.push(Item {
            lines: start..end,
            own: line..content,
        });
    }
    Some(items)
}

/// The first line from `line` on that has a dash in `column`.
fn next_dash(text: &Text<'_>, line: usize, column: usize) -> Option<usize> {
    let mut line = line;
    while line < text.body().len() {
        let at = line + column;
        if text.indent(line).len() == column && text.slice(at..at + 1) == "-" {
            return Some(line);
        }
        line = text.line_end(line);
    }
    None
}

/// The indentation that the document uses; two columns and dashes below their key if nothing tells.
pub(super) fn indents(text: &Text<'_>, document: &Document) -> Indents {
    let (mut mapping, mut dash) = (None, None);
    let mut open: Vec<Node<'_>> = document.root().into_iter().collect();
    while let Some(node) = open.pop() {
        if mapping.is_some() && dash.is_some() {
            break;
        }
        if node.kind() == (Kind::Sequence { flow: false }) {
            open.extend(node.items().filter(|item| is_block(*item)).take(4));
        }
        if node.kind() != (Kind::Mapping { flow: false }) {
            continue;
        }
        for (key, value) in node.own_entries().filter(|(_, value)| is_block(*value)) {
            let column = text.column(text.span(key).start);
            let below = text.column(text.span(value).start);
            let step = below.checked_sub(column);
            if value.is_mapping() {
                mapping = mapping.or(step.filter(|step| *step > 0));
            } else {
                dash = dash.or(step);
            }
            open.push(value);
        }
    }
    Indents {
        mapping: mapping.unwrap_or(2),
        dash: dash.unwrap_or(0),
    }
}

fn is_block(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        Kind::Mapping { flow: false } | Kind::Sequence { flow: false }
    )
}
