//! A postStart hook of a needed sidecar that only sleeps.

use super::hook::{self, Side};
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::hooks::Hook;
use crate::plan::needs::Need;
use crate::pod::Container;
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    id: "sleep-as-gate",
    summary: "a postStart hook sleeps in place of a wait",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A hook that sleeps delays the containers below by a fixed time and asks nothing. On a slow node the sidecar \
          is not there when the time is over; on a fast one each start is late for nothing. Meanwhile the pod reads \
          ContainerCreating, without probes and logs.",
    facts: &["S3", "S9"],
    cure: "A gate that asks: the sidecar becomes a native sidecar with a startupProbe in place of the hook; with \
           `--prefer hook` the hook waits by the vendor's command.",
    silent: "Nobody needs the container; the sleep follows a real check.",
    example: include_str!("../../testdata/rules/sleep-as-gate/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let told = context
        .needs()
        .filter(|need| context.teller(need) == Some(Teller::SleepAsGate));
    findings.extend(told.filter_map(|need| report(context, need)));
}

fn report(context: &Context<'_>, need: &Need) -> Option<Finding> {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let Some(Hook::SleepsOnly { duration, words }) = hook::of(context, need.provider) else {
        return None;
    };
    let time = seconds(*duration);
    let is_first = need.provider < need.dependent;
    let message = match is_first {
        true => format!(
            "`{}` starts after {time}, whether or not `{}` serves",
            dependent.name, provider.name
        ),
        false => format!(
            "`{}` starts before `{}`, whose hook only sleeps",
            dependent.name, provider.name
        ),
    };
    let (at, mark) = place(provider, words);
    let text = format!("nobody asks whether `{}` serves by then", provider.name);
    let mut finding = context.pair(&RULE, need, message, at, mark, text);
    finding.related.extend(hook::evidence_label(context, need));
    finding.because = "a sleep is a delay and no check: a start that takes longer is not noticed, a faster one waits \
                       all the same"
        .to_owned();
    if !is_first {
        let late = format!(
            "the hook delays nobody that needs it: `{}` is listed above",
            dependent.name
        );
        finding.notes.push(late);
    }
    finding.fix = Some(context.close(need));
    Some(finding)
}

/// The words of an exec hook, else the time of the sleep action.
pub(super) fn place(container: &Container, words: &str) -> (FieldPath, Mark) {
    match words {
        "" => {
            let sleep = Side::PostStart.at(container).keys(&["sleep", "seconds"]);
            (sleep, Mark::Entry)
        }
        words => Side::PostStart.words_at(container, words),
    }
}

/// A time in whole seconds, for people.
pub(super) fn seconds(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{} s", time.as_secs()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
