//! YAML and JSON: each scalar by the path of keys that leads to it.

use super::{Fact, Meaning};
use crate::manifest::Node;
use crate::manifest::parse::parse;

/// The deepest level that is read.
const DEPTH: usize = 32;

/// The most nodes that are looked at: aliases can make a small text stand for a huge one.
const MOST: usize = 20_000;

/// Counts the nodes that are looked at.
#[derive(Default)]
pub(super) struct Steps(usize);

impl Steps {
    /// Whether one more node may be looked at, at this depth.
    pub(super) fn may_go_on(&mut self, depth: usize) -> bool {
        self.0 += 1;
        self.0 <= MOST && depth <= DEPTH
    }
}

/// The scalars with dotted paths; items of a list have the path of the list. Nothing when the text
/// cannot be parsed.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    for_each_root(text, |root, line_of| {
        let mut steps = Steps::default();
        add(root, String::new(), 0, &mut steps, line_of, &mut facts);
    });
    facts
}

/// Gives the root of each document, and what tells the line of a node, from 0.
pub(super) fn for_each_root(
    text: &str,
    mut give: impl FnMut(Node<'_>, &dyn Fn(Node<'_>) -> usize),
) {
    let parsed = parse("", text);
    for document in &parsed.documents {
        let line_of = |node: Node<'_>| {
            let source = document.source();
            source.zip(node.span()).map_or(0, |(source, span)| {
                source.position(span.start).line.saturating_sub(1)
            })
        };
        if let Some(root) = document.root() {
            give(root, &line_of);
        }
    }
}

fn add(
    node: Node<'_>,
    path: String,
    depth: usize,
    steps: &mut Steps,
    line_of: &dyn Fn(Node<'_>) -> usize,
    facts: &mut Vec<Fact>,
) {
    if !steps.may_go_on(depth) {
        return;
    }
    if node.is_mapping() {
        for (key, value) in node.entries() {
            let path = match path.is_empty() {
                true => key.to_owned(),
                false => format!("{path}.{key}"),
            };
            add(value, path, depth + 1, steps, line_of, facts);
        }
    } else if node.is_sequence() {
        for item in node.items() {
            add(item, path.clone(), depth + 1, steps, line_of, facts);
        }
    } else if let Some(value) = node.text().filter(|text| !text.is_empty()) {
        facts.push(Fact {
            line: line_of(node),
            name: path,
            value: value.to_owned(),
            meaning: Meaning::Setting,
        });
    }
}
