//! A finding told in full: its place, the excerpt, the reason, the fix.

use super::crop::crop;
use super::elsewhere::{self, Place};
use super::excerpt;
use super::frame::{Frame, Remark};
use super::patch::{Patch, Row, Text};
use super::short::headed_place;
use super::style::Role;
use super::text::Told;
use super::{Options, Report, headline};
use crate::cli::LintFormat;
use crate::finding::{Finding, Fix, Outcome};
use crate::manifest::Source;
use miette::LabeledSpan;
use std::io::{self, Write};
use std::ops::Range;

/// A finding with what is needed to tell it.
pub struct Full<'r> {
    options: &'r Options,
    finding: &'r Finding,
    source: Option<&'r Source>,
    place: String,
    /// Evidence that stands in other documents.
    elsewhere: Vec<Place<'r>>,
    patch: Option<(&'r Fix, Patch<'r>)>,
}

impl<'r> Full<'r> {
    /// Works out the finding's patch.
    pub fn new(report: &'r Report, options: &'r Options, finding: &'r Finding) -> Full<'r> {
        Full {
            options,
            finding,
            source: report.source_of(finding),
            place: headed_place(report, finding),
            elsewhere: elsewhere::places(report, finding),
            patch: patch(report, finding),
        }
    }

    /// Draws it, and notes what is told by that.
    pub fn draw(&self, told: &mut Told<'r>, out: &mut dyn Write) -> io::Result<()> {
        headline::finding(self.options, self.finding, out)?;
        let marks = self.marks(told);
        let mut frame = Frame::new(self.options, self.last_line(&marks), out);
        frame.open(&self.place)?;
        if let Some(source) = self.source {
            excerpt::draw(&mut frame, source, &marks, Role::of(self.finding.severity))?;
        }
        for place in self
            .elsewhere
            .iter()
            .filter(|place| self.is_drawn_apart(place))
        {
            frame.open(&place.headed())?;
            let marks: Vec<LabeledSpan> = place.mark().into_iter().collect();
            excerpt::draw(&mut frame, place.source, &marks, Role::Plain)?;
        }
        frame.close(&self.reasons())?;
        match &self.patch {
            Some((fix, patch)) => self.draw_fix(&mut frame, fix, patch, told),
            None => Ok(()),
        }
    }

    /// Whether a line of another file is drawn below the workload's own.
    fn is_drawn_apart(&self, place: &Place<'_>) -> bool {
        self.is_wide() && place.may_be_shown() && !place.is_in_excerpt()
    }

    fn is_wide(&self) -> bool {
        self.options.format == LintFormat::Wide
    }

    /// Where the rule fires, and the related places. The finding just above may have marked the
    /// same place: then the related ones say all that is new.
    fn marks(&self, told: &Told<'_>) -> Vec<LabeledSpan> {
        let finding = self.finding;
        let place = finding.primary.span.map(|span| (finding.source, span));
        let related = finding
            .related
            .iter()
            .filter_map(|label| Some(excerpt::mark(label.span?, &label.text, false)));
        let mut marks: Vec<LabeledSpan> = related.collect();
        let in_excerpt = self.elsewhere.iter().filter(|place| place.is_in_excerpt());
        marks.extend(in_excerpt.filter_map(Place::mark));
        let is_repeated = place.is_some() && place == told.above && !self.is_wide();
        if let Some((_, span)) = place.filter(|_| marks.is_empty() || !is_repeated) {
            marks.insert(0, excerpt::mark(span, &finding.primary.text, true));
        }
        marks
    }

    fn last_line(&self, marks: &[LabeledSpan]) -> usize {
        let shown = self
            .source
            .map_or(0, |source| excerpt::last_line(source, marks));
        let apart = self
            .elsewhere
            .iter()
            .filter(|place| self.is_drawn_apart(place));
        let apart =
            apart.filter_map(|place| Some(excerpt::last_line(place.source, &[place.mark()?])));
        let shown = shown.max(apart.max().unwrap_or(0));
        let patched = self
            .patch
            .as_ref()
            .map_or(0, |(_, patch)| patch.last_line());
        shown.max(patched)
    }

    /// What stands below the excerpt.
    fn reasons(&self) -> Vec<Remark> {
        let finding = self.finding;
        let mut remarks = Vec::new();
        if !finding.because.is_empty() {
            remarks.push(Remark::new("because:", &finding.because));
        }
        remarks.extend(finding.notes.iter().map(|note| Remark::new("note:", note)));
        let untold = self.elsewhere.iter();
        let untold = untold.filter(|place| !place.is_in_excerpt() && !self.is_drawn_apart(place));
        remarks.extend(untold.map(|place| Remark::new("note:", place.note())));
        let help = || finding.help.as_ref().map(|help| Remark::new("help:", help));
        match finding.fix.as_ref().map(|fix| &fix.outcome) {
            Some(Outcome::Proven(_)) => {}
            Some(Outcome::Settled) => remarks.push(Remark::new("fix:", "settled by the fix above")),
            Some(Outcome::Refused(reason)) => {
                remarks.push(Remark::new("no fix written:", reason));
                remarks.extend(help());
            }
            Some(Outcome::Untried) | None => remarks.extend(help()),
        }
        remarks
    }

    fn draw_fix(
        &self,
        frame: &mut Frame<'_>,
        fix: &'r Fix,
        patch: &Patch<'_>,
        told: &mut Told<'r>,
    ) -> io::Result<()> {
        frame.open(&format!("fix ({}): {}", fix.safety.word(), fix.title))?;
        let mut remarks = Vec::new();
        match if self.is_wide() {
            Some(patch.full())
        } else {
            patch.short()
        } {
            Some(rows) => draw_rows(frame, &rows)?,
            None => {
                let count = patch.changed_lines();
                remarks.push(Remark::new(
                    "",
                    format!("{count} changed lines, shown by --diff"),
                ));
            }
        }
        if !fix.assumes.is_empty() {
            remarks.push(Remark {
                head: "assumes:",
                lines: fix.assumes.clone(),
            });
        }
        for (head, aside) in [("costs:", &fix.costs), ("limit:", &fix.limit)] {
            let is_new = |aside: &&'r String| told.asides.insert(aside) || self.is_wide();
            remarks.extend(
                aside
                    .as_ref()
                    .filter(is_new)
                    .map(|aside| Remark::new(head, aside)),
            );
        }
        frame.close(&remarks)
    }
}

/// The patch of a finding whose fix was proven.
fn patch<'r>(report: &'r Report, finding: &'r Finding) -> Option<(&'r Fix, Patch<'r>)> {
    let fix = finding.fix.as_ref()?;
    let Outcome::Proven(text) = &fix.outcome else {
        return None;
    };
    let (source, document) = report.document_of(finding)?;
    Some((fix, Patch::new(source, document, text)))
}

fn draw_rows(frame: &mut Frame<'_>, rows: &[Row]) -> io::Result<()> {
    let (room, glyphs) = (frame.room(), frame.style.glyphs());
    let cropped = |line: &str, focus: Range<usize>| {
        let marks = std::slice::from_ref(&focus);
        crop(line, marks, room, glyphs.ellipsis).text
    };
    let changed = |text: &Text| cropped(&text.line, text.differs_at..text.differs_at);
    for row in rows {
        match row {
            Row::Kept(number, line) => frame.change(Some(*number), ' ', &cropped(line, 0..0))?,
            Row::Removed(number, text) => frame.change(Some(*number), '-', &changed(text))?,
            Row::Added(text) => frame.change(None, '+', &changed(text))?,
            Row::Fold => frame.fold()?,
            Row::Moved {
                lines: (first, last),
                to,
                is_up,
            } => {
                let way = if *is_up { "up" } else { "down" };
                let dash = glyphs.dash;
                let text = format!("lines {first}{dash}{last} move {way} to line {to}");
                frame.change(None, '+', &text)?;
            }
        }
    }
    Ok(())
}
