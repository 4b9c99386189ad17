//! One pod's picture: header, axis, rows, who waits for whom, verdicts.

use super::axis::Axis;
use super::block::{NARROW, lay_out};
use super::result;
use super::rows::{Frame, Row, gap_columns, rows};
use super::scene::{Scene, Shown, Stage};
use super::seconds::age;
use super::waiting::{Waiting, waiting};
use super::{advice, notes, now, verdicts};
use crate::render::wrap::width;
use crate::render::{Role, Style};
use jiff::Timestamp;

/// How wide a picture may be, and how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Columns of the terminal; 80 in a pipe.
    pub width: usize,
    /// Rows of the terminal; none where there is no end to them.
    pub rows: Option<usize>,
    /// Colour and characters.
    pub style: Style,
    /// Whether keys can be pressed, so that they are worth a word.
    pub has_keys: bool,
}

impl View {
    /// Below 60 columns nothing shrinks further; bars of more than 200 help nobody.
    pub(super) fn columns(&self) -> usize {
        self.width.clamp(60, 200)
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.columns() < NARROW
    }
}

/// The picture of a single pod.
pub(super) fn single(scene: &Scene, shown: &Shown, view: &View) -> Vec<String> {
    let waiting = waiting(shown);
    let chart = Chart::new(scene, shown, waiting.as_ref(), view);
    let mut lines = vec![header(scene, shown, &chart.frame, view)];
    lines.extend(chart.lines(view));
    let below = below(&chart.frame, view);
    // In a narrow picture the results of the rows stand there already.
    if !below.is_empty() && !view.is_narrow() {
        lines.push(String::new());
    }
    lines.extend(below);
    lines
}

/// Axis and rows.
pub(super) struct Chart<'a> {
    pub(super) frame: Frame<'a>,
    /// The column where the axis begins.
    start: usize,
}

/// The longest name that is drawn in full.
const NAME: usize = 20;

impl<'a> Chart<'a> {
    pub(super) fn new(
        scene: &Scene,
        shown: &'a Shown,
        waiting: Option<&'a Waiting<'a>>,
        view: &View,
    ) -> Chart<'a> {
        let names = shown.pod.containers.iter().map(|own| width(&own.name));
        let start = name_column(names, view);
        let zero = shown.zero(scene.now);
        let columns = chart_columns(start, view);
        let axis = axis(scene, shown, waiting, zero, columns);
        Chart {
            frame: Frame {
                shown,
                waiting,
                axis,
                now: scene.now,
                stage: scene.stage,
                style: view.style,
            },
            start,
        }
    }

    pub(super) fn lines(&self, view: &View) -> Vec<String> {
        self.drawn(&rows(&self.frame), view)
    }

    /// The same where the pod's own row stands elsewhere.
    pub(super) fn lines_without_pod(&self, view: &View) -> Vec<String> {
        let mut rows = rows(&self.frame);
        rows.retain(|row| !row.is_pod);
        self.drawn(&rows, view)
    }

    fn drawn(&self, rows: &[Row], view: &View) -> Vec<String> {
        let mut lines = vec![axis_line(&self.frame, self.start)];
        lines.extend(rows.iter().map(|row| row_line(row, self.start, view)));
        if view.is_narrow() {
            lines.extend(below_the_rows(rows, view));
        }
        lines
    }
}

/// The column behind the names.
pub(super) fn name_column(names: impl Iterator<Item = usize>, view: &View) -> usize {
    let least = if view.is_narrow() { 8 } else { 10 };
    names.max().unwrap_or(0).min(NAME).max(least) + 2
}

/// The columns between the names and what stands at the right.
pub(super) fn chart_columns(start: usize, view: &View) -> usize {
    // Narrow pictures keep room for the last label only.
    let right = if view.is_narrow() {
        6
    } else {
        result::COLUMNS + 2
    };
    view.columns().saturating_sub(start + right).max(10)
}

fn axis(
    scene: &Scene,
    shown: &Shown,
    waiting: Option<&Waiting<'_>>,
    zero: Timestamp,
    columns: usize,
) -> Axis {
    let asked = shown.pod.deletion.as_ref().and_then(|own| own.asked.best());
    let last = match last_instant(shown) {
        Some(last) if scene.stage == Stage::End && waiting.is_none() => last,
        Some(_) | None => scene.now,
    };
    match asked.filter(|_| shown.is_stopping()) {
        Some(asked) => Axis::window(zero, asked.min(last), last, columns),
        None if scene.stage == Stage::Live => Axis::live(zero, scene.now, columns),
        None => Axis::fitting(zero, last, columns),
    }
}

/// The last moment at which something is known to have happened.
pub(super) fn last_instant(shown: &Shown) -> Option<Timestamp> {
    let milestones = shown.pod.milestones();
    let ends = milestones.iter().filter_map(|own| own.when.best());
    ends.max()
}

/// `pod/sample · default · node lab · v1.37.2                  Running  5.4 s`
fn header(scene: &Scene, shown: &Shown, frame: &Frame<'_>, view: &View) -> String {
    let pod = &shown.pod;
    let dot = format!(" {} ", view.style.glyphs().dot);
    let mut parts = vec![format!("pod/{}", pod.name)];
    if !view.is_narrow() {
        parts.push(pod.namespace.clone());
    }
    parts.extend(pod.node.as_ref().map(|node| format!("node {node}")));
    parts.extend(scene.kubernetes.clone());
    let last = match last_instant(shown) {
        Some(last) if scene.stage == Stage::End && waiting(shown).is_none() => last,
        Some(_) | None => scene.now,
    };
    let (phase, role) = (pod.state_words(), state_role(shown));
    let right = format!("{phase}  {}", age(frame.since_zero(last)));
    let left = joined(&parts, &dot, view.columns(), width(&right));
    let gap = view
        .columns()
        .saturating_sub(width(&left) + width(&right))
        .max(2);
    let age = &right[phase.len()..];
    format!(
        "{left}{}{}{age}",
        " ".repeat(gap),
        view.style.paint(role, &phase)
    )
}

/// As many of the parts as leave room for what stands at the right.
fn joined(parts: &[String], dot: &str, columns: usize, right: usize) -> String {
    let mut left = String::new();
    for part in parts {
        let more = if left.is_empty() {
            part.clone()
        } else {
            format!("{left}{dot}{part}")
        };
        if !left.is_empty() && width(&more) + 2 + right > columns {
            break;
        }
        left = more;
    }
    left
}

/// The colour of the pod's state.
fn state_role(shown: &Shown) -> Role {
    let pod = &shown.pod;
    match pod.phase.as_str() {
        _ if pod.is_deleted || pod.deletion.is_some() => Role::Plain,
        "Running" if pod.is_ready => Role::Held,
        "Running" => Role::Warning,
        "Succeeded" => Role::Held,
        "Failed" => Role::Error,
        _ => Role::Plain,
    }
}

/// The labels of the axis; what would touch the one before is left out.
pub(super) fn axis_line(frame: &Frame<'_>, start: usize) -> String {
    let mut labels = frame.axis.labels();
    for (from, _) in gap_columns(frame) {
        labels.retain(|(at, label)| at + label.len() < from || *at > from + 3);
        labels.push((from, "gap".to_owned()));
    }
    labels.sort();
    let mut line = String::new();
    for (column, label) in labels {
        let used = line.chars().count();
        if used == 0 || start + column > used {
            line.push_str(&" ".repeat((start + column).saturating_sub(used)));
            line.push_str(&label);
        }
    }
    frame.style.paint(Role::Quiet, &line)
}

/// One row; the right column begins 16 columns before the edge.
pub(super) fn row_line(row: &Row, start: usize, view: &View) -> String {
    let name = cut(&row.name, NAME, view.style.glyphs().ellipsis);
    let pad = " ".repeat(start.saturating_sub(width(&name)));
    let strip = row.strip.text(view.style);
    if view.is_narrow() || row.right.is_empty() {
        return format!("{name}{pad}{strip}").trim_end().to_owned();
    }
    let used = start + row.strip.width();
    let gap = (view.columns() - result::COLUMNS).saturating_sub(used);
    let right = view.style.paint(row.role, &row.right);
    format!("{name}{pad}{strip}{}{right}", " ".repeat(gap))
}

/// A long name without its middle: `istio-…-proxy`.
pub(super) fn cut(name: &str, columns: usize, ellipsis: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    if characters.len() <= columns {
        return name.to_owned();
    }
    let kept = columns.saturating_sub(ellipsis.chars().count());
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let head: String = characters[..head].iter().collect();
    let tail: String = characters[characters.len() - tail..].iter().collect();
    format!("{head}{ellipsis}{tail}")
}

/// The right column of a narrow picture, below its rows.
fn below_the_rows(rows: &[Row], view: &View) -> Vec<String> {
    let told: Vec<&Row> = rows
        .iter()
        .filter(|row| row.name != "sandbox" && !row.right.is_empty())
        .collect();
    // Few results speak for themselves; more of them need their names.
    let has_names = told.len() > 3;
    let parts = told.iter().map(|row| match has_names {
        true => crate::render::wrap::glued(&format!("{}: {}", row.name, row.right)),
        false => crate::render::wrap::glued(&row.right),
    });
    let dot = format!(" {} ", view.style.glyphs().dot);
    let line = parts.collect::<Vec<_>>().join(&dot);
    let mut lines = vec![String::new()];
    if line.is_empty() {
        return lines;
    }
    lines.extend(crate::render::wrap::wrap(
        &line,
        view.columns(),
        view.columns(),
    ));
    lines
}

/// Verdicts, who waits for whom, and what else is to be said.
fn below(frame: &Frame<'_>, view: &View) -> Vec<String> {
    let mut lines = verdicts::block(frame);
    lines.extend(now::block(frame, view.has_keys));
    lines.extend(advice::advice(frame));
    lines.extend(notes::notes(frame, view.is_narrow()));
    lay_out(&lines, view.columns(), view.style)
}
