//! The lines at which a comment can ignore a finding.

use crate::finding::Finding;
use crate::manifest::path::Segment;
use crate::manifest::{Document, FieldPath, Source};
use crate::pod::{Container, PodTemplate};

/// A line that a comment may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    /// The line, from 1.
    pub line: usize,
    /// Where an item begins that has another one above it.
    pub item_column: Option<usize>,
}

/// The line of the finding itself, those of the fields around it up to its container, and the items
/// of the containers that it is about.
pub(super) fn anchors(
    finding: &Finding,
    document: &Document,
    template: Option<&PodTemplate>,
) -> Vec<Anchor> {
    let Some(source) = document.source() else {
        return Vec::new();
    };
    let at = &finding.primary.at;
    let containers = template.map_or(&[][..], |template| &template.containers);
    let around = containers.iter().find(|one| at.is_below(&one.at));
    let mut fields = match around {
        Some(container) => fields_within(at, container),
        None => vec![at.clone()],
    };
    let is_concerned = |container: &&Container| is_concerned(finding, container);
    let items = containers.iter().filter(is_concerned);
    fields.extend(items.map(|container| container.at.clone()));
    let is_about_nobody = finding.container.is_none() && finding.dependent.is_none();
    fields.extend(
        around
            .filter(|_| is_about_nobody)
            .map(|container| container.at.clone()),
    );
    let own = finding.primary.span.map(|span| Anchor {
        line: source.position(span.start).line,
        item_column: None,
    });
    let lines = fields
        .iter()
        .flat_map(|field| lines(document, source, field));
    own.into_iter().chain(lines).collect()
}

fn is_concerned(finding: &Finding, container: &Container) -> bool {
    let name = Some(container.name.as_str()).filter(|name| !name.is_empty());
    name.is_some() && (name == finding.container.as_deref() || name == finding.dependent.as_deref())
}

/// The fields of a container that lead to a place, the place first, the container left out.
fn fields_within(at: &FieldPath, container: &Container) -> Vec<FieldPath> {
    let mut fields = Vec::new();
    let mut next = Some(at.clone());
    while let Some(field) = next.filter(|field| *field != container.at) {
        next = field.parent();
        fields.push(field);
    }
    fields
}

/// The lines that a field begins in: that of its key; for an item that of its value and, should it
/// stand alone, that of its dash.
fn lines(document: &Document, source: &Source, at: &FieldPath) -> Vec<Anchor> {
    let anchor = |offset: u32, is_item: bool| {
        let line = source.position(offset).line;
        let text = source.line(line);
        let indent = text.len() - text.trim_start().len();
        let item_column = is_item.then_some(indent);
        Anchor { line, item_column }
    };
    let Some(Segment::Index(index)) = at.last() else {
        let key = document.key_at(at).and_then(|key| key.span());
        return key
            .map(|key| anchor(key.start, false))
            .into_iter()
            .collect();
    };
    let Some(span) = document.node_at(at).and_then(|item| item.full_span()) else {
        return Vec::new();
    };
    let has_item_above = *index > 0;
    let before = source.text().get(..span.start as usize).unwrap_or_default();
    let before = before.trim_end();
    let dash = before.ends_with('-').then(|| before.len() as u32 - 1);
    let dash = dash.map(|dash| anchor(dash, has_item_above));
    let own = anchor(span.start, has_item_above);
    dash.into_iter().chain([own]).collect()
}
