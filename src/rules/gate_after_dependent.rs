//! A waiting postStart hook on a container that is listed after the one that needs it.

use super::context::label;
use super::teller::Teller;
use super::{Check, Context, Preference, Rule};
use crate::cure::{hook, native};
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::needs::Need;
use crate::pod::Role;

pub(super) static RULE: Rule = Rule {
    id: "gate-after-dependent",
    summary: "the gate is listed after the container that it has to hold back",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet starts the containers of each list in order and waits for each postStart hook, and for a native \
          sidecar's startupProbe, before it goes on. A gate delays what comes later in the list, never what came \
          before.",
    facts: &["S1", "S3", "S6"],
    cure: "The sidecar moves above the first container that needs it, comments and all. If that changes the first \
           container of the pod, the annotation `kubectl.kubernetes.io/default-container` keeps `kubectl logs` and \
           `kubectl exec` where they were. `--prefer native` writes a native sidecar instead. A native sidecar moves \
           within `initContainers`.",
    silent: "The container with the hook is listed before everybody who needs it; the container waits by its own command.",
    example: include_str!("../../testdata/rules/gate-after-dependent/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let late = context
        .needs()
        .filter(|need| context.teller(need) == Some(Teller::GateAfterDependent));
    findings.extend(late.map(|need| report(context, need)));
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let message = format!(
        "`{}` starts before `{}`'s gate is tried",
        dependent.name, provider.name
    );
    let is_native = provider.role == Role::Sidecar;
    let gate = match is_native && provider.startup.is_some() {
        true => provider.at.key("startupProbe"),
        false => provider.at.keys(&["lifecycle", "postStart"]),
    };
    let text = format!(
        "holds back only what is listed below it: {}",
        listed_below(context, need)
    );
    let mut finding = context.pair(&RULE, need, message, gate, Mark::Key, text);
    finding.related.push(label(
        dependent.at.key("name"),
        Mark::Value,
        "is listed first",
    ));
    let verb = context.verb(need);
    finding
        .related
        .extend(context.evidence_label(need, format!("{verb} `{}`", provider.name)));
    finding.because = match is_native {
        true => "init containers start in list order; a gate delays only the containers below its own",
        false => "app containers start in list order; a postStart hook delays only the containers below its own",
    }
    .to_owned();
    let patient = context.patient();
    let fix = match (is_native, context.preference) {
        (true, _) => native::move_above(patient, need),
        (false, Preference::Native) => native::make_native(patient, need),
        (false, Preference::Hook | Preference::PerRule) => hook::move_first(patient, need),
    };
    finding.fix = Some(fix.unwrap_or_else(super::context::refused));
    finding
}

fn listed_below(context: &Context<'_>, need: &Need) -> String {
    let below = context
        .plan
        .steps
        .iter()
        .map(|step| step.container)
        .filter(|at| *at > need.provider);
    let names: Vec<String> = below
        .map(|at| format!("`{}`", context.container(at).name))
        .collect();
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}
