//! How much each rule counts.

use crate::finding::{Finding, Severity};
use std::collections::BTreeMap;

/// What becomes of a rule's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nobody hears of them.
    Off,
    /// All of them have this severity.
    At(Severity),
}

/// The rules whose findings are not taken as they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Level>);

impl Levels {
    /// Says what becomes of a rule's findings.
    pub fn set(&mut self, rule: &'static str, level: Level) {
        self.0.insert(rule, level);
    }

    /// Leaves a rule's findings as they come.
    pub fn unset(&mut self, rule: &'static str) {
        self.0.remove(rule);
    }

    /// What was said of a rule.
    pub fn get(&self, rule: &str) -> Option<Level> {
        self.0.get(rule).copied()
    }

    /// Gives a finding the severity that was settled for its rule.
    pub fn apply(&self, finding: &mut Finding) {
        if let Some(Level::At(severity)) = self.get(finding.rule) {
            finding.severity = severity;
        }
    }

    /// Whether somebody hears of a rule's findings.
    pub fn is_on(&self, rule: &str) -> bool {
        self.get(rule) != Some(Level::Off)
    }
}
