//! A recording says what the watch said that made it, and keeps no secrets.

use crate::lab::{self, Namespace};
use crate::told::{Between, Told, expect};
use crate::trial;
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::PathBuf;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("replay", replay),
        trial("replay-of-a-rollout", replay_of_a_rollout),
        trial("replay-of-a-failure", replay_of_a_failure),
        trial("steps", steps),
    ]
}

/// A file for one recording.
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.jsonl"))
}

/// What a watch prints, and how much its recording keeps.
type Kind = (&'static str, &'static str);

const ALLOWED_JSON: Kind = ("json", "");
const ALLOWED_TEXT: Kind = ("text", "");
const FULL_LINES: Kind = ("lines", "--record-full");
const FULL_JSON: Kind = ("json", "--record-full");
const FULL_TEXT: Kind = ("text", "--record-full");

/// Watches in several ways at once; returns the recordings.
///
/// Each replay has to print what its own watch printed: no two watches are told at the same moment.
fn same(
    namespace: &Namespace,
    target: &str,
    manifest: &str,
    (code, kinds): (i32, &[Kind]),
) -> Result<Vec<String>, Failed> {
    let mut watches = Vec::new();
    for (format, flag) in kinds {
        let file = file(&format!("{}{flag}-{format}", namespace.name));
        let path = file.display();
        let arguments =
            format!("watch {target} --until started -o {format} --record {path} {flag}");
        watches.push((namespace.start(&arguments)?, format, file));
    }
    namespace.apply(manifest)?;
    let mut recordings = Vec::new();
    for (watch, format, file) in watches {
        let live = watch.wait()?.ends_with(code)?;
        let path = file.display();
        let replay = lab::startorder(&format!("watch --replay {path} -o {format}"))?;
        let replay = replay.ends_with(code)?;
        let is_same = live.stdout == replay.stdout;
        expect(is_same, "they differ", &(live, replay))?;
        recordings.push(fs::read_to_string(&file)?);
    }
    Ok(recordings)
}

fn replay(namespace: &Namespace) -> Result<(), Failed> {
    let kinds = [ALLOWED_JSON, FULL_JSON, ALLOWED_TEXT, FULL_TEXT, FULL_LINES];
    let recordings = same(namespace, "pod/web", "secretive.yaml", (0, &kinds))?;
    for (recording, kind) in recordings.iter().zip(kinds) {
        let is_full = !kind.1.is_empty();
        expect(
            recording.contains("canary") == is_full,
            "secrets",
            &recording,
        )?;
        let is_told = recording
            .lines()
            .next()
            .is_some_and(|line| line.contains("\"full\":true"));
        expect(
            is_told == is_full,
            "the first line does not say what is kept",
            &recording,
        )?;
    }
    Ok(())
}

fn replay_of_a_rollout(namespace: &Namespace) -> Result<(), Failed> {
    let kinds = [ALLOWED_JSON, ALLOWED_TEXT];
    same(namespace, "-l app=web", "rollout.yaml", (0, &kinds))?;
    Ok(())
}

fn replay_of_a_failure(namespace: &Namespace) -> Result<(), Failed> {
    // What the hook printed is in a full recording only.
    let kinds = [ALLOWED_JSON, FULL_JSON, FULL_TEXT];
    same(namespace, "pod/web", "gate-fails.yaml", (1, &kinds))?;
    Ok(())
}

/// No Tekton runs here: a pod of its shape, whose script writes what Tekton's entrypoint writes. Both
/// processes start at once; the second step's own command begins when the first one's has ended.
fn steps(namespace: &Namespace) -> Result<(), Failed> {
    let file = file("steps");
    let path = file.display();
    let arguments = format!("watch pod/build --until deleted -o json --record {path}");
    let watch = namespace.start(&arguments)?;
    namespace.apply("steps.yaml")?;
    lab::until("the end of the steps", || {
        let phase = ["get", "pod", "build", "-o", "jsonpath={.status.phase}"];
        Ok(namespace.kubectl(&phase)? == "Succeeded")
    })?;
    namespace.kubectl(&["delete", "pod", "build"])?;
    let live = watch.wait()?.ends_with(0)?;
    let told = Told::read(&live.stdout)?;
    let (first, second) = (
        told.instant("step-fetch", "started")?,
        told.instant("step-build", "started")?,
    );
    let exact = |between: &Between| between.not_after.zip(between.not_before);
    let (first, second) = (exact(&first), exact(&second));
    let between = second
        .zip(first)
        .map(|((_, second), (first, _))| second.duration_since(first));
    let is_after = between.is_some_and(|between| between.as_secs_f64() > 1.8);
    expect(is_after, "the second step begins two seconds later", &told)?;
    let recording = fs::read_to_string(&file)?;
    expect(
        recording.contains("StartedAt"),
        "the time is kept",
        &recording,
    )?;
    expect(
        !recording.contains("sha256:secret"),
        "results are not",
        &recording,
    )?;
    let replay = lab::startorder(&format!("watch --replay {path} -o json"))?.ends_with(0)?;
    expect(live.stdout == replay.stdout, "they differ", &(live, replay))
}
