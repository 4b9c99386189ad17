//! An init container needs a container that starts only after it.

use super::context::{label, refused};
use super::{Check, Context, Rule};
use crate::catalog::Covers;
use crate::cure::native;
use crate::finding::{EvidenceKind, Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::gate::Gap;
use crate::plan::needs::{Firmness, Need};
use crate::pod::Role;

pub(super) static RULE: Rule = Rule {
    id: "init-needs-later-container",
    summary: "an init container needs a container that starts after it",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "Init containers run one after the other, each until it has exited with 0; app containers start after the \
          last of them. An init container that waits for a later container waits for ever, and one that needs it for \
          a single call fails each time.",
    facts: &["S4", "S8"],
    cure: "The needed container becomes a native sidecar above the init container; a later native sidecar, or a plain \
           init container, is moved above it.",
    silent: "The needed container is a native sidecar that is listed before; the address is another host's; the \
             command visibly uses no network; a mesh proxy (that is `init-outside-mesh`).",
    example: include_str!("../../testdata/rules/init-needs-later-container/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let late = context
        .needs()
        .filter(|need| need.gap() == Some(Gap::LaterThanInit));
    findings.extend(
        late.filter(|need| !is_mesh(context, need))
            .map(|need| report(context, need)),
    );
}

fn is_mesh(context: &Context<'_>, need: &Need) -> bool {
    let entry = context.catalog.find(context.container(need.provider));
    entry.is_some_and(|entry| entry.covers == Covers::All)
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let verb = if need.has_own_wait {
        "waits for"
    } else {
        "needs"
    };
    let message = format!(
        "`{}` {verb} `{}`, which is later",
        dependent.name, provider.name
    );
    let text = match (need.has_own_wait, need.evidence.first().map(|one| one.kind)) {
        (true, _) => "loops until it answers".to_owned(),
        (false, Some(EvidenceKind::File | EvidenceKind::Socket)) => {
            format!("only `{}` makes it", provider.name)
        }
        (false, _) => format!("only `{}` serves it", provider.name),
    };
    let primary = context
        .evidence_label(need, text)
        .unwrap_or_else(|| label(dependent.at.key("name"), Mark::Value, ""));
    let mut finding = context.pair(&RULE, need, message, primary.at, primary.mark, primary.text);
    if need.firmness == Firmness::Image {
        finding.severity = Severity::Warning;
    }
    let text = format!("starts only after `{}` has exited 0", dependent.name);
    finding
        .related
        .push(label(provider.at.key("name"), Mark::Value, text));
    finding.because = because(context, need);
    finding.fix = Some(fix(context, need).unwrap_or_else(refused));
    finding
}

fn because(context: &Context<'_>, need: &Need) -> String {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let inits = context
        .plan
        .steps
        .iter()
        .filter(|step| step.role == Role::Init)
        .count();
    let before = context
        .plan
        .steps
        .iter()
        .filter(|step| step.role == Role::Init && step.container < need.dependent)
        .count();
    let later = match provider.role {
        Role::App | Role::Ephemeral => "app containers start",
        Role::Init | Role::Sidecar => "the next init container starts",
    };
    let end = match need.has_own_wait {
        true => format!("the pod stays in Init:{before}/{inits} for ever"),
        false => format!("each try fails, and the pod does not get beyond Init:{before}/{inits}"),
    };
    let verb = if need.has_own_wait {
        "waits for"
    } else {
        "needs"
    };
    format!(
        "`{}` {verb} `{}`; {later} only after `{}` has exited 0: {end}",
        dependent.name, provider.name, dependent.name
    )
}

fn fix(context: &Context<'_>, need: &Need) -> Result<crate::finding::Fix, String> {
    match context.container(need.provider).role {
        Role::App | Role::Ephemeral => native::make_native(context.patient(), need),
        Role::Init | Role::Sidecar => native::move_above(context.patient(), need),
    }
}
