//! Kinds whose pod templates hide from a look at their shape.

mod argo;
mod ray;
mod runner;
mod spark;
mod tekton;

use super::odd::{self, OddField};
use super::template::{Container, PodTemplate, Role, parts};
use super::workload::ObjectRef;
use crate::manifest::{FieldPath, Node};

/// A family of kinds with pod templates of their own form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Argo Workflows: each template with a container is a pod.
    Argo,
    /// Tekton: a task is a pod; its steps run one after the other.
    Tekton,
    /// The Spark operator: `driver` and `executor` are a container and a pod spec in one.
    Spark,
    /// The older runner kinds of actions-runner-controller: a runner's spec is its container, too.
    Runner,
    /// KubeRay: settings of the cluster become variables of the head.
    Ray,
}

fn family(object: &ObjectRef) -> Option<Family> {
    let group = object.api_version.split('/').next().unwrap_or_default();
    match (group, object.kind.as_str()) {
        (
            "argoproj.io",
            "Workflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate" | "CronWorkflow",
        ) => Some(Family::Argo),
        ("tekton.dev", _) => Some(Family::Tekton),
        ("sparkoperator.k8s.io", _) => Some(Family::Spark),
        ("actions.summerwind.dev", "Runner" | "RunnerDeployment" | "RunnerReplicaSet") => {
            Some(Family::Runner)
        }
        ("ray.io", _) => Some(Family::Ray),
        _ => None,
    }
}

/// Whether nothing of such an object is left for a look at the shape.
pub(super) fn are_all_known(object: &ObjectRef) -> bool {
    match family(object) {
        Some(Family::Argo | Family::Tekton | Family::Runner | Family::Ray) => true,
        Some(Family::Spark) | None => false,
    }
}

/// The pod templates of an object of a known family; nothing for other kinds.
pub(super) fn templates(root: Node<'_>, at: &FieldPath, object: &ObjectRef) -> Vec<PodTemplate> {
    match family(object) {
        Some(Family::Argo) => argo::templates(root, at),
        Some(Family::Tekton) => tekton::templates(root, at),
        Some(Family::Spark) => spark::templates(root, at),
        Some(Family::Runner) => runner::templates(root, at),
        Some(Family::Ray) => ray::templates(root, at, object),
        None => Vec::new(),
    }
}

/// The containers of a list that its kind adds to the pod.
fn list(node: Node<'_>, at: &FieldPath, key: &'static str, role: Role) -> Vec<Container> {
    parts(node, at, key, role)
        .map(|part| Container::read(part.node, part.role, part.at))
        .collect()
}

/// A mapping that is the pod's main container and holds the lists of the others: init containers,
/// the main one, the sidecars.
fn around_main(
    node: Node<'_>,
    at: &FieldPath,
    main: &str,
    image: Option<&str>,
    sidecars: &'static str,
) -> PodTemplate {
    let mut containers = list(node, at, "initContainers", Role::Init);
    let mut own = Container::read(node, Role::App, at.clone());
    main.clone_into(&mut own.name);
    own.image = own.image.or_else(|| image.map(str::to_owned));
    containers.push(own);
    containers.extend(list(node, at, sidecars, Role::App));
    // The controller has an image of its own for a main container without one.
    let is_partial = containers
        .iter()
        .any(|container| container.image.is_none() && container.at != *at);
    let mut template = PodTemplate::of(node, at.clone(), node, at.clone(), containers);
    template.is_partial = is_partial;
    template.odd_fields = odd::of_container(node, at);
    template
        .odd_fields
        .extend(odd_fields(node, at, &["initContainers", sidecars]));
    template
}

/// The odd fields of the containers of some lists.
fn odd_fields(node: Node<'_>, at: &FieldPath, lists: &[&'static str]) -> Vec<OddField> {
    let all = lists.iter().flat_map(|key| parts(node, at, key, Role::App));
    all.flat_map(|part| odd::of_container(part.node, &part.at))
        .collect()
}

/// A script that the controller puts in a file, as the words that run it.
fn script_words(interpreter: &[String], script: &str) -> Vec<String> {
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let shebang = script.trim_start().strip_prefix("#!");
    let first_line = shebang.and_then(|rest| rest.lines().next());
    let named = first_line
        .and_then(|line| line.split_whitespace().last())
        .or(interpreter.first().map(String::as_str));
    let is_shell = named.is_none_or(|name| {
        matches!(
            base(name).as_str(),
            "sh" | "bash" | "ash" | "dash" | "ksh" | "zsh"
        )
    });
    let name = named.map_or("sh".to_owned(), base);
    let option = match name.trim_end_matches(|letter: char| letter.is_ascii_digit()) {
        _ if is_shell => return ["sh", "-c", script].map(str::to_owned).into(),
        "python" => "-c",
        "node" | "ruby" | "perl" => "-e",
        "php" => "-r",
        _ => return interpreter.to_vec(),
    };
    vec![name, option.to_owned(), script.to_owned()]
}

#[cfg(test)]
mod tests;
