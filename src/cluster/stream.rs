//! `follow`: pods and their events as they come, in the form of a recording's lines.

use super::client::Connection;
use super::desk::Desk;
use super::error::Error;
use super::objects;
use super::targets::{BuiltIn, Target};
use super::tasks::Tasks;
use jiff::Timestamp;
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// How to follow.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The watcher's clock; each line carries its time of arrival.
    pub clock: fn() -> Timestamp,
    /// How often [`Incoming::Tick`] comes; 100 ms for a picture that is redrawn.
    pub tick: Duration,
}

/// What comes in.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A line of a recording: `at` (microseconds), `watch` (`pods`, `events`), `type` and `object`.
    ///
    /// A line of type `RELIST` marks a gap: what happened since the line before it may be lost.
    /// Its object holds only the list's `metadata.resourceVersion`. The lines behind it tell what
    /// is new since then, as if it happened now. Events come only for pods that came before them.
    Line(Value),
    /// All that was there at the start has come: pods, events, and the versions of their nodes.
    Listed,
    /// The server's version (`v1.37.2`).
    Server(String),
    /// The version of the kubelet on a node that a pod was bound to; none if it may not be read.
    Kubelet {
        /// The node's name.
        node: String,
        /// Its kubelet's version (`v1.37.2`).
        version: Option<String>,
    },
    /// The answer to [`Asked::service`]; never comes without the right to get Services.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Whether it is there.
        exists: bool,
    },
    /// Something that the user needs to know once.
    Warning(Warning),
    /// The server is gone, and why, in a sentence; it is tried again until it is back.
    Lost(String),
    /// All is being followed again; `RELIST` lines mark the gap.
    Back,
    /// Time to draw, or to see whether the time is up.
    Tick,
    /// The user pressed Ctrl-C.
    Interrupt,
}

/// What makes the picture less than it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Events may not be listed or watched.
    NoEvents,
    /// Nodes may not be read, so that the server's version stands for the kubelets'.
    NoNodes,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Warning::NoEvents => {
                "no right to watch events: starts to the second only, hooks not at all"
            }
            Warning::NoNodes => {
                "no right to get nodes: the server's version stands for the kubelet's"
            }
        })
    }
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Enough.
    Stop,
}

/// What the listener wants to know besides.
#[derive(Debug, Default)]
pub struct Asked {
    /// Namespaces and names.
    pub(super) services: Vec<(String, String)>,
}

impl Asked {
    /// Asks whether a Service exists; [`Incoming::Service`] answers. It may be asked again.
    pub fn service(&mut self, namespace: &str, name: &str) {
        self.services.push((namespace.to_owned(), name.to_owned()));
    }
}

impl Connection {
    /// Follows pods and their events until `on_incoming` says stop.
    ///
    /// The calls come from the thread that asked. The connection serves nothing else meanwhile:
    /// its other functions are not to be called from there.
    ///
    /// # Errors
    /// The server cannot be reached at the start; pods may not be listed and watched; an owner does
    /// not exist. A *pod* that does not exist is waited for: [`Incoming::Listed`] comes without it.
    pub fn follow(
        &self,
        targets: &[Target],
        options: Options,
        mut on_incoming: impl FnMut(Incoming, &mut Asked) -> Flow,
    ) -> Result<(), Error> {
        self.runtime.block_on(async {
            let (out, mut inbox) = mpsc::channel(1024);
            let mut tasks = Tasks {
                api: self.api.clone(),
                namespace: self.namespace.clone(),
                clock: options.clock,
                out,
                running: JoinSet::new(),
            };
            let mut desk = Desk::new(tasks.start(targets));
            let mut ticks = tokio::time::interval(options.tick);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            let mut interrupt = Box::pin(tokio::signal::ctrl_c());
            let mut asked = Asked::default();
            loop {
                let incoming = tokio::select! {
                    _ = &mut interrupt => {
                        interrupt = Box::pin(tokio::signal::ctrl_c());
                        vec![Incoming::Interrupt]
                    }
                    _ = ticks.tick() => vec![Incoming::Tick],
                    Some(message) = inbox.recv() => desk.take(message)?,
                };
                for incoming in incoming {
                    if on_incoming(incoming, &mut asked) == Flow::Stop {
                        return Ok(());
                    }
                }
                desk.nodes.drain(..).for_each(|node| tasks.ask_node(node));
                let services = asked.services.drain(..);
                services.for_each(|(namespace, name)| tasks.ask_service(namespace, name));
            }
        })
    }

    /// That a pod does not exist, with the namespace that has one, if that may be known.
    /// For after `follow`.
    pub fn no_such_pod(&self, name: &str) -> Error {
        let resource = BuiltIn::Pod.resource();
        let found = objects::elsewhere(&self.api, &resource, name);
        let hint = self.runtime.block_on(found);
        let error = Error::not_found("pods", name);
        let waits = "--until ready waits for a new one";
        error.with_hint(match hint {
            Some(elsewhere) => format!("{elsewhere}; {waits}"),
            None => waits.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::api::text;
    use super::super::environment::Environment;
    use super::super::error::Trouble;
    use super::super::fake::{Fake, Reply};
    use super::super::targets::parse;
    use super::*;
    use serde_json::json;

    const OPTIONS: Options = Options {
        clock: || Timestamp::UNIX_EPOCH,
        tick: Duration::from_millis(10),
    };

    fn pod(version: &str) -> Value {
        json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "sample", "uid": "u-1", "resourceVersion": version, "managedFields": [1]},
            "spec": {"nodeName": "n1"},
        })
    }

    fn event(name: &str, version: &str, pod: &str) -> Value {
        json!({
            "kind": "Event", "apiVersion": "v1",
            "metadata": {"name": name, "uid": name, "resourceVersion": version},
            "involvedObject": {"kind": "Pod", "name": "sample", "uid": pod},
        })
    }

    fn list(kind: &str, version: &str, items: &[Value]) -> Reply {
        let body = json!({
            "kind": format!("{kind}List"), "apiVersion": "v1",
            "metadata": {"resourceVersion": version}, "items": items,
        });
        Reply::Whole(200, body.to_string())
    }

    fn change(kind: &str, object: Value) -> String {
        json!({"type": kind, "object": object}).to_string()
    }

    fn refused(code: u16, reason: &str, message: &str) -> Reply {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure",
            "code": code, "reason": reason, "message": message,
        });
        Reply::Whole(code, status.to_string())
    }

    /// The answers that do not matter to a test.
    fn common(path: &str) -> Reply {
        match path {
            "/version?" => Reply::Whole(200, json!({"gitVersion": "v1.37.2"}).to_string()),
            "/api/v1/nodes/n1" => {
                let node = json!({"status": {"nodeInfo": {"kubeletVersion": "v1.36.1"}}});
                Reply::Whole(200, node.to_string())
            }
            _ if path.contains("watch=true") => Reply::Open(Vec::new()),
            _ => list("Thing", "1", &[]),
        }
    }

    /// What comes in until `done` says that it is enough, without ticks.
    fn follow(
        fake: &Fake,
        word: &str,
        done: impl Fn(&[Incoming]) -> bool,
    ) -> (Result<(), Error>, Vec<Incoming>) {
        let connection = Connection::to(&fake.url, &Environment::default());
        let targets = parse(&[word.to_owned()], None).unwrap();
        let mut seen = Vec::new();
        let mut ticks = 0;
        let result = connection.follow(&targets, OPTIONS, |incoming, _| {
            match incoming {
                Incoming::Tick => ticks += 1,
                incoming => seen.push(incoming),
            }
            assert!(ticks < 1000, "nothing more comes: {seen:#?}");
            if done(&seen) {
                Flow::Stop
            } else {
                Flow::Continue
            }
        });
        (result, seen)
    }

    /// `pods ADDED 5` for a line.
    fn told(incoming: &[Incoming]) -> Vec<String> {
        let brief = |line: &Value| {
            let version = text(line, "/object/metadata/resourceVersion");
            format!("{} {} {version}", text(line, "/watch"), text(line, "/type"))
        };
        let lines = incoming.iter().filter_map(|incoming| match incoming {
            Incoming::Line(line) => Some(brief(line)),
            _ => None,
        });
        lines.collect()
    }

    #[test]
    fn a_watch_that_is_too_old_lists_again_and_leaves_a_visible_gap() {
        let fake = Fake::start(|path, before| {
            let is_pods = path.starts_with("/api/v1/namespaces/default/pods?");
            match (is_pods, path.contains("watch=true"), before) {
                (true, false, 0) => list("Pod", "5", &[pod("5")]),
                (true, false, _) => list("Pod", "9", &[pod("8")]),
                (true, true, _) if path.contains("resourceVersion=5") => Reply::Ended(vec![
                    change("MODIFIED", pod("6")),
                    change(
                        "BOOKMARK",
                        json!({
                            "kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "7"},
                        }),
                    ),
                ]),
                (true, true, _) if path.contains("resourceVersion=7") => {
                    let gone = json!({
                        "kind": "Status", "apiVersion": "v1", "status": "Failure",
                        "code": 410, "reason": "Expired", "message": "too old",
                    });
                    Reply::Open(vec![change("ERROR", gone)])
                }
                (true, true, _) => Reply::Open(vec![change("DELETED", pod("10"))]),
                _ => common(path),
            }
        });
        let (result, seen) = follow(&fake, "pod/sample", |seen| told(seen).len() == 5);
        result.unwrap();
        let want = [
            "pods ADDED 5",
            "pods MODIFIED 6",
            "pods RELIST 9",
            "pods MODIFIED 8",
            "pods DELETED 10",
        ];
        assert_eq!(told(&seen), want);
        let Some(Incoming::Line(first)) =
            seen.iter().find(|seen| matches!(seen, Incoming::Line(_)))
        else {
            panic!("no line");
        };
        let keys: Vec<_> = first.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["at", "watch", "type", "object"]);
        assert_eq!(first["at"], "1970-01-01T00:00:00.000000Z");
        assert_eq!(first["object"]["kind"], "Pod");
        assert!(first["object"]["metadata"].get("managedFields").is_none());
        let selects = |path: &String| path.contains("fieldSelector=metadata.name%3Dsample");
        let requests = fake.requests();
        let mut pods = requests.iter().filter(|path| path.contains("/pods?"));
        assert!(
            pods.all(selects),
            "a Role with resourceNames allows no less: {requests:?}"
        );
    }

    #[test]
    fn all_that_was_there_comes_before_listed_and_events_of_others_never() {
        let fake = Fake::start(|path, _| match path {
            _ if path.contains("watch=true") => common(path),
            _ if path.contains("/pods?") => list("Pod", "5", &[pod("5")]),
            _ if path.contains("/events?") => list(
                "Event",
                "5",
                &[event("sample.1", "3", "u-1"), event("sample.0", "2", "u-0")],
            ),
            _ => common(path),
        });
        let (_, seen) = follow(&fake, "pod/sample", |seen| seen.contains(&Incoming::Listed));
        assert_eq!(told(&seen), ["pods ADDED 5", "events ADDED 3"]);
        let kubelet = Incoming::Kubelet {
            node: "n1".into(),
            version: Some("v1.36.1".into()),
        };
        assert!(seen.contains(&kubelet), "{seen:#?}");
    }

    #[test]
    fn without_the_right_to_watch_events_pods_are_followed_all_the_same() {
        let fake = Fake::start(|path, _| match path {
            _ if path.contains("/events?") => refused(403, "Forbidden", "events is forbidden"),
            _ if path.contains("/pods?") && !path.contains("watch=true") => {
                list("Pod", "5", &[pod("5")])
            }
            "/api/v1/nodes/n1" => refused(403, "Forbidden", "nodes is forbidden"),
            _ => common(path),
        });
        let (result, seen) = follow(&fake, "pod/sample", |seen| seen.contains(&Incoming::Listed));
        result.unwrap();
        assert_eq!(told(&seen), ["pods ADDED 5"]);
        assert!(seen.contains(&Incoming::Warning(Warning::NoEvents)));
        assert!(seen.contains(&Incoming::Warning(Warning::NoNodes)));
    }

    #[test]
    fn without_the_right_to_watch_pods_the_server_says_which_is_missing() {
        let message = "pods \"sample\" is forbidden: User \"viewer\" cannot list resource \"pods\"";
        let fake = Fake::start(move |path, _| match path {
            _ if path.contains("/pods?") => refused(403, "Forbidden", message),
            _ => common(path),
        });
        let (result, _) = follow(&fake, "pod/sample", |_| false);
        let error = result.unwrap_err();
        assert_eq!(error.trouble(), Trouble::Forbidden);
        assert_eq!(
            error.to_string(),
            format!("Error from server (Forbidden): {message}")
        );
        let hint = "watch needs get, list and watch on pods; on events, too, to see hooks";
        assert_eq!(error.hint(), Some(hint));
    }

    #[test]
    fn a_server_that_goes_and_comes_back_leaves_a_gap() {
        let fake = Fake::start(|path, before| {
            match (path.contains("/pods?"), path.contains("watch=true"), before) {
                (true, true, _) if path.contains("resourceVersion=5") && before > 0 => {
                    Reply::HangUp
                }
                (true, true, _) if path.contains("resourceVersion=5") => Reply::Ended(Vec::new()),
                (true, false, 1) => Reply::HangUp,
                (true, false, 0) => list("Pod", "5", &[pod("5")]),
                (true, false, _) => list("Pod", "9", &[]),
                _ => common(path),
            }
        });
        let (_, seen) = follow(&fake, "pod/sample", |seen| told(seen).len() == 3);
        assert_eq!(
            told(&seen),
            ["pods ADDED 5", "pods RELIST 9", "pods DELETED 5"]
        );
        let lost = seen
            .iter()
            .position(|seen| matches!(seen, Incoming::Lost(_)));
        let back = seen.iter().position(|seen| *seen == Incoming::Back);
        assert!(lost.is_some() && lost < back, "{seen:#?}");
    }

    #[test]
    fn of_a_deployment_only_the_newest_revision_counts_even_if_it_comes_later() {
        let set = |uid: &str, revision: &str| {
            json!({"metadata": {
                "uid": uid, "annotations": {"deployment.kubernetes.io/revision": revision},
                "ownerReferences": [{"controller": true, "uid": "d"}],
            }})
        };
        let owned = |name: &str, version: &str, set: &str| {
            json!({"kind": "Pod", "apiVersion": "v1", "metadata": {
                "name": name, "uid": name, "resourceVersion": version,
                "ownerReferences": [{"controller": true, "uid": set}],
            }})
        };
        let fake = Fake::start(move |path, before| match path {
            "/apis/apps/v1/namespaces/default/deployments/web" => {
                let web = json!({
                    "metadata": {"uid": "d", "generation": 2},
                    "spec": {"selector": {"matchLabels": {"app": "web"}}},
                    "status": {"observedGeneration": 2},
                });
                Reply::Whole(200, web.to_string())
            }
            _ if path.contains("/replicasets?") && before == 0 => {
                list("ReplicaSet", "4", &[set("r9", "9"), set("r10", "10")])
            }
            _ if path.contains("/replicasets?") => list(
                "ReplicaSet",
                "6",
                &[set("r9", "9"), set("r10", "10"), set("r11", "11")],
            ),
            _ if path.contains("/pods?") && path.contains("watch=true") => Reply::Open(vec![
                change("ADDED", owned("c", "6", "r11")),
                change("MODIFIED", owned("a", "7", "r9")),
                change("MODIFIED", owned("b", "8", "r10")),
            ]),
            _ if path.contains("/pods?") => {
                list("Pod", "5", &[owned("a", "1", "r9"), owned("b", "2", "r10")])
            }
            _ => common(path),
        });
        let (result, seen) = follow(&fake, "deploy/web", |seen| told(seen).len() == 3);
        result.unwrap();
        assert_eq!(
            told(&seen),
            ["pods ADDED 2", "pods ADDED 6", "pods MODIFIED 8"]
        );
        let requests = fake.requests();
        let selects = |path: &String| path.contains("/pods?") && path.contains("app%3Dweb");
        assert!(requests.iter().any(selects), "{requests:?}");
    }
}
