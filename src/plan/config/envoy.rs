//! Envoy's bootstrap: listeners, the admin port, and the endpoints of its clusters.

use super::tree::{Steps, for_each_root};
use super::{Fact, Meaning};
use crate::manifest::Node;

/// Where it listens, and where it passes requests on.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    for_each_root(text, |root, line_of| {
        let mut steps = Steps::default();
        add(root, None, 0, &mut steps, line_of, &mut facts);
    });
    facts
}

/// Collects addresses below a node; `meaning` is that of the part of the tree around it.
fn add(
    node: Node<'_>,
    meaning: Option<Meaning>,
    depth: usize,
    steps: &mut Steps,
    line_of: &dyn Fn(Node<'_>) -> usize,
    facts: &mut Vec<Fact>,
) {
    if !steps.may_go_on(depth) {
        return;
    }
    for item in node.items().filter(|_| node.is_sequence()) {
        add(item, meaning, depth + 1, steps, line_of, facts);
    }
    if !node.is_mapping() {
        return;
    }
    if let Some((value, place)) = address(node)
        && let Some(meaning) = meaning
    {
        facts.push(Fact::new(line_of(place), "address", &value, meaning));
    }
    for (key, value) in node.entries() {
        let inner = match key {
            "listeners" | "admin" => Some(Meaning::Listens),
            "clusters" | "endpoints" | "lb_endpoints" => Some(Meaning::Forwards),
            _ => meaning,
        };
        add(value, inner, depth + 1, steps, line_of, facts);
    }
}

/// A socket address or a pipe, and the node to show for it.
fn address(node: Node<'_>) -> Option<(String, Node<'_>)> {
    if let Some(pipe) = node.find(&["pipe", "path"]) {
        return Some((format!("unix:{}", pipe.text()?), pipe));
    }
    let (host, port) = (node.get("address")?, node.get("port_value")?);
    Some((format!("{}:{}", host.text()?, port.int()?), port))
}
