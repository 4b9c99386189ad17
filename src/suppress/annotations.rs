//! The annotation `startorder.dev/ignore: rule, rule@container`.

use super::directive::words;
use super::page::Ignore;
use crate::finding::Finding;
use crate::manifest::{Document, FieldPath, Mark, Span};
use crate::pod::Workload;
use crate::pod::workload::ObjectRef;
use std::collections::{BTreeMap, BTreeSet};

/// The annotation's key, on an object or on its pod template.
pub const ANNOTATION: &str = "startorder.dev/ignore";

/// A rule that an annotation ignores.
pub(super) struct Annotated<'d> {
    /// The object.
    pub object: &'d ObjectRef,
    /// The annotation.
    pub at: FieldPath,
    /// What it covers: the object, or one of its pod templates.
    pub covers: FieldPath,
    /// The ignore.
    pub ignore: Ignore,
    /// The only container that it is about.
    pub container: Option<String>,
}

impl Annotated<'_> {
    /// Whether a finding, of the same object, is among those that it ignores.
    pub fn is_about(&self, finding: &Finding) -> bool {
        let concerns = |name: &str| {
            [&finding.container, &finding.dependent]
                .iter()
                .any(|concerned| concerned.as_deref() == Some(name))
        };
        self.ignore.rule == finding.rule
            && finding.primary.at.is_below(&self.covers)
            && self.container.as_deref().is_none_or(concerns)
    }
}

/// Whether a workload has the annotation.
pub(super) fn is_on(workload: &Workload) -> bool {
    [&workload.annotations, &workload.template.annotations]
        .iter()
        .any(|annotations| annotations.contains_key(ANNOTATION))
}

/// What the annotations of the objects of a document ignore.
pub(super) fn read<'d>(
    document: &'d Document,
    workloads: &BTreeMap<&'d ObjectRef, Vec<&'d Workload>>,
) -> Vec<Annotated<'d>> {
    let mut found = Vec::new();
    let mut seen: BTreeSet<FieldPath> = BTreeSet::new();
    for (object, templates) in workloads {
        for workload in templates {
            let template = &workload.template;
            // An only template's annotation speaks of the whole object.
            let covers = match templates.len() {
                1 => &workload.at,
                _ => &template.at,
            };
            let holders = [
                (&workload.at, &workload.at, &workload.annotations),
                (&template.at, covers, &template.annotations),
            ];
            for (holder, covers, annotations) in holders {
                let at = holder.keys(&["metadata", "annotations", ANNOTATION]);
                if let Some(value) = annotations.get(ANNOTATION)
                    && seen.insert(at.clone())
                {
                    let ignores = words(value, |char| char == ',' || char.is_whitespace());
                    found.extend(ignores.map(|word| Annotated {
                        object,
                        at: at.clone(),
                        covers: covers.clone(),
                        ignore: ignore(document, &at, word),
                        container: word.split_once('@').map(|(_, name)| name.to_owned()),
                    }));
                }
            }
        }
    }
    found
}

fn ignore(document: &Document, at: &FieldPath, word: &str) -> Ignore {
    let span = document.span_at(at, &Mark::Part(word.to_owned()));
    let line = span.and_then(|span| Some(document.source()?.position(span.start).line));
    let by = line.map_or("annotation".to_owned(), |line| {
        format!("annotation on line {line}")
    });
    let rule = word.split_once('@').map_or(word, |(rule, _)| rule);
    Ignore::new(rule, span.unwrap_or(Span::new(0, 0)), by)
}
