//! What a rule reports: one place, the evidence for it, and perhaps a fix.

mod fingerprint;

pub use fingerprint::fingerprint;

use crate::manifest::edit::Operation;
use crate::manifest::{FieldPath, Mark, Span};
use crate::pod::workload::ObjectRef;
use std::fmt;
use std::str::FromStr;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It works, but a user would want to know.
    Info,
    /// The order is not guaranteed, and somebody depends on it.
    Warning,
    /// The kubelet or the API server is certain to do the wrong thing.
    Error,
}

impl Severity {
    /// The word of every output format.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(text: &str) -> Result<Severity, String> {
        let all = [Severity::Info, Severity::Warning, Severity::Error];
        let found = all.into_iter().find(|severity| severity.word() == text);
        found.ok_or_else(|| format!("unknown severity {text:?}: info, warning or error"))
    }
}

/// Whether a fix may be written without a look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FixSafety {
    /// The check that it gates on is a guess, or something else names what moves.
    Unsafe,
    /// The check comes from the manifest or the vendor, and every proof holds.
    Safe,
}

impl FixSafety {
    /// The word of every output format.
    pub fn word(self) -> &'static str {
        match self {
            FixSafety::Safe => "safe",
            FixSafety::Unsafe => "unsafe",
        }
    }
}

/// A place in the document that the finding speaks of, with a few words beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The field.
    pub at: FieldPath,
    /// Which part of the field.
    pub mark: Mark,
    /// What this line does; may be empty.
    pub text: String,
    /// Where it stands in the source, once looked up.
    pub span: Option<Span>,
}

/// Why a rule believes that somebody needs somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvidenceKind {
    /// A loopback address with a port that the other one serves.
    Loopback,
    /// A loopback address whose port only one other container could serve.
    Elimination,
    /// A socket below a volume that both mount.
    Socket,
    /// A file below a volume that both mount.
    File,
    /// The container's own command polls the other one.
    Wait,
    /// The catalogue knows the image.
    Catalog,
}

impl EvidenceKind {
    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            EvidenceKind::Loopback => "loopback",
            EvidenceKind::Elimination => "elimination",
            EvidenceKind::Socket => "socket",
            EvidenceKind::File => "file",
            EvidenceKind::Wait => "wait",
            EvidenceKind::Catalog => "catalog",
        }
    }
}

/// One piece of evidence, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What kind it is.
    pub kind: EvidenceKind,
    /// What it says: `DATABASE_URL names 127.0.0.1:5432`.
    pub detail: String,
    /// The words to mark in the field, such as `127.0.0.1:5432`.
    pub words: String,
    /// The field that says it.
    pub at: FieldPath,
    /// Where it stands in the source, once looked up.
    pub span: Option<Span>,
    /// The place in a ConfigMap or Secret of the run that says it; then `at` is the field of the
    /// workload that reads it from there.
    pub elsewhere: Option<Elsewhere>,
}

/// A place in a ConfigMap or Secret of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Which source of the run, by its place in the list of sources.
    pub source: usize,
    /// Which document of the source.
    pub document: usize,
    /// The key's field in that document.
    pub at: FieldPath,
    /// Which line of the key's text, from 0.
    pub line: usize,
    /// The object, as messages call it: ``ConfigMap `app` ``.
    pub object: String,
    /// It is a Secret, of which nothing may be shown but the key's place.
    pub is_secret: bool,
    /// Where it stands in its source, once looked up.
    pub span: Option<Span>,
}

/// How a finding could be mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether it may be written without a look at it.
    pub safety: FixSafety,
    /// What it does: `make `sidecar` a native sidecar with a startupProbe`.
    pub title: String,
    /// The changes to the document, in order; each sees the outcome of those before it.
    pub operations: Vec<Operation>,
    /// What it takes for granted, a line each.
    pub assumes: Vec<String>,
    /// What it costs at run time; told once a run.
    pub costs: Option<String>,
    /// What even the fixed pod does not promise; told once a run.
    pub limit: Option<String>,
    /// The document's text with the fix applied and proven, or why there is none.
    pub outcome: Outcome,
}

impl Fix {
    /// A fix that nobody has tried yet, takes nothing for granted and costs nothing.
    pub fn new(safety: FixSafety, title: String, operations: Vec<Operation>) -> Fix {
        Fix {
            safety,
            title,
            operations,
            assumes: Vec::new(),
            costs: None,
            limit: None,
            outcome: Outcome::Untried,
        }
    }
}

/// What became of a fix when it was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nobody has tried it yet.
    Untried,
    /// It was applied and proven: the text that takes the document's place.
    Proven(String),
    /// Another fix of the document, listed before, mends this finding, too.
    Settled,
    /// It cannot be applied by machine; the sentence says why.
    Refused(String),
}

/// Why a finding is not reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// What hides it, for people: `line 30: "spans are buffered"`.
    pub by: String,
}

/// A rule's report about one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// A fact about this manifest, names in backticks.
    pub message: String,
    /// What a user could do, as a command: `add a startupProbe`.
    pub help: Option<String>,
    /// The kubelet's fact behind it; told at its first finding of a run.
    pub because: String,
    /// The object.
    pub object: ObjectRef,
    /// Which source of the run, by its place in the list of sources.
    pub source: usize,
    /// Which document of the source.
    pub document: usize,
    /// The container where the fix goes.
    pub container: Option<String>,
    /// The container that suffers.
    pub dependent: Option<String>,
    /// Where the rule fires.
    pub primary: Label,
    /// What else is worth a look, the evidence's lines among them.
    pub related: Vec<Label>,
    /// Why the rule believes it.
    pub evidence: Vec<Evidence>,
    /// Sentences that belong to this finding alone.
    pub notes: Vec<String>,
    /// How it could be mended.
    pub fix: Option<Fix>,
    /// Why it is not reported, if it is not.
    pub suppressed: Option<Suppression>,
}

/// What a finding is about, not where it stands: the same before and after an edit. Its document,
/// rule, object, container and dependent.
pub type Identity<'f> = (
    (usize, usize),
    &'static str,
    &'f ObjectRef,
    Option<&'f str>,
    Option<&'f str>,
);

impl Finding {
    /// Its document: which source, and which document of that.
    pub fn place(&self) -> (usize, usize) {
        (self.source, self.document)
    }

    /// Its identity across an edit.
    pub fn identity(&self) -> Identity<'_> {
        (
            self.place(),
            self.rule,
            &self.object,
            self.container.as_deref(),
            self.dependent.as_deref(),
        )
    }

    /// Whether it has a fix that nobody has tried yet.
    pub fn is_untried(&self) -> bool {
        let outcome = self.fix.as_ref().map(|fix| &fix.outcome);
        outcome == Some(&Outcome::Untried)
    }
}

/// The findings of one document, of findings that stand in the order of sources and documents.
pub fn of_document(findings: &[Finding], place: (usize, usize)) -> &[Finding] {
    let start = findings.partition_point(|finding| finding.place() < place);
    let end = findings.partition_point(|finding| finding.place() <= place);
    &findings[start..end]
}

/// Something that could not be read, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The source's name.
    pub file: String,
    /// Line and column from 1; none when the whole file is meant.
    pub position: Option<(usize, usize)>,
    /// Why, in a clause.
    pub reason: String,
}
