//! Changes to the text of a document that keep everything else as it is.
//!
//! Every [`Operation`] is a change of the data. [`apply`] finds the bytes that make it, reads the
//! result back, and gives it out only if it means exactly what the operations say.

mod block;
mod brackets;
mod data;
mod emit;
mod flow_lists;
mod insert;
mod items;
mod lists;
mod remove;
mod replace;
mod target;
mod text;
mod verify;

use super::{Document, FieldPath, Span};
use serde_json::Value;
use text::Text;
use verify::Reading;

/// One change, meant as a change of the data; [`apply`] finds the text that makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Adds an entry to the mapping at `at`, after the entry `after` (at the end without one).
    Insert {
        /// The mapping.
        at: FieldPath,
        /// The new key.
        key: String,
        /// Its value.
        value: Value,
        /// The entry that it follows.
        after: Option<String>,
    },
    /// Adds an item to a list that has one already.
    InsertItem {
        /// The new item's place: a list and an index; beyond the last it is the end.
        at: FieldPath,
        /// Its value.
        value: Value,
    },
    /// Removes an entry of a mapping or an item of a list; an emptied list or mapping stays empty.
    Remove {
        /// The entry or item.
        at: FieldPath,
    },
    /// Gives an entry or item another value, with the quotes of the old one.
    Replace {
        /// The entry or item.
        at: FieldPath,
        /// The new value.
        value: Value,
    },
    /// Gives an entry another key.
    Rename {
        /// The entry.
        at: FieldPath,
        /// The new key.
        key: String,
    },
    /// Moves an item of a list: it becomes item `to` of its own or of another list of the same
    /// mapping, counted as if it were taken out first. A list that is not there is made, above
    /// the list that the item comes from; a list that loses its last item to another one is taken
    /// away with its key.
    Move {
        /// The item.
        from: FieldPath,
        /// The item's new place: a list and an index.
        to: FieldPath,
    },
}

impl Eq for Operation {}

/// Why a change cannot be made by machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// The reason, in a clause.
    pub reason: String,
}

impl Refused {
    fn because(reason: impl Into<String>) -> Refused {
        Refused {
            reason: reason.into(),
        }
    }

    /// The text is not laid out as the code expects.
    fn layout() -> Refused {
        Refused::because("its layout is not one that can be changed by machine")
    }
}

/// A document's changed text.
#[derive(Debug)]
pub struct Edited {
    /// The part of the source that it takes the place of: the document's [`Document::span`].
    pub span: Span,
    /// The new text of that part.
    pub text: String,
    /// The new text, read back: its spans count from the part's start.
    pub document: Document,
}

impl Edited {
    /// The text of the whole source with the change in it.
    pub fn within(&self, source: &str) -> String {
        let span = self.span.range();
        let before = source.get(..span.start).unwrap_or_default();
        let after = source.get(span.end..).unwrap_or_default();
        [before, &self.text, after].concat()
    }
}

/// Makes the operations in order, each on the outcome of those before it, and proves the result:
/// it parses as the same documents, means what the operations say, and has lost no comment.
///
/// Refuses with a reason when that cannot be had: a value that is written elsewhere, too (aliases,
/// merges), a template (`{{`) in the document, a document without a text. Nothing is half-done.
pub fn apply(document: &Document, operations: &[Operation]) -> Result<Edited, Refused> {
    let source = document
        .source()
        .ok_or_else(|| Refused::because("there is no text to change"))?;
    if source.slice(document.span).contains("{{") {
        return Err(Refused::because("the document is a template (`{{`)"));
    }
    let mut want = verify::data(document)
        .ok_or_else(|| Refused::because("its aliases stand for too many values"))?;
    for operation in operations {
        operation.apply_to(&mut want)?;
    }
    // Operations that do not move anything rarely touch each other: made together they save a
    // reading each. The proof tells when they did touch; then they are made one by one.
    let together = batches(operations);
    if together.len() < operations.len()
        && let Ok(edited) = apply_batches(document, &together, &want)
    {
        return Ok(edited);
    }
    let one_by_one: Vec<&[Operation]> = operations.chunks(1).collect();
    apply_batches(document, &one_by_one, &want)
}

/// Neighbours that can be made on the same reading: all but moves.
fn batches(operations: &[Operation]) -> Vec<&[Operation]> {
    let is_move = |operation: &Operation| matches!(operation, Operation::Move { .. });
    operations
        .chunk_by(|one, next| !is_move(one) && !is_move(next))
        .collect()
}

/// Makes batch after batch, each on the reading of the one before; `want` is what the outcome has to
/// mean.
fn apply_batches(
    document: &Document,
    batches: &[&[Operation]],
    want: &Value,
) -> Result<Edited, Refused> {
    let place = verify::place_in_part(document);
    let mut reading: Option<Reading> = None;
    for batch in batches {
        let current = match &reading {
            Some(reading) => reading.document()?,
            None => document,
        };
        let text = changed(current, document, batch)?;
        let mut again = Reading::of(text, document, place);
        if ends_in_open_text(again.document()?) && !ends_in_open_text(current) {
            // Text that has come to stand last keeps the line break that it had.
            again = again.with_last_line_break(document);
        }
        reading = Some(again);
    }
    let source = document.source().ok_or_else(Refused::layout)?;
    let unchanged = || source.slice(document.span).to_owned();
    let reading = reading.unwrap_or_else(|| Reading::of(unchanged(), document, place));
    verify::prove(document, &reading, want)?;
    let changed = reading.into_document().ok_or_else(Refused::layout)?;
    let text = changed.source().map(|source| source.text().to_owned());
    Ok(Edited {
        span: document.span,
        text: text.unwrap_or_default(),
        document: changed,
    })
}

/// Whether the document ends amid a text of several lines, without a line break.
fn ends_in_open_text(document: &Document) -> bool {
    Text::of(document, document).is_some_and(|text| text.ends_in_open_text())
}

/// The text of a document's part after a batch of operations, not proven yet.
fn changed(
    document: &Document,
    original: &Document,
    batch: &[Operation],
) -> Result<String, Refused> {
    let text = Text::of(document, original).ok_or_else(Refused::layout)?;
    let mut splices = Vec::new();
    for (number, operation) in batch.iter().enumerate() {
        splices.extend(splices_of(&text, document, operation, &batch[..number])?);
    }
    text.changed(splices)
}

/// The changes of one operation, as seen by a text on which those before it are not made yet.
fn splices_of(
    text: &Text<'_>,
    document: &Document,
    operation: &Operation,
    before: &[Operation],
) -> Result<Vec<text::Splice>, Refused> {
    match operation {
        Operation::Insert {
            at,
            key,
            value,
            after,
        } => insert::splices(text, document, at, (key, value), after.as_deref()),
        Operation::InsertItem { at, value } => {
            items::splices(text, document, &items::place_without(at, before), value)
        }
        Operation::Remove { at } => remove::splices(text, document, at),
        Operation::Replace { at, value } => replace::splices(text, document, at, value),
        Operation::Rename { at, key } => replace::key_splices(text, document, at, key),
        Operation::Move { from, to } => lists::splices(text, document, from, to),
    }
}

#[cfg(test)]
mod tests;
