//! An entry of `ignore`: which findings are not reported.

use crate::finding::Finding;
use crate::manifest::Span;
use glob::{MatchOptions, Pattern, PatternError};

/// Findings that are ignored: those that fit everything that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// The rules with their places; all rules when none is named.
    pub rules: Vec<(&'static str, Span)>,
    /// The file, from the folder of the configuration on.
    pub path: Option<Glob>,
    /// The kind of the object, and its name.
    pub workload: Option<(Glob, Glob)>,
    /// The object's namespace.
    pub namespace: Option<String>,
    /// A container that the finding is about.
    pub container: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The entry.
    pub at: Span,
}

impl Ignore {
    /// Whether a finding fits, and by which of the rules; 0 for an entry that names none. `path` is
    /// the finding's file, `namespace` that in which its object lands.
    pub fn fits(&self, finding: &Finding, path: &str, namespace: &str) -> Option<usize> {
        let rule = match self.rules.as_slice() {
            [] => 0,
            rules => rules.iter().position(|(rule, _)| *rule == finding.rule)?,
        };
        let object = &finding.object;
        let is_object = self.workload.as_ref().is_none_or(|(kind, name)| {
            kind.is_word(&object.kind.to_lowercase()) && name.is_word(&object.name)
        });
        let is_there = self.namespace.as_deref().is_none_or(|own| own == namespace);
        let concerned = [&finding.container, &finding.dependent];
        let is_concerned = self.container.as_ref().is_none_or(|own| {
            let mut concerned = concerned.iter();
            concerned.any(|name| name.as_ref() == Some(own))
        });
        let is_file = || self.path.as_ref().is_none_or(|own| own.is_path(path));
        (is_object && is_there && is_concerned && is_file()).then_some(rule)
    }
}

/// A pattern with `*`, `?` and, for paths, `**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Pattern);

const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl Glob {
    /// Reads a pattern; a path may begin with `./` and end in `/`.
    pub fn parse(text: &str) -> Result<Glob, PatternError> {
        let text = text.strip_prefix("./").unwrap_or(text);
        Ok(Glob(Pattern::new(text.trim_end_matches('/'))?))
    }

    /// Whether a word is meant.
    fn is_word(&self, word: &str) -> bool {
        self.0.matches_with(word, OPTIONS)
    }

    /// Whether a file, or a folder above it, is meant.
    fn is_path(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut all = folders.chain([path]);
        all.any(|path| self.0.matches_with(path, OPTIONS))
    }
}

impl std::fmt::Display for Glob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_meant_with_all_below_them() {
        let is_path = |pattern: &str, path: &str| {
            let glob = Glob::parse(pattern).expect("a pattern");
            glob.is_path(path)
        };
        for pattern in [
            "a/b/c.yaml",
            "a",
            "./a/",
            "a/*/c.yaml",
            "**/c.yaml",
            "a/**",
            "*/b",
        ] {
            assert!(is_path(pattern, "a/b/c.yaml"), "{pattern}");
        }
        for pattern in ["b", "c.yaml", "*.yaml", "a/*.yaml", "a/b/c", "**/b.yaml"] {
            assert!(!is_path(pattern, "a/b/c.yaml"), "{pattern}");
        }
        assert!(Glob::parse("a**").is_err());
    }
}
