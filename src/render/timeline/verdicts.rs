//! The verdict block: what became of each constraint, and what is known of a failure.

use super::glyphs::Bars;
use super::line::{Line, Tag};
use super::rows::Frame;
use super::scene::{Shown, Stage};
use super::seconds::{Round, moment, range, took};
use super::unguarded::{after_unguarded, is_violated, unguarded};
use super::words::{at_least, at_most, event_of, had_happened, ordinal};
use crate::plan::{Basis, Event};
use crate::pod::Role as Kind;
use crate::render::Role;
use crate::timeline::verdict::{Doubt, Judgement, Verdict};
use crate::timeline::{Attempt, Hook, Instant, Source};
use jiff::{SignedDuration, Timestamp};

/// The mark before a verdict, and its colour.
pub(super) fn mark(verdict: Verdict, bars: &Bars) -> (char, Role) {
    match verdict {
        Verdict::Held => (bars.good, Role::Held),
        Verdict::Violated => (bars.bad, Role::Error),
        Verdict::Unguarded => (bars.open, Role::Warning),
        Verdict::Undetermined(_) | Verdict::Pending => ('?', Role::Warning),
    }
}

/// The verdicts: at the end all that are decided or will not be, while live what is violated.
pub(super) fn block(frame: &Frame<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut is_taught = false;
    for judgement in told(frame) {
        let text = sentence(frame, judgement);
        let mut line = Line::new(Tag::Verdict(judgement.verdict), text);
        let basis = judgement.constraint.basis;
        let is_plain = !matches!(judgement.verdict, Verdict::Violated | Verdict::Unguarded);
        if basis == Basis::Enforced && is_plain {
            line.aside = Some((basis.word(), Role::Quiet));
        }
        lines.push(line);
        let more = match judgement.verdict {
            Verdict::Violated => reason(frame.shown, judgement),
            Verdict::Unguarded => after_unguarded(frame, judgement),
            Verdict::Held if basis == Basis::Attempted && !is_taught => {
                is_taught = true;
                let dependent = judgement.constraint.after.container.as_deref();
                dependent.map(|dependent| {
                    format!(
                        "attempted, not guaranteed: a failed hook would have let {dependent} start"
                    )
                })
            }
            Verdict::Held | Verdict::Undetermined(_) | Verdict::Pending => None,
        };
        lines.extend(more.map(|more| Line::new(Tag::More, more)));
    }
    lines
}

fn told<'a>(frame: &Frame<'a>) -> impl Iterator<Item = &'a Judgement> {
    let (stage, shown) = (frame.stage, frame.shown);
    shown.judgements.iter().filter(move |judgement| {
        let is_of_stop = judgement.constraint.after.event == Event::Exited;
        match judgement.verdict {
            Verdict::Pending => false,
            Verdict::Violated => true,
            // Told already: the hook that was to hold it has failed.
            Verdict::Unguarded if is_violated(shown, judgement) => false,
            // The start of a pod that stops was told when it had started.
            Verdict::Held | Verdict::Undetermined(_) | Verdict::Unguarded => {
                stage == Stage::End && is_of_stop == shown.is_stopping()
            }
        }
    })
}

/// The sentence of one verdict.
pub(super) fn sentence(frame: &Frame<'_>, judgement: &Judgement) -> String {
    let constraint = &judgement.constraint;
    let after = constraint.after.container.as_deref().unwrap_or("the pod");
    let text = match judgement.verdict {
        Verdict::Held if constraint.after.event == Event::Exited => stopped(frame, judgement),
        Verdict::Held => {
            let before = had_happened(&constraint.before, constraint.role);
            format!("{after} started after {before}")
        }
        Verdict::Violated => violated(frame, judgement),
        Verdict::Unguarded => unguarded(frame, judgement),
        Verdict::Undetermined(doubt) => undetermined(judgement, doubt),
        Verdict::Pending => {
            let before = had_happened(&constraint.before, constraint.role);
            format!("{after} waits until {before}")
        }
    };
    match judgement.initialization {
        1 => text,
        number => format!("{text}, {} time", ordinal(number)),
    }
}

/// `app exited (≤ 15.01 s) before sidecar (≥ 15.00 s)`
fn stopped(frame: &Frame<'_>, judgement: &Judgement) -> String {
    let name = |milestone: &crate::plan::Milestone| milestone.container.clone().unwrap_or_default();
    let (before, after) = (
        name(&judgement.constraint.before),
        name(&judgement.constraint.after),
    );
    let bound = |at: Option<Timestamp>, sign: &str, round| {
        at.map(|at| format!(" ({sign} {})", moment(frame.since_zero(at), round)))
            .unwrap_or_default()
    };
    let until = judgement.before.as_ref().and_then(|own| own.not_after);
    let from = judgement.after.as_ref().and_then(|own| own.not_before);
    let until = bound(until, at_most(frame.style), Round::Up);
    let from = bound(from, at_least(frame.style), Round::Down);
    format!("{before} exited{until} before {after}{from}")
}

fn violated(frame: &Frame<'_>, judgement: &Judgement) -> String {
    let constraint = &judgement.constraint;
    let after = constraint.after.container.as_deref().unwrap_or("the pod");
    let Some(failed) = &judgement.failed else {
        let before = event_of(&constraint.before);
        return format!("{after} {} before {before}", verb(constraint.after.event));
    };
    let failure = match constraint.before.event {
        Event::Exited => format!("{} had failed", event_of(&constraint.before)),
        _ => format!("{} had failed", event_of(&constraint.before)),
    };
    let gap = judgement
        .after
        .as_ref()
        .and_then(|own| gap(frame, failed, own));
    match gap {
        Some(gap) => format!("{after} started {gap} after {failure}"),
        None => format!("{after} started after {failure}"),
    }
}

fn verb(event: Event) -> &'static str {
    match event {
        Event::Exited => "exited",
        Event::Ready => "was ready",
        Event::Scheduled
        | Event::SandboxReady
        | Event::Pulling
        | Event::Pulled
        | Event::Created
        | Event::Started
        | Event::PostStartReturned
        | Event::PostStartFailed
        | Event::StartupProbePassed
        | Event::NotReady
        | Event::Killing
        | Event::Deleted => "started",
    }
}

/// The time from a failure to an instant: an interval, rounded outward.
fn gap(frame: &Frame<'_>, first: &Instant, second: &Instant) -> Option<String> {
    let between =
        |from: Option<Timestamp>, until: Option<Timestamp>| Some(until?.duration_since(from?));
    // The event of a failure is made the moment it is noticed (S21).
    let low = between(first.best(), second.not_before)?;
    let high = between(first.best(), second.not_after)?;
    if low.is_negative() {
        let sign = at_most(frame.style);
        return Some(format!("{sign} {}", took(high, Round::Up)));
    }
    let (low, high) = (took(low, Round::Down), took(high, Round::Up));
    Some(range(&low, &high, frame.style.glyphs().dash))
}

/// What the kubelet says about a hook that failed, or how an init container ended.
fn reason(shown: &Shown, judgement: &Judgement) -> Option<String> {
    let name = judgement.constraint.before.container.as_deref()?;
    let container = shown.pod.container(name)?;
    let attempts = container.in_initialization(judgement.initialization);
    let failures: Vec<Option<&str>> = attempts.filter_map(failure).collect();
    let message = failures
        .iter()
        .flatten()
        .next()
        .and_then(|text| cause(text))?;
    Some(match failures.len() {
        0 | 1 => message,
        times => format!("{message} ({times} times)"),
    })
}

fn failure(attempt: &Attempt) -> Option<Option<&str>> {
    match &attempt.hook {
        Some(Hook::Failed { message, .. }) => Some(message.as_deref()),
        Some(Hook::Returned { .. } | Hook::Running { .. }) | None => None,
    }
}

/// `/entrypoint wait exited with 1: not ready after 3s` out of the kubelet's message (S3).
pub(super) fn cause(message: &str) -> Option<String> {
    let (_, cause) = message.split_once(" failed - error: ")?;
    let cause = cause.split(", message: ").next().unwrap_or(cause).trim();
    let cause = cause.strip_prefix("command ").unwrap_or(cause);
    let unquoted = cause.strip_prefix('\'').and_then(|rest| {
        let (command, rest) = rest.split_once("' exited with ")?;
        Some(format!("{command} exited with {rest}"))
    });
    let line = unquoted.unwrap_or_else(|| cause.to_owned());
    let words: Vec<&str> = line.split_whitespace().collect();
    Some(words.join(" ").trim_end_matches(':').to_owned())
}

/// `c10's postStart before c11's start (attempted): no event of either`
fn undetermined(judgement: &Judgement, doubt: Doubt) -> String {
    let constraint = &judgement.constraint;
    let is_stop = constraint.after.event == Event::Exited && constraint.role != Kind::Init;
    let name = |milestone: &crate::plan::Milestone| match is_stop {
        true => milestone.container.clone().unwrap_or_default(),
        false => event_of(milestone),
    };
    let (before, after) = (name(&constraint.before), name(&constraint.after));
    let basis = match constraint.basis {
        Basis::Enforced => String::new(),
        basis @ (Basis::Attempted | Basis::Polled | Basis::Needed) => format!(" ({basis})"),
    };
    let is_of_status =
        |own: &Option<Instant>| own.as_ref().is_none_or(|own| own.source == Source::Status);
    let doubt = match doubt {
        Doubt::SameSecond => "within one second".to_owned(),
        Doubt::NoEvent if is_of_status(&judgement.before) && is_of_status(&judgement.after) => {
            "no event of either".to_owned()
        }
        Doubt::NoEvent => "no event tells".to_owned(),
        Doubt::NotProbed | Doubt::Gap | Doubt::OwnWait => doubt.to_string(),
    };
    format!("{before} before {after}{basis}: {doubt}")
}

/// How long something is known to have taken: least and most, where both instants have bounds.
pub(super) fn length(
    from: &Instant,
    until: &Instant,
) -> (Option<SignedDuration>, Option<SignedDuration>) {
    let between =
        |from: Option<Timestamp>, until: Option<Timestamp>| Some(until?.duration_since(from?));
    (
        between(from.not_after, until.not_before),
        between(from.not_before, until.not_after),
    )
}
