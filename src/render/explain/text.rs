//! The whole page: title, predictions beside or below each other, and what holds for all of them.

use super::column::Column;
use super::line::Line;
use super::panel::{Manner, Panel};
use super::placing::{Headed, below_a_gap, heading, side_by_side, stacked};
use super::stop::{self, Sentence};
use super::versions::{self, VersionNote};
use super::{Explanation, Named, Prediction, names, timing};
use crate::pod::KubeVersion;
use crate::render::wrap::{self, wrap};
use crate::render::{Role, Style};

/// Two predictions stand side by side from this width on.
const SIDE_BY_SIDE: usize = 100;
/// The least and the most columns that are used.
const WIDTHS: (usize, usize) = (60, 160);
/// The most columns of text that stands alone.
const WIDEST_TEXT: usize = 100;
/// The columns between two predictions.
const GAP: usize = 4;

/// An explanation as text for people, each line ended; `width` in columns of the terminal.
pub fn to_text(explanation: &Explanation<'_>, width: usize, style: Style) -> String {
    let width = width.clamp(WIDTHS.0, WIDTHS.1);
    let page = Page {
        predictions: predictions(explanation),
        labels: labels(explanation),
        versions: versions(explanation),
        width,
        alone: Column::alone(width.min(WIDEST_TEXT), style),
        style,
    };
    let lines = page.lines(explanation);
    lines
        .iter()
        .map(|line| line.to_text(style) + "\n")
        .collect()
}

fn predictions<'a>(explanation: &Explanation<'a>) -> Vec<Prediction<'a>> {
    match explanation {
        Explanation::One(prediction) => vec![*prediction],
        Explanation::Compared { reality, expected } => {
            vec![reality.prediction, expected.prediction]
        }
        Explanation::Versions(predictions) => predictions.clone(),
    }
}

fn labels(explanation: &Explanation<'_>) -> Vec<String> {
    match explanation {
        Explanation::One(_) => vec![String::new()],
        Explanation::Compared { .. } => vec!["reality".to_owned(), "expected".to_owned()],
        Explanation::Versions(predictions) => predictions
            .iter()
            .map(|prediction| prediction.plan.version.to_string())
            .collect(),
    }
}

/// The versions that were asked for.
fn versions(explanation: &Explanation<'_>) -> Vec<KubeVersion> {
    let version = |prediction: &Prediction<'_>| prediction.plan.version;
    match explanation {
        Explanation::One(prediction) => vec![version(prediction)],
        Explanation::Compared { reality, .. } => vec![version(&reality.prediction)],
        Explanation::Versions(predictions) => predictions.iter().map(version).collect(),
    }
}

struct Page<'a> {
    predictions: Vec<Prediction<'a>>,
    /// What each prediction is called beside the others.
    labels: Vec<String>,
    versions: Vec<KubeVersion>,
    width: usize,
    alone: Column,
    style: Style,
}

impl Page<'_> {
    fn lines(&self, explanation: &Explanation<'_>) -> Vec<Line> {
        let mut lines = self.title();
        lines.extend(match explanation {
            Explanation::One(prediction) => self.one(prediction),
            Explanation::Compared { reality, expected } => self.compared(reality, expected),
            Explanation::Versions(predictions) => self.by_version(predictions),
        });
        lines.extend(self.below());
        lines
    }

    fn title(&self) -> Vec<Line> {
        let Some(first) = self.predictions.first() else {
            return Vec::new();
        };
        let dot = self.style.glyphs().dot;
        let object = format!("{}/{}", first.object.kind.to_lowercase(), first.object.name);
        let versions: Vec<String> = self.versions.iter().map(KubeVersion::to_string).collect();
        let shape = match first.is_answered {
            true => format!("as the server makes it {dot} "),
            false => String::new(),
        };
        let title = format!(
            "{object} {dot} {shape}predicted for Kubernetes {} {dot} order, not time",
            names::list(&versions)
        );
        let room = self.width.min(WIDEST_TEXT);
        let lines = wrap(&title, room, room).into_iter();
        lines.map(|line| Line::of(Role::Headline, &line)).collect()
    }

    fn one(&self, prediction: &Prediction<'_>) -> Vec<Line> {
        let manner = Manner::of(&self.predictions);
        let panel = Panel::of(prediction, manner, &self.alone);
        [panel.bars, panel.steps, panel.block]
            .into_iter()
            .flat_map(below_a_gap)
            .collect()
    }

    fn compared(&self, reality: &Named<'_>, expected: &Named<'_>) -> Vec<Line> {
        let headings = [("reality", &reality.name), ("expected", &expected.name)];
        let pairs = headings.into_iter().zip(&self.predictions);
        let column = self.column(2);
        let headed: Vec<Headed> = pairs
            .map(|((label, name), prediction)| Headed {
                heading: heading(label, name, &column),
                panel: Panel::of(prediction, Manner::of(&self.predictions), &column),
            })
            .collect();
        self.placed(headed)
    }

    /// Versions with the same prediction stand together.
    fn by_version(&self, predictions: &[Prediction<'_>]) -> Vec<Line> {
        let drawn = |column: &Column| {
            let mut groups: Vec<(Vec<String>, Panel)> = Vec::new();
            for prediction in predictions {
                let panel = Panel::of(prediction, Manner::of(&self.predictions), column);
                let version = prediction.plan.version.to_string();
                match groups.iter_mut().find(|(_, known)| *known == panel) {
                    Some((versions, _)) => versions.push(version),
                    None => groups.push((vec![version], panel)),
                }
            }
            groups
        };
        let count = drawn(&self.alone).len();
        let groups = drawn(&self.column(count));
        let headed = groups.into_iter().map(|(versions, panel)| Headed {
            heading: Line::of(
                Role::Plain,
                &format!("Kubernetes {}", names::list(&versions)),
            ),
            panel,
        });
        self.placed(headed.collect())
    }

    fn is_side_by_side(&self, count: usize) -> bool {
        count == 2 && self.width >= SIDE_BY_SIDE
    }

    fn column(&self, count: usize) -> Column {
        if self.is_side_by_side(count) {
            Column::beside((self.width - GAP - 2) / 2, self.style)
        } else {
            self.alone
        }
    }

    fn placed(&self, headed: Vec<Headed>) -> Vec<Line> {
        match <[Headed; 2]>::try_from(headed) {
            Ok([left, right]) if self.is_side_by_side(2) => {
                side_by_side(left, right, self.column(2).edge + GAP)
            }
            Ok(two) => two.into_iter().flat_map(stacked).collect(),
            Err(others) => others.into_iter().flat_map(stacked).collect(),
        }
    }

    /// What holds for all predictions: first starts, the stop order, other versions.
    fn below(&self) -> Vec<Line> {
        // Of two manifests only the expected one's gates are worth a warning.
        let last = self.predictions.last();
        let firsts = last.map(timing::first_start_only).unwrap_or_default();
        let column = Column {
            indent: 0,
            edge: self.width.min(WIDEST_TEXT),
            ..self.alone
        };
        let firsts = firsts
            .iter()
            .flat_map(|text| column.sentence(Line::default(), text, None));
        let mut lines = below_a_gap(firsts.collect());
        lines.extend(self.stops());
        let notes = self.told_once(|prediction| self.version_notes(prediction));
        lines.extend(below_a_gap(self.version_lines(&notes, &column)));
        lines
    }

    /// What is told of each prediction, said once.
    fn told_once<T: PartialEq>(&self, of: impl Fn(&Prediction<'_>) -> Vec<T>) -> Vec<T> {
        let mut all = Vec::new();
        for told in self.predictions.iter().flat_map(of) {
            if !all.contains(&told) {
                all.push(told);
            }
        }
        all
    }

    /// The stop order, told once if it is the same for all predictions.
    fn stops(&self) -> Vec<Line> {
        let mut groups: Vec<(Vec<String>, Vec<Sentence>)> = Vec::new();
        for (label, prediction) in self.labels.iter().zip(&self.predictions) {
            let told = stop::sentences(prediction);
            match groups.iter_mut().find(|(_, known)| *known == told) {
                Some((labels, _)) => labels.push(label.clone()),
                None => groups.push((vec![label.clone()], told)),
            }
        }
        let column = Column {
            indent: 0,
            ..self.alone
        };
        let is_same = groups.len() == 1;
        let blocks = groups.into_iter().flat_map(|(labels, told)| {
            let labels = names::list(&labels);
            let head = match is_same {
                true => "stop  ".to_owned(),
                false => format!("stop, {labels}  "),
            };
            below_a_gap(stop::lines(Line::of(Role::Plain, &head), &told, &column))
        });
        blocks.collect()
    }

    /// A note about another version is left out when that version is predicted, too.
    fn version_notes(&self, prediction: &Prediction<'_>) -> Vec<VersionNote> {
        let own = prediction.plan.version;
        let is_asked = |note: &VersionNote| self.versions.iter().any(|asked| note.covers(*asked));
        let mut notes = versions::notes(prediction);
        notes.retain(|note| note.covers(own) || !is_asked(note));
        notes
    }

    fn version_lines(&self, notes: &[VersionNote], column: &Column) -> Vec<Line> {
        let glyphs = self.style.glyphs();
        let labels: Vec<String> = notes.iter().map(|note| note.label(glyphs)).collect();
        let longest = labels.iter().map(|label| wrap::width(label)).max();
        let lines = notes.iter().zip(&labels).flat_map(|(note, label)| {
            let mut line = Line::of(Role::Plain, label);
            line.pad_to(longest.unwrap_or(0) + 2);
            column.sentence(line, &note.text, None)
        });
        lines.collect()
    }
}
