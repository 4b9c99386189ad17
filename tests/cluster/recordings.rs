//! A recording says what the watch said that made it, and keeps no secrets.

use crate::lab::{self, Namespace};
use crate::told::expect;
use crate::trial;
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::PathBuf;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("replay", replay),
        trial("replay-of-a-rollout", replay_of_a_rollout),
        trial("replay-of-a-failure", replay_of_a_failure),
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
