//! What a start that nothing held has cost, and what would help.

use super::line::{Line, Tag};
use super::rows::Frame;
use super::scene::{Shown, Stage};
use super::seconds::{Round, took};
use super::words::count;
use crate::plan::profile::hook_of;
use crate::plan::{Event, Hook as Read};
use crate::pod::{Container, Role as Kind};
use crate::timeline::verdict::Verdict;
use jiff::SignedDuration;

/// What a violated or unguarded start has cost, and what would help.
pub(super) fn advice(frame: &Frame<'_>) -> Vec<Line> {
    let shown = frame.shown;
    if frame.stage == Stage::Live || shown.is_stopping() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let unguarded = shown
        .judgements
        .iter()
        .find(|own| own.verdict == Verdict::Unguarded);
    let violated = shown
        .judgements
        .iter()
        .find(|own| own.verdict == Verdict::Violated);
    if let Some(judgement) = unguarded
        && let Some(name) = &judgement.constraint.after.container
    {
        lines.extend(cost(frame, name));
    }
    let pod = &shown.pod.name;
    if let Some(judgement) = violated
        && judgement.constraint.role == Kind::App
        && judgement.constraint.before.event == Event::PostStartReturned
        && let Some(dependent) = &judgement.constraint.after.container
    {
        let help = format!("as a native sidecar it holds {dependent} back until a try succeeds");
        lines.push(Line::new(Tag::Word("help"), help));
        lines.push(Line::new(
            Tag::More,
            format!("kubectl startorder lint pod/{pod} --diff"),
        ));
    } else if let Some(rule) = unguarded.and_then(|judgement| {
        let declared = |name: &Option<String>| shown.declared(name.as_deref()?);
        let dependent = declared(&judgement.constraint.after.container)?;
        let provider = declared(&judgement.constraint.before.container)?;
        match (dependent.role, provider.role) {
            (Kind::Init, Kind::App) => Some("init-needs-later-container"),
            _ => rule(provider),
        }
    }) {
        // Only what was never gated is certain to have one.
        let patch = if rule.starts_with("ungated") {
            ", with a patch"
        } else {
            ""
        };
        let help = format!("kubectl startorder lint pod/{pod}: {rule}{patch}");
        lines.push(Line::new(Tag::Word("help"), help));
    }
    lines
}

/// The rule of `lint` that is about a provider like this one.
fn rule(provider: &Container) -> Option<&'static str> {
    let Some(hook) = hook_of(provider) else {
        return match provider.role {
            Kind::Sidecar => Some("ungated-native-sidecar"),
            Kind::App => Some("ungated-sidecar"),
            Kind::Init | Kind::Ephemeral => None,
        };
    };
    match hook {
        Read::HttpGet { .. } => Some("http-hook-as-gate"),
        Read::Waits { .. } | Read::MayWait { .. } => Some("gate-after-dependent"),
        Read::SleepsOnly { .. }
        | Read::SingleTry { .. }
        | Read::ReturnsEarly { .. }
        | Read::Fails { .. }
        | Read::NeverEnds { .. }
        | Read::TcpSocket { .. }
        | Read::NotUnderstood { .. }
        | Read::NotAWait => None,
    }
}

/// `2 restarts and 11.9 s, about 10 s of it back-off`
fn cost(frame: &Frame<'_>, name: &str) -> Option<Line> {
    let shown = frame.shown;
    let attempts = &shown.pod.container(name)?.attempts;
    let (first, last) = (attempts.first()?, attempts.last()?);
    let restarts = attempts.iter().filter(|own| own.started.is_some()).count() - 1;
    if restarts == 0 || last.exit.is_some() {
        return None;
    }
    let (from, until) = (first.started?.best()?, last.started?.best()?);
    let lost = took(until.duration_since(from), Round::Nearest);
    let pairs = attempts.windows(2);
    let waits = pairs.filter_map(|pair| {
        let ended = pair[0].exit.as_ref()?.0.best()?;
        Some(pair[1].started?.best()?.duration_since(ended))
    });
    let back_off = waits
        .filter(|wait| *wait > SignedDuration::from_secs(5))
        .fold(SignedDuration::ZERO, |sum, wait| sum + wait);
    let mut text = format!("{} and {lost}", count(restarts, "restart"));
    if back_off.is_positive() {
        text = format!("{text}, about {} s of it back-off", back_off.as_secs());
    }
    let too_early = ready_too_early(shown, until);
    if too_early > 0 {
        let times = match too_early {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            many => format!("{many} times"),
        };
        text = format!(
            "{text}; the pod was reported Ready {times} while {name} was dead or about to exit"
        );
    }
    Some(Line::new(Tag::Word("cost"), text))
}

/// How often the pod was Ready before the start that lasted.
fn ready_too_early(shown: &Shown, lasting: jiff::Timestamp) -> usize {
    let own = shown.pod.observations.iter();
    let ready = own.filter(|one| one.milestone.event == Event::Ready);
    ready
        .filter(|one| one.when.best().is_some_and(|at| at < lasting))
        .count()
}
