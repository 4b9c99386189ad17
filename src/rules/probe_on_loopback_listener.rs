//! A probe that the kubelet sends from outside the pod to a server that listens inside only.

use super::context::{label, refused};
use super::{Check, Context, Rule};
use crate::cure::{bind, probe};
use crate::finding::{Evidence, EvidenceKind, Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::binds::{Bind, loopback_only};
use crate::plan::dials::has_loopback;
use crate::plan::predict::role_at;
use crate::plan::serves::is_loopback;
use crate::pod::{Action, Container, Probe, Role};

pub(super) static RULE: Rule = Rule {
    id: "probe-on-loopback-listener",
    summary: "the kubelet's probe cannot reach a server that listens on loopback",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet sends httpGet, tcpSocket and grpc probes from the node to the pod's address. A server that listens \
          on 127.0.0.1 never sees them. With `host: 127.0.0.1` the probe goes to the node's own loopback, unless the \
          pod has `hostNetwork`.",
    facts: &["S6", "S7"],
    cure: "The vendor's flag that opens the endpoint, its own check command as an exec probe, or the flag that binds \
           the server with another address.",
    silent: "The probe runs a command; the pod has `hostNetwork` and the probe names the loopback; a flag or variable \
             gives the server another address.",
    example: include_str!("../../testdata/rules/probe-on-loopback-listener/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, container) in context.workload.template.containers.iter().enumerate() {
        if !matches!(
            role_at(container, context.plan.version),
            Role::App | Role::Sidecar
        ) {
            continue;
        }
        // One finding is enough: the others have the same cause.
        let mut found = container
            .probes()
            .filter_map(|(field, probe)| report(context, index, field, probe));
        findings.extend(found.next());
    }
}

fn host_of(action: &Action) -> Option<&str> {
    match action {
        Action::HttpGet { host, .. } | Action::TcpSocket { host, .. } => host.as_deref(),
        Action::Exec { .. } | Action::Grpc { .. } | Action::Sleep { .. } | Action::Unreadable => {
            None
        }
    }
}

fn report(
    context: &Context<'_>,
    index: usize,
    field: &'static str,
    asked: &Probe,
) -> Option<Finding> {
    let container = context.container(index);
    match host_of(&asked.action) {
        Some(host) if is_loopback(host) && !context.workload.template.host_network => {
            to_the_node(context, container, field, asked, host)
        }
        Some(_) => None,
        None => to_the_pod(context, index, field, asked),
    }
}

fn to_the_node(
    context: &Context<'_>,
    container: &Container,
    field: &'static str,
    asked: &Probe,
    host: &str,
) -> Option<Finding> {
    let place = probe::handler(&container.at.key(field), &asked.action)?.key("host");
    let message = format!("`{}`'s {field} dials the node, not the pod", container.name);
    let text = format!("{host} is the node's loopback here");
    let mut finding = context.finding(&RULE, message, place.clone(), Mark::Value, text);
    finding.container = Some(container.name.clone());
    finding.because =
        "the kubelet sends the probe from the node; without hostNetwork the pod's loopback is another one"
            .to_owned();
    finding.fix = Some(bind::without_host(container, place));
    Some(finding)
}

fn to_the_pod(
    context: &Context<'_>,
    index: usize,
    field: &'static str,
    asked: &Probe,
) -> Option<Finding> {
    let container = context.container(index);
    let port_ref = asked.action.port()?;
    let port = container.port_number(port_ref)?;
    let entry = context.entry(index);
    if is_a_neighbours(context, container, port) {
        return None;
    }
    // Without a word about loopback, and without a known image, no flag has to be read.
    if entry.is_none() && !names_loopback(container) {
        return by_config(context, container, field, asked, port);
    }
    let settings = context.settings(index);
    let Some(bind) = loopback_only(container, &settings, entry, port) else {
        return by_config(context, container, field, asked, port);
    };
    let at = container.at.key(field);
    let place = probe::handler(&at, &asked.action)?.key("port");
    let message = format!("`{}`'s {field} cannot reach its server", container.name);
    let text = "dialled at the pod's address";
    let mut finding = context.finding(&RULE, message, place, Mark::Value, text);
    finding.container = Some(container.name.clone());
    finding.related.push(match &bind {
        Bind::Setting { at, words } => label(
            at.clone(),
            Mark::Part(words.clone()),
            "listens on loopback only",
        ),
        Bind::Default => label(
            container.at.key("image"),
            Mark::Value,
            format!("listens on 127.0.0.1:{port} unless told otherwise"),
        ),
    });
    finding.because =
        "the kubelet dials the pod's address; a server on 127.0.0.1 answers inside the pod only"
            .to_owned();
    let fix = bind::open(container, entry, &at, asked, &bind);
    finding.fix = Some(fix.unwrap_or_else(refused));
    Some(finding)
}

/// Whether a word or a variable of a container can name a loopback address at all.
fn names_loopback(container: &Container) -> bool {
    let values = container.env.iter().filter_map(|var| var.value.as_deref());
    let mut texts = container.words().chain(values);
    texts.any(has_loopback)
}

/// The server's own configuration, in a ConfigMap, says that it listens on loopback only.
fn by_config(
    context: &Context<'_>,
    container: &Container,
    field: &'static str,
    asked: &Probe,
    port: u16,
) -> Option<Finding> {
    let mut profiles = context.profiles.iter();
    let profile = profiles.find(|profile| profile.container.at == container.at)?;
    let local = profile.local.iter().find(|local| local.port == port)?;
    let elsewhere = local.setting.elsewhere.clone()?;
    let place = probe::handler(&container.at.key(field), &asked.action)?.key("port");
    let message = format!("`{}`'s {field} cannot reach its server", container.name);
    let text = "dialled at the pod's address";
    let mut finding = context.finding(&RULE, message, place, Mark::Value, text);
    finding.container = Some(container.name.clone());
    finding.related.push(label(
        local.setting.at.clone(),
        Mark::Entry,
        format!("reads {}", elsewhere.object),
    ));
    finding.evidence.push(Evidence {
        kind: EvidenceKind::Loopback,
        detail: "listens on loopback only".to_owned(),
        words: local.setting.value.clone(),
        at: local.setting.at.clone(),
        span: None,
        elsewhere: Some(elsewhere),
    });
    finding.because =
        "the kubelet dials the pod's address; a server on 127.0.0.1 answers inside the pod only"
            .to_owned();
    finding.help = Some("listen on the pod's address, or use an exec probe".to_owned());
    Some(finding)
}

/// Whether another container declares the port: then the address is that one's.
fn is_a_neighbours(context: &Context<'_>, own: &Container, port: u16) -> bool {
    let declares = |container: &Container| container.ports.iter().any(|one| one.number == port);
    let mut containers = context.workload.template.containers.iter();
    !declares(own) && containers.any(|other| other.at != own.at && declares(other))
}
