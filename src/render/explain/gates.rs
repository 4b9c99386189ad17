//! What the next start waits for, in a container, and how it is called.

use super::{Prediction, needs};
use crate::plan::profile::{hook_of, read_command};
use crate::plan::{Hook, Step, Target};
use crate::pod::{Action, Container, Role};
use crate::render::wrap::on_one_line;

/// A stretch that the next start waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What it is, in a few words.
    pub label: String,
    /// The same in fewer, where there is less room.
    pub short: &'static str,
    /// How it ends.
    pub end: GateEnd,
}

/// How a gate ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateEnd {
    /// It returns.
    Returns,
    /// It always fails (S5).
    Fails,
}

impl Gate {
    fn new(label: impl Into<String>, short: &'static str) -> Gate {
        Gate {
            label: label.into(),
            short,
            end: GateEnd::Returns,
        }
    }

    /// The label, then the shorter one.
    pub fn labels(&self) -> [&str; 2] {
        [&self.label, self.short]
    }
}

/// What the next start waits for in this step's container.
pub fn gate(prediction: &Prediction<'_>, container: &Container, step: &Step) -> Option<Gate> {
    let hook = container.post_start.as_ref();
    match (step.role, hook) {
        (Role::Init, _) => Some(run_gate(container)),
        (Role::Sidecar | Role::App | Role::Ephemeral, Some(Action::TcpSocket { .. })) => {
            Some(Gate {
                end: GateEnd::Fails,
                ..Gate::new("postStart: tcpSocket", "postStart")
            })
        }
        (Role::Sidecar, Some(_)) if container.startup.is_some() => {
            Some(Gate::new("postStart, probe", "probe"))
        }
        (Role::Sidecar, None) if container.startup.is_some() => Some(Gate::new("probe", "probe")),
        (Role::Sidecar | Role::App | Role::Ephemeral, hook) => {
            let label = hook_label(prediction, container, step.container, hook?);
            Some(Gate::new(label, "postStart"))
        }
    }
}

/// An init container's run: what it polls, if its command says so.
fn run_gate(container: &Container) -> Gate {
    let reading = read_command(container);
    let polled = reading.waits.iter().find(|wait| wait.repeats);
    match polled.and_then(|wait| target_words(&wait.target)) {
        Some(words) => Gate::new(format!("polls {words}"), "runs"),
        None => Gate::new("runs", "runs"),
    }
}

fn target_words(target: &Target) -> Option<String> {
    let words = match target {
        Target::Address(address) => match address.port_or_default() {
            Some(port) => format!("{}:{port}", address.host),
            None => address.host.clone(),
        },
        // The Service's name says enough; its namespace and domain would not fit.
        Target::Dns { name } => format!("DNS: {}", name.split('.').next().unwrap_or(name)),
        Target::File { path } => path.clone(),
        Target::Kubernetes { what } => what.clone(),
        Target::Opaque => return None,
    };
    Some(on_one_line(&words))
}

/// `postStart: ` and what the hook does, as far as it is known.
fn hook_label(
    prediction: &Prediction<'_>,
    container: &Container,
    at: usize,
    hook: &Action,
) -> String {
    let waits = || {
        needs::is_held_by_hook(prediction.plan, at)
            || matches!(
                hook_of(container),
                Some(Hook::Waits { .. } | Hook::MayWait { .. })
            )
    };
    match hook {
        Action::Exec { .. } if waits() => "postStart: wait".to_owned(),
        Action::HttpGet { .. } => "postStart: httpGet".to_owned(),
        Action::Sleep { duration } => format!("postStart: sleep {} s", duration.as_secs()),
        Action::Exec { .. }
        | Action::TcpSocket { .. }
        | Action::Grpc { .. }
        | Action::Unreadable => "postStart".to_owned(),
    }
}
