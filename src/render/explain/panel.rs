//! One prediction, drawn and told in its column.

use super::column::Column;
use super::line::Line;
use super::steps::{self, Steps};
use super::{Prediction, bars, chain, obstacles, timing, turns};
use crate::render::Role;

/// How predictions of one explanation are told alike.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The sandbox has a row of its own.
    pub has_sandbox: bool,
    /// Each step is told its role.
    pub has_roles: bool,
    /// The needs are a list of their own, rather than lines below the steps.
    pub has_need_list: bool,
}

impl Manner {
    /// The manner for predictions that stand together.
    pub fn of(predictions: &[Prediction<'_>]) -> Manner {
        let steps = |prediction: &Prediction<'_>| prediction.plan.steps.clone();
        let is_app = |prediction| {
            steps(prediction)
                .iter()
                .all(|step| step.role == crate::pod::Role::App)
        };
        Manner {
            // With init containers there are bars enough.
            has_sandbox: predictions.iter().any(is_app),
            has_roles: !predictions.iter().all(is_app),
            has_need_list: predictions.len() == 1,
        }
    }
}

/// One prediction, in parts that are set beside or below those of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// The drawing; empty when the sequence does not get to its end.
    pub bars: Vec<Line>,
    /// The steps, and what keeps the pod from starting.
    pub steps: Vec<Line>,
    /// Needs, waits and holes.
    pub block: Vec<Line>,
}

impl Panel {
    /// Draws and tells a prediction.
    pub fn of(prediction: &Prediction<'_>, manner: Manner, column: &Column) -> Panel {
        let bars = if obstacles::is_stuck(prediction) {
            Vec::new()
        } else {
            bars::draw(&chain::rows(prediction), manner.has_sandbox, column)
        };
        let steps = Steps::new(prediction, column, manner.has_roles);
        let mut lines = steps.lines();
        if !manner.has_need_list {
            lines.extend(steps.needs());
        }
        lines.extend(obstacle_lines(prediction, column));
        Panel {
            bars,
            steps: lines,
            block: block(prediction, manner, column),
        }
    }
}

fn obstacle_lines(prediction: &Prediction<'_>, column: &Column) -> Vec<Line> {
    let obstacles = obstacles::obstacles(prediction).into_iter();
    let lines = obstacles.flat_map(|obstacle| {
        let mut line = Line::indented(column.indent);
        line.push(Role::Error, &format!("{} ", column.strokes.failed));
        column.sentence(line, &obstacle, None)
    });
    lines.collect()
}

fn block(prediction: &Prediction<'_>, manner: Manner, column: &Column) -> Vec<Line> {
    let mut lines = Vec::new();
    if manner.has_need_list {
        let needs = 0..prediction.plan.needs.len();
        lines.extend(labelled("needs", needs, column, |at, line| {
            steps::need_list(prediction, at, line, column)
        }));
    }
    let turns = turns::sentences(prediction);
    lines.extend(labelled("turns", turns, column, |(text, word), line| {
        column.sentence(line, &text, word)
    }));
    let told = |text: String, line| column.sentence(line, &text, None);
    lines.extend(labelled("waits", timing::waits(prediction), column, told));
    lines.extend(labelled("holes", timing::holes(prediction), column, told));
    lines
}

/// Items below each other, with a label before the first.
fn labelled<T>(
    label: &str,
    items: impl IntoIterator<Item = T>,
    column: &Column,
    tell: impl Fn(T, Line) -> Vec<Line>,
) -> Vec<Line> {
    let mut head = Line::indented(column.indent);
    head.push(Role::Plain, label);
    let start = head.width() + 2;
    let mut lines = Vec::new();
    for item in items {
        head.pad_to(start);
        lines.extend(tell(item, head));
        head = Line::indented(start);
    }
    lines
}
