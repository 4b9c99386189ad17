//! A postStart hook that waits without a bound.

use super::hook::{self, Side};
use super::{Check, Context, Rule};
use super::{hook_on_dependent, hook_tool_missing, hook_waits_for_later_container};
use crate::cure::bound;
use crate::finding::{Finding, FixSafety, Severity};
use crate::plan::bounds::Bound;
use crate::plan::gate::Hold;
use crate::plan::hooks::Hook;
use crate::pod::Role;

pub(super) static RULE: Rule = Rule {
    id: "gate-without-timeout",
    summary: "a postStart hook waits without a bound",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet sets no time limit for a postStart hook. While it runs, the containers of the pod read \
          ContainerCreating: no status, no probes, no logs. A pod that is deleted meanwhile stays Terminating until \
          the hook's process ends. `kubectl exec POD -c CONTAINER -- kill PID` reaches it.",
    facts: &["S3", "S9", "S17"],
    cure: "`timeout 300` before the command: a hook that takes longer fails, and the container is started again.",
    silent: "The loop counts, has a `timeout` or a flag with one; the vendor's command has a default; the command \
             cannot be read.",
    example: include_str!("../../testdata/rules/gate-without-timeout/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for at in 0..context.profiles.len() {
        if let Some(finding) = report(context, at)
            && !is_told_elsewhere(context, at)
        {
            findings.push(finding);
        }
    }
}

fn is_told_elsewhere(context: &Context<'_>, at: usize) -> bool {
    let missing = hook_tool_missing::missing(context, at);
    context.container(at).role == Role::Init
        || hook_waits_for_later_container::awaited(context, at).is_some()
        || missing
            .iter()
            .any(|one| one.field == Side::PostStart.field())
        || hook_on_dependent::is_told(context, at)
}

/// The words of a wait that never gives up, and whether it could ever end.
fn endless(hook: &Hook) -> Option<(&str, bool)> {
    match hook {
        Hook::Waits {
            waits,
            bound: Bound::Unbounded,
        } => {
            let mut waits = waits.iter().filter(|wait| wait.bound == Bound::Unbounded);
            Some((&waits.next()?.words, true))
        }
        Hook::NeverEnds { words } => Some((words, false)),
        Hook::Waits { .. }
        | Hook::SleepsOnly { .. }
        | Hook::SingleTry { .. }
        | Hook::ReturnsEarly { .. }
        | Hook::Fails { .. }
        | Hook::HttpGet { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

fn report(context: &Context<'_>, at: usize) -> Option<Finding> {
    let container = context.container(at);
    let name = &container.name;
    let (words, can_end) = endless(hook::of(context, at)?)?;
    let (message, text) = match can_end {
        true => (
            format!("the postStart hook of `{name}` waits without a bound"),
            "asked for ever when it never answers",
        ),
        false => (
            format!("the postStart hook of `{name}` never returns"),
            "goes on whatever happens",
        ),
    };
    let (place, mark) = Side::PostStart.words_at(container, words);
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(name.clone());
    if !can_end {
        finding.severity = Severity::Error;
    }
    finding.because =
        "while a hook runs the pod has no status, no probes and no logs, and a deleted pod stays \
                       Terminating until the hook's process ends"
            .to_owned();
    let held = hook::needs_of(context, at).find(|need| matches!(need.hold, Hold::PostStart { .. }));
    if let Some(need) = held {
        finding.dependent = Some(context.container(need.dependent).name.clone());
        finding.evidence = need.evidence.clone();
    }
    if can_end {
        finding.fix = Some(bound::bound_command(&Side::PostStart.at(container), name));
    }
    Some(finding)
}
