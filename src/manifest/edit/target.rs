//! The way to the place of a change, and what forbids a change there.

use super::Refused;
use super::text::Text;
use crate::manifest::node::Kind;
use crate::manifest::path::Segment;
use crate::manifest::{Document, FieldPath, Node};

/// A value with the nodes above it, all written where the path says.
pub(super) struct Target<'d> {
    /// The mappings and lists above the value, the document's root first.
    pub above: Vec<Node<'d>>,
    /// The key, for an entry of a mapping.
    pub key: Option<Node<'d>>,
    /// The value.
    pub value: Node<'d>,
}

impl<'d> Target<'d> {
    /// Follows a path through what is written there, not through aliases and merges.
    pub fn find(document: &'d Document, path: &FieldPath) -> Result<Target<'d>, Refused> {
        let missing = || Refused::because(format!("there is no `{path}`"));
        let mut target = Target {
            above: Vec::new(),
            key: None,
            value: document.root().ok_or_else(missing)?,
        };
        for segment in path.segments() {
            let holder = target.value;
            not_an_alias(holder)?;
            (target.key, target.value) = match segment {
                Segment::Key(key) => own_entry(holder, key)?,
                Segment::Index(index) => (None, holder.item(*index).ok_or_else(missing)?),
            };
            target.above.push(holder);
        }
        Ok(target)
    }

    /// The mapping or list that holds the value; none for the root.
    pub fn holder(&self) -> Option<Node<'d>> {
        self.above.last().copied()
    }

    /// Whether the value stands inside brackets.
    pub fn is_in_flow(&self) -> bool {
        self.above.iter().any(|node| is_flow(*node))
    }

    /// Refuses a change of the nodes above the value that would also show where an alias is.
    pub fn not_shared_above(&self, text: &Text<'_>) -> Result<(), Refused> {
        self.above
            .iter()
            .try_for_each(|node| not_shared(text, *node))
    }

    /// Refuses a change of the value that would also show elsewhere.
    pub fn not_shared(&self, text: &Text<'_>) -> Result<(), Refused> {
        self.not_shared_above(text)?;
        not_an_alias(self.value)?;
        not_shared(text, self.value)
    }
}

pub(super) fn is_flow(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        Kind::Mapping { flow: true } | Kind::Sequence { flow: true }
    )
}

fn own_entry<'d>(mapping: Node<'d>, key: &str) -> Result<(Option<Node<'d>>, Node<'d>), Refused> {
    if let Some((key, value)) = mapping.own_entry(key) {
        return Ok((Some(key), value));
    }
    Err(Refused::because(match mapping.get(key) {
        Some(_) => format!("`{key}` comes from a merge (`<<`)"),
        None => format!("there is no `{key}`"),
    }))
}

/// Refuses an alias as the place of a change.
pub(super) fn not_an_alias(node: Node<'_>) -> Result<(), Refused> {
    if !matches!(node.kind(), Kind::Alias | Kind::UnknownAlias) {
        return Ok(());
    }
    let source = node.document().source().zip(node.span());
    let written = source.map_or("an alias", |(source, span)| source.slice(span));
    Err(Refused::because(format!(
        "{written} stands for a value that is written elsewhere"
    )))
}

fn not_shared(text: &Text<'_>, node: Node<'_>) -> Result<(), Refused> {
    let Some(name) = node.anchor() else {
        return Ok(());
    };
    let is_used = node.document().aliased_anchors().any(|used| used == node);
    if !is_used {
        return Ok(());
    }
    let place = text.line_of_alias(name);
    let place = place.map_or("elsewhere".to_owned(), |line| format!("on line {line}"));
    Err(Refused::because(format!(
        "the anchor &{name} is used {place}, too"
    )))
}
