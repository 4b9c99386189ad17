//! `graph`: waits across workloads as text, for Graphviz, for Mermaid, and for programs.

mod drawn;
mod json;
mod text;

pub use drawn::{to_dot, to_mermaid};
pub use json::to_json;
pub use text::to_text;

use crate::graph::{Edge, Goal, Graph};
use crate::manifest::Position;
use crate::plan::{AtBound, Bound};
use crate::pod::workload::ObjectRef;
use crate::run::{DocumentRead, Run};
use std::collections::BTreeSet;

/// What is drawn.
#[derive(Debug)]
pub struct Picture<'r> {
    /// What was read.
    pub run: &'r Run,
    /// Who waits for whom.
    pub graph: &'r Graph<'r>,
    /// The document of each node.
    pub documents: Vec<Option<&'r DocumentRead>>,
}

impl<'r> Picture<'r> {
    fn object(&self, node: usize) -> &'r ObjectRef {
        &self.graph.nodes[node].workload.object
    }

    /// `Deployment/web`, with its namespace when it is written.
    fn title(&self, node: usize) -> String {
        let object = self.object(node);
        match &object.namespace {
            Some(namespace) => format!("{namespace}/{}/{}", object.kind, object.name),
            None => format!("{}/{}", object.kind, object.name),
        }
    }

    fn file(&self, node: usize) -> &'r str {
        self.run.files[self.graph.nodes[node].source].source.name()
    }

    /// Where the workload stands: its name.
    fn place(&self, node: usize) -> Option<Position> {
        let workload = self.graph.nodes[node].workload;
        let document = &self.documents[node]?.document;
        let name = workload.at.keys(&["metadata", "name"]);
        let span = document.span_at(&name, &crate::manifest::Mark::Value)?;
        Some(document.source()?.position(span.start))
    }

    /// Where a wait stands.
    fn place_of(&self, edge: &Edge<'_>) -> Option<Position> {
        let document = &self.documents[edge.from]?.document;
        let template = &self.graph.nodes[edge.from].workload.template;
        let (at, mark) = edge.waiting.place(template);
        let span = document.span_at(&at, &mark)?;
        Some(document.source()?.position(span.start))
    }

    /// `init container wait-db`.
    fn container(&self, edge: &Edge<'_>) -> &'r str {
        let template = &self.graph.nodes[edge.from].workload.template;
        &template.containers[edge.waiting.container].name
    }

    /// The Service's name as the wait means it, with its port.
    fn goal(&self, edge: &Edge<'_>) -> String {
        let own = self.run.namespace_of(self.object(edge.from));
        let (namespace, name) = match &edge.goal {
            Goal::Service { found, .. } => {
                let object = &found.service.object;
                (self.run.namespace_of(object), object.name.as_str())
            }
            Goal::Missing(missing) => (missing.namespace.as_str(), missing.name.as_str()),
        };
        let space = match namespace == own {
            true => String::new(),
            false => format!("{namespace}/"),
        };
        let port = edge.waiting.port();
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        format!("{space}Service/{name}{port}")
    }

    /// The circles, and who is in one.
    fn cycles(&self) -> (Vec<Vec<usize>>, BTreeSet<usize>) {
        let cycles = self.graph.cycles();
        let members = cycles.iter().flatten().copied().collect();
        (cycles, members)
    }

    /// What is odd about a wait, in a few words; empty when nothing is.
    fn remark(&self, edge: &Edge<'_>) -> &'static str {
        match &edge.goal {
            Goal::Missing(_) => "not in this run",
            Goal::Service { found, behind } => {
                let service = found.service;
                let own = self.object(edge.from);
                let is_own = |node: &usize| self.object(*node) == own;
                if service.is_external {
                    "outside the cluster"
                } else if service.selector.is_empty() {
                    "has no selector"
                } else if behind.is_empty() {
                    "selects no pod of this run"
                } else if edge.needs_one_of().is_some() && behind.iter().all(is_own) {
                    "selects only the pod that waits"
                } else if edge.waiting.is_lookup() && !service.is_headless {
                    "its name only, which resolves at once"
                } else {
                    ""
                }
            }
        }
    }
}

/// How long a wait goes on: `for ever`, `up to 60 s, then fails`.
fn patience(edge: &Edge<'_>) -> String {
    let wait = edge.waiting.wait;
    match wait.bound {
        Bound::Unbounded => "for ever".to_owned(),
        Bound::Unknown => "for how long is not known".to_owned(),
        Bound::Bounded { upper, then } => {
            let time = upper.filter(|_| wait.repeats).map(|upper| upper.as_secs());
            let limit = match (wait.repeats, time) {
                (false, _) => "one try".to_owned(),
                (true, Some(seconds)) => format!("up to {seconds} s"),
                (true, None) => "for a time".to_owned(),
            };
            let then = match then {
                AtBound::Fails => "fails",
                AtBound::GoesOn => "goes on",
            };
            format!("{limit}, then {then}")
        }
    }
}
