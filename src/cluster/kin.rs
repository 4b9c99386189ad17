//! Who made whom, among the objects of a list: many pods are one workload's, and that is judged once.

use super::api::text;
use super::owner::annotation;
use super::targets::{BuiltIn, Resource};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Objects with their owners, as far as they are known. Of the objects that one owner made of one
/// template the newest is kept.
#[derive(Default)]
pub(super) struct Kin {
    roots: BTreeMap<RootKey, Member>,
    children: BTreeMap<ChildKey, Member>,
    /// The uids of all objects that were added.
    seen: BTreeSet<String>,
}

/// Namespace, kind and name: the order in which roots are told.
type RootKey = (String, String, String);

/// The owner's uid, what was made, and of which template.
type ChildKey = (String, String, String);

/// An object with its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    /// `deployments.apps`
    pub resource: String,
    pub object: Value,
}

/// The owner that controls an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnerRef {
    pub namespace: String,
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
}

impl Kin {
    /// Takes an object in. Pods, ReplicaSets and Jobs are their owners' affair; all else stands for
    /// itself, whatever operator has made it.
    pub fn add(&mut self, resource: &Resource, object: Value) {
        self.seen.insert(text(&object, "/metadata/uid").to_owned());
        let member = Member {
            resource: resource.full_name(),
            object,
        };
        let is_made = ["Pod", "ReplicaSet", "Job"].contains(&&*resource.kind);
        match owner_ref(&member.object).filter(|_| is_made) {
            // A static pod is its node's: nobody else has its template.
            Some(owner) if owner.kind != "Node" => self.add_child(&resource.kind, &owner, member),
            Some(_) | None => self.add_root(member),
        }
    }

    fn add_child(&mut self, kind: &str, owner: &OwnerRef, member: Member) {
        let key = (
            owner.uid.clone(),
            kind.to_owned(),
            template_of(&member.object, owner),
        );
        let age = |member: &Member| age(&member.object);
        match self.children.get(&key) {
            Some(known) if age(known) >= age(&member) => {}
            Some(_) | None => {
                self.children.insert(key, member);
            }
        }
    }

    fn add_root(&mut self, member: Member) {
        let of = |pointer: &str| text(&member.object, pointer).to_owned();
        let key = (of("/metadata/namespace"), of("/kind"), of("/metadata/name"));
        self.roots.insert(key, member);
    }

    /// The owners that were named and not added.
    pub fn missing(&self) -> BTreeSet<OwnerRef> {
        let owners = self
            .children
            .values()
            .filter_map(|it| owner_ref(&it.object));
        owners
            .filter(|owner| !self.seen.contains(&owner.uid))
            .collect()
    }

    /// Takes note that an owner cannot be had: what it made stands for itself.
    pub fn give_up(&mut self, owner: &OwnerRef) {
        let own: Vec<ChildKey> = self
            .children
            .keys()
            .filter(|(uid, _, _)| *uid == owner.uid)
            .cloned()
            .collect();
        for key in own {
            if let Some(member) = self.children.remove(&key) {
                self.add_root(member);
            }
        }
    }

    /// What stands for itself, in the order of namespaces, kinds and names.
    pub fn roots(&self) -> impl Iterator<Item = &Member> {
        self.roots.values()
    }

    /// The newest pod that a workload made of its template as it is now, behind what made it in turn.
    /// Nothing where the template may have changed since.
    pub fn made(&self, root: &Value) -> Vec<&Member> {
        let uid = text(root, "/metadata/uid");
        let number = |pointer: &str| root.pointer(pointer).and_then(Value::as_u64);
        let pod_of = |uid: &str, template: &str| {
            let key = (uid.to_owned(), "Pod".to_owned(), template.to_owned());
            self.children.get(&key)
        };
        match text(root, "/kind") {
            "StatefulSet"
                if number("/status/observedGeneration") >= number("/metadata/generation") =>
            {
                let revision = text(root, "/status/updateRevision");
                pod_of(uid, revision).into_iter().collect()
            }
            "DaemonSet" => {
                let generation = annotation(root, "deprecated.daemonset.template.generation");
                pod_of(uid, generation).into_iter().collect()
            }
            "Job" => pod_of(uid, "").into_iter().collect(),
            // Their pods stay as they are when the template changes.
            "ReplicaSet" | "ReplicationController" if number("/metadata/generation") == Some(1) => {
                pod_of(uid, "").into_iter().collect()
            }
            "StatefulSet" | "ReplicaSet" | "ReplicationController" | "Pod" => Vec::new(),
            _ => self.made_between(uid),
        }
    }

    /// The newest ReplicaSet or Job of an owner, with its newest pod.
    fn made_between(&self, uid: &str) -> Vec<&Member> {
        let of_owner = self
            .children
            .iter()
            .filter(|((owner, kind, _), _)| owner == uid && kind != "Pod");
        let newest = of_owner.max_by_key(|(_, member)| age(&member.object));
        let Some((_, between)) = newest else {
            return Vec::new();
        };
        let of = text(&between.object, "/metadata/uid").to_owned();
        let key = (of, "Pod".to_owned(), String::new());
        match self.children.get(&key) {
            Some(pod) => vec![between, pod],
            None => Vec::new(),
        }
    }
}

/// The owner that controls an object.
pub(super) fn owner_ref(object: &Value) -> Option<OwnerRef> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == true)?;
    let of = |pointer: &str| text(owner, pointer).to_owned();
    Some(OwnerRef {
        namespace: text(object, "/metadata/namespace").to_owned(),
        api_version: of("/apiVersion"),
        kind: of("/kind"),
        name: of("/name"),
        uid: of("/uid"),
    })
}

/// What tells apart the templates that one owner has had, or has: its revision, else the containers.
fn template_of(object: &Value, owner: &OwnerRef) -> String {
    let label = |name: &str| {
        let labels = object.pointer("/metadata/labels");
        let value = labels.and_then(|labels| labels.get(name)?.as_str());
        value.unwrap_or_default().to_owned()
    };
    match owner.kind.as_str() {
        "StatefulSet" => label("controller-revision-hash"),
        "DaemonSet" => label("pod-template-generation"),
        kind if BuiltIn::of_kind(kind, &owner.api_version).is_some() => String::new(),
        // ReplicaSets of a custom kind follow one another as those of a Deployment do.
        _ if text(object, "/kind") == "ReplicaSet" => String::new(),
        _ => containers(object),
    }
}

fn containers(object: &Value) -> String {
    let spec = object
        .pointer("/spec/template/spec")
        .or_else(|| object.pointer("/spec"));
    let lists = ["initContainers", "containers"].into_iter();
    let names = lists
        .filter_map(|list| spec?.get(list)?.as_array())
        .flatten()
        .map(|container| text(container, "/name"));
    names.collect::<Vec<_>>().join(" ")
}

/// Grows with each object that takes another one's place: pods on their way out come first.
fn age(object: &Value) -> (Reverse<bool>, u64, String) {
    let is_leaving = object.pointer("/metadata/deletionTimestamp").is_some();
    let revision = annotation(object, "deployment.kubernetes.io/revision");
    (
        Reverse(is_leaving),
        revision.parse().unwrap_or_default(),
        text(object, "/metadata/creationTimestamp").to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(kind: &str, name: &str, owner: Option<(&str, &str)>) -> (Resource, Value) {
        let built_in = BuiltIn::of_kind(kind, "apps/v1").or(BuiltIn::of_kind(kind, "v1"));
        let mut object = json!({"kind": kind, "metadata": {"name": name, "uid": name}});
        if let Some((kind, name)) = owner {
            object["metadata"]["ownerReferences"] = json!([
                {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true}
            ]);
        }
        (built_in.unwrap().resource(), object)
    }

    fn names(kin: &Kin) -> Vec<&str> {
        let roots = kin.roots().map(|root| text(&root.object, "/metadata/name"));
        roots.collect()
    }

    fn add(kin: &mut Kin, (resource, object): (Resource, Value)) {
        kin.add(&resource, object);
    }

    fn rollout() -> Kin {
        let mut kin = Kin::default();
        add(&mut kin, object("Deployment", "web", None));
        for (name, revision) in [("web-2", "2"), ("web-10", "10")] {
            let (resource, mut set) = object("ReplicaSet", name, Some(("Deployment", "web")));
            let key = "deployment.kubernetes.io/revision";
            set["metadata"]["annotations"] = json!({key: revision});
            kin.add(&resource, set);
        }
        for (name, set) in [
            ("web-2-a", "web-2"),
            ("web-10-b", "web-10"),
            ("web-10-a", "web-10"),
        ] {
            let (resource, mut pod) = object("Pod", name, Some(("ReplicaSet", set)));
            pod["metadata"]["creationTimestamp"] =
                json!(format!("2026-01-01T00:00:0{}Z", name.len()));
            kin.add(&resource, pod);
        }
        kin
    }

    #[test]
    fn pods_and_their_replica_sets_stand_behind_the_deployment() {
        let kin = rollout();
        assert_eq!(names(&kin), ["web"]);
        assert!(kin.missing().is_empty());
        let made = kin.made(&json!({"kind": "Deployment", "metadata": {"uid": "web"}}));
        let made: Vec<&str> = made
            .iter()
            .map(|it| text(&it.object, "/metadata/name"))
            .collect();
        assert_eq!(
            made,
            ["web-10", "web-10-b"],
            "the newest revision, by number"
        );
    }

    #[test]
    fn pods_of_an_owner_that_cannot_be_had_stand_for_themselves_once_a_template() {
        let mut kin = Kin::default();
        for (name, containers) in [("a-1", "app"), ("a-2", "app"), ("b-1", "other")] {
            let (resource, mut pod) = object("Pod", name, None);
            pod["spec"] = json!({"containers": [{"name": containers}]});
            pod["metadata"]["ownerReferences"] = json!([
                {"apiVersion": "example.test/v1", "kind": "Task", "name": "t", "uid": "t", "controller": true}
            ]);
            kin.add(&resource, pod);
        }
        let missing = kin.missing();
        assert_eq!(missing.len(), 1);
        missing.iter().for_each(|owner| kin.give_up(owner));
        assert_eq!(names(&kin), ["a-1", "b-1"]);
    }

    #[test]
    fn a_static_pod_is_nobodys() {
        let mut kin = Kin::default();
        add(&mut kin, object("Pod", "etcd-n1", Some(("Node", "n1"))));
        assert_eq!(names(&kin), ["etcd-n1"]);
    }

    #[test]
    fn pods_of_an_older_template_are_not_compared() {
        let mut kin = Kin::default();
        let (resource, mut pod) = object("Pod", "db-0", Some(("StatefulSet", "db")));
        pod["metadata"]["labels"] = json!({"controller-revision-hash": "db-1"});
        kin.add(&resource, pod);
        let set = |revision: &str| {
            json!({"kind": "StatefulSet", "metadata": {"uid": "db", "generation": 2},
                "status": {"updateRevision": revision, "observedGeneration": 2}})
        };
        assert_eq!(kin.made(&set("db-1")).len(), 1);
        assert!(kin.made(&set("db-2")).is_empty());
    }
}
