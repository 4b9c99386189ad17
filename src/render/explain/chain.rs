//! The rows of the drawing: what each container waits for, what is waited for in it, and how it
//! goes on.

use super::gates::{self, Gate, GateEnd};
use super::turns::{self, Turn};
use super::{Prediction, names};
use crate::plan::Prior;
use crate::pod::Role;

/// One container's bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The container's name.
    pub name: String,
    /// What it waits for, when something before it takes longer than a start.
    pub wait: Option<String>,
    /// What somebody waits for, in it.
    pub gate: Option<Gate>,
    /// When it works, where a controller keeps turns.
    pub turn: Option<Turn>,
    /// How it goes on.
    pub run: Run,
}

/// How a container goes on once nobody waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// It has ended.
    Ended,
    /// It runs, with what is worth a word.
    On(Option<Remark>),
}

/// What is worth a word while a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Somebody needs it, and nothing waits until it serves.
    ServesLater,
    /// It needs somebody, and nothing holds it.
    CallsTooEarly,
}

impl Remark {
    /// The words of the bar.
    pub fn words(self) -> &'static str {
        match self {
            Remark::ServesLater => "serves some time later",
            Remark::CallsTooEarly => "may call too early",
        }
    }
}

/// The rows in the kubelet's order.
pub fn rows(prediction: &Prediction<'_>) -> Vec<Row> {
    let mut is_gated = false;
    let mut rows = Vec::new();
    for step in &prediction.plan.steps {
        let Some(container) = prediction.template.containers.get(step.container) else {
            continue;
        };
        let gate = gates::gate(prediction, container, step);
        let run = match (step.role, gate.as_ref().map(|gate| gate.end)) {
            (Role::Init, _) | (_, Some(GateEnd::Fails)) => Run::Ended,
            (Role::Sidecar | Role::App | Role::Ephemeral, _) => {
                Run::On(remark(prediction, step.container))
            }
        };
        rows.push(Row {
            name: names::name(prediction.template, step.container),
            // Where only starts lie before it, it does not wait for anything that could be named.
            wait: is_gated.then(|| waits_for(prediction, step.after)),
            run,
            turn: turns::turn(prediction, step),
            gate: gate.clone(),
        });
        is_gated |= gate.is_some();
    }
    rows
}

fn waits_for(prediction: &Prediction<'_>, prior: Prior) -> String {
    match prior {
        Prior::SandboxReady => "waits for the sandbox".to_owned(),
        Prior::PostStartReturned(_) => "waits for the hook".to_owned(),
        Prior::Exited(container)
        | Prior::StartupProbePassed(container)
        | Prior::Runs(container)
        | Prior::StartReturned(container) => {
            format!("waits for {}", names::name(prediction.template, container))
        }
    }
}

fn remark(prediction: &Prediction<'_>, container: usize) -> Option<Remark> {
    let mut open = prediction.plan.needs.iter().filter(|need| need.is_open());
    open.find_map(|need| match container {
        at if at == need.dependent => Some(Remark::CallsTooEarly),
        at if at == need.provider => Some(Remark::ServesLater),
        _ => None,
    })
}
