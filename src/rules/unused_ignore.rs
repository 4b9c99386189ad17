//! An ignore that hides nothing. The check is [`crate::suppress`]: it knows what was hidden.

use super::{Check, Rule, near};
use crate::finding::{Finding, Label, Severity};
use crate::manifest::{FieldPath, Mark, Span};
use crate::pod::workload::ObjectRef;

/// The rule's id.
pub const ID: &str = "unused-ignore";

pub(super) static RULE: Rule = Rule {
    id: ID,
    summary: "an ignore hides nothing",
    severity: Severity::Info,
    since: "0.1.0",
    fix: None,
    why: "An ignore is written for one place of one start sequence. Once a container has moved or has got a gate, the \
          finding is gone, since the kubelet starts containers in the order of their lists; the ignore stays, and \
          hides the next finding of its rule there, which nobody has decided about.",
    facts: &["S1"],
    cure: "Remove the ignore, or write it where the finding is: on its line, in the comment right above it, or right \
           above the containers that it is about; a rule's id is spelt as in `kubectl startorder rules`.",
    silent: "It hides a finding, though another ignore hides the same one; or its rule is left out in this run.",
    example: include_str!("../../testdata/rules/unused-ignore/bad/minimal.yaml"),
    check: Check::Ignores,
};

/// Why an ignore hides nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its rule reports nothing that it is about.
    HidesNothing,
    /// There is no such rule.
    UnknownRule,
    /// It names no rule.
    NoRule,
    /// It stands where no finding can be.
    OutOfPlace,
    /// It names a container that is not there.
    NoContainer(String),
}

/// Where an ignore is.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The object that it stands in.
    pub object: ObjectRef,
    /// Which source of the run.
    pub source: usize,
    /// Which document of the source.
    pub document: usize,
    /// The field that it stands in; the root for a comment.
    pub at: FieldPath,
    /// Its words.
    pub span: Span,
}

/// The finding about an ignore of a rule.
pub fn finding(subject: &Subject, rule: &str, reason: &Reason) -> Finding {
    let (message, because, help) = told(rule, reason);
    Finding {
        rule: RULE.id,
        severity: RULE.severity,
        message,
        help: Some(help.to_owned()),
        because: because.to_owned(),
        object: subject.object.clone(),
        source: subject.source,
        document: subject.document,
        container: None,
        dependent: None,
        primary: Label {
            at: subject.at.clone(),
            mark: Mark::Value,
            text: String::new(),
            span: Some(subject.span),
        },
        related: Vec::new(),
        evidence: Vec::new(),
        notes: Vec::new(),
        fix: None,
        suppressed: None,
    }
}

/// What is said, why it matters, and what could be done.
fn told(rule: &str, reason: &Reason) -> (String, &'static str, &'static str) {
    match reason {
        Reason::HidesNothing => (
            match rule {
                "" => "this ignore hides nothing".to_owned(),
                rule => format!("this ignore of `{rule}` hides nothing"),
            },
            "an ignore that hides nothing today hides the next finding of its rule there",
            "remove it",
        ),
        Reason::UnknownRule => {
            let near = near(rule).map(|near| format!(" (`{near}`?)"));
            let near = near.unwrap_or_default();
            (
                format!("there is no rule `{rule}`{near}, so its ignore hides nothing"),
                "findings are ignored by the ids of their rules",
                "kubectl startorder rules lists them all",
            )
        }
        Reason::NoRule => (
            "an ignore that names no rule hides nothing".to_owned(),
            "an ignore names its rules, so that it never hides what nobody has decided about",
            "# startorder: ignore[RULE] reason",
        ),
        Reason::OutOfPlace => (
            format!("this ignore of `{rule}` stands where no finding can be"),
            "a comment ignores what is on its own line, or right below its block",
            "move it right above the line or the container that it is about",
        ),
        Reason::NoContainer(container) => (
            format!("this ignore of `{rule}` is for `{container}`, and no container has that name"),
            "what follows @ is a container, and only findings about it are hidden",
            "name the container, or leave out @ and what follows",
        ),
    }
}
