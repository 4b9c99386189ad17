//! `watch -o lines`: one line an instant, for pipes, logs and screen readers. A line is never
//! rewritten, so an instant is told once it is certain enough, and only once.

use super::instants::{Entry, Key, entries};
use super::picture::View;
use super::rows::Frame;
use super::scene::{Scene, Shown, Stage};
use super::seconds::{Round, logged, running};
use super::verdicts;
use super::waiting::{Cause, Waiting, waiting};
use super::words::at_most;
use crate::plan::Event;
use crate::render::wrap::{on_one_line, width};
use crate::timeline::verdict::Verdict;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A bound may become sharper by the next event: so long a line waits for it.
const SETTLING: SignedDuration = SignedDuration::from_secs(1);

/// The column in which it is told how an instant is known.
const SOURCE: usize = 69;

/// What was told, so that nothing is told twice.
#[derive(Clone, Debug)]
pub struct Lines {
    view: View,
    told: BTreeSet<Key>,
    waits: BTreeMap<String, Repeated>,
    due: Option<Timestamp>,
}

/// A wait, and how often it was told that it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repeated {
    since: Timestamp,
    times: i32,
}

impl Repeated {
    /// After 10 s, 30 s and a minute, then every minute.
    fn next(self) -> Timestamp {
        let seconds = match self.times {
            0 => 10,
            1 => 30,
            times => 60 * i64::from(times - 1),
        };
        let after = SignedDuration::from_secs(seconds);
        self.since.checked_add(after).unwrap_or(Timestamp::MAX)
    }
}

impl Lines {
    /// Nothing told yet.
    pub fn new(view: View) -> Lines {
        Lines {
            view,
            told: BTreeSet::new(),
            waits: BTreeMap::new(),
            due: None,
        }
    }

    /// The moment from which on there is something to tell even if nothing more arrives.
    pub fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// The lines for what is new and certain enough.
    pub fn update(&mut self, scene: &Scene) -> Vec<String> {
        self.due = None;
        let mut lines = Vec::new();
        for shown in &scene.pods {
            lines.extend(self.instants(scene, shown, Some(SETTLING)));
            lines.extend(self.repeated(scene, shown));
        }
        lines
    }

    /// Everything that is left, and the verdicts.
    pub fn finish(&mut self, scene: &Scene) -> Vec<String> {
        let mut lines = Vec::new();
        for shown in &scene.pods {
            lines.extend(self.instants(scene, shown, None));
        }
        for shown in &scene.pods {
            lines.extend(verdict_lines(scene, shown, &self.view));
        }
        lines
    }

    fn instants(
        &mut self,
        scene: &Scene,
        shown: &Shown,
        settling: Option<SignedDuration>,
    ) -> Vec<String> {
        let frame = frame(scene, shown, &self.view);
        let mut new = entries(&frame);
        new.retain(|entry| !self.told.contains(&entry.key));
        // The event that a pod was scheduled may come before the pod that names its node.
        let lacks_node =
            |entry: &Entry| shown.pod.node.is_none() && entry.key.2 == Event::Scheduled.word();
        let settled = |entry: &Entry| {
            let deadline = settling.and_then(|settling| entry.told_at.checked_add(settling).ok());
            let is_final = entry.is_exact && !lacks_node(entry);
            is_final || deadline.is_none_or(|deadline| deadline <= scene.now)
        };
        // What lies before something certain does not change its place any more.
        let ready = new.iter().rposition(settled).map_or(0, |last| last + 1);
        let waiting = new.split_off(ready);
        let deadline = waiting
            .iter()
            .filter_map(|entry| entry.told_at.checked_add(SETTLING).ok());
        self.note_due(deadline.min());
        let name = name_column(scene);
        new.into_iter()
            .map(|entry| {
                let line = line(&frame, &entry, &owner(scene, shown, &entry.name), name);
                self.told.insert(entry.key);
                line
            })
            .collect()
    }

    fn note_due(&mut self, at: Option<Timestamp>) {
        self.due = match (self.due, at) {
            (Some(due), Some(at)) => Some(due.min(at)),
            (due, at) => due.or(at),
        };
    }

    /// A wait that goes on is told again, so that a log never looks dead.
    fn repeated(&mut self, scene: &Scene, shown: &Shown) -> Vec<String> {
        let uid = &shown.pod.uid;
        let Some(waiting) = waiting(shown) else {
            self.waits.remove(uid);
            return Vec::new();
        };
        let known = self.waits.get(uid).copied();
        let mut wait = known
            .filter(|known| known.since == waiting.since)
            .unwrap_or(Repeated {
                since: waiting.since,
                times: 0,
            });
        let mut lines = Vec::new();
        let mut last = None;
        while wait.next() <= scene.now {
            last = Some(wait.next());
            wait.times += 1;
        }
        if let Some(at) = last {
            lines.push(still(scene, shown, &waiting, at, &self.view));
        }
        self.waits.insert(uid.clone(), wait);
        self.note_due(Some(wait.next()));
        lines
    }
}

fn frame<'a>(scene: &Scene, shown: &'a Shown, view: &View) -> Frame<'a> {
    let zero = shown.zero(scene.now);
    Frame {
        shown,
        waiting: None,
        axis: super::axis::Axis::live(zero, zero, 1),
        now: scene.now,
        stage: Stage::End,
        style: view.style,
    }
}

fn owner(scene: &Scene, shown: &Shown, name: &str) -> String {
    match scene.pods.len() {
        0 | 1 => name.to_owned(),
        _ if name == "pod" => shown.pod.name.clone(),
        _ => format!("{}/{name}", shown.pod.name),
    }
}

/// The width of the names: the longest one's.
fn name_column(scene: &Scene) -> usize {
    let names = scene.pods.iter().flat_map(|shown| {
        let containers = shown.pod.containers.iter();
        containers.map(|own| width(&owner(scene, shown, &own.name)))
    });
    names.max().unwrap_or(0).max(7)
}

/// `= 0.191 s  sidecar  started; its postStart begins: /entrypoint wait  event name`
fn line(frame: &Frame<'_>, entry: &Entry, owner: &str, name: usize) -> String {
    let (sign, round) = match entry.is_exact {
        true => ("=", Round::Nearest),
        false => (at_most(frame.style), Round::Up),
    };
    let at = logged(frame.since_zero(entry.told_at), round);
    told(frame, sign, &at, (owner, name), &entry.text, entry.source)
}

fn told(
    frame: &Frame<'_>,
    sign: &str,
    at: &str,
    (owner, name): (&str, usize),
    text: &str,
    source: &str,
) -> String {
    let sign = match frame.style.ascii {
        true => format!("{sign:<2}"),
        false => sign.to_owned(),
    };
    let gap = " ".repeat(name.saturating_sub(width(owner)));
    let left = format!("{sign} {at:>7}  {owner}{gap}  {}", on_one_line(text));
    let gap = " ".repeat(SOURCE.saturating_sub(width(&left)).max(2));
    format!("{left}{gap}{source}")
}

fn still(
    scene: &Scene,
    shown: &Shown,
    waiting: &Waiting<'_>,
    at: Timestamp,
    view: &View,
) -> String {
    let frame = frame(scene, shown, view);
    let age = running(at.duration_since(waiting.since));
    let own = waiting.container().map_or("pod", |own| own.name.as_str());
    let (who, what) = match (waiting.cause, waiting.held.last()) {
        (Cause::PostStart(..), Some(held)) => (*held, format!("{own}'s postStart")),
        (Cause::StartupProbe(..), Some(held)) => (*held, format!("{own}'s startupProbe")),
        (Cause::Run(..), Some(held)) => (*held, own.to_owned()),
        (Cause::Pull(_), Some(held)) => (*held, format!("{own}'s image")),
        (Cause::BackOff(..) | Cause::Trouble(..), Some(held)) => (*held, own.to_owned()),
        (Cause::Schedule, _) => ("pod", "a node".to_owned()),
        (Cause::Sandbox, _) => ("pod", "its sandbox or volumes".to_owned()),
        (Cause::Pull(_), None) => (own, "its image".to_owned()),
        (Cause::PostStart(..), None) => (own, "its postStart".to_owned()),
        (Cause::StartupProbe(..), None) => (own, "its startupProbe".to_owned()),
        (Cause::Run(..), None) => ("pod", own.to_owned()),
        (Cause::BackOff(..), None) => (own, "its next try".to_owned()),
        (Cause::Trouble(_, reason), None) => (own, format!("the end of {reason}")),
        (Cause::Readiness(_), _) => ("pod", format!("{own} to be ready")),
        (Cause::ReadinessGate, _) => ("pod", "a readiness gate".to_owned()),
        (Cause::HookBeforeDeletion(_), _) => ("pod", format!("{own}'s postStart, to be deleted")),
        (Cause::Stop, _) => ("pod", "its containers to end".to_owned()),
    };
    let text = format!("still waits for {what}, {age} so far");
    let at = logged(frame.since_zero(at), Round::Nearest);
    let owner = owner(scene, shown, who);
    told(&frame, "=", &at, (&owner, name_column(scene)), &text, "")
        .trim_end()
        .to_owned()
}

/// `held       app started after sidecar's postStart had returned`
fn verdict_lines(scene: &Scene, shown: &Shown, view: &View) -> Vec<String> {
    let frame = frame(scene, shown, view);
    let decided = shown
        .judgements
        .iter()
        .filter(|judgement| judgement.verdict != Verdict::Pending);
    let lines = decided.map(|judgement| {
        let sentence = verdicts::sentence(&frame, judgement);
        let sentence = match scene.pods.len() {
            0 | 1 => sentence,
            _ => format!("{}: {sentence}", shown.pod.name),
        };
        format!("{:<9}  {sentence}", judgement.verdict.word())
    });
    lines.collect()
}
