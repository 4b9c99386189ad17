//! Finds pod specs by their shape, at any depth of any kind.

use super::odd;
use super::template::PodTemplate;
use super::workload::ObjectRef;
use crate::manifest::path::Segment;
use crate::manifest::{FieldPath, Node};

/// A mapping below an object that has the shape looked for.
pub(super) struct Found<'d> {
    /// The mapping that holds it, whose metadata is the pod's.
    pub(super) owner: Node<'d>,
    pub(super) spec: Node<'d>,
    /// The way from the object to it, last step first.
    steps: Vec<Segment>,
}

impl Found<'_> {
    /// Where the mapping and its owner stand, in this order.
    pub(super) fn places(&self, object: &FieldPath) -> (FieldPath, FieldPath) {
        let spec_at = object.below(self.steps.iter().rev().cloned());
        let owner_at = if self.owner == self.spec {
            spec_at.clone()
        } else {
            spec_at.parent().unwrap_or_default()
        };
        (spec_at, owner_at)
    }
}

/// The pod templates of an object whose pod specs have a list `containers`.
pub(super) fn templates(root: Node<'_>, at: &FieldPath, object: &ObjectRef) -> Vec<PodTemplate> {
    let read = |found: Found<'_>| {
        let (spec_at, owner_at) = found.places(at);
        let mut template =
            PodTemplate::read(found.owner, owner_at.clone(), found.spec, spec_at.clone());
        template.is_partial |= adds_its_own(object, at, &spec_at);
        template.odd_fields = odd::find(&found, &spec_at, &owner_at, object);
        template
    };
    find(root, is_pod_spec).into_iter().map(read).collect()
}

/// A kind whose own `spec` has `containers` beside settings of its operator, which adds the main
/// container: Prometheus, Alertmanager, SidecarSet.
fn adds_its_own(object: &ObjectRef, at: &FieldPath, spec_at: &FieldPath) -> bool {
    let is_whole = object.is_built_in() || matches!(object.kind.as_str(), "Pod" | "Revision");
    !is_whole && *spec_at == at.key("spec")
}

/// All mappings of a shape below an object; one inside another is not looked for.
pub(super) fn find<'d>(root: Node<'d>, has_shape: fn(Node<'_>) -> bool) -> Vec<Found<'d>> {
    let mut found = Vec::new();
    search(root, root, has_shape, &mut found, 0);
    found
}

/// The most levels below an object that a pod spec is looked for.
const DEPTH: usize = 16;

fn search<'d>(
    owner: Node<'d>,
    node: Node<'d>,
    has_shape: fn(Node<'_>) -> bool,
    found: &mut Vec<Found<'d>>,
    depth: usize,
) {
    if depth > DEPTH {
        return;
    }
    if node.is_sequence() {
        for (index, item) in node.items().enumerate().filter(|(_, item)| !is_leaf(*item)) {
            let before = found.len();
            search(item, item, has_shape, found, depth + 1);
            found[before..]
                .iter_mut()
                .for_each(|one| one.steps.push(Segment::Index(index)));
        }
        return;
    }
    if has_shape(node) {
        found.push(Found {
            owner,
            spec: node,
            steps: Vec::new(),
        });
        return;
    }
    for (key, value) in node.own_entries() {
        let Some(key) = key.text().filter(|_| !is_leaf(value)) else {
            continue;
        };
        if !matches!(key, "metadata" | "status" | "openAPIV3Schema" | "<<") {
            let before = found.len();
            search(node, value, has_shape, found, depth + 1);
            found[before..]
                .iter_mut()
                .for_each(|one| one.steps.push(Segment::of_key(key)));
        }
    }
}

fn is_leaf(node: Node<'_>) -> bool {
    !node.is_mapping() && !node.is_sequence()
}

fn is_pod_spec(node: Node<'_>) -> bool {
    let is_container = |item: Node<'_>| {
        item.get("name").is_some_and(is_leaf) || item.get("image").is_some_and(is_leaf)
    };
    node.get("containers").is_some_and(|list| {
        list.is_sequence()
            && list.items().next().is_some()
            && list
                .items()
                .all(|item| item.is_mapping() && is_container(item))
    })
}
