//! What keeps a pod from ever starting, as far as the manifest alone tells.

use super::{Prediction, names};
use crate::plan::gate::Gap;
use crate::plan::needs::Need;
use crate::pod::{Action, Role};

/// One sentence for each obstacle.
pub fn obstacles(prediction: &Prediction<'_>) -> Vec<String> {
    let name = |container| names::name(prediction.template, container);
    let mut all = Vec::new();
    if let Some(container) = prediction.plan.never_ends {
        let stuck = stuck(prediction, container);
        all.push(format!("{} never exits: {stuck}", name(container)));
    }
    all.extend(vain_waits(prediction).map(|need| {
        format!(
            "{} waits for {}, which is later: {}",
            name(need.dependent),
            name(need.provider),
            stuck(prediction, need.dependent)
        )
    }));
    for step in &prediction.plan.steps {
        let always_fails = has_failing_hook(prediction, step.container);
        let name = name(step.container);
        match step.role {
            Role::Sidecar if always_fails => all.push(format!(
                "{name}'s tcpSocket hook always fails: {}",
                stuck(prediction, step.container)
            )),
            Role::App if always_fails => all.push(format!(
                "{name}'s tcpSocket hook always fails: the kubelet kills {name} after each start"
            )),
            Role::Init | Role::Sidecar | Role::App | Role::Ephemeral => {}
        }
    }
    all
}

/// S5: a tcpSocket hook always fails, and then the kubelet kills its container.
pub fn has_failing_hook(prediction: &Prediction<'_>, container: usize) -> bool {
    let container = prediction.template.containers.get(container);
    let hook = container.and_then(|container| container.post_start.as_ref());
    matches!(hook, Some(Action::TcpSocket { .. }))
}

/// Whether the sequence never gets to its end.
pub fn is_stuck(prediction: &Prediction<'_>) -> bool {
    prediction.plan.never_ends.is_some() || vain_waits(prediction).next().is_some()
}

/// S8: an init container that goes on waiting for what starts only after it.
fn vain_waits<'a>(prediction: &Prediction<'a>) -> impl Iterator<Item = &'a Need> {
    let needs = prediction.plan.needs.iter();
    needs.filter(|need| need.has_own_wait && need.gap() == Some(Gap::LaterThanInit))
}

/// `the pod stays in Init:0/1 and app never starts`.
fn stuck(prediction: &Prediction<'_>, container: usize) -> String {
    let steps = &prediction.plan.steps;
    let is_init = |role: Role| matches!(role, Role::Init | Role::Sidecar);
    let inits = steps.iter().filter(|step| is_init(step.role));
    let before = inits.clone().filter(|step| step.container < container);
    let after: Vec<String> = steps
        .iter()
        .filter(|step| step.container > container)
        .map(|step| names::name(prediction.template, step.container))
        .collect();
    let state = format!("the pod stays in Init:{}/{}", before.count(), inits.count());
    match after.as_slice() {
        [] => state,
        [only] => format!("{state} and {only} never starts"),
        [..] => format!("{state}; {} never start", names::list(&after)),
    }
}
