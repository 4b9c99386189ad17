//! Findings for people: each reason is told once, then only listed.

use super::frame::{Frame, Remark};
use super::full::Full;
use super::short::{headed_place, located};
use super::{Options, Report, headline, separate};
use crate::cli::LintFormat;
use crate::finding::Finding;
use crate::manifest::Span;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// What this run has told already.
#[derive(Default)]
pub struct Told<'r> {
    /// Rules with their reasons.
    reasons: BTreeSet<(&'static str, &'r str)>,
    /// Costs and limits.
    pub asides: BTreeSet<&'r str>,
    /// The source and the place of the full finding just above.
    pub above: Option<(usize, Span)>,
}

/// The documents, by source and number, of the findings that text output tells in full when it lists
/// these.
pub fn told_in_full<'f>(
    listed: impl Iterator<Item = &'f Finding>,
    is_wide: bool,
) -> BTreeSet<(usize, usize)> {
    let mut told = Told::default();
    listed
        .filter(|finding| is_full(&mut told, finding, is_wide))
        .map(Finding::place)
        .collect()
}

/// Whether a finding is told in full: its rule or its reason is new in this run.
fn is_full<'f>(told: &mut Told<'f>, finding: &'f Finding, is_wide: bool) -> bool {
    told.reasons.insert((finding.rule, &finding.because)) || is_wide
}

/// Whether [`findings`] prints anything.
pub fn has_content(report: &Report, options: &Options) -> bool {
    let is_suppressed = |finding: &Finding| finding.suppressed.is_some();
    report.listed().next().is_some()
        || (options.show_suppressed && report.findings.iter().any(is_suppressed))
}

/// Prints every listed finding, a blank line between them.
pub fn findings(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut told = Told::default();
    let is_wide = options.format == LintFormat::Wide;
    let mut has_above = false;
    for finding in report.listed() {
        separate(has_above, out)?;
        has_above = true;
        if is_full(&mut told, finding, is_wide) {
            Full::new(report, options, finding).draw(&mut told, out)?;
            told.above = finding.primary.span.map(|span| (finding.source, span));
        } else {
            two_lines(options, finding, located(report, options, finding), out)?;
            told.above = None;
        }
    }
    if options.show_suppressed {
        suppressed(report, options, has_above, out)?;
    }
    Ok(())
}

/// The findings that something hides, and what hides them.
fn suppressed(
    report: &Report,
    options: &Options,
    has_above: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut has_above = has_above;
    for finding in &report.findings {
        let Some(suppression) = &finding.suppressed else {
            continue;
        };
        separate(std::mem::take(&mut has_above), out)?;
        let dot = options.style.glyphs().dot;
        let place = headed_place(report, finding);
        two_lines(
            options,
            finding,
            format!("{place} {dot} {}", suppression.by),
            out,
        )?;
    }
    Ok(())
}

fn two_lines(
    options: &Options,
    finding: &Finding,
    place: String,
    out: &mut dyn Write,
) -> io::Result<()> {
    headline::finding(options, finding, out)?;
    Frame::new(options, 0, out).close(&[Remark::new("", place)])
}
