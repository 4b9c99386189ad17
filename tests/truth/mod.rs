//! Judges the milestones of a replay by the container runtime's own account.

use jiff::{SignedDuration, Timestamp};
use libtest_mimic::Failed;
use serde_json::Value;
use startorder::plan::Event;
use startorder::pod::{Action, Role};
use startorder::timeline::{Change, ChangeKind, Instant, Line, PodTimeline, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Pod, container, event, attempt.
type Key = (String, String, Event, u32);

/// The starts that a timeline tells of.
pub type Starts = BTreeSet<Key>;

const JUDGED: [Event; 4] = [
    Event::Started,
    Event::Exited,
    Event::PostStartReturned,
    Event::PostStartFailed,
];

/// Statuses have whole seconds, and the kubelet looks once a second: an honest interval may reach
/// so many seconds beyond the truth.
const LOOSE: SignedDuration = SignedDuration::from_secs(3);

/// The starts of pods that are told by now.
pub fn starts(pods: &[PodTimeline]) -> Starts {
    let all = pods.iter().flat_map(told);
    all.map(|(key, _)| key)
        .filter(|(_, _, event, _)| *event == Event::Started)
        .collect()
}

fn told(pod: &PodTimeline) -> BTreeMap<Key, Instant> {
    let mut told = BTreeMap::new();
    for observation in pod.milestones() {
        let milestone = observation.milestone;
        if let (Some(container), true) = (milestone.container, JUDGED.contains(&milestone.event)) {
            let key = (
                pod.name.clone(),
                container,
                milestone.event,
                observation.attempt,
            );
            told.insert(key, observation.when);
        }
    }
    told
}

/// Whose hooks the runtime can tell of: commands are run by it, requests and sleeps are not.
fn with_exec_hooks(pods: &[PodTimeline]) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for pod in pods {
        for container in &pod.template().containers {
            if matches!(container.post_start, Some(Action::Exec { .. })) {
                found.insert((pod.name.clone(), container.name.clone()));
            }
        }
    }
    found
}

/// What the runtime did, and for whom it told of a hook.
fn truth(file: &Path, hooked: &BTreeSet<(String, String)>) -> BTreeMap<Key, Timestamp> {
    let text = fs::read_to_string(file.with_extension("truth.jsonl")).expect("testdata");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let mut rows: Vec<Value> = lines.collect();
    rows.sort_by_key(|row| row["at"].as_str().map(str::to_owned));
    let mut found = BTreeMap::new();
    let mut attempts: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut hooks: BTreeMap<(String, String), Option<String>> = BTreeMap::new();
    for row in &rows {
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let owner = (word("pod"), word("container"));
        let at: Timestamp = word("at").parse().expect("a time");
        let attempt = attempts.entry(owner.clone()).or_default();
        let mut tell = |event, attempt: u32| {
            found.insert((owner.0.clone(), owner.1.clone(), event, attempt), at);
        };
        match word("what").as_str() {
            "start" => {
                *attempt += 1;
                tell(Event::Started, *attempt);
                hooks.insert(owner, None);
            }
            "exit" => tell(Event::Exited, *attempt),
            // The first command after a start is the postStart hook.
            "exec-start" if hooked.contains(&owner) => {
                if let Some(hook @ None) = hooks.get_mut(&owner) {
                    *hook = Some(word("exec"));
                }
            }
            "exec-exit" if hooks.get(&owner) == Some(&Some(word("exec"))) => {
                let event = match row["code"].as_i64() {
                    Some(0) => Event::PostStartReturned,
                    _ => Event::PostStartFailed,
                };
                tell(event, *attempt);
            }
            _ => {}
        }
    }
    found
}

/// Errors of estimates in milliseconds, by event and whether it is the first attempt.
type Errors = BTreeMap<(Event, bool), Vec<f64>>;

#[derive(Default)]
struct Judge {
    all: Errors,
    /// Under the newest kubelet: starts, and the hooks of app containers that are not the last.
    newest: BTreeMap<Event, Vec<f64>>,
    complaints: Vec<String>,
    missing: Vec<String>,
    total: usize,
}

/// Compares every recording with its truth, and prints the table of errors.
pub fn judge(recordings: &[PathBuf]) -> Result<(), Failed> {
    let mut judge = Judge::default();
    for file in recordings {
        judge.recording(file);
    }
    print(&judge.all)?;
    let complaints = judge.complaints.join("\n");
    assert!(complaints.is_empty(), "{complaints}");
    assert!(judge.total > 300, "{} instants only", judge.total);
    let (missing, total) = (judge.missing.len(), judge.total);
    assert!(
        missing * 50 <= total,
        "of {total} missing: {:?}",
        judge.missing
    );
    for (event, errors) in &mut judge.newest {
        errors.sort_by(f64::total_cmp);
        let (median, p90) = (quantile(errors, 5), quantile(errors, 9));
        assert!(median <= 10.0, "{event:?}: the median error is {median} ms");
        assert!(p90 <= 30.0, "{event:?}: one in ten is off by {p90} ms");
    }
    Ok(())
}

impl Judge {
    fn recording(&mut self, file: &Path) {
        let pods = super::folded(file);
        let case = super::name(file);
        let (truth, told) = (truth(file, &with_exec_hooks(&pods)), all_told(&pods));
        self.complaints.extend(contradictions(file, &pods));
        for (key, at) in &truth {
            self.total += 1;
            match told.get(key) {
                Some(when) => self.instant(&case, &pods, key, *at, when),
                None => self.missing.push(format!("{case}: {key:?}")),
            }
        }
    }

    fn instant(
        &mut self,
        case: &str,
        pods: &[PodTimeline],
        key: &Key,
        at: Timestamp,
        when: &Instant,
    ) {
        let (_, container, event, attempt) = key;
        let is_hook = !matches!(event, Event::Started | Event::Exited);
        let (Some(start), Some(end)) = (when.not_before, when.not_after) else {
            self.complaints.push(format!("{case}: {key:?}: no bounds"));
            return;
        };
        let is_loose = |reach: SignedDuration| reach > LOOSE;
        if is_loose(end.duration_since(at)) || !is_hook && is_loose(at.duration_since(start)) {
            self.complaints.push(format!(
                "{case}: {container} {event:?} {attempt}: {when:?} says nothing"
            ));
        }
        let Some(estimate) = when.estimate else {
            return;
        };
        let error = estimate.duration_since(at).abs().as_secs_f64() * 1000.0;
        self.all
            .entry((*event, *attempt == 1))
            .or_default()
            .push(error);
        let is_inferred = match event {
            Event::Started => true,
            Event::PostStartReturned => is_app_before_another(pods, key),
            _ => false,
        };
        if case.ends_with("/1.37") && is_inferred {
            self.newest.entry(*event).or_default().push(error);
        }
    }
}

fn all_told(pods: &[PodTimeline]) -> BTreeMap<Key, Instant> {
    pods.iter().flat_map(told).collect()
}

/// What is told and did not happen, or not then.
fn contradictions(file: &Path, pods: &[PodTimeline]) -> Vec<String> {
    let hooked = with_exec_hooks(pods);
    let (truth, told) = (truth(file, &hooked), all_told(pods));
    let case = super::name(file);
    let has_account = |(pod, container, event, _): &Key| {
        let owner = (pod.clone(), container.clone());
        // The runtime's account of 07 ends with the hook's first process.
        matches!(event, Event::Started | Event::Exited)
            || hooked.contains(&owner) && !case.starts_with("07-")
    };
    let invented = told
        .keys()
        .filter(|key| !truth.contains_key(*key) && has_account(key))
        .map(|key| format!("{case}: invented {key:?}"));
    let tolerance = SignedDuration::from_millis(1);
    let outside = truth.iter().filter_map(|(key, at)| {
        let when = told.get(key)?;
        let is_early = when.not_before.is_some_and(|start| *at < start - tolerance);
        let is_late = when.not_after.is_some_and(|end| *at > end + tolerance);
        let complaint = format!("{case}: {key:?}: {at} is not in {when:?}");
        (is_early || is_late).then_some(complaint)
    });
    invented.chain(outside).collect()
}

/// Lost events, coalesced statuses and clocks apart make intervals wider, never wrong.
pub fn judge_damaged(recordings: &[PathBuf]) -> Result<(), Failed> {
    let mut complaints = Vec::new();
    for file in recordings {
        for damage in Damage::ALL {
            let pods = super::folded_after(file, |lines| damage.done_to(lines));
            let found = contradictions(file, &pods).into_iter();
            complaints.extend(found.map(|complaint| format!("{damage:?}: {complaint}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

/// What can happen to a watch.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The kubelet's recorder lets so many events through, and drops the rest.
    EventsAfter(usize),
    /// Statuses are coalesced: of so many changes only the last is seen.
    StatusesCoalesced(usize),
    /// The watcher's clock is ahead by so many seconds.
    ClockAhead(i64),
    /// Nothing comes after so many lines.
    EndsAfter(usize),
}

impl Damage {
    const ALL: [Damage; 10] = [
        Damage::EventsAfter(0),
        Damage::EventsAfter(3),
        Damage::EventsAfter(8),
        Damage::EventsAfter(14),
        Damage::StatusesCoalesced(2),
        Damage::StatusesCoalesced(3),
        Damage::ClockAhead(30),
        Damage::ClockAhead(-30),
        Damage::EndsAfter(9),
        Damage::EndsAfter(17),
    ];

    fn done_to(self, lines: Vec<Line>) -> Vec<Line> {
        let (mut events, mut statuses) = (0, 0);
        let lines = lines.into_iter().enumerate();
        let kept = lines.filter_map(|(index, mut line)| {
            let is_kept = match (self, &line.change) {
                (
                    Damage::EventsAfter(most),
                    Change::Object {
                        stream: Stream::Events,
                        ..
                    },
                ) => {
                    events += 1;
                    events <= most
                }
                (
                    Damage::StatusesCoalesced(every),
                    Change::Object {
                        stream: Stream::Pods,
                        kind: ChangeKind::Modified,
                        ..
                    },
                ) => {
                    statuses += 1;
                    statuses % every == 0
                }
                (Damage::EndsAfter(most), _) => index < most,
                _ => true,
            };
            if let Damage::ClockAhead(seconds) = self {
                line.at += SignedDuration::from_secs(seconds);
            }
            is_kept.then_some(line)
        });
        kept.collect()
    }
}

fn is_app_before_another(pods: &[PodTimeline], (pod, container, ..): &Key) -> bool {
    let mut pods = pods.iter();
    let containers = pods
        .find(|known| known.name == *pod)
        .map(|pod| &pod.template().containers);
    let apps = containers
        .into_iter()
        .flatten()
        .filter(|container| container.role == Role::App);
    let mut after = apps.skip_while(|app| app.name != *container);
    after.next().is_some() && after.next().is_some()
}

fn quantile(sorted: &[f64], tenths: usize) -> f64 {
    sorted[(sorted.len() * tenths / 10).min(sorted.len() - 1)]
}

fn print(errors: &Errors) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "event               attempt     n  median ms   p90 ms   max ms"
    )?;
    for ((event, is_first), errors) in errors {
        let mut errors = errors.clone();
        errors.sort_by(f64::total_cmp);
        writeln!(
            out,
            "{:<20}{:<8}{:>5}{:>11.1}{:>9.1}{:>9.1}",
            event.word(),
            if *is_first { "first" } else { "later" },
            errors.len(),
            quantile(&errors, 5),
            quantile(&errors, 9),
            quantile(&errors, 10),
        )?;
    }
    Ok(())
}
