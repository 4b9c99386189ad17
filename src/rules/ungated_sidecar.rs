//! A needed sidecar is a plain container, and nothing holds back the ones that need it.

use super::context::label;
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::gate::Gap;
use crate::plan::needs::{Firmness, Need};
use crate::pod::{RestartPolicy, Role};

pub(super) static RULE: Rule = Rule {
    id: "ungated-sidecar",
    summary: "a container can start before the sidecar that it needs serves",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet starts app containers one after the other and waits for each start call and its postStart hook, \
          not for readiness. Whoever is listed first merely has its process first: the next container can call it \
          before it listens. A readinessProbe changes nothing about the order, since probes begin only when the whole \
          start is over.",
    facts: &["S1", "S2", "S9"],
    cure: "The sidecar moves to `initContainers` with `restartPolicy: Always` and a startupProbe, made from its own \
           probe, the vendor's endpoint, or the address that its neighbour dials. Each start takes up to one period \
           (1 s) longer, and the sidecar's requests count for the pod's whole life. Below 1.29, or with \
           `--prefer hook`, it is listed first with a postStart hook that waits; that gate is attempted only.",
    silent: "The pair is gated, or the container waits by its own command; the image is an exporter, a front proxy, a \
             telemetry agent; only a name speaks for the need.",
    example: include_str!("../../testdata/rules/ungated-sidecar/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for need in context.needs() {
        let (provider, dependent) = (
            context.container(need.provider),
            context.container(need.dependent),
        );
        if provider.role != Role::App || dependent.role != Role::App {
            continue;
        }
        if context.teller(need) == Some(Teller::Ungated) {
            findings.push(report(context, need));
        }
    }
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let has_one_try = need.firmness == Firmness::Declared
        && context.workload.template.restart_policy == RestartPolicy::Never;
    let message = match has_one_try {
        true => format!(
            "`{}` can start before `{}`, and has one try",
            dependent.name, provider.name
        ),
        false => format!(
            "`{}` can start before `{}` serves",
            dependent.name, provider.name
        ),
    };
    let text = match need.provider < need.dependent {
        true => "listed first, but nothing waits until it serves".to_owned(),
        false => format!(
            "listed after `{}`, and nothing waits for it",
            dependent.name
        ),
    };
    let mut finding = context.pair(
        &RULE,
        need,
        message,
        provider.at.key("name"),
        Mark::Value,
        text,
    );
    if has_one_try && finding.severity == Severity::Warning {
        finding.severity = Severity::Error;
        let policy = context.workload.template.spec_at.key("restartPolicy");
        finding.related.push(label(policy, Mark::Entry, ""));
    }
    let verb = context.verb(need);
    finding
        .related
        .extend(context.evidence_label(need, format!("`{}` {verb} it", dependent.name)));
    finding.because = "the kubelet starts the next container as soon as the start of this one has returned; it does \
                       not ask whether it serves yet"
        .to_owned();
    finding.notes.extend(note(need.gap()));
    finding.fix = Some(context.gate(need));
    finding
}

/// What is wrong with the hook that is there.
fn note(gap: Option<Gap>) -> Option<String> {
    let text = match gap? {
        Gap::UnreadHook => {
            "the postStart hook was not understood: nothing in it says that it waits"
        }
        Gap::LaterThanInit
        | Gap::GateAfterDependent
        | Gap::HttpHook
        | Gap::Sleep
        | Gap::ReturnsEarly
        | Gap::NoGate => return None,
    };
    Some(text.to_owned())
}
