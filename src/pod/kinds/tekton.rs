//! Tekton: the steps of a task run one after the other, once every sidecar is ready.

use super::{list, script_words};
use crate::manifest::{FieldPath, Node};
use crate::pod::shape;
use crate::pod::template::{Container, EnvVar, PodTemplate, Role, read_env};

/// One pod template for each task that an object holds, its own or a pipeline's.
pub(super) fn templates(root: Node<'_>, at: &FieldPath) -> Vec<PodTemplate> {
    let found = shape::find(root, is_task);
    found
        .iter()
        .map(|found| {
            let (task_at, owner_at) = found.places(at);
            read(found.owner, &owner_at, found.spec, &task_at)
        })
        .collect()
}

fn is_task(node: Node<'_>) -> bool {
    node.get("steps").is_some_and(|steps| {
        steps.is_sequence() && steps.items().next().is_some_and(Node::is_mapping)
    })
}

fn read(owner: Node<'_>, owner_at: &FieldPath, task: Node<'_>, at: &FieldPath) -> PodTemplate {
    let common = task.find(&["stepTemplate", "image"]).and_then(Node::string);
    let common_env = common_env(task, at);
    let sidecars = list(task, at, "sidecars", Role::App);
    let mut steps = list(task, at, "steps", Role::App);
    // The entrypoint of the first step waits until the kubelet reports each sidecar ready; without
    // a readinessProbe that is as soon as it runs.
    let mut before: Vec<String> = sidecars
        .iter()
        .filter(|sidecar| sidecar.readiness.is_some())
        .map(|sidecar| sidecar.name.clone())
        .collect();
    for (index, step) in steps.iter_mut().enumerate() {
        if step.name.is_empty() {
            step.name = format!("unnamed-{index}");
        }
        step.image = step.image.take().or_else(|| common.map(str::to_owned));
        let inherited = common_env
            .iter()
            .filter(|var| !step.env.iter().any(|own| own.name == var.name));
        let inherited: Vec<EnvVar> = inherited.cloned().collect();
        step.env.extend(inherited);
        step.started_after.clone_from(&before);
        before.push(step.name.clone());
    }
    read_scripts(task, &mut steps);
    steps.extend(sidecars);
    let mut template = PodTemplate::of(owner, owner_at.clone(), task, at.clone(), steps);
    template.ends_sidecars = true;
    template
}

/// The variables that every step gets, unless it sets them itself.
fn common_env(task: Node<'_>, at: &FieldPath) -> Vec<EnvVar> {
    let list = task.find(&["stepTemplate", "env"]);
    let items = list.into_iter().flat_map(Node::items).enumerate();
    let vars = items.map(|(index, item)| EnvVar {
        at: Some(at.keys(&["stepTemplate", "env"]).index(index).key("value")),
        ..read_env(item)
    });
    vars.collect()
}

fn read_scripts(task: Node<'_>, steps: &mut [Container]) {
    let nodes = task.get("steps").into_iter().flat_map(Node::items);
    let mappings = nodes.filter(|node| node.is_mapping());
    for (step, node) in steps.iter_mut().zip(mappings) {
        if let Some(script) = node.get("script").and_then(Node::string) {
            step.command = script_words(&step.command, script);
            step.script = Some(step.at.key("script"));
        }
    }
}
