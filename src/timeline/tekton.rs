//! Tekton's steps, whose processes all start at once: each is an entrypoint that waits for its turn,
//! and says in its termination message when it let the step's own command begin.

use super::instant::{Clock, Instant, SECOND, Source, later};
use crate::pod::Container;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The entrypoint writes milliseconds, cut off.
const RESOLUTION: SignedDuration = SignedDuration::from_millis(1);

/// The volume from which every step takes its entrypoint.
const ENTRYPOINT: &str = "/tekton/bin";

/// Whether a container of a live pod is a step that waits for its turn in its own process.
pub(super) fn is_step(container: &Container) -> bool {
    let mut mounts = container.mounts.iter();
    container.name.starts_with("step-") && mounts.any(|mount| mount.path == ENTRYPOINT)
}

/// When a step's own command began, as its termination message tells: the entry `StartedAt` of a
/// list of results.
pub(super) fn began(message: &str) -> Option<Timestamp> {
    entry(message)?.get("value")?.as_str()?.parse().ok()
}

/// The part of such a message that tells the time: its other entries are the task's results.
pub(super) fn time_alone(message: &str) -> Option<String> {
    let entry = entry(message)?;
    let kept = json!([{"key": entry["key"], "value": entry["value"], "type": entry["type"]}]);
    Some(kept.to_string())
}

fn entry(message: &str) -> Option<Value> {
    let Value::Array(entries) = serde_json::from_str(message).ok()? else {
        return None;
    };
    let mut entries = entries.into_iter();
    entries.find(|entry| entry["key"] == "StartedAt" && entry["value"].is_string())
}

/// When a step's own command began, between the start of its process and its end. Nothing tells
/// before it has ended.
pub(super) fn turn(process: &Instant, told: Option<Timestamp>) -> Instant {
    let open = Instant {
        not_after: None,
        estimate: None,
        source: Source::Status,
        ..*process
    };
    // A clock that was set back, or a message of something else, is not believed.
    let is_possible = |at: &Timestamp| {
        process
            .not_before
            .is_none_or(|from| later(*at, SECOND) >= from)
    };
    match told.filter(is_possible) {
        Some(at) => Instant {
            not_before: Some(at),
            not_after: Some(later(at, RESOLUTION)),
            estimate: Some(at),
            source: Source::Status,
            clock: Clock::Kubelet,
        },
        None => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"[{"key":"Digest","value":"secret","type":1},
        {"key":"StartedAt","value":"2026-01-01T00:00:02.250Z","type":3}]"#;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_termination_message_tells_when_the_command_began() {
        assert_eq!(began(MESSAGE), Some(at("2026-01-01T00:00:02.25Z")));
        for other in [
            "",
            "done",
            "[]",
            r#"{"key":"StartedAt"}"#,
            r#"[{"key":"StartedAt","value":7}]"#,
        ] {
            assert_eq!(began(other), None, "{other}");
        }
    }

    #[test]
    fn the_results_of_a_task_are_not_kept() {
        let kept = r#"[{"key":"StartedAt","value":"2026-01-01T00:00:02.250Z","type":3}]"#;
        assert_eq!(time_alone(MESSAGE).as_deref(), Some(kept));
        assert_eq!(time_alone("done"), None);
    }

    #[test]
    fn a_turn_is_open_until_it_is_told_and_never_before_the_process() {
        let process = Instant::exact(
            at("2026-01-01T00:00:01Z"),
            Source::EventName,
            Clock::Kubelet,
        );
        let open = turn(&process, None);
        assert_eq!(
            (open.not_before, open.not_after),
            (process.not_before, None)
        );
        let told = turn(&process, began(MESSAGE));
        assert_eq!(told.not_before, Some(at("2026-01-01T00:00:02.25Z")));
        assert_eq!(told.not_after, Some(at("2026-01-01T00:00:02.251Z")));
        let long_ago = turn(&process, Some(at("2025-01-01T00:00:00Z")));
        assert_eq!(long_ago, open, "a clock that was set back");
    }
}
