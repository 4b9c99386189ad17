//! A pod waits, before it can be ready, for a Service that lists only this pod, and that once it is
//! ready.

use super::context::label;
use super::{Check, Context, Rule};
use crate::finding::{Finding, Severity};
use crate::graph::{Found, Host, PodName, Stage, Waiting, asks_for_own_name};
use crate::manifest::{FieldPath, Mark};
use crate::plan::addresses::{Mention, endpoint};
use crate::plan::profile::{Profile, read_words};
use crate::plan::settings::Setting;
use crate::plan::{Target, mentions};
use crate::pod::workload::Service;
use crate::pod::{Action, Container, Role};

pub(super) static RULE: Rule = Rule {
    id: "self-wait",
    summary: "a pod waits for a Service that only itself stands behind",
    severity: Severity::Error,
    since: "0.1.0",
    fix: None,
    why: "A Service sends traffic to pods that are ready, and a headless one resolves to those alone. A pod is ready \
          only when its init containers have exited and its postStart hooks have returned. A wait for the Service in \
          one of them waits for the pod's own readiness: for ever.",
    facts: &["S4", "S9", "S18", "S19"],
    cure: "Nothing that a patch could know: dial the server itself (127.0.0.1, from a container that starts after \
           it), drop the wait, or let the Service publish addresses that are not ready.",
    silent: "Another workload of the run stands behind the Service, too; only the name of a Service with a cluster IP \
             is looked up; a failure does not end the script; a headless Service publishes addresses that are not \
             ready; the script looks at its pod's own name first.",
    example: include_str!("../../testdata/rules/self-wait/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let own = context.run.services_of(context.workload);
    if own.is_empty() {
        return;
    }
    let mut told: Vec<(usize, &Service)> = Vec::new();
    for waiting in context.waits() {
        if waiting.stage == Stage::Command || !waiting.holds() {
            continue;
        }
        let Some(found) = own_service(context, waiting.host().unwrap_or_default()) else {
            continue;
        };
        let key = (waiting.container, found.service);
        if is_certain(context, &waiting, &found) && !told.contains(&key) {
            told.push(key);
            findings.push(report(context, &waiting, found.service));
        }
    }
    if !context.workload.template.is_partial {
        findings.extend(readiness(context, &own));
    }
}

/// The Service of a host name, when no pod but this workload's own stands behind it.
fn own_service<'r>(context: &Context<'r>, host: &str) -> Option<Found<'r>> {
    let Host::Service(found) = context.asker().resolve(host) else {
        return None;
    };
    let service = found.service;
    let own = context.workload;
    let same_space =
        context.run.namespace_of(&service.object) == context.run.namespace_of(&own.object);
    let is_own = |number: &usize| {
        let other = context.run.workload(*number);
        other.is_some_and(|other| other.object == own.object)
    };
    let stands_behind = same_space && !service.is_external && service.selects(own);
    let has_others = || {
        let space = context.run.namespace_of(&service.object);
        context.run.has_endpoints(space, &service.object.name)
            || !context.run.behind(service).iter().all(is_own)
    };
    (stands_behind && !has_others()).then_some(found)
}

fn is_certain(context: &Context<'_>, waiting: &Waiting<'_>, found: &Found<'_>) -> bool {
    let service = found.service;
    let profile = &context.profiles[waiting.container];
    let resolves = waiting.is_lookup() && !service.is_headless;
    let publishes =
        service.publishes_unready && (service.is_headless || waiting.stage == Stage::Hook);
    // A member that asks who it is may wait for another one, or not at all.
    let may_be_another = match &found.pod {
        Some(PodName::Own) => false,
        Some(PodName::Named(_) | PodName::Unknown) | None => asks_for_own_name(profile),
    };
    let is_certain = !resolves && !publishes && !may_be_another;
    is_certain && !waiting.is_conditional(&context.workload.template)
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>, service: &Service) -> Finding {
    let (name, service_name) = (context.waiting_name(waiting), &service.object.name);
    let (who, until) = match waiting.stage {
        Stage::Init | Stage::Command => {
            (format!("`{name}`"), format!("`{name}` has exited with 0"))
        }
        Stage::Hook => (
            format!("the postStart hook of `{name}`"),
            format!("the hook of `{name}` has returned"),
        ),
    };
    let message =
        format!("{who} waits for Service `{service_name}`, which only this pod stands behind");
    let text = match waiting.is_lookup() {
        true => "resolves only once this pod is ready",
        false => "answers only once this pod is ready",
    };
    let mut finding = context.wait_finding(&RULE, waiting, message, text);
    finding.because =
        format!("a Service lists a pod once it is ready, and this one is not before {until}");
    let labels = &context.workload.template;
    finding.related.push(label(
        labels.at.keys(&["metadata", "labels"]),
        Mark::Key,
        format!("what Service `{service_name}` selects"),
    ));
    if waiting.port().is_some_and(|port| {
        !service.is_headless && !service.ports.iter().any(|one| one.port == port)
    }) {
        finding
            .notes
            .push(format!("Service `{service_name}` has no such port besides"));
    }
    finding
}

/// A container whose readiness goes through the pod's own Service.
fn readiness(context: &Context<'_>, own: &[&Service]) -> Vec<Finding> {
    let containers = context.workload.template.containers.iter().enumerate();
    let probed = containers.filter(|(_, one)| {
        one.readiness.is_some() && matches!(one.role, Role::App | Role::Sidecar)
    });
    let through = |(at, container): (usize, &Container)| {
        let by_setting = || by_setting(context, at, context.profiles.get(at)?, own);
        by_probe(context, at, container).or_else(by_setting)
    };
    probed.filter_map(through).collect()
}

/// The readinessProbe itself goes through the Service.
fn by_probe(context: &Context<'_>, at: usize, container: &Container) -> Option<Finding> {
    let probe = container.readiness.as_ref()?;
    let place = container.at.key("readinessProbe");
    let (host, field, mark) = match &probe.action {
        Action::Exec { command } => {
            let named = command.iter().enumerate().find_map(|(index, word)| {
                let host = own_host(context, word, |_| true)?;
                Some((index, host))
            });
            let (index, host) = named.or_else(|| asked_host(context, container, command))?;
            let field = place.keys(&["exec", "command"]).index(index);
            (host.clone(), field, Mark::Part(host))
        }
        Action::HttpGet { host, .. } => {
            let host = host.clone().filter(|host| is_closed(context, host))?;
            (host, place.keys(&["httpGet", "host"]), Mark::Value)
        }
        Action::TcpSocket { host, .. } => {
            let host = host.clone().filter(|host| is_closed(context, host))?;
            (host, place.keys(&["tcpSocket", "host"]), Mark::Value)
        }
        Action::Grpc { .. } | Action::Sleep { .. } | Action::Unreadable => return None,
    };
    let found = own_service(context, &host)?;
    let message = format!(
        "`{}` is ready only when Service `{}` answers, which only this pod stands behind",
        container.name, found.service.object.name
    );
    Some(warned(context, at, message, (field, mark), found.service))
}

/// The host of the pod's own Service that a probe's command asks, and the word that holds it.
fn asked_host(
    context: &Context<'_>,
    container: &Container,
    command: &[String],
) -> Option<(usize, String)> {
    let reading = read_words(container, command);
    let mut checks = reading.waits.iter().chain(&reading.tries);
    let host = checks.find_map(|wait| {
        let host = &wait.target.server()?.host;
        is_closed(context, host).then(|| host.clone())
    })?;
    let index = command.iter().position(|word| word.contains(&host))?;
    Some((index, host))
}

/// A variable or flag names a sibling's port by the Service.
fn by_setting(
    context: &Context<'_>,
    at: usize,
    profile: &Profile<'_>,
    own: &[&Service],
) -> Option<Finding> {
    let names_own = |setting: &&Setting| {
        let mut names = own.iter().map(|service| &service.object.name);
        names.any(|name| setting.value.contains(name)) && dials(setting)
    };
    for setting in profile.settings.iter().filter(names_own) {
        let sibling_port = |service: &Service, port: Option<u16>| {
            let ports = service.ports.iter();
            let target = ports
                .filter(|one| port.is_none_or(|port| one.port == port))
                .map(|one| &one.target);
            target.into_iter().any(|target| {
                let serves = |other: &Profile<'_>| {
                    let number = other.container.port_number(target);
                    number.is_some_and(|number| other.served(number).is_some())
                };
                let siblings = context.profiles.iter().enumerate();
                let mut siblings = siblings.filter(|(other, one)| {
                    *other != at && matches!(one.container.role, Role::App | Role::Sidecar)
                });
                siblings.any(|(_, other)| serves(other)) && !serves(profile)
            })
        };
        for mention in named_servers(setting, &profile.settings) {
            let Target::Address(address) = &mention.target else {
                continue;
            };
            let Some(found) = own_service(context, &address.host) else {
                continue;
            };
            let service = found.service;
            if service.publishes_unready || !sibling_port(service, address.port_or_default()) {
                continue;
            }
            let message = format!(
                "`{}` reaches its sibling through Service `{}`, which lists this pod only once both are ready",
                profile.container.name, service.object.name
            );
            let place = (setting.at.clone(), Mark::Part(mention.words.clone()));
            return Some(warned(context, at, message, place, service));
        }
    }
    None
}

/// The servers in the value of a setting; a bare host counts where another setting has its port.
fn named_servers(setting: &Setting, all: &[Setting]) -> Vec<Mention> {
    let found = mentions(&setting.value);
    let name = setting.name.to_ascii_lowercase();
    let stem = name.strip_suffix("host").filter(|_| found.is_empty());
    let Some(stem) = stem.filter(|stem| !stem.is_empty()) else {
        return found;
    };
    let is_port = |other: &&Setting| other.name.to_ascii_lowercase() == format!("{stem}port");
    let port = all.iter().find(is_port);
    let port = port.and_then(|port| port.value.trim().parse().ok());
    let mention = endpoint(&setting.value)
        .zip(port)
        .map(|(mut mention, port)| {
            if let Target::Address(address) = &mut mention.target {
                address.port = Some(port);
            }
            mention
        });
    mention.into_iter().collect()
}

/// Names of settings that say how the world calls the pod are no calls.
fn dials(setting: &Setting) -> bool {
    const OUTSIDE: [&str; 22] = [
        "advertise",
        "advertised",
        "announce",
        "public",
        "external",
        "own",
        "self",
        "callback",
        "redirect",
        "issuer",
        "origin",
        "origins",
        "allowed",
        "cors",
        "domain",
        "hostname",
        "servername",
        "otel",
        "otlp",
        "exporter",
        "no",
        "host_header",
    ];
    !setting.name_words().any(|word| OUTSIDE.contains(&&*word))
}

/// The first host in a text that is the pod's own Service.
fn own_host(context: &Context<'_>, text: &str, fits: impl Fn(&Service) -> bool) -> Option<String> {
    mentions(text)
        .into_iter()
        .find_map(|mention| match mention.target {
            Target::Address(address) => {
                let is_own = is_closed(context, &address.host)
                    && own_service(context, &address.host).is_some_and(|found| fits(found.service));
                is_own.then_some(address.host)
            }
            Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. }
            | Target::Opaque => None,
        })
}

/// Whether a host is the pod's own Service and says nothing before the pod is ready.
fn is_closed(context: &Context<'_>, host: &str) -> bool {
    own_service(context, host).is_some_and(|found| !found.service.publishes_unready)
}

fn warned(
    context: &Context<'_>,
    at: usize,
    message: String,
    place: (FieldPath, Mark),
    service: &Service,
) -> Finding {
    let text = format!("Service `{}` leads to this very pod", service.object.name);
    let mut finding = context.finding(&RULE, message, place.0, place.1, text);
    finding.severity = Severity::Warning;
    let container = context.container(at);
    finding.container = Some(container.name.clone());
    finding.related.push(label(
        container.at.key("readinessProbe"),
        Mark::Key,
        "the pod is not ready before this passes",
    ));
    finding.because = "a Service lists a pod only once all of its containers are ready".to_owned();
    finding
}
