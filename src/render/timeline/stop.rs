//! How a container is stopped: its preStop hook, whom its SIGTERM waits for (S16).

use super::scene::Shown;
use super::words::list;
use crate::timeline::ContainerTimeline;
use jiff::Timestamp;

/// What a container does between the kubelet's decision to stop it and its end.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Whether something of its own runs that others wait for.
    pub(super) is_gate: bool,
    pub(super) labels: Vec<String>,
}

/// How this container is stopped when the kubelet begins at `from`.
pub(super) fn way(shown: &Shown, container: &ContainerTimeline, from: Timestamp) -> Way {
    let has_hook = shown
        .declared(&container.name)
        .is_some_and(|declared| declared.pre_stop.is_some());
    let others = others(shown, container, from);
    let waits = format!("waits for {}", list(&others));
    let (is_gate, labels) = match (has_hook, others.is_empty()) {
        (true, true) => (
            true,
            vec!["preStop, SIGTERM".to_owned(), "preStop".to_owned()],
        ),
        (true, false) => (true, vec![format!("preStop; {waits}"), waits]),
        (false, true) => (true, vec!["SIGTERM".to_owned()]),
        (false, false) => (false, vec![waits, "waits".to_owned()]),
    };
    Way { is_gate, labels }
}

/// The containers that have to be gone before its SIGTERM and were still there then.
fn others<'a>(shown: &'a Shown, container: &ContainerTimeline, from: Timestamp) -> Vec<&'a str> {
    let containers = &shown.pod.containers;
    let name = |at: &usize| containers.get(*at).map(|own| own.name.as_str());
    let steps = shown.plan.stop.iter();
    let mut own = steps.filter(|step| name(&step.container) == Some(container.name.as_str()));
    let Some(step) = own.next() else {
        return Vec::new();
    };
    // In the order in which they go: what is last in the kubelet's order of starts goes first.
    let after = step.after.iter().rev();
    let there = after.filter(|at| {
        let last = containers.get(**at).and_then(|own| own.attempts.last());
        let exit = last.and_then(|attempt| attempt.exit.as_ref());
        exit.is_none_or(|(when, _)| when.best() > Some(from))
    });
    there.filter_map(name).collect()
}
