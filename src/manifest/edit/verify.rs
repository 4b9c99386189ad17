//! The proof that a changed text means what it is meant to mean, and nothing else.

use super::Refused;
use crate::manifest::parse::{self, Part};
use crate::manifest::{Document, Node, Source};
use serde_json::Value;
use std::sync::Arc;

/// The documents of one part of a source, one of which is being changed.
pub(super) struct Reading {
    part: Part,
    /// Which of them is being changed.
    place: usize,
}

impl Reading {
    /// Reads a changed part again.
    pub fn of(text: String, original: &Document, place: usize) -> Reading {
        let name = original.source().map_or("", |source| source.name());
        let source = Arc::new(Source::new(name, text));
        let whole = crate::manifest::Span::new(0, source.text().len());
        let first = original.index.saturating_sub(place);
        Reading {
            part: parse::parse_part(&source, whole, first),
            place,
        }
    }

    /// The same with a line break at the end of the text.
    pub fn with_last_line_break(self, original: &Document) -> Reading {
        let documents = self.part.documents.first();
        let source = documents.and_then(Document::source);
        let text = source.map_or("", |source| source.text());
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Reading::of(format!("{text}{line_break}"), original, self.place)
    }

    /// The document that is being changed, as it reads now.
    pub fn document(&self) -> Result<&Document, Refused> {
        let broken = || match self.part.errors.first() {
            Some(error) if error.message.contains("anchor") => {
                Refused::because(error.message.clone())
            }
            _ => Refused::because("the result could not be read back"),
        };
        self.part.documents.get(self.place).ok_or_else(broken)
    }

    /// Gives up the changed document.
    pub fn into_document(mut self) -> Option<Document> {
        (self.place < self.part.documents.len())
            .then(|| self.part.documents.swap_remove(self.place))
    }
}

/// Which of its part's documents a document is; nearly always the only one.
pub(super) fn place_in_part(document: &Document) -> usize {
    let Some(part) = original_part(document) else {
        return 0;
    };
    let start = |document: &Document| document.root().and_then(Node::span);
    let mut documents = part.documents.iter();
    let found = documents.position(|other| start(other) == start(document));
    found.unwrap_or(0)
}

/// The part of the document read once more, if it can hold several.
fn original_part(document: &Document) -> Option<Part> {
    let source = document.source()?;
    let text = source.slice(document.span);
    let can_hold_several = ["\n...", "\n---"].iter().any(|mark| text.contains(mark));
    can_hold_several.then(|| parse::parse_part(source, document.span, document.index))
}

/// Proves that the operations made these changes and no others; `want` is the document's data with
/// the same operations applied.
pub(super) fn prove(original: &Document, after: &Reading, want: &Value) -> Result<(), Refused> {
    let changed = after.document()?;
    let before = original_part(original);
    let (documents, errors) = before
        .as_ref()
        .map_or((1, 0), |part| (part.documents.len(), part.errors.len()));
    if after.part.documents.len() != documents || after.part.errors.len() != errors {
        return Err(Refused::because("the result could not be read back"));
    }
    let others = before
        .iter()
        .flat_map(|part| &part.documents)
        .zip(&after.part.documents);
    let mut others = others
        .enumerate()
        .filter(|(place, _)| *place != after.place);
    if others.any(|(_, (before, after))| data(before) != data(after)) {
        return Err(Refused::because("another document would change"));
    }
    if changed.duplicates.len() > original.duplicates.len() {
        return Err(Refused::because("a key would be there twice"));
    }
    if data(changed).as_ref() != Some(want) {
        return Err(other_meaning(original));
    }
    no_comment_lost(original, changed)
}

/// A document's data; null when it is empty, none when it grows without bound.
pub(super) fn data(document: &Document) -> Option<Value> {
    match document.root() {
        Some(root) => root.to_json(),
        None => Some(Value::Null),
    }
}

fn other_meaning(original: &Document) -> Refused {
    Refused::because(match original.aliased_anchors().next() {
        Some(_) => "an anchor or a merge (`<<`) would carry the change elsewhere",
        None => "the text around it would read differently",
    })
}

fn no_comment_lost(before: &Document, after: &Document) -> Result<(), Refused> {
    let mut left = comments(after).into_iter();
    for comment in comments(before) {
        // Both are in alphabetical order: what is passed over here is new.
        if !left.any(|other| other == comment) {
            return Err(Refused::because(format!(
                "the comment `{comment}` would be lost"
            )));
        }
    }
    Ok(())
}

/// The comments in alphabetical order.
fn comments(document: &Document) -> Vec<&str> {
    let Some(source) = document.source() else {
        return Vec::new();
    };
    let spans = document.comments.iter();
    let mut comments: Vec<_> = spans.map(|span| source.slice(*span).trim_end()).collect();
    comments.sort_unstable();
    comments
}
