//! The order in which the containers are sent SIGTERM when the pod ends (S16).

use super::column::Column;
use super::line::Line;
use super::{Prediction, names};
use crate::plan::Basis;
use crate::plan::predict::StopStep;
use crate::pod::Role;

/// A sentence, and how firmly it holds where that is worth a word.
pub type Sentence = (String, Option<Basis>);

/// The sentences below each other, with `head` before the first.
pub fn lines(head: Line, sentences: &[Sentence], column: &Column) -> Vec<Line> {
    let start = head.width();
    let mut line = head;
    let mut lines = Vec::new();
    for (text, word) in sentences {
        lines.extend(column.sentence(line, text, *word));
        line = Line::indented(start);
    }
    lines
}

/// What is told of the end; empty when there is nothing to tell.
pub fn sentences(prediction: &Prediction<'_>) -> Vec<Sentence> {
    let stop = &prediction.plan.stop;
    let hooks = pre_stops(prediction);
    if stop.len() < 2 && hooks.is_empty() {
        return Vec::new();
    }
    let (natives, apps): (Vec<&StopStep>, Vec<&StopStep>) =
        stop.iter().partition(|step| is_native(prediction, step));
    let mut all = vec![apps_sentence(prediction, &apps, !natives.is_empty())];
    all.extend(natives.iter().map(|step| native_sentence(prediction, step)));
    if !hooks.is_empty() {
        all.push((hook_sentence(prediction, &hooks), None));
    }
    all.push((grace_sentence(prediction, !natives.is_empty()), None));
    all
}

fn is_native(prediction: &Prediction<'_>, step: &StopStep) -> bool {
    let step = prediction.plan.step(step.container);
    step.is_some_and(|step| step.role == Role::Sidecar)
}

/// The containers whose preStop runs.
fn pre_stops(prediction: &Prediction<'_>) -> Vec<String> {
    let has_hook = |step: &&StopStep| {
        let container = prediction.template.containers.get(step.container);
        container.is_some_and(|container| container.pre_stop.is_some())
    };
    let hooked = prediction.plan.stop.iter().filter(has_hook);
    let mut names: Vec<String> = hooked
        .map(|step| names::name(prediction.template, step.container))
        .collect();
    names.sort_unstable();
    names
}

fn apps_sentence(prediction: &Prediction<'_>, apps: &[&StopStep], is_first: bool) -> Sentence {
    let name = |step: &&StopStep| names::name(prediction.template, step.container);
    // They come in no order, so that moving a container in the manifest changes nothing here.
    let mut apps: Vec<String> = apps.iter().map(name).collect();
    apps.sort_unstable();
    let all = names::list(&apps);
    match (is_first, apps.len()) {
        (true, _) => (format!("SIGTERM first to {all}"), None),
        (false, 1) => (format!("SIGTERM to {all}"), None),
        (false, _) => (format!("SIGTERM to {all} at once"), Some(Basis::Needed)),
    }
}

fn native_sentence(prediction: &Prediction<'_>, step: &StopStep) -> Sentence {
    let name = |container| names::name(prediction.template, container);
    let after: Vec<String> = step.after.iter().map(|before| name(*before)).collect();
    let have = if after.len() == 1 { "has" } else { "have" };
    let own = name(step.container);
    let text = format!("then to {own}, when {} {have} exited", names::list(&after));
    (text, Some(Basis::Enforced))
}

fn hook_sentence(prediction: &Prediction<'_>, hooks: &[String]) -> String {
    let all = names::list(hooks);
    if prediction.template.grace.is_zero() {
        return format!("preStop of {all} does not run: there is no grace period");
    }
    match hooks.len() {
        1 => format!("preStop of {all} begins at once; its SIGTERM waits for it"),
        _ => format!("preStop of {all} begin at once; each one's SIGTERM waits for its own"),
    }
}

fn grace_sentence(prediction: &Prediction<'_>, has_natives: bool) -> String {
    let grace = prediction.template.grace.as_secs();
    if has_natives {
        format!("{grace} s of grace for all of it; who still waits then is given 2 s")
    } else {
        format!("{grace} s of grace for all of it")
    }
}
