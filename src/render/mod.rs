//! What `lint` prints: one [`Report`], one function a format.
//!
//! [`findings`] is for standard output, [`summary`] for standard error. Nothing here looks at the
//! terminal or the environment: width, colour and characters come in [`Options`].

mod crop;
mod edits;
mod elsewhere;
mod excerpt;
mod exit;
pub mod explain;
mod frame;
mod full;
pub mod graph;
mod headline;
mod json;
mod line;
mod lines;
mod not_linted;
mod patch;
mod short;
mod style;
mod summary;
mod text;
pub mod timeline;
pub mod timeline_json;
mod wrap;

#[cfg(test)]
mod tests;

pub use exit::{Exit, counted};
pub use style::{Glyphs, Role, Style};
pub use text::told_in_full;

use crate::cli::LintFormat;
use crate::finding::{Finding, Severity, Skipped};
use crate::manifest::{Source, Span};
use crate::pod::version::KubeVersion;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// How to print, decided once by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format of the findings.
    pub format: LintFormat,
    /// Colour and characters.
    pub style: Style,
    /// Columns of the terminal; 80 in a pipe.
    pub width: usize,
    /// The summary only.
    pub quiet: bool,
    /// Suppressed findings are listed, too, at the end.
    pub show_suppressed: bool,
}

impl Options {
    /// The columns that lines may take: below 60 nothing shrinks further, and a line of more than
    /// 500 helps nobody.
    pub fn columns(&self) -> usize {
        self.width.clamp(60, 500)
    }
}

/// Everything that one run of `lint` has to say.
#[derive(Debug)]
pub struct Report {
    /// The inputs; findings name them by their place here.
    pub sources: Vec<Input>,
    /// The findings in the order in which they are told, of every severity, suppressed ones
    /// included; labels and evidence have their spans.
    pub findings: Vec<Finding>,
    /// The inputs that could not be read, wholly or in part.
    pub not_linted: Vec<NotLinted>,
    /// Unrendered templates.
    pub templates: Vec<Templates>,
    /// Things that are no findings, such as a key given twice.
    pub notes: Vec<Skipped>,
    /// How much was read.
    pub totals: Totals,
    /// What it was judged by.
    pub target: Target,
    /// The least severity that fails the run; none when nothing does.
    pub fail_on: Option<Severity>,
    /// The least severity that is listed.
    pub severity: Severity,
    /// How the run ends, and why; see [`Report::judge`].
    pub exit: Exit,
}

impl Report {
    /// The findings that text formats list.
    pub fn listed(&self) -> impl Iterator<Item = &Finding> {
        self.active()
            .filter(|finding| finding.severity >= self.severity)
    }

    /// The findings that nothing suppresses.
    pub fn active(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.suppressed.is_none())
    }

    /// The text that a finding lies in; none when it names no source of this run.
    pub fn source_of(&self, finding: &Finding) -> Option<&Source> {
        self.source(finding.source)
    }

    /// A text by its place in [`Report::sources`].
    fn source(&self, number: usize) -> Option<&Source> {
        self.sources.get(number).map(|input| &*input.source)
    }

    /// The part of its source that a finding's document takes.
    fn document_of(&self, finding: &Finding) -> Option<(&Source, Span)> {
        let input = self.sources.get(finding.source)?;
        Some((&input.source, *input.documents.get(&finding.document)?))
    }
}

/// One text that was linted.
#[derive(Clone, Debug)]
pub struct Input {
    /// The text with its name.
    pub source: Arc<Source>,
    /// The span of each document that a finding lies in, by [`Finding::document`].
    pub documents: BTreeMap<usize, Span>,
}

/// An input that could not be read.
#[derive(Clone, Debug)]
pub struct NotLinted {
    /// Its name, the place and the reason.
    pub skipped: Skipped,
    /// The place in the text; none when there is no text to show.
    pub broken: Option<Broken>,
}

/// The place where a text stops making sense.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The text.
    pub source: Arc<Source>,
    /// Where reading stopped.
    pub at: Span,
    /// The opening bracket or quote that nothing closes.
    pub opened: Option<Span>,
}

/// The unrendered templates of one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templates {
    /// The chart's folder, as the user's path leads to it.
    pub chart: String,
    /// How many files.
    pub count: usize,
}

/// How much was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files, standard input, or live objects.
    pub files: usize,
    /// YAML documents.
    pub documents: usize,
    /// Objects that create pods.
    pub workloads: usize,
}

/// The Kubernetes that the findings are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kubelet's version.
    pub kubernetes: KubeVersion,
    /// Who said so.
    pub source: TargetSource,
    /// The mesh whose proxies are reckoned with, if any.
    pub mesh: Option<String>,
    /// How many pods are judged as the API server makes them; none when it was not asked.
    pub answered: Option<usize>,
}

/// Who chose the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetSource {
    /// Nobody: the newest version that is known.
    Default,
    /// `--k8s-version`.
    Flag,
    /// The configuration.
    Config,
    /// The oldest kubelet that the workload may run on.
    Kubelet,
    /// The API server, since its nodes may not be read.
    Server,
}

impl TargetSource {
    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            TargetSource::Default => "default",
            TargetSource::Flag => "flag",
            TargetSource::Config => "config",
            TargetSource::Kubelet => "kubelet",
            TargetSource::Server => "server",
        }
    }
}

/// Prints the findings, for standard output.
pub fn findings(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    match options.format {
        LintFormat::Json => json::findings(report, out),
        LintFormat::Text | LintFormat::Wide | LintFormat::Line if options.quiet => Ok(()),
        LintFormat::Text | LintFormat::Wide => text::findings(report, options, out),
        LintFormat::Line => line::findings(report, options, out),
    }
}

/// Prints notes, what was not linted, the counts and why the run ends as it does, for standard
/// error.
pub fn summary(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    match options.format {
        LintFormat::Json => summary::exit_line(report, out),
        LintFormat::Text | LintFormat::Wide | LintFormat::Line if options.quiet => {
            summary::counts(report, options, out)
        }
        LintFormat::Text | LintFormat::Wide => {
            let lists_something = text::has_content(report, options);
            separate(lists_something, out)?;
            let told = not_linted::draw(report, options, out)?;
            separate(told, out)?;
            summary::counts(report, options, out)
        }
        LintFormat::Line => {
            not_linted::lines(report, options, out)?;
            summary::counts(report, options, out)
        }
    }
}

/// The blank line between two blocks, if there is one above.
fn separate(is_needed: bool, out: &mut dyn Write) -> io::Result<()> {
    if is_needed { writeln!(out) } else { Ok(()) }
}
