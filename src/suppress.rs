//! Findings that somebody has decided to live with: by comments in the manifest, annotations of the
//! object, entries of the configuration, and rules that are left out.
//!
//! A hidden finding stays in the list with what hides it. An ignore that hides nothing is told by
//! the rule `unused-ignore`.

mod anchors;
mod annotations;
mod comments;
mod directive;
mod entries;
mod page;
mod unused;

pub use annotations::ANNOTATION;

use crate::config::{Config, Levels};
use crate::finding::{Finding, Suppression};
use crate::rules::unused_ignore;
use crate::run::{DocumentRead, Run};
use entries::Entries;
use page::Page;
use rayon::prelude::*;

/// What hides findings, in manifests and beside them.
#[derive(Clone, Copy, Debug)]
pub struct Suppressor<'c> {
    /// Rules that are left out: their findings count as hidden until [`Suppressor::drop_left_out`].
    pub levels: &'c Levels,
    /// The configuration with its entries.
    pub config: &'c Config,
    /// The path of each file of the run as the configuration writes it; empty without entries.
    pub paths: &'c [String],
}

impl Suppressor<'_> {
    /// Notes on each finding of a run what hides it, and adds a finding for each ignore that hides
    /// nothing; the configuration is the source behind those of the run. The findings have to come
    /// in the order of files and documents.
    pub fn mark(&self, run: &Run, findings: &mut Vec<Finding>) {
        self.leave_out(findings);
        let mut groups = findings
            .chunk_by_mut(|a, b| a.place() == b.place())
            .peekable();
        let mut pages: Vec<(usize, Page<'_>, &mut [Finding])> = Vec::new();
        for (source, file) in run.files.iter().enumerate() {
            let has_comments = comments::are_in(&file.source);
            for read in &file.documents {
                let here = (source, read.document.index);
                while groups.next_if(|group| group[0].place() < here).is_some() {}
                let group = groups.next_if(|group| group[0].place() == here);
                if let Some(page) = Page::of(read, has_comments) {
                    pages.push((source, page, group.unwrap_or_default()));
                }
            }
        }
        let tells = self.levels.is_on(unused_ignore::ID);
        let unused = pages.par_iter_mut().flat_map_iter(|(source, page, group)| {
            hide(page, group);
            match tells {
                true => unused::of_page(*source, page, self.levels),
                false => Vec::new(),
            }
        });
        let mut unused: Vec<Finding> = unused.collect();
        if tells {
            let files = run.files.iter().enumerate();
            unused.extend(files.flat_map(|(at, file)| unused::strays(at, file, self.levels)));
        }
        let mut entries = Entries::new(self.config, self.paths);
        entries.hide(run, findings);
        entries.hide(run, &mut unused);
        if tells {
            unused.extend(entries.unused(run.files.len(), self.levels));
        }
        unused.iter_mut().for_each(|one| self.levels.apply(one));
        findings.append(&mut unused);
    }

    /// Notes on each finding of one document what hides it.
    pub fn mark_document(&self, run: &Run, read: &DocumentRead, findings: &mut [Finding]) {
        self.leave_out(findings);
        let source = read.document.source();
        let has_comments = source.is_some_and(|source| comments::are_in(source));
        if let Some(mut page) = Page::of(read, has_comments) {
            hide(&mut page, findings);
        }
        Entries::new(self.config, self.paths).hide(run, findings);
    }

    /// Findings of rules that are left out are no findings; until the fixes are proven they are
    /// kept, so that no fix brings what nobody hears of.
    pub fn drop_left_out(&self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| self.levels.is_on(finding.rule));
    }

    fn leave_out(&self, findings: &mut [Finding]) {
        for finding in findings {
            if !self.levels.is_on(finding.rule) {
                finding.suppressed = Some(Suppression { by: String::new() });
            }
        }
    }
}

fn hide(page: &mut Page<'_>, findings: &mut [Finding]) {
    for finding in findings {
        let by = page.hide(finding);
        finding.suppressed = finding.suppressed.take().or(by);
    }
}
