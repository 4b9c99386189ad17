//! The objects of a document that matter for start order, and where each keeps its pod templates.

use super::origin::Origin;
use super::probe::PortRef;
use super::rbac::{AccessRole, Binding};
use super::template::{PodTemplate, words};
use super::{kinds, shape};
use crate::manifest::{Document, FieldPath, Node};
use std::collections::BTreeMap;

/// Who an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// `apiVersion`; empty when it is missing.
    pub api_version: String,
    /// `kind`; empty when it is missing.
    pub kind: String,
    /// `metadata.namespace`, if it is written.
    pub namespace: Option<String>,
    /// `metadata.name`; `x-*` for `generateName: x-`.
    pub name: String,
}

impl ObjectRef {
    pub(super) fn read(node: Node<'_>) -> ObjectRef {
        let text = |keys: &[&str]| node.find(keys).and_then(Node::string).map(str::to_owned);
        let generated = || text(&["metadata", "generateName"]).map(|prefix| format!("{prefix}*"));
        ObjectRef {
            api_version: text(&["apiVersion"]).unwrap_or_default(),
            kind: text(&["kind"]).unwrap_or_default(),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"])
                .or_else(generated)
                .unwrap_or_default(),
        }
    }

    /// Whether it is one of Kubernetes' own kinds that hold a pod.
    pub fn is_built_in(&self) -> bool {
        let group = self.api_version.split_once('/').map(|(group, _)| group);
        match self.kind.as_str() {
            "Pod" | "PodTemplate" | "ReplicationController" => group.is_none(),
            "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet" => {
                matches!(group, Some("apps" | "extensions"))
            }
            "Job" | "CronJob" => group == Some("batch"),
            _ => false,
        }
    }

    /// The namespace that the object lands in when nobody says otherwise.
    pub fn namespace_or_default(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }
}

/// An object that creates pods, with one of its pod templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Who it is.
    pub object: ObjectRef,
    /// Where the object stands in its document: the root, or an item of a List.
    pub at: FieldPath,
    /// Annotations of the object itself.
    pub annotations: BTreeMap<String, String>,
    /// What a live object says of where it comes from.
    pub origin: Origin,
    /// The pod that it creates.
    pub template: PodTemplate,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// Its name.
    pub name: Option<String>,
    /// The port that clients dial.
    pub port: u16,
    /// The port of the pod; the same number when it is not written.
    pub target: PortRef,
}

/// A Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Who it is.
    pub object: ObjectRef,
    /// The labels of the pods behind it; empty when somebody else keeps its endpoints.
    pub selector: BTreeMap<String, String>,
    /// Its ports.
    pub ports: Vec<ServicePort>,
    /// `clusterIP: None`.
    pub is_headless: bool,
    /// `type: ExternalName`.
    pub is_external: bool,
    /// `publishNotReadyAddresses`.
    pub publishes_unready: bool,
    /// Where it stands in its document.
    pub at: FieldPath,
}

impl ConfigMap {
    /// The field whose keys pods read as text. The `data` of a Secret is encoded and stays unread,
    /// and so does `binaryData`.
    pub fn data_at(&self) -> FieldPath {
        self.at
            .key(if self.is_secret { "stringData" } else { "data" })
    }
}

impl Service {
    /// Whether the pods of a workload are behind it; namespaces are the caller's affair.
    pub fn selects(&self, workload: &Workload) -> bool {
        let labels = &workload.template.labels;
        let mut selector = self.selector.iter();
        !self.selector.is_empty() && selector.all(|(key, value)| labels.get(key) == Some(value))
    }
}

/// A Namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

/// A ConfigMap, or a Secret with plain text in it; the data stays in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMap {
    /// Who it is.
    pub object: ObjectRef,
    /// It is a Secret: no value of it may be shown.
    pub is_secret: bool,
    /// Where it stands in its document.
    pub at: FieldPath,
}

/// Endpoints that somebody keeps by hand: an Endpoints or EndpointSlice object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Who it is; the name is the Service's.
    pub object: ObjectRef,
}

/// An object that the order model or a rule looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// Something that creates pods.
    Workload(Box<Workload>),
    /// A Service.
    Service(Service),
    /// A Namespace.
    Namespace(Namespace),
    /// A ConfigMap, or a Secret with plain text.
    ConfigMap(ConfigMap),
    /// Endpoints of a Service.
    Endpoints(Endpoints),
    /// A Role or ClusterRole.
    Role(AccessRole),
    /// A RoleBinding or ClusterRoleBinding.
    Binding(Binding),
}

impl Object {
    /// The workload, if it is one.
    pub fn workload(&self) -> Option<&Workload> {
        if let Object::Workload(it) = self {
            Some(it)
        } else {
            None
        }
    }

    /// The workload, if it is one, to be changed.
    pub fn workload_mut(&mut self) -> Option<&mut Workload> {
        if let Object::Workload(it) = self {
            Some(it)
        } else {
            None
        }
    }

    /// The Service, if it is one.
    pub fn service(&self) -> Option<&Service> {
        if let Object::Service(it) = self {
            Some(it)
        } else {
            None
        }
    }

    /// The Namespace, if it is one.
    pub fn namespace(&self) -> Option<&Namespace> {
        if let Object::Namespace(it) = self {
            Some(it)
        } else {
            None
        }
    }

    /// The ConfigMap or Secret, if it is one.
    pub fn config_map(&self) -> Option<&ConfigMap> {
        if let Object::ConfigMap(it) = self {
            Some(it)
        } else {
            None
        }
    }

    /// The Role or ClusterRole, if it is one.
    pub fn role(&self) -> Option<&AccessRole> {
        if let Object::Role(it) = self {
            Some(it)
        } else {
            None
        }
    }

    /// The RoleBinding or ClusterRoleBinding, if it is one.
    pub fn binding(&self) -> Option<&Binding> {
        if let Object::Binding(it) = self {
            Some(it)
        } else {
            None
        }
    }
}

/// What one document holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The objects that matter here.
    pub objects: Vec<Object>,
    /// Whether it is a Kubernetes object (or a List of them) at all.
    pub is_kubernetes: bool,
}

/// Reads the objects of a document; the items of a List one by one.
pub fn read(document: &Document) -> Contents {
    let mut contents = Contents::default();
    if let Some(root) = document.root() {
        read_object(root, FieldPath::root(), &mut contents, None);
    }
    contents
}

/// What the items of a list are that say nothing themselves: those of a `DeploymentList`.
#[derive(Clone, Copy)]
struct Listed<'d> {
    kind: &'d str,
    api_version: &'d str,
    /// How many lists are around.
    depth: usize,
}

fn read_object(node: Node<'_>, at: FieldPath, contents: &mut Contents, listed: Option<Listed<'_>>) {
    let own = node.get("kind").and_then(Node::string);
    let kind = own.or(listed.map(|of| of.kind)).unwrap_or_default();
    let version = node.get("apiVersion").and_then(Node::string);
    contents.is_kubernetes |= !kind.is_empty() && version.is_some();
    let depth = listed.map_or(0, |of| of.depth);
    if let Some(item_kind) = kind.strip_suffix("List")
        && depth < 4
        && node.get("items").is_some_and(Node::is_sequence)
    {
        let of = Listed {
            kind: item_kind,
            api_version: version.unwrap_or_default(),
            depth: depth + 1,
        };
        let items = node.get("items").into_iter().flat_map(Node::items);
        let list_at = at.key("items");
        for (index, item) in items.enumerate() {
            read_object(item, list_at.index(index), contents, Some(of));
        }
        return;
    }
    if let Some(object) = beside_workloads(node, &at, kind) {
        contents.objects.push(object);
    } else if !holds_examples(kind) {
        let mut object = ObjectRef::read(node);
        if let (None, Some(of)) = (own, listed) {
            of.kind.clone_into(&mut object.kind);
            of.api_version.clone_into(&mut object.api_version);
        }
        read_workloads(node, object, &at, contents);
    }
}

/// The objects that tell of workloads without being some.
fn beside_workloads(node: Node<'_>, at: &FieldPath, kind: &str) -> Option<Object> {
    let config = |is_secret: bool| ConfigMap {
        object: ObjectRef::read(node),
        is_secret,
        at: at.clone(),
    };
    Some(match kind {
        "Service" if node.find(&["spec", "template"]).is_none() => {
            Object::Service(read_service(node, at.clone()))
        }
        "Namespace" => Object::Namespace(Namespace {
            name: ObjectRef::read(node).name,
            labels: words(node.find(&["metadata", "labels"])),
            annotations: words(node.find(&["metadata", "annotations"])),
        }),
        "ConfigMap" => Object::ConfigMap(config(false)),
        "Secret" if node.get("stringData").is_some_and(Node::is_mapping) => {
            Object::ConfigMap(config(true))
        }
        "Endpoints" | "EndpointSlice" => Object::Endpoints(read_endpoints(node)),
        "Role" | "ClusterRole" if is_rbac(node) => Object::Role(AccessRole::read(node)),
        "RoleBinding" | "ClusterRoleBinding" if is_rbac(node) => {
            Object::Binding(Binding::read(node))
        }
        _ => return None,
    })
}

/// Other groups have kinds of these names, too.
fn is_rbac(node: Node<'_>) -> bool {
    let version = node.get("apiVersion").and_then(Node::string);
    version.is_some_and(|version| version.starts_with("rbac.authorization.k8s.io/"))
}

/// The Service of an EndpointSlice stands in a label.
fn read_endpoints(node: Node<'_>) -> Endpoints {
    let mut object = ObjectRef::read(node);
    let label = node.find(&["metadata", "labels", "kubernetes.io/service-name"]);
    if let Some(service) = label.and_then(Node::string) {
        service.clone_into(&mut object.name);
    }
    Endpoints { object }
}

/// Kinds whose `containers` are schemas or patterns, not pods.
fn holds_examples(kind: &str) -> bool {
    matches!(
        kind,
        "CustomResourceDefinition"
            | "Secret"
            | "ClusterPolicy"
            | "Policy"
            | "ConstraintTemplate"
            | "ValidatingPolicy"
            | "MutatingPolicy"
            | "GeneratingPolicy"
            | "ValidatingAdmissionPolicy"
            | "MutatingAdmissionPolicy"
            | "PodSecurityPolicy"
            | "Assign"
            | "ModifySet"
    )
}

/// Pod templates are found by what is known of a kind, else by their shape, so that any kind that
/// embeds one is read.
fn read_workloads(root: Node<'_>, object: ObjectRef, at: &FieldPath, contents: &mut Contents) {
    let mut templates = kinds::templates(root, at, &object);
    if !kinds::are_all_known(&object) {
        templates.extend(shape::templates(root, at, &object));
    }
    if templates.is_empty() {
        return;
    }
    let annotations = words(root.find(&["metadata", "annotations"]));
    let origin = Origin::read(root);
    let workload = |template, (object, annotations, origin)| {
        let at = at.clone();
        Object::Workload(Box::new(Workload {
            object,
            at,
            annotations,
            origin,
            template,
        }))
    };
    // Nearly every object has one template, for which nothing is copied.
    let last = templates.pop();
    for template in templates {
        let owner = (object.clone(), annotations.clone(), origin.clone());
        contents.objects.push(workload(template, owner));
    }
    let owner = (object, annotations, origin);
    contents
        .objects
        .extend(last.map(|template| workload(template, owner)));
}

fn read_service(node: Node<'_>, at: FieldPath) -> Service {
    let spec = |key: &str| node.find(&["spec", key]);
    let is = |key: &str, want: &str| spec(key).and_then(Node::string) == Some(want);
    let ports = spec("ports")
        .into_iter()
        .flat_map(Node::items)
        .filter_map(|port| {
            let number = u16::try_from(port.get("port")?.int()?).ok()?;
            let target = port.get("targetPort").and_then(PortRef::read);
            let name = port.get("name").and_then(Node::string).map(str::to_owned);
            Some(ServicePort {
                name,
                port: number,
                target: target.unwrap_or(PortRef::Number(number)),
            })
        });
    Service {
        object: ObjectRef::read(node),
        selector: words(spec("selector")),
        ports: ports.collect(),
        is_headless: is("clusterIP", "None"),
        is_external: is("type", "ExternalName"),
        publishes_unready: spec("publishNotReadyAddresses")
            .and_then(Node::bool)
            .unwrap_or(false),
        at,
    }
}
