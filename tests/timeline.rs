//! Recordings of real kubelets, judged by what the container runtime says that it did.
//!
//! `testdata/recordings/<case>/<version>.jsonl` is what a watcher received, `.truth.jsonl` the
//! runtime's own account, `.out` what `watch --replay … -o json` prints. `SNAPSHOTS=overwrite cargo
//! test` rewrites the last.

mod truth;

use clap::Parser;
use libtest_mimic::{Arguments, Failed, Trial};
use startorder::catalog::Catalog;
use startorder::cli::{Cli, Command};
use startorder::cmd::watch;
use startorder::judge;
use startorder::plan::{Basis, Constraint};
use startorder::pod::KubeVersion;
use startorder::timeline::plan_line::PlanLine;
use startorder::timeline::recording::Allow;
use startorder::timeline::verdict::{self, Verdict};
use startorder::timeline::{Change, Keep, Line, PodTimeline, Reader, Timeline, Writer};
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let recordings = recordings();
    let mut trials = Vec::new();
    for file in recordings.clone() {
        let name = |what: &str| format!("{what}/{}", name(&file));
        let own = file.clone();
        trials.push(Trial::test(name("out"), move || matches_snapshot(&own)));
        let own = file.clone();
        trials.push(Trial::test(name("promise"), move || {
            keeps_the_kubelets_promises(&own)
        }));
        let own = file.clone();
        trials.push(Trial::test(name("allowed"), move || {
            tells_the_same_without_secrets(&own)
        }));
        let own = file.clone();
        trials.push(Trial::test(name("live"), move || never_takes_back(&own)));
    }
    let all = recordings.clone();
    trials.push(Trial::test("truth", move || truth::judge(&all)));
    trials.push(Trial::test("truth/damaged", move || {
        truth::judge_damaged(&recordings)
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/recordings");
    let children = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("testdata is there");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("testdata can be read").path())
            .collect();
        paths.sort();
        paths
    };
    let is_recording = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") && !name.ends_with(".truth.jsonl")
    };
    let cases = children(&root);
    let files = cases.iter().flat_map(|case| children(case));
    files.filter(is_recording).collect()
}

/// `02-gate/1.37`.
fn name(file: &Path) -> String {
    let case = file.parent().and_then(Path::file_name).unwrap_or_default();
    let version = file.file_stem().unwrap_or_default();
    format!("{}/{}", case.to_string_lossy(), version.to_string_lossy())
}

/// What `watch --replay FILE -o json` prints.
fn replay(file: &Path) -> String {
    let words = ["kubectl-startorder", "watch", "-o", "json", "--replay"].map(Into::into);
    let words = words.into_iter().chain([file.as_os_str().to_owned()]);
    let Command::Watch(args) = Cli::parse_from(words).command else {
        panic!("asked for watch");
    };
    let mut printed = Vec::new();
    watch::run(&args, &mut printed, &mut std::io::sink()).expect("a whole recording");
    String::from_utf8(printed).expect("JSON is text")
}

fn read(file: &Path) -> (Timeline, Vec<Line>) {
    let text = fs::read(file).expect("testdata can be read");
    let reader = Reader::new(name(file), text.as_slice()).expect("a recording");
    let timeline = Timeline::of_recording(&reader.header);
    let lines = reader.map(|line| line.expect("a line of a recording"));
    (timeline, lines.collect())
}

fn folded(file: &Path) -> Vec<PodTimeline> {
    folded_after(file, |lines| lines)
}

fn folded_after(file: &Path, change: impl Fn(Vec<Line>) -> Vec<Line>) -> Vec<PodTimeline> {
    let (mut timeline, lines) = read(file);
    let lines = change(lines);
    lines.iter().for_each(|line| timeline.push(line));
    timeline.pods()
}

fn constraints(pod: &PodTimeline) -> Vec<Constraint> {
    let version = pod.version.unwrap_or(KubeVersion::NEWEST);
    judge::plan(&pod.workload, version, Catalog::built_in()).constraints(pod.template())
}

fn matches_snapshot(file: &Path) -> Result<(), Failed> {
    let expected = file.with_extension("out");
    let printed = replay(file);
    if std::env::var("SNAPSHOTS").is_ok_and(|mode| mode == "overwrite") {
        return Ok(fs::write(expected, printed)?);
    }
    snapbox::assert_data_eq!(printed, snapbox::Data::read_from(&expected, None).raw());
    Ok(())
}

/// What the kubelet enforces was never seen broken.
fn keeps_the_kubelets_promises(file: &Path) -> Result<(), Failed> {
    for pod in folded(file) {
        for judgement in verdict::judge(&pod, &constraints(&pod)) {
            let is_enforced = judgement.constraint.basis == Basis::Enforced;
            if is_enforced && judgement.verdict == Verdict::Violated {
                return Err(format!("{judgement:?}").into());
            }
        }
    }
    Ok(())
}

/// A recording with the allow list and a plan tells the same as the full one.
fn tells_the_same_without_secrets(file: &Path) -> Result<(), Failed> {
    let (timeline, mut lines) = read(file);
    let first = lines.first().expect("a pod came with a line").at;
    lines.extend(folded(file).into_iter().map(|pod| {
        let plan = PlanLine {
            constraints: constraints(&pod),
            uid: pod.uid,
        };
        Line {
            at: first,
            change: Change::Plan(plan),
        }
    }));
    let allow = Allow {
        annotations: &[],
        words: &|_| Vec::new(),
    };
    let folder = tempfile(file);
    let header = timeline.header().clone();
    let mut written = Vec::new();
    let mut writer = Writer::new(&mut written, Keep::Allowed(allow), &header)?;
    for line in &lines {
        writer.write(line)?;
    }
    let text = String::from_utf8(written)?;
    for secret in [
        "DELAY\",\"value",
        "sleep 3600",
        "/entrypoint",
        "not found",
        "refused",
    ] {
        assert!(!text.contains(secret), "{secret} was written");
    }
    fs::write(&folder, text)?;
    snapbox::assert_data_eq!(replay(&folder), snapbox::Data::text(replay(file)).raw());
    Ok(())
}

fn tempfile(file: &Path) -> PathBuf {
    let name = name(file).replace('/', "-");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.jsonl"))
}

/// After every line the picture can be asked for, and no start that was told is taken back.
fn never_takes_back(file: &Path) -> Result<(), Failed> {
    let (mut timeline, lines) = read(file);
    let mut told = truth::Starts::new();
    for line in &lines {
        timeline.push(line);
        let now = truth::starts(&timeline.pods());
        if let Some(lost) = told.iter().find(|start| !now.contains(*start)) {
            return Err(format!("told and taken back: {lost:?} at {}", line.at).into());
        }
        told = now;
    }
    Ok(())
}
