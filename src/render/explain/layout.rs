//! Where each stretch of each bar begins and ends, in columns.
//!
//! The starts are one after the other, and so is all that is waited for between them, so that the
//! whole drawing is one chain that has to fit into its width.

use super::chain::Row;
use super::gates::Gate;
use super::turns::Turn;
use crate::render::wrap;

/// The columns of one bar, from the left end of all bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its start is tried.
    pub start: usize,
    /// Its process runs.
    pub started: usize,
    /// What is waited for in it is over; the same as `started` without a gate.
    pub released: usize,
}

/// The columns of all bars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Sandbox and volumes are ready; 0 when that is not drawn.
    pub origin: usize,
    /// One for each row.
    pub places: Vec<Place>,
    /// One past the last column.
    pub end: usize,
}

/// The columns that what runs on keeps at the right end.
const LEAST_TAIL: usize = 2;

/// Lays out the rows in `width` columns.
pub fn layout(rows: &[Row], has_sandbox: bool, width: usize) -> Layout {
    let bars = rows.len() + usize::from(has_sandbox);
    let start = start_width(bars, width);
    let rest = width.saturating_sub(start * bars);
    let mut gates = gate_widths(rows, rest).into_iter();
    let origin = if has_sandbox { start } else { 0 };
    let mut at = origin;
    let mut places = Vec::new();
    for row in rows {
        let started = at + start;
        let released = match row.gate {
            Some(_) => started + gates.next().unwrap_or(0),
            None => started,
        };
        places.push(Place {
            start: at,
            started,
            released,
        });
        at = released;
    }
    let layout = Layout {
        origin,
        places,
        end: width,
    };
    layout.shrunk(at, width.saturating_sub(LEAST_TAIL))
}

impl Layout {
    /// From where to where a turn lasts; all turns come after the last start.
    pub fn turn(&self, turn: &Turn) -> (usize, usize) {
        let from = self.places.last().map_or(0, |place| place.released);
        let room = self.end.saturating_sub(from + LEAST_TAIL);
        let edge = |number: usize| from + room * number / turn.count.max(1);
        (edge(turn.number), edge(turn.number + 1))
    }

    /// Everything moved closer together when there are more containers than fit.
    fn shrunk(mut self, used: usize, room: usize) -> Layout {
        if used <= room {
            return self;
        }
        let scaled = |at: usize| at * room / used.max(1);
        self.origin = scaled(self.origin);
        for place in &mut self.places {
            *place = Place {
                start: scaled(place.start),
                started: scaled(place.started),
                released: scaled(place.released),
            };
        }
        self
    }
}

/// A prediction has no clock, so every start is equally long; all of them take about a third.
fn start_width(bars: usize, width: usize) -> usize {
    rounded(width, 3 * bars + 4).max(1)
}

/// The gates share five sevenths of what the starts leave, each at least as wide as its words.
fn gate_widths(rows: &[Row], rest: usize) -> Vec<usize> {
    let room = rest.saturating_sub(LEAST_TAIL);
    let gates: Vec<&Gate> = rows.iter().filter_map(|row| row.gate.as_ref()).collect();
    let count = gates.len().max(1);
    let [full, short] = [0, 1].map(|which| least_widths(&gates, which));
    let fits = |least: &Vec<usize>| least.iter().sum::<usize>() <= room;
    let Some(least) = [full, short].into_iter().find(fits) else {
        return vec![(room / count).max(2); gates.len()];
    };
    let needed: usize = least.iter().sum();
    let extra = rounded(rest * 5, 7).min(room).saturating_sub(needed);
    let share = |at: usize| extra / count + usize::from(at < extra % count);
    let widths = least.iter().enumerate();
    widths.map(|(at, least)| least + share(at)).collect()
}

/// The columns of `├─ label ┤`, with the label of this length.
fn least_widths(gates: &[&Gate], which: usize) -> Vec<usize> {
    let widths = gates
        .iter()
        .map(|gate| wrap::width(gate.labels()[which]) + 5);
    widths.collect()
}

fn rounded(dividend: usize, divisor: usize) -> usize {
    (2 * dividend + divisor) / (2 * divisor)
}

#[cfg(test)]
mod tests {
    use super::super::chain::Run;
    use super::super::gates::GateEnd;
    use super::*;

    fn rows(count: usize, gate: Option<&str>) -> Vec<Row> {
        let row = Row {
            name: "x".to_owned(),
            wait: None,
            gate: gate.map(|label| Gate {
                label: label.to_owned(),
                short: "postStart",
                end: GateEnd::Returns,
            }),
            turn: None,
            run: Run::On(None),
        };
        vec![row; count]
    }

    #[test]
    fn bars_never_leave_their_width_and_never_go_back() {
        for count in [0, 1, 2, 12, 60] {
            for width in [0, 1, 25, 76] {
                for gate in [None, Some("postStart: sleep 5 s")] {
                    let layout = layout(&rows(count, gate), true, width);
                    let ends = layout
                        .places
                        .iter()
                        .flat_map(|place| [place.start, place.started, place.released]);
                    let all: Vec<usize> = ends.chain([layout.end]).collect();
                    assert!(all.is_sorted(), "{count} {width} {all:?}");
                    assert!(layout.origin <= all[0], "{count} {width}");
                }
            }
        }
    }
}
