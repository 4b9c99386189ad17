//! Draws the rows.

use super::chain::{Remark, Row, Run};
use super::column::Column;
use super::gates::{Gate, GateEnd};
use super::layout::{Layout, layout};
use super::line::Line;
use super::names;
use super::strokes::Strokes;
use super::turns::Turn;
use crate::render::Role;
use crate::render::wrap::width;

/// The name of the first row.
const SANDBOX: &str = "sandbox";

/// All bars, one line each; `has_sandbox` says whether the sandbox has a row of its own.
pub fn draw(rows: &[Row], has_sandbox: bool, column: &Column) -> Vec<Line> {
    let sandbox = has_sandbox.then_some(SANDBOX).into_iter();
    let all = sandbox.chain(rows.iter().map(|row| row.name.as_str()));
    let names: Vec<String> = all.map(|name| names::short(name, column.glyphs)).collect();
    let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let left = column.indent + longest + 2;
    let layout = layout(rows, has_sandbox, column.bars_edge.saturating_sub(left));
    let sandbox = has_sandbox.then(|| sandbox_bar(&layout, column.strokes));
    let bars = rows
        .iter()
        .enumerate()
        .map(|(at, row)| bar(row, at, &layout, column.strokes));
    let bars = sandbox.into_iter().chain(bars);
    names
        .iter()
        .zip(bars)
        .map(|(name, bar)| {
            let mut line = Line::indented(column.indent);
            line.push(Role::Plain, name);
            line.pad_to(left);
            line.append(bar);
            line
        })
        .collect()
}

fn sandbox_bar(layout: &Layout, strokes: &Strokes) -> Line {
    Line::of(Role::Plain, &repeat(strokes.start, layout.origin))
}

fn bar(row: &Row, at: usize, layout: &Layout, strokes: &Strokes) -> Line {
    let mut line = Line::default();
    let Some(place) = layout.places.get(at) else {
        return line;
    };
    if let Some(label) = &row.wait {
        line.pad_to(layout.origin);
        let room = place.start - layout.origin;
        line.push(Role::Quiet, &wait_text(label, room, strokes));
    }
    line.pad_to(place.start);
    let start = repeat(strokes.start, place.started - place.start);
    line.push(Role::Plain, &start);
    if let Some(gate) = &row.gate {
        let room = place.released - place.started;
        line.push(Role::Gate, &gate_text(gate, room, strokes));
    }
    if let Some(turn) = &row.turn {
        worked(turn, layout, strokes, &mut line);
        return line;
    }
    match row.run {
        Run::Ended => {}
        Run::On(remark) => line.append(run(remark, layout.end - place.released, strokes)),
    }
    line
}

/// Waits for its turn, and works.
fn worked(turn: &Turn, layout: &Layout, strokes: &Strokes, line: &mut Line) {
    let (from, to) = layout.turn(turn);
    // The first one does not wait for anybody's end, but for nobody.
    let from = if turn.number == 0 { line.width() } else { from };
    if let Some(label) = &turn.wait {
        let room = from.saturating_sub(line.width());
        line.push(Role::Quiet, &wait_text(label, room, strokes));
    }
    line.pad_to(from);
    let work = Gate {
        label: "runs".to_owned(),
        short: "runs",
        end: GateEnd::Returns,
    };
    line.push(
        Role::Gate,
        &gate_text(&work, to.saturating_sub(from), strokes),
    );
}

/// `┄┄ waits for x ┄┄┄`, with as many of the words as fit.
fn wait_text(label: &str, room: usize, strokes: &Strokes) -> String {
    let fits = |label: &&str| width(label) + 6 <= room;
    let Some(label) = [label, "waits"].into_iter().find(fits) else {
        return repeat(strokes.wait, room);
    };
    let after = repeat(strokes.wait, room - width(label) - 4);
    format!("{} {label} {after}", repeat(strokes.wait, 2))
}

/// `├─ label ──┤`.
fn gate_text(gate: &Gate, room: usize, strokes: &Strokes) -> String {
    let close = match gate.end {
        GateEnd::Returns => strokes.gate_close,
        GateEnd::Fails => strokes.failed,
    };
    let open = strokes.gate_open;
    let fits = |label: &&str| width(label) + 5 <= room;
    match (room, gate.labels().into_iter().find(fits)) {
        (0, _) => String::new(),
        (1, _) => close.to_string(),
        (_, None) => format!("{open}{}{close}", repeat(strokes.gate, room - 2)),
        (_, Some(label)) => {
            let after = repeat(strokes.gate, room - width(label) - 5);
            format!("{open}{} {label} {after}{close}", strokes.gate)
        }
    }
}

/// `━━ remark ━━▸`.
fn run(remark: Option<Remark>, room: usize, strokes: &Strokes) -> Line {
    let mut line = Line::default();
    let fits = |remark: &Remark| width(remark.words()) + 6 <= room;
    if let Some(remark) = remark.filter(fits) {
        line.push(Role::Plain, &format!("{} ", repeat(strokes.run, 2)));
        let role = match remark {
            Remark::ServesLater => Role::Plain,
            Remark::CallsTooEarly => Role::Warning,
        };
        line.push(role, remark.words());
        line.push(Role::Plain, " ");
    }
    let left = room - line.width();
    line.push(Role::Plain, &repeat(strokes.run, left.saturating_sub(1)));
    if left > 0 {
        line.push(Role::Plain, &strokes.goes_on.to_string());
    }
    line
}

fn repeat(stroke: char, columns: usize) -> String {
    stroke.to_string().repeat(columns)
}
