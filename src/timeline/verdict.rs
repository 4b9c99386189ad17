//! Whether what had to come first did come first, as far as it can be known.

use super::fold::{Attempt, ContainerTimeline, Hook, PodTimeline};
use super::instant::{Instant, Source};
use crate::plan::{Basis, Constraint, Event, Milestone};
use crate::pod::Role;
use jiff::{SignedDuration, Timestamp};
use std::fmt;

/// What became of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It came first.
    Held,
    /// It did not come first, or it failed and the dependent started all the same.
    Violated,
    /// Nothing held the dependent; whether it went well is another matter.
    Unguarded,
    /// What was seen does not decide it.
    Undetermined(Doubt),
    /// The dependent has not started yet.
    Pending,
}

impl Verdict {
    /// The word of JSON output.
    pub fn json_word(self) -> &'static str {
        match self {
            Verdict::Undetermined(_) => "undetermined",
            Verdict::Held | Verdict::Violated | Verdict::Unguarded | Verdict::Pending => {
                self.word()
            }
        }
    }

    /// The word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::Violated => "violated",
            Verdict::Unguarded => "unguarded",
            Verdict::Undetermined(_) => "not known",
            Verdict::Pending => "pending",
        }
    }
}

/// Why a verdict cannot be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doubt {
    /// Both are known by their second only, and it is the same one.
    SameSecond,
    /// The intervals overlap, or nothing tells of one of them.
    NoEvent,
    /// Readiness is not asked for before the sync that starts both has ended.
    NotProbed,
    /// The watch was interrupted just then.
    Gap,
    /// The container's own command waits, and nothing tells when it went on.
    OwnWait,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::SameSecond => "both within one second",
            Doubt::NoEvent => "no event tells of it",
            Doubt::NotProbed => {
                "no probe runs before the sync that starts both has ended; \
                 postStartReturned and startupProbePassed can be compared"
            }
            Doubt::Gap => "the watch was interrupted just then",
            Doubt::OwnWait => {
                "the container's own command waits, and no event tells when it went on"
            }
        })
    }
}

/// A constraint, judged for one initialization of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What was judged.
    pub constraint: Constraint,
    /// Which initialization of the pod, from 1.
    pub initialization: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The kubelet going on is how it is known at all: it could not have come out otherwise.
    pub is_by_construction: bool,
    /// When the first milestone was reached, if it was.
    pub before: Option<Instant>,
    /// When it failed instead: a hook that failed, an init container that exited with an error.
    pub failed: Option<Instant>,
    /// When the second milestone was reached, if it was.
    pub after: Option<Instant>,
}

impl Judgement {
    /// The time between the two in milliseconds, rounded outward: least and most, where known.
    pub fn gap_ms(&self) -> (Option<i64>, Option<i64>) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return (None, None);
        };
        let between =
            |start: Option<Timestamp>, end: Option<Timestamp>| Some(end?.duration_since(start?));
        let least = between(before.not_after, after.not_before);
        let most = between(before.not_before, after.not_after);
        (least.map(floor_ms), most.map(ceil_ms))
    }
}

fn floor_ms(duration: SignedDuration) -> i64 {
    let nanos = duration.as_nanos().div_euclid(1_000_000);
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

fn ceil_ms(duration: SignedDuration) -> i64 {
    let nanos = -(-duration.as_nanos()).div_euclid(1_000_000);
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// Judges the constraints of a pod, each for every initialization.
pub fn judge(pod: &PodTimeline, constraints: &[Constraint]) -> Vec<Judgement> {
    let initializations = 1..=pod.initializations();
    initializations
        .flat_map(|initialization| {
            let constraints = constraints.iter();
            constraints.map(move |constraint| judge_one(pod, constraint, initialization))
        })
        .collect()
}

/// How far one container got with one milestone.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    when: Option<Instant>,
    failed: Option<Instant>,
    is_inferred: bool,
    has_started: bool,
}

fn judge_one(pod: &PodTimeline, constraint: &Constraint, initialization: u32) -> Judgement {
    let stops = constraint.before.event == Event::Exited && constraint.after.event == Event::Exited;
    let before = reached(pod, &constraint.before, initialization, stops);
    let after = reached(pod, &constraint.after, initialization, stops);
    let verdict = match after.when {
        None => Verdict::Pending,
        Some(after) => compare(pod, constraint, &before, &after),
    };
    let is_compared = matches!(verdict, Verdict::Held);
    Judgement {
        constraint: constraint.clone(),
        initialization,
        verdict,
        is_by_construction: is_compared && before.is_inferred,
        before: before.when,
        failed: before.failed.filter(|_| before.when.is_none()),
        after: after.when,
    }
}

fn compare(
    pod: &PodTimeline,
    constraint: &Constraint,
    before: &Reached,
    after: &Instant,
) -> Verdict {
    if constraint.basis == Basis::Needed {
        return Verdict::Unguarded;
    }
    let Some(first) = &before.when else {
        let is_attempted = constraint.basis == Basis::Attempted;
        return if before.failed.is_some() || is_attempted && !before.has_started {
            Verdict::Violated
        } else {
            Verdict::Undetermined(doubt(pod, constraint, after, after))
        };
    };
    if before.is_inferred {
        return Verdict::Held;
    }
    if constraint.before.event == Event::Ready && constraint.after.event == Event::Started {
        return Verdict::Undetermined(Doubt::NotProbed);
    }
    if first.is_before(after) {
        Verdict::Held
    } else if after.is_before(first) {
        Verdict::Violated
    } else {
        Verdict::Undetermined(doubt(pod, constraint, first, after))
    }
}

fn doubt(pod: &PodTimeline, constraint: &Constraint, first: &Instant, after: &Instant) -> Doubt {
    let from = first.not_before.max(after.not_before);
    let until = first.not_after.min(after.not_after);
    let is_in_gap = |gap: &super::fold::Gap| {
        until.is_none_or(|until| gap.from.is_none_or(|start| start <= until))
            && from.is_none_or(|from| from <= gap.until)
    };
    if pod.gaps.iter().any(is_in_gap) {
        return Doubt::Gap;
    }
    if constraint.basis == Basis::Polled {
        return Doubt::OwnWait;
    }
    let seconds = [first, after].map(|instant| instant.source == Source::Status);
    if seconds == [true, true] && constraint.before.event == constraint.after.event {
        Doubt::SameSecond
    } else {
        Doubt::NoEvent
    }
}

fn reached(
    pod: &PodTimeline,
    milestone: &Milestone,
    initialization: u32,
    is_stop: bool,
) -> Reached {
    let Some(name) = &milestone.container else {
        return Reached {
            when: pod.pod_event(milestone.event).copied(),
            ..Reached::default()
        };
    };
    let Some(container) = pod.container(name) else {
        return Reached::default();
    };
    let attempts: Vec<&Attempt> = container.in_initialization(initialization).collect();
    let has_started = attempts.iter().any(|attempt| attempt.started.is_some());
    let found = match milestone.event {
        Event::PostStartReturned => hook_returned(container, &attempts),
        Event::Exited if is_stop => last_exit(&attempts),
        Event::Exited => exited(container, &attempts),
        Event::StartupProbePassed => attempts
            .iter()
            .find_map(|attempt| Some((attempt.startup_passed?, attempt.is_startup_inferred)))
            .map_or_else(Reached::default, |(when, is_inferred)| Reached {
                when: Some(when),
                is_inferred,
                ..Reached::default()
            }),
        event => Reached {
            when: attempts.iter().find_map(|attempt| attempt.instant(event)),
            ..Reached::default()
        },
    };
    Reached {
        has_started,
        ..found
    }
}

/// An app container's hook has one try before the next container starts; a native sidecar's next
/// container waits until one of its tries succeeds (S6, S3).
fn hook_returned(container: &ContainerTimeline, attempts: &[&Attempt]) -> Reached {
    let mut failed = None;
    for attempt in attempts.iter().filter(|attempt| attempt.started.is_some()) {
        match &attempt.hook {
            Some(Hook::Returned { when, is_inferred }) => {
                return Reached {
                    when: Some(*when),
                    is_inferred: *is_inferred,
                    ..Reached::default()
                };
            }
            Some(Hook::Failed { when, .. }) => failed = failed.or(Some(*when)),
            Some(Hook::Running { .. }) | None => {}
        }
        if container.role == Role::App {
            break;
        }
    }
    Reached {
        failed,
        ..Reached::default()
    }
}

fn last_exit(attempts: &[&Attempt]) -> Reached {
    let exit = attempts.last().and_then(|attempt| attempt.exit.as_ref());
    Reached {
        when: exit.map(|(when, _)| *when),
        ..Reached::default()
    }
}

fn exited(container: &ContainerTimeline, attempts: &[&Attempt]) -> Reached {
    let has_succeeded = |attempt: &&&Attempt| {
        let code = attempt.exit.as_ref().and_then(|(_, status)| status.code);
        container.role != Role::Init || code == Some(0)
    };
    let mut exits = attempts.iter().filter(|attempt| attempt.exit.is_some());
    if let Some(attempt) = exits.clone().find(has_succeeded) {
        return Reached {
            when: attempt.exit.as_ref().map(|(when, _)| *when),
            is_inferred: attempt.is_exit_inferred,
            ..Reached::default()
        };
    }
    let failed = exits.next_back().and_then(|attempt| attempt.exit.as_ref());
    Reached {
        failed: failed.map(|(when, _)| *when),
        ..Reached::default()
    }
}
