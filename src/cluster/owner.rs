//! Which pods belong to the newest revision of what a user named.

use super::api::{Api, List, Selector, text};
use super::error::{Error, Trouble};
use super::targets::{BuiltIn, Resource};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// A workload whose newest pods are watched.
pub(super) struct Owner {
    api: Api,
    namespace: String,
    kind: BuiltIn,
    name: String,
    newest: Option<Revision>,
    /// Revisions that were not the newest when they were looked up.
    older: BTreeSet<Revision>,
    /// UIDs of pods that do not count.
    rejected: BTreeSet<String>,
}

/// What the pods of one revision have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Revision {
    /// The UID of the pods' controller.
    controller: String,
    /// The value of the label that tells the revisions of one controller apart.
    label: Option<String>,
}

/// How long a controller may take to notice a change of its object.
const NOTICE: Duration = Duration::from_secs(2);

impl Owner {
    /// Looks a workload up; with it comes the selector that its pods match at least.
    pub async fn find(
        api: &Api,
        namespace: &str,
        kind: BuiltIn,
        name: &str,
    ) -> Result<(Owner, Selector), Error> {
        let mut owner = Owner {
            api: api.clone(),
            namespace: namespace.to_owned(),
            kind,
            name: name.to_owned(),
            newest: None,
            older: BTreeSet::new(),
            rejected: BTreeSet::new(),
        };
        let object = owner.noticed_object().await?;
        owner.newest = owner.newest_of(&object).await?;
        let labels = match kind {
            // A job's labels are not known before the job.
            BuiltIn::CronJob => Some("job-name".to_owned()),
            _ => selector(&object),
        };
        let selector = Selector {
            fields: None,
            labels,
        };
        Ok((owner, selector))
    }

    /// Whether a pod is of the newest revision.
    ///
    /// The server is asked when the revision is new, and for a pod that is new: going back to an
    /// older revision makes that one the newest.
    pub async fn owns(&mut self, pod: &Value, is_new: bool) -> Result<bool, Error> {
        let uid = text(pod, "/metadata/uid");
        let Some(revision) = self
            .revision_of(pod)
            .filter(|_| !self.rejected.contains(uid))
        else {
            return Ok(false);
        };
        if self.newest.as_ref() != Some(&revision) && (is_new || !self.older.contains(&revision)) {
            self.look_again().await?;
        }
        let is_newest = self.newest.as_ref() == Some(&revision);
        if !is_newest {
            self.older.insert(revision);
            self.rejected.insert(uid.to_owned());
        }
        Ok(is_newest)
    }

    async fn look_again(&mut self) -> Result<(), Error> {
        self.newest = match self.noticed_object().await {
            Ok(object) => self.newest_of(&object).await?,
            Err(error) if error.trouble() == Trouble::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The label of a pod that changes with its controller's pod template.
    fn revision_label(&self) -> Option<&'static str> {
        match self.kind {
            BuiltIn::StatefulSet => Some("controller-revision-hash"),
            BuiltIn::DaemonSet => Some("pod-template-generation"),
            BuiltIn::Deployment
            | BuiltIn::ReplicaSet
            | BuiltIn::ReplicationController
            | BuiltIn::Job
            | BuiltIn::CronJob
            | BuiltIn::Pod
            | BuiltIn::PodTemplate
            | BuiltIn::Service => None,
        }
    }

    fn revision_of(&self, pod: &Value) -> Option<Revision> {
        let label = self.revision_label().map(|label| {
            let labels = pod.pointer("/metadata/labels");
            let value = labels
                .and_then(|labels| labels.get(label))
                .and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        });
        let controller = controller(pod)?.to_owned();
        Some(Revision { controller, label })
    }

    /// The object once its controller has seen it as it is: right after a change, the newest
    /// revision is not there yet.
    async fn noticed_object(&self) -> Result<Value, Error> {
        let collection = self.collection(self.kind);
        let step = Duration::from_millis(100);
        let mut waited = Duration::ZERO;
        loop {
            let object = self.api.object(&collection, &self.name).await?;
            let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_u64);
            let seen = number("/status/observedGeneration");
            let has_revisions = matches!(
                self.kind,
                BuiltIn::Deployment | BuiltIn::StatefulSet | BuiltIn::DaemonSet
            );
            if !has_revisions || seen >= number("/metadata/generation") || waited >= NOTICE {
                return Ok(object);
            }
            tokio::time::sleep(step).await;
            waited += step;
        }
    }

    async fn newest_of(&mut self, object: &Value) -> Result<Option<Revision>, Error> {
        let uid = text(object, "/metadata/uid").to_owned();
        let itself = |label: Option<&str>| Revision {
            controller: uid.clone(),
            label: label.map(str::to_owned),
        };
        Ok(match self.kind {
            BuiltIn::Deployment => {
                let sets = self
                    .children(BuiltIn::ReplicaSet, selector(object), &uid)
                    .await?;
                self.newest_child(&sets, |set| {
                    let revision = annotation(set, "deployment.kubernetes.io/revision");
                    revision.parse::<u64>().unwrap_or_default()
                })
            }
            BuiltIn::CronJob => {
                let jobs = self.children(BuiltIn::Job, None, &uid).await?;
                self.newest_child(&jobs, |job| {
                    text(job, "/metadata/creationTimestamp").to_owned()
                })
            }
            BuiltIn::StatefulSet => Some(itself(Some(text(object, "/status/updateRevision")))),
            BuiltIn::DaemonSet => {
                let generation = annotation(object, "deprecated.daemonset.template.generation");
                Some(itself(Some(generation)))
            }
            BuiltIn::Job
            | BuiltIn::ReplicaSet
            | BuiltIn::ReplicationController
            | BuiltIn::Pod
            | BuiltIn::PodTemplate
            | BuiltIn::Service => Some(itself(None)),
        })
    }

    async fn children(
        &self,
        kind: BuiltIn,
        labels: Option<String>,
        owner: &str,
    ) -> Result<Vec<Value>, Error> {
        let selector = Selector {
            fields: None,
            labels,
        };
        let List { mut items, .. } = self.api.list(&self.collection(kind), &selector).await?;
        items.retain(|item| controller(item) == Some(owner));
        Ok(items)
    }

    fn newest_child<K: Ord>(
        &mut self,
        children: &[Value],
        age: impl Fn(&Value) -> K,
    ) -> Option<Revision> {
        let revision = |child: &Value| Revision {
            controller: text(child, "/metadata/uid").to_owned(),
            label: None,
        };
        self.older.extend(children.iter().map(revision));
        children.iter().max_by_key(|child| age(child)).map(revision)
    }

    fn collection(&self, kind: BuiltIn) -> String {
        kind.resource().collection(Some(&self.namespace))
    }
}

/// The pods behind an object of a type that nothing is known of: those that its selector selects.
pub(super) async fn selected_by(
    api: &Api,
    namespace: &str,
    resource: &Resource,
    name: &str,
) -> Result<Selector, Error> {
    let object = api
        .object(&resource.collection(Some(namespace)), name)
        .await?;
    let labels = selector(&object).ok_or_else(|| {
        let full = resource.full_name();
        Error::usage(format!(
            "{full}/{name} selects no pods: it has no spec.selector"
        ))
        .with_hint("-l selects pods by their labels")
    })?;
    Ok(Selector {
        fields: None,
        labels: Some(labels),
    })
}

pub(super) fn annotation<'v>(object: &'v Value, name: &str) -> &'v str {
    let annotations = object.pointer("/metadata/annotations");
    let value = annotations.and_then(|annotations| annotations.get(name));
    value.and_then(Value::as_str).unwrap_or_default()
}

/// The UID of the owner that controls an object.
fn controller(object: &Value) -> Option<&str> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == true)?;
    owner.get("uid")?.as_str()
}

/// `spec.selector` of any object, in the words of a label selector.
pub(super) fn selector(object: &Value) -> Option<String> {
    let selector = object.pointer("/spec/selector")?.as_object()?;
    let structured =
        selector.contains_key("matchLabels") || selector.contains_key("matchExpressions");
    let labels = match structured {
        true => selector.get("matchLabels").and_then(Value::as_object),
        false => Some(selector),
    };
    let equal = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let expressions = expressions.into_iter().flatten().filter_map(expression);
    let words: Vec<String> = equal.chain(expressions).collect();
    (!words.is_empty()).then(|| words.join(","))
}

fn expression(expression: &Value) -> Option<String> {
    let key = expression.get("key")?.as_str()?;
    let values = expression.get("values").and_then(Value::as_array);
    let values: Vec<&str> = values
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let values = values.join(",");
    match expression.get("operator")?.as_str()? {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selectors_of_all_shapes_become_words() {
        let words = |spec: Value| selector(&json!({"spec": {"selector": spec}}));
        assert_eq!(
            words(json!({"app": "web", "tier": "front"})).as_deref(),
            Some("app=web,tier=front")
        );
        let structured = json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"},
            ],
        });
        assert_eq!(
            words(structured).as_deref(),
            Some("app=web,tier in (a,b),!old")
        );
        assert_eq!(words(json!({"matchLabels": {}})), None);
    }
}
