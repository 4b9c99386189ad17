//! The instants of a pod as sentences, in the order of time.

use super::command;
use super::rows::Frame;
use super::scene::begun;
use super::seconds::{Round, took};
use super::verdicts::cause;
use super::words::ordinal;
use crate::plan::{Event, Prior};
use crate::pod::Role as Kind;
use crate::timeline::{Attempt, ContainerTimeline, Hook, Instant, Observation, Source};
use jiff::Timestamp;

/// What makes two instants the same: pod, container, what, which try, which time.
pub(super) type Key = (String, String, &'static str, u32, usize);

/// One instant, ready to be told.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// The moment that is told: itself, or its upper bound.
    pub(super) told_at: Timestamp,
    pub(super) is_exact: bool,
    /// The container, or `pod`.
    pub(super) name: String,
    pub(super) text: String,
    /// How it is known.
    pub(super) source: &'static str,
}

/// Everything that is known of a pod by now, by time.
pub(super) fn entries(frame: &Frame<'_>) -> Vec<Entry> {
    let milestones = frame.shown.pod.milestones();
    let mut entries: Vec<Entry> = Vec::new();
    for observation in &milestones {
        let seen = entries.iter().filter(|entry| {
            entry.key.2 == observation.milestone.event.word() && entry.name == name_of(observation)
        });
        let times = seen.count();
        let Some(entry) = entry(frame, observation, times) else {
            continue;
        };
        let event = observation.milestone.event;
        entries.push(entry);
        if event == Event::Started {
            entries.extend(waits(frame, observation));
        }
    }
    // Stable: what is of one moment stays in the kubelet's order.
    entries.sort_by_key(|entry| entry.told_at);
    entries
}

fn name_of(observation: &Observation) -> &str {
    observation.milestone.container.as_deref().unwrap_or("pod")
}

fn entry(frame: &Frame<'_>, observation: &Observation, times: usize) -> Option<Entry> {
    let name = name_of(observation);
    let when = &observation.when;
    let event = observation.milestone.event;
    let container = frame.shown.pod.container(name);
    let attempt = container.and_then(|own| {
        own.attempts
            .iter()
            .find(|attempt| attempt.number == observation.attempt)
    });
    // A Tekton step tells at its end when it began.
    if event == Event::Started && when.not_after.is_none() {
        return None;
    }
    let text = text(frame, observation, container.zip(attempt))?;
    let is_exact = is_told_by_event(event)
        && matches!(when.source, Source::EventName | Source::EventTime)
        && when.not_after.is_some();
    Some(Entry {
        key: key(frame, name, event.word(), observation.attempt, times),
        told_at: when.not_after.or(when.best())?,
        is_exact,
        name: name.to_owned(),
        text,
        source: when.source.phrase(),
    })
}

fn key(frame: &Frame<'_>, name: &str, what: &'static str, attempt: u32, times: usize) -> Key {
    let uid = frame.shown.pod.uid.clone();
    (uid, name.to_owned(), what, attempt, times)
}

/// Whether there is an event for it, which is made the moment it happens.
fn is_told_by_event(event: Event) -> bool {
    match event {
        Event::Scheduled
        | Event::Pulling
        | Event::Pulled
        | Event::Created
        | Event::Started
        | Event::PostStartFailed
        | Event::Killing => true,
        Event::SandboxReady
        | Event::PostStartReturned
        | Event::StartupProbePassed
        | Event::Ready
        | Event::NotReady
        | Event::Exited
        | Event::Deleted => false,
    }
}

type Start<'a> = (&'a ContainerTimeline, &'a Attempt);

/// The sentence; none for what a log can do without.
fn text(frame: &Frame<'_>, observation: &Observation, start: Option<Start<'_>>) -> Option<String> {
    let Some(start) = start else {
        return of_pod(frame, observation);
    };
    let (container, attempt) = start;
    Some(match observation.milestone.event {
        Event::Pulling => match frame.shown.declared(&container.name)?.image.as_deref() {
            Some(image) => format!("pulls {image}"),
            None => "pulls its image".to_owned(),
        },
        Event::Pulled => match (&attempt.pulling, &attempt.pulled) {
            (Some(pulling), Some(pulled)) => {
                let took = took(
                    pulled.best()?.duration_since(pulling.best()?),
                    Round::Nearest,
                );
                format!("image pulled, after {took}")
            }
            _ => "image present".to_owned(),
        },
        Event::Created => "created".to_owned(),
        Event::Started => started(frame, start),
        Event::PostStartReturned => returned(attempt, &observation.when),
        Event::PostStartFailed => failed(attempt),
        Event::StartupProbePassed => "startupProbe passed".to_owned(),
        Event::Ready | Event::NotReady => {
            frame.shown.declared(&container.name)?.readiness.as_ref()?;
            match observation.milestone.event {
                Event::Ready => "ready".to_owned(),
                _ => "no longer ready".to_owned(),
            }
        }
        Event::Exited => exited(observation),
        // A hook that failed was told already; the kubelet stops its container for it (S3).
        Event::Killing if matches!(attempt.hook, Some(Hook::Failed { .. })) => return None,
        Event::Killing if frame.shown.declared(&container.name)?.pre_stop.is_some() => {
            "is stopped; its preStop begins".to_owned()
        }
        Event::Killing => "is stopped".to_owned(),
        Event::Scheduled | Event::SandboxReady | Event::Deleted => return None,
    })
}

fn of_pod(frame: &Frame<'_>, observation: &Observation) -> Option<String> {
    let pod = &frame.shown.pod;
    Some(match observation.milestone.event {
        Event::Scheduled => {
            let at = observation.when.best()?;
            let at = at.round(jiff::Unit::Millisecond).unwrap_or(at);
            let at = at.strftime("%Y-%m-%d %H:%M:%S%.3f UTC");
            match &pod.node {
                Some(node) => format!("scheduled to {node}, {at}"),
                None => format!("scheduled, {at}"),
            }
        }
        Event::SandboxReady => "sandbox ready".to_owned(),
        Event::Ready => "Running, Ready".to_owned(),
        Event::NotReady => "not Ready".to_owned(),
        Event::Deleted => "deleted".to_owned(),
        Event::Pulling
        | Event::Pulled
        | Event::Created
        | Event::Started
        | Event::PostStartReturned
        | Event::PostStartFailed
        | Event::StartupProbePassed
        | Event::Exited
        | Event::Killing => return None,
    })
}

/// `started; its postStart begins: /entrypoint wait`
fn started(frame: &Frame<'_>, (container, attempt): Start<'_>) -> String {
    let text = match attempt.number {
        1 => "started".to_owned(),
        number => format!("started, {} try", ordinal(number)),
    };
    let Some(declared) = frame.shown.declared(&container.name) else {
        return text;
    };
    if let Some(action) = &declared.post_start {
        return match command::action(action) {
            Some(action) => format!("{text}; its postStart begins: {action}"),
            None => format!("{text}; its postStart begins"),
        };
    }
    match command::own_wait(declared) {
        Some(wait) if container.role == Kind::Init => {
            format!("{text}; {}", command::polls(&wait))
        }
        Some(_) | None => text,
    }
}

/// The hook begins once the start was reported (S3), so it took no longer than from there.
fn returned(attempt: &Attempt, when: &Instant) -> String {
    let started = attempt.started.as_ref();
    let begun = started.and_then(|started| match started.source {
        Source::EventName | Source::EventTime => started.not_after,
        Source::Arrival | Source::Status | Source::Log => started.not_before,
    });
    let most = begun.and_then(|begun| Some(when.not_after?.duration_since(begun)));
    match most {
        Some(most) => format!(
            "postStart returned, after at most {}",
            took(most, Round::Up)
        ),
        None => "postStart returned".to_owned(),
    }
}

fn failed(attempt: &Attempt) -> String {
    let message = match &attempt.hook {
        Some(Hook::Failed { message, .. }) => message.as_deref(),
        Some(Hook::Returned { .. } | Hook::Running { .. }) | None => None,
    };
    match message.and_then(cause) {
        Some(cause) => format!("postStart failed: {cause}"),
        None => "postStart failed".to_owned(),
    }
}

fn exited(observation: &Observation) -> String {
    let status = observation.exit.as_ref();
    let code = status.and_then(|status| status.code);
    let reason = status.and_then(|status| status.reason.as_deref());
    match (code, reason) {
        (Some(code), Some(reason)) if !matches!(reason, "Completed" | "Error") => {
            format!("exited {code} ({reason})")
        }
        (Some(code), _) => format!("exited {code}"),
        (None, _) => "exited".to_owned(),
    }
}

/// Those whose turn comes after a container that has just started and that they wait for.
fn waits(frame: &Frame<'_>, observation: &Observation) -> Option<Entry> {
    let shown = frame.shown;
    let provider = observation.milestone.container.as_deref()?;
    let name = |at: usize| shown.pod.containers.get(at).map(|own| own.name.as_str());
    let mut steps = shown.plan.steps.iter();
    let step = steps.find(|step| {
        let before = step.after.container().and_then(name);
        step.after.is_gate() && before == Some(provider)
    })?;
    let dependent = shown.pod.containers.get(step.container)?;
    let mut starts = dependent.in_initialization(observation.initialization);
    let has_begun = starts.any(|start| begun(start) < observation.when.best());
    let what = match step.after {
        Prior::Exited(_) => provider.to_owned(),
        Prior::StartupProbePassed(_) => format!("{provider}'s startupProbe"),
        Prior::PostStartReturned(_) => format!("{provider}'s postStart"),
        Prior::SandboxReady | Prior::Runs(_) | Prior::StartReturned(_) => return None,
    };
    let when: &Instant = &observation.when;
    let is_exact = matches!(when.source, Source::EventName | Source::EventTime);
    (!has_begun).then_some(Entry {
        key: key(frame, &dependent.name, "waits", observation.attempt, 0),
        told_at: when.not_after.or(when.best())?,
        is_exact,
        name: dependent.name.clone(),
        text: format!("waits for {what}"),
        source: "spec",
    })
}
