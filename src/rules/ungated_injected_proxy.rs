//! A webhook will add a proxy that nothing holds the app back for.

use super::context::{label, refused};
use super::{Check, Context, Rule};
use crate::cure::mesh;
use crate::finding::{Finding, FixSafety, Label, Severity};
use crate::inject::{Injected, InjectedGate, Mesh, SaidBy, injected};
use crate::manifest::Mark;
use crate::plan::Target;
use crate::plan::profile::Profile;
use crate::pod::{Container, Role};

pub(super) static RULE: Rule = Rule {
    id: "ungated-injected-proxy",
    summary: "a proxy will be injected, and the app can start before it serves",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A webhook adds the proxy when the pod is made, so the manifest does not show it. A classic Istio proxy is a \
          plain container listed last: the app starts first, and its first calls fail. Istio makes it a native sidecar \
          where every kubelet is 1.33 or later, Linkerd holds the app by default.",
    facts: &["S1", "S2", "S6"],
    cure: "The mesh's own annotation: hold the application (Istio), await the proxy (Linkerd), wait for the data plane \
           (Kuma), the proxy's lifecycle (Consul), pre-populate (Vault).",
    silent: "A gate is asked for, or on by default at the target's version; injection is off for the pod; the app's \
             own command waits for the proxy. Only info for Dapr, App Mesh and Open Service Mesh, which have no gate \
             that a pod could ask for.",
    example: include_str!("../../testdata/rules/ungated-injected-proxy/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    if template.is_partial {
        return;
    }
    let version = context.plan.version;
    for found in injected(
        context.run,
        (context.workload, context.source),
        context.mesh,
        version,
    ) {
        let is_open = matches!(found.gate, InjectedGate::Open | InjectedGate::Impossible);
        let app = template.containers.iter().enumerate().find(|(at, one)| {
            one.role == Role::App
                && one.name != found.mesh.container()
                && needs(context, *at, found.mesh)
        });
        if let (true, Some((_, app))) = (is_open, app) {
            findings.push(report(context, &found, app));
        }
    }
}

/// Whether a container needs the network: all do, but those that visibly use none or that wait for
/// the proxy themselves.
fn needs(context: &Context<'_>, at: usize, mesh: Mesh) -> bool {
    if is_pause(context.container(at)) {
        return false;
    }
    let Some(profile) = context.profiles.get(at) else {
        return true;
    };
    !profile.is_offline() && !waits_for(profile, mesh)
}

/// The image that does nothing: the injected proxy is all that such a pod is for.
fn is_pause(container: &Container) -> bool {
    let image = container.image.as_deref().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    last.split([':', '@']).next() == Some("pause")
}

fn waits_for(profile: &Profile<'_>, mesh: Mesh) -> bool {
    profile.waits().any(|wait| match &wait.target {
        Target::Address(address) => {
            let port = address.port_or_default();
            address.is_loopback() && port.is_some_and(|port| mesh.health_ports().contains(&port))
        }
        Target::Dns { .. } | Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            false
        }
    })
}

fn report(context: &Context<'_>, found: &Injected, app: &Container) -> Finding {
    let proxy = found.mesh.container();
    let message = format!(
        "`{proxy}` will be injected, and `{}` can start before it serves",
        app.name
    );
    let primary = said_by(context, found, app);
    let mut finding = context.finding(&RULE, message, primary.at, primary.mark, primary.text);
    finding.dependent = Some(app.name.clone());
    finding.related.extend(switched_off(context, found));
    finding.because = because(context, found);
    if found.gate == InjectedGate::Impossible {
        finding.severity = Severity::Info;
        finding.notes.push(format!(
            "{} has no gate that a pod could ask for",
            found.mesh
        ));
        return finding;
    }
    let fix = mesh::gate(&context.workload.template, found);
    finding.fix = Some(fix.unwrap_or_else(refused));
    finding
}

/// The label of what asks for the injection; `app` is marked when nothing of the pod does.
pub(super) fn said_by(context: &Context<'_>, found: &Injected, app: &Container) -> Label {
    let metadata = context.workload.template.at.key("metadata");
    let adds = format!("{} adds `{}`", found.mesh, found.mesh.container());
    match &found.by {
        SaidBy::Label(key) => label(metadata.key("labels").key(key.clone()), Mark::Entry, adds),
        SaidBy::Annotation(key) => label(
            metadata.key("annotations").key(key.clone()),
            Mark::Entry,
            adds,
        ),
        SaidBy::Namespace { name, entry } => {
            let text = format!("Namespace `{name}` says {entry}");
            match context.workload.object.namespace {
                Some(_) => {
                    let at = context.workload.at.keys(&["metadata", "namespace"]);
                    label(at, Mark::Value, text)
                }
                None => label(app.at.key("name"), Mark::Value, text),
            }
        }
        SaidBy::Flag => {
            let text = format!(
                "starts before the proxy that --assume-mesh {} means",
                found.mesh.word()
            );
            label(app.at.key("name"), Mark::Value, text)
        }
    }
}

/// The annotation that switches the gate off.
fn switched_off(context: &Context<'_>, found: &Injected) -> Option<Label> {
    let key = found.switched_off_by?;
    let template = &context.workload.template;
    template.annotations.get(key)?;
    let at = template.at.keys(&["metadata", "annotations"]).key(key);
    Some(label(at, Mark::Entry, "switches the gate off"))
}

fn because(context: &Context<'_>, found: &Injected) -> String {
    let version = context.plan.version;
    match found.mesh {
        Mesh::Istio => format!(
            "at Kubernetes {version} Istio adds its proxy as a plain container listed last, unless it is told to hold the application"
        ),
        Mesh::Linkerd => "without proxy-await Linkerd's proxy holds nobody, native sidecar or not".to_owned(),
        Mesh::Kuma => "Kuma adds its proxy as a plain container that nobody waits for, unless the pod asks for it".to_owned(),
        Mesh::Consul => "with its lifecycle off Consul's proxy is a plain container that nobody waits for".to_owned(),
        Mesh::Vault => "without pre-populate Vault's agent renders beside the app, not before it".to_owned(),
        Mesh::Appmesh | Mesh::Osm | Mesh::Dapr => format!(
            "{} adds its sidecar as a container that nobody waits for",
            found.mesh
        ),
    }
}
