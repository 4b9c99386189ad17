//! The right column: what a row is about now, later its result.

use super::container::step_before;
use super::rows::Frame;
use super::scene::{Stage, is_vague};
use super::seconds::{Round, moment, range, running, took};
use super::verdicts::length;
use super::waiting::{is_gated_by_probe, newest};
use super::words::{at_most, ordinal};
use crate::plan::{Event, Prior};
use crate::pod::Role as Kind;
use crate::render::Role;
use crate::timeline::{Attempt, ContainerTimeline, Hook, Instant};
use jiff::Timestamp;

/// Columns of the right column.
pub(super) const COLUMNS: usize = 16;

type Cell = (String, Role);

fn plain(text: impl Into<String>) -> Cell {
    (text.into(), Role::Plain)
}

pub(super) fn sandbox(frame: &Frame<'_>, ready: Option<Timestamp>) -> Cell {
    match ready {
        Some(ready) => plain(took(frame.since_zero(ready), Round::Nearest)),
        None if frame.shown.pod.pod_event(Event::Scheduled).is_none() => plain("no node yet"),
        None => plain(running(frame.since_zero(frame.now))),
    }
}

/// Whether moments of starts stand alone, since `started` does not fit beside all of them.
pub(super) fn are_starts_short(frame: &Frame<'_>) -> bool {
    let containers = frame.shown.pod.containers.iter();
    let newest = containers.filter_map(|container| newest(frame.shown, container));
    let mut starts = newest.filter_map(|attempt| attempt.started.as_ref());
    starts.any(|started| "started ".len() + start(frame, started).chars().count() > COLUMNS)
}

/// When a process started: the estimate, or the interval where it is known by its second only.
fn start(frame: &Frame<'_>, started: &Instant) -> String {
    match (started.not_before, started.not_after) {
        (Some(low), Some(high)) if is_vague(started) => {
            let low = moment(frame.since_zero(low), Round::Down);
            let high = moment(frame.since_zero(high), Round::Up);
            range(&low, &high, frame.style.glyphs().dash)
        }
        _ => {
            let best = started.best().unwrap_or(frame.axis.zero);
            moment(frame.since_zero(best), Round::Nearest)
        }
    }
}

pub(super) fn container(
    frame: &Frame<'_>,
    container: &ContainerTimeline,
    are_starts_short: bool,
) -> Cell {
    let Some(attempt) = newest(frame.shown, container) else {
        return unstarted(frame, container);
    };
    if attempt.started.is_none() {
        return making(frame, container, attempt);
    }
    if frame.shown.violation(&container.name).is_some() && attempt.exit.is_none() {
        return ("UNGUARDED".to_owned(), Role::Error);
    }
    let is_first = first_of(container, attempt.initialization) == Some(attempt.number);
    if let Some(cell) = in_between(frame, container, attempt, is_first) {
        return cell;
    }
    if let Some((_, status)) = &attempt.exit {
        let role = match status.code {
            Some(0) => Role::Plain,
            Some(_) | None => Role::Error,
        };
        let code = status
            .code
            .map_or("exited".to_owned(), |code| format!("exit {code}"));
        return (code, role);
    }
    let is_told = attempt
        .started
        .is_some_and(|started| started.not_after.is_some());
    if attempt.entrypoint.is_some() && !is_told {
        let before = step_before(frame, container);
        let has_turn =
            before.is_none_or(|step| step.attempts.last().is_some_and(|last| last.exit.is_some()));
        return plain(if has_turn { "running" } else { "waits" });
    }
    if !is_first {
        return plain(format!("{} try", ordinal(attempt.number)));
    }
    done(frame, container, attempt, are_starts_short)
}

fn first_of(container: &ContainerTimeline, initialization: u32) -> Option<u32> {
    let mut attempts = container.in_initialization(initialization);
    attempts
        .find(|attempt| attempt.started.is_some())
        .map(|attempt| attempt.number)
}

/// A container that has not come to its turn.
fn unstarted(frame: &Frame<'_>, container: &ContainerTimeline) -> Cell {
    if let Some((reason, _)) = &container.waiting
        && !matches!(reason.as_str(), "ContainerCreating" | "PodInitializing")
    {
        return (shortened(reason), Role::Error);
    }
    if frame.shown.is_over() {
        return plain("never started");
    }
    match frame.shown.gate_before(container) {
        Some(Prior::PostStartReturned(_) | Prior::StartupProbePassed(_)) => plain("held"),
        Some(Prior::Exited(_) | Prior::SandboxReady | Prior::Runs(_) | Prior::StartReturned(_))
        | None => plain(container.role.word()),
    }
}

fn shortened(reason: &str) -> String {
    reason.chars().take(COLUMNS).collect()
}

/// The image is being pulled, or the container could not be made.
fn making(frame: &Frame<'_>, container: &ContainerTimeline, attempt: &Attempt) -> Cell {
    if let Some((reason, _)) = &container.waiting
        && !matches!(reason.as_str(), "ContainerCreating" | "PodInitializing")
    {
        return (shortened(reason), Role::Error);
    }
    let pulling = attempt.pulling.as_ref().and_then(Instant::best);
    match pulling {
        Some(since) if attempt.pulled.is_none() => {
            plain(format!("pull {}", running(frame.now.duration_since(since))))
        }
        Some(_) | None => plain("starting"),
    }
}

/// Something that somebody waits for, or the time between two tries.
fn in_between(
    frame: &Frame<'_>,
    container: &ContainerTimeline,
    attempt: &Attempt,
    is_first: bool,
) -> Option<Cell> {
    let going = |word: &str, since: Timestamp| {
        let age = running(frame.now.duration_since(since));
        match (is_first, frame.stage) {
            (true, _) => plain(format!("{word} {age}")),
            (false, Stage::Live) => plain(format!("{} try {age}", ordinal(attempt.number))),
            (false, Stage::End) => plain(format!("{} try", ordinal(attempt.number))),
        }
    };
    let has_failed = matches!(attempt.hook, Some(Hook::Failed { .. }));
    if let Some((reason, _)) = &container.waiting
        && reason == "CrashLoopBackOff"
        && (has_failed || attempt.exit.is_some())
    {
        return Some(("back-off".to_owned(), Role::Error));
    }
    if has_failed {
        return Some(("postStart failed".to_owned(), Role::Error));
    }
    if attempt.exit.is_some() {
        return None;
    }
    match &attempt.hook {
        Some(Hook::Running { since }) => return Some(going("postStart", since.best()?)),
        Some(Hook::Failed { .. } | Hook::Returned { .. }) | None => {}
    }
    let started = attempt.started.as_ref().and_then(Instant::best)?;
    match container.role {
        Kind::Init => Some(going("init", started)),
        Kind::Sidecar if is_gated_by_probe(frame.shown, container, attempt) => {
            Some(going("startup", started))
        }
        Kind::Sidecar | Kind::App | Kind::Ephemeral => None,
    }
}

/// What the first start came to.
fn done(
    frame: &Frame<'_>,
    container: &ContainerTimeline,
    attempt: &Attempt,
    are_starts_short: bool,
) -> Cell {
    let started = attempt.started.as_ref();
    let since_start = |end: &Instant| Some(end.best()?.duration_since(started?.best()?));
    if let Some(Hook::Returned { when, .. }) = &attempt.hook
        && let Some(started) = started.filter(|started| is_vague(started))
        && let (_, Some(most)) = length(started, when)
    {
        let sign = at_most(frame.style);
        return plain(format!("{sign} {}", took(most, Round::Up)));
    }
    if let Some(Hook::Returned { when, .. }) = &attempt.hook
        && let Some(length) = since_start(when)
    {
        return plain(format!("postStart {}", took(length, Round::Nearest)));
    }
    if container.role == Kind::Sidecar
        && let Some(length) = attempt.startup_passed.as_ref().and_then(since_start)
    {
        return plain(format!("startup {}", took(length, Round::Nearest)));
    }
    if frame.shown.is_needed(&container.name) {
        return plain("running");
    }
    let start = started.map_or_else(String::new, |started| start(frame, started));
    match are_starts_short {
        true => plain(start),
        false => plain(format!("started {start}")),
    }
}

pub(super) fn pod(frame: &Frame<'_>) -> Cell {
    let pod = &frame.shown.pod;
    if let Some(gone) = pod.pod_event(Event::Deleted).and_then(Instant::best) {
        return plain(format!("deleted {}", at(frame, gone)));
    }
    if pod.deletion.is_some() {
        return plain("terminating");
    }
    match pod.phase.as_str() {
        "Succeeded" => return ("Succeeded".to_owned(), Role::Held),
        "Failed" => return ("Failed".to_owned(), Role::Error),
        _ => {}
    }
    let observations = pod.observations.iter().rev();
    let mut ready = observations.filter(|own| own.milestone.event == Event::Ready);
    match ready.next().and_then(|ready| ready.when.best()) {
        Some(ready) if pod.is_ready => (format!("ready {}", at(frame, ready)), Role::Held),
        Some(_) | None => plain("not ready"),
    }
}

fn at(frame: &Frame<'_>, moment_of: Timestamp) -> String {
    moment(frame.since_zero(moment_of), Round::Nearest)
}
