//! A postStart hook that looks like a wait and cannot hold anybody back.

use super::hook::{self, Side};
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::finding::{Finding, FixSafety, Severity};
use crate::plan::gate::{Gap, Hold};
use crate::plan::hooks::{EarlyReturn, Hook};
use crate::plan::needs::Need;

pub(super) static RULE: Rule = Rule {
    id: "gate-returns-early",
    summary: "a postStart hook that is meant to wait returns at once",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet waits for the hook's own command, not for what it leaves behind in the background, and not for \
          a check that is tried once. A check whose failure is thrown away lets the next container start unguarded; \
          one whose failure counts kills the sidecar that was only slow.",
    facts: &["S3"],
    cure: "The check becomes the startupProbe of a native sidecar, where the kubelet repeats it; with `--prefer hook` \
           the hook waits in the foreground by the vendor's command.",
    silent: "The hook tries again until it succeeds or a bound is over; nobody needs the container; the hook calls \
             another host. A bare `&` is info: containerd waits for a background command that holds the hook's output, \
             other runtimes need not.",
    example: include_str!("../../testdata/rules/gate-returns-early/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for need in context.needs() {
        let is_told = context.teller(need) == Some(Teller::GateReturnsEarly);
        if is_told || is_in_background(context, need) {
            findings.extend(report(context, need));
        }
    }
}

/// Whether only the runtime's own habit makes the hook a gate.
fn is_in_background(context: &Context<'_>, need: &Need) -> bool {
    let hook = hook::of(context, need.provider);
    matches!(need.hold, Hold::PostStart { .. }) && matches!(hook, Some(Hook::ReturnsEarly { .. }))
}

/// What is wrong with the hook, and the words to mark.
fn fault(hook: &Hook) -> Option<(&'static str, &str)> {
    match hook {
        Hook::ReturnsEarly { reason, words, .. } => Some((text(*reason), words)),
        Hook::SingleTry { tries, .. } => Some((
            "tried once; a refused try fails the hook",
            &tries.first()?.words,
        )),
        Hook::Waits { .. }
        | Hook::SleepsOnly { .. }
        | Hook::Fails { .. }
        | Hook::NeverEnds { .. }
        | Hook::HttpGet { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

fn text(reason: EarlyReturn) -> &'static str {
    match reason {
        EarlyReturn::BackgroundRedirected => "in the background: the hook returns at once",
        EarlyReturn::BackgroundBare => "in the background: not every runtime waits for it",
        EarlyReturn::Nohup => "detached: not every runtime waits for it",
        EarlyReturn::IgnoresFailure => "tried once, and a failure is thrown away",
        EarlyReturn::BreaksOnFirstFailure => "the loop ends at the first failure",
    }
}

fn report(context: &Context<'_>, need: &Need) -> Option<Finding> {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let hook = hook::of(context, need.provider)?;
    let (text, words) = fault(hook)?;
    let message = format!(
        "the hook of `{}` does not hold `{}`",
        provider.name, dependent.name
    );
    let (at, mark) = Side::PostStart.words_at(provider, words);
    let mut finding = context.pair(&RULE, need, message, at, mark, text);
    finding.related.extend(hook::evidence_label(context, need));
    finding.because = because(hook, &provider.name).to_owned();
    if need.gap() != Some(Gap::ReturnsEarly) {
        finding.severity = Severity::Info;
    }
    if need.provider > need.dependent {
        finding.notes.push(format!(
            "`{}` is listed above: a hook holds back only what is below",
            dependent.name
        ));
    }
    finding.fix = Some(context.close(need));
    Some(finding)
}

fn because(hook: &Hook, provider: &str) -> String {
    match hook {
        Hook::SingleTry { .. } => format!(
            "a hook has one try, at the same time as the entrypoint: when `{provider}` does not listen yet the kubelet \
             kills it and starts the next container"
        ),
        _ => format!(
            "the kubelet waits until the hook's command returns, and nothing else: `{provider}` need not serve by then"
        ),
    }
}
