//! The Spark operator: the driver's and the executor's settings are those of a container, beside
//! the lists of its neighbours.

use super::around_main;
use crate::manifest::{FieldPath, Node};
use crate::pod::template::PodTemplate;

/// The containers' names that Spark itself gives.
const ROLES: [(&str, &str); 2] = [
    ("driver", "spark-kubernetes-driver"),
    ("executor", "spark-kubernetes-executor"),
];

/// A template for the driver and one for the executors, when they have neighbours.
pub(super) fn templates(root: Node<'_>, at: &FieldPath) -> Vec<PodTemplate> {
    let scheduled = root.find(&["spec", "template"]);
    let (spec, spec_at) = match (scheduled, root.get("spec")) {
        (Some(spec), _) => (spec, at.keys(&["spec", "template"])),
        (None, Some(spec)) => (spec, at.key("spec")),
        (None, None) => return Vec::new(),
    };
    let common = spec.get("image").and_then(Node::string);
    let has_neighbours = |node: &Node<'_>| {
        ["sidecars", "initContainers", "lifecycle"]
            .iter()
            .any(|key| node.get(key).is_some())
    };
    ROLES
        .iter()
        .filter_map(|(key, name)| {
            let node = spec.get(key).filter(has_neighbours)?;
            let mut template = around_main(node, &spec_at.key(*key), name, common, "sidecars");
            // The operator looks at this container alone to see that the driver has ended.
            template.ends_sidecars = true;
            Some(template)
        })
        .collect()
}
