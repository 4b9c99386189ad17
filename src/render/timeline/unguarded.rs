//! The verdict on a need that nothing holds: when the other started, or what its own crashes tell.

use super::rows::Frame;
use super::scene::Shown;
use super::seconds::{Round, took};
use crate::timeline::Instant;
use crate::timeline::verdict::{Judgement, Verdict};

/// Nothing held it: when it started, or what its own crashes tell.
pub(super) fn unguarded(frame: &Frame<'_>, judgement: &Judgement) -> String {
    let constraint = &judgement.constraint;
    let after = constraint.after.container.as_deref().unwrap_or("the pod");
    let before = constraint.before.container.as_deref().unwrap_or("the pod");
    if has_crashed(frame.shown, after) {
        let probe = match frame.shown.declared(before) {
            Some(own) if own.startup.is_some() || own.readiness.is_some() => {
                "no probe runs before the first start is over"
            }
            Some(_) | None => "no probe tells",
        };
        return format!("nothing held {after}; whether {before} served: not known, {probe}");
    }
    let started = |own: &Option<Instant>| own.as_ref().and_then(Instant::best);
    let is_held = others(frame.shown, judgement).any(|verdict| verdict == Verdict::Held);
    // A hook has held it that looks at nothing.
    let held = match is_held {
        true => format!("nothing checked {before}"),
        false => format!("nothing held {after}"),
    };
    let it = if is_held { after } else { "it" };
    match (started(&judgement.before), started(&judgement.after)) {
        (Some(first), Some(second)) if second >= first => {
            let gap = took(second.duration_since(first), Round::Nearest);
            format!("{held}; {it} started {gap} after {before}'s process")
        }
        (Some(first), Some(second)) => {
            let gap = took(first.duration_since(second), Round::Nearest);
            format!("{held}; {it} started {gap} before {before}'s process")
        }
        _ => format!("nothing held {after} until {before} served"),
    }
}

fn failed_exits(shown: &Shown, name: &str) -> Vec<Option<i64>> {
    let attempts = shown.pod.container(name).map(|own| own.attempts.as_slice());
    let attempts = attempts.unwrap_or_default().iter();
    let exits = attempts.filter_map(|attempt| Some(attempt.exit.as_ref()?.1.code));
    exits.filter(|code| *code != Some(0)).collect()
}

fn has_crashed(shown: &Shown, name: &str) -> bool {
    !failed_exits(shown, name).is_empty() && shown.pod.deletion.is_none()
}

/// Why it is believed to need the other, and what became of it.
pub(super) fn after_unguarded(frame: &Frame<'_>, judgement: &Judgement) -> Option<String> {
    let name = judgement.constraint.after.container.as_deref()?;
    if !has_crashed(frame.shown, name) {
        return None;
    }
    let exits = failed_exits(frame.shown, name);
    let codes = match exits.first() {
        Some(Some(code)) if exits.iter().all(|other| other == &Some(*code)) => {
            format!("exited with {code}")
        }
        Some(_) | None => "failed".to_owned(),
    };
    let times = match exits.len() {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        many => format!("{many} times"),
    };
    let last = frame.shown.pod.container(name)?.attempts.last()?;
    let end = match (&last.exit, last.started) {
        (None, Some(_)) => ", then stayed up",
        (Some(_), _) | (None, None) => "",
    };
    let calls = address(frame.shown, judgement);
    let calls = calls.map_or_else(|| name.to_owned(), |it| format!("{name} calls {it},"));
    Some(format!("{calls} {codes} {times}{end}"))
}

/// The address by which it is believed to need the other.
fn address<'a>(shown: &'a Shown, judgement: &Judgement) -> Option<&'a str> {
    let constraint = &judgement.constraint;
    let position = |name: &Option<String>| {
        let (position, _) = shown.pod.template().container(name.as_deref()?)?;
        Some(position)
    };
    let dependent = position(&constraint.after.container)?;
    let provider = position(&constraint.before.container)?;
    let mut needs = shown.plan.needs.iter();
    let need = needs.find(|need| need.dependent == dependent && need.provider == provider)?;
    let words = need.evidence.iter().map(|one| one.words.as_str());
    words
        .filter(|words| words.contains(':'))
        .min_by_key(|words| words.len())
}

/// The other verdicts on the same two containers.
fn others<'a>(shown: &'a Shown, judgement: &'a Judgement) -> impl Iterator<Item = Verdict> + 'a {
    let pair = |judgement: &'a Judgement| {
        let constraint = &judgement.constraint;
        (&constraint.before.container, &constraint.after.container)
    };
    let own = pair(judgement);
    let all = shown.judgements.iter();
    all.filter(move |other| pair(other) == own)
        .map(|other| other.verdict)
}

/// Whether another verdict on the two says that the dependent started too early.
pub(super) fn is_violated(shown: &Shown, judgement: &Judgement) -> bool {
    others(shown, judgement).any(|verdict| verdict == Verdict::Violated)
}
