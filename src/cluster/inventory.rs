//! All workloads of a namespace or of a cluster, for `lint -l` and `lint -A`.

use super::api::{Api, Selector, text};
use super::client::Connection;
use super::discovery;
use super::error::{Error, Trouble};
use super::kin::{Kin, Member, OwnerRef};
use super::objects::{self, Version};
use super::owner;
use super::targets::{BuiltIn, Resource, Type};
use futures_util::StreamExt;
use serde_json::Value;

/// Which workloads are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Those of every namespace, not of the connection's alone.
    pub all_namespaces: bool,
    /// Those with these labels, or with pods that have them.
    pub labels: Option<String>,
}

/// An object of the cluster with its name: `TYPE/NAME`, behind its namespace where several are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The object as the API server sends it.
    pub object: Value,
}

/// What was found of a scope.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Workloads, and pods that nobody else stands for.
    pub found: Vec<Named>,
    /// The newest pod of each of these, behind the ReplicaSet or Job that made it.
    pub made: Vec<Named>,
    /// Services and Namespaces; for a whole cluster only, since of less of it they tell half.
    pub around: Vec<Named>,
    /// Types that may not be read, each with the server's words.
    pub refused: Vec<(String, String)>,
    /// The oldest of the kubelets.
    pub version: Option<Version>,
}

/// The types that are listed, owners first.
const LISTED: [BuiltIn; 8] = [
    BuiltIn::Deployment,
    BuiltIn::StatefulSet,
    BuiltIn::DaemonSet,
    BuiltIn::CronJob,
    BuiltIn::ReplicaSet,
    BuiltIn::Job,
    BuiltIn::ReplicationController,
    BuiltIn::Pod,
];

/// How many owners above each other are looked up: a pod, its ReplicaSet, its Deployment.
const LEVELS: usize = 3;

/// How many objects are looked up at the same time.
const AT_ONCE: usize = 8;

impl Connection {
    /// Lists the workloads and lone pods of a scope. A type that may not be read is left out.
    ///
    /// # Errors
    /// No type may be read at all, or the server cannot be reached.
    pub fn inventory(&self, scope: &Scope) -> Result<Inventory, Error> {
        self.runtime.block_on(async {
            let (api, namespace) = (&self.api, &*self.namespace);
            let mut search = Search {
                api,
                namespace: (!scope.all_namespaces).then_some(namespace),
                kin: Kin::default(),
                refused: Vec::new(),
            };
            search.list(scope).await?;
            search.climb().await?;
            let mut inventory = search.told();
            if scope.labels.is_some() {
                inventory.made.extend(search.made_unlisted().await);
            }
            if scope.all_namespaces {
                inventory.around = around(api).await;
            }
            inventory.version = objects::oldest_of(api).await;
            Ok(inventory)
        })
    }

    /// What a live object has made last: the newest pod of its template, behind the ReplicaSet or Job
    /// between them. For a pod: who made it. Nothing where that may not be read.
    pub fn relatives(&self, object: &Value) -> Vec<Named> {
        self.runtime.block_on(async {
            match text(object, "/kind") {
                "Pod" => maker(&self.api, object).await.into_iter().collect(),
                _ => made(&self.api, object).await,
            }
        })
    }

    /// The names of the webhooks and policies that may change pods, as far as they may be read.
    pub fn changes_pods(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.runtime.block_on(async {
            for (plural, list, rules) in [
                ("mutatingwebhookconfigurations", "/webhooks", "/rules"),
                (
                    "mutatingadmissionpolicies",
                    "",
                    "/spec/matchConstraints/resourceRules",
                ),
            ] {
                let collection = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
                let add = |object: Value| names.extend(that_change_pods(&object, list, rules));
                // Without the right nobody is named.
                let _ = self.api.each(&collection, &Selector::default(), add).await;
            }
        });
        names
    }

    /// The Namespace of a live object and the ConfigMaps that its pods name, as far as they may be
    /// read.
    pub fn surroundings(&self, names: &[(&str, String)]) -> Vec<Named> {
        self.runtime.block_on(async {
            let gets = futures_util::stream::iter(names).map(|(plural, name)| async move {
                let collection = match *plural {
                    "namespaces" => "/api/v1/namespaces".to_owned(),
                    plural => format!("/api/v1/namespaces/{}/{plural}", self.namespace),
                };
                let object = self.api.object(&collection, name).await.ok()?;
                Some(Named {
                    name: format!("{plural}/{name}"),
                    object,
                })
            });
            let found: Vec<Option<Named>> = gets.buffered(AT_ONCE).collect().await;
            found.into_iter().flatten().collect()
        })
    }
}

struct Search<'a> {
    api: &'a Api,
    /// None for all of them.
    namespace: Option<&'a str>,
    kin: Kin,
    refused: Vec<(String, String)>,
}

impl Search<'_> {
    async fn list(&mut self, scope: &Scope) -> Result<(), Error> {
        let selector = Selector {
            fields: None,
            labels: scope.labels.clone(),
        };
        let mut first = None;
        for kind in LISTED {
            let resource = kind.resource();
            let collection = resource.collection(self.namespace);
            let kin = &mut self.kin;
            let add = |object| kin.add(&resource, object);
            match self.api.each(&collection, &selector, add).await {
                Ok(_) => {}
                Err(error) if error.trouble() == Trouble::NotFound => {}
                Err(error) if is_about_the_type(&error) => {
                    self.refused.push((resource.full_name(), error.to_string()));
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match first {
            Some(error) if self.refused.len() == LISTED.len() => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    /// Looks up the owners that were not listed.
    async fn climb(&mut self) -> Result<(), Error> {
        for _ in 0..LEVELS {
            let missing = self.kin.missing();
            if missing.is_empty() {
                return Ok(());
            }
            let api = self.api;
            let gets = futures_util::stream::iter(&missing).map(|owner| get_owner(api, owner));
            let owners: Vec<Result<Option<(Resource, Value)>, Error>> =
                gets.buffered(AT_ONCE).collect().await;
            for (owner, found) in missing.iter().zip(owners) {
                match found? {
                    Some((resource, object)) => self.kin.add(&resource, object),
                    None => self.kin.give_up(owner),
                }
            }
        }
        let missing = self.kin.missing();
        missing.iter().for_each(|owner| self.kin.give_up(owner));
        Ok(())
    }

    /// Of workloads that have the labels while their pods do not.
    async fn made_unlisted(&self) -> Vec<Named> {
        let roots = self.kin.roots().map(|root| &root.object);
        let alone: Vec<&Value> = roots
            .filter(|root| self.kin.made(root).is_empty())
            .collect();
        let gets = futures_util::stream::iter(alone).map(|root| made(self.api, root));
        let found: Vec<Vec<Named>> = gets.buffered(AT_ONCE).collect().await;
        found.into_iter().flatten().collect()
    }

    fn told(&self) -> Inventory {
        let name = |member: &Member| self.named(member);
        let mut inventory = Inventory::default();
        for root in self.kin.roots() {
            inventory.found.push(without_managers(name(root)));
            inventory
                .made
                .extend(self.kin.made(&root.object).into_iter().map(name));
        }
        inventory.refused.clone_from(&self.refused);
        inventory
    }

    fn named(&self, member: &Member) -> Named {
        let name = text(&member.object, "/metadata/name");
        let name = format!("{}/{name}", member.resource);
        Named {
            name: match self.namespace {
                Some(_) => name,
                None => format!("{}/{name}", text(&member.object, "/metadata/namespace")),
            },
            object: member.object.clone(),
        }
    }
}

fn is_about_the_type(error: &Error) -> bool {
    matches!(error.trouble(), Trouble::Forbidden | Trouble::Refused)
}

/// Who set which field counts for pods beside their owners only.
fn without_managers(named: Named) -> Named {
    Named {
        object: super::api::without_managed_fields(named.object),
        ..named
    }
}

/// An owner, if it can be had, is still the same object, and has a pod template.
async fn get_owner(api: &Api, owner: &OwnerRef) -> Result<Option<(Resource, Value)>, Error> {
    let got = get(api, owner).await;
    match got {
        Ok((resource, object)) => {
            let is_same = text(&object, "/metadata/uid") == owner.uid;
            let has_template = BuiltIn::of_kind(&owner.kind, &owner.api_version).is_some()
                || object.pointer("/spec/template/spec/containers").is_some();
            Ok((is_same && has_template).then_some((resource, object)))
        }
        Err(error) => match error.trouble() {
            Trouble::Unreachable | Trouble::Unauthorized => Err(error),
            Trouble::Usage
            | Trouble::Forbidden
            | Trouble::NotFound
            | Trouble::Gone
            | Trouble::Refused => Ok(None),
        },
    }
}

async fn get(api: &Api, owner: &OwnerRef) -> Result<(Resource, Value), Error> {
    let wanted = match BuiltIn::of_kind(&owner.kind, &owner.api_version) {
        Some(built_in) => Type::BuiltIn(built_in),
        None => {
            let (group, version) = owner.api_version.split_once('/').unwrap_or_default();
            Type::Custom {
                name: owner.kind.to_lowercase(),
                group: Some(format!("{version}.{group}")),
            }
        }
    };
    let resource = discovery::resolve(api, &wanted).await?;
    let namespace = Some(&*owner.namespace).filter(|namespace| !namespace.is_empty());
    let object = api
        .object(&resource.collection(namespace), &owner.name)
        .await?;
    Ok((resource, object))
}

/// The entries of a configuration that are called when pods are created.
fn that_change_pods(object: &Value, list: &str, rules: &str) -> Vec<String> {
    let entries: Vec<&Value> = match list {
        "" => vec![object],
        list => object
            .pointer(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .collect(),
    };
    let names = |rule: &Value, key: &str, wanted: &[&str]| {
        let values = rule.get(key).and_then(Value::as_array);
        let mut values = values.into_iter().flatten().filter_map(Value::as_str);
        values.any(|value| wanted.contains(&value))
    };
    let sees_pods = |entry: &&Value| {
        let rules = entry.pointer(rules).and_then(Value::as_array);
        rules.into_iter().flatten().any(|rule| {
            names(rule, "resources", &["pods", "*", "*/*"])
                && names(rule, "operations", &["CREATE", "*"])
                && names(rule, "apiGroups", &["", "*"])
        })
    };
    let name = |entry: &Value| match entry.get("name").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => text(object, "/metadata/name").to_owned(),
    };
    entries.into_iter().filter(sees_pods).map(name).collect()
}

/// Who made a pod of its template as it is now.
async fn maker(api: &Api, pod: &Value) -> Option<Named> {
    let owner = super::kin::owner_ref(pod)?;
    let (resource, object) = get_owner(api, &owner).await.ok()??;
    let mut kin = Kin::default();
    kin.add(&BuiltIn::Pod.resource(), pod.clone());
    let is_current = resource.kind == "ReplicaSet" || !kin.made(&object).is_empty();
    is_current.then(|| Named {
        name: format!("{}/{}", resource.full_name(), owner.name),
        object,
    })
}

async fn made(api: &Api, root: &Value) -> Vec<Named> {
    let namespace = text(root, "/metadata/namespace");
    let mut kin = Kin::default();
    let between = match text(root, "/kind") {
        "CronJob" => Some((BuiltIn::Job, None)),
        "Deployment" | "Rollout" => Some((BuiltIn::ReplicaSet, owner::selector(root))),
        "StatefulSet" | "DaemonSet" | "Job" | "ReplicaSet" | "ReplicationController" => None,
        _ => return Vec::new(),
    };
    let mut labels = owner::selector(root);
    if let Some((kind, selected)) = between {
        if add_all(api, namespace, kind, selected, &mut kin)
            .await
            .is_none()
        {
            return Vec::new();
        }
        if kind == BuiltIn::Job {
            labels = Some("job-name".to_owned());
        }
    }
    // Without a selector every pod of the namespace would be read.
    if labels.is_none()
        || add_all(api, namespace, BuiltIn::Pod, labels, &mut kin)
            .await
            .is_none()
    {
        return Vec::new();
    }
    let made = kin.made(root).into_iter();
    made.map(|member| Named {
        name: format!(
            "{}/{}",
            member.resource,
            text(&member.object, "/metadata/name")
        ),
        object: member.object.clone(),
    })
    .collect()
}

async fn add_all(
    api: &Api,
    namespace: &str,
    kind: BuiltIn,
    labels: Option<String>,
    kin: &mut Kin,
) -> Option<()> {
    let resource = kind.resource();
    let selector = Selector {
        fields: None,
        labels,
    };
    let collection = resource.collection(Some(namespace));
    let add = |object| kin.add(&resource, object);
    api.each(&collection, &selector, add).await.ok()?;
    Some(())
}

/// The Services and Namespaces of the cluster, as far as they may be read.
async fn around(api: &Api) -> Vec<Named> {
    let mut found = Vec::new();
    for plural in ["namespaces", "services"] {
        let add = |object: Value| {
            let namespace = text(&object, "/metadata/namespace");
            let name = text(&object, "/metadata/name");
            let name = match namespace {
                "" => format!("{plural}/{name}"),
                namespace => format!("{namespace}/{plural}/{name}"),
            };
            found.push(without_managers(Named { name, object }));
        };
        // Without the right the rules that would look at them stay silent.
        let _ = api
            .each(&format!("/api/v1/{plural}"), &Selector::default(), add)
            .await;
    }
    found
}
