//! `--baseline`: reads the file and hides what it holds, or writes it.

use super::paths;
use crate::baseline::{self, Baseline, BaselineError, Entry, Known};
use crate::config::Levels;
use crate::error::Failure;
use crate::finding::{Finding, Skipped};
use crate::manifest::Source;
use crate::manifest::Span;
use crate::manifest::load::{self, Input};
use crate::render::counted;
use crate::run::Run;
use jiff::Timestamp;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// More entries than these are counted, not named.
const NAMED: usize = 5;

/// What a baseline makes of a run.
#[derive(Default)]
pub struct Compared {
    /// The findings that it hides.
    pub known: Known,
    /// Entries that nothing stands for any more.
    pub notes: Vec<Skipped>,
}

/// A baseline of this run.
pub struct Job<'j> {
    /// The file.
    pub path: &'j Path,
    /// It is written though it exists.
    pub is_update: bool,
    /// The rules that count.
    pub levels: &'j Levels,
}

impl Job<'_> {
    /// Writes the baseline if it is not there, or is to be written anew; else hides what it holds.
    pub fn run(
        &self,
        run: &Run,
        findings: &mut [Finding],
        err: &mut dyn Write,
    ) -> Result<Compared, Failure> {
        let folder = paths::folder_of(self.path);
        let files: Vec<String> = run
            .files
            .iter()
            .map(|file| paths::below(&folder, file.source.name()))
            .collect();
        let loud: Vec<bool> = findings.iter().map(|it| it.suppressed.is_none()).collect();
        let notes = match self.is_update || !self.path.exists() {
            true => {
                self.write(findings, &files, err)?;
                Vec::new()
            }
            false => self.compare(findings, &files)?,
        };
        let hidden = findings
            .iter()
            .zip(loud)
            .filter(|(finding, was_loud)| *was_loud && finding.suppressed.is_some());
        Ok(Compared {
            known: Known::of(hidden.map(|(finding, _)| finding)),
            notes,
        })
    }

    fn write(
        &self,
        findings: &mut [Finding],
        files: &[String],
        err: &mut dyn Write,
    ) -> Result<(), Failure> {
        let now = Timestamp::now().to_string();
        let today = now.split('T').next().unwrap_or_default();
        let mut entries = Vec::new();
        for finding in findings.iter_mut().filter(|it| it.suppressed.is_none()) {
            let file = files.get(finding.source).map_or("", String::as_str);
            entries.push(Entry::of(finding, file));
            finding.suppressed = Some(baseline::hidden(today));
        }
        let count = entries.len();
        let name = self.path.display();
        let text = baseline::write(entries, today).map_err(|error| Failure::new(error.to_string()));
        fs::write(self.path, text?).map_err(|error| Failure::new(format!("{name}: {error}")))?;
        writeln!(err, "wrote {name}: {}", counted(count, "finding"))?;
        Ok(())
    }

    fn compare(&self, findings: &mut [Finding], files: &[String]) -> Result<Vec<Skipped>, Failure> {
        let (source, baseline) = self.read()?;
        let gone = baseline.hide(findings, files);
        let folder = paths::folder_of(self.path);
        // What this run has not looked at may still be there.
        let is_told = |(entry, _): &&(Entry, Span)| {
            let is_read = files.contains(&entry.file) || !folder.join(&entry.file).exists();
            is_read && self.levels.is_on(&entry.rule)
        };
        let gone: Vec<&(Entry, Span)> = gone.into_iter().filter(is_told).collect();
        let mut notes: Vec<Skipped> = gone
            .iter()
            .take(NAMED)
            .map(|(entry, at)| note(&source, entry, *at))
            .collect();
        if let Some(more) = gone.len().checked_sub(NAMED).filter(|more| *more > 0) {
            notes.push(Skipped {
                file: source.name().to_owned(),
                position: None,
                reason: format!("{more} more are there no longer"),
            });
        }
        Ok(notes)
    }

    fn read(&self) -> Result<(Arc<Source>, Baseline), Failure> {
        let name = self.path.display().to_string();
        let input = Input {
            path: self.path.to_owned(),
            is_named: true,
        };
        let text = load::read(&input).map_err(|error| Failure::new(format!("{name}: {error}")))?;
        let source = Arc::new(Source::new(name, text));
        let baseline = baseline::read(&source).map_err(|error| told(&source, &error))?;
        Ok((source, baseline))
    }
}

fn told(source: &Source, error: &BaselineError) -> Failure {
    let at = source.position(error.at.start);
    let place = format!("{}:{}:{}", source.name(), at.line, at.column);
    Failure::new(format!("{place}: {error}")).hint("--update-baseline writes it anew")
}

fn note(source: &Source, entry: &Entry, at: Span) -> Skipped {
    let at = source.position(at.start);
    let names = [&entry.container, &entry.dependent];
    let names: Vec<String> = names
        .into_iter()
        .flatten()
        .map(|it| format!("`{it}`"))
        .collect();
    let about = match names.is_empty() {
        true => String::new(),
        false => format!(", {}", names.join(" and ")),
    };
    Skipped {
        file: source.name().to_owned(),
        position: Some((at.line, at.column)),
        reason: format!(
            "{} of {}{about} is there no longer; --update-baseline drops it",
            entry.rule, entry.workload
        ),
    }
}
