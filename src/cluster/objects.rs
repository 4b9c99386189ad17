//! Live objects for `lint` and `explain`, and the Kubernetes versions to judge them by.

use super::api::{Api, Selector, text};
use super::client::Connection;
use super::discovery;
use super::error::{Error, Trouble};
use super::targets::{BuiltIn, Resource, Target, Type};
use serde_json::Value;

/// One live object.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// What was asked for, `TYPE/NAME` with the type in full: `deployments.apps/web`.
    pub name: String,
    /// The object as the API server sends it, without managed fields.
    pub object: Value,
    /// Which kubelet will start its pods; none when not even the server tells its version.
    pub version: Option<Version>,
}

/// A version, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// As reported: `v1.37.2`.
    pub text: String,
    /// Whose it is.
    pub origin: Origin,
}

/// Whose version it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The kubelet's on the pod's own node.
    Node(String),
    /// The oldest kubelet's of all nodes: a new pod may land there.
    OldestNode(String),
    /// The server's, because nodes may not be read, or there is none.
    Server,
}

impl Connection {
    /// Gets the objects that are named; `-l` is for `follow` only.
    ///
    /// # Errors
    /// An object does not exist or may not be read, or the server cannot be reached.
    pub fn objects(&self, targets: &[Target]) -> Result<Vec<Live>, Error> {
        self.runtime.block_on(async {
            let (api, namespace) = (&self.api, &self.namespace);
            let objects = targets.iter().map(|target| object(api, namespace, target));
            let objects = futures_util::future::try_join_all(objects).await?;
            let mut live = Vec::new();
            let mut oldest = None;
            for (name, object) in objects {
                let version = match node_of(&object) {
                    Some(node) => of_node(api, node).await,
                    None => None,
                };
                let version = match version {
                    Some(version) => Some(version),
                    None => {
                        // The same answer for every object that is no running pod.
                        if oldest.is_none() {
                            oldest = oldest_of(api).await;
                        }
                        oldest.clone()
                    }
                };
                live.push(Live {
                    name,
                    object,
                    version,
                });
            }
            Ok(live)
        })
    }

    /// The version of the oldest kubelet of all nodes: a new pod may land there. The server's where
    /// nodes may not be read; none when not even that is told.
    pub fn kubernetes(&self) -> Option<Version> {
        self.runtime.block_on(oldest_of(&self.api))
    }
}

async fn object(api: &Api, namespace: &str, target: &Target) -> Result<(String, Value), Error> {
    let (wanted, name) = match target {
        Target::Named { resource, name } => (resource, name),
        Target::Labels(_) => return Err(Error::usage("must specify TYPE/NAME")),
    };
    let resource = discovery::resolve(api, wanted).await?;
    let collection = resource.collection(Some(namespace));
    match api.object(&collection, name).await {
        Ok(object) => Ok((format!("{}/{name}", resource.full_name()), object)),
        Err(error) => Err(explained(api, wanted, name, error).await),
    }
}

/// Adds what would help to a refusal.
pub(super) async fn explained(api: &Api, wanted: &Type, name: &str, error: Error) -> Error {
    if error.hint().is_some() || error.trouble() != Trouble::NotFound {
        return error;
    }
    let Ok(resource) = discovery::resolve(api, wanted).await else {
        return error;
    };
    match elsewhere(api, &resource, name).await {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// `namespace "shop" has one (-n shop)`, if that is so and may be known.
pub(super) async fn elsewhere(api: &Api, resource: &Resource, name: &str) -> Option<String> {
    let selector = Selector {
        fields: Some(format!("metadata.name={name}")),
        labels: None,
    };
    let list = api.list(&resource.collection(None), &selector).await.ok()?;
    let namespace = text(list.items.first()?, "/metadata/namespace").to_owned();
    (!namespace.is_empty()).then(|| format!("namespace {namespace:?} has one (-n {namespace})"))
}

/// The node that a pod was bound to.
fn node_of(object: &Value) -> Option<&str> {
    let node = text(object, "/spec/nodeName");
    (text(object, "/kind") == BuiltIn::Pod.resource().kind && !node.is_empty()).then_some(node)
}

async fn of_node(api: &Api, node: &str) -> Option<Version> {
    let text = kubelet_version(api, node).await.ok()?;
    Some(Version {
        text,
        origin: Origin::Node(node.to_owned()),
    })
}

pub(super) async fn oldest_of(api: &Api) -> Option<Version> {
    let nodes = api.list("/api/v1/nodes", &Selector::default()).await;
    let nodes = nodes.map(|list| list.items).unwrap_or_default();
    let oldest = nodes
        .iter()
        .filter_map(|node| Some((numbers(kubelet_of(node))?, node)))
        .min_by_key(|(numbers, _)| *numbers);
    if let Some((_, node)) = oldest {
        return Some(Version {
            text: kubelet_of(node).to_owned(),
            origin: Origin::OldestNode(text(node, "/metadata/name").to_owned()),
        });
    }
    Some(Version {
        text: server_version(api).await?,
        origin: Origin::Server,
    })
}

/// The version of the kubelet on a node.
pub(super) async fn kubelet_version(api: &Api, node: &str) -> Result<String, Error> {
    let node = api.object("/api/v1/nodes", node).await?;
    Ok(kubelet_of(&node).to_owned())
}

fn kubelet_of(node: &Value) -> &str {
    text(node, "/status/nodeInfo/kubeletVersion")
}

/// The version of the server; every user may read it unless an administrator took that right away.
pub(super) async fn server_version(api: &Api) -> Option<String> {
    let version = api.get("/version").await.ok()?;
    Some(text(&version, "/gitVersion").to_owned()).filter(|version| !version.is_empty())
}

/// Major, minor and patch of `v1.29.6-gke.100`.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version
        .trim_start_matches('v')
        .splitn(3, '.')
        .map(|part| part.split(|c: char| !c.is_ascii_digit()).next());
    let mut next = || numbers.next().flatten()?.parse().ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::super::environment::Environment;
    use super::super::fake::{Fake, Reply};
    use super::super::targets::parse;
    use super::*;
    use serde_json::json;

    fn get(fake: &Fake, word: &str) -> Result<Live, Error> {
        let targets = parse(&[word.to_owned()], None).unwrap();
        let objects = Connection::to(&fake.url, &Environment::default()).objects(&targets);
        objects.map(|mut objects| objects.remove(0))
    }

    fn answer(value: Value) -> Reply {
        Reply::Whole(200, value.to_string())
    }

    fn refused(code: u16, message: &str) -> Reply {
        let status =
            json!({"kind": "Status", "status": "Failure", "code": code, "message": message});
        Reply::Whole(code, status.to_string())
    }

    #[test]
    fn a_workload_is_judged_by_the_oldest_kubelet_of_all() {
        let node = |name: &str, version: &str| {
            let kubelet = json!({"nodeInfo": {"kubeletVersion": version}});
            json!({"metadata": {"name": name}, "status": kubelet})
        };
        let fake = Fake::start(move |path, _| match path {
            "/apis/apps/v1/namespaces/default/deployments/web" => {
                answer(json!({"kind": "Deployment", "metadata": {"managedFields": []}}))
            }
            _ => answer(
                json!({"items": [node("a", "v1.37.2"), node("b", "v1.9.11"), node("c", "v1.29.6-x.1")]}),
            ),
        });
        let live = get(&fake, "deploy/web").unwrap();
        assert_eq!(live.name, "deployments.apps/web");
        assert_eq!(live.object, json!({"kind": "Deployment", "metadata": {}}));
        let oldest = Version {
            text: "v1.9.11".into(),
            origin: Origin::OldestNode("b".into()),
        };
        assert_eq!(live.version, Some(oldest));
        let requests = fake.requests();
        assert_eq!(
            requests.len(),
            2,
            "nothing is discovered for a built-in type: {requests:?}"
        );
    }

    #[test]
    fn without_the_right_to_read_nodes_the_servers_version_counts() {
        let fake = Fake::start(|path, _| match path {
            "/api/v1/namespaces/default/pods/sample" => {
                answer(json!({"kind": "Pod", "spec": {"nodeName": "n1"}}))
            }
            "/version?" => answer(json!({"gitVersion": "v1.37.2"})),
            _ => refused(403, "nodes is forbidden"),
        });
        let live = get(&fake, "pod/sample").unwrap();
        assert_eq!(
            live.version,
            Some(Version {
                text: "v1.37.2".into(),
                origin: Origin::Server
            })
        );
    }

    #[test]
    fn a_custom_type_is_found_by_its_short_name() {
        let group = |name: &str| json!({"name": name, "preferredVersion": {"groupVersion": format!("{name}/v1beta1")}});
        let fake = Fake::start(move |path, _| match path {
            "/apis?" => answer(json!({"groups": [group("down.test"), group("example.test")]})),
            "/apis/down.test/v1beta1?" => refused(503, "not now"),
            "/apis/example.test/v1beta1?" => answer(json!({"resources": [
                {"name": "rollouts/status", "kind": "Rollout", "namespaced": true},
                {"name": "rollouts", "singularName": "rollout", "shortNames": ["ro"], "kind": "Rollout", "namespaced": true},
            ]})),
            "/apis/example.test/v1beta1/namespaces/default/rollouts/web" => {
                answer(json!({"kind": "Rollout"}))
            }
            _ => answer(json!({"items": []})),
        });
        assert_eq!(
            get(&fake, "ro/web").unwrap().name,
            "rollouts.example.test/web"
        );
        assert_eq!(
            get(&fake, "rollouts.example.test/web").unwrap().object,
            json!({"kind": "Rollout"})
        );
        let error = get(&fake, "nothing/web").unwrap_err();
        assert_eq!(
            error.to_string(),
            "error: the server doesn't have a resource type \"nothing\""
        );
    }

    #[test]
    fn an_object_of_another_namespace_is_pointed_at() {
        let fake = Fake::start(|path, _| match path {
            _ if path.starts_with("/api/v1/pods?") => {
                answer(json!({"items": [{"metadata": {"namespace": "shop"}}]}))
            }
            _ => refused(404, "pods \"sample\" not found"),
        });
        let error = get(&fake, "pod/sample").unwrap_err();
        assert_eq!(error.trouble(), Trouble::NotFound);
        assert_eq!(error.hint(), Some("namespace \"shop\" has one (-n shop)"));
    }
}
