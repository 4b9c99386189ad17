//! The tasks behind `follow`: one for each list with its watch, and one for each question besides.

use super::api::{Api, Selector};
use super::desk::Message;
use super::discovery;
use super::error::{Error, Trouble};
use super::objects;
use super::owner::{self, Owner};
use super::source::{Memory, Source, Watch};
use super::stream::Incoming;
use super::targets::{BuiltIn, Target, Type};
use jiff::Timestamp;
use std::collections::BTreeSet;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

/// The tasks of one run; they end with it.
pub(super) struct Tasks {
    pub api: Api,
    pub namespace: String,
    pub clock: fn() -> Timestamp,
    pub out: Sender<Message>,
    pub running: JoinSet<()>,
}

impl Tasks {
    /// Starts to list pods and events at the same time; returns how many lists are to come.
    pub fn start(&mut self, targets: &[Target]) -> usize {
        let events = event_selectors(targets);
        for target in targets {
            let (api, namespace, target) =
                (self.api.clone(), self.namespace.clone(), target.clone());
            let source = self.source(Watch::Pods, Selector::default());
            self.spawn(async move {
                let (owner, selector) = scope(&api, &namespace, &target).await?;
                Source {
                    owner,
                    selector,
                    ..source
                }
                .run()
                .await
                .map_err(|error| match error.trouble() {
                    Trouble::Forbidden if error.hint().is_none() => error.with_hint(RIGHTS),
                    _ => error,
                })
            });
        }
        for selector in &events {
            let mut source = self.source(Watch::Events, selector.clone());
            let out = self.out.clone();
            self.spawn(async move {
                match source.run().await {
                    Err(error) if error.trouble() == Trouble::Forbidden => {
                        let had_listed = source.has_listed();
                        let _ = out.send(Message::NoEvents { had_listed }).await;
                        Ok(())
                    }
                    ended => ended,
                }
            });
        }
        self.ask_server();
        targets.len() + events.len()
    }

    fn source(&self, watch: Watch, selector: Selector) -> Source {
        let plural = match watch {
            Watch::Pods => "pods",
            Watch::Events => "events",
        };
        Source {
            api: self.api.clone(),
            watch,
            collection: format!("/api/v1/namespaces/{}/{plural}", self.namespace),
            selector,
            owner: None,
            clock: self.clock,
            out: self.out.clone(),
            memory: Memory::default(),
        }
    }

    fn spawn(&mut self, task: impl Future<Output = Result<(), Error>> + Send + 'static) {
        let out = self.out.clone();
        self.running.spawn(async move {
            if let Err(error) = task.await {
                let _ = out.send(Message::Failed(error)).await;
            }
        });
    }

    fn ask_server(&mut self) {
        let (api, out) = (self.api.clone(), self.out.clone());
        self.running.spawn(async move {
            // Every server tells its version; one that does not is in trouble that others tell.
            if let Some(version) = objects::server_version(&api).await {
                let _ = out.send(Message::Ready(Incoming::Server(version))).await;
            }
        });
    }

    /// Asks for the version of a node's kubelet.
    pub fn ask_node(&mut self, node: String) {
        let (api, out) = (self.api.clone(), self.out.clone());
        self.running.spawn(async move {
            let version = objects::kubelet_version(&api, &node).await;
            let _ = out.send(Message::Node(node, version)).await;
        });
    }

    /// Asks whether a Service exists; says nothing if that may not be known.
    pub fn ask_service(&mut self, namespace: String, name: String) {
        let (api, out) = (self.api.clone(), self.out.clone());
        self.running.spawn(async move {
            let collection = BuiltIn::Service.resource().collection(Some(&namespace));
            let exists = match api.object(&collection, &name).await {
                Ok(_) => true,
                Err(error) if error.trouble() == Trouble::NotFound => false,
                Err(_) => return,
            };
            let answer = Incoming::Service {
                namespace,
                name,
                exists,
            };
            let _ = out.send(Message::Ready(answer)).await;
        });
    }
}

/// What a user of `watch` has to be allowed.
const RIGHTS: &str = "watch needs get, list and watch on pods; on events, too, to see hooks";

/// Which events are wanted: those of each pod when pods are named, else those of all pods.
fn event_selectors(targets: &[Target]) -> BTreeSet<Selector> {
    let mut selectors = BTreeSet::new();
    for target in targets {
        let fields = match target {
            Target::Named {
                resource: Type::BuiltIn(BuiltIn::Pod),
                name,
            } => format!("involvedObject.kind=Pod,involvedObject.name={name}"),
            Target::Named { .. } | Target::Labels(_) => {
                return BTreeSet::from([fields_only("involvedObject.kind=Pod".to_owned())]);
            }
        };
        selectors.insert(fields_only(fields));
    }
    selectors
}

fn fields_only(fields: String) -> Selector {
    Selector {
        fields: Some(fields),
        labels: None,
    }
}

/// Which pods a target means. A pod is selected by its name, not by its path, because a Role that
/// names it (`resourceNames`) allows exactly this list and this watch.
async fn scope(
    api: &Api,
    namespace: &str,
    target: &Target,
) -> Result<(Option<Owner>, Selector), Error> {
    let (resource, name) = match target {
        Target::Labels(labels) => {
            let labels = Some(labels.clone());
            return Ok((
                None,
                Selector {
                    fields: None,
                    labels,
                },
            ));
        }
        Target::Named { resource, name } => (resource, name),
    };
    let found = match resource {
        Type::BuiltIn(BuiltIn::Pod) => {
            return Ok((None, fields_only(format!("metadata.name={name}"))));
        }
        Type::BuiltIn(BuiltIn::Service | BuiltIn::PodTemplate) | Type::Custom { .. } => {
            let resource = discovery::resolve(api, resource).await?;
            let found = owner::selected_by(api, namespace, &resource, name).await;
            found.map(|selector| (None, selector))
        }
        Type::BuiltIn(kind) => Owner::find(api, namespace, *kind, name)
            .await
            .map(|(owner, selector)| (Some(owner), selector)),
    };
    match found {
        Err(error) if error.trouble() == Trouble::Forbidden => Err(match resource {
            Type::BuiltIn(BuiltIn::Deployment) => {
                error.with_hint("deploy/x needs get on deployments and list on replicasets, too")
            }
            Type::BuiltIn(BuiltIn::CronJob) => {
                error.with_hint("cronjob/x needs get on cronjobs and list on jobs, too")
            }
            Type::BuiltIn(_) | Type::Custom { .. } => error,
        }),
        Err(error) => Err(objects::explained(api, resource, name, error).await),
        found => found,
    }
}
