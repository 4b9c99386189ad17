//! The rows of one pod's picture: sandbox, containers in the kubelet's order, pod.

use super::axis::Axis;
use super::container::paint_container;
use super::glyphs::{Bars, bars};
use super::result;
use super::scene::{Shown, Stage};
use super::strip::Strip;
use super::waiting::{Cause, Waiting};
use crate::plan::Event;
use crate::render::{Role, Style};
use crate::timeline::{Instant, Observation};
use jiff::Timestamp;

/// Everything that a row is drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) shown: &'a Shown,
    pub(super) waiting: Option<&'a Waiting<'a>>,
    pub(super) axis: Axis,
    pub(super) now: Timestamp,
    pub(super) stage: Stage,
    pub(super) style: Style,
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) strip: Strip,
    /// What the row is about now, later its result.
    pub(super) right: String,
    pub(super) role: Role,
    /// It is the pod's own row.
    pub(super) is_pod: bool,
}

impl Row {
    pub(super) fn new(name: &str, strip: Strip, (right, role): (String, Role)) -> Row {
        Row {
            name: name.to_owned(),
            strip,
            right,
            role,
            is_pod: false,
        }
    }
}

impl Frame<'_> {
    pub(super) fn bars(&self) -> &'static Bars {
        bars(self.style.ascii)
    }

    pub(super) fn strip(&self) -> Strip {
        Strip::new(self.axis.columns, self.bars())
    }

    /// The column where a bar ends that goes on and that nobody waits for.
    pub(super) fn going_on(&self) -> Timestamp {
        match self.stage {
            Stage::Live => self.now,
            Stage::End => Timestamp::MAX,
        }
    }

    /// How long after 0 s.
    pub(super) fn since_zero(&self, at: Timestamp) -> jiff::SignedDuration {
        at.duration_since(self.axis.zero)
    }
}

/// With more containers than this only the containers have rows.
const CROWD: usize = 8;

/// The rows from top to bottom.
pub(super) fn rows(frame: &Frame<'_>) -> Vec<Row> {
    let pod = &frame.shown.pod;
    let is_crowd = pod.containers.len() > CROWD;
    let mut rows = Vec::new();
    if !is_crowd && !frame.shown.is_stopping() {
        rows.push(sandbox(frame));
    }
    let are_starts_short = result::are_starts_short(frame);
    rows.extend(frame.shown.in_order().into_iter().map(|container| {
        let mut strip = frame.strip();
        paint_container(frame, container, &mut strip);
        let right = result::container(frame, container, are_starts_short);
        Row::new(&container.name, strip, right)
    }));
    let has_news = frame.shown.ready().is_some() || pod.deletion.is_some();
    if !is_crowd && (has_news || frame.stage == Stage::End) {
        rows.push(pod_row(frame));
    }
    gaps(frame, &mut rows);
    rows
}

fn sandbox(frame: &Frame<'_>) -> Row {
    let mut strip = frame.strip();
    let zero = frame.axis.zero;
    let ready = frame.shown.pod.pod_event(Event::SandboxReady);
    let ready = ready.and_then(Instant::best);
    let is_scheduled = frame.shown.pod.pod_event(Event::Scheduled).is_some();
    let until = ready.unwrap_or(frame.now);
    if let Some((from, until)) = frame.axis.columns_of(zero, until) {
        let bars = frame.bars();
        let (character, role) = match is_scheduled {
            true => (bars.works, Role::Plain),
            false => (bars.waits, Role::Quiet),
        };
        strip.bar(from, until, character, role);
        if ready.is_none() {
            strip.mark(until.saturating_sub(1), bars.goes_on, role);
        }
    }
    Row::new("sandbox", strip, result::sandbox(frame, ready))
}

fn pod_row(frame: &Frame<'_>) -> Row {
    let pod = &frame.shown.pod;
    let mut strip = frame.strip();
    let bars = frame.bars();
    let is_flapping = is_flapping(frame);
    if is_flapping {
        readiness(frame, &mut strip);
    } else if let Some(ready) = frame.shown.ready().and_then(Instant::best)
        && let Some((column, _)) = frame.axis.columns_of(ready, ready)
    {
        strip.mark(column, bars.good, Role::Held);
    }
    if let Some(asked) = pod.deletion.as_ref().and_then(|own| own.asked.best()) {
        let is_held = frame
            .waiting
            .is_some_and(|waiting| matches!(waiting.cause, Cause::HookBeforeDeletion(..)));
        if is_held && let Some((from, until)) = frame.axis.columns_of(asked, frame.now) {
            strip.bar(from, until, bars.waits, Role::Quiet);
            strip.words(from + 1, until, Role::Quiet, &["delete waits".to_owned()]);
        }
        strip.mark(frame.axis.column(asked), bars.deleting, Role::Warning);
    }
    if let Some(gone) = pod.pod_event(Event::Deleted).and_then(Instant::best) {
        strip.mark(frame.axis.column(gone), bars.gone, Role::Plain);
    }
    let name = if is_flapping { "pod ready" } else { "pod" };
    Row {
        is_pod: true,
        ..Row::new(name, strip, result::pod(frame))
    }
}

fn changes<'a>(frame: &Frame<'a>) -> impl Iterator<Item = &'a Observation> {
    frame
        .shown
        .pod
        .observations
        .iter()
        .filter(|observation| matches!(observation.milestone.event, Event::Ready | Event::NotReady))
}

/// Whether the pod was ready and is no longer, or is again, while nobody stops it.
fn is_flapping(frame: &Frame<'_>) -> bool {
    let lost = changes(frame).any(|change| change.milestone.event == Event::NotReady);
    lost && frame.shown.pod.deletion.is_none() && !frame.shown.is_over()
}

fn readiness(frame: &Frame<'_>, strip: &mut Strip) {
    let bars = frame.bars();
    let mut changes = changes(frame).peekable();
    while let Some(change) = changes.next() {
        if change.milestone.event != Event::Ready {
            continue;
        }
        let end = changes.peek().and_then(|next| next.when.best());
        let until = end.unwrap_or_else(|| frame.going_on());
        let Some(from) = change.when.best() else {
            continue;
        };
        if let Some((from, until)) = frame.axis.columns_of(from, until) {
            strip.bar(from, until, bars.runs, Role::Headline);
            if end.is_none() {
                strip.mark(until.saturating_sub(1), bars.goes_on, Role::Headline);
            }
        }
    }
}

/// What a re-list has hidden, through all rows.
fn gaps(frame: &Frame<'_>, rows: &mut [Row]) {
    for (from, until) in gap_columns(frame) {
        for row in &mut *rows {
            row.strip
                .bar(from, until, frame.bars().unknown, Role::Warning);
        }
    }
}

/// The columns of the stretches in which the watch was interrupted.
pub(super) fn gap_columns(frame: &Frame<'_>) -> Vec<(usize, usize)> {
    let gaps = frame.shown.pod.gaps.iter();
    gaps.filter_map(|gap| frame.axis.columns_of(gap.from?, gap.until))
        .collect()
}
