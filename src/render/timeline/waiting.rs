//! Who waits for whom at this moment: the kubelet does one thing after another (S1), so there is
//! one thing at most that holds the start back.

use super::scene::{Shown, begun};
use crate::plan::{Event, Prior};
use crate::pod::{Container, Role};
use crate::timeline::{Attempt, ContainerTimeline, Hook, Instant};
use jiff::Timestamp;

/// What is going on that somebody waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause<'a> {
    /// A node.
    Schedule,
    /// Sandbox, network and volumes.
    Sandbox,
    /// An image is being pulled.
    Pull(&'a ContainerTimeline),
    /// A postStart hook runs.
    PostStart(&'a ContainerTimeline, &'a Attempt),
    /// A regular init container runs.
    Run(&'a ContainerTimeline, &'a Attempt),
    /// A native sidecar's startupProbe has not passed.
    StartupProbe(&'a ContainerTimeline, &'a Attempt),
    /// A container failed and is tried again later.
    BackOff(&'a ContainerTimeline, &'a Attempt),
    /// The kubelet cannot start a container, by its own word for the reason.
    Trouble(&'a ContainerTimeline, &'a str),
    /// Every container has started, and one is not ready.
    Readiness(&'a ContainerTimeline),
    /// Every container is ready, and the pod is not.
    ReadinessGate,
    /// Deletion was asked for, and a running postStart hook keeps the kubelet from it (S17).
    HookBeforeDeletion(&'a ContainerTimeline),
    /// The containers are being stopped.
    Stop,
}

/// What holds the pod back, since when, and whom.
#[derive(Clone, Debug)]
pub(super) struct Waiting<'a> {
    pub(super) cause: Cause<'a>,
    pub(super) since: Timestamp,
    /// The containers that have not started because of it, in the kubelet's order.
    pub(super) held: Vec<&'a str>,
}

/// What holds the pod back now, if anything does.
pub(super) fn waiting(shown: &Shown) -> Option<Waiting<'_>> {
    if shown.is_over() {
        return None;
    }
    if shown.pod.deletion.is_some() {
        return deletion(shown);
    }
    before_the_first(shown)
        .or_else(|| start(shown))
        .or_else(|| readiness(shown))
}

fn last(shown: &Shown, container: &ContainerTimeline) -> Option<usize> {
    let current = shown.current();
    let attempts = container.attempts.iter();
    attempts
        .enumerate()
        .filter(|(_, attempt)| attempt.initialization == current)
        .map(|(index, _)| index)
        .next_back()
}

/// The container's newest start in the initialization that goes on.
pub(super) fn newest<'a>(shown: &Shown, container: &'a ContainerTimeline) -> Option<&'a Attempt> {
    container.attempts.get(last(shown, container)?)
}

fn deletion(shown: &Shown) -> Option<Waiting<'_>> {
    let asked = shown.pod.deletion.as_ref()?.asked.best()?;
    let mut hooks = shown.pod.containers.iter().filter_map(|container| {
        let attempt = newest(shown, container)?;
        matches!(attempt.hook, Some(Hook::Running { .. })).then_some(container)
    });
    let cause = match hooks.next_back() {
        Some(container) => Cause::HookBeforeDeletion(container),
        None => Cause::Stop,
    };
    let held = match cause {
        Cause::HookBeforeDeletion(..) => Vec::new(),
        _ => running(shown).collect(),
    };
    Some(Waiting {
        cause,
        since: asked,
        held,
    })
}

/// The containers whose process runs as far as anybody knows.
fn running(shown: &Shown) -> impl Iterator<Item = &str> {
    let containers = shown.pod.containers.iter();
    let runs = containers.filter(|container| {
        newest(shown, container)
            .is_some_and(|attempt| attempt.started.is_some() && attempt.exit.is_none())
    });
    runs.map(|container| container.name.as_str())
}

fn before_the_first(shown: &Shown) -> Option<Waiting<'_>> {
    let mut attempts = shown.pod.containers.iter();
    if attempts.any(|container| container.attempts.iter().any(|own| begun(own).is_some())) {
        return None;
    }
    let scheduled = shown
        .pod
        .pod_event(Event::Scheduled)
        .and_then(Instant::best);
    let sandbox = shown.pod.pod_event(Event::SandboxReady);
    let (cause, since) = match (scheduled, sandbox) {
        (_, Some(_)) => return None,
        (Some(scheduled), None) => (Cause::Sandbox, scheduled),
        (None, None) => (
            Cause::Schedule,
            shown.pod.observations.first()?.when.best()?,
        ),
    };
    Some(Waiting {
        cause,
        since,
        held: Vec::new(),
    })
}

fn start(shown: &Shown) -> Option<Waiting<'_>> {
    let steps = shown.plan.steps.iter();
    let containers = steps.filter_map(|step| shown.pod.containers.get(step.container));
    let mut trouble = None;
    for container in containers {
        let (cause, since) = match in_the_way(shown, container) {
            Some(found) => found,
            None if has_been_passed(shown, container) => continue,
            None => break,
        };
        let waiting = Waiting {
            cause,
            since,
            held: held_by(shown, container),
        };
        match cause {
            // The kubelet goes on to the next app container all the same (S1).
            Cause::Trouble(own, _) | Cause::BackOff(own, _) if own.role == Role::App => {
                trouble = trouble.or(Some(waiting));
            }
            _ => return Some(waiting),
        }
    }
    trouble
}

/// Whether the kubelet may have gone on to the next container.
fn has_been_passed(shown: &Shown, container: &ContainerTimeline) -> bool {
    newest(shown, container).is_some_and(|attempt| attempt.started.is_some())
}

fn held_by<'a>(shown: &'a Shown, container: &ContainerTimeline) -> Vec<&'a str> {
    if newest(shown, container).is_none() && container.role == Role::App {
        return Vec::new();
    }
    shown
        .later_than(&container.name)
        .filter(|later| newest(shown, later).is_none_or(|attempt| begun(attempt).is_none()))
        .map(|later| later.name.as_str())
        .collect()
}

fn in_the_way<'a>(
    shown: &'a Shown,
    container: &'a ContainerTimeline,
) -> Option<(Cause<'a>, Timestamp)> {
    let Some(attempt) = newest(shown, container) else {
        return trouble(container, None);
    };
    if let Some((exit, status)) = &attempt.exit {
        let is_done = container.role == Role::Init && status.code == Some(0);
        let is_back_off = container
            .waiting
            .as_ref()
            .is_some_and(|(reason, _)| reason == "CrashLoopBackOff");
        return (!is_done && (is_back_off || container.role == Role::Init))
            .then_some((Cause::BackOff(container, attempt), exit.best()?));
    }
    let Some(started) = attempt.started.as_ref().and_then(Instant::best) else {
        return pulling(container, attempt);
    };
    if let Some(Hook::Running { since }) = &attempt.hook {
        return Some((Cause::PostStart(container, attempt), since.best()?));
    }
    if container.role == Role::Init {
        return Some((Cause::Run(container, attempt), started));
    }
    if let Some(Hook::Failed { when, .. }) = &attempt.hook {
        return Some((Cause::BackOff(container, attempt), when.best()?));
    }
    is_gated_by_probe(shown, container, attempt)
        .then_some((Cause::StartupProbe(container, attempt), started))
}

fn pulling<'a>(
    container: &'a ContainerTimeline,
    attempt: &'a Attempt,
) -> Option<(Cause<'a>, Timestamp)> {
    let begun = attempt.pulling.as_ref().and_then(Instant::best);
    let failed = attempt.failed.as_ref().and_then(Instant::best);
    match begun {
        Some(begun) if attempt.pulled.is_none() && failed < Some(begun) => {
            Some((Cause::Pull(container), begun))
        }
        _ => trouble(container, failed),
    }
}

/// Reasons of a container that merely waits for its turn.
const NO_TROUBLE: [&str; 2] = ["ContainerCreating", "PodInitializing"];

fn trouble(
    container: &ContainerTimeline,
    since: Option<Timestamp>,
) -> Option<(Cause<'_>, Timestamp)> {
    let (reason, _) = container.waiting.as_ref()?;
    let is_trouble = !NO_TROUBLE.contains(&reason.as_str());
    is_trouble.then_some((Cause::Trouble(container, reason), since?))
}

/// Whether the next container waits for this one's startupProbe, which has not passed.
pub(super) fn is_gated_by_probe(
    shown: &Shown,
    container: &ContainerTimeline,
    attempt: &Attempt,
) -> bool {
    let is_gate = shown.plan.steps.iter().any(|step| {
        let name = |at: usize| shown.pod.containers.get(at).map(|own| own.name.as_str());
        matches!(step.after, Prior::StartupProbePassed(at) if name(at) == Some(&container.name))
    });
    let is_first = shown.later_than(&container.name).all(|later| {
        let mut starts = later.in_initialization(attempt.initialization);
        starts.all(|start| begun(start).is_none())
    });
    is_gate && is_first && attempt.startup_passed.is_none()
}

fn readiness(shown: &Shown) -> Option<Waiting<'_>> {
    if shown.pod.is_ready
        || shown
            .pod
            .containers
            .iter()
            .any(|own| is_unstarted(shown, own))
    {
        return None;
    }
    let services = || {
        let containers = shown.pod.containers.iter();
        containers.filter(|own| matches!(own.role, Role::App | Role::Sidecar))
    };
    let unready = services().find(|container| {
        let attempt = newest(shown, container);
        let changes = attempt.and_then(|attempt| attempt.ready.last());
        changes.is_none_or(|(is_ready, _)| !is_ready)
    });
    let started =
        |container: &ContainerTimeline| newest(shown, container)?.started.as_ref()?.best();
    let (cause, since) = match unready {
        Some(container) if newest(shown, container)?.exit.is_some() => return None,
        Some(container) => (Cause::Readiness(container), started(container)?),
        None => (Cause::ReadinessGate, services().filter_map(started).max()?),
    };
    Some(Waiting {
        cause,
        since,
        held: Vec::new(),
    })
}

fn is_unstarted(shown: &Shown, container: &ContainerTimeline) -> bool {
    container.role != Role::Ephemeral
        && newest(shown, container).is_none_or(|attempt| attempt.started.is_none())
}

impl<'a> Waiting<'a> {
    /// The container that is in the way, if it is one.
    pub(super) fn container(&self) -> Option<&'a ContainerTimeline> {
        match self.cause {
            Cause::Pull(container)
            | Cause::PostStart(container, _)
            | Cause::Run(container, _)
            | Cause::StartupProbe(container, _)
            | Cause::BackOff(container, _)
            | Cause::Trouble(container, _)
            | Cause::Readiness(container)
            | Cause::HookBeforeDeletion(container) => Some(container),
            Cause::Schedule | Cause::Sandbox | Cause::ReadinessGate | Cause::Stop => None,
        }
    }

    /// What the spec says of the container that is in the way.
    pub(super) fn declared(&self, shown: &'a Shown) -> Option<&'a Container> {
        shown.declared(&self.container()?.name)
    }
}
