//! The entries of `ignore` in the configuration.

use super::unused::nobody;
use crate::config::{Config, Ignore, Levels};
use crate::finding::{Finding, Suppression};
use crate::manifest::{FieldPath, Span};
use crate::rules::unused_ignore::{self, Reason, Subject};
use crate::run::Run;
use std::collections::BTreeSet;

/// The entries, and which of them hide something.
pub(super) struct Entries<'c> {
    config: &'c Config,
    paths: &'c [String],
    /// Entries with the place of the rule that hid something.
    used: BTreeSet<(usize, usize)>,
}

impl<'c> Entries<'c> {
    /// `paths` are those of the run's files as the configuration writes them.
    pub fn new(config: &'c Config, paths: &'c [String]) -> Entries<'c> {
        Entries {
            config,
            paths,
            used: BTreeSet::new(),
        }
    }

    /// Notes on each finding what hides it.
    pub fn hide(&mut self, run: &Run, findings: &mut [Finding]) {
        if self.config.ignores.is_empty() {
            return;
        }
        for finding in findings {
            let path = self.paths.get(finding.source).map_or("", String::as_str);
            let namespace = run.namespace_of(&finding.object);
            for (at, ignore) in self.config.ignores.iter().enumerate() {
                let Some(rule) = ignore.fits(finding, path, namespace) else {
                    continue;
                };
                self.used.insert((at, rule));
                if finding.suppressed.is_none() {
                    finding.suppressed = Some(self.by(ignore));
                }
            }
        }
    }

    fn by(&self, ignore: &Ignore) -> Suppression {
        let place = self.config.place(ignore.at);
        let by = match &ignore.reason {
            Some(reason) => format!("{place}: \"{reason}\""),
            None => place,
        };
        Suppression { by }
    }

    /// A finding for each rule of an entry that hides nothing; `source` is the place of the
    /// configuration in the list of sources.
    pub fn unused(&self, source: usize, levels: &Levels) -> Vec<Finding> {
        let mut found = Vec::new();
        for (at, ignore) in self.config.ignores.iter().enumerate() {
            let rules: Vec<(&str, Span)> = match ignore.rules.is_empty() {
                true => vec![("", ignore.at)],
                false => ignore.rules.clone(),
            };
            for (place, (rule, span)) in rules.into_iter().enumerate() {
                if self.used.contains(&(at, place)) || !levels.is_on(rule) {
                    continue;
                }
                let subject = Subject {
                    object: nobody(),
                    source,
                    document: 0,
                    at: FieldPath::root().key("ignore").index(at),
                    span,
                };
                found.push(unused_ignore::finding(
                    &subject,
                    rule,
                    &Reason::HidesNothing,
                ));
            }
        }
        found
    }
}
