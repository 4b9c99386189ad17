//! `.startorder.yaml`: what a repository has settled for every run. Read with the places of all it
//! says, so that every error and every value can be traced to its line.

mod ignore;
mod levels;
mod read;

pub use ignore::Ignore;
pub use levels::{Level, Levels};
pub use read::{ConfigError, fail_on, read};

use crate::catalog::Catalog;
use crate::finding::Severity;
use crate::inject::Mesh;
use crate::manifest::{Source, Span};
use crate::pod::KubeVersion;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the file.
pub const FILE: &str = ".startorder.yaml";

/// A value with its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub at: Span,
}

/// A configuration; without a file everything is as it comes.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file, by the name that messages use.
    pub source: Option<Arc<Source>>,
    /// Kubernetes to judge manifests by.
    pub version: Option<Set<KubeVersion>>,
    /// The mesh to assume where no manifest speaks of one.
    pub mesh: Option<Set<Mesh>>,
    /// The least severity that fails a run; none when nothing does.
    pub fail_on: Option<Set<Option<Severity>>>,
    /// What becomes of the findings of some rules.
    pub rules: BTreeMap<&'static str, Set<Level>>,
    /// Findings that are ignored.
    pub ignores: Vec<Ignore>,
    /// Own entries of the catalogue.
    pub catalog: Catalog,
    /// The place of each own entry, by its name.
    pub entries: BTreeMap<String, Span>,
}

impl Config {
    /// `.startorder.yaml:9`; empty without a file.
    pub fn place(&self, at: Span) -> String {
        self.source.as_ref().map_or(String::new(), |source| {
            format!("{}:{}", source.name(), source.position(at.start).line)
        })
    }

    /// How much each rule counts.
    pub fn levels(&self) -> Levels {
        let mut levels = Levels::default();
        for (rule, level) in &self.rules {
            levels.set(rule, level.value);
        }
        levels
    }
}
