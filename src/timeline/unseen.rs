//! Estimates for starts of which no event tells: the kubelet starts app containers one after
//! another (S1), so they follow each other like those of which events told.

use super::bounds::Bounds;
use super::fold::{Attempt, ContainerTimeline, Hook};
use super::instant::{Instant, SECOND, Source, earlier, later};
use crate::pod::{KubeVersion, Role};
use jiff::{SignedDuration, Timestamp};

/// Moves the estimates of starts and hooks that only a status tells of; their bounds stay.
pub(super) fn estimate(bounds: &Bounds<'_>, containers: &mut [ContainerTimeline]) {
    let Some(step) = usual_step(containers) else {
        return;
    };
    let is_app = |index: &usize| containers[*index].role == Role::App;
    let apps: Vec<usize> = (0..containers.len()).filter(is_app).collect();
    let hooked: Vec<bool> = containers
        .iter()
        .map(|container| {
            let declared = bounds.template.container(&container.name);
            declared.is_some_and(|(_, declared)| declared.post_start.is_some())
        })
        .collect();
    let mut end: Option<Timestamp> = None;
    let mut is_placed = vec![false; containers.len()];
    for index in &apps {
        let Some(attempt) = containers[*index].attempts.first_mut() else {
            return;
        };
        let made = attempt.created.or(attempt.pulled);
        let from = made.and_then(|made| made.best()).or(end);
        is_placed[*index] = place(attempt, from.map(|from| later(from, step)));
        let is_known = is_placed[*index] || !is_unseen(attempt);
        end = end_of_start(attempt, hooked[*index]).filter(|_| is_known);
    }
    let mut end = published(bounds, &apps);
    for index in apps.iter().rev() {
        let Some(attempt) = containers[*index].attempts.first_mut() else {
            return;
        };
        if hooked[*index] {
            place_hook(attempt, end);
            return;
        }
        if !is_placed[*index] {
            place(attempt, end);
        }
        let started = attempt.started.and_then(|started| started.best());
        end = started.map(|started| earlier(started, step));
    }
}

/// How long a start takes here from the image being there to the process running.
fn usual_step(containers: &[ContainerTimeline]) -> Option<SignedDuration> {
    let attempts = containers.iter().flat_map(|container| &container.attempts);
    let mut steps: Vec<SignedDuration> = attempts
        .filter_map(|attempt| Some((attempt.pulled?, attempt.started?)))
        .filter(|(_, started)| started.source == Source::EventName)
        .filter_map(|(pulled, started)| Some(started.best()?.duration_since(pulled.best()?)))
        .collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}

/// Whether only a status tells of the start.
fn is_unseen(attempt: &Attempt) -> bool {
    let started = attempt.started.as_ref();
    started.is_some_and(|started| started.source == Source::Status)
}

/// Moves the estimate of a start that only a status tells of.
fn place(attempt: &mut Attempt, at: Option<Timestamp>) -> bool {
    let is_unseen = is_unseen(attempt);
    match (&mut attempt.started, at) {
        (Some(started), Some(at)) if is_unseen => {
            started.estimate = Some(within(started, at));
            true
        }
        (Some(_) | None, _) => false,
    }
}

fn place_hook(attempt: &mut Attempt, at: Option<Timestamp>) {
    if let (Some(Hook::Returned { when, is_inferred }), Some(at)) = (&mut attempt.hook, at)
        && !*is_inferred
    {
        when.estimate = Some(within(when, at));
    }
}

fn within(when: &Instant, at: Timestamp) -> Timestamp {
    let at = when.not_before.map_or(at, |start| at.max(start));
    when.not_after.map_or(at, |end| at.min(end))
}

/// When a start was over, its hook included, where that is known.
fn end_of_start(attempt: &Attempt, has_hook: bool) -> Option<Timestamp> {
    match &attempt.hook {
        Some(Hook::Returned {
            when,
            is_inferred: true,
        }) => when.best(),
        Some(Hook::Failed { .. } | Hook::Returned { .. } | Hook::Running { .. }) => None,
        None if has_hook => None,
        None => attempt.started?.best(),
    }
}

/// When the sync that started all of them was over: its status was published after it, by an older
/// kubelet up to a second later.
fn published(bounds: &Bounds<'_>, apps: &[usize]) -> Option<Timestamp> {
    let last = bounds.drafts[*apps.last()?].first()?;
    let seen = last.instance.as_ref()?.seen_running?;
    let waits = !bounds.version.is_none_or(KubeVersion::relists_after_sync);
    let likely = bounds.offset.likely(seen);
    Some(if waits {
        earlier(likely, SECOND / 2)
    } else {
        likely
    })
}
