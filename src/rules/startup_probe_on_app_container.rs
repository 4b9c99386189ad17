//! A startupProbe on a plain sidecar that reads like a gate and holds nobody back.

use super::context::label;
use super::{Check, Context, Rule};
use crate::finding::{Finding, Severity};
use crate::manifest::Mark;
use crate::plan::Hook;
use crate::plan::gate::Hold;
use crate::plan::needs::Need;
use crate::pod::Role;

pub(super) static RULE: Rule = Rule {
    id: "startup-probe-on-app-container",
    summary: "a startupProbe on a plain sidecar holds nobody back",
    severity: Severity::Info,
    since: "0.1.0",
    fix: None,
    why: "A startupProbe holds the next container back on a native sidecar only. In `containers` it decides when the \
          other probes of its own container begin, and whether that is restarted; probes do not even run before all app \
          containers were started.",
    facts: &["S6", "S9"],
    cure: "Nothing has to change: the containers that need the sidecar wait by their own commands. As a native sidecar \
           the same probe would be a gate that the kubelet enforces.",
    silent: "Nobody needs the container; a waiting postStart hook holds the others back; the pair is reported already.",
    example: include_str!("../../testdata/rules/startup-probe-on-app-container/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut told: Vec<usize> = Vec::new();
    for need in context.needs() {
        if reads_like_a_gate(context, need) && !told.contains(&need.provider) {
            told.push(need.provider);
            findings.push(report(context, need));
        }
    }
}

fn reads_like_a_gate(context: &Context<'_>, need: &Need) -> bool {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let is_waited_for = need.hold == Hold::OwnWait && !need.is_main_provider;
    let is_reported = context
        .needs()
        .any(|other| other.provider == need.provider && other.is_open());
    let hook = context
        .profiles
        .get(need.provider)
        .and_then(|profile| profile.hook.as_ref());
    let has_gate = matches!(hook, Some(Hook::Waits { .. } | Hook::MayWait { .. }));
    provider.role == Role::App
        && dependent.role == Role::App
        && provider.startup.is_some()
        && is_waited_for
        && !is_reported
        && !has_gate
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let message = format!("`{}`'s startupProbe holds nobody back", provider.name);
    let probe = provider.at.key("startupProbe");
    let mut finding = context.pair(
        &RULE,
        need,
        message,
        probe,
        Mark::Key,
        "no gate in containers",
    );
    let waits = format!("`{}` waits by its own command", dependent.name);
    let wait = context
        .profiles
        .get(need.dependent)
        .and_then(|profile| profile.waits().next());
    let words = wait.map_or(Mark::Value, |wait| Mark::Part(wait.words.clone()));
    let field = match dependent.command.is_empty() {
        true => "args",
        false => "command",
    };
    finding
        .related
        .push(label(dependent.at.key(field), words, waits));
    finding.because =
        "a startupProbe gates on a native sidecar only; in containers it begins after all starts"
            .to_owned();
    finding.help = Some(format!(
        "move `{}` to initContainers with restartPolicy: Always, and the probe is a gate",
        provider.name
    ));
    finding
}
