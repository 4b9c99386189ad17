//! A gating startupProbe that is asked so rarely that each start waits for its next round.

use super::{Check, Context, Rule};
use crate::cure::probe;
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::Prior;
use crate::pod::{OddField, Probe};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    id: "slow-startup-probe",
    summary: "a gating startupProbe is asked every 5 s or less often",
    severity: Severity::Info,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The next container starts at the first successful round of a native sidecar's startupProbe. Rounds come every \
          `periodSeconds`, 10 by default, counted from the beginning of the start: a sidecar that serves after one \
          second still holds the pod back until the next round.",
    facts: &["S14"],
    cure: "A period of 1 s, with the failureThreshold raised so that the probe gives up as late as before.",
    silent: "The period is below 5 s; the probe is on an app container, where it holds nobody back; no container \
             starts after the sidecar.",
    example: include_str!("../../testdata/rules/slow-startup-probe/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// From this period on people notice.
const SLOW: Duration = Duration::from_secs(5);

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for step in &context.plan.steps {
        let Prior::StartupProbePassed(at) = step.after else {
            continue;
        };
        let startup = context.container(at).startup.as_ref();
        // A period that stands in the wrong place is told by its own rule.
        let is_meant = |odd: &OddField| {
            odd.lost == "periodSeconds" && odd.container.as_ref() == Some(&context.container(at).at)
        };
        let mut odd = context.workload.template.odd_fields.iter();
        if odd.any(is_meant) {
            continue;
        }
        if let Some(slow) = startup.filter(|probe| probe.period >= SLOW) {
            findings.push(report(context, at, step.container, slow));
        }
    }
}

fn report(context: &Context<'_>, at: usize, next: usize, slow: &Probe) -> Finding {
    let (container, next) = (context.container(at), context.container(next));
    let seconds = slow.period.as_secs();
    let message = format!(
        "`{}` starts up to {seconds} s later than `{}` serves",
        next.name, container.name
    );
    let field = container.at.key("startupProbe");
    let (place, mark, text) = match slow.has_period {
        true => (
            field.key("periodSeconds"),
            Mark::Entry,
            format!("one round in {seconds} s"),
        ),
        false => (
            field,
            Mark::Key,
            format!("no periodSeconds: one round in {seconds} s"),
        ),
    };
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(container.name.clone());
    finding.because =
        "the next container waits for a round that succeeds, and rounds come once a period"
            .to_owned();
    finding.fix = Some(probe::hasten(container, slow));
    finding
}
