//! When something happened: an interval that is certain, an estimate, and how both are known.

use jiff::{SignedDuration, Timestamp};

/// What an instant was read from; the best source comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The nanoseconds in the name of an event: the kubelet's clock when it made the event (S21).
    EventName,
    /// A timestamp inside an event.
    EventTime,
    /// When the change reached the watcher: an upper bound.
    Arrival,
    /// A status field: whole seconds, cut off (S22).
    Status,
    /// A log line of the container.
    Log,
}

impl Source {
    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Source::EventName => "event-name",
            Source::EventTime => "event-time",
            Source::Arrival => "arrival",
            Source::Status => "status",
            Source::Log => "log",
        }
    }

    /// The words for people.
    pub fn phrase(self) -> &'static str {
        match self {
            Source::EventName => "event name",
            Source::EventTime => "event time",
            Source::Arrival => "arrival",
            Source::Status => "status",
            Source::Log => "log",
        }
    }
}

/// Whose clock an instant was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clock {
    /// The node's.
    Kubelet,
    /// The scheduler's; nothing tells how far it is from the node's.
    Scheduler,
    /// Ours, or the recorder's.
    Watcher,
}

impl Clock {
    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Clock::Kubelet => "kubelet",
            Clock::Scheduler => "scheduler",
            Clock::Watcher => "watcher",
        }
    }
}

/// When something happened. Unknown ends are none, never guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant {
    /// It did not happen before this.
    pub not_before: Option<Timestamp>,
    /// It did not happen after this.
    pub not_after: Option<Timestamp>,
    /// When it happened most likely; always inside the interval.
    pub estimate: Option<Timestamp>,
    /// What the estimate was read from.
    pub source: Source,
    /// Whose clock showed it. Bounds from other clocks are carried over to it.
    pub clock: Clock,
}

impl Instant {
    /// An instant that is known exactly.
    pub fn exact(at: Timestamp, source: Source, clock: Clock) -> Instant {
        Instant {
            not_before: Some(at),
            not_after: Some(at),
            estimate: Some(at),
            source,
            clock,
        }
    }

    /// An instant of which an upper bound is known, and nothing else.
    pub fn at_most(at: Timestamp, source: Source, clock: Clock) -> Instant {
        Instant {
            not_before: None,
            not_after: Some(at),
            estimate: Some(at),
            source,
            clock,
        }
    }

    /// The second that a status field names: the field is cut off, so it lasts one second.
    pub fn second(field: Timestamp, clock: Clock) -> Instant {
        let end = later(field, SECOND);
        Instant {
            not_before: Some(field),
            not_after: Some(end),
            estimate: Some(middle(field, end)),
            source: Source::Status,
            clock,
        }
    }

    /// Whether the interval is a point.
    pub fn is_exact(&self) -> bool {
        self.not_before.is_some() && self.not_before == self.not_after
    }

    /// The width of the interval, if both ends are known.
    pub fn width(&self) -> Option<SignedDuration> {
        Some(self.not_after?.duration_since(self.not_before?))
    }

    /// The same instant, not before `bound`. A bound that contradicts the interval is left out.
    #[must_use]
    pub fn not_before(mut self, bound: Option<Timestamp>) -> Instant {
        let Some(bound) = bound else { return self };
        let contradicts = self.not_after.is_some_and(|end| bound > end);
        if !contradicts && self.not_before.is_none_or(|start| bound > start) {
            self.not_before = Some(bound);
            self.estimate = self.estimate.map(|estimate| estimate.max(bound));
        }
        self
    }

    /// The same instant, not after `bound`. A bound that contradicts the interval is left out.
    #[must_use]
    pub fn not_after(mut self, bound: Option<Timestamp>) -> Instant {
        let Some(bound) = bound else { return self };
        let contradicts = self.not_before.is_some_and(|start| bound < start);
        if !contradicts && self.not_after.is_none_or(|end| bound < end) {
            self.not_after = Some(bound);
            self.estimate = self.estimate.map(|estimate| estimate.min(bound));
        }
        self
    }

    /// The same interval with the estimate in its middle.
    #[must_use]
    pub fn estimated_in_the_middle(mut self) -> Instant {
        if let (Some(start), Some(end)) = (self.not_before, self.not_after) {
            self.estimate = Some(middle(start, end));
        }
        self
    }

    /// Whether this certainly lies before `other`, or at the same moment.
    pub fn is_before(&self, other: &Instant) -> bool {
        matches!((self.not_after, other.not_before), (Some(end), Some(start)) if end <= start)
    }

    /// Where to draw it: the estimate, else whichever end is known.
    pub fn best(&self) -> Option<Timestamp> {
        self.estimate.or(self.not_after).or(self.not_before)
    }
}

/// One second: the resolution of status fields and event timestamps.
pub(super) const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// `by` after `at`, or the end of time.
pub(super) fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    let end = if by.is_negative() {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    at.checked_add(by).unwrap_or(end)
}

/// `by` before `at`, or the beginning of time.
pub(super) fn earlier(at: Timestamp, by: SignedDuration) -> Timestamp {
    later(at, by.checked_neg().unwrap_or(SignedDuration::MAX))
}

/// The moment half-way between two.
pub(super) fn middle(start: Timestamp, end: Timestamp) -> Timestamp {
    later(start, end.duration_since(start) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a small number")
    }

    #[test]
    fn bounds_narrow_an_interval_and_take_the_estimate_with_them() {
        let exit = Instant::second(at(10), Clock::Kubelet)
            .not_before(Some(at(8)))
            .not_after(Some(later(at(10), SignedDuration::from_millis(200))));
        assert_eq!(exit.not_before, Some(at(10)));
        assert_eq!(exit.width(), Some(SignedDuration::from_millis(200)));
        assert_eq!(exit.estimate, exit.not_after);
    }

    #[test]
    fn a_bound_that_contradicts_what_is_certain_changes_nothing() {
        let start = Instant::exact(at(10), Source::EventName, Clock::Kubelet);
        assert_eq!(start.not_before(Some(at(11))), start);
        assert_eq!(start.not_after(Some(at(9))), start);
    }

    #[test]
    fn two_instants_of_one_second_have_no_order() {
        let (left, right) = (
            Instant::second(at(10), Clock::Kubelet),
            Instant::second(at(10), Clock::Kubelet),
        );
        assert!(!left.is_before(&right) && !right.is_before(&left));
        assert!(left.is_before(&Instant::second(at(11), Clock::Kubelet)));
    }
}
