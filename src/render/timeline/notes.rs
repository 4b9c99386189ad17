//! What a picture says below its verdicts: what the start was spent on, or how the stop went.

use super::line::{Line, Tag};
use super::rows::Frame;
use super::scene::{Shown, Stage};
use super::seconds::{Round, coarse, moment, range, took};
use super::unseen::{clocks, dropped, never_started};
use super::verdicts::length;
use super::words::at_most;
use crate::plan::Event;
use crate::timeline::path::{Leg, What, critical_path, start_duration};
use jiff::SignedDuration;

/// The lines below the verdicts of one pod.
pub(super) fn notes(frame: &Frame<'_>, is_narrow: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(dropped(frame));
    let is_complete = lines.is_empty();
    lines.extend(clocks(frame.shown));
    lines.extend(never_started(frame));
    if frame.stage == Stage::Live {
        return lines;
    }
    if frame.shown.is_stopping() {
        lines.extend(stop(frame));
    } else if is_complete && !is_narrow {
        lines.extend(ready_after(frame));
    }
    lines
}

/// `Ready after 5.37 s: sidecar's postStart 5.07 s (94 %), all else 0.30 s`
fn ready_after(frame: &Frame<'_>) -> Option<Line> {
    let pod = &frame.shown.pod;
    let whole = start_duration(pod).filter(|_| pod.is_ready && !has_lost(frame.shown))?;
    let legs = critical_path(pod);
    let has_exits = legs.iter().any(|leg| leg.what == What::Init);
    let spent = legs
        .iter()
        .fold(SignedDuration::ZERO, |sum, leg| sum + leg.took);
    let parts: Vec<String> = legs.iter().map(|leg| part(frame, leg, whole)).collect();
    let parts = parts.join(", ");
    let rest = match (legs.is_empty(), has_exits) {
        (true, _) => String::new(),
        (false, true) => format!(
            ": {parts}; the rest is starting, and noticing exits (the kubelet looks once a second)"
        ),
        (false, false) => {
            format!(
                ": {parts}, all else {}",
                took(whole - spent, Round::Nearest)
            )
        }
    };
    let total = took(whole, Round::Nearest);
    Some(Line::new(Tag::None, format!("Ready after {total}{rest}")))
}

/// Whether the pod was ready once and then no longer, so that its first time says little.
fn has_lost(shown: &Shown) -> bool {
    let mut own = shown.pod.observations.iter();
    own.any(|one| one.milestone.event == Event::NotReady)
}

fn part(frame: &Frame<'_>, leg: &Leg, whole: SignedDuration) -> String {
    let name = &leg.container;
    let what = match leg.what {
        What::Init => {
            let length = init_length(frame, leg);
            return format!(
                "{name} {}",
                length.unwrap_or_else(|| took(leg.took, Round::Nearest))
            );
        }
        What::Pull => "pull",
        What::PostStart => "postStart",
        What::StartupProbe => "startupProbe",
        What::BackOff => "back-off",
        What::Readiness => "readiness",
    };
    let share = leg.took.as_secs_f64() / whole.as_secs_f64().max(1e-9) * 100.0;
    let took = took(leg.took, Round::Nearest);
    format!("{name}'s {what} {took} ({share:.0} %)")
}

/// An init container's run by the bounds of its exit, which is known by its second.
fn init_length(frame: &Frame<'_>, leg: &Leg) -> Option<String> {
    let container = frame.shown.pod.container(&leg.container)?;
    let mut attempts = container.in_initialization(1);
    let first = attempts.next()?;
    let last = attempts.last().unwrap_or(first);
    let (exit, _) = last.exit.as_ref()?;
    let (low, high) = length(first.started.as_ref()?, exit);
    let high = coarse(high?, Round::Up);
    Some(match low.filter(|low| low.is_positive()) {
        Some(low) => {
            let low = coarse(low, Round::Down);
            range(&low, &high, frame.style.glyphs().dash)
        }
        None => format!("{} {high}", at_most(frame.style)),
    })
}

/// What the stop took, and in which order SIGTERM was sent.
fn stop(frame: &Frame<'_>) -> Vec<Line> {
    let pod = &frame.shown.pod;
    let Some(deletion) = &pod.deletion else {
        return Vec::new();
    };
    let attempts = || pod.containers.iter().filter_map(|own| own.attempts.last());
    let killing = attempts().filter_map(|own| own.killing?.best()).min();
    let ended = attempts()
        .filter_map(|own| own.exit.as_ref()?.0.not_after)
        .max();
    let mut lines = Vec::new();
    let has_hooks = pod
        .template()
        .containers
        .iter()
        .any(|own| own.pre_stop.is_some());
    if let Some(killing) = killing.filter(|_| has_hooks) {
        let at = moment(frame.since_zero(killing), Round::Nearest);
        let order = match frame
            .shown
            .plan
            .stop
            .iter()
            .any(|step| !step.after.is_empty())
        {
            true => "; SIGTERM follows this order",
            false => "",
        };
        lines.push(Line::new(
            Tag::None,
            format!("every preStop begins at once ({at}){order}"),
        ));
    }
    let used = ended.and_then(|ended| Some(ended.duration_since(killing?)));
    if let Some(used) = used {
        let grace = deletion.grace_seconds;
        let used = coarse(used, Round::Up);
        lines.push(Line::new(
            Tag::None,
            format!("{grace} s of grace, at most {used} used"),
        ));
    }
    lines
}
