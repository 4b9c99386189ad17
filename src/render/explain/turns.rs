//! Containers that their controller lets work one after the other: Tekton's steps, and those of an
//! Argo container set. The kubelet knows nothing of that and starts them all.

use super::{Prediction, names};
use crate::manifest::path::Segment;
use crate::plan::{Basis, Step};
use crate::pod::{Container, PodTemplate, Role};

/// When a container works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Which turn it is, from 0.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// What it waits for until then.
    pub wait: Option<String>,
}

/// The turn of a step's container; none where nobody keeps turns, and for what runs all the time.
pub fn turn(prediction: &Prediction<'_>, step: &Step) -> Option<Turn> {
    let template = prediction.template;
    let container = template.containers.get(step.container)?;
    if !are_kept(template) || !takes_turns(container) {
        return None;
    }
    let numbers = (0..template.containers.len()).map(|at| number(template, at));
    let before = before(template, container);
    Some(Turn {
        number: number(template, step.container),
        count: numbers.max().unwrap_or(0) + 1,
        wait: (!before.is_empty()).then(|| format!("waits for {}", listed(prediction, &before))),
    })
}

/// What each container waits for, in sentences, and how firmly.
pub fn sentences(prediction: &Prediction<'_>) -> Vec<(String, Option<Basis>)> {
    let template = prediction.template;
    let mut told = Vec::new();
    for (at, container) in template.containers.iter().enumerate() {
        let before = before(template, container);
        if before.is_empty() || !takes_turns(container) {
            continue;
        }
        let is_done = before
            .iter()
            .all(|at| takes_turns(&template.containers[*at]));
        let verb = match (is_done, before.len()) {
            (true, 1) => "has exited",
            (true, _) => "have exited",
            (false, 1) => "is ready",
            (false, _) => "are ready",
        };
        let text = format!(
            "{} works once {} {verb}",
            names::name(template, at),
            listed(prediction, &before)
        );
        told.push((text, Some(Basis::Polled)));
    }
    if !told.is_empty() {
        let why = "the kubelet starts them all; the controller's entrypoint in each of them waits";
        told.push((why.to_owned(), None));
    }
    told
}

fn are_kept(template: &PodTemplate) -> bool {
    let mut containers = template.containers.iter();
    containers.any(|container| !container.started_after.is_empty())
}

/// Sidecars run all the time, and init containers come before.
fn takes_turns(container: &Container) -> bool {
    let list = container.at.parent();
    let is_sidecar = list
        .is_some_and(|list| matches!(list.last(), Some(Segment::Key(key)) if key == "sidecars"));
    container.role == Role::App && !is_sidecar
}

/// One more than the latest of those that it waits for.
fn number(template: &PodTemplate, at: usize) -> usize {
    let mut numbers = vec![0; template.containers.len()];
    // Whoever is waited for may be listed later: as many rounds as there are containers settle it.
    for _ in 0..template.containers.len() {
        for (at, container) in template.containers.iter().enumerate() {
            let before = waited_for(template, container);
            numbers[at] = before.map(|other| numbers[other] + 1).max().unwrap_or(0);
        }
    }
    numbers
        .get(at)
        .copied()
        .unwrap_or(0)
        .min(template.containers.len())
}

fn waited_for<'t>(
    template: &'t PodTemplate,
    container: &'t Container,
) -> impl Iterator<Item = usize> + 't {
    let names = container.started_after.iter();
    names.filter_map(|name| template.containers.iter().position(|one| one.name == *name))
}

/// Those that a container waits for itself, without those that one of them waits for in turn.
fn before(template: &PodTemplate, container: &Container) -> Vec<usize> {
    let all: Vec<usize> = waited_for(template, container).collect();
    let is_implied = |at: &usize| {
        let name = &template.containers[*at].name;
        let mut others = all.iter().map(|other| &template.containers[*other]);
        others.any(|other| other.started_after.contains(name))
    };
    let direct = all.iter().filter(|at| !is_implied(at));
    direct.copied().collect()
}

fn listed(prediction: &Prediction<'_>, containers: &[usize]) -> String {
    let all: Vec<String> = containers
        .iter()
        .map(|at| names::name(prediction.template, *at))
        .collect();
    names::list(&all)
}
