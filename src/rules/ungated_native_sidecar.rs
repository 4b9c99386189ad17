//! A needed native sidecar without anything that makes the kubelet wait until it serves.

use super::context::{label, refused};
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::cure::native;
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::needs::Need;
use crate::pod::Role;

pub(super) static RULE: Rule = Rule {
    id: "ungated-native-sidecar",
    summary: "a native sidecar is needed, and has neither a startupProbe nor a waiting postStart hook",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A native sidecar counts as started once its process runs; only a startupProbe, or a postStart hook that \
          waits, makes the kubelet wait longer. Readiness and liveness probes hold no container back.",
    facts: &["S6", "S7"],
    cure: "A startupProbe with a period of 1 s, like the readinessProbe (which stays), by the vendor's endpoint, or by \
           the address that is dialled.",
    silent: "Nobody needs the sidecar before its own start; its postStart hook waits.",
    example: include_str!("../../testdata/rules/ungated-native-sidecar/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for need in context.needs() {
        let is_native = context
            .plan
            .step(need.provider)
            .is_some_and(|step| step.role == Role::Sidecar);
        let is_open = context.teller(need) == Some(Teller::Ungated);
        if is_native && is_open && need.provider < need.dependent {
            findings.push(report(context, need));
        }
    }
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let message = format!(
        "`{}` can start before `{}` serves",
        dependent.name, provider.name
    );
    let text = "counts as started once its process runs";
    let mut finding = context.pair(
        &RULE,
        need,
        message,
        provider.at.key("name"),
        Mark::Value,
        text,
    );
    let other_probe = match (&provider.readiness, &provider.liveness) {
        (Some(_), _) => Some("readinessProbe"),
        (None, Some(_)) => Some("livenessProbe"),
        (None, None) => None,
    };
    match other_probe {
        Some(probe) => finding.related.push(label(
            provider.at.key(probe),
            Mark::Key,
            "holds no container back",
        )),
        None => {
            let text = "native sidecar, no startupProbe";
            finding
                .related
                .push(label(provider.at.key("restartPolicy"), Mark::Entry, text));
        }
    }
    let verb = context.verb(need);
    finding
        .related
        .extend(context.evidence_label(need, format!("`{}` {verb} it", dependent.name)));
    finding.because = match other_probe {
        Some("readinessProbe") => "readiness decides about Ready and endpoints, never about order".to_owned(),
        Some(_) => "liveness decides about restarts, never about order".to_owned(),
        None => "a native sidecar counts as started once its process runs; only a startupProbe or a waiting postStart \
                 makes the kubelet wait longer"
            .to_owned(),
    };
    finding.fix = Some(native::add_startup_probe(context.patient(), need).unwrap_or_else(refused));
    finding
}
