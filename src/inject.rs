//! What admission webhooks would add to a pod, from labels, annotations and the target's version.
//!
//! The facts are those of `src/catalog/sidecars.yaml`: which proxy comes, and whether the app waits
//! for it. Only what is said is believed: labels and annotations of the pod and of the run's
//! Namespaces, or the mesh that the user names.

use crate::manifest::parse::parse;
use crate::pod::{KubeVersion, Workload};
use crate::run::Run;
use std::collections::BTreeMap;
use std::fmt;

/// Webhooks that add a sidecar which others need before they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mesh {
    /// Istio.
    Istio,
    /// Linkerd.
    Linkerd,
    /// Kuma and Kong Mesh.
    Kuma,
    /// Consul service mesh.
    Consul,
    /// AWS App Mesh.
    Appmesh,
    /// Open Service Mesh.
    Osm,
    /// Dapr.
    Dapr,
    /// The agent of HashiCorp Vault.
    Vault,
}

impl Mesh {
    /// Those that a user can name for pods that say nothing.
    pub const ASSUMED: [Mesh; 7] = [
        Mesh::Istio,
        Mesh::Linkerd,
        Mesh::Kuma,
        Mesh::Consul,
        Mesh::Appmesh,
        Mesh::Osm,
        Mesh::Dapr,
    ];

    /// The word of the command line and of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Mesh::Istio => "istio",
            Mesh::Linkerd => "linkerd",
            Mesh::Kuma => "kuma",
            Mesh::Consul => "consul",
            Mesh::Appmesh => "appmesh",
            Mesh::Osm => "osm",
            Mesh::Dapr => "dapr",
            Mesh::Vault => "vault",
        }
    }

    /// The name of the container that it adds.
    pub fn container(self) -> &'static str {
        match self {
            Mesh::Istio => "istio-proxy",
            Mesh::Linkerd => "linkerd-proxy",
            Mesh::Kuma => "kuma-sidecar",
            Mesh::Consul => "consul-dataplane",
            Mesh::Appmesh | Mesh::Osm => "envoy",
            Mesh::Dapr => "daprd",
            Mesh::Vault => "vault-agent",
        }
    }

    /// Ports on which its proxy says on loopback whether it is ready.
    pub fn health_ports(self) -> &'static [u16] {
        match self {
            Mesh::Istio => &[15000, 15020, 15021],
            Mesh::Linkerd => &[4191],
            Mesh::Kuma => &[9901, 9902],
            Mesh::Consul => &[19000, 20000, 20600],
            Mesh::Appmesh => &[9901],
            Mesh::Osm => &[15000, 15901],
            Mesh::Dapr => &[3500, 3501],
            Mesh::Vault => &[8200],
        }
    }

    /// Whether the pod's traffic goes through it, that of init containers left out in its classic
    /// mode.
    pub fn redirects(self) -> bool {
        match self {
            Mesh::Istio | Mesh::Linkerd | Mesh::Kuma | Mesh::Consul | Mesh::Appmesh | Mesh::Osm => {
                true
            }
            Mesh::Dapr | Mesh::Vault => false,
        }
    }

    /// The user whose traffic it lets through; a container that runs as it is left out on purpose.
    pub fn own_user(self) -> Option<i64> {
        match self {
            Mesh::Istio | Mesh::Appmesh => Some(1337),
            Mesh::Linkerd => Some(2102),
            Mesh::Kuma => Some(5678),
            Mesh::Consul => Some(5995),
            Mesh::Osm => Some(1500),
            Mesh::Dapr | Mesh::Vault => None,
        }
    }

    /// Whether its webhook never looks at the pods of a namespace.
    fn leaves_alone(self, namespace: &str) -> bool {
        match self {
            Mesh::Istio => matches!(
                namespace,
                "kube-system" | "kube-public" | "kube-node-lease" | "local-path-storage"
            ),
            Mesh::Linkerd => matches!(namespace, "kube-system" | "cert-manager"),
            Mesh::Kuma | Mesh::Consul | Mesh::Appmesh | Mesh::Osm | Mesh::Dapr | Mesh::Vault => {
                namespace == "kube-system"
            }
        }
    }

    const ALL: [Mesh; 8] = [
        Mesh::Istio,
        Mesh::Linkerd,
        Mesh::Kuma,
        Mesh::Consul,
        Mesh::Appmesh,
        Mesh::Osm,
        Mesh::Dapr,
        Mesh::Vault,
    ];
}

impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mesh::Istio => "Istio",
            Mesh::Linkerd => "Linkerd",
            Mesh::Kuma => "Kuma",
            Mesh::Consul => "Consul",
            Mesh::Appmesh => "App Mesh",
            Mesh::Osm => "Open Service Mesh",
            Mesh::Dapr => "Dapr",
            Mesh::Vault => "Vault",
        })
    }
}

/// Who says that it will be injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaidBy {
    /// A label of the pod.
    Label(String),
    /// An annotation of the pod.
    Annotation(String),
    /// A label or an annotation of the Namespace, `key: value`.
    Namespace {
        /// The Namespace.
        name: String,
        /// What it says.
        entry: String,
    },
    /// `--assume-mesh`.
    Flag,
}

/// What holds the app containers until the injected sidecar serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedGate {
    /// It is a native sidecar with a startupProbe: init containers have it, too.
    Native,
    /// A postStart hook, or an init twin: app containers only.
    Held,
    /// Nothing, and an annotation could change that.
    Open,
    /// Nothing, and there is no way to ask for it in a pod.
    Impossible,
}

/// A sidecar that a webhook will add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// Whose webhook.
    pub mesh: Mesh,
    /// Who says so.
    pub by: SaidBy,
    /// What holds the app containers.
    pub gate: InjectedGate,
    /// The annotation that switches the gate off, when one does.
    pub switched_off_by: Option<&'static str>,
}

/// What webhooks will add to the pods of a workload of a source.
pub fn injected(
    run: &Run,
    (workload, source): (&Workload, usize),
    assumed: Option<Mesh>,
    version: KubeVersion,
) -> Vec<Injected> {
    let pod = Pod::of(run, workload, source, version);
    if workload.template.host_network || workload.origin.is_admitted {
        return Vec::new();
    }
    let each = Mesh::ALL.into_iter().filter_map(|mesh| {
        let flag = (assumed == Some(mesh)).then_some(SaidBy::Flag);
        let by = match pod.says(mesh) {
            _ if mesh.leaves_alone(pod.namespace) => None,
            Say::Yes(by) => Some(by),
            Say::No => None,
            Say::Nothing => flag,
        }?;
        let (gate, switched_off_by) = pod.gate(mesh);
        let is_there = pod.has_container(mesh);
        (!is_there).then_some(Injected {
            mesh,
            by,
            gate,
            switched_off_by,
        })
    });
    each.collect()
}

/// What labels and annotations say about an injection.
enum Say {
    Yes(SaidBy),
    No,
    Nothing,
}

type Words = BTreeMap<String, String>;

struct Pod<'p> {
    workload: &'p Workload,
    version: KubeVersion,
    namespace: &'p str,
    space: Option<(&'p Words, &'p Words)>,
}

impl<'p> Pod<'p> {
    fn of(run: &'p Run, workload: &'p Workload, source: usize, version: KubeVersion) -> Pod<'p> {
        let namespace = run.namespace_of(&workload.object);
        Pod {
            workload,
            version,
            namespace,
            space: run
                .namespace(namespace, source)
                .map(|space| (&space.labels, &space.annotations)),
        }
    }

    fn label(&self, key: &str) -> Option<&'p str> {
        let value = self.workload.template.labels.get(key)?;
        Some(value.as_str())
    }

    fn annotation(&self, key: &str) -> Option<&'p str> {
        let value = self.workload.template.annotations.get(key)?;
        Some(value.as_str())
    }

    /// An annotation of the pod, else of its Namespace.
    fn inherited(&self, key: &str) -> Option<&'p str> {
        let space = || Some(self.space?.1.get(key)?.as_str());
        self.annotation(key).or_else(space)
    }

    /// A label or an annotation of the Namespace.
    fn of_space(&self, key: &str) -> Option<&'p str> {
        let (labels, annotations) = self.space?;
        let value = labels.get(key).or_else(|| annotations.get(key))?;
        Some(value.as_str())
    }

    fn says(&self, mesh: Mesh) -> Say {
        match mesh {
            Mesh::Istio => self.says_istio(),
            Mesh::Linkerd => self.by_key("linkerd.io/inject"),
            Mesh::Kuma => self.by_key("kuma.io/sidecar-injection"),
            Mesh::Consul => self.by_key("consul.hashicorp.com/connect-inject"),
            Mesh::Appmesh => self.by_key("appmesh.k8s.aws/sidecarInjectorWebhook"),
            Mesh::Osm => self.by_key("openservicemesh.io/sidecar-injection"),
            Mesh::Dapr => self.by_key("dapr.io/enabled"),
            Mesh::Vault => self.by_key("vault.hashicorp.com/agent-inject"),
        }
    }

    /// One key, as a label or an annotation: the pod's own word counts before its Namespace's.
    fn by_key(&self, key: &str) -> Say {
        if let Some(value) = self.label(key) {
            return if is_on(value) {
                Say::Yes(SaidBy::Label(key.to_owned()))
            } else {
                Say::No
            };
        }
        if let Some(value) = self.annotation(key) {
            return if is_on(value) {
                Say::Yes(SaidBy::Annotation(key.to_owned()))
            } else {
                Say::No
            };
        }
        match self.of_space(key) {
            Some(value) if is_on(value) => Say::Yes(self.space_says(key, value)),
            Some(_) => Say::No,
            None => Say::Nothing,
        }
    }

    fn space_says(&self, key: &str, value: &str) -> SaidBy {
        SaidBy::Namespace {
            name: self.namespace.to_owned(),
            entry: format!("{key}: {value}"),
        }
    }

    fn says_istio(&self) -> Say {
        const INJECT: &str = "sidecar.istio.io/inject";
        const REVISION: &str = "istio.io/rev";
        let is_done = self.annotation("sidecar.istio.io/status").is_some();
        let is_gateway = self.annotation("inject.istio.io/templates").is_some();
        let mode = "istio.io/dataplane-mode";
        let is_ambient = self.label(mode).or_else(|| self.of_space(mode)) == Some("ambient");
        if is_done || is_gateway {
            return Say::No;
        }
        match self.by_key(INJECT) {
            Say::Nothing => {}
            said @ (Say::Yes(_) | Say::No) => return said,
        }
        if is_ambient {
            return Say::No;
        }
        if self.label(REVISION).is_some() {
            return Say::Yes(SaidBy::Label(REVISION.to_owned()));
        }
        match self.of_space("istio-injection") {
            Some("enabled") => Say::Yes(self.space_says("istio-injection", "enabled")),
            Some(_) => Say::No,
            None => match self.of_space(REVISION) {
                Some(revision) => Say::Yes(self.space_says(REVISION, revision)),
                None => Say::Nothing,
            },
        }
    }

    /// What holds the app containers, and the annotation that says no to it.
    fn gate(&self, mesh: Mesh) -> (InjectedGate, Option<&'static str>) {
        match mesh {
            Mesh::Istio => self.istio_gate(),
            Mesh::Linkerd => self.linkerd_gate(),
            Mesh::Kuma => (
                held(
                    self.inherited("kuma.io/wait-for-dataplane-ready")
                        .is_some_and(is_on),
                ),
                None,
            ),
            Mesh::Consul => self.consul_gate(),
            Mesh::Appmesh | Mesh::Osm | Mesh::Dapr => (InjectedGate::Impossible, None),
            Mesh::Vault => self.vault_gate(),
        }
    }

    fn istio_gate(&self) -> (InjectedGate, Option<&'static str>) {
        let native = self.annotation("sidecar.istio.io/nativeSidecar").map(is_on);
        let can = self.version.has_native_sidecars();
        if can && native.unwrap_or(self.version >= KubeVersion::minor(33)) {
            return (InjectedGate::Native, None);
        }
        let config = self.annotation("proxy.istio.io/config");
        (held(config.is_some_and(holds_application)), None)
    }

    fn linkerd_gate(&self) -> (InjectedGate, Option<&'static str>) {
        const AWAIT: &str = "config.linkerd.io/proxy-await";
        if self.inherited(AWAIT).is_some_and(|value| !is_on(value)) {
            return (InjectedGate::Open, Some(AWAIT));
        }
        let keys = [
            "config.linkerd.io/proxy-enable-native-sidecar",
            "config.beta.linkerd.io/proxy-enable-native-sidecar",
            "config.alpha.linkerd.io/proxy-enable-native-sidecar",
        ];
        let native = keys.iter().find_map(|key| self.inherited(key)).map(is_on);
        match self.version.has_native_sidecars() && native.unwrap_or(true) {
            true => (InjectedGate::Native, None),
            false => (InjectedGate::Held, None),
        }
    }

    fn consul_gate(&self) -> (InjectedGate, Option<&'static str>) {
        const LIFECYCLE: &str = "consul.hashicorp.com/enable-sidecar-proxy-lifecycle";
        let native = self.annotation("consul.hashicorp.com/enable-consul-dataplane-as-sidecar");
        if self.version.has_native_sidecars() && native.is_some_and(is_on) {
            return (InjectedGate::Native, None);
        }
        let is_off = self
            .annotation(LIFECYCLE)
            .is_some_and(|value| !is_on(value));
        (held(!is_off), is_off.then_some(LIFECYCLE))
    }

    fn vault_gate(&self) -> (InjectedGate, Option<&'static str>) {
        const POPULATE: &str = "vault.hashicorp.com/agent-pre-populate";
        let only = self.annotation("vault.hashicorp.com/agent-pre-populate-only");
        let is_off = self.annotation(POPULATE).is_some_and(|value| !is_on(value));
        let is_open = is_off && !only.is_some_and(is_on);
        (held(!is_open), is_open.then_some(POPULATE))
    }

    /// Whether the manifest holds the container already: what stands there counts.
    fn has_container(&self, mesh: Mesh) -> bool {
        let found = self.workload.template.container(mesh.container());
        // An injector fills in the image of a placeholder.
        found.is_some_and(|(_, container)| container.image.as_deref() != Some("auto"))
    }
}

fn held(is_held: bool) -> InjectedGate {
    match is_held {
        true => InjectedGate::Held,
        false => InjectedGate::Open,
    }
}

/// Whether the value of a label or annotation says yes, as one of these webhooks reads it.
fn is_on(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    [
        "true", "enabled", "enable", "yes", "y", "on", "1", "ingress",
    ]
    .contains(&value.as_str())
}

/// Whether a proxy's configuration, as YAML or JSON, asks Istio to hold the application.
fn holds_application(config: &str) -> bool {
    let parsed = parse("annotation", config);
    let roots = parsed
        .documents
        .iter()
        .filter_map(|document| document.root());
    let value = |root: crate::manifest::Node<'_>| {
        root.get("holdApplicationUntilProxyStarts")
            .is_some_and(|value| value.bool() == Some(true) || value.text() == Some("true"))
    };
    roots.into_iter().any(value)
}

#[cfg(test)]
mod tests;
