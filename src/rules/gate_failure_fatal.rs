//! A postStart gate in a pod that does not start a killed container again.

use super::hook::{self, Side};
use super::{Check, Context, Rule};
use crate::cure::native;
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::bounds::Bound;
use crate::plan::gate::Hold;
use crate::plan::hooks::Hook;
use crate::plan::needs::Need;
use crate::pod::{Container, RestartPolicy};

pub(super) static RULE: Rule = Rule {
    id: "gate-failure-fatal",
    summary: "a failed gate ends the sidecar for good, and the app starts all the same",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "When a postStart hook fails the kubelet kills its container and starts the next one. With `restartPolicy: \
          Never` the sidecar is gone for good, while the app runs without it. With `OnFailure` that is so when the \
          sidecar exits with 0 on SIGTERM.",
    facts: &["S3"],
    cure: "A native sidecar: it is started again whatever the pod's policy says, and holds the app back until its \
           startupProbe has passed.",
    silent: "The sidecar is a native one; the pod's policy is Always; the hook goes on when its wait is over, so that \
             it cannot fail.",
    example: include_str!("../../testdata/rules/gate-failure-fatal/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let policy = context.workload.template.restart_policy;
    if policy == RestartPolicy::Always {
        return;
    }
    for need in context.needs() {
        let is_plain_gate = matches!(
            need.hold,
            Hold::PostStart {
                is_native: false,
                ..
            }
        );
        if is_plain_gate && can_fail(hook::of(context, need.provider)) {
            findings.push(report(context, need, policy));
        }
    }
}

fn can_fail(hook: Option<&Hook>) -> bool {
    match hook {
        Some(Hook::Waits { bound, .. }) => match bound {
            Bound::Bounded { .. } => bound.fails(),
            Bound::Unbounded | Bound::Unknown => true,
        },
        Some(Hook::MayWait { .. } | Hook::NotUnderstood { .. }) => true,
        Some(
            Hook::SleepsOnly { .. }
            | Hook::SingleTry { .. }
            | Hook::ReturnsEarly { .. }
            | Hook::Fails { .. }
            | Hook::NeverEnds { .. }
            | Hook::HttpGet { .. }
            | Hook::TcpSocket { .. }
            | Hook::NotAWait,
        )
        | None => false,
    }
}

/// The field that makes a container exit with 0 when it is told to stop.
fn exits_with_zero(container: &Container) -> Option<(FieldPath, Mark)> {
    const FLAG: &str = "exit-zero-on-sigterm";
    let lists = [("command", &container.command), ("args", &container.args)];
    let is_set = |word: &String| word.contains(FLAG) && !word.ends_with("=false");
    let by_word = lists.into_iter().find_map(|(key, words)| {
        let index = words.iter().position(is_set)?;
        Some((
            container.at.key(key).index(index),
            Mark::Part(FLAG.to_owned()),
        ))
    });
    let by_variable = || {
        let index = container.env.iter().position(|var| {
            var.name.ends_with("EXIT_ZERO_ON_SIGTERM") && var.value.as_deref() == Some("true")
        })?;
        let at = container.at.key("env").index(index).key("name");
        Some((at, Mark::Value))
    };
    by_word.or_else(by_variable)
}

fn report(context: &Context<'_>, need: &Need, policy: RestartPolicy) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let message = format!(
        "if its hook fails, `{}` is gone for good and `{}` starts",
        provider.name, dependent.name
    );
    let at = Side::PostStart.at(provider);
    let text = "fails once, and nothing tries again";
    let mut finding = context.pair(&RULE, need, message, at, Mark::Key, text);
    let policy_at = context.workload.template.spec_at.key("restartPolicy");
    finding
        .related
        .push(super::context::label(policy_at, Mark::Entry, ""));
    finding.related.extend(hook::evidence_label(context, need));
    finding.because = match policy {
        RestartPolicy::Never => format!(
            "a failed hook kills `{}`, which a pod with restartPolicy Never does not start again; the next container \
             starts all the same",
            provider.name
        ),
        RestartPolicy::OnFailure | RestartPolicy::Always => format!(
            "a failed hook kills `{}`; with OnFailure it starts again only when it exits with another code than 0; the \
             next container starts all the same",
            provider.name
        ),
    };
    if policy == RestartPolicy::OnFailure {
        match exits_with_zero(provider) {
            Some((at, mark)) => {
                let text = "so a killed one counts as done";
                finding.related.push(super::context::label(at, mark, text));
            }
            None => finding.severity = Severity::Info,
        }
    }
    let fix = native::make_native(context.patient(), need);
    finding.fix = Some(fix.unwrap_or_else(super::context::refused));
    finding
}
