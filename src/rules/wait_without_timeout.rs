//! A wait of an init container that goes on for ever when nothing comes.

use super::{Check, Context, Rule};
use crate::cure::limit;
use crate::finding::{Finding, FixSafety, Severity};
use crate::graph::{Stage, Waiting};
use crate::plan::{Bound, Target};
use crate::shell::Background;

pub(super) static RULE: Rule = Rule {
    id: "wait-without-timeout",
    summary: "an init container waits without a bound",
    severity: Severity::Info,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "Nothing ends an init container from outside: there is no deadline besides the pod's activeDeadlineSeconds. \
          A wait without a bound leaves the pod in Init for ever, without an event and without a restart that would \
          show up anywhere; one that gives up is counted, backed off and seen.",
    facts: &["S4"],
    cure: "The loop gives up after about five minutes and exits with 1. The kubelet then runs the init container \
           again, unless the pod's restartPolicy is Never.",
    silent: "A counter, `timeout`, `--timeout` or a deadline ends the wait; what it waits for is in the same pod \
             (`init-needs-later-container`).",
    example: include_str!("../../testdata/rules/wait-without-timeout/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut told: Vec<usize> = Vec::new();
    for waiting in context.waits() {
        let wait = waiting.wait;
        let is_endless =
            wait.repeats && wait.bound == Bound::Unbounded && wait.background == Background::No;
        let is_local = match &wait.target {
            Target::Address(address) => address.is_loopback(),
            Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. }
            | Target::Opaque => false,
        };
        let counts = waiting.stage == Stage::Init && is_endless && !is_local;
        if counts && !told.contains(&waiting.container) {
            told.push(waiting.container);
            findings.push(report(context, &waiting));
        }
    }
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>) -> Finding {
    let name = context.waiting_name(waiting);
    let message = format!("`{name}` waits without a bound");
    let text = "goes on for ever when nothing answers";
    let mut finding = context.wait_finding(&RULE, waiting, message, text);
    finding.because =
        "nothing ends an init container from outside: the pod stays in Init".to_owned();
    let container = context.container(waiting.container);
    let fix = limit::limit_loop(container, waiting);
    finding.fix = Some(fix.unwrap_or_else(super::context::refused));
    finding
}
