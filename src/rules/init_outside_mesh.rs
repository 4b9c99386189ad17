//! An init container uses the network before the mesh's proxy is there.

use super::context::{label, refused};
use super::{Check, Context, Rule};
use crate::catalog::{Class, Covers};
use crate::cure::mesh;
use crate::finding::{Finding, FixSafety, Label, Severity};
use crate::graph::{Stage, Waiting};
use crate::inject::{Injected, InjectedGate, Mesh, injected};
use crate::manifest::{FieldPath, Mark};
use crate::plan::profile::Profile;
use crate::plan::{Target, mentions};
use crate::pod::{Container, Role};

pub(super) static RULE: Rule = Rule {
    id: "init-outside-mesh",
    summary: "an init container uses the network before the mesh's proxy runs",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A classic proxy is an app container, and app containers start after the last init container. What an init \
          container calls goes past the mesh: without its identity, and in vain where mutual TLS is asked for. Where \
          the redirection is there first, by the mesh's CNI plugin or by its own init container, every call goes to a \
          proxy that does not run. Holding the application does not change that.",
    facts: &["S4", "S8"],
    cure: "The proxy is injected as a native sidecar, which starts before the other init containers.",
    silent: "The proxy is a native sidecar; the port is left out of the redirection, or the container runs as the \
             proxy's user; no use of the network is seen.",
    example: include_str!("../../testdata/rules/init-outside-mesh/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// The proxy that an init container starts before.
struct Proxy<'p> {
    name: &'p str,
    mesh: Option<Mesh>,
    /// Where it stands, when the manifest holds it.
    at: Option<usize>,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    let has_init = template.containers.iter().any(|one| one.role == Role::Init);
    if template.is_partial || !has_init || template.host_network {
        return;
    }
    let Some(proxy) = listed(context).or_else(|| to_come(context)) else {
        return;
    };
    if leaves_addresses_out(context) {
        return;
    }
    for (at, profile) in context.profiles.iter().enumerate() {
        let is_before = proxy.at.is_none_or(|proxy| at < proxy);
        let is_left_out = proxy
            .mesh
            .and_then(Mesh::own_user)
            .is_some_and(|user| profile.container.run_as_user == Some(user));
        if profile.container.role != Role::Init
            || !is_before
            || is_left_out
            || is_of_mesh(profile.container)
        {
            continue;
        }
        if let Some(used) = network_use(context, at, profile) {
            findings.push(report(context, &proxy, at, used));
        }
    }
}

/// A mesh's proxy in the manifest.
fn listed<'p>(context: &Context<'p>) -> Option<Proxy<'p>> {
    let proxies = context.profiles.iter().enumerate();
    let mut proxies = proxies.filter(|(_, profile)| {
        let is_mesh = profile
            .entry
            .is_some_and(|entry| entry.covers == Covers::All);
        is_mesh
            && profile.class == Some(Class::Needed)
            && matches!(profile.container.role, Role::App | Role::Sidecar)
    });
    let (at, profile) = proxies.next()?;
    let name = profile.container.name.as_str();
    let entry = profile.entry?.name.as_str();
    let mesh = [Mesh::Istio, Mesh::Linkerd, Mesh::Kuma, Mesh::Consul]
        .into_iter()
        .find(|mesh| entry.contains(mesh.word()));
    Some(Proxy {
        name,
        mesh,
        at: Some(at),
    })
}

/// A proxy that will be injected as a plain container.
fn to_come<'p>(context: &Context<'_>) -> Option<Proxy<'p>> {
    let version = context.plan.version;
    let all = injected(
        context.run,
        (context.workload, context.source),
        context.mesh,
        version,
    );
    let is_classic = |one: &Injected| {
        let is_native = match one.gate {
            InjectedGate::Native => true,
            // Without its wait Linkerd's proxy may be native all the same.
            InjectedGate::Open => one.mesh == Mesh::Linkerd && version.has_native_sidecars(),
            InjectedGate::Held | InjectedGate::Impossible => false,
        };
        one.mesh.redirects() && !is_native
    };
    let found = all.into_iter().find(is_classic)?;
    Some(Proxy {
        name: found.mesh.container(),
        mesh: Some(found.mesh),
        at: None,
    })
}

/// Images that set a mesh's redirection up, or check it.
fn is_of_mesh(container: &Container) -> bool {
    let image = container.image.as_deref().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let name = last.split([':', '@']).next().unwrap_or_default();
    let images = [
        "proxyv2",
        "proxy-init",
        "kuma-init",
        "consul-k8s-control-plane",
        "osm-sidecar-init",
    ];
    let names = [
        "istio-init",
        "istio-validation",
        "linkerd-init",
        "linkerd-network-validator",
        "kuma-init",
        "kuma-validation",
        "consul-connect-inject-init",
        "proxyinit",
        "osm-init",
    ];
    images.contains(&name) || names.contains(&container.name.as_str())
}

/// Whether a redirection is set up before this container by one of the listed ones. Those that
/// check it are added where the mesh's CNI plugin sets it up, before any container.
fn is_redirected(context: &Context<'_>, at: usize) -> bool {
    let all = &context.workload.template.containers;
    let checks = |one: &Container| {
        let name = one.name.as_str();
        matches!(
            name,
            "istio-validation" | "linkerd-network-validator" | "kuma-validation"
        )
    };
    let is_by_plugin = |one: &Container| one.role == Role::Init && is_of_mesh(one) && checks(one);
    if all.iter().any(is_by_plugin) {
        return true;
    }
    all[..at].iter().any(|one| {
        let image = one.image.as_deref().unwrap_or_default();
        let known = ["proxyv2", "proxy-init", "kuma-init"]
            .iter()
            .any(|name| image.contains(name));
        one.role == Role::Init && is_of_mesh(one) && known
    })
}

/// Where an init container names a host of the network.
struct Used {
    at: FieldPath,
    mark: Mark,
    host: String,
}

fn network_use(context: &Context<'_>, at: usize, profile: &Profile<'_>) -> Option<Used> {
    let template = &context.workload.template;
    let checks = profile.reading.waits.iter().chain(&profile.reading.tries);
    for wait in checks {
        let waiting = Waiting {
            container: at,
            stage: Stage::Init,
            wait,
        };
        let is_remote = match &wait.target {
            Target::Address(address) => {
                !address.is_loopback() && goes_through(context, waiting.port())
            }
            // Look-ups go past the proxy, and so does the API server's address.
            Target::Dns { .. }
            | Target::Kubernetes { .. }
            | Target::File { .. }
            | Target::Opaque => false,
        };
        if is_remote {
            let (at, mark) = waiting.place(template);
            let host = waiting.host().unwrap_or_default().to_owned();
            return Some(Used { at, mark, host });
        }
    }
    if profile.is_offline() {
        return None;
    }
    let settings = profile
        .settings
        .iter()
        .map(|setting| (&setting.value, &setting.at));
    let words = crate::plan::settings::words(profile.container);
    let words = words.iter().map(|word| (&word.text, &word.at));
    settings.chain(words).find_map(|(text, at)| {
        let mut named = mentions(text).into_iter();
        named.find_map(|mention| match mention.target {
            Target::Address(address)
                if !address.is_loopback() && goes_through(context, address.port_or_default()) =>
            {
                let is_any = matches!(address.host.as_str(), "0.0.0.0" | "::");
                (!is_any).then(|| Used {
                    at: at.clone(),
                    mark: Mark::Part(mention.words),
                    host: address.host,
                })
            }
            Target::Address(_)
            | Target::Dns { .. }
            | Target::Kubernetes { .. }
            | Target::File { .. }
            | Target::Opaque => None,
        })
    })
}

/// Whether calls to a port go through the proxy: no annotation leaves it out.
fn goes_through(context: &Context<'_>, port: Option<u16>) -> bool {
    let Some(port) = port else { return true };
    let annotations = context.workload.template.annotations.iter();
    let mut lists = annotations.filter(|(key, _)| {
        let key = key.to_ascii_lowercase();
        key.contains("excludeoutboundports")
            || key.contains("exclude-outbound-ports")
            || key.contains("skip-outbound-ports")
    });
    !lists.any(|(_, value)| value.split(',').any(|part| covers(part.trim(), port)))
}

/// Whether `80`, `4000-5000` or `*` covers a port.
fn covers(part: &str, port: u16) -> bool {
    match part.split_once('-') {
        Some((from, to)) => {
            let ends = (from.trim().parse::<u16>(), to.trim().parse::<u16>());
            matches!(ends, (Ok(from), Ok(to)) if (from..=to).contains(&port))
        }
        None => part == "*" || part.parse() == Ok(port),
    }
}

/// Whether addresses are left out of the redirection; which ones a host has is not known.
fn leaves_addresses_out(context: &Context<'_>) -> bool {
    let mut annotations = context.workload.template.annotations.keys();
    annotations.any(|key| {
        let key = key.to_ascii_lowercase();
        key.contains("excludeoutboundipranges")
            || key.contains("exclude-outbound-cidrs")
            || key.contains("exclude-outbound-ips")
            || key.contains("skip-subnets")
    })
}

fn report(context: &Context<'_>, proxy: &Proxy<'_>, at: usize, used: Used) -> Finding {
    let container = context.container(at);
    let is_dead = proxy.at.is_some() && is_redirected(context, at);
    let where_to = if is_dead {
        "without a network"
    } else {
        "outside the mesh"
    };
    let message = format!(
        "`{}` runs before `{}`: {where_to}",
        container.name, proxy.name
    );
    let text = match is_dead {
        true => format!(
            "redirected to a proxy that does not run yet: {} cannot be reached",
            used.host
        ),
        false => format!("calls {} past the proxy", used.host),
    };
    let mut finding = context.finding(&RULE, message, used.at, used.mark, text);
    finding.container = Some(container.name.clone());
    finding.dependent = Some(container.name.clone());
    finding
        .related
        .extend(proxy.at.map(|proxy| proxy_label(context, at, proxy)));
    finding.because =
        "a classic proxy is an app container: it starts after the last init container, held or not"
            .to_owned();
    if is_dead {
        finding.severity = Severity::Error;
    } else {
        finding.notes.push(
            "where the mesh's CNI plugin redirects from the start, it has no network at all"
                .to_owned(),
        );
    }
    finding.fix = fix(context, proxy);
    finding
}

fn proxy_label(context: &Context<'_>, at: usize, proxy: usize) -> Label {
    let text = format!(
        "starts only after `{}` has exited 0",
        context.container(at).name
    );
    label(context.container(proxy).at.key("name"), Mark::Value, text)
}

/// Only a proxy that is still to come can be asked to come another way.
fn fix(context: &Context<'_>, proxy: &Proxy<'_>) -> Option<crate::finding::Fix> {
    let mesh = proxy.mesh.filter(|_| proxy.at.is_none())?;
    let fix = mesh::native(&context.workload.template, mesh, context.plan.version);
    Some(fix.unwrap_or_else(refused))
}
