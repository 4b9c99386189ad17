//! What could not be seen: lost events, containers that never came to their turn, clocks apart.

use super::line::{Line, Tag};
use super::rows::Frame;
use super::scene::Shown;
use super::seconds::{Round, coarse};
use super::words::list;
use crate::pod::Role as Kind;
use crate::timeline::{Attempt, ContainerTimeline, Source};

/// The kubelet lets this many events of a pod through at once, and one every five minutes after that
/// (S21).
const BURST: usize = 25;

/// Events that never came, and whose starts are known from the status only.
pub(super) fn dropped(frame: &Frame<'_>) -> Vec<Line> {
    let pod = &frame.shown.pod;
    if pod.events < BURST {
        return Vec::new();
    }
    let attempts = pod.containers.iter().flat_map(|own| &own.attempts);
    let started = attempts.filter(|attempt| attempt.started.is_some());
    let missing: usize = started.map(missing_events).sum();
    if missing == 0 {
        return Vec::new();
    }
    let first = format!(
        "{} kubelet events came, {missing} did not: a pod gets {BURST}, then one every 5 minutes",
        pod.events
    );
    let mut lines = vec![Line::new(Tag::None, first)];
    let unseen: Vec<&ContainerTimeline> = pod
        .containers
        .iter()
        .filter(|own| own.attempts.iter().any(is_of_status))
        .collect();
    if !unseen.is_empty() {
        let verb = if unseen.len() == 1 { "is" } else { "are" };
        let names = names(frame, &unseen);
        let text = format!("{names} {verb} known by status only, in whole seconds");
        lines.push(Line::new(Tag::None, text));
    }
    lines
}

fn is_of_status(attempt: &Attempt) -> bool {
    attempt
        .started
        .is_some_and(|started| started.source == Source::Status)
}

fn missing_events(attempt: &Attempt) -> usize {
    let expected = [
        attempt.pulled.is_none(),
        attempt.created.is_none(),
        is_of_status(attempt),
    ];
    expected.iter().filter(|is_missing| **is_missing).count()
}

/// `c9–c12` where they follow one another, else a list.
fn names(frame: &Frame<'_>, containers: &[&ContainerTimeline]) -> String {
    let names: Vec<&str> = containers.iter().map(|own| own.name.as_str()).collect();
    let position = |name: &str| {
        frame
            .shown
            .pod
            .containers
            .iter()
            .position(|own| own.name == name)
    };
    match names.as_slice() {
        [first, .., last] if names.len() > 2 => {
            let span = position(first).zip(position(last));
            match span {
                Some((from, until)) if until - from + 1 == names.len() => {
                    format!("{first}{}{last}", frame.style.glyphs().dash)
                }
                Some(_) | None => list(&names),
            }
        }
        _ => list(&names),
    }
}

/// Why a pod that has failed never came to its later containers.
pub(super) fn never_started(frame: &Frame<'_>) -> Option<Line> {
    let pod = &frame.shown.pod;
    if pod.phase != "Failed" {
        return None;
    }
    let is_unstarted = |own: &&ContainerTimeline| {
        own.role != Kind::Ephemeral && own.attempts.iter().all(|start| start.started.is_none())
    };
    let unstarted = pod.containers.iter().filter(is_unstarted);
    let names: Vec<&str> = unstarted.map(|own| own.name.as_str()).collect();
    let failed = pod.containers.iter().find_map(|own| {
        let (_, status) = own.attempts.last()?.exit.as_ref()?;
        let code = status.code.filter(|code| *code != 0)?;
        Some(format!("{} exited {code}", own.name))
    })?;
    if names.is_empty() {
        return None;
    }
    let text = format!(
        "{} never started: {failed}, and nothing restarts it",
        list(&names)
    );
    Some(Line::new(Tag::None, text))
}

/// Two clocks that are far apart.
pub(super) fn clocks(shown: &Shown) -> Option<Line> {
    let offset = shown.pod.offset;
    if !offset.is_large() {
        return None;
    }
    let (ahead, by) = match offset.shift.is_negative() {
        true => ("the node's", offset.shift.abs()),
        false => ("the watcher's", offset.shift),
    };
    let by = coarse(by, Round::Nearest);
    let text = format!("{ahead} clock is ahead by about {by}; arrivals were corrected by that");
    Some(Line::new(Tag::None, text))
}
