//! How far the watcher's clock is from the kubelet's, and what that makes of an event's time.

use super::instant::{Instant, SECOND, earlier, later};
use super::observation::{EventSeen, Occurrence};
use super::{Clock, Source};
use jiff::{SignedDuration, Timestamp};

/// How the watcher's clock relates to the kubelet's, from events that carry both times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// What is taken off an arrival to get an upper bound on the kubelet's clock.
    pub shift: SignedDuration,
    /// How long after its making an event arrives in the middle case, difference of clocks included.
    pub delay: SignedDuration,
    /// How many events it was read from.
    pub samples: usize,
}

/// Closer than this, two clocks are taken for one: what is sent takes its time to arrive, so that a
/// smaller difference cannot be told from the way.
const SAME_CLOCK: SignedDuration = SECOND;

/// How much later than others an event may arrive and still say by its arrival when it was made.
const PROMPT: SignedDuration = SignedDuration::from_secs(5);

impl ClockOffset {
    /// Two clocks that are not known to differ.
    pub const NONE: ClockOffset = ClockOffset {
        shift: SignedDuration::ZERO,
        delay: SignedDuration::ZERO,
        samples: 0,
    };

    /// Whether the difference is large enough to be told.
    pub fn is_large(&self) -> bool {
        self.shift.abs() >= SECOND
    }

    pub(super) fn of(events: &[EventSeen]) -> ClockOffset {
        let mut samples = live_samples(events);
        samples.sort_unstable_by_key(|sample| sample.delay);
        let Some(least) = samples.first().map(|sample| sample.delay) else {
            return ClockOffset::NONE;
        };
        let prompt = samples.partition_point(|sample| sample.delay < least + PROMPT);
        samples.truncate(prompt);
        // A list brings many events at one moment, however long ago they were made.
        if least > SAME_CLOCK && moments(&samples) < ENOUGH {
            return ClockOffset::NONE;
        }
        let shift = if least.is_negative() {
            least - SAME_CLOCK
        } else {
            (least - SAME_CLOCK).max(SignedDuration::ZERO)
        };
        ClockOffset {
            shift,
            delay: samples[prompt / 2].delay,
            samples: prompt,
        }
    }

    /// The latest moment on the kubelet's clock at which what arrived then can have happened.
    pub(super) fn bound(&self, arrival: Timestamp) -> Timestamp {
        earlier(arrival, self.shift)
    }

    /// The likely moment on the kubelet's clock of what arrived then.
    pub(super) fn likely(&self, arrival: Timestamp) -> Timestamp {
        earlier(arrival, self.delay)
    }

    /// What arrived then and has no other time: a status that was published.
    pub(super) fn arrival(&self, at: Timestamp) -> Instant {
        let bound = self.bound(at);
        let likely = match self.shift.is_zero() {
            true => bound,
            false => self.likely(at).min(bound),
        };
        Instant {
            estimate: Some(likely),
            ..Instant::at_most(bound, Source::Arrival, Clock::Watcher)
        }
    }
}

/// At so many moments events have to have arrived before a large difference is put down to clocks.
const ENOUGH: usize = 3;

/// What arrives closer together than this arrives at one moment.
const TOGETHER: SignedDuration = SignedDuration::from_millis(20);

/// Two events that arrive at one moment though they were made further apart came from a list.
const MADE_APART: SignedDuration = SignedDuration::from_millis(50);

/// An event that carries both times.
#[derive(Clone, Copy)]
struct Sample {
    made: Timestamp,
    arrived: Timestamp,
    delay: SignedDuration,
}

impl Sample {
    fn is_listed_with(&self, other: &Sample) -> bool {
        self.arrived.duration_since(other.arrived).abs() < TOGETHER
            && self.made.duration_since(other.made).abs() > MADE_APART
    }
}

/// The kubelet's events that came from the watch itself.
fn live_samples(events: &[EventSeen]) -> Vec<Sample> {
    let exact = events.iter().filter_map(|event| match event.occurrence {
        Occurrence::Exact(made) if event.is_of_kubelet && event.place.is_some() => Some(Sample {
            made,
            arrived: event.at,
            delay: event.at.duration_since(made),
        }),
        Occurrence::Exact(_) | Occurrence::Second(_) => None,
    });
    let all: Vec<Sample> = exact.collect();
    let live = all.iter().enumerate().filter(|(index, sample)| {
        let before = index.checked_sub(1).and_then(|index| all.get(index));
        let mut neighbours = before.into_iter().chain(all.get(index + 1));
        !neighbours.any(|neighbour| sample.is_listed_with(neighbour))
    });
    live.map(|(_, sample)| *sample).collect()
}

/// At how many different moments they arrived.
fn moments(samples: &[Sample]) -> usize {
    let mut arrivals: Vec<Timestamp> = samples.iter().map(|sample| sample.arrived).collect();
    arrivals.sort_unstable();
    let apart = |pair: &&[Timestamp]| pair[1].duration_since(pair[0]) >= TOGETHER;
    arrivals.windows(2).filter(apart).count() + usize::from(!arrivals.is_empty())
}

/// An event with its time on the kubelet's clock.
#[derive(Clone, Debug)]
pub(super) struct TimedEvent {
    pub(super) seen: EventSeen,
    pub(super) when: Instant,
}

impl TimedEvent {
    pub(super) fn is_of(&self, container: &str) -> bool {
        self.seen.container.as_deref() == Some(container)
    }

    pub(super) fn hi(&self) -> Option<Timestamp> {
        self.when.not_after
    }

    pub(super) fn lo(&self) -> Option<Timestamp> {
        self.when.not_before
    }
}

/// The kubelet's events of one pod in the order in which they were made.
pub(super) fn in_order(events: &[EventSeen], offset: &ClockOffset) -> Vec<TimedEvent> {
    let kubelet = events.iter().filter(|event| event.is_of_kubelet);
    let (mut placed, overwritten): (Vec<TimedEvent>, Vec<TimedEvent>) = kubelet
        .map(|seen| TimedEvent {
            seen: seen.clone(),
            when: when(seen, offset),
        })
        .partition(|event| event.seen.place.is_some());
    placed.sort_by_key(|event| event.seen.place);
    narrow(&mut placed);
    placed.extend(overwritten);
    // Stable: what has its place keeps it.
    placed.sort_by_key(|event| event.when.best());
    placed
}

fn when(seen: &EventSeen, offset: &ClockOffset) -> Instant {
    match seen.occurrence {
        Occurrence::Exact(at) => {
            let source = if seen.is_event_time {
                Source::EventTime
            } else {
                Source::EventName
            };
            Instant::exact(at, source, Clock::Kubelet)
        }
        Occurrence::Second(second) if is_prompt(seen.at, second, offset) => {
            let end = later(second, SECOND);
            let estimate = offset.likely(seen.at).clamp(second, end);
            let repeat = Instant {
                not_before: Some(second),
                not_after: Some(end),
                estimate: Some(estimate),
                source: Source::Arrival,
                clock: Clock::Watcher,
            };
            repeat.not_after(Some(offset.bound(seen.at)))
        }
        Occurrence::Second(second) => Instant {
            source: Source::EventTime,
            ..Instant::second(second, Clock::Kubelet)
        },
    }
}

fn is_prompt(arrival: Timestamp, second: Timestamp, offset: &ClockOffset) -> bool {
    (arrival.duration_since(second) - offset.delay).abs() < PROMPT
}

/// What has its place between two others was made between them.
fn narrow(placed: &mut [TimedEvent]) {
    let mut floor: Option<Timestamp> = None;
    for event in placed.iter_mut() {
        event.when = event.when.not_before(floor);
        floor = floor.max(event.when.not_before);
    }
    let mut ceiling: Option<Timestamp> = None;
    for event in placed.iter_mut().rev() {
        event.when = event.when.not_after(ceiling);
        ceiling = match (ceiling, event.when.not_after) {
            (Some(ceiling), Some(end)) => Some(ceiling.min(end)),
            (known, end) => known.or(end),
        };
    }
    let mut latest: Option<Timestamp> = None;
    for event in placed {
        if !event.when.is_exact() {
            let estimate = event.when.estimate.max(latest);
            let end = event.when.not_after;
            event.when.estimate = end.map_or(estimate, |end| estimate.map(|at| at.min(end)));
        }
        latest = latest.max(event.when.estimate);
    }
}
