//! A baseline: the findings that were there when it was written, by their fingerprints. A run that
//! is given one reports only what is new.

use crate::finding::{Finding, Suppression, fingerprint};
use crate::manifest::parse::parse_source;
use crate::manifest::{Node, Source, Span};
use crate::pod::workload::ObjectRef;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The format that this version writes and reads.
const VERSION: i64 = 1;

/// A finding that was there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Entry {
    /// The file, from the baseline's folder on.
    pub file: String,
    /// `Kind/name`.
    pub workload: String,
    /// The object's namespace, if it is written.
    pub namespace: Option<String>,
    /// The rule.
    pub rule: String,
    /// Where the fix goes.
    pub container: Option<String>,
    /// Who suffers.
    pub dependent: Option<String>,
    /// What it is found again by.
    pub fingerprint: String,
}

impl Entry {
    /// A finding as it is written down.
    pub fn of(finding: &Finding, file: &str) -> Entry {
        let ObjectRef { kind, name, .. } = &finding.object;
        Entry {
            file: file.to_owned(),
            workload: format!("{kind}/{name}"),
            namespace: finding.object.namespace.clone(),
            rule: finding.rule.to_owned(),
            container: finding.container.clone(),
            dependent: finding.dependent.clone(),
            fingerprint: fingerprint(finding),
        }
    }
}

/// Why a baseline cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BaselineError {
    /// What is wrong, in a clause.
    pub message: String,
    /// Where.
    pub at: Span,
}

/// What was there at a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The day, as `YYYY-MM-DD`.
    pub created: String,
    /// The findings, with their places in the file.
    pub entries: Vec<(Entry, Span)>,
}

/// The text of a new baseline: an entry a line, so that changes to it can be reviewed.
pub fn write(mut entries: Vec<Entry>, created: &str) -> Result<String, serde_json::Error> {
    entries.sort();
    let lines = entries.iter().map(serde_json::to_string);
    let lines = lines.collect::<Result<Vec<String>, _>>()?;
    let list = match lines.as_slice() {
        [] => "[]".to_owned(),
        lines => format!("[\n    {}\n  ]", lines.join(",\n    ")),
    };
    let tool = env!("CARGO_PKG_VERSION");
    Ok(format!(
        "{{\n  \"version\": {VERSION},\n  \"tool\": {{\"name\": \"startorder\", \"version\": \"{tool}\"}},\n  \
         \"created\": \"{created}\",\n  \"findings\": {list}\n}}\n"
    ))
}

/// Reads a baseline.
pub fn read(source: &Arc<Source>) -> Result<Baseline, BaselineError> {
    let parsed = parse_source(source);
    if let Some(broken) = parsed.errors.first() {
        return fail(broken.at, broken.message.clone());
    }
    let root = parsed.documents.iter().find_map(|document| document.root());
    let root = root.filter(|root| root.is_mapping());
    let Some(root) = root else {
        return fail(Span::new(0, 0), "no baseline".to_owned());
    };
    match root.get("version").and_then(Node::int) {
        Some(VERSION) => {}
        Some(other) => {
            let message = format!("baseline format {other}; this version reads {VERSION}");
            return fail(span(root.get("version").unwrap_or(root)), message);
        }
        None => return fail(span(root), "no baseline: `version` is missing".to_owned()),
    }
    let items = root.get("findings").into_iter().flat_map(Node::items);
    Ok(Baseline {
        created: text(root, "created").unwrap_or_default(),
        entries: items.map(read_entry).collect::<Result<_, _>>()?,
    })
}

fn read_entry(node: Node<'_>) -> Result<(Entry, Span), BaselineError> {
    let needed = |key: &str| {
        text(node, key).ok_or_else(|| BaselineError {
            message: format!("an entry needs a {key}"),
            at: span(node),
        })
    };
    let entry = Entry {
        file: text(node, "file").unwrap_or_default(),
        workload: text(node, "workload").unwrap_or_default(),
        namespace: text(node, "namespace"),
        rule: needed("rule")?,
        container: text(node, "container"),
        dependent: text(node, "dependent"),
        fingerprint: needed("fingerprint")?,
    };
    Ok((entry, span(node)))
}

fn text(node: Node<'_>, key: &str) -> Option<String> {
    node.get(key)?.string().map(str::to_owned)
}

fn span(node: Node<'_>) -> Span {
    node.span().unwrap_or(Span::new(0, 0))
}

fn fail<T>(at: Span, message: String) -> Result<T, BaselineError> {
    Err(BaselineError { message, at })
}

impl Baseline {
    /// Hides the findings that were there, one for each entry, and gives back the entries that
    /// nothing stands for any more. `files` are the paths of the sources as entries have them.
    ///
    /// An entry stands for a finding of its own file if there is one, else for one of another file:
    /// files are renamed. Findings that are hidden already stand for what is left.
    pub fn hide(&self, findings: &mut [Finding], files: &[String]) -> Vec<&(Entry, Span)> {
        let mut free: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, (entry, _)) in self.entries.iter().enumerate() {
            free.entry(&entry.fingerprint).or_default().push(at);
        }
        let prints: Vec<String> = findings.iter().map(fingerprint).collect();
        let mut is_known = vec![false; findings.len()];
        for is_hidden in [false, true] {
            for needs_file in [true, false] {
                for (at, finding) in findings.iter().enumerate() {
                    let Some(left) = free.get_mut(prints[at].as_str()) else {
                        continue;
                    };
                    if is_known[at] || finding.suppressed.is_some() != is_hidden {
                        continue;
                    }
                    let file = files.get(finding.source);
                    let is_its = |entry: &usize| Some(&self.entries[*entry].0.file) == file;
                    let found = left.iter().position(|entry| !needs_file || is_its(entry));
                    if let Some(found) = found {
                        left.remove(found);
                        is_known[at] = true;
                    }
                }
            }
        }
        for (finding, is_known) in findings.iter_mut().zip(is_known) {
            if is_known && finding.suppressed.is_none() {
                finding.suppressed = Some(hidden(&self.created));
            }
        }
        let left: BTreeSet<usize> = free.into_values().flatten().collect();
        left.into_iter().map(|at| &self.entries[at]).collect()
    }
}

/// What a baseline of a day says of a finding that it holds.
pub fn hidden(created: &str) -> Suppression {
    Suppression {
        by: format!("baseline of {created}").trim_end().to_owned(),
    }
}

/// Findings by what they are about: their places, and so their fingerprints, change with fixes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(BTreeSet<(&'static str, ObjectRef, Option<String>, Option<String>)>);

impl Known {
    /// Those of these findings.
    pub fn of<'f>(findings: impl Iterator<Item = &'f Finding>) -> Known {
        Known(findings.map(identity).collect())
    }

    /// Hides the findings that are known.
    pub fn hide(&self, findings: &mut [Finding]) {
        let loud = findings.iter_mut().filter(|one| one.suppressed.is_none());
        for finding in loud.filter(|one| !self.0.is_empty() && self.0.contains(&identity(one))) {
            finding.suppressed = Some(hidden(""));
        }
    }
}

fn identity(finding: &Finding) -> (&'static str, ObjectRef, Option<String>, Option<String>) {
    (
        finding.rule,
        finding.object.clone(),
        finding.container.clone(),
        finding.dependent.clone(),
    )
}
