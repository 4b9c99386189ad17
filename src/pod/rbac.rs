//! Roles and bindings: what a ServiceAccount of the run may ask the API server.

use super::template::words;
use super::workload::ObjectRef;
use crate::manifest::Node;
use std::collections::BTreeMap;

/// One rule of a role; `*` stands for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRule {
    /// API groups; the core group is empty.
    pub groups: Vec<String>,
    /// Resources in the plural, with a subresource after a slash.
    pub resources: Vec<String>,
    /// Names that it is limited to; none for all.
    pub names: Vec<String>,
    /// Verbs.
    pub verbs: Vec<String>,
}

/// A Role or ClusterRole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRole {
    /// Who it is.
    pub object: ObjectRef,
    /// What it allows.
    pub rules: Vec<AccessRule>,
    /// Its labels, by which another ClusterRole may collect it.
    pub labels: BTreeMap<String, String>,
    /// What it collects the rules of; empty for a role with rules of its own.
    pub collects: Vec<Collected>,
}

/// A selector of an `aggregationRule`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// `matchLabels`.
    pub labels: BTreeMap<String, String>,
    /// Whether it has expressions, too.
    pub has_expressions: bool,
}

impl Collected {
    /// Whether it collects a ClusterRole with these labels for certain.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let mut wanted = self.labels.iter();
        !self.has_expressions && wanted.all(|(key, value)| labels.get(key) == Some(value))
    }
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Who it is.
    pub object: ObjectRef,
    /// `Role` or `ClusterRole`.
    pub role_kind: String,
    /// The role's name.
    pub role_name: String,
    /// Who is bound.
    pub subjects: Vec<BoundSubject>,
}

/// Who a binding speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundSubject {
    /// A ServiceAccount; without a namespace it is the binding's.
    ServiceAccount {
        /// Its namespace, if it is written.
        namespace: Option<String>,
        /// Its name.
        name: String,
    },
    /// A user or a group, by its name.
    Named(String),
}

impl AccessRule {
    /// Whether it allows a verb on a resource of a group; `name` when a single object is meant.
    /// A group that is not known fits any.
    pub fn allows(
        &self,
        group: Option<&str>,
        resource: &str,
        name: Option<&str>,
        verb: &str,
    ) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|one| one == "*" || one == word);
        let is_named = self.names.is_empty()
            || name.is_some_and(|name| self.names.iter().any(|one| one == name));
        has(&self.verbs, verb)
            && has(&self.resources, resource)
            && group.is_none_or(|group| has(&self.groups, group))
            && is_named
    }
}

impl AccessRole {
    /// Reads a Role or ClusterRole.
    pub(super) fn read(node: Node<'_>) -> AccessRole {
        let rules = node.get("rules").into_iter().flat_map(Node::items);
        AccessRole {
            object: ObjectRef::read(node),
            rules: rules.map(read_rule).collect(),
            labels: words(node.find(&["metadata", "labels"])),
            collects: node
                .find(&["aggregationRule", "clusterRoleSelectors"])
                .into_iter()
                .flat_map(Node::items)
                .map(|selector| Collected {
                    labels: words(selector.get("matchLabels")),
                    has_expressions: selector.get("matchExpressions").is_some(),
                })
                .collect(),
        }
    }
}

fn read_rule(node: Node<'_>) -> AccessRule {
    let list = |key: &str| {
        let items = node.get(key).into_iter().flat_map(Node::items);
        items
            .filter_map(|item| Some(item.string()?.to_owned()))
            .collect()
    };
    AccessRule {
        groups: list("apiGroups"),
        resources: list("resources"),
        names: list("resourceNames"),
        verbs: list("verbs"),
    }
}

impl Binding {
    /// Reads a RoleBinding or ClusterRoleBinding.
    pub(super) fn read(node: Node<'_>) -> Binding {
        let role = |key: &str| text(node.find(&["roleRef", key])).unwrap_or_default();
        let subjects = node.get("subjects").into_iter().flat_map(Node::items);
        Binding {
            object: ObjectRef::read(node),
            role_kind: role("kind"),
            role_name: role("name"),
            subjects: subjects.filter_map(read_subject).collect(),
        }
    }
}

fn read_subject(node: Node<'_>) -> Option<BoundSubject> {
    let name = text(node.get("name"))?;
    Some(match node.get("kind").and_then(Node::string) {
        Some("ServiceAccount") => BoundSubject::ServiceAccount {
            namespace: text(node.get("namespace")),
            name,
        },
        _ => BoundSubject::Named(name),
    })
}

fn text(node: Option<Node<'_>>) -> Option<String> {
    Some(node?.string()?.to_owned())
}
