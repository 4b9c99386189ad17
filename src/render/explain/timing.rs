//! What the waits cost, and what they do not cover.

use super::{Prediction, names, needs, obstacles};
use crate::plan::{Prior, Step};
use crate::pod::{Action, Container, Role};

/// Delays that the kubelet itself brings, a sentence each.
pub fn waits(prediction: &Prediction<'_>) -> Vec<String> {
    if obstacles::is_stuck(prediction) {
        return Vec::new();
    }
    let mut all = Vec::new();
    let exits = numbers(prediction, |step| matches!(step.after, Prior::Exited(_)));
    if let Some(steps) = exits {
        // S15.
        all.push(format!(
            "an exit is noticed after up to about 1 s ({steps})"
        ));
    }
    all.extend(probe_waits(prediction));
    if let Some(steps) =
        relisted(prediction).filter(|_| !prediction.plan.version.relists_after_sync())
    {
        all.push(format!(
            "{steps} up to about 1 s later: the kubelet re-reads its containers once a second"
        ));
    }
    all
}

/// The steps that wait until the kubelet has re-read its containers: a native sidecar's process
/// runs, or its hook has returned (S15).
pub fn relisted(prediction: &Prediction<'_>) -> Option<String> {
    numbers(prediction, |step| match step.after {
        Prior::Runs(_) => true,
        Prior::PostStartReturned(before) => is_native(prediction, before),
        Prior::SandboxReady
        | Prior::Exited(_)
        | Prior::StartupProbePassed(_)
        | Prior::StartReturned(_) => false,
    })
}

/// `step 2`, `steps 2 and 4`; none when no step is meant.
fn numbers(prediction: &Prediction<'_>, is_meant: impl Fn(&Step) -> bool) -> Option<String> {
    let steps = prediction.plan.steps.iter().enumerate();
    let numbers: Vec<String> = steps
        .filter(|(_, step)| is_meant(step))
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    match numbers.as_slice() {
        [] => None,
        [only] => Some(format!("step {only}")),
        [..] => Some(format!("steps {}", names::list(&numbers))),
    }
}

/// S14: a gating startupProbe costs up to one period.
fn probe_waits(prediction: &Prediction<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (at, step) in prediction.plan.steps.iter().enumerate() {
        let Prior::StartupProbePassed(before) = step.after else {
            continue;
        };
        let Some(probe) = container(prediction, before).and_then(|it| it.startup.as_ref()) else {
            continue;
        };
        let name = names::name(prediction.template, before);
        let (period, delay) = (probe.period.as_secs(), probe.initial_delay.as_secs());
        let begins = match delay {
            0 => String::new(),
            _ => format!("begins {delay} s after the start and "),
        };
        all.push(format!(
            "the probe {begins}ticks every {period} s: step {} up to {period} s after {name} serves",
            at + 1
        ));
    }
    all
}

/// What the order does not cover, a sentence each.
pub fn holes(prediction: &Prediction<'_>) -> Vec<String> {
    if obstacles::is_stuck(prediction) {
        return Vec::new();
    }
    let steps = prediction.plan.steps.iter();
    steps.flat_map(|step| holes_of(prediction, step)).collect()
}

fn holes_of(prediction: &Prediction<'_>, step: &Step) -> Vec<String> {
    let Some(container) = container(prediction, step.container) else {
        return Vec::new();
    };
    let name = names::name(prediction.template, step.container);
    let mut all: Vec<String> = late_crash(prediction, step).into_iter().collect();
    all.extend(untold_hook(prediction, step));
    if let (Some(Action::HttpGet { .. }), true) = (&container.post_start, step.role != Role::Init) {
        // S5.
        all.push(format!(
            "{name}'s hook is one request: refused fails it, any answer passes it"
        ));
    }
    let is_ungated = step.role == Role::Sidecar && container.startup.is_none();
    let probe = match (&container.readiness, &container.liveness) {
        (Some(_), _) => Some("readinessProbe"),
        (None, Some(_)) => Some("livenessProbe"),
        (None, None) => None,
    };
    if let Some(probe) = probe.filter(|_| is_ungated) {
        // S7.
        all.push(format!("{name}'s {probe} holds no container back"));
    }
    all
}

/// S13: a native sidecar that crashes while a later init container runs gates nobody again.
pub fn late_crash(prediction: &Prediction<'_>, step: &Step) -> Option<String> {
    let gates = container(prediction, step.container)?.startup.is_some();
    let later = prediction.plan.steps.iter().find(|later| {
        step.role == Role::Sidecar
            && gates
            && later.role == Role::Init
            && later.container > step.container
    })?;
    let name = |container| names::name(prediction.template, container);
    let apps: Vec<String> = prediction
        .plan
        .steps
        .iter()
        .filter(|step| step.role == Role::App)
        .map(|step| name(step.container))
        .collect();
    let apps = match apps.as_slice() {
        [only] => format!("{only} starts"),
        [..] => "the apps start".to_owned(),
    };
    Some(format!(
        "if {} crashes while {} runs, it is restarted, and {apps} without waiting for its \
         startupProbe a second time",
        name(step.container),
        name(later.container)
    ))
}

/// A hook that the next container waits for, when no need has told of it.
fn untold_hook(prediction: &Prediction<'_>, step: &Step) -> Option<String> {
    let next = prediction
        .plan
        .steps
        .iter()
        .find(|next| next.after == Prior::PostStartReturned(step.container))?;
    let hook = container(prediction, step.container)?.post_start.as_ref();
    let is_bounded = matches!(
        hook,
        None | Some(Action::HttpGet { .. } | Action::TcpSocket { .. } | Action::Sleep { .. })
    );
    if is_bounded || needs::is_held_by_hook(prediction.plan, step.container) {
        return None;
    }
    let name = |container| names::name(prediction.template, container);
    let provider = name(step.container);
    let failed = needs::if_hook_fails(&provider, &name(next.container), step.role == Role::Sidecar);
    Some(format!(
        "{provider}'s postStart: {failed}; {}",
        needs::HOOK_LIMIT
    ))
}

/// S12: whose restart holds nobody again, though its first start did.
pub fn first_start_only(prediction: &Prediction<'_>) -> Vec<String> {
    let plan = prediction.plan;
    let name = |container| names::name(prediction.template, container);
    let steps = plan
        .steps
        .iter()
        .filter(|step| step.role != Role::Init && late_crash(prediction, step).is_none());
    let held = |provider: usize| -> Vec<String> {
        let needs = plan.needs.iter();
        let by_gate = needs.filter(|need| need.provider == provider && needs::is_gated(need));
        by_gate.map(|need| name(need.dependent)).collect()
    };
    steps
        .map(|step| (step.container, held(step.container)))
        .filter(|(_, dependents)| !dependents.is_empty())
        .map(|(provider, dependents)| {
            let (provider, dependents) = (name(provider), names::any_of(&dependents));
            format!("first start only: a restart of {provider} never holds {dependents} again")
        })
        .collect()
}

fn container<'a>(prediction: &Prediction<'a>, at: usize) -> Option<&'a Container> {
    prediction.template.containers.get(at)
}

fn is_native(prediction: &Prediction<'_>, at: usize) -> bool {
    let step = prediction.plan.step(at);
    step.is_some_and(|step| step.role == Role::Sidecar)
}
