//! The numbered steps: what must have happened before each start, and how firmly.

use super::column::Column;
use super::line::Line;
use super::{Prediction, names, needs, obstacles};
use crate::plan::{Basis, Prior};
use crate::render::Role;
use crate::render::wrap::width;

/// The columns of the steps, shared by everything that is set below a name.
pub struct Steps<'a> {
    prediction: &'a Prediction<'a>,
    column: &'a Column,
    digits: usize,
    names: usize,
    /// The width of the roles; none when all are app containers.
    roles: Option<usize>,
}

impl<'a> Steps<'a> {
    /// The steps of a prediction; `has_roles` says whether each is told its role.
    pub fn new(prediction: &'a Prediction<'a>, column: &'a Column, has_roles: bool) -> Steps<'a> {
        let steps = &prediction.plan.steps;
        let name = |container| {
            let name = names::name(prediction.template, container);
            width(&names::short(&name, column.glyphs))
        };
        let roles = steps.iter().map(|step| names::role_word(step.role).len());
        Steps {
            prediction,
            column,
            digits: steps.len().to_string().len(),
            names: steps
                .iter()
                .map(|step| name(step.container))
                .max()
                .unwrap_or(0),
            roles: has_roles.then(|| roles.max().unwrap_or(0)),
        }
    }

    /// One step after the other.
    pub fn lines(&self) -> Vec<Line> {
        let steps = self.prediction.plan.steps.iter().enumerate();
        let lines = steps.flat_map(|(at, step)| {
            let role = names::role_word(step.role);
            let line = self.head(&(at + 1).to_string(), step.container, role);
            let text = sentence(self.prediction, step.after);
            self.column.sentence(line, &text, Some(step.basis))
        });
        lines.collect()
    }

    /// Each need below the steps, with its note.
    pub fn needs(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (at, need) in self.prediction.plan.needs.iter().enumerate() {
            let line = self.head("", need.dependent, "");
            let text = needs::sentence(self.prediction, need);
            lines.extend(self.column.sentence(line, &text, Some(need.hold.basis())));
            let start = Line::indented(self.text_start());
            lines.extend(note(self.prediction, at, start, self.column));
        }
        lines
    }

    /// Number, name and role.
    fn head(&self, number: &str, container: usize, role: &str) -> Line {
        let name = names::name(self.prediction.template, container);
        let mut line = Line::indented(self.column.indent);
        line.push(Role::Quiet, &format!("{number:>0$} ", self.digits));
        line.push(Role::Plain, &names::short(&name, self.column.glyphs));
        line.pad_to(self.name_start() + self.names + 2);
        if self.roles.is_some() {
            line.push(Role::Plain, role);
        }
        line.pad_to(self.text_start());
        line
    }

    fn name_start(&self) -> usize {
        self.column.indent + self.digits + 1
    }

    fn text_start(&self) -> usize {
        let roles = self.roles.map_or(0, |roles| roles + 2);
        self.name_start() + self.names + 2 + roles
    }
}

/// The note of a need, after what the line holds.
pub fn note(prediction: &Prediction<'_>, at: usize, line: Line, column: &Column) -> Vec<Line> {
    let Some(note) = needs::note(prediction, at) else {
        return Vec::new();
    };
    let limit = note.limit.filter(|_| !column.is_narrow).map(str::to_owned);
    let clauses: Vec<String> = note.clauses.into_iter().chain(limit).collect();
    column.sentence(line, &clauses.join("; "), None)
}

/// What must have happened.
fn sentence(prediction: &Prediction<'_>, prior: Prior) -> String {
    let name = |container| names::name(prediction.template, container);
    match prior {
        Prior::SandboxReady => "sandbox and volumes are ready".to_owned(),
        Prior::Exited(container) => format!("{} has exited 0", name(container)),
        Prior::StartupProbePassed(container) => {
            format!("{}'s startupProbe has passed", name(container))
        }
        Prior::PostStartReturned(container) => {
            let ended = match obstacles::has_failing_hook(prediction, container) {
                true => "failed",
                false => "returned",
            };
            format!("{}'s postStart has {ended}", name(container))
        }
        Prior::Runs(container) => format!("{} runs; it has no startupProbe", name(container)),
        Prior::StartReturned(container) => format!("the start of {} has returned", name(container)),
    }
}

/// The needs as a list of their own: pair, word, note.
pub fn need_list(prediction: &Prediction<'_>, at: usize, line: Line, column: &Column) -> Vec<Line> {
    let Some(need) = prediction.plan.needs.get(at) else {
        return Vec::new();
    };
    let start = line.width();
    let pair = needs::pair(prediction, need, column.strokes.arrow);
    let word: Basis = need.hold.basis();
    let mut lines = column.sentence(line, &pair, Some(word));
    lines.extend(note(prediction, at, Line::indented(start), column));
    lines
}
