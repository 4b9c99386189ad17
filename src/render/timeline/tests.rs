//! The pictures of the recordings at the moments that the design names.

use super::{Lines, Scene, Stage, View, picture};
use crate::catalog::Catalog;
use crate::cmd::watch::shown;
use crate::plan::Event;
use crate::render::Style;
use crate::timeline::{Change, Line, Reader, Stream, Timeline};
use jiff::{SignedDuration, Timestamp};
use std::fs::File;
use std::io::BufReader;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

const UNICODE: Style = Style {
    color: false,
    ascii: false,
};

fn view(width: usize) -> View {
    View {
        width,
        rows: None,
        style: UNICODE,
        has_keys: false,
    }
}

/// A recording's lines, and the version of its kubelet.
fn recording(case: &str) -> (Vec<Line>, Option<String>) {
    let path = format!("{TESTDATA}/recordings/{case}/1.37.jsonl");
    let file = File::open(&path).expect("a recording");
    let mut reader = Reader::new(path, BufReader::new(file)).expect("a header");
    let lines: Result<Vec<Line>, _> = reader.by_ref().collect();
    (lines.expect("lines"), reader.header.kubernetes)
}

/// The recordings of the newest kubelet.
fn cases() -> Vec<String> {
    let entries = std::fs::read_dir(format!("{TESTDATA}/recordings")).expect("recordings");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("a folder")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// The whole recording.
fn ended(case: &str) -> Scene {
    let (lines, kubernetes) = recording(case);
    let last = lines.last().expect("a line").at;
    scene(&lines, last, kubernetes, Stage::End)
}

/// The recording as it was known so many milliseconds after the scheduling.
fn at(case: &str, ms: i64, stage: Stage) -> Scene {
    let (lines, kubernetes) = recording(case);
    let whole = timeline(&lines, Timestamp::MAX);
    let pod = whole.pods().into_iter().next().expect("a pod");
    let zero = pod.pod_event(Event::Scheduled).and_then(|own| own.best());
    let now = zero.expect("scheduled") + SignedDuration::from_millis(ms);
    scene(&lines, now, kubernetes, stage)
}

fn timeline(lines: &[Line], now: Timestamp) -> Timeline {
    let mut timeline = Timeline::default();
    for line in lines.iter().filter(|line| line.at <= now) {
        timeline.push(line);
    }
    timeline
}

fn scene(lines: &[Line], now: Timestamp, kubernetes: Option<String>, stage: Stage) -> Scene {
    let version = kubernetes
        .as_deref()
        .and_then(crate::pod::KubeVersion::reported);
    let mut timeline = Timeline::new(version);
    for line in lines.iter().filter(|line| line.at <= now) {
        timeline.push(line);
    }
    Scene {
        pods: timeline
            .pods()
            .into_iter()
            .map(|pod| shown(pod, Catalog::built_in()))
            .collect(),
        title: None,
        kubernetes,
        now,
        stage,
    }
}

fn is_screen(name: &str, lines: &[String], width: usize) {
    let wide = lines
        .iter()
        .find(|line| crate::render::wrap::width(line) > width);
    assert_eq!(wide, None, "{name} is wider than {width} columns");
    let path = format!("{TESTDATA}/screens/watch-{name}.out");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let expected = snapbox::Data::read_from(path.as_ref(), None);
    snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .eq(snapbox::Data::text(text), expected);
}

#[test]
fn a_gate_live_and_at_its_end() {
    let live = |ms, has_keys| {
        let view = View {
            has_keys,
            ..view(80)
        };
        picture(&at("02-gate", ms, Stage::Live), &view)
    };
    is_screen("02-300ms", &live(300, true), 80);
    is_screen("02-1s", &live(1_000, true), 80);
    is_screen("02-3s", &live(3_000, true), 80);
    let end = at("02-gate", 5_400, Stage::End);
    is_screen("02", &picture(&end, &view(80)), 80);
    is_screen("02-60", &picture(&end, &view(60)), 60);
    let ascii = Style {
        color: false,
        ascii: true,
    };
    let lines = picture(
        &end,
        &View {
            style: ascii,
            ..view(80)
        },
    );
    assert!(lines.concat().is_ascii());
    is_screen("02-ascii", &lines, 80);
}

#[test]
fn nothing_holds_the_app_live_and_at_its_end() {
    let live = at("01-no-gate", 200, Stage::Live);
    is_screen("01-200ms", &picture(&live, &view(80)), 80);
    is_screen("01", &picture(&ended("01-no-gate"), &view(80)), 80);
}

#[test]
fn init_containers_that_poll() {
    let live = |ms| picture(&at("13-init-waits", ms, Stage::Live), &view(80));
    is_screen("13-4s", &live(4_000), 80);
    is_screen("13-8s", &live(8_200), 80);
    is_screen("13", &picture(&ended("13-init-waits"), &view(80)), 80);
}

#[test]
fn a_gate_that_gives_up() {
    let live = at("04-gate-fails", 5_000, Stage::Live);
    is_screen("04-5s", &picture(&live, &view(80)), 80);
    let end = at("04-gate-fails", 45_000, Stage::End);
    is_screen("04-45s", &picture(&end, &view(80)), 80);
}

#[test]
fn a_hook_that_never_returns() {
    let live = |ms| picture(&at("29-gate-hangs", ms, Stage::Live), &view(80));
    is_screen("29-19s", &live(19_000), 80);
    is_screen("29-34s", &live(34_000), 80);
    let stuck = live(65_000).join("\n");
    assert!(stuck.contains("deletion waits"), "{stuck}");
}

#[test]
fn a_crash_that_a_gate_would_have_saved() {
    is_screen("16", &picture(&ended("16-app-crash"), &view(80)), 80);
}

#[test]
fn a_shutdown_is_a_picture_of_its_own() {
    is_screen("23", &picture(&ended("23-shutdown"), &view(80)), 80);
}

#[test]
fn events_that_were_dropped() {
    let end = ended("32-twelve-containers");
    is_screen("32", &picture(&end, &view(80)), 80);
}

#[test]
fn three_replicas_have_a_lane_each() {
    let live = at("26-deployment", 3_000, Stage::Live);
    is_screen("26-3s", &picture(&live, &view(80)), 80);
    is_screen("26", &picture(&ended("26-deployment"), &view(80)), 80);
}

#[test]
fn more_pods_than_rows_are_a_table() {
    let live = at("26-deployment", 3_000, Stage::Live);
    let low = View {
        rows: Some(5),
        ..view(80)
    };
    is_screen("26-table", &picture(&live, &low), 80);
}

#[test]
fn colours_change_no_character() {
    let end = at("04-gate-fails", 45_000, Stage::End);
    let plain = picture(&end, &view(80));
    let style = Style {
        color: true,
        ascii: false,
    };
    let coloured = picture(&end, &View { style, ..view(80) });
    assert!(
        coloured.concat().contains("\u{1b}[31"),
        "red for the violated verdict"
    );
    let bare: Vec<String> = coloured.iter().map(|line| without_escapes(line)).collect();
    assert_eq!(bare, plain);
}

fn without_escapes(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    bare
}

#[test]
fn every_recording_can_be_drawn_at_any_moment() {
    for case in cases() {
        let (lines, kubernetes) = recording(&case);
        let mut told = Lines::new(view(80));
        for line in lines.iter().step_by(5) {
            let live = scene(&lines, line.at, kubernetes.clone(), Stage::Live);
            let narrow = picture(&live, &view(60));
            let is_in_place = |line: &String| crate::render::wrap::width(line) <= 80;
            assert!(narrow.iter().all(is_in_place), "{case}: {narrow:#?}");
            told.update(&live);
        }
        let end = ended(&case);
        let wide = picture(&end, &view(120));
        assert!(!wide.is_empty() && wide.iter().all(|line| line.trim_end() == line));
        told.finish(&end);
        assert_eq!(told.finish(&end), told.finish(&end), "{case}: told twice");
    }
}

#[test]
fn rows_stay_where_they_are_while_live() {
    let (lines, kubernetes) = recording("12-native-two");
    let names = |line: &Line| -> Vec<String> {
        let live = scene(&lines, line.at, kubernetes.clone(), Stage::Live);
        let drawn = picture(&live, &view(80));
        let rows = drawn.iter().skip(2).take(7);
        rows.map(|row| row.split(' ').next().unwrap_or_default().to_owned())
            .collect()
    };
    let first = names(&lines[0]);
    assert_eq!(first.len(), 7);
    for line in &lines {
        assert_eq!(names(line), first, "at {}", line.at);
    }
}

#[test]
fn an_interrupted_watch_is_a_gap_through_all_rows() {
    let (mut lines, kubernetes) = recording("02-gate");
    let last = lines.pop().expect("a status");
    let until = last.at - SignedDuration::from_millis(1_200);
    let is_before = |line: &Line| line.at < until;
    let before = lines.iter().filter(|line| is_before(line)).count();
    let relist = Line {
        at: until,
        change: Change::Relist(Stream::Events),
    };
    lines.insert(before, relist);
    let at = last.at;
    lines.push(last);
    let end = picture(&scene(&lines, at, kubernetes, Stage::End), &view(80));
    assert!(end[1].contains("gap"), "{end:#?}");
    let rows = &end[2..6];
    assert!(rows.iter().all(|row| row.contains('░')), "{end:#?}");
}

#[test]
fn a_wait_in_a_log_is_told_again_ever_more_rarely() {
    let (lines, kubernetes) = recording("29-gate-hangs");
    let mut told = Lines::new(view(80));
    let mut again = Vec::new();
    let begun = lines[0].at;
    let quiet = lines
        .iter()
        .filter(|line| line.at < begun + SignedDuration::from_secs(5));
    let quiet: Vec<Line> = quiet.cloned().collect();
    told.update(&scene(
        &quiet,
        begun + SignedDuration::from_secs(1),
        kubernetes.clone(),
        Stage::Live,
    ));
    while let Some(due) = told
        .due()
        .filter(|due| *due < begun + SignedDuration::from_secs(200))
    {
        let live = scene(&quiet, due, kubernetes.clone(), Stage::Live);
        again.extend(told.update(&live));
    }
    let ages: Vec<&str> = again
        .iter()
        .filter_map(|line| line.split("postStart, ").nth(1))
        .collect();
    assert_eq!(
        ages,
        [
            "10.0 s so far",
            "30.0 s so far",
            "1m0s so far",
            "2m0s so far",
            "3m0s so far"
        ]
    );
}

#[test]
fn a_line_is_told_once_however_often_it_is_asked_for() {
    let (lines, kubernetes) = recording("13-init-waits");
    let mut told = Lines::new(view(80));
    let mut all = Vec::new();
    for line in lines.iter().chain(&lines) {
        all.extend(told.update(&scene(&lines, line.at, kubernetes.clone(), Stage::Live)));
    }
    let mut sorted = all.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), all.len(), "{all:#?}");
}
