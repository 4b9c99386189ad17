//! How long a wait can take, from the walk in which what it waits for is missing.

use super::tools::Retry;
use crate::shell::{Asked, End, Run, Status};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a wait goes on when what it waits for never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// For ever.
    Unbounded,
    /// Up to a time.
    Bounded {
        /// At most this long, when it can be computed.
        upper: Option<Duration>,
        /// What happens then.
        then: AtBound,
    },
    /// Nobody knows whether it ends.
    Unknown,
}

/// What happens when a wait is over and nothing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBound {
    /// The command ends with an exit code other than 0.
    Fails,
    /// The command goes on as if it had come.
    GoesOn,
}

impl Bound {
    /// Whether it is over at some time, and the command fails then.
    pub fn fails(self) -> bool {
        match self {
            Bound::Bounded { then, .. } => then == AtBound::Fails,
            Bound::Unbounded | Bound::Unknown => false,
        }
    }

    /// The bound of two waits, one after the other.
    pub fn and_then(self, next: Bound) -> Bound {
        match (self, next) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => Bound::Unbounded,
            (Bound::Unknown, _) | (_, Bound::Unknown) => Bound::Unknown,
            (
                Bound::Bounded { upper, then },
                Bound::Bounded {
                    upper: next_upper,
                    then: next_then,
                },
            ) => Bound::Bounded {
                upper: upper
                    .zip(next_upper)
                    .map(|(one, other)| one.saturating_add(other)),
                then: if then == AtBound::GoesOn {
                    then
                } else {
                    next_then
                },
            },
        }
    }
}

/// How often a check was tried in one loop of the text.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    /// In the run of the loop with the most tries; no limit for one that never ended.
    most: usize,
    /// Every run of the loop ended.
    was_left: bool,
}

type LoopKey = (usize, usize);

/// The loops around a try, from the inside.
fn loops_around<'r>(run: &'r Run, asked: &Asked) -> impl Iterator<Item = usize> + 'r {
    let mut next = asked.in_loop;
    std::iter::from_fn(move || {
        let number = next?;
        next = run.loops.get(number)?.outer;
        Some(number)
    })
}

/// The tries of a check by loop.
fn tries(run: &Run, check: usize) -> BTreeMap<LoopKey, Tries> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for asked in run.asked.iter().filter(|asked| asked.check == check) {
        for number in loops_around(run, asked) {
            *counts.entry(number).or_default() += 1;
        }
    }
    let mut tries: BTreeMap<LoopKey, Tries> = BTreeMap::new();
    for (number, count) in counts {
        let Some(loop_run) = run.loops.get(number) else {
            continue;
        };
        let entry = tries.entry(loop_run.key).or_insert(Tries {
            most: 0,
            was_left: true,
        });
        let is_endless = loop_run.is_endless || loop_run.left.is_none();
        let count = if is_endless { usize::MAX } else { count };
        entry.most = entry.most.max(count);
        entry.was_left &= loop_run.left.is_some();
    }
    tries
}

/// The loops that try a check again while it fails, and end once it succeeds.
fn waiting_loops(present: &Run, missing: &Run, check: usize) -> Vec<LoopKey> {
    let when_present = tries(present, check);
    let when_missing = tries(missing, check);
    when_missing
        .into_iter()
        .filter(|(key, tries)| {
            tries.most >= 2
                && when_present
                    .get(key)
                    .is_none_or(|found| found.was_left && found.most < tries.most)
        })
        .map(|(key, _)| key)
        .collect()
}

/// Whether a loop goes on while the check succeeds, and ends at its first failure.
pub(super) fn breaks_on_first_failure(present: &Run, missing: &Run, check: usize) -> bool {
    let when_missing = tries(missing, check);
    tries(present, check).into_iter().any(|(key, found)| {
        let after_failure = when_missing.get(&key);
        found.most >= 2 && after_failure.is_some_and(|tries| tries.was_left && tries.most == 1)
    })
}

/// The bound of a wait for a check; none when it is tried once and that is all.
pub(super) fn bound_of(present: &Run, missing: &Run, check: usize, retry: Retry) -> Option<Bound> {
    let loops = waiting_loops(present, missing, check);
    if loops.is_empty() {
        return match retry {
            Retry::Once(_) => None,
            Retry::Unknown => Some(Bound::Unknown),
            Retry::For(_) | Retry::Forever => Some(bound_of_tool(missing, check)),
        };
    }
    Some(bound_of_loops(missing, check, &loops))
}

fn bound_of_tool(missing: &Run, check: usize) -> Bound {
    let mut tries = missing.asked.iter().filter(|asked| asked.check == check);
    let Some(first) = tries.next() else {
        return Bound::Unknown;
    };
    let never_ended = missing.end == End::Endless && first.until == first.from;
    if never_ended {
        return Bound::Unbounded;
    }
    bounded(missing, first.from, first.until)
}

fn bound_of_loops(missing: &Run, check: usize, loops: &[LoopKey]) -> Bound {
    let mut first = Duration::MAX;
    let mut last = Duration::ZERO;
    let mut bound = None;
    for asked in missing.asked.iter().filter(|asked| asked.check == check) {
        first = first.min(asked.from);
        for number in loops_around(missing, asked) {
            let Some(run) = missing.loops.get(number) else {
                continue;
            };
            if !loops.contains(&run.key) {
                continue;
            }
            let is_counted = missing.end == End::TooLong && run.has_number_test;
            match run.left {
                None if run.is_unsure || is_counted => bound = Some(Bound::Unknown),
                None => return Bound::Unbounded,
                Some(_) if run.is_unsure => {
                    bound = Some(Bound::Bounded {
                        upper: None,
                        then: at_bound(missing),
                    });
                }
                Some(left) => last = last.max(left),
            }
        }
    }
    bound.unwrap_or_else(|| bounded(missing, first, last))
}

fn bounded(missing: &Run, from: Duration, until: Duration) -> Bound {
    Bound::Bounded {
        upper: (!missing.has_unknown_time).then(|| until.saturating_sub(from)),
        then: at_bound(missing),
    }
}

fn at_bound(missing: &Run) -> AtBound {
    match missing.end {
        End::Finished(Status::Known(code)) if code != 0 => AtBound::Fails,
        End::Finished(_) | End::Endless | End::TooLong => AtBound::GoesOn,
    }
}
