//! The ignores of one document.

use super::anchors::anchors;
use super::annotations::{self, Annotated};
use super::comments::{self, Comment};
use crate::finding::{Finding, Suppression};
use crate::manifest::Span;
use crate::pod::Workload;
use crate::pod::workload::ObjectRef;
use crate::run::DocumentRead;
use std::collections::BTreeMap;

/// That one rule is ignored at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ignore {
    /// The rule as it is written; empty when none is named.
    pub rule: String,
    /// Where it is written.
    pub span: Span,
    /// Who ignores, for people: `line 30: "spans are buffered"`.
    pub by: String,
    /// It hides something.
    pub is_used: bool,
}

impl Ignore {
    pub fn new(rule: &str, span: Span, by: String) -> Ignore {
        Ignore {
            rule: rule.to_owned(),
            span,
            by,
            is_used: false,
        }
    }

    /// Takes note that it hides a finding.
    fn hide(&mut self) -> Suppression {
        self.is_used = true;
        Suppression {
            by: self.by.clone(),
        }
    }
}

/// A document with its ignores.
pub(super) struct Page<'d> {
    pub read: &'d DocumentRead,
    pub comments: Vec<Comment>,
    pub annotations: Vec<Annotated<'d>>,
    pub workloads: BTreeMap<&'d ObjectRef, Vec<&'d Workload>>,
    /// Which comments are about a line.
    by_line: BTreeMap<usize, Vec<usize>>,
}

impl<'d> Page<'d> {
    /// Looks for ignores; none when there is none. `has_comments` says whether the file has any.
    pub fn of(read: &'d DocumentRead, has_comments: bool) -> Option<Page<'d>> {
        let is_annotated = read.workloads().any(annotations::is_on);
        if !has_comments && !is_annotated {
            return None;
        }
        let mut workloads: BTreeMap<&ObjectRef, Vec<&Workload>> = BTreeMap::new();
        for workload in read.workloads() {
            workloads
                .entry(&workload.object)
                .or_default()
                .push(workload);
        }
        let comments = match has_comments {
            true => comments::read(&read.document),
            false => Vec::new(),
        };
        let mut by_line: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, comment) in comments.iter().enumerate() {
            if let Some(line) = comment.line {
                by_line.entry(line).or_default().push(at);
            }
        }
        let annotations = match is_annotated {
            true => annotations::read(&read.document, &workloads),
            false => Vec::new(),
        };
        Some(Page {
            read,
            comments,
            annotations,
            workloads,
            by_line,
        })
    }

    /// The comments about a line.
    pub fn about(&self, line: usize) -> impl Iterator<Item = &Comment> {
        let all = self.by_line.get(&line).into_iter().flatten();
        all.map(|at| &self.comments[*at])
    }

    /// What hides a finding of this document; every ignore that does counts as used.
    pub fn hide(&mut self, finding: &Finding) -> Option<Suppression> {
        let by_comment = self.hide_by_comment(finding);
        let mut by = by_comment;
        for annotated in &mut self.annotations {
            if *annotated.object == finding.object && annotated.is_about(finding) {
                let hidden = annotated.ignore.hide();
                by = by.or(Some(hidden));
            }
        }
        by
    }

    fn hide_by_comment(&mut self, finding: &Finding) -> Option<Suppression> {
        if self.by_line.is_empty() {
            return None;
        }
        let mut by = None;
        let template = self.workload_of(finding).map(|workload| &workload.template);
        for anchor in anchors(finding, &self.read.document, template) {
            for at in self.by_line.get(&anchor.line).into_iter().flatten() {
                let comment = &mut self.comments[*at];
                let is_of_item_above = anchor
                    .item_column
                    .is_some_and(|column| comment.least_column > column);
                let rules = comment.ignores.iter_mut();
                for ignore in rules.filter(|ignore| ignore.rule == finding.rule) {
                    if !is_of_item_above {
                        let hidden = ignore.hide();
                        by = by.or(Some(hidden));
                    }
                }
            }
        }
        by
    }

    /// The pod template of the finding's object that its place lies in.
    fn workload_of(&self, finding: &Finding) -> Option<&'d Workload> {
        let all = self.workloads.get(&finding.object)?;
        let at = &finding.primary.at;
        let around = all.iter().find(|one| at.is_below(&one.template.spec_at));
        around.or(all.first()).copied()
    }
}
