//! One refused connection of an init container ends a pod that is never restarted.

use super::context::label;
use super::{Check, Context, Rule};
use crate::cure::retry;
use crate::finding::{Finding, FixSafety, Severity};
use crate::graph::{Stage, Waiting};
use crate::manifest::Mark;
use crate::plan::{Purpose, Target};
use crate::pod::RestartPolicy;

pub(super) static RULE: Rule = Rule {
    id: "init-failure-fatal",
    summary: "a single failed check of an init container ends the pod for good",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A failed init container is run again under restartPolicy Always and OnFailure only. Under Never the pod has \
          failed with it. A check that tries once therefore has to meet a server that is up already; a Job makes a new \
          pod instead, as often as its backoffLimit allows.",
    facts: &["S4"],
    cure: "The check is repeated in a loop with a bound: sixty tries, a second apart.",
    silent: "The check is tried again by itself; a failure does not end the script; another restartPolicy.",
    example: include_str!("../../testdata/rules/init-failure-fatal/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    if template.restart_policy != RestartPolicy::Never {
        return;
    }
    let waits = context.waits();
    let mut told: Vec<usize> = Vec::new();
    for waiting in &waits {
        let counts = waiting.stage == Stage::Init
            && !waiting.wait.repeats
            && waiting.wait.purpose == Purpose::Asks
            && waiting.holds()
            && is_remote(waiting)
            && !is_waited_for(&waits, waiting);
        if counts && !told.contains(&waiting.container) {
            told.push(waiting.container);
            findings.push(report(context, waiting));
        }
    }
}

fn is_remote(waiting: &Waiting<'_>) -> bool {
    match &waiting.wait.target {
        Target::Address(address) => !address.is_loopback(),
        Target::Dns { .. } => true,
        Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => false,
    }
}

/// Whether a loop, here or in another init container, has waited for the same host.
fn is_waited_for(waits: &[Waiting<'_>], single: &Waiting<'_>) -> bool {
    waits.iter().any(|other| {
        other.wait.repeats
            && other.stage == Stage::Init
            && other.container <= single.container
            && other.host() == single.host()
    })
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>) -> Finding {
    let name = context.waiting_name(waiting);
    let host = waiting.host().unwrap_or_default();
    let message = format!("`{name}` tries `{host}` once, and a failure ends the pod for good");
    let mut finding = context.wait_finding(&RULE, waiting, message, "tried once");
    let policy = context.workload.template.spec_at.key("restartPolicy");
    finding.related.push(label(
        policy,
        Mark::Entry,
        "a failed init container is not run again",
    ));
    finding.because =
        "under restartPolicy Never a pod whose init container fails has failed, too".to_owned();
    if context.workload.object.kind.ends_with("Job") {
        finding.notes.push(
            "the Job makes a new pod after each failure, as often as its backoffLimit allows"
                .to_owned(),
        );
    }
    let fix = retry::in_a_loop(context.container(waiting.container));
    finding.fix = Some(fix.unwrap_or_else(super::context::refused));
    finding
}
