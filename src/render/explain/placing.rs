//! Predictions below and beside each other.

use super::column::Column;
use super::line::Line;
use super::panel::Panel;
use crate::render::Role;
use crate::render::wrap;

/// A panel with what stands above it.
pub struct Headed {
    /// The line above it.
    pub heading: Line,
    /// The panel.
    pub panel: Panel,
}

/// `reality   deploy.yaml`.
pub fn heading(label: &str, name: &str, column: &Column) -> Line {
    let mut line = Line::of(Role::Headline, label);
    line.push(Role::Plain, "   ");
    let room = column.edge.saturating_sub(line.width());
    line.push(Role::Plain, &ending(name, room, column.glyphs.ellipsis));
    line
}

/// The end of a path that is too long for its place.
fn ending(name: &str, room: usize, ellipsis: &str) -> String {
    let name = wrap::on_one_line(name);
    if wrap::width(&name) <= room {
        return name;
    }
    let mut room = room.saturating_sub(wrap::width(ellipsis));
    let fits = |character: &char| match room.checked_sub(wrap::char_width(*character)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let tail: Vec<char> = name.chars().rev().take_while(fits).collect();
    format!("{ellipsis}{}", tail.into_iter().rev().collect::<String>())
}

/// Lines with an empty one above; nothing when there are none.
pub fn below_a_gap(lines: Vec<Line>) -> Vec<Line> {
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(Line::default()).chain(lines).collect()
}

/// A panel with an empty line above.
pub fn stacked(headed: Headed) -> Vec<Line> {
    let Panel { bars, steps, block } = headed.panel;
    let all = std::iter::once(headed.heading)
        .chain(bars)
        .chain(steps)
        .chain(block);
    below_a_gap(all.collect())
}

/// Two panels, the right one from this column on, their parts level with each other.
pub fn side_by_side(left: Headed, right: Headed, at: usize) -> Vec<Line> {
    let words = |panel: &Panel| [panel.steps.clone(), panel.block.clone()].concat();
    let parts = [
        (vec![left.heading], vec![right.heading]),
        (left.panel.bars.clone(), right.panel.bars.clone()),
        (words(&left.panel), words(&right.panel)),
    ];
    let zipped = parts
        .into_iter()
        .map(|(left, right)| beside(left, right, at));
    zipped.flat_map(below_a_gap).collect()
}

/// The right lines beside the left ones, from this column on.
fn beside(left: Vec<Line>, right: Vec<Line>, at: usize) -> Vec<Line> {
    let height = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    (0..height)
        .map(|_| {
            let mut line = left.next().unwrap_or_default();
            if let Some(right) = right.next() {
                line.pad_to(at);
                line.append(right);
            }
            line
        })
        .collect()
}
