//! The interval of each milestone: everything that bounds it, intersected (S21, S22).

use super::attempts::{Draft, Group, Instance};
use super::clock::{ClockOffset, TimedEvent};
use super::fold::{Attempt, Hook};
use super::instant::{Clock, Instant, SECOND, Source, earlier, later};
use super::observation::{EventSeen, Observation, Occurrence, PodSeen, ProbeKind, State, Word};
use super::tekton;
use crate::plan::{Event, Milestone};
use crate::pod::{Action, KubeVersion, PodTemplate, Role};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// The runtime reads its clock for `startedAt` once the process runs: that much it may be late.
const RUNTIME_LAG: SignedDuration = SignedDuration::from_millis(50);

/// The kubelet looks at the runtime's containers once a second (S15), so what it acts on may be
/// that old.
const RELIST: SignedDuration = SECOND;

/// A pod gets this many kubelet events at once; the rest is dropped silently (S21).
pub(super) const EVENT_BURST: usize = 25;

/// All that bounds are read from.
pub(super) struct Bounds<'a> {
    pub(super) offset: ClockOffset,
    pub(super) events: &'a [TimedEvent],
    pub(super) version: Option<KubeVersion>,
    pub(super) template: &'a PodTemplate,
    /// The starts of each container, in the template's order.
    pub(super) drafts: &'a [Vec<Draft>],
    pub(super) initializations: &'a [Vec<u32>],
}

/// One start of one container.
#[derive(Clone, Copy)]
struct Start<'a> {
    container: usize,
    index: usize,
    group: &'a Group,
    instance: Option<&'a Instance>,
}

impl Bounds<'_> {
    /// The starts of one container.
    pub(super) fn attempts(&self, container: usize, numbers: &[u32]) -> Vec<Attempt> {
        let drafts = self.drafts[container].iter().enumerate();
        drafts
            .map(|(index, draft)| {
                let start = Start {
                    container,
                    index,
                    group: &draft.group,
                    instance: draft.instance.as_ref(),
                };
                self.attempt(start, numbers[index])
            })
            .collect()
    }

    fn attempt(&self, start: Start<'_>, number: u32) -> Attempt {
        let group = start.group;
        let process = self.started(start);
        let is_step = tekton::is_step(&self.template.containers[start.container]);
        let entrypoint = process.filter(|_| is_step);
        let told = start.instance.and_then(|instance| instance.turn);
        let turn = entrypoint
            .as_ref()
            .map(|process| tekton::turn(process, told));
        let started = turn.or(process);
        let hook = started.and_then(|started| self.hook(start, started));
        let passed = started.and_then(|started| self.startup_passed(start, started));
        let exit = started.and_then(|started| self.exit(start, started));
        let created = group.created.map(|created| {
            let pulled = group.pulled.and_then(|pulled| self.events[pulled].lo());
            self.upper(created).not_before(pulled)
        });
        let is_inferred = |inferred: Option<bool>| inferred.unwrap_or(false);
        Attempt {
            number,
            initialization: self.initializations[start.container][start.index],
            pulling: group.pulling.map(|event| self.events[event].when),
            pulled: group.pulled.map(|event| self.events[event].when),
            created,
            started,
            entrypoint,
            hook,
            startup_passed: passed.map(|(when, _)| when),
            is_startup_inferred: is_inferred(passed.map(|(_, inferred)| inferred)),
            ready: started.map_or_else(Vec::new, |started| self.ready(start, started)),
            killing: group.killing.map(|event| self.events[event].when),
            is_exit_inferred: is_inferred(exit.as_ref().map(|(_, _, inferred)| *inferred)),
            exit: exit.map(|(when, status, _)| (when, status)),
            failed: group.failed.map(|event| self.events[event].when),
        }
    }

    /// Something that an event reports right after it happened: the event is its upper bound.
    fn upper(&self, event: usize) -> Instant {
        Instant {
            not_before: None,
            ..self.events[event].when
        }
    }

    fn started(&self, start: Start<'_>) -> Option<Instant> {
        let (group, instance) = (start.group, start.instance);
        let is_dead_born = instance.is_some_and(|instance| instance.never_ran);
        let second = instance.and_then(|instance| instance.started_at);
        let base = match (group.started, second) {
            (Some(event), _) => self.upper(event),
            (None, _) if is_dead_born => return None,
            (None, Some(second)) => Instant {
                not_before: Some(earlier(second, RUNTIME_LAG)),
                ..Instant::second(second, Clock::Kubelet)
            },
            (None, None) => return None,
        };
        let made = group.created.or(group.pulled).or(group.pulling);
        let seen = instance.and_then(|instance| instance.seen);
        let going_on = group.last().and_then(|event| self.going_on(start, event));
        let bounded = base
            .not_before(made.and_then(|event| self.events[event].lo()))
            .not_before(second.map(|second| earlier(second, RUNTIME_LAG)))
            .not_after(second.map(|second| later(second, SECOND)))
            .not_after(seen.map(|at| self.offset.bound(at)))
            .not_after(going_on.and_then(|event| self.events[event].hi()));
        Some(match group.started {
            Some(_) => bounded,
            None => bounded.estimated_in_the_middle(),
        })
    }

    /// The first thing that the pod's worker did after an event of a start other than what belongs
    /// to the failure of that start's own hook: then the start was over (S1).
    fn going_on(&self, start: Start<'_>, after: usize) -> Option<usize> {
        let name = &self.template.containers[start.container].name;
        let is_own_failure = |event: &TimedEvent| {
            event.is_of(name)
                && matches!(
                    event.seen.word,
                    Word::PostStartFailed | Word::KillingAfterHook | Word::Started
                )
        };
        let found = (after + 1..self.events.len()).find(|index| {
            let event = &self.events[*index];
            event.seen.word.is_of_the_worker() && !is_own_failure(event)
        })?;
        Some(found)
    }

    /// The first event of a container that comes later in the kubelet's order.
    fn next_container(&self, start: Start<'_>, after: usize) -> Option<usize> {
        let later = &self.template.containers[start.container + 1..];
        (after + 1..self.events.len()).find(|index| {
            let event = &self.events[*index];
            let mut later = later
                .iter()
                .filter(|container| container.role != Role::Ephemeral);
            event.seen.word.is_of_the_worker()
                && later.any(|container| event.is_of(&container.name))
        })
    }

    fn hook(&self, start: Start<'_>, started: Instant) -> Option<Hook> {
        let action = self.template.containers[start.container]
            .post_start
            .as_ref()?;
        let (group, instance) = (start.group, start.instance);
        let since = group
            .started
            .map_or(started, |event| self.events[event].when);
        let going_on = group.last().and_then(|event| self.going_on(start, event));
        let said_failed = instance.and_then(|instance| instance.hook_failed);
        if group.hook_failed.is_some() || said_failed.is_some() {
            let when = match (group.hook_failed, said_failed) {
                (Some(event), _) => self.upper(event),
                (None, Some(at)) => self.offset.arrival(at),
                (None, None) => return None,
            };
            let message = instance.and_then(|instance| instance.hook_message.clone());
            let when = when
                .not_before(since.not_before)
                .not_after(going_on.and_then(|event| self.events[event].hi()));
            return Some(Hook::Failed { when, message });
        }
        let running = instance.and_then(|instance| instance.seen_running);
        // A container that was only ever seen dead may have been killed for its hook, and the
        // event that says so may be among those that were dropped.
        let is_in_doubt = running.is_none() && self.events.len() >= EVENT_BURST;
        if is_in_doubt && (going_on.is_some() || self.has_ended(start)) {
            return None;
        }
        match self.returned(start, going_on, running) {
            Some((when, is_inferred)) => Some(Hook::Returned {
                when: when.not_before(since.not_before).not_before(
                    shortest(action).and_then(|least| Some(later(since.not_before?, least))),
                ),
                is_inferred,
            }),
            None if self.has_ended(start) => None,
            None => Some(Hook::Running { since }),
        }
    }

    /// The upper bounds of a hook's return, and whether the kubelet going on is the sharper one.
    fn returned(
        &self,
        start: Start<'_>,
        going_on: Option<usize>,
        running: Option<Timestamp>,
    ) -> Option<(Instant, bool)> {
        let role = self.template.containers[start.container].role;
        let published = running.map(|at| self.offset.arrival(at));
        let inferred = going_on.map(|event| self.upper(event));
        let by_event = match (published, inferred) {
            (None, None) => return None,
            (Some(published), Some(inferred)) => inferred.not_after <= published.not_after,
            (published, _) => published.is_none(),
        };
        let bound = if by_event { inferred } else { published }?;
        // Within one sync the next container follows at once. A native sidecar's next container,
        // and every status, comes with the next sync, for which an older kubelet waits until it
        // has looked at its containers again: once a second.
        let is_next_sync = !by_event || role == Role::Sidecar;
        let waits = !self.version.is_none_or(KubeVersion::relists_after_sync);
        if is_next_sync && waits {
            let estimate = bound.estimate.map(|at| earlier(at, RELIST / 2));
            return Some((Instant { estimate, ..bound }, by_event));
        }
        Some((bound, by_event))
    }

    fn has_ended(&self, start: Start<'_>) -> bool {
        let in_status = start
            .instance
            .is_some_and(|instance| instance.end.is_some());
        in_status || self.next_start(start).is_some()
    }

    /// The container's next start, as far as it is known to have begun.
    fn next_start(&self, start: Start<'_>) -> Option<&Draft> {
        self.drafts[start.container].get(start.index + 1)
    }

    fn exit(
        &self,
        start: Start<'_>,
        started: Instant,
    ) -> Option<(Instant, super::ExitStatus, bool)> {
        let (group, instance) = (start.group, start.instance);
        if !self.has_ended(start) {
            return None;
        }
        let status = instance.and_then(|instance| instance.end.clone());
        let status = status.unwrap_or_default();
        let second = instance.and_then(|instance| instance.finished_at);
        let seen = instance.and_then(|instance| instance.seen_ended);
        let base = match (second, seen) {
            (Some(second), _) => Instant::second(second, Clock::Kubelet),
            (None, seen) => Instant {
                not_before: group
                    .killing
                    .and_then(|event| Some(earlier(self.events[event].lo()?, RELIST))),
                not_after: seen.map(|at| self.offset.bound(at)),
                estimate: None,
                source: Source::Status,
                clock: Clock::Kubelet,
            },
        };
        let next = self.next_start(start);
        let next_event = next.and_then(|next| next.group.first());
        let next_second = next.and_then(|next| next.instance.as_ref()?.started_at);
        let after_hook = group
            .hook_failed
            .and_then(|event| self.going_on(start, event));
        let bounded = base
            .not_before(started.not_before)
            .not_after(seen.map(|at| self.offset.bound(at)))
            .not_after(next_event.and_then(|event| self.events[event].hi()))
            .not_after(next_second.map(|second| later(second, SECOND)))
            .not_after(group.back_off.and_then(|event| self.events[event].hi()))
            .not_after(after_hook.and_then(|event| self.events[event].hi()));
        let gate = self.exit_gate(start, &status);
        let gated = bounded.not_after(gate.and_then(|event| self.events[event].hi()));
        let is_inferred = gate.is_some() && gated.not_after != bounded.not_after;
        // What is being killed most likely ended after that.
        let killing = group.killing.and_then(|event| self.events[event].lo());
        let likely = gated.not_before(killing).estimated_in_the_middle();
        let estimate = likely.estimate;
        Some((Instant { estimate, ..gated }, status, is_inferred))
    }

    /// The next container waits until a regular init container has exited with 0 (S4).
    fn exit_gate(&self, start: Start<'_>, status: &super::ExitStatus) -> Option<usize> {
        let role = self.template.containers[start.container].role;
        if role != Role::Init || status.code != Some(0) {
            return None;
        }
        self.next_container(start, start.group.last()?)
    }

    fn startup_passed(&self, start: Start<'_>, started: Instant) -> Option<(Instant, bool)> {
        let container = &self.template.containers[start.container];
        container.startup.as_ref()?;
        let seen = start.instance.and_then(|instance| instance.seen_started);
        let published = seen.map(|at| self.offset.arrival(at));
        let gate = start
            .group
            .last()
            .filter(|_| container.role == Role::Sidecar && self.is_gating(start))
            .and_then(|event| self.next_container(start, event));
        let (bound, is_inferred) = match (published, gate.map(|event| self.upper(event))) {
            (None, None) => return None,
            (Some(published), Some(gate)) if published.not_after < gate.not_after => {
                (published, false)
            }
            (_, Some(gate)) => (gate, true),
            (Some(published), None) => (published, false),
        };
        let failed = self.last_unhealthy(start, ProbeKind::Startup, bound.not_after);
        let begun = start
            .group
            .started
            .and_then(|event| self.events[event].lo());
        let bound = bound
            .not_before(started.not_before)
            .not_before(begun)
            .not_before(failed);
        Some((bound, is_inferred))
    }

    /// Whether nothing later has started in this initialization yet: only then does the kubelet
    /// hold the next container back (S12: the first time only).
    fn is_gating(&self, start: Start<'_>) -> bool {
        let own = self.initializations[start.container][start.index];
        let Some(begun) = start.group.first() else {
            return false;
        };
        let later = start.container + 1..self.drafts.len();
        !later.into_iter().any(|container| {
            let drafts = self.drafts[container].iter().enumerate();
            drafts
                .filter(|(index, _)| self.initializations[container][*index] == own)
                .any(|(_, draft)| draft.group.first().is_some_and(|first| first < begun))
        })
    }

    /// The last failure of a probe of this start that lies before `until`.
    fn last_unhealthy(
        &self,
        start: Start<'_>,
        probe: ProbeKind,
        until: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let failures = start.group.unhealthy.iter().rev();
        failures
            .filter(|(kind, _)| *kind == probe)
            .map(|(_, event)| &self.events[*event])
            .find(|event| event.hi() <= until)
            .and_then(TimedEvent::lo)
    }

    fn ready(&self, start: Start<'_>, started: Instant) -> Vec<(bool, Instant)> {
        let role = self.template.containers[start.container].role;
        if matches!(role, Role::Init | Role::Ephemeral) {
            return Vec::new();
        }
        let changes = start.instance.map(|instance| instance.ready.as_slice());
        let changes = changes.unwrap_or_default().iter();
        changes
            .map(|(is_ready, at)| {
                let when = self.offset.arrival(*at);
                let failed = self.last_unhealthy(start, ProbeKind::Readiness, when.not_after);
                let floor = failed.filter(|_| *is_ready);
                let when = when.not_before(started.not_before).not_before(floor);
                (*is_ready, when)
            })
            .collect()
    }
}

/// How long a hook takes at least.
fn shortest(action: &Action) -> Option<SignedDuration> {
    match action {
        Action::Sleep { duration } => SignedDuration::try_from(*duration).ok(),
        Action::Exec { .. }
        | Action::HttpGet { .. }
        | Action::TcpSocket { .. }
        | Action::Grpc { .. }
        | Action::Unreadable => None,
    }
}

/// Which initialization of the pod each start belongs to.
pub(super) fn initializations(
    template: &PodTemplate,
    drafts: &[Vec<Draft>],
    events: &[TimedEvent],
    statuses: &[PodSeen],
    offset: &ClockOffset,
) -> Vec<Vec<u32>> {
    let mut order: Vec<(Option<Timestamp>, usize, usize)> = Vec::new();
    for (container, drafts) in drafts.iter().enumerate() {
        for (index, draft) in drafts.iter().enumerate() {
            order.push((begun(draft, events), container, index));
        }
    }
    order.sort_by_key(|(at, container, index)| (*at, *container, *index));
    let mut marks = marks(events, statuses, offset).into_iter().peekable();
    let mut numbers: Vec<Vec<u32>> = drafts.iter().map(|drafts| vec![1; drafts.len()]).collect();
    let (mut current, mut has_started) = (1u32, false);
    let mut finished: BTreeSet<usize> = BTreeSet::new();
    for (at, container, index) in order {
        let mut begins_anew = finished.contains(&container);
        while marks.next_if(|mark| Some(*mark) < at).is_some() {
            begins_anew |= has_started;
        }
        if begins_anew {
            current = current.saturating_add(1);
            has_started = false;
            finished.clear();
        }
        numbers[container][index] = current;
        let draft = &drafts[container][index];
        has_started |= draft.has_started();
        let end = draft
            .instance
            .as_ref()
            .and_then(|instance| instance.end.as_ref());
        let is_done = end.is_some_and(|end| end.code == Some(0));
        // Nothing but a new initialization runs a finished init container again (S12).
        if is_done && template.containers[container].role == Role::Init {
            finished.insert(container);
        }
    }
    numbers
}

fn begun(draft: &Draft, events: &[TimedEvent]) -> Option<Timestamp> {
    let event = draft
        .group
        .first()
        .and_then(|event| events[event].when.best());
    let second = draft
        .instance
        .as_ref()
        .and_then(|instance| instance.started_at);
    event.or(second.map(|second| later(second, SECOND)))
}

/// When the kubelet turned to a new sandbox, or to restarting all containers in the old one.
fn marks(events: &[TimedEvent], statuses: &[PodSeen], offset: &ClockOffset) -> Vec<Timestamp> {
    let sandboxes = events
        .iter()
        .filter(|event| event.seen.word == Word::SandboxChanged)
        .filter_map(|event| event.when.best());
    let mut marks: Vec<Timestamp> = sandboxes.collect();
    let mut was_restarting = false;
    for status in statuses {
        let is_restarting = is_restarting_all(status);
        if is_restarting && !was_restarting {
            marks.push(offset.likely(status.at));
        }
        was_restarting = is_restarting;
    }
    marks.sort_unstable();
    marks
}

fn is_restarting_all(status: &PodSeen) -> bool {
    let condition = status.condition("AllContainersRestarting");
    let removed = |state: &State| match state {
        State::Waiting { reason, .. } => reason.as_deref() == Some("RestartingAllContainers"),
        State::Running { .. } | State::Terminated(_) => false,
    };
    condition.is_some_and(|condition| condition.is_true)
        || status.containers.iter().any(|seen| removed(&seen.state))
}

/// The milestones of the pod itself.
pub(super) fn pod_observations(
    seen: &[EventSeen],
    events: &[TimedEvent],
    statuses: &[PodSeen],
    offset: &ClockOffset,
) -> Vec<Observation> {
    let own = |event, when| Observation {
        milestone: Milestone::of_pod(event),
        attempt: 1,
        initialization: 1,
        when,
        exit: None,
    };
    let mut found: Vec<Observation> = Vec::new();
    found.extend(scheduled(seen, statuses).map(|when| own(Event::Scheduled, when)));
    found
        .extend(sandbox_ready(events, statuses, offset).map(|when| own(Event::SandboxReady, when)));
    let mut was_ready = false;
    for status in statuses {
        let Some(ready) = status.condition("Ready") else {
            continue;
        };
        if ready.is_true != was_ready {
            let event = if ready.is_true {
                Event::Ready
            } else {
                Event::NotReady
            };
            let since = ready.since;
            let when = offset
                .arrival(status.at)
                .not_before(since)
                .not_after(since.map(|since| later(since, SECOND)));
            found.push(own(event, when));
        }
        was_ready = ready.is_true;
    }
    if let Some(gone) = statuses.iter().find(|status| status.is_deleted) {
        found.push(own(Event::Deleted, offset.arrival(gone.at)));
    }
    found
}

fn scheduled(seen: &[EventSeen], statuses: &[PodSeen]) -> Option<Instant> {
    let event = seen
        .iter()
        .find(|event| event.word == Word::Scheduled && !event.is_of_kubelet);
    if let Some(event) = event {
        return Some(match event.occurrence {
            Occurrence::Exact(at) if event.is_event_time => {
                Instant::exact(at, Source::EventTime, Clock::Scheduler)
            }
            Occurrence::Exact(at) => Instant::exact(at, Source::EventName, Clock::Scheduler),
            Occurrence::Second(second) => Instant::second(second, Clock::Scheduler),
        });
    }
    let conditions = statuses
        .iter()
        .filter_map(|status| status.condition("PodScheduled"));
    let mut scheduled = conditions.filter(|condition| condition.is_true);
    Some(Instant::second(scheduled.next()?.since?, Clock::Scheduler))
}

fn sandbox_ready(
    events: &[TimedEvent],
    statuses: &[PodSeen],
    offset: &ClockOffset,
) -> Option<Instant> {
    // Pulling is not looked at before the sandbox is there (S1); image volumes have no container.
    let event = events
        .iter()
        .find(|event| event.seen.container.is_some() && event.seen.word.is_of_the_worker());
    let told = statuses.iter().find_map(|status| {
        let ready = status.condition("PodReadyToStartContainers")?;
        ready.is_true.then_some((status.at, ready.since))
    });
    let floor = statuses.iter().find_map(|status| status.start_time);
    let arrival = told.map(|(at, _)| offset.arrival(at));
    let second = told.and_then(|(_, since)| Some(later(since?, SECOND)));
    let by_event = event.map(|event| Instant {
        not_before: None,
        ..event.when
    });
    let sharper = match (by_event, arrival) {
        (Some(event), Some(arrival)) if event.not_after <= arrival.not_after => event,
        (event, arrival) => arrival.or(event)?,
    };
    Some(sharper.not_after(second).not_before(floor))
}
