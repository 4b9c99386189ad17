//! Argo Workflows: a template with `container`, `script` or `containerSet` is a pod.

use super::{list, odd_fields, script_words};
use crate::manifest::{FieldPath, Node};
use crate::pod::shape;
use crate::pod::template::{Container, PodTemplate, Role};

/// The controller's name of the only main container.
const MAIN: &str = "main";

/// One pod template for each template of the workflow that runs a container.
pub(super) fn templates(root: Node<'_>, at: &FieldPath) -> Vec<PodTemplate> {
    let found = shape::find(root, runs_a_pod);
    found
        .iter()
        .map(|found| {
            let (template_at, _) = found.places(at);
            read(found.spec, &template_at)
        })
        .collect()
}

fn runs_a_pod(node: Node<'_>) -> bool {
    ["container", "script", "containerSet"]
        .iter()
        .any(|key| node.get(key).is_some_and(Node::is_mapping))
}

fn read(node: Node<'_>, at: &FieldPath) -> PodTemplate {
    let mut containers = list(node, at, "initContainers", Role::Init);
    containers.extend(main(node, at));
    containers.extend(list(node, at, "sidecars", Role::App));
    let mut template = PodTemplate::of(node, at.clone(), node, at.clone(), containers);
    template.ends_sidecars = true;
    template.odd_fields = odd_fields(node, at, &["initContainers", "sidecars"]);
    template
}

fn main(node: Node<'_>, at: &FieldPath) -> Vec<Container> {
    if let Some(set) = node.get("containerSet") {
        return container_set(set, &at.key("containerSet"));
    }
    let (key, own) = match (node.get("container"), node.get("script")) {
        (Some(container), _) => ("container", container),
        (None, Some(script)) => ("script", script),
        (None, None) => return Vec::new(),
    };
    let mut container = Container::read(own, Role::App, at.key(key));
    if container.name.is_empty() {
        MAIN.clone_into(&mut container.name);
    }
    if let Some(source) = own.get("source").and_then(Node::string) {
        container.command = script_words(&container.command, source);
        container.script = Some(container.at.key("source"));
    }
    vec![container]
}

/// Containers of a set start together; the ones with `dependencies` work after those have ended.
fn container_set(set: Node<'_>, at: &FieldPath) -> Vec<Container> {
    let mut containers = list(set, at, "containers", Role::App);
    let nodes = set.get("containers").into_iter().flat_map(Node::items);
    let mappings = nodes.filter(|node| node.is_mapping());
    for (container, node) in containers.iter_mut().zip(mappings) {
        let names = node.get("dependencies").into_iter().flat_map(Node::items);
        let names = names.filter_map(|name| name.string().map(str::to_owned));
        container.started_after = names.collect();
    }
    containers
}
