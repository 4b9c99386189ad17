//! Hand-made watches for what recordings do not show, and pictures asked for half-way.

use super::recording::time;
use super::verdict::{Doubt, Verdict, judge};
use super::*;
use crate::plan::{Basis, Constraint, Event, Milestone};
use crate::pod::Role;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn at(text: &str) -> Timestamp {
    time(&json!(format!("2026-01-01T00:00:{text}Z"))).expect("seconds of a minute")
}

fn pods(arrival: &str, kind: ChangeKind, object: Value) -> Line {
    let change = Change::Object {
        stream: Stream::Pods,
        kind,
        object,
    };
    Line {
        at: at(arrival),
        change,
    }
}

fn events(arrival: &str, object: Value) -> Line {
    let change = Change::Object {
        stream: Stream::Events,
        kind: ChangeKind::Added,
        object,
    };
    Line {
        at: at(arrival),
        change,
    }
}

/// A pod with a waiting sidecar `a` above `b`, and these container statuses.
fn pod(statuses: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"containers": [
            {"name": "a", "image": "a:1", "lifecycle": {"postStart": {"exec": {"command": ["wait"]}}}},
            {"name": "b", "image": "b:1"},
        ]},
        "status": {"phase": "Running", "containerStatuses": statuses},
    })
}

fn running(name: &str, second: &str, restarts: u32) -> Value {
    json!({"name": name, "restartCount": restarts, "containerID": format!("{name}{restarts}"),
           "ready": true, "started": true, "state": {"running": {"startedAt": at(second).to_string()}}})
}

/// An event whose name carries its nanoseconds, as the `version`-th write.
fn event(container: &str, reason: &str, made: &str, version: u64, count: u64, last: &str) -> Value {
    let first = at(made);
    let name = format!("p.{:x}", first.as_nanosecond());
    json!({
        "metadata": {"name": name, "resourceVersion": version.to_string()},
        "involvedObject": {"kind": "Pod", "uid": "u", "fieldPath": format!("spec.containers{{{container}}}")},
        "reason": reason, "count": count, "reportingComponent": "kubelet",
        "firstTimestamp": format!("{first:.0}"), "lastTimestamp": format!("{:.0}", at(last)),
    })
}

fn fold(lines: &[Line]) -> PodTimeline {
    let mut timeline = Timeline::new(None);
    lines.iter().for_each(|line| timeline.push(line));
    timeline.pods().remove(0)
}

fn constraint(before: Event, basis: Basis) -> Constraint {
    Constraint {
        before: Milestone::of("a", before),
        after: Milestone::of("b", Event::Started),
        basis,
        is_assumed: false,
        role: Role::App,
    }
}

fn verdict(pod: &PodTimeline, before: Event, basis: Basis) -> Verdict {
    judge(pod, &[constraint(before, basis)])[0].verdict
}

/// `a` started at 1.2 s, its hook held `b` until 4.0 s.
fn gated() -> Vec<Line> {
    vec![
        pods("01", ChangeKind::Added, pod(json!([]))),
        events("01.1", event("a", "Created", "01.1", 1, 1, "01")),
        events("01.2", event("a", "Started", "01.2", 2, 1, "01")),
        events("04.0", event("b", "Pulled", "04.0", 3, 1, "04")),
        events("04.1", event("b", "Created", "04.1", 4, 1, "04")),
        events("04.2", event("b", "Started", "04.2", 5, 1, "04")),
    ]
}

#[test]
fn a_hook_ends_where_the_kubelet_goes_on() {
    let pod = fold(&gated());
    let hook = &pod.containers[0].attempts[0].hook;
    let Some(Hook::Returned { when, is_inferred }) = hook else {
        panic!("{hook:?}");
    };
    assert_eq!(when.not_before, Some(at("01.2")));
    assert_eq!(when.not_after, Some(at("04.0")));
    assert!(is_inferred);
    let judged = judge(
        &pod,
        &[constraint(Event::PostStartReturned, Basis::Attempted)],
    );
    assert_eq!(judged[0].verdict, Verdict::Held);
    assert!(judged[0].is_by_construction);
    assert_eq!(judged[0].gap_ms(), (Some(100), Some(3000)));
}

#[test]
fn two_starts_known_by_the_same_second_have_no_order() {
    let statuses = json!([running("a", "02", 0), running("b", "02", 0)]);
    let pod = fold(&[pods("05", ChangeKind::Added, pod(statuses))]);
    let verdict = verdict(&pod, Event::Started, Basis::Attempted);
    assert_eq!(verdict, Verdict::Undetermined(Doubt::SameSecond));
    let statuses = json!([running("a", "02", 0), running("b", "04", 0)]);
    let apart = fold(&[pods("05", ChangeKind::Added, self::pod(statuses))]);
    assert_eq!(
        self::verdict(&apart, Event::Started, Basis::Attempted),
        Verdict::Held
    );
}

#[test]
fn readiness_is_never_compared_with_a_start_of_the_same_sync() {
    let mut lines = gated();
    let statuses = json!([running("a", "01", 0), running("b", "04", 0)]);
    lines.push(pods("04.3", ChangeKind::Modified, pod(statuses)));
    let verdict = verdict(&fold(&lines), Event::Ready, Basis::Needed);
    assert_eq!(verdict, Verdict::Unguarded);
    let verdict = self::verdict(&fold(&lines), Event::Ready, Basis::Polled);
    assert_eq!(verdict, Verdict::Undetermined(Doubt::NotProbed));
}

#[test]
fn a_gap_after_a_relist_is_told_and_doubted() {
    let statuses = json!([running("a", "02", 0), running("b", "03", 0)]);
    let pod = fold(&[
        pods("01", ChangeKind::Added, pod(json!([]))),
        Line {
            at: at("09"),
            change: Change::Relist(Stream::Pods),
        },
        pods("09", ChangeKind::Modified, pod(statuses)),
    ]);
    assert_eq!(pod.gaps.len(), 1);
    assert_eq!(
        (pod.gaps[0].from, pod.gaps[0].until),
        (Some(at("01")), at("09"))
    );
    let verdict = verdict(&pod, Event::PostStartReturned, Basis::Attempted);
    assert_eq!(verdict, Verdict::Undetermined(Doubt::Gap));
}

#[test]
fn a_relist_that_tells_everything_again_adds_nothing() {
    let mut lines = gated();
    let again = lines.clone();
    let before = fold(&lines).milestones();
    let change = Change::Relist(Stream::Events);
    lines.push(Line {
        at: at("05"),
        change,
    });
    lines.extend(again.into_iter().map(|line| Line {
        at: at("05"),
        ..line
    }));
    assert_eq!(fold(&lines).milestones(), before);
}

#[test]
fn a_restart_is_another_attempt_and_gates_nothing() {
    let mut lines = gated();
    lines.push(events("08.0", event("a", "Created", "01.1", 6, 2, "08")));
    lines.push(events("08.1", event("a", "Started", "01.2", 7, 2, "08")));
    let pod = fold(&lines);
    let attempts = &pod.containers[0].attempts;
    let numbers: Vec<_> = attempts
        .iter()
        .map(|attempt| (attempt.number, attempt.initialization))
        .collect();
    assert_eq!(numbers, [(1, 1), (2, 1)]);
    let ended = attempts[0].exit.as_ref().map(|(when, _)| when.not_after);
    assert_eq!(
        ended,
        Some(Some(at("08.0"))),
        "a later start implies the end"
    );
    assert!(matches!(attempts[1].hook, Some(Hook::Running { .. })));
    let judged = judge(
        &pod,
        &[constraint(Event::PostStartReturned, Basis::Attempted)],
    );
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0].verdict, Verdict::Held);
}

#[test]
fn a_new_sandbox_begins_another_initialization() {
    let mut lines = gated();
    let mut changed = event("a", "SandboxChanged", "07.0", 6, 1, "07");
    changed["involvedObject"]["fieldPath"] = Value::Null;
    lines.push(events("07.0", changed));
    lines.push(events("08.0", event("a", "Created", "01.1", 7, 2, "08")));
    lines.push(events("08.1", event("a", "Started", "01.2", 8, 2, "08")));
    let pod = fold(&lines);
    assert_eq!(pod.initializations(), 2);
    let judged = judge(
        &pod,
        &[constraint(Event::PostStartReturned, Basis::Attempted)],
    );
    let verdicts: Vec<_> = judged.iter().map(|judgement| judgement.verdict).collect();
    assert_eq!(verdicts, [Verdict::Held, Verdict::Pending]);
}

#[test]
fn deletion_is_told_and_ends_the_pod() {
    let mut lines = gated();
    let mut going = pod(json!([running("a", "01", 0), running("b", "04", 0)]));
    going["metadata"]["deletionTimestamp"] = json!(at("20").to_string());
    going["metadata"]["deletionGracePeriodSeconds"] = json!(10);
    lines.push(pods("10.3", ChangeKind::Modified, going.clone()));
    let terminating = fold(&lines);
    assert_eq!(terminating.state_words(), "Terminating");
    let asked = terminating.deletion.expect("deletion was asked for").asked;
    assert_eq!(
        (asked.not_before, asked.not_after),
        (Some(at("10")), Some(at("10.3")))
    );
    lines.push(pods("20.5", ChangeKind::Deleted, going));
    let gone = fold(&lines);
    assert!(gone.is_deleted);
    let deleted = gone.pod_event(Event::Deleted).expect("it is gone");
    assert_eq!(deleted.not_after, Some(at("20.5")));
    assert_eq!(deleted.not_before, None, "unknown ends stay unknown");
}

#[test]
fn a_process_that_never_ran_was_never_started() {
    let waiting = json!({
        "name": "b", "restartCount": 0, "containerID": "b0", "ready": false,
        "state": {"waiting": {"reason": "RunContainerError"}},
        "lastState": {"terminated": {"containerID": "b0", "exitCode": 128, "reason": "StartError",
            "startedAt": "1970-01-01T00:00:00Z", "finishedAt": at("04").to_string()}},
    });
    let mut lines = gated();
    lines.truncate(5);
    lines.push(events("04.2", event("b", "Failed", "04.2", 5, 1, "04")));
    lines.push(pods(
        "04.3",
        ChangeKind::Modified,
        pod(json!([running("a", "01", 0), waiting])),
    ));
    let pod = fold(&lines);
    let attempt = &pod.containers[1].attempts[0];
    assert_eq!((attempt.started, attempt.exit.as_ref()), (None, None));
}

#[test]
fn a_watcher_whose_clock_is_behind_bounds_nothing_too_early() {
    let mut lines = gated();
    let statuses = json!([running("a", "01", 0), running("b", "04", 0)]);
    lines.push(pods("04.3", ChangeKind::Modified, pod(statuses)));
    for line in &mut lines {
        line.at -= SignedDuration::from_secs(30);
    }
    let pod = fold(&lines);
    let ready = pod.containers[1].attempts[0]
        .instant(Event::Ready)
        .expect("it is ready");
    assert!(ready.not_after >= Some(at("04.3")), "{ready:?}");
    assert!(pod.offset.is_large());
}

#[test]
fn every_broken_line_is_named() {
    let read = |text: &str| {
        let reader = Reader::new("start.jsonl", text.as_bytes());
        let mut errors = reader.map_or_else(
            |error| vec![error.to_string()],
            |reader| {
                reader
                    .filter_map(|line| Some(line.err()?.to_string()))
                    .collect()
            },
        );
        errors.remove(0)
    };
    let header = "{\"format\":\"startorder-recording\",\"version\":1}\n";
    assert_eq!(
        read("{\"format\":\"startorder-recording\",\"version\":3}"),
        "start.jsonl:1: recording format 3; this version reads 1"
    );
    assert!(read("").starts_with("start.jsonl:1: the file is empty"));
    assert!(read("{}").starts_with("start.jsonl:1: not a recording"));
    assert!(
        read(&format!("{header}\n{{\"at\": 1"))
            .starts_with("start.jsonl:3: not JSON from column 8 on")
    );
    let line = format!("{header}{{\"at\":\"2026-01-01T00:00:00Z\",\"watch\":\"nodes\"}}");
    assert!(read(&line).starts_with("start.jsonl:2: \"watch\" is missing"));
}

/// A recording as far as it had come after `seconds`.
fn half_way(case: &str, seconds: f64) -> (PodTimeline, Timestamp) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/recordings");
    let file = File::open(root.join(case).join("1.37.jsonl")).expect("testdata");
    let reader = Reader::new(case, BufReader::new(file)).expect("a recording");
    let mut timeline = Timeline::of_recording(&reader.header);
    let lines: Vec<Line> = reader.map(|line| line.expect("a line")).collect();
    let limit = SignedDuration::try_from_secs_f64(seconds).expect("a short time");
    let now = lines[0].at + limit;
    let past = lines.iter().filter(|line| line.at <= now);
    past.for_each(|line| timeline.push(line));
    (timeline.pods().remove(0), now)
}

fn hook(pod: &PodTimeline, container: &str) -> Option<Hook> {
    let container = pod.container(container).expect("it is in the pod");
    container
        .attempts
        .last()
        .and_then(|attempt| attempt.hook.clone())
}

#[test]
fn half_way_a_hook_runs_and_the_app_has_not_begun() {
    let (pod, now) = half_way("02-gate", 3.0);
    let Some(Hook::Running { since }) = hook(&pod, "sidecar") else {
        panic!("{:?}", hook(&pod, "sidecar"));
    };
    assert!(since.is_exact() && since.best() < Some(now));
    assert!(pod.containers[1].attempts.is_empty());
    assert_eq!(pod.state_words(), "Pending");
    let (pod, _) = half_way("02-gate", 60.0);
    assert!(matches!(hook(&pod, "sidecar"), Some(Hook::Returned { .. })));
    assert_eq!(pod.state_words(), "Running");
}

#[test]
fn init_containers_and_native_sidecars_are_counted_as_kubectl_does() {
    let words = |case, seconds| half_way(case, seconds).0.state_words();
    assert_eq!(words("13-init-waits", 4.0), "Init:0/2");
    assert_eq!(words("13-init-waits", 8.2), "Init:1/2");
    assert_eq!(words("08-native-startup", 3.0), "Init:0/1");
    assert_eq!(words("29-gate-hangs", 30.0), "Terminating");
}

#[test]
fn a_failed_hook_keeps_what_was_said_of_it() {
    let (pod, _) = half_way("04-gate-fails", 35.0);
    assert_eq!(pod.state_words(), "Running, not ready");
    let attempts = &pod.containers[0].attempts;
    let messages = attempts.iter().filter_map(|attempt| match &attempt.hook {
        Some(Hook::Failed { message, .. }) => message.as_deref(),
        Some(Hook::Returned { .. } | Hook::Running { .. }) | None => None,
    });
    let messages: Vec<&str> = messages.collect();
    assert_eq!(messages.len(), 3, "one for each try");
    assert!(messages[0].contains("exited with 1"), "{messages:?}");
}
