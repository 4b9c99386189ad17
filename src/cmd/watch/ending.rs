//! When a watch is over.

use crate::cli::Until;
use crate::pod::Role;
use crate::timeline::PodTimeline;
use std::time::Duration;

/// Whether a pod has come as far as the user wants to see. A pod that has ended for good, or is gone,
/// has come as far as it ever will.
pub fn has_reached(pod: &PodTimeline, until: Until) -> bool {
    let has_ended = matches!(pod.phase.as_str(), "Succeeded" | "Failed");
    match until {
        Until::Deleted => pod.is_deleted,
        Until::Ready => pod.is_deleted || has_ended || (pod.is_ready && pod.deletion.is_none()),
        Until::Started => pod.is_deleted || has_ended || have_all_started(pod),
    }
}

fn have_all_started(pod: &PodTimeline) -> bool {
    let apps = pod
        .containers
        .iter()
        .filter(|container| container.role == Role::App);
    let has_started = |attempts: &[crate::timeline::Attempt]| {
        attempts.iter().any(|attempt| attempt.started.is_some())
    };
    !pod.containers.is_empty()
        && apps
            .into_iter()
            .all(|container| has_started(&container.attempts))
}

/// Reads a time as kubectl takes it: `90s`, `1m30s`, `500ms`; a bare number counts seconds, 0 is no
/// limit.
pub fn duration(text: &str) -> Result<Option<Duration>, String> {
    let wrong = || format!("unknown time {text:?}: such as 30s, 5m or 1m30s");
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.len()
            - rest
                .trim_start_matches(|char: char| char.is_ascii_digit() || char == '.')
                .len();
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        let after = &rest[digits..];
        let unit = after.len()
            - after
                .trim_start_matches(|char: char| char.is_ascii_alphabetic())
                .len();
        let seconds = match &after[..unit] {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
        total = total.saturating_add(part);
        rest = &after[unit..];
        if unit == 0 && !rest.is_empty() {
            return Err(wrong());
        }
    }
    Ok((!total.is_zero()).then_some(total))
}

/// A time as kubectl prints it: `1m0s`, `45s`.
pub fn told(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{}ms", duration.subsec_millis()),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_told_as_kubectl_does() {
        assert_eq!(duration("90s"), Ok(Some(Duration::from_secs(90))));
        assert_eq!(duration("1m30s"), Ok(Some(Duration::from_secs(90))));
        assert_eq!(duration("20"), Ok(Some(Duration::from_secs(20))));
        assert_eq!(duration("0"), Ok(None));
        assert!(
            duration("soon").is_err() && duration("5x").is_err() && duration("1e999s").is_err()
        );
        assert_eq!(told(Duration::from_secs(60)), "1m0s");
        assert_eq!(told(Duration::from_secs(45)), "45s");
    }
}
