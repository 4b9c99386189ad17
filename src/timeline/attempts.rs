//! Which events and which statuses speak of the same start of a container.

use super::clock::TimedEvent;
use super::instant::{SECOND, later};
use super::observation::{ContainerSeen, Ended, ExitStatus, PodSeen, ProbeKind, State, Word};
use jiff::{SignedDuration, Timestamp};

/// The events of one start, as indices into the pod's events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) pulling: Option<usize>,
    pub(super) pulled: Option<usize>,
    pub(super) created: Option<usize>,
    pub(super) started: Option<usize>,
    pub(super) hook_failed: Option<usize>,
    pub(super) killing: Option<usize>,
    pub(super) back_off: Option<usize>,
    pub(super) failed: Option<usize>,
    pub(super) unhealthy: Vec<(ProbeKind, usize)>,
}

impl Group {
    /// Whether another pull or creation can only belong to the next start.
    fn is_closed(&self) -> bool {
        self.created.is_some() || self.started.is_some() || self.is_over()
    }

    fn is_over(&self) -> bool {
        self.hook_failed.is_some() || self.back_off.is_some() || self.killing.is_some()
    }

    fn begins_anew(&self, word: Word) -> bool {
        match word {
            Word::Pulling | Word::Pulled => self.is_closed(),
            Word::Created => self.is_closed(),
            Word::Started => self.started.is_some() || self.is_over(),
            Word::PostStartFailed => self.hook_failed.is_some(),
            Word::Scheduled
            | Word::SandboxChanged
            | Word::KillingAfterHook
            | Word::Killing
            | Word::Unhealthy(_)
            | Word::BackOffRestart
            | Word::BackOffPull
            | Word::Failed
            | Word::Other => false,
        }
    }

    fn add(&mut self, word: Word, index: usize) {
        match word {
            Word::Pulling => self.pulling = Some(index),
            Word::Pulled => self.pulled = Some(index),
            Word::Created => self.created = Some(index),
            Word::Started => self.started = Some(index),
            Word::PostStartFailed => self.hook_failed = Some(index),
            Word::KillingAfterHook => {
                self.hook_failed = self.hook_failed.or(Some(index));
                self.killing = self.killing.or(Some(index));
            }
            Word::Killing => self.killing = self.killing.or(Some(index)),
            Word::BackOffRestart => self.back_off = self.back_off.or(Some(index)),
            Word::Failed => self.failed = Some(index),
            Word::Unhealthy(probe) => self.unhealthy.push((probe, index)),
            Word::Scheduled | Word::SandboxChanged | Word::BackOffPull | Word::Other => {}
        }
    }

    /// The first event of the start, whichever it is.
    pub(super) fn first(&self) -> Option<usize> {
        let all = [self.pulling, self.pulled, self.created, self.started];
        all.into_iter().flatten().min()
    }

    /// The last event of the start itself.
    pub(super) fn last(&self) -> Option<usize> {
        self.started.or(self.created).or(self.pulled)
    }
}

/// Puts the events of one container together, one group for each start.
pub(super) fn group(events: &[TimedEvent], container: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let own = events.iter().enumerate();
    for (index, event) in own.filter(|(_, event)| event.is_of(container)) {
        let word = event.seen.word;
        match groups.last_mut() {
            Some(group) if !group.begins_anew(word) => group.add(word, index),
            _ => {
                let mut group = Group::default();
                group.add(word, index);
                groups.push(group);
            }
        }
    }
    groups
}

/// One instance of a container in the runtime, as the statuses show it. Times are arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) id: Option<String>,
    pub(super) restarts: u32,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Option<Timestamp>,
    pub(super) end: Option<ExitStatus>,
    /// When the command of a Tekton step began.
    pub(super) turn: Option<Timestamp>,
    pub(super) never_ran: bool,
    pub(super) seen: Option<Timestamp>,
    pub(super) seen_running: Option<Timestamp>,
    pub(super) seen_started: Option<Timestamp>,
    pub(super) seen_ended: Option<Timestamp>,
    /// Each change of `ready`, with its arrival.
    pub(super) ready: Vec<(bool, Timestamp)>,
    /// A status said that its postStart hook has failed.
    pub(super) hook_failed: Option<Timestamp>,
    /// What that status said about it.
    pub(super) hook_message: Option<String>,
}

/// Reads the instances of one container out of the pod's statuses, in the order of their starts.
pub(super) fn instances(statuses: &[PodSeen], container: &str) -> Vec<Instance> {
    let mut found: Vec<Instance> = Vec::new();
    for status in statuses {
        let own = status.containers.iter().find(|seen| seen.name == container);
        if let Some(seen) = own {
            read_status(&mut found, seen, status.at);
        }
    }
    found
}

fn read_status(found: &mut Vec<Instance>, seen: &ContainerSeen, at: Timestamp) {
    if let Some(last) = &seen.last {
        let is_newest = last.id.is_some() && last.id == seen.id;
        let restarts = seen.restarts.saturating_sub(u32::from(!is_newest));
        read_end(found, last, restarts, at);
    }
    match &seen.state {
        State::Waiting { reason, message } => {
            let newest = found.last_mut().filter(|newest| newest.id == seen.id);
            if let (Some("PostStartHookError"), Some(newest)) = (reason.as_deref(), newest) {
                newest.hook_failed.get_or_insert(at);
                newest.hook_message = newest.hook_message.take().or_else(|| message.clone());
            }
        }
        State::Running { started_at } => {
            let Some(instance) = instance(found, seen.id.as_deref(), seen.restarts, at) else {
                return;
            };
            instance.started_at = instance.started_at.or(*started_at);
            instance.seen_running.get_or_insert(at);
            if seen.is_started {
                instance.seen_started.get_or_insert(at);
            }
            note_ready(instance, seen.is_ready, at);
        }
        State::Terminated(end) => read_end(found, end, seen.restarts, at),
    }
}

/// The instance with this ID; without an ID there is none to speak of.
fn instance<'f>(
    found: &'f mut Vec<Instance>,
    id: Option<&str>,
    restarts: u32,
    at: Timestamp,
) -> Option<&'f mut Instance> {
    let id = id?;
    let known = found
        .iter()
        .position(|known| known.id.as_deref() == Some(id));
    let index = known.unwrap_or_else(|| {
        found.push(Instance {
            id: Some(id.to_owned()),
            restarts,
            seen: Some(at),
            ..Instance::default()
        });
        found.len() - 1
    });
    found.get_mut(index)
}

fn read_end(found: &mut Vec<Instance>, end: &Ended, restarts: u32, at: Timestamp) {
    let instance = match &end.id {
        Some(id) => instance(found, Some(id), restarts, at),
        // The runtime has lost the container, or the kubelet has removed it: the newest is meant.
        None => found
            .last_mut()
            .filter(|newest| newest.end.is_none() && newest.restarts <= restarts),
    };
    let Some(instance) = instance else { return };
    instance.started_at = instance.started_at.or(end.started_at);
    instance.finished_at = instance.finished_at.or(end.finished_at);
    instance.turn = instance.turn.or(end.turn);
    instance.never_ran |= end.never_ran();
    instance.seen_ended.get_or_insert(at);
    instance.end.get_or_insert_with(|| end.status.clone());
    note_ready(instance, false, at);
}

fn note_ready(instance: &mut Instance, is_ready: bool, at: Timestamp) {
    let known = instance.ready.last().is_some_and(|(ready, _)| *ready);
    if known != is_ready {
        instance.ready.push((is_ready, at));
    }
}

/// One start of a container: its events, its instance, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) group: Group,
    pub(super) instance: Option<Instance>,
}

impl Draft {
    /// Whether the process is known to have run.
    pub(super) fn has_started(&self) -> bool {
        let in_status = |instance: &Instance| instance.started_at.is_some() && !instance.never_ran;
        self.group.started.is_some() || self.instance.as_ref().is_some_and(in_status)
    }

    /// Whether the runtime made the container and its process could not be started.
    fn never_ran(&self) -> bool {
        let in_status = self.instance.as_ref().is_some_and(|known| known.never_ran);
        in_status
            || self.group.started.is_none()
                && self.group.created.is_some()
                && self.group.failed > self.group.created
    }
}

/// Where an instance stands to a group of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// It started before the group's start can have.
    Earlier,
    /// Both may speak of one start.
    Same,
    /// It started after the group's start.
    Later,
}

/// Matches events with instances by their times; both are in the order of the starts. It goes
/// backwards, since it is the oldest that may be missing: statuses tell of the last two.
pub(super) fn drafts(
    events: &[TimedEvent],
    mut groups: Vec<Group>,
    mut instances: Vec<Instance>,
) -> Vec<Draft> {
    let mut found = Vec::new();
    loop {
        let fit = match (groups.last(), instances.last()) {
            (None, None) => break,
            (Some(_), None) => Fit::Earlier,
            (None, Some(_)) => Fit::Later,
            (Some(group), Some(instance)) => match fit(events, group, instance) {
                Fit::Same if is_of_the_one_before(events, &groups, &instances) => Fit::Earlier,
                Fit::Same if tells_of_the_one_before(events, &groups, &instances) => Fit::Later,
                fit => fit,
            },
        };
        let group = match fit {
            Fit::Earlier | Fit::Same => groups.pop(),
            Fit::Later => None,
        };
        let instance = match fit {
            Fit::Later | Fit::Same => instances.pop(),
            Fit::Earlier => None,
        };
        found.push(Draft {
            group: group.unwrap_or_default(),
            instance,
        });
    }
    found.reverse();
    found
}

/// Two starts within one second fit the same instance: whether it is the earlier one's.
fn is_of_the_one_before(events: &[TimedEvent], groups: &[Group], instances: &[Instance]) -> bool {
    let [.., before, group] = groups else {
        return false;
    };
    let [others @ .., instance] = instances else {
        return false;
    };
    let fits = |instance: &Instance| fit(events, before, instance) == Fit::Same;
    if others.last().is_some_and(fits) || !fits(instance) {
        return false;
    }
    // Each start is reported once at most, so a container was started that often at least.
    let is_too_new = ordinal(events, group) > u64::from(instance.restarts) + 1;
    is_too_new || group.started.is_none() && before.started.is_some()
}

/// Two instances started within the second of one group's events: whether it is the earlier one's.
fn tells_of_the_one_before(
    events: &[TimedEvent],
    groups: &[Group],
    instances: &[Instance],
) -> bool {
    let ([others @ .., group], [.., before, _]) = (groups, instances) else {
        return false;
    };
    let fits = |group: &Group| fit(events, group, before) == Fit::Same;
    let is_old = ordinal(events, group) <= u64::from(before.restarts) + 1;
    fits(group) && is_old && !others.last().is_some_and(fits)
}

/// Which start of the container the group's events say it is, at least.
fn ordinal(events: &[TimedEvent], group: &Group) -> u64 {
    let event = group.started.or(group.created);
    event.map_or(0, |event| events[event].seen.ordinal)
}

/// How long after the process start the kubelet may report it: `Started` follows the runtime's answer.
const REPORT: SignedDuration = SignedDuration::from_secs(2);

/// How much time may pass between an event before the process start and the start itself: making
/// and starting a container takes the runtime that long at most before the kubelet gives up.
const START: SignedDuration = SignedDuration::from_secs(240);

fn fit(events: &[TimedEvent], group: &Group, instance: &Instance) -> Fit {
    let Some(second) = instance.started_at else {
        let never_ran = group.started.is_none() && group.created.is_some();
        return if never_ran { Fit::Same } else { Fit::Earlier };
    };
    let end = later(second, SECOND);
    let lo = |event: usize| events[event].lo();
    let hi = |event: usize| events[event].hi();
    let is_before = |event: Option<usize>, slack| {
        let lo = event.and_then(lo);
        lo.is_some_and(|lo| later(end, slack) <= lo)
    };
    let is_after = |event: Option<usize>, slack| {
        let hi = event.and_then(hi);
        hi.is_some_and(|hi| second > later(hi, slack))
    };
    let made = group.created.or(group.pulled).or(group.pulling);
    let stopped = group.hook_failed.or(group.killing);
    if is_before(made, SignedDuration::ZERO) || is_before(group.started, REPORT) {
        return Fit::Earlier;
    }
    let finished = instance.finished_at;
    let was_over = |lo| finished.is_some_and(|finished| later(finished, SECOND + REPORT) <= lo);
    if stopped.and_then(lo).is_some_and(was_over) {
        return Fit::Earlier;
    }
    let slack = if group.started.is_some() {
        SignedDuration::ZERO
    } else {
        START
    };
    let anchor = group.started.or(made);
    if is_after(anchor, slack) {
        return Fit::Later;
    }
    if anchor.is_none() && is_after(stopped.or(group.back_off), SignedDuration::ZERO) {
        return Fit::Later;
    }
    // What failed before its process ran is not this one, which did run.
    if group.started.is_none() && group.failed > made {
        return if is_after(group.failed, SignedDuration::ZERO) {
            Fit::Later
        } else {
            Fit::Earlier
        };
    }
    Fit::Same
}

/// Numbers the starts from 1. A container that was made and never ran takes the next one's number;
/// the kubelet's own count tells of starts that nobody saw.
pub(super) fn numbers(drafts: &[Draft]) -> Vec<u32> {
    let (mut last, mut failed) = (0u32, 0u32);
    let mut numbers = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let counted = draft.instance.as_ref().map_or(0, |instance| {
            (instance.restarts.saturating_add(1)).saturating_sub(failed)
        });
        let number = last.saturating_add(1).max(counted);
        numbers.push(number);
        if draft.never_ran() {
            failed = failed.saturating_add(1);
        } else if draft.has_started() {
            last = number;
        }
    }
    numbers
}
