//! What a pod's start was spent on: the kubelet does one thing after another (S1), so the long
//! things of the first initialization add up to the start.

use super::fold::{Attempt, ContainerTimeline, Hook, PodTimeline};
use super::instant::Instant;
use crate::plan::Event;
use crate::pod::Role;
use jiff::{SignedDuration, Timestamp};

/// What takes time in a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// Pulling an image, queueing included.
    Pull,
    /// A regular init container's run, its retries included.
    Init,
    /// A postStart hook.
    PostStart,
    /// From a hook's end, or the process start, until the startupProbe passed.
    StartupProbe,
    /// From an exit to the next start.
    BackOff,
    /// From the process start until the readinessProbe passed, where nothing else took that time.
    Readiness,
}

impl What {
    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            What::Pull => "pull",
            What::Init => "init",
            What::PostStart => "postStart",
            What::StartupProbe => "startupProbe",
            What::BackOff => "backOff",
            What::Readiness => "readiness",
        }
    }
}

/// One part of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Whose.
    pub container: String,
    /// What took the time.
    pub what: What,
    /// How long, by estimates.
    pub took: SignedDuration,
}

/// How long the pod took from its scheduling until it was first ready, by estimates.
pub fn start_duration(pod: &PodTimeline) -> Option<SignedDuration> {
    let scheduled = pod.pod_event(Event::Scheduled)?.best()?;
    let ready = pod.pod_event(Event::Ready)?.best()?;
    Some(ready.duration_since(scheduled))
}

/// The parts of the start that took at least one hundredth of it, by time. What ran beside something
/// else counts from where that ended, so that the parts never add up to more than the whole.
pub fn critical_path(pod: &PodTimeline) -> Vec<Leg> {
    let Some(whole) = start_duration(pod) else {
        return Vec::new();
    };
    let until = pod.pod_event(Event::Ready).and_then(Instant::best);
    let mut stretches = Vec::new();
    for container in &pod.containers {
        match container.role {
            Role::Init => init(container, &mut stretches),
            Role::Sidecar | Role::App => service(container, &mut stretches),
            Role::Ephemeral => {}
        }
    }
    stretches.extend(readiness(pod, until));
    stretches.sort_by_key(|stretch| (stretch.from, stretch.until));
    let mut cursor: Option<Timestamp> = None;
    let legs = stretches.into_iter().map(|stretch| {
        let from = cursor.map_or(stretch.from, |cursor| cursor.max(stretch.from));
        let end = until.map_or(stretch.until, |until| until.min(stretch.until));
        cursor = cursor.max(Some(end));
        Leg {
            took: end.duration_since(from),
            container: stretch.container,
            what: stretch.what,
        }
    });
    legs.filter(|leg| leg.took.is_positive() && leg.took * 100 >= whole)
        .collect()
}

/// Something that took time.
struct Stretch {
    container: String,
    what: What,
    from: Timestamp,
    until: Timestamp,
}

fn stretch(
    container: &ContainerTimeline,
    what: What,
    from: Option<&Instant>,
    until: Option<&Instant>,
) -> Option<Stretch> {
    Some(Stretch {
        container: container.name.clone(),
        what,
        from: from?.best()?,
        until: until?.best()?,
    })
}

fn pull(container: &ContainerTimeline, attempt: &Attempt) -> Option<Stretch> {
    let (from, until) = (attempt.pulling.as_ref(), attempt.pulled.as_ref());
    stretch(container, What::Pull, from, until)
}

fn init(container: &ContainerTimeline, stretches: &mut Vec<Stretch>) {
    let mut attempts = container.in_initialization(1);
    let Some(first) = attempts.next() else { return };
    let last = attempts.last().unwrap_or(first);
    stretches.extend(pull(container, first));
    let exit = last.exit.as_ref().map(|(when, _)| when);
    let from = first.started.as_ref();
    stretches.extend(stretch(container, What::Init, from, exit));
}

fn service(container: &ContainerTimeline, stretches: &mut Vec<Stretch>) {
    let mut ended: Option<Instant> = None;
    for attempt in container.in_initialization(1) {
        let started = attempt.started.as_ref();
        stretches.extend(stretch(container, What::BackOff, ended.as_ref(), started));
        stretches.extend(pull(container, attempt));
        let hook_end = match &attempt.hook {
            Some(Hook::Returned { when, .. } | Hook::Failed { when, .. }) => Some(when),
            Some(Hook::Running { .. }) | None => None,
        };
        stretches.extend(stretch(container, What::PostStart, started, hook_end));
        let passed = attempt.startup_passed.as_ref();
        let from = hook_end.or(started);
        stretches.extend(stretch(container, What::StartupProbe, from, passed));
        ended = attempt.exit.as_ref().map(|(when, _)| *when);
    }
}

/// The wait after the last start, for the container that became ready last.
fn readiness(pod: &PodTimeline, until: Option<Timestamp>) -> Option<Stretch> {
    let services = pod.containers.iter().filter(|container| {
        let declared = pod.template().container(&container.name);
        declared.is_some_and(|(_, declared)| declared.readiness.is_some())
    });
    let apps = pod.containers.iter();
    let last_start = apps
        .filter(|container| container.role == Role::App)
        .flat_map(|container| container.in_initialization(1))
        .filter_map(|attempt| attempt.started)
        .filter(|started| started.best() <= until)
        .max_by_key(Instant::best)?;
    let ready = |container: &ContainerTimeline| {
        let mut attempts = container.in_initialization(1);
        attempts.find_map(|attempt| attempt.instant(Event::Ready))
    };
    let (container, ready) = services
        .filter_map(|container| Some((container, ready(container)?)))
        .max_by_key(|(_, ready)| ready.best())?;
    stretch(container, What::Readiness, Some(&last_start), Some(&ready))
}
