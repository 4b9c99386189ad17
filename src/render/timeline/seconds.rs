//! Times as people read them. Estimates go to the nearest, bounds outward, so that no interval that
//! is printed loses the truth.

use jiff::SignedDuration;

/// Which way a time is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// An estimate.
    Nearest,
    /// A lower bound.
    Down,
    /// An upper bound.
    Up,
}

const NANOS: i128 = 1_000_000_000;

/// A duration: two decimals below 10 s, one below a minute, then `2m10s`.
pub(super) fn took(duration: SignedDuration, round: Round) -> String {
    let decimals = if within(duration, 10) { 2 } else { 1 };
    written(duration, decimals, round)
}

/// A duration that is known by whole seconds: one decimal.
pub(super) fn coarse(duration: SignedDuration, round: Round) -> String {
    written(duration, 1, round)
}

/// A moment on the axis: two decimals below a minute.
pub(super) fn moment(since: SignedDuration, round: Round) -> String {
    written(since, 2, round)
}

/// How long something goes on already: one decimal, so that it changes calmly.
pub(super) fn running(duration: SignedDuration) -> String {
    written(duration, 1, Round::Nearest)
}

/// The age of a picture: one decimal, none for a whole number of ten or more.
pub(super) fn age(duration: SignedDuration) -> String {
    let text = written(duration, 1, Round::Nearest);
    match text.strip_suffix(".0 s") {
        Some(whole) if !within(duration, 10) => format!("{whole} s"),
        _ => text,
    }
}

/// A moment in a log line: always three decimals.
pub(super) fn logged(since: SignedDuration, round: Round) -> String {
    let (sign, digits) = digits(since, 3, round);
    format!("{sign}{}.{:03} s", digits / 1000, digits % 1000)
}

/// The ends of an interval with one unit: `0.12–0.20 s`; one end alone when both read the same.
pub(super) fn range(low: &str, high: &str, dash: &str) -> String {
    if low == high {
        return high.to_owned();
    }
    match (low.strip_suffix(" s"), high.ends_with(" s")) {
        (Some(low), true) => format!("{low}{dash}{high}"),
        _ => format!("{low}{dash}{high}"),
    }
}

fn within(duration: SignedDuration, seconds: i64) -> bool {
    duration.abs() < SignedDuration::from_secs(seconds)
}

/// Above a minute whole seconds, above an hour whole minutes, above two days whole hours.
fn written(duration: SignedDuration, decimals: u32, round: Round) -> String {
    let (sign, units) = digits(duration, decimals, round);
    let unit = 10i128.pow(decimals);
    if units < 60 * unit {
        let width = decimals as usize;
        return format!("{sign}{}.{:0width$} s", units / unit, units % unit);
    }
    let (sign, seconds) = digits(duration, 0, round);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600, seconds / 60);
    match seconds {
        0..3600 => format!("{sign}{minutes}m{}s", seconds % 60),
        3600..172_800 => format!("{sign}{hours}h{}m", minutes % 60),
        _ => format!("{sign}{days}d{}h", hours % 24),
    }
}

/// The sign, and the size in units of the last decimal.
fn digits(duration: SignedDuration, decimals: u32, round: Round) -> (&'static str, i128) {
    let unit = NANOS / 10i128.pow(decimals);
    let nanos = duration.as_nanos();
    let units = match round {
        Round::Nearest => (nanos + unit / 2).div_euclid(unit),
        Round::Down => nanos.div_euclid(unit),
        Round::Up => -(-nanos).div_euclid(unit),
    };
    (if units < 0 { "-" } else { "" }, units.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> SignedDuration {
        SignedDuration::from_millis(ms)
    }

    #[test]
    fn decimals_become_fewer_as_time_grows() {
        let read = |duration| took(duration, Round::Nearest);
        assert_eq!(read(ms(5_073)), "5.07 s");
        assert_eq!(read(ms(45_140)), "45.1 s");
        assert_eq!(read(ms(59_999)), "1m0s");
        assert_eq!(read(ms(130_400)), "2m10s");
        assert_eq!(read(ms(3_660_000)), "1h1m");
        assert_eq!(age(ms(34_000)), "34 s");
        assert_eq!(age(ms(5_000)), "5.0 s");
    }

    #[test]
    fn bounds_are_rounded_outward() {
        assert_eq!(moment(ms(15_001), Round::Up), "15.01 s");
        assert_eq!(moment(ms(15_009), Round::Down), "15.00 s");
        assert_eq!(took(ms(-5), Round::Down), "-0.01 s");
        let (low, high) = (took(ms(126), Round::Down), took(ms(199), Round::Up));
        assert_eq!(range(&low, &high, "–"), "0.12–0.20 s");
    }
}
