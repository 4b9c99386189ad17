//! The time axis: which stretch of time a picture shows, and in which column a moment lies.

use jiff::{SignedDuration, Timestamp};

/// Time from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// 0 s: when the pod was scheduled.
    pub(super) zero: Timestamp,
    /// The first moment that has a label, after `zero`.
    from: SignedDuration,
    /// The last one.
    until: SignedDuration,
    step: SignedDuration,
    /// Columns before the first label: time before it is shown, too.
    margin: usize,
    /// Columns in all.
    pub(super) columns: usize,
}

/// The moments at which a live axis may end, in milliseconds: it grows in these jumps only.
const ENDS: [i64; 13] = [
    2_000, 5_000, 10_000, 20_000, 40_000, 60_000, 120_000, 300_000, 600_000, 1_200_000, 2_400_000,
    3_600_000, 7_200_000,
];

/// The distances of labels, in milliseconds.
const STEPS: [i64; 18] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    1_200_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000,
];

/// So many labels at most, the first one not counted.
const LABELS: i128 = 7;

/// So many when the last one is the last moment itself.
const LABELS_OF_A_FIT: i128 = 9;

const DAY: SignedDuration = SignedDuration::from_hours(24);

impl Axis {
    /// The axis of a live picture: the first end that holds `now`.
    pub(super) fn live(zero: Timestamp, now: Timestamp, columns: usize) -> Axis {
        let age = now.duration_since(zero);
        let ends = ENDS.iter().map(|end| SignedDuration::from_millis(*end));
        let end = ends.clone().find(|end| age <= *end);
        let until = end.unwrap_or_else(|| rounded_up(age, SignedDuration::from_hours(1)));
        Axis::whole(zero, until, step(until, LABELS), columns)
    }

    /// The axis of a final picture: it fits the last instant.
    pub(super) fn fitting(zero: Timestamp, last: Timestamp, columns: usize) -> Axis {
        let age = last
            .duration_since(zero)
            .max(SignedDuration::from_millis(1));
        let step = step(age, LABELS_OF_A_FIT);
        Axis::whole(zero, rounded_up(age, step), step, columns)
    }

    /// An axis that begins shortly before `first`, for what happens late in a pod's life.
    pub(super) fn window(
        zero: Timestamp,
        first: Timestamp,
        last: Timestamp,
        columns: usize,
    ) -> Axis {
        let (first, last) = (first.duration_since(zero), last.duration_since(zero));
        let step = step(last - first, LABELS);
        let from = step * i32::try_from(parts(first, step)).unwrap_or(0);
        if !from.is_positive() {
            return Axis::whole(zero, rounded_up(last, step), step, columns);
        }
        Axis {
            zero,
            from,
            until: rounded_up(last, step),
            step,
            margin: 1,
            columns,
        }
    }

    fn whole(zero: Timestamp, until: SignedDuration, step: SignedDuration, columns: usize) -> Axis {
        Axis {
            zero,
            from: SignedDuration::ZERO,
            until,
            step,
            margin: 0,
            columns,
        }
    }

    /// The column of a moment; `columns` for the end of the axis and everything after it.
    pub(super) fn column(&self, at: Timestamp) -> usize {
        self.column_of(at.duration_since(self.zero))
    }

    fn column_of(&self, since: SignedDuration) -> usize {
        let room = self.columns.saturating_sub(self.margin);
        let whole = (self.until - self.from).as_secs_f64();
        let share = (since - self.from).as_secs_f64() / whole.max(1e-9);
        // Half columns go to the even side, so that labels stay evenly apart.
        let column = (share * columns_f64(room)).round_ties_even();
        let column = column + columns_f64(self.margin);
        // The cast saturates, and both ends are inside the axis.
        column.clamp(0.0, columns_f64(self.columns)) as usize
    }

    /// The columns of a stretch; none when it lies outside of the axis.
    pub(super) fn columns_of(&self, from: Timestamp, until: Timestamp) -> Option<(usize, usize)> {
        let (start, end) = (self.column(from), self.column(until));
        let is_before = end == 0 && until.duration_since(self.zero) < self.from;
        let is_behind = from.duration_since(self.zero) > self.until;
        // What happens at the very end has the last column.
        let start = start.min(self.columns.saturating_sub(1));
        (!is_before && !is_behind).then_some((start, end))
    }

    /// Where the labels stand, and what they say.
    pub(super) fn labels(&self) -> Vec<(usize, String)> {
        let mut labels = Vec::new();
        let mut at = self.from;
        while at <= self.until {
            labels.push((self.column_of(at), label(at)));
            at += self.step;
        }
        labels
    }
}

fn columns_f64(columns: usize) -> f64 {
    f64::from(u32::try_from(columns).unwrap_or(u32::MAX))
}

/// The smallest distance of labels that leaves room for all of them; `fit` may be as many when the
/// last one is the last moment itself.
fn step(length: SignedDuration, fit: i128) -> SignedDuration {
    let steps = STEPS.iter().map(|step| SignedDuration::from_millis(*step));
    let fits = |step: &SignedDuration| {
        let parts = parts(length, *step);
        let is_fit = *step * i32::try_from(parts).unwrap_or(0) == length;
        parts < LABELS || is_fit && parts <= fit
    };
    let days = length.as_hours() / 24;
    let fallback = DAY * i32::try_from(days / 7 + 1).unwrap_or(1);
    steps.clone().find(fits).unwrap_or(fallback)
}

/// How many whole steps fit in.
fn parts(length: SignedDuration, step: SignedDuration) -> i128 {
    length.as_nanos().div_euclid(step.as_nanos().max(1))
}

fn rounded_up(length: SignedDuration, step: SignedDuration) -> SignedDuration {
    let whole = step * i32::try_from(parts(length, step)).unwrap_or(0);
    if whole == length && !whole.is_zero() {
        whole
    } else {
        whole + step
    }
}

fn label(at: SignedDuration) -> String {
    let (seconds, ms) = (at.as_secs(), at.subsec_millis());
    match seconds {
        0..60 if ms == 0 => format!("{seconds}s"),
        0..60 => format!("{seconds}.{}s", ms / 100),
        60..3600 if seconds % 60 == 0 => format!("{}m", seconds / 60),
        60..3600 => format!("{}m{}s", seconds / 60, seconds % 60),
        3600..86_400 if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        3600..86_400 => format!("{}h{}m", seconds / 3600, seconds / 60 % 60),
        _ if seconds % 86_400 == 0 => format!("{}d", seconds / 86_400),
        _ => format!("{}d{}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).expect("a small number")
    }

    fn texts(axis: &Axis) -> String {
        let labels: Vec<String> = axis.labels().into_iter().map(|(_, text)| text).collect();
        labels.join(" ")
    }

    #[test]
    fn a_live_axis_grows_in_jumps() {
        let live = |ms| texts(&Axis::live(at(0), at(ms), 50));
        assert_eq!(live(300), "0s 0.5s 1s 1.5s 2s");
        assert_eq!(live(2_000), live(300));
        assert_eq!(live(2_001), "0s 1s 2s 3s 4s 5s");
        assert_eq!(live(34_000), "0s 10s 20s 30s 40s");
        assert_eq!(live(61_000), "0s 20s 40s 1m 1m20s 1m40s 2m");
    }

    #[test]
    fn a_final_axis_fits_the_last_instant() {
        let fitting = |ms| texts(&Axis::fitting(at(0), at(ms), 50));
        assert_eq!(fitting(5_373), "0s 1s 2s 3s 4s 5s 6s");
        assert_eq!(fitting(8_634), "0s 2s 4s 6s 8s 10s");
        assert_eq!(fitting(45_000), "0s 5s 10s 15s 20s 25s 30s 35s 40s 45s");
        assert_eq!(fitting(400 * 3_600_000), "0s 3d 6d 9d 12d 15d 18d");
    }

    #[test]
    fn a_window_shows_a_little_of_the_time_before_it() {
        let window = Axis::window(at(0), at(11_881), at(15_592), 49);
        assert_eq!(texts(&window), "11s 12s 13s 14s 15s 16s");
        assert_eq!(window.column(at(11_000)), 1);
        assert_eq!(window.column(at(10_000)), 0);
        assert_eq!(window.column(at(16_000)), 49);
        assert_eq!(window.column(at(99_000)), 49);
    }
}
