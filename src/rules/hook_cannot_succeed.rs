//! A postStart hook that is certain to fail.

use super::hook::{self, Side};
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::finding::{Finding, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::hooks::Hook;
use crate::plan::profile::Profile;
use crate::plan::serves::{ServedBy, is_loopback};
use crate::pod::{Action, PortRef, Role};

pub(super) static RULE: Rule = Rule {
    id: "hook-cannot-succeed",
    summary: "a postStart hook is certain to fail",
    severity: Severity::Error,
    since: "0.1.0",
    fix: None,
    why: "A postStart hook has one try. When it fails the kubelet kills the container, starts the next one, and tries \
          the same again at each restart: the pod never gets Ready.",
    facts: &["S3", "S5"],
    cure: "None: only the author knows what the hook was to do.",
    silent: "The failure stands behind a wait that can end well; the port is declared, named in a command or \
             variable, probed, or known from the catalogue; the pod shares the node's network.",
    example: include_str!("../../testdata/rules/hook-cannot-succeed/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// Why a postStart hook is certain to fail.
pub(super) enum Failure {
    /// Its command ends with a failure whatever it finds.
    Command(String),
    /// Its httpGet names a port that the container does not declare.
    UnknownName(String),
    /// Its httpGet dials a port that nobody in the pod serves.
    NobodyServes,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for at in 0..context.profiles.len() {
        if let Some(failure) = failure(context, at) {
            findings.push(report(context, at, &failure));
        }
    }
}

/// Whether, and why, the postStart hook of a container is certain to fail.
pub(super) fn failure(context: &Context<'_>, at: usize) -> Option<Failure> {
    let container = context.container(at);
    if context.workload.template.is_partial || container.role == Role::Init {
        return None;
    }
    match hook::of(context, at)? {
        Hook::Fails { words } => Some(Failure::Command(words.clone())),
        Hook::HttpGet { host, port, .. } if host.as_deref().is_none_or(is_loopback) => match port {
            PortRef::Name(name) => container
                .port_number(port)
                .is_none()
                .then(|| Failure::UnknownName(name.clone())),
            PortRef::Number(number) => {
                nobody_serves(context, at, *number).then_some(Failure::NobodyServes)
            }
        },
        Hook::HttpGet { .. }
        | Hook::Waits { .. }
        | Hook::SleepsOnly { .. }
        | Hook::SingleTry { .. }
        | Hook::ReturnsEarly { .. }
        | Hook::NeverEnds { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

fn nobody_serves(context: &Context<'_>, at: usize, port: u16) -> bool {
    let declares = context
        .container(at)
        .ports
        .iter()
        .any(|own| own.number != 0);
    let anyone = context.profiles.iter().any(|profile| {
        names(profile, port)
            || profile
                .served(port)
                .is_some_and(|it| it.by != ServedBy::Probe)
    });
    let probed = context
        .profiles
        .iter()
        .any(|profile| is_probed(profile, port));
    declares && !anyone && !probed && !context.workload.template.host_network
}

/// Whether a probe dials the port; the hook itself proves nothing.
fn is_probed(profile: &Profile<'_>, port: u16) -> bool {
    let container = profile.container;
    let probes = [
        &container.startup,
        &container.readiness,
        &container.liveness,
    ];
    let mut actions = probes.into_iter().flatten().map(|probe| &probe.action);
    actions.any(|action| {
        let dialled = action.port().and_then(|port| container.port_number(port));
        dialled == Some(port)
    })
}

/// Whether the number stands in a command or variable.
fn names(profile: &Profile<'_>, port: u16) -> bool {
    let number = port.to_string();
    let has = |text: &str| {
        text.split(|letter: char| !letter.is_ascii_digit())
            .any(|digits| digits == number)
    };
    let mut values = profile.container.env.iter().map(|var| var.value.as_deref());
    profile.container.words().any(has) || values.any(|value| value.is_some_and(has))
}

fn report(context: &Context<'_>, at: usize, failure: &Failure) -> Finding {
    let container = context.container(at);
    let (place, mark, text) = place(container, failure);
    let message = format!("the postStart hook of `{}` always fails", container.name);
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(container.name.clone());
    finding.because = format!(
        "a failed postStart hook has no second try: the kubelet kills `{}`, and does so at each start",
        container.name
    );
    let ports: Vec<String> = context
        .profiles
        .iter()
        .flat_map(|profile| &profile.container.ports)
        .map(|port| port.number.to_string())
        .collect();
    if !matches!(failure, Failure::Command(_)) && !ports.is_empty() {
        finding
            .notes
            .push(format!("declared in the pod: {}", ports.join(", ")));
    }
    let told = hook::needs_of(context, at)
        .find(|need| context.teller(need) == Some(Teller::HookCannotSucceed));
    if let Some(need) = told {
        finding.dependent = Some(context.container(need.dependent).name.clone());
        finding.evidence = need.evidence.clone();
    }
    finding
}

fn place(container: &crate::pod::Container, failure: &Failure) -> (FieldPath, Mark, String) {
    let port_at = Side::PostStart.at(container).keys(&["httpGet", "port"]);
    match failure {
        Failure::Command(words) => {
            let (at, mark) = Side::PostStart.words_at(container, words);
            (at, mark, "reached in every case".to_owned())
        }
        Failure::UnknownName(name) => (
            port_at,
            Mark::Value,
            format!("`{}` declares no port {name}", container.name),
        ),
        Failure::NobodyServes => (
            port_at,
            Mark::Value,
            "nobody in the pod declares or serves it".to_owned(),
        ),
    }
}

/// Whether an action is an httpGet to the pod itself.
pub(super) fn asks_pod(action: Option<&Action>) -> bool {
    match action {
        Some(Action::HttpGet { host, .. }) => host.as_deref().is_none_or(is_loopback),
        Some(
            Action::Exec { .. }
            | Action::TcpSocket { .. }
            | Action::Grpc { .. }
            | Action::Sleep { .. }
            | Action::Unreadable,
        )
        | None => false,
    }
}
