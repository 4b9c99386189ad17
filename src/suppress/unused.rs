//! What the ignores that hide nothing are told as.

use super::comments;
use super::page::{Ignore, Page};
use crate::config::Levels;
use crate::finding::{Finding, Suppression};
use crate::manifest::FieldPath;
use crate::manifest::parse::parts;
use crate::pod::Workload;
use crate::pod::workload::ObjectRef;
use crate::rules;
use crate::rules::unused_ignore::{self, Reason, Subject};
use crate::run::FileRead;

/// The ignores of a document that hide nothing.
pub(super) fn of_page(source: usize, page: &mut Page<'_>, levels: &Levels) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut objects: Option<Objects<'_>> = None;
    for (at, comment) in page.comments.iter().enumerate() {
        for ignore in &comment.ignores {
            if let Some(reason) = reason(ignore, levels) {
                let objects = objects.get_or_insert_with(|| Objects::of(page));
                let subject = Subject {
                    object: objects.around(ignore.span.start),
                    source,
                    document: page.read.document.index,
                    at: FieldPath::root(),
                    span: ignore.span,
                };
                let mut finding = unused_ignore::finding(&subject, &ignore.rule, &reason);
                finding.suppressed = excused(page, at);
                found.push(finding);
            }
        }
    }
    for annotated in &page.annotations {
        let Some(reason) = reason(&annotated.ignore, levels) else {
            continue;
        };
        let of_object = page.workloads.get(annotated.object).into_iter().flatten();
        let lost = annotated.container.as_deref().filter(|name| {
            let mut workloads = of_object.clone();
            !workloads.any(|workload| workload.template.container(name).is_some())
        });
        let reason = match (reason, lost) {
            (Reason::HidesNothing, Some(container)) => Reason::NoContainer(container.to_owned()),
            (reason, _) => reason,
        };
        let subject = Subject {
            object: annotated.object.clone(),
            source,
            document: page.read.document.index,
            at: annotated.at.clone(),
            span: annotated.ignore.span,
        };
        found.push(unused_ignore::finding(
            &subject,
            &annotated.ignore.rule,
            &reason,
        ));
    }
    for finding in &mut found {
        let by = page.hide(finding);
        finding.suppressed = finding.suppressed.take().or(by);
    }
    found
}

/// What lets a comment hide nothing: `unused-ignore` in itself, or in another about the same line.
fn excused(page: &Page<'_>, at: usize) -> Option<Suppression> {
    let comment = &page.comments[at];
    let others = comment.line.into_iter().flat_map(|line| page.about(line));
    let mut ignores = std::iter::once(comment)
        .chain(others)
        .flat_map(|comment| &comment.ignores);
    let own = ignores.find(|ignore| ignore.rule == unused_ignore::ID)?;
    Some(Suppression { by: own.by.clone() })
}

/// Comments of a file that stand in no document with objects of interest.
pub(super) fn strays(source: usize, file: &FileRead, levels: &Levels) -> Vec<Finding> {
    if !comments::are_in(&file.source) {
        return Vec::new();
    }
    let strays = comments::strays(file);
    if strays.is_empty() {
        return Vec::new();
    }
    let parts = parts(file.source.text());
    let document = |at: u32| {
        let behind = parts.partition_point(|part| part.start <= at);
        behind.saturating_sub(1)
    };
    let tell = |ignore: Ignore| {
        let reason = match reason(&ignore, levels)? {
            Reason::HidesNothing => Reason::OutOfPlace,
            reason => reason,
        };
        let subject = Subject {
            object: nobody(),
            source,
            document: document(ignore.span.start),
            at: FieldPath::root(),
            span: ignore.span,
        };
        Some(unused_ignore::finding(&subject, &ignore.rule, &reason))
    };
    strays.into_iter().filter_map(tell).collect()
}

/// Why an ignore hides nothing; none when it does, or when nobody knows since its rule is left out.
fn reason(ignore: &Ignore, levels: &Levels) -> Option<Reason> {
    if ignore.rule.is_empty() {
        return Some(Reason::NoRule);
    }
    if ignore.is_used || ignore.rule == unused_ignore::ID {
        return None;
    }
    match rules::find(&ignore.rule) {
        None => Some(Reason::UnknownRule),
        Some(rule) => levels.is_on(rule.id).then_some(Reason::HidesNothing),
    }
}

/// Where the objects of a document begin.
struct Objects<'d>(Vec<(u32, &'d ObjectRef)>);

impl<'d> Objects<'d> {
    fn of(page: &Page<'d>) -> Objects<'d> {
        let document = &page.read.document;
        let start = |workload: &Workload| document.node_at(&workload.at)?.span();
        let workloads = page.read.workloads();
        let starts = workloads.filter_map(|one| Some((start(one)?.start, &one.object)));
        Objects(starts.collect())
    }

    /// The object that a comment stands in: the last that begins above it, else the first.
    fn around(&self, at: u32) -> ObjectRef {
        let behind = self.0.partition_point(|(start, _)| *start <= at);
        let object = self.0.get(behind.saturating_sub(1));
        object.map_or_else(nobody, |(_, object)| (*object).clone())
    }
}

/// The object of what stands in none.
pub(super) fn nobody() -> ObjectRef {
    ObjectRef {
        api_version: String::new(),
        kind: String::new(),
        namespace: None,
        name: String::new(),
    }
}
