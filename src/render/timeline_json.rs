//! `watch -o json`: one object a line.

use crate::plan::{Event, Milestone};
use crate::timeline::path::{critical_path, start_duration};
use crate::timeline::verdict::{Judgement, Verdict};
use crate::timeline::{Instant, Observation, PodTimeline};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes all that is known of one pod: its milestones by time, the verdicts, and a summary.
pub fn write_pod(
    pod: &PodTimeline,
    judgements: &[Judgement],
    output: &mut dyn Write,
) -> io::Result<()> {
    for observation in pod.milestones() {
        writeln!(output, "{}", milestone(pod, &observation))?;
    }
    for judgement in judgements {
        writeln!(output, "{}", verdict(pod, judgement))?;
    }
    writeln!(output, "{}", summary(pod))
}

/// The line of one milestone.
pub fn milestone(pod: &PodTimeline, observation: &Observation) -> Value {
    let mut line = json!({"type": "milestone", "pod": pod.full_name()});
    let container = observation.milestone.container.as_deref();
    let known = container.and_then(|name| pod.container(name));
    if let Some(container) = known {
        line["container"] = container.name.clone().into();
        line["role"] = container.role.word().into();
    }
    line["event"] = observation.milestone.event.word().into();
    if known.is_some() {
        line["attempt"] = observation.attempt.into();
        line["initialization"] = observation.initialization.into();
    }
    if let Some(exit) = &observation.exit {
        line["exitCode"] = exit.code.into();
        line["reason"] = exit.reason.clone().into();
    }
    write_instant(&mut line, &observation.when);
    line
}

fn write_instant(line: &mut Value, when: &Instant) {
    let lower = |at: Option<Timestamp>| at.map(|at| format!("{at:.6}"));
    line["notBefore"] = lower(when.not_before).into();
    line["notAfter"] = match when.is_exact() {
        true => lower(when.not_after),
        false => when.not_after.map(rounded_up),
    }
    .into();
    line["estimate"] = lower(when.estimate).into();
    line["source"] = when.source.word().into();
    line["clock"] = when.clock.word().into();
}

/// An upper bound in microseconds: rounded outward, so that it stays one.
fn rounded_up(at: Timestamp) -> String {
    let rest = at.subsec_nanosecond().rem_euclid(1_000);
    let missing = SignedDuration::from_nanos(i64::from((1_000 - rest) % 1_000));
    let rounded = at.checked_add(missing).unwrap_or(at);
    format!("{rounded:.6}")
}

/// The line of one verdict.
pub fn verdict(pod: &PodTimeline, judgement: &Judgement) -> Value {
    let constraint = &judgement.constraint;
    let mut line = json!({
        "type": "verdict",
        "pod": pod.full_name(),
        "before": end(&constraint.before),
        "after": end(&constraint.after),
        "basis": constraint.basis.json_word(),
        "verdict": judgement.verdict.json_word(),
    });
    if judgement.initialization > 1 {
        line["initialization"] = judgement.initialization.into();
    }
    if let Verdict::Undetermined(doubt) = judgement.verdict {
        line["reason"] = doubt.to_string().into();
    }
    let (least, most) = judgement.gap_ms();
    line["byConstruction"] = judgement.is_by_construction.into();
    line["gapMs"] = json!({"min": least, "max": most});
    line
}

fn end(milestone: &Milestone) -> Value {
    let mut end = Map::new();
    if let Some(container) = &milestone.container {
        end.insert("container".to_owned(), container.clone().into());
    }
    end.insert("event".to_owned(), milestone.event.word().into());
    Value::Object(end)
}

/// The last line of a pod.
pub fn summary(pod: &PodTimeline) -> Value {
    let legs: Vec<Value> = critical_path(pod)
        .into_iter()
        .map(|leg| {
            let ms = milliseconds(leg.took);
            json!({"container": leg.container, "what": leg.what.word(), "ms": ms})
        })
        .collect();
    let is_deleted = pod.pod_event(Event::Deleted).is_some();
    json!({
        "type": "summary",
        "pod": pod.full_name(),
        "phase": pod.phase,
        "ready": pod.is_ready && !is_deleted,
        "durationMs": start_duration(pod).map(milliseconds),
        "criticalPath": legs,
    })
}

/// To the nearest millisecond.
fn milliseconds(duration: SignedDuration) -> i64 {
    let nanos = (duration.as_nanos() + 500_000).div_euclid(1_000_000);
    i64::try_from(nanos).unwrap_or(i64::MAX)
}
