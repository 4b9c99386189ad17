//! Puts what the tasks tell into the order in which a reader can use it.

use super::api::text;
use super::error::{Error, Trouble};
use super::source::{Change, Watch};
use super::stream::{Incoming, Warning};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What the tasks of one run tell.
pub(super) enum Message {
    Change {
        watch: Watch,
        change: Change,
        at: Timestamp,
        object: Value,
    },
    Listed,
    Lost(String),
    Back,
    Ready(Incoming),
    Node(String, Result<String, Error>),
    NoEvents {
        had_listed: bool,
    },
    Failed(Error),
}

/// Puts together what the tasks tell: events behind their pods, versions once a node.
pub(super) struct Desk {
    /// The pods that have come, with the version that came last.
    pods: BTreeMap<String, String>,
    /// Names under which events may speak of those pods.
    subjects: BTreeSet<String>,
    /// Events whose pod has not come, oldest first.
    early: VecDeque<(String, Value)>,
    /// Nodes to ask for their kubelet's version.
    pub nodes: Vec<String>,
    asked_nodes: BTreeSet<String>,
    /// First lists and nodes that are still to come.
    outstanding: usize,
    has_listed: bool,
    /// How many sources have lost the server.
    lost: usize,
    may_read_nodes: bool,
    may_read_events: bool,
}

/// How many events may wait for their pod: those of pods that nobody asked for never find one.
const EARLY: usize = 2048;

impl Desk {
    /// `lists` first lists are to come.
    pub fn new(lists: usize) -> Desk {
        Desk {
            pods: BTreeMap::new(),
            subjects: BTreeSet::new(),
            early: VecDeque::new(),
            nodes: Vec::new(),
            asked_nodes: BTreeSet::new(),
            outstanding: lists,
            has_listed: false,
            lost: 0,
            may_read_nodes: true,
            may_read_events: true,
        }
    }

    /// What the listener gets to hear of a message, in order.
    pub fn take(&mut self, message: Message) -> Result<Vec<Incoming>, Error> {
        let mut incoming = match message {
            Message::Change {
                watch,
                change,
                at,
                object,
            } => self.changed(watch, change, at, object),
            Message::Listed => {
                self.outstanding -= 1;
                Vec::new()
            }
            Message::Ready(incoming) => vec![incoming],
            Message::Node(node, version) => self.node(node, version),
            Message::NoEvents { had_listed } => self.no_events(had_listed),
            Message::Lost(reason) => {
                self.lost += 1;
                let first = self.lost == 1;
                first
                    .then_some(Incoming::Lost(reason))
                    .into_iter()
                    .collect()
            }
            Message::Back => {
                self.lost = self.lost.saturating_sub(1);
                let last = self.lost == 0;
                last.then_some(Incoming::Back).into_iter().collect()
            }
            Message::Failed(error) => return Err(error),
        };
        if self.outstanding == 0 && !self.has_listed {
            self.has_listed = true;
            incoming.push(Incoming::Listed);
        }
        Ok(incoming)
    }

    fn changed(
        &mut self,
        watch: Watch,
        change: Change,
        at: Timestamp,
        object: Value,
    ) -> Vec<Incoming> {
        if change == Change::Relist {
            return vec![Incoming::Line(line(watch, change, at, object))];
        }
        match watch {
            Watch::Pods => self.pod(change, at, object),
            Watch::Events => self.event(change, at, object),
        }
    }

    fn pod(&mut self, change: Change, at: Timestamp, object: Value) -> Vec<Incoming> {
        let uid = text(&object, "/metadata/uid").to_owned();
        let version = text(&object, "/metadata/resourceVersion").to_owned();
        // Two targets may select the same pod.
        let is_known = match change {
            Change::Deleted => self.pods.remove(&uid).is_none(),
            Change::Added | Change::Modified | Change::Relist => {
                self.pods.insert(uid.clone(), version.clone()) == Some(version)
            }
        };
        if is_known {
            return Vec::new();
        }
        self.node_of(&object);
        // Events of a static pod speak of the UID that its kubelet made, not of the API's.
        let made = text(&object, "/metadata/annotations/kubernetes.io~1config.hash").to_owned();
        let mut incoming = vec![Incoming::Line(line(Watch::Pods, change, at, object))];
        for subject in [uid, made] {
            if !subject.is_empty() && self.subjects.insert(subject.clone()) {
                incoming.extend(self.early_events(&subject));
            }
        }
        incoming
    }

    fn node_of(&mut self, pod: &Value) {
        let node = text(pod, "/spec/nodeName");
        if !node.is_empty() && self.asked_nodes.insert(node.to_owned()) {
            self.nodes.push(node.to_owned());
            self.outstanding += 1;
        }
    }

    fn early_events(&mut self, subject: &str) -> Vec<Incoming> {
        let early = std::mem::take(&mut self.early).into_iter();
        let (found, kept): (Vec<_>, Vec<_>) = early.partition(|(uid, _)| uid == subject);
        self.early = kept.into();
        found
            .into_iter()
            .map(|(_, line)| Incoming::Line(line))
            .collect()
    }

    fn event(&mut self, change: Change, at: Timestamp, object: Value) -> Vec<Incoming> {
        let subject = text(&object, "/involvedObject/uid").to_owned();
        let line = line(Watch::Events, change, at, object);
        if self.subjects.contains(&subject) {
            return vec![Incoming::Line(line)];
        }
        if self.early.len() >= EARLY {
            self.early.pop_front();
        }
        self.early.push_back((subject, line));
        Vec::new()
    }

    fn node(&mut self, node: String, version: Result<String, Error>) -> Vec<Incoming> {
        self.outstanding -= 1;
        let error = match version {
            Ok(version) => {
                let version = Some(version);
                return vec![Incoming::Kubelet { node, version }];
            }
            Err(error) => error,
        };
        if !matches!(error.trouble(), Trouble::Forbidden | Trouble::NotFound) {
            // The next change of a pod there asks again.
            self.asked_nodes.remove(&node);
            return Vec::new();
        }
        let mut incoming = Vec::new();
        if error.trouble() == Trouble::Forbidden && std::mem::take(&mut self.may_read_nodes) {
            incoming.push(Incoming::Warning(Warning::NoNodes));
        }
        let version = None;
        incoming.push(Incoming::Kubelet { node, version });
        incoming
    }

    fn no_events(&mut self, had_listed: bool) -> Vec<Incoming> {
        self.outstanding -= usize::from(!had_listed);
        match std::mem::take(&mut self.may_read_events) {
            true => vec![Incoming::Warning(Warning::NoEvents)],
            false => Vec::new(),
        }
    }
}

fn line(watch: Watch, change: Change, at: Timestamp, object: Value) -> Value {
    let watch = match watch {
        Watch::Pods => "pods",
        Watch::Events => "events",
    };
    let change = match change {
        Change::Added => "ADDED",
        Change::Modified => "MODIFIED",
        Change::Deleted => "DELETED",
        Change::Relist => "RELIST",
    };
    let mut line = Map::new();
    line.insert("at".to_owned(), format!("{at:.6}").into());
    line.insert("watch".to_owned(), watch.into());
    line.insert("type".to_owned(), change.into());
    line.insert("object".to_owned(), object);
    Value::Object(line)
}
