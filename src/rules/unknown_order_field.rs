//! A field of the start order that is misspelt or misplaced, so that it does not exist.

use super::context::refused;
use super::{Check, Context, Rule};
use crate::cure::odd;
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::pod::{Container, OddField, Oddity};

pub(super) static RULE: Rule = Rule {
    id: "unknown-order-field",
    summary: "a field that matters to the order is misspelt or misplaced, so it does not exist",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The API server drops a field that it does not know, or rejects the object when validation is strict, as with \
          `kubectl apply` since 1.25. A hook, a probe or a restart policy that is spelt or placed wrongly gates nothing, \
          and nobody says so.",
    facts: &["S3", "S6"],
    cure: "The field gets its right name, value or place.",
    silent: "The field is known; the misspelt field has no bearing on the order; the words stand in data.",
    example: include_str!("../../testdata/rules/unknown-order-field/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    findings.extend(template.odd_fields.iter().map(|odd| report(context, odd)));
}

fn report(context: &Context<'_>, odd: &OddField) -> Finding {
    let template = &context.workload.template;
    let at = odd
        .container
        .as_ref()
        .and_then(|at| template.containers.iter().position(|one| one.at == *at));
    let container = at.map(|at| context.container(at));
    let message = message(odd, container);
    let (mark, text) = match odd.oddity {
        Oddity::Misspelt(meant) => (Mark::Key, format!("{meant} is meant")),
        Oddity::Misplaced(belongs) => (Mark::Key, format!("belongs {belongs}")),
        Oddity::WrongCase(meant) => (Mark::Value, format!("{meant} is meant")),
        Oddity::NeverLanded => (
            Mark::Entry,
            "proposed for 1.18, never part of the API".to_owned(),
        ),
    };
    let mut finding = context.finding(&RULE, message, odd.at.clone(), mark, text);
    finding.container = container.map(|container| container.name.clone());
    finding.because = match odd.oddity {
        Oddity::WrongCase(_) => {
            "the API server knows Always, OnFailure and Never in this spelling only"
        }
        Oddity::Misspelt(_) | Oddity::Misplaced(_) | Oddity::NeverLanded => {
            "the API server drops a field that it does not know, or rejects the object for it"
        }
    }
    .to_owned();
    finding
        .notes
        .extend(at.and_then(|at| context.open_pairs(at)));
    finding.fix = Some(odd::mend(context.patient(), odd, at).unwrap_or_else(refused));
    finding
}

/// What is missing because of the field.
fn message(odd: &OddField, container: Option<&Container>) -> String {
    let key = &odd.key;
    let whose = match container {
        Some(container) => format!("`{}`", container.name),
        None => "the pod".to_owned(),
    };
    let loss = match (odd.oddity, odd.lost) {
        (Oddity::WrongCase(_), _) => {
            return format!("`{key}` of {whose} has a value that does not exist");
        }
        (Oddity::NeverLanded, _) => {
            return format!("`lifecycle.type` is no field of the API: {whose} is no sidecar");
        }
        (_, "postStart" | "preStop") => format!("{whose} has no {} hook", odd.lost),
        (_, "lifecycle") => format!("{whose} has no lifecycle hook"),
        (_, "handler") => format!("{whose} runs nothing by it"),
        (_, "initContainers") => "its containers do not exist".to_owned(),
        (_, "startupProbe") => format!("{whose} has no startupProbe that works"),
        (_, lost) => format!("{lost} of {whose} has its default"),
    };
    format!("`{key}` is no field at this place: {loss}")
}
