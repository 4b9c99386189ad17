//! Evidence that stands in a ConfigMap or Secret: its place, and its line where it may be shown.

use super::{Report, excerpt};
use crate::finding::{Elsewhere, Evidence, Finding};
use crate::manifest::Source;
use miette::LabeledSpan;

/// A piece of evidence with the text that it stands in.
pub struct Place<'r> {
    evidence: &'r Evidence,
    elsewhere: &'r Elsewhere,
    /// The text.
    pub source: &'r Source,
    is_own: bool,
}

/// The evidence of a finding that stands elsewhere, in order.
pub fn places<'r>(report: &'r Report, finding: &'r Finding) -> Vec<Place<'r>> {
    let evidence = finding.evidence.iter();
    let places = evidence.filter_map(|evidence| {
        let elsewhere = evidence.elsewhere.as_ref()?;
        Some(Place {
            evidence,
            elsewhere,
            source: report.source(elsewhere.source)?,
            is_own: elsewhere.source == finding.source,
        })
    });
    places.collect()
}

impl Place<'_> {
    /// Whether its line stands in the file of the workload, and may be shown among the workload's.
    pub fn is_in_excerpt(&self) -> bool {
        self.is_own && !self.elsewhere.is_secret
    }

    /// Whether its line may be shown at all: nothing of a Secret.
    pub fn may_be_shown(&self) -> bool {
        !self.elsewhere.is_secret
    }

    /// Its line with what it says.
    pub fn mark(&self) -> Option<LabeledSpan> {
        let span = self.elsewhere.span?;
        Some(excerpt::mark(span, &self.evidence.detail, false))
    }

    /// `config.yaml:12:9`.
    pub fn position(&self) -> String {
        let name = self.source.name();
        match self.elsewhere.span {
            Some(span) => {
                let at = self.source.position(span.start);
                format!("{name}:{}:{}", at.line, at.column)
            }
            None => name.to_owned(),
        }
    }

    /// ``config.yaml:12:9  ConfigMap `app` ``.
    pub fn headed(&self) -> String {
        format!("{}  {}", self.position(), self.elsewhere.object)
    }

    /// `127.0.0.1:5432 on line 31`, with the file's name when it is another one; of a Secret the
    /// whole note.
    pub fn brief(&self) -> String {
        let Some(span) = self.elsewhere.span.filter(|_| self.may_be_shown()) else {
            return self.note();
        };
        let words = &self.evidence.words;
        match self.is_own {
            true => format!("{words} on line {}", self.source.position(span.start).line),
            false => format!("{words} in {}", self.position()),
        }
    }

    /// `DATABASE_URL names 127.0.0.1:5432 (config.yaml:12:9)`.
    pub fn note(&self) -> String {
        format!("{} ({})", self.evidence.detail, self.position())
    }
}
