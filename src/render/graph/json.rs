//! The waits for programs.

use super::Picture;
use crate::graph::{Edge, Goal};
use crate::plan::{AtBound, Bound};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints one object: `workloads`, `waits` and `cycles`. Workloads are named by their place.
pub fn to_json(picture: &Picture<'_>, out: &mut dyn Write) -> io::Result<()> {
    let nodes = 0..picture.graph.nodes.len();
    let value = json!({
        "version": 1,
        "workloads": nodes.map(|node| workload(picture, node)).collect::<Vec<_>>(),
        "waits": picture.graph.edges.iter().map(|edge| wait(picture, edge)).collect::<Vec<_>>(),
        "cycles": picture.graph.cycles(),
        "neverStart": picture.graph.stuck(),
    });
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)
}

fn workload(picture: &Picture<'_>, node: usize) -> Value {
    let object = picture.object(node);
    json!({
        "apiVersion": object.api_version,
        "kind": object.kind,
        "namespace": object.namespace,
        "name": object.name,
        "file": picture.file(node),
        "line": picture.place(node).map(|place| place.line),
    })
}

fn wait(picture: &Picture<'_>, edge: &Edge<'_>) -> Value {
    let (namespace, name, behind) = match &edge.goal {
        Goal::Service { found, behind } => {
            let object = &found.service.object;
            let namespace = picture.run.namespace_of(object);
            (namespace, &object.name, Some(behind))
        }
        Goal::Missing(missing) => (missing.namespace.as_str(), &missing.name, None),
    };
    let place = picture.place_of(edge);
    let (bound, seconds) = bound(edge.waiting.wait.bound);
    json!({
        "workload": edge.from,
        "container": picture.container(edge),
        "stage": edge.waiting.stage.word(),
        "tool": edge.waiting.wait.tool,
        "repeats": edge.waiting.wait.repeats,
        "bound": bound,
        "seconds": seconds,
        "service": {"namespace": namespace, "name": name, "found": behind.is_some()},
        "port": edge.waiting.port(),
        "behind": behind.into_iter().flatten().collect::<Vec<_>>(),
        "remark": Some(picture.remark(edge)).filter(|remark| !remark.is_empty()),
        "file": picture.file(edge.from),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
    })
}

/// What happens when nothing comes, and after how many seconds.
fn bound(bound: Bound) -> (&'static str, Option<u64>) {
    match bound {
        Bound::Unbounded => ("unbounded", None),
        Bound::Unknown => ("unknown", None),
        Bound::Bounded { upper, then } => {
            let word = match then {
                AtBound::Fails => "fails",
                AtBound::GoesOn => "goesOn",
            };
            (word, upper.map(|upper| upper.as_secs()))
        }
    }
}
