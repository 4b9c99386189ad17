//! Several pods: one lane a pod with what its start waits for; at the end the slowest one is opened.

use super::axis::Axis;
use super::block::lay_out;
use super::line::{Line, Tag};
use super::picture::{Chart, View, axis_line, chart_columns, last_instant, name_column, row_line};
use super::rows::{Frame, Row};
use super::scene::{Scene, Shown, Stage};
use super::seconds::{Round, age, moment, range, running, took};
use super::strip::{End, Strip};
use super::verdicts;
use super::waiting::{Cause, waiting};
use crate::pod::Role as Kind;
use crate::render::Role;
use crate::render::wrap::width;
use crate::timeline::{Attempt, ContainerTimeline, Hook, Instant};
use jiff::{SignedDuration, Timestamp};

/// The lanes, the slowest pod in full, and the verdicts of all.
pub(super) fn lanes(scene: &Scene, view: &View) -> Vec<String> {
    let names = names(scene, view);
    let start = name_column(names.iter().map(|name| width(name)), view);
    let longest = scene.pods.iter().map(|shown| length(scene, shown)).max();
    let longest = longest.unwrap_or_default();
    let mut order: Vec<usize> = (0..scene.pods.len()).collect();
    if scene.stage == Stage::End {
        let ready = |at: &usize| scene.pods.get(*at).and_then(start_length);
        order.sort_by_key(|at| std::cmp::Reverse(ready(at).unwrap_or(SignedDuration::MAX)));
    }
    let mut lines = vec![header(scene, longest, view)];
    for (place, at) in order.iter().enumerate() {
        let shown = &scene.pods[*at];
        let frame = frame(scene, shown, longest, chart_columns(start, view), view);
        if place == 0 {
            lines.push(axis_line(&frame, start));
        }
        let (strip, right) = (lane(&frame), result(&frame));
        lines.push(row_line(&Row::new(&names[*at], strip, right), start, view));
    }
    if let (Stage::End, Some(slowest)) = (scene.stage, order.first()) {
        lines.push(String::new());
        lines.extend(opened(scene, *slowest, &names, view));
    }
    let below = below(scene, view);
    if !below.is_empty() {
        lines.push(String::new());
        lines.extend(lay_out(&below, view.columns(), view.style));
    }
    lines
}

/// The names without what all of them begin with: `…-x2v8q`.
fn names(scene: &Scene, view: &View) -> Vec<String> {
    let ellipsis = view.style.glyphs().ellipsis;
    let all: Vec<&str> = scene.pods.iter().map(|own| own.pod.name.as_str()).collect();
    let shared = shared(&all);
    let short = |name: &&str| match shared {
        0 => (*name).to_owned(),
        shared => format!("{ellipsis}{}", &name[shared - 1..]),
    };
    all.iter().map(short).collect()
}

/// How many bytes all names share at their beginning, up to and with a dash.
fn shared(names: &[&str]) -> usize {
    let Some(first) = names.first() else { return 0 };
    let dashes = first.match_indices('-').map(|(at, _)| at + 1);
    let is_shared = |end: &usize| names.iter().all(|name| name.starts_with(&first[..*end]));
    dashes.filter(is_shared).max().unwrap_or(0)
}

fn start_length(shown: &Shown) -> Option<SignedDuration> {
    let ready = shown.ready()?.best()?;
    Some(ready.duration_since(shown.zero(ready)))
}

/// How long a pod's lane is.
fn length(scene: &Scene, shown: &Shown) -> SignedDuration {
    let last = match last_instant(shown) {
        Some(last) if scene.stage == Stage::End && waiting(shown).is_none() => last,
        Some(_) | None => scene.now,
    };
    last.duration_since(shown.zero(scene.now))
}

fn frame<'a>(
    scene: &Scene,
    shown: &'a Shown,
    longest: SignedDuration,
    columns: usize,
    view: &View,
) -> Frame<'a> {
    let zero = shown.zero(scene.now);
    let last = zero.checked_add(longest).unwrap_or(scene.now);
    let axis = match scene.stage {
        Stage::Live => Axis::live(zero, last, columns),
        Stage::End => Axis::fitting(zero, last, columns),
    };
    Frame {
        shown,
        waiting: None,
        axis,
        now: scene.now,
        stage: scene.stage,
        style: view.style,
    }
}

/// `deploy/sample · default · sample-66588586f6 · v1.37.2       3/3 ready  4.8 s`
fn header(scene: &Scene, longest: SignedDuration, view: &View) -> String {
    let ready = scene.pods.iter().filter(|own| own.pod.is_ready).count();
    let right = format!("{ready}/{} ready  {}", scene.pods.len(), age(longest));
    let dot = format!(" {} ", view.style.glyphs().dot);
    let mut parts = match (&scene.title, owner(scene)) {
        (Some(title), _) => vec![title.clone()],
        (None, Some((owner, _))) => vec![owner],
        (None, None) => vec![format!("{} pods", scene.pods.len())],
    };
    parts.extend(scene.pods.first().map(|own| own.pod.namespace.clone()));
    parts.extend(owner(scene).map(|(_, set)| set));
    parts.extend(scene.kubernetes.clone());
    let left = parts.join(&dot);
    let gap = view
        .columns()
        .saturating_sub(width(&left) + width(&right))
        .max(2);
    format!("{left}{}{right}", " ".repeat(gap))
}

/// The Deployment of the pods and its ReplicaSet, by the label that only a Deployment sets.
fn owner(scene: &Scene) -> Option<(String, String)> {
    let first = scene.pods.first()?;
    let hash = first.pod.template().labels.get("pod-template-hash")?;
    let (set, _) = first.pod.name.rsplit_once('-')?;
    let name = set.strip_suffix(hash.as_str())?.strip_suffix('-')?;
    let is_of_set = |own: &Shown| {
        let rest = own.pod.name.strip_prefix(set);
        rest.is_some_and(|rest| rest.starts_with('-'))
    };
    let all = scene.pods.iter().all(is_of_set);
    all.then(|| (format!("deploy/{name}"), set.to_owned()))
}

/// A pod's whole start as one bar, with the brackets of what it waited for.
fn lane(frame: &Frame<'_>) -> Strip {
    let (axis, bars) = (frame.axis, frame.bars());
    let mut strip = frame.strip();
    let ready = frame.shown.ready().and_then(Instant::best);
    let until = ready.unwrap_or(frame.now);
    if let Some((from, until)) = axis.columns_of(axis.zero, until) {
        strip.bar(from, until, bars.works, Role::Plain);
    }
    for gate in gates(frame) {
        if let Some((from, until)) = axis.columns_of(gate.from, gate.until) {
            strip.gate(from, until.max(from + 1), &gate.labels, gate.end);
        }
    }
    if let Some(ready) = ready
        && let Some((from, until)) = axis.columns_of(ready, frame.going_on())
    {
        strip.bar(from, until, bars.runs, Role::Headline);
        strip.mark(until.saturating_sub(1), bars.goes_on, Role::Headline);
    }
    strip
}

struct Gate {
    from: Timestamp,
    until: Timestamp,
    labels: Vec<String>,
    end: End,
}

fn gates(frame: &Frame<'_>) -> Vec<Gate> {
    let current = frame.shown.current();
    let containers = frame.shown.pod.containers.iter();
    let attempts = containers.flat_map(|container| {
        let attempts = container.in_initialization(current);
        attempts.map(move |attempt| (container, attempt))
    });
    attempts
        .filter_map(|(container, attempt)| gate(frame, container, attempt))
        .collect()
}

/// What the rest of the pod waited for in one start.
fn gate(frame: &Frame<'_>, container: &ContainerTimeline, attempt: &Attempt) -> Option<Gate> {
    let from = attempt.started.as_ref()?.best()?;
    let (until, end, what) = match (&attempt.hook, container.role) {
        (Some(Hook::Running { .. }), _) => (frame.now, End::Open, "postStart"),
        (Some(Hook::Failed { when, .. }), _) => (when.best()?, End::Failed, "postStart"),
        (_, Kind::Init) => match &attempt.exit {
            None => (frame.now, End::Open, "runs"),
            Some((exit, status)) if status.code == Some(0) => (exit.best()?, End::Closed, "runs"),
            Some((exit, _)) => (exit.best()?, End::Failed, "runs"),
        },
        (_, Kind::Sidecar) if attempt.startup_passed.is_some() => {
            let passed = attempt.startup_passed.as_ref()?.best()?;
            (passed, End::Closed, "startupProbe")
        }
        (Some(Hook::Returned { when, .. }), _) => (when.best()?, End::Closed, "postStart"),
        (None, Kind::Sidecar | Kind::App | Kind::Ephemeral) => return None,
    };
    let labels = vec![format!("{} {what}", container.name), what.to_owned()];
    Some(Gate {
        from,
        until,
        labels,
        end,
    })
}

/// When it was ready, or what it waits for.
fn result(frame: &Frame<'_>) -> (String, Role) {
    let shown = frame.shown;
    if let Some(ready) = shown.ready().and_then(Instant::best) {
        let at = moment(frame.since_zero(ready), Round::Nearest);
        return match shown.pod.is_ready {
            true => (format!("ready {at}"), Role::Held),
            false => (shown.pod.state_words(), Role::Warning),
        };
    }
    let Some(waiting) = waiting(shown) else {
        return (shown.pod.state_words(), Role::Plain);
    };
    let age = running(frame.now.duration_since(waiting.since));
    let word = match waiting.cause {
        Cause::Schedule => "node",
        Cause::Sandbox => "sandbox",
        Cause::Pull(_) => "pull",
        Cause::PostStart(..) | Cause::HookBeforeDeletion(..) => "postStart",
        Cause::Run(..) => "init",
        Cause::StartupProbe(..) => "startup",
        Cause::BackOff(..) => return ("back-off".to_owned(), Role::Error),
        Cause::Trouble(_, reason) => return (reason.chars().take(16).collect(), Role::Error),
        Cause::Readiness(_) | Cause::ReadinessGate => "not ready",
        Cause::Stop => "stops",
    };
    (format!("{word} {age}"), Role::Plain)
}

/// The picture of one pod among several, without a row for the pod: its lane has told that.
fn opened(scene: &Scene, at: usize, names: &[String], view: &View) -> Vec<String> {
    let shown = &scene.pods[at];
    let waiting = waiting(shown);
    let chart = Chart::new(scene, shown, waiting.as_ref(), view);
    let dot = view.style.glyphs().dot;
    let node = shown.pod.node.as_ref();
    let node = node.map_or_else(String::new, |node| format!(" {dot} node {node}"));
    let mut lines = vec![format!("{}{node}", names[at])];
    lines.extend(chart.lines_without_pod(view));
    lines
}

/// The verdicts of all pods, equal ones counted, and how long the starts took.
fn below(scene: &Scene, view: &View) -> Vec<Line> {
    let mut counted: Vec<(Line, usize)> = Vec::new();
    for shown in &scene.pods {
        let frame = frame(scene, shown, length(scene, shown), 1, view);
        let told = verdicts::block(&frame).into_iter();
        for line in told.filter(|line| matches!(line.tag, Tag::Verdict(_))) {
            match counted.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => counted.push((line, 1)),
            }
        }
    }
    let total = scene.pods.len();
    let mut lines: Vec<Line> = counted
        .into_iter()
        .map(|(line, count)| Line {
            share: Some((count, total)),
            ..line
        })
        .collect();
    if scene.stage == Stage::End {
        lines.extend(ready_after(scene, view));
    }
    lines
}

/// `Ready after  min 4.74 s, median 4.79 s, max 4.84 s; postStart 4.09–4.13 s`
fn ready_after(scene: &Scene, view: &View) -> Option<Line> {
    let mut lengths: Vec<SignedDuration> = scene.pods.iter().filter_map(start_length).collect();
    lengths.sort_unstable();
    let (first, last) = (lengths.first()?, lengths.last()?);
    let told = |length: &SignedDuration| took(*length, Round::Nearest);
    let median = told(&lengths[lengths.len() / 2]);
    let mut text = format!(
        "Ready after  min {}, median {median}, max {}",
        told(first),
        told(last)
    );
    let mut hooks: Vec<SignedDuration> = scene.pods.iter().flat_map(hook_lengths).collect();
    hooks.sort_unstable();
    if let (Some(least), Some(most)) = (hooks.first(), hooks.last()) {
        let dash = view.style.glyphs().dash;
        let between = range(&told(least), &told(most), dash);
        text = format!("{text}; postStart {between}");
    }
    Some(Line::new(Tag::None, text))
}

/// How long the hooks of a pod's first start took.
fn hook_lengths(shown: &Shown) -> Vec<SignedDuration> {
    let containers = shown.pod.containers.iter();
    let starts = containers.filter_map(|own| own.in_initialization(1).next());
    let lengths = starts.filter_map(|start| match &start.hook {
        Some(Hook::Returned { when, .. }) => {
            Some(when.best()?.duration_since(start.started.as_ref()?.best()?))
        }
        Some(Hook::Failed { .. } | Hook::Running { .. }) | None => None,
    });
    lengths.collect()
}
