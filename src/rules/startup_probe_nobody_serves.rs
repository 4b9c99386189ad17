//! A native sidecar's startupProbe dials a port that nobody in the pod has.

use super::context::{label, refused};
use super::{Check, Context, Rule};
use crate::cure::probe;
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::profile::Profile;
use crate::plan::serves::{ServedBy, health_port, is_loopback};
use crate::plan::settings;
use crate::pod::{Action, Container, PortRef, Probe, Role};
use serde_json::{Value, json};

pub(super) static RULE: Rule = Rule {
    id: "startup-probe-nobody-serves",
    summary: "a native sidecar's startupProbe dials a port that nothing in the pod serves",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Unsafe),
    why: "Everything after a native sidecar waits for its startupProbe. A probe of a port that nobody opens, or of a \
          port name that the container does not declare, never passes: the kubelet kills the sidecar and starts it \
          again, and the pod stays in `Init`.",
    facts: &["S6", "S9"],
    cure: "The only port that the sidecar declares, if there is just one.",
    silent: "The sidecar declares the port, names it in a flag or variable, or is known to serve it; it declares no \
             port at all; the probe runs a command or dials another host.",
    example: include_str!("../../testdata/rules/startup-probe-nobody-serves/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.workload.template.is_partial {
        return;
    }
    for step in context
        .plan
        .steps
        .iter()
        .filter(|step| step.role == Role::Sidecar)
    {
        let container = context.container(step.container);
        let Some(startup) = &container.startup else {
            continue;
        };
        let Some(port) = startup.action.port().filter(|_| is_own(&startup.action)) else {
            continue;
        };
        if !is_served(context, container, port) {
            findings.push(report(context, container, startup, port));
        }
    }
}

/// Whether the probe dials the pod itself.
fn is_own(action: &Action) -> bool {
    match action {
        Action::HttpGet { host, .. } | Action::TcpSocket { host, .. } => {
            host.as_deref().is_none_or(is_loopback)
        }
        Action::Grpc { .. } => true,
        Action::Exec { .. } | Action::Sleep { .. } | Action::Unreadable => false,
    }
}

fn is_served(context: &Context<'_>, container: &Container, port: &PortRef) -> bool {
    let Some(number) = container.port_number(port) else {
        return false;
    };
    if container.ports.is_empty() {
        return true;
    }
    let serves = |profile: &Profile<'_>| {
        let served = profile.served(number);
        let health = profile
            .entry
            .and_then(|entry| entry.health_in(profile.container));
        served.is_some_and(|served| served.by != ServedBy::Probe)
            || health.is_some_and(|health| health_port(&profile.settings, health) == Some(number))
            || names(profile, number)
    };
    context.profiles.is_empty() || context.profiles.iter().any(serves)
}

/// Whether a flag, a variable or a script of the container has the number somewhere.
fn names(profile: &Profile<'_>, number: u16) -> bool {
    let number = number.to_string();
    let has = |text: &str| {
        text.split(|char: char| !char.is_ascii_digit())
            .any(|part| part == number)
    };
    profile.settings.iter().any(|setting| has(&setting.value))
        || settings::words(profile.container)
            .iter()
            .any(|word| has(&word.text))
}

fn report(
    context: &Context<'_>,
    container: &Container,
    startup: &Probe,
    port: &PortRef,
) -> Finding {
    let message = match port {
        PortRef::Number(number) => {
            format!(
                "`{}`'s startupProbe dials port {number}, which nobody serves",
                container.name
            )
        }
        PortRef::Name(name) => format!(
            "`{}`'s startupProbe dials port `{name}`, which `{}` does not declare",
            container.name, container.name
        ),
    };
    let at = container.at.key("startupProbe");
    let place = probe::handler(&at, &startup.action).unwrap_or_else(|| at.clone());
    let text = "can never pass";
    let mut finding = context.finding(&RULE, message, place.key("port"), Mark::Value, text);
    finding.container = Some(container.name.clone());
    if !container.ports.is_empty() {
        let declared = format!("`{}` declares {}", container.name, declared(container));
        let ports = container.at.key("ports");
        finding.related.push(label(ports, Mark::Key, declared));
    }
    finding.because =
        "everything after a native sidecar waits until its startupProbe has passed".to_owned();
    finding.fix = Some(fix(container, &at, startup, port).unwrap_or_else(refused));
    finding
}

fn declared(container: &Container) -> String {
    let ports = container.ports.iter().map(|port| match &port.name {
        Some(name) => format!("{} ({name})", port.number),
        None => port.number.to_string(),
    });
    ports.collect::<Vec<_>>().join(", ")
}

fn fix(
    container: &Container,
    at: &FieldPath,
    startup: &Probe,
    port: &PortRef,
) -> Result<Fix, String> {
    let [only] = container.ports.as_slice() else {
        return Err(format!(
            "nothing tells which port of `{}` is meant",
            container.name
        ));
    };
    let value: Value = match (port, &only.name) {
        (PortRef::Name(_), Some(name)) => json!(name),
        (PortRef::Name(_), None) | (PortRef::Number(_), _) => json!(only.number),
    };
    probe::redirect(at, &startup.action, value, &container.name)
        .ok_or_else(|| "the probe dials no port".to_owned())
}
