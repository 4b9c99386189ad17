//! The pod template and its containers, without any place in a text.

use super::odd::OddField;
use super::probe::{Action, PortRef, Probe, strings, whole_seconds};
use crate::manifest::{FieldPath, Node};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the kubelet takes a container for, by its list and its restart policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// In `initContainers`: the next container waits until it has exited with 0.
    Init,
    /// In `initContainers` with `restartPolicy: Always`: a native sidecar (S6).
    Sidecar,
    /// In `containers`.
    App,
    /// In `ephemeralContainers`: live pods only, never part of a plan.
    Ephemeral,
}

impl Role {
    /// The list of the pod spec that holds it.
    pub fn list(self) -> &'static str {
        match self {
            Role::Init | Role::Sidecar => "initContainers",
            Role::App => "containers",
            Role::Ephemeral => "ephemeralContainers",
        }
    }

    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Role::Init => "init",
            Role::Sidecar => "sidecar",
            Role::App => "app",
            Role::Ephemeral => "ephemeral",
        }
    }
}

/// The pod's restart policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartPolicy {
    /// The default.
    Always,
    /// Restart after a failure only.
    OnFailure,
    /// Never restart.
    Never,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: String,
    /// Its value as it is written; none when it comes from elsewhere.
    pub value: Option<String>,
    /// The ConfigMap or Secret key that it comes from.
    pub from: Option<KeyRef>,
    /// The pod field that it comes from, such as `status.podIP`.
    pub field: Option<String>,
    /// Where it stands when that is not the container's own list.
    pub at: Option<FieldPath>,
}

/// A key of a ConfigMap or Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRef {
    /// A Secret rather than a ConfigMap.
    pub secret: bool,
    /// The object's name.
    pub name: String,
    /// The key; empty for all keys (`envFrom`).
    pub key: String,
    /// What `envFrom` puts before each key.
    pub prefix: String,
}

/// A port that a container declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: Option<String>,
    /// `containerPort`.
    pub number: u16,
}

/// A volume that a container mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The volume's name.
    pub volume: String,
    /// Where it is mounted.
    pub path: String,
    /// `subPath`, if only a part is mounted.
    pub sub_path: Option<String>,
    /// Mounted read-only.
    pub read_only: bool,
}

/// Where a volume's content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// Empty when the pod starts.
    EmptyDir,
    /// A folder of the node.
    HostPath(String),
    /// A claim, or a template of one.
    Claim(String),
    /// A ConfigMap's keys as files.
    ConfigMap(String),
    /// A Secret's keys as files.
    Secret(String),
    /// A CSI driver: the kubelet waits until it is mounted.
    Csi(String),
    /// Any other source, by its field name.
    Other(String),
}

/// A volume of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// Where its content comes from.
    pub source: VolumeSource,
    /// The keys of ConfigMaps and Secrets that it shows as files, those of a projected volume
    /// included.
    pub files: Vec<KeyFiles>,
}

/// Keys of one ConfigMap or Secret as files of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFiles {
    /// A Secret rather than a ConfigMap.
    pub secret: bool,
    /// The object's name.
    pub name: String,
    /// The keys with their paths in the volume (`items`); empty when all keys are files of their
    /// own names.
    pub items: Vec<(String, String)>,
}

/// One container of a pod template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name; empty when it has none.
    pub name: String,
    /// What the kubelet takes it for.
    pub role: Role,
    /// Where it stands in the document.
    pub at: FieldPath,
    /// The image, tag included.
    pub image: Option<String>,
    /// `command`: replaces the image's entrypoint.
    pub command: Vec<String>,
    /// `args`: replaces the image's command.
    pub args: Vec<String>,
    /// `env`.
    pub env: Vec<EnvVar>,
    /// `envFrom`, each with an empty key.
    pub env_from: Vec<KeyRef>,
    /// `ports`.
    pub ports: Vec<Port>,
    /// `volumeMounts`.
    pub mounts: Vec<Mount>,
    /// `startupProbe`.
    pub startup: Option<Box<Probe>>,
    /// `readinessProbe`.
    pub readiness: Option<Box<Probe>>,
    /// `livenessProbe`.
    pub liveness: Option<Box<Probe>>,
    /// `lifecycle.postStart`.
    pub post_start: Option<Action>,
    /// `lifecycle.preStop`.
    pub pre_stop: Option<Action>,
    /// `restartPolicy` as it is written.
    pub restart_policy: Option<String>,
    /// Whether it has `restartPolicyRules`.
    pub has_restart_rules: bool,
    /// `securityContext.runAsUser`.
    pub run_as_user: Option<i64>,
    /// Containers that another controller waits for before it lets this one work: Tekton's ready
    /// sidecars and earlier steps, `dependencies` of an Argo container set.
    pub started_after: Vec<String>,
    /// The field with the script that its command runs, where its kind has one: the last word of the
    /// command stands there.
    pub script: Option<FieldPath>,
}

impl Container {
    /// The number of a port that is given by number or by one of this container's names.
    pub fn port_number(&self, port: &PortRef) -> Option<u16> {
        match port {
            PortRef::Number(number) => Some(*number),
            PortRef::Name(name) => self
                .ports
                .iter()
                .find(|port| port.name.as_ref() == Some(name))
                .map(|port| port.number),
        }
    }

    /// Whether it is marked like a native sidecar and stands in the wrong list.
    pub fn is_misplaced_sidecar(&self) -> bool {
        self.role == Role::App
            && self.restart_policy.as_deref() == Some("Always")
            && !self.has_restart_rules
    }

    /// Its startup, readiness and liveness probes, each with its field.
    pub fn probes(&self) -> impl Iterator<Item = (&'static str, &Probe)> {
        let all = [
            ("startupProbe", &self.startup),
            ("readinessProbe", &self.readiness),
            ("livenessProbe", &self.liveness),
        ];
        all.into_iter()
            .filter_map(|(field, probe)| Some((field, probe.as_deref()?)))
    }

    /// `command` and `args` one after the other, as the runtime runs them.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.command.iter().chain(&self.args).map(String::as_str)
    }

    pub(super) fn read(node: Node<'_>, list: Role, at: FieldPath) -> Container {
        let text = |key: &str| node.get(key).and_then(Node::string).map(str::to_owned);
        let list_of = |key: &str| node.get(key).map(strings).unwrap_or_default();
        let probe = |key: &str| node.get(key).and_then(Probe::read).map(Box::new);
        let hook = |key: &str| {
            node.find(&["lifecycle", key])
                .filter(|hook| hook.is_mapping())
                .map(Action::read)
        };
        let restart_policy = text("restartPolicy");
        let is_sidecar = list == Role::Init && restart_policy.as_deref() == Some("Always");
        Container {
            name: text("name").unwrap_or_default(),
            role: if is_sidecar { Role::Sidecar } else { list },
            at,
            image: text("image").filter(|image| !image.is_empty()),
            command: list_of("command"),
            args: list_of("args"),
            env: each(node, "env", read_env),
            env_from: each(node, "envFrom", read_env_from),
            ports: each(node, "ports", read_port),
            mounts: each(node, "volumeMounts", read_mount),
            startup: probe("startupProbe"),
            readiness: probe("readinessProbe"),
            liveness: probe("livenessProbe"),
            post_start: hook("postStart"),
            pre_stop: hook("preStop"),
            restart_policy,
            has_restart_rules: node
                .get("restartPolicyRules")
                .is_some_and(Node::is_sequence),
            run_as_user: node
                .find(&["securityContext", "runAsUser"])
                .and_then(Node::int),
            started_after: Vec::new(),
            script: None,
        }
    }
}

fn text(node: Node<'_>, key: &str) -> Option<String> {
    node.get(key)?.string().map(str::to_owned)
}

/// Reads the items of a list, one value for each item so that positions stay those of the text.
fn each<T>(node: Node<'_>, key: &str, read: fn(Node<'_>) -> T) -> Vec<T> {
    let Some(list) = node.get(key) else {
        return Vec::new();
    };
    // Templates live as long as the run: none takes more room than it needs.
    let mut all = Vec::with_capacity(list.items().count());
    all.extend(list.items().map(read));
    all
}

pub(super) fn read_env(node: Node<'_>) -> EnvVar {
    let source = node.get("valueFrom");
    let key = |field: &str, secret| {
        let reference = source?.get(field)?;
        let (name, key) = (text(reference, "name")?, text(reference, "key")?);
        Some(KeyRef {
            secret,
            name,
            key,
            prefix: String::new(),
        })
    };
    EnvVar {
        name: text(node, "name").unwrap_or_default(),
        value: text(node, "value"),
        from: key("configMapKeyRef", false).or_else(|| key("secretKeyRef", true)),
        field: source.and_then(|source| {
            source
                .find(&["fieldRef", "fieldPath"])?
                .string()
                .map(str::to_owned)
        }),
        at: None,
    }
}

fn read_env_from(node: Node<'_>) -> KeyRef {
    let secret = node.get("secretRef");
    let reference = node.get("configMapRef").or(secret);
    KeyRef {
        secret: secret.is_some(),
        name: reference
            .and_then(|reference| text(reference, "name"))
            .unwrap_or_default(),
        key: String::new(),
        prefix: text(node, "prefix").unwrap_or_default(),
    }
}

fn read_port(node: Node<'_>) -> Port {
    let number = node
        .get("containerPort")
        .and_then(Node::int)
        .and_then(|number| u16::try_from(number).ok());
    Port {
        name: text(node, "name"),
        number: number.unwrap_or(0),
    }
}

fn read_mount(node: Node<'_>) -> Mount {
    Mount {
        volume: text(node, "name").unwrap_or_default(),
        path: text(node, "mountPath").unwrap_or_default(),
        sub_path: text(node, "subPath"),
        read_only: node.get("readOnly").and_then(Node::bool).unwrap_or(false),
    }
}

fn read_volume(node: Node<'_>) -> Volume {
    let name_of = |source: Node<'_>, key: &str| text(source, key).unwrap_or_default();
    let source = node.entries().into_iter().find(|(key, _)| *key != "name");
    let source = match source {
        None | Some(("emptyDir", _)) => VolumeSource::EmptyDir,
        Some(("hostPath", source)) => VolumeSource::HostPath(name_of(source, "path")),
        Some(("persistentVolumeClaim", source)) => {
            VolumeSource::Claim(name_of(source, "claimName"))
        }
        Some(("ephemeral", _)) => VolumeSource::Claim(String::new()),
        Some(("configMap", source)) => VolumeSource::ConfigMap(name_of(source, "name")),
        Some(("secret", source)) => VolumeSource::Secret(name_of(source, "secretName")),
        Some(("csi", source)) => VolumeSource::Csi(name_of(source, "driver")),
        Some((other, _)) => VolumeSource::Other(other.to_owned()),
    };
    Volume {
        name: text(node, "name").unwrap_or_default(),
        source,
        files: read_key_files(node),
    }
}

/// The keys that a volume shows, itself or by the sources of a projected one.
fn read_key_files(volume: Node<'_>) -> Vec<KeyFiles> {
    let projected = volume.find(&["projected", "sources"]);
    let sources = std::iter::once(volume).chain(projected.into_iter().flat_map(Node::items));
    let files = sources.flat_map(|source| {
        let map = source.get("configMap").map(|map| (false, map));
        let secret = source.get("secret").map(|secret| (true, secret));
        map.into_iter().chain(secret)
    });
    files
        .map(|(secret, source)| KeyFiles {
            secret,
            // A projected source calls it `name`, a Secret volume `secretName`.
            name: text(source, "name")
                .or_else(|| text(source, "secretName"))
                .unwrap_or_default(),
            items: each(source, "items", |item| {
                let key = text(item, "key").unwrap_or_default();
                let path = text(item, "path").unwrap_or_else(|| key.clone());
                (key, path)
            }),
        })
        .collect()
}

/// The pod that a workload creates, or a pod itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodTemplate {
    /// Where the mapping with `metadata` and `spec` stands.
    pub at: FieldPath,
    /// Where the pod spec stands: mostly `at` and `spec`.
    pub spec_at: FieldPath,
    /// Whether the template has a `metadata` mapping.
    pub has_metadata: bool,
    /// Labels of the pod.
    pub labels: BTreeMap<String, String>,
    /// Annotations of the pod.
    pub annotations: BTreeMap<String, String>,
    /// The pod's restart policy.
    pub restart_policy: RestartPolicy,
    /// Whether the manifest names the restart policy.
    pub has_restart_policy: bool,
    /// `terminationGracePeriodSeconds`, 30 s by default.
    pub grace: Duration,
    /// Whether the manifest sets the grace period.
    pub has_grace: bool,
    /// `hostNetwork`.
    pub host_network: bool,
    /// `shareProcessNamespace`.
    pub shares_processes: bool,
    /// `serviceAccountName`, `default` by default.
    pub service_account: String,
    /// Volumes of the pod.
    pub volumes: Vec<Volume>,
    /// In the kubelet's order: the init list, then the app list; last ephemeral ones.
    pub containers: Vec<Container>,
    /// A patch or an override: nothing is concluded from what is absent.
    pub is_partial: bool,
    /// Its controller stops the other containers once the main one has ended (Argo, Tekton).
    pub ends_sidecars: bool,
    /// Fields that look like fields of the start order and are none.
    pub odd_fields: Vec<OddField>,
}

/// A container's mapping and its place, before it is read.
pub(super) struct Part<'d> {
    pub(super) node: Node<'d>,
    pub(super) at: FieldPath,
    pub(super) role: Role,
}

/// The mappings of a list of containers.
pub(super) fn parts<'d>(
    holder: Node<'d>,
    at: &FieldPath,
    list: &'static str,
    role: Role,
) -> impl Iterator<Item = Part<'d>> {
    let list_at = at.key(list);
    let items = holder.get(list).into_iter().flat_map(Node::items);
    let mappings = items.enumerate().filter(|(_, item)| item.is_mapping());
    mappings.map(move |(index, node)| Part {
        node,
        at: list_at.index(index),
        role,
    })
}

impl PodTemplate {
    /// Reads a pod spec; `owner` is the mapping that holds it beside its metadata.
    pub fn read(owner: Node<'_>, at: FieldPath, spec: Node<'_>, spec_at: FieldPath) -> PodTemplate {
        let lists = [
            ("initContainers", Role::Init),
            ("containers", Role::App),
            ("ephemeralContainers", Role::Ephemeral),
        ];
        let parts = lists.map(|(list, role)| parts(spec, &spec_at, list, role));
        let parts: Vec<Part<'_>> = parts.into_iter().flatten().collect();
        let containers = parts
            .into_iter()
            .map(|part| Container::read(part.node, part.role, part.at))
            .collect();
        PodTemplate::of(owner, at, spec, spec_at, containers)
    }

    /// The template around containers that were read already.
    pub(super) fn of(
        owner: Node<'_>,
        at: FieldPath,
        spec: Node<'_>,
        spec_at: FieldPath,
        containers: Vec<Container>,
    ) -> PodTemplate {
        let policy = spec.get("restartPolicy").and_then(Node::string);
        let flag = |key: &str| spec.get(key).and_then(Node::bool).unwrap_or(false);
        let grace = spec
            .get("terminationGracePeriodSeconds")
            .and_then(Node::int);
        PodTemplate {
            has_metadata: owner.get("metadata").is_some_and(Node::is_mapping),
            labels: words(owner.find(&["metadata", "labels"])),
            annotations: words(owner.find(&["metadata", "annotations"])),
            restart_policy: match policy {
                Some("Never") => RestartPolicy::Never,
                Some("OnFailure") => RestartPolicy::OnFailure,
                _ => RestartPolicy::Always,
            },
            has_restart_policy: policy.is_some(),
            grace: whole_seconds(grace.unwrap_or(30)),
            has_grace: grace.is_some(),
            host_network: flag("hostNetwork"),
            shares_processes: flag("shareProcessNamespace"),
            service_account: text(spec, "serviceAccountName")
                .or_else(|| text(spec, "serviceAccount"))
                .unwrap_or_else(|| "default".to_owned()),
            volumes: each(spec, "volumes", read_volume),
            is_partial: containers.iter().any(|container| container.image.is_none()),
            containers,
            at,
            spec_at,
            ends_sidecars: false,
            odd_fields: Vec::new(),
        }
    }

    /// The container with this name, and its place in the kubelet's order.
    pub fn container(&self, name: &str) -> Option<(usize, &Container)> {
        self.containers
            .iter()
            .enumerate()
            .find(|(_, container)| container.name == name)
    }

    /// The volume with this name.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.name == name)
    }
}

/// A mapping of strings, such as labels.
pub(super) fn words(node: Option<Node<'_>>) -> BTreeMap<String, String> {
    let entries = node.map(Node::entries).unwrap_or_default();
    entries
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value.text()?.to_owned())))
        .collect()
}
