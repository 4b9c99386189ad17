//! `lint`: reads, judges, proves the fixes, prints.

use super::baseline::{Compared, Job};
use super::input::{self, Gathered, Scope};
#[cfg(feature = "cluster")]
use super::live;
use super::settings::Settings;
use super::terminal;
use super::via_server::{self, ViaServer};
use crate::admission::Answers;
use crate::baseline::Known;
use crate::cli::{LintArgs, LintFormat, MeshName, Prefer};
use crate::config::{self, Levels};
use crate::error::Failure;
use crate::finding::{Finding, Outcome, Severity, Skipped};
use crate::inject::Mesh;
use crate::judge::{self, Target};
use crate::manifest::load::LoadError;
use crate::render::{self, Exit, NotLinted, Options, Report, TargetSource, Templates, Totals};
use crate::rules::Preference;
use crate::run::{DocumentRead, FileRead, Run};
use crate::suppress::Suppressor;
use crate::{diff, fix};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Runs the command; the number is the exit code.
pub fn run(args: &LintArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    let settings = Settings::read(&args.configuration)?;
    let stdin_name = args.stdin_filename.as_deref().unwrap_or("-");
    let asked = ("lint", asked(args));
    let mut gathered = input::gather(&args.input, &args.connection, stdin_name, asked)?;
    let mut via = match args.via_server {
        true => Some(via_server::ask_about(&args.connection, &mut gathered)?),
        false => None,
    };
    let unseen = std::mem::take(&mut gathered.notes);
    let levels = settings.levels(&args.only, &args.ignore)?;
    let (target, source) = target(args, &gathered, &settings, &levels)?;
    let mut run = gathered.run;
    let paths = settings.paths(&run);
    let suppressor = Suppressor {
        levels: &levels,
        config: &settings.config,
        paths: &paths,
    };
    let mut findings = judge::findings(&run, target);
    // What is found about the templates carries the fixes of what is found about the server's pods.
    let mut own = None;
    if let Some(via) = &mut via {
        let answered = via.answers.findings(&mut run, target, &mut findings);
        own = Some(std::mem::replace(&mut findings, answered));
    }
    suppressor.mark(&run, &mut findings);
    judge::sort(&mut findings);
    let compared = compare(args, &levels, &run, &mut findings, err)?;
    let answers = via.as_ref().map(|via| &via.answers);
    let trial = (answers, own.as_deref_mut());
    let scope = proofs(args, &findings)?;
    try_fixes(&run, target, &scope, trial, &mut findings);
    suppressor.drop_left_out(&mut findings);
    #[cfg(feature = "cluster")]
    if args.input.filename.is_empty() || args.via_server {
        live::name_suspects(&args.connection, &mut findings);
    }
    let mut report = report(args, &settings, (target, source), &run, findings)?;
    report
        .notes
        .extend(unseen.into_iter().chain(compared.notes));
    if let Some(via) = via {
        add_answers(&mut report, via);
    }
    let fixer = Fixer {
        run: &run,
        target,
        suppressor,
        own: own.as_deref(),
        known: compared.known,
    };
    let code = print(args, &fixer, &report, out, err);
    // The process ends next: to give back every node of every tree takes longer than to read some.
    std::mem::forget(run);
    code
}

fn print(
    args: &LintArgs,
    fixer: &Fixer<'_>,
    report: &Report,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Failure> {
    let options = Options {
        format: args.output,
        style: terminal::style(&args.style),
        width: terminal::width(),
        quiet: args.quiet,
        show_suppressed: args.show_suppressed,
    };
    if args.diff {
        return Ok(print_diff(fixer, report, &options, out, err)?);
    }
    render::findings(report, &options, out)?;
    out.flush()?;
    render::summary(report, &options, err)?;
    Ok(report.exit.code())
}

/// Tries the fixes of the findings; with a server's answers those of the templates' own findings,
/// which the findings about the answers then take over.
fn try_fixes(
    run: &Run,
    target: Target<'_>,
    scope: &fix::Scope,
    (answers, own): (Option<&Answers>, Option<&mut [Finding]>),
    findings: &mut [Finding],
) {
    match (answers, own) {
        (Some(answers), Some(own)) => {
            fix::prove(run, target, own, scope);
            answers.carry_fixes(own, findings);
        }
        (Some(_) | None, _) => fix::prove(run, target, findings, scope),
    }
}

fn asked(args: &LintArgs) -> Scope<'_> {
    Scope {
        selector: args.selector.as_deref(),
        all_namespaces: args.all_namespaces,
        wants_relatives: true,
    }
}

/// The fixes that the output needs proven: JSON and `--diff` carry all of them, text the patches
/// that it shows.
fn proofs(args: &LintArgs, findings: &[Finding]) -> Result<fix::Scope, Failure> {
    let least = severity(&args.severity)?;
    let listed = findings
        .iter()
        .filter(|finding| finding.severity >= least && finding.suppressed.is_none());
    let told = match args.output {
        _ if args.diff => return Ok(fix::Scope::All),
        LintFormat::Json => return Ok(fix::Scope::All),
        LintFormat::Line => BTreeSet::new(),
        LintFormat::Text | LintFormat::Wide if args.quiet => BTreeSet::new(),
        LintFormat::Text => render::told_in_full(listed, false),
        LintFormat::Wide => render::told_in_full(listed, true),
    };
    Ok(fix::Scope::Shown { least, told })
}

/// What the server has said about the pods. Without its answer the job is not done, though the
/// templates were judged.
fn add_answers(report: &mut Report, via: ViaServer) {
    report.target.answered = Some(via.answers.len());
    report.notes.extend(via.notes);
    let count = via.unanswered_count;
    if count > 0 && report.exit.code() != 2 {
        report.exit = Exit::Failure {
            code: 2,
            reason: format!(
                "the server gave no answer about {}",
                render::counted(count, "workload")
            ),
        };
    }
    report
        .not_linted
        .extend(via.unanswered.into_iter().map(|skipped| NotLinted {
            skipped,
            broken: None,
        }));
}

fn compare(
    args: &LintArgs,
    levels: &Levels,
    run: &Run,
    findings: &mut [Finding],
    err: &mut dyn Write,
) -> Result<Compared, Failure> {
    let Some(path) = &args.baseline else {
        return Ok(Compared::default());
    };
    let job = Job {
        path,
        is_update: args.update_baseline,
        levels,
    };
    job.run(run, findings, err)
}

fn target<'s>(
    args: &LintArgs,
    gathered: &Gathered,
    settings: &'s Settings,
    levels: &'s Levels,
) -> Result<(Target<'s>, TargetSource), Failure> {
    let (version, source) = match &args.k8s_version {
        None => settings.version(gathered),
        Some(text) => (input::version(text)?, TargetSource::Flag),
    };
    let preference = match args.prefer {
        None => Preference::PerRule,
        Some(Prefer::Native) => Preference::Native,
        Some(Prefer::Hook) => Preference::Hook,
    };
    let settled = settings.config.mesh.map(|mesh| mesh.value);
    let target = Target {
        version,
        preference,
        mesh: args.assume_mesh.map(mesh).or(settled),
        catalog: &settings.catalog,
        levels,
    };
    Ok((target, source))
}

fn mesh(name: MeshName) -> Mesh {
    match name {
        MeshName::Istio => Mesh::Istio,
        MeshName::Linkerd => Mesh::Linkerd,
        MeshName::Kuma => Mesh::Kuma,
        MeshName::Consul => Mesh::Consul,
        MeshName::Appmesh => Mesh::Appmesh,
        MeshName::Osm => Mesh::Osm,
        MeshName::Dapr => Mesh::Dapr,
    }
}

fn severity(word: &str) -> Result<Severity, Failure> {
    word.parse().map_err(Failure::new)
}

fn report(
    args: &LintArgs,
    settings: &Settings,
    (target, source): (Target<'_>, TargetSource),
    run: &Run,
    findings: Vec<Finding>,
) -> Result<Report, Failure> {
    let fail_on = match &args.fail_on {
        Some(word) => config::fail_on(word).map_err(Failure::new)?,
        None => settings.fail_on(),
    };
    let mut report = Report {
        sources: sources(run, settings),
        findings,
        not_linted: run.files.iter().flat_map(not_linted).collect(),
        templates: templates(run),
        notes: run.files.iter().flat_map(notes).collect(),
        totals: totals(run),
        target: render::Target {
            kubernetes: target.version,
            source,
            mesh: target.mesh.map(|mesh| mesh.word().to_owned()),
            answered: None,
        },
        fail_on,
        severity: severity(&args.severity)?,
        exit: Exit::Success,
    };
    report.exit = report.judge();
    if args.strict && !report.templates.is_empty() {
        report.exit = Exit::Failure {
            code: 2,
            reason: "templates are not linted (--strict)".to_owned(),
        };
    }
    Ok(report)
}

/// The files, and behind them the configuration, of which an ignore may be told.
fn sources(run: &Run, settings: &Settings) -> Vec<render::Input> {
    let files = run.files.iter().map(source);
    let config = settings.config.source.iter().map(|source| render::Input {
        source: Arc::clone(source),
        documents: BTreeMap::new(),
    });
    files.chain(config).collect()
}

fn source(file: &FileRead) -> render::Input {
    let documents = file
        .documents
        .iter()
        .map(|read| (read.document.index, read.document.span));
    render::Input {
        source: file.source.clone(),
        documents: documents.collect(),
    }
}

/// What of a file could not be read: all of it, some documents, or a named file without objects.
fn not_linted(file: &FileRead) -> Vec<NotLinted> {
    let name = file.source.name().to_owned();
    let whole = |reason: String| NotLinted {
        skipped: Skipped {
            file: name.clone(),
            position: None,
            reason,
        },
        broken: None,
    };
    if let Some(failure) = &file.failure {
        let position = match failure {
            LoadError::NotUtf8 { line, column, .. } => Some((*line, *column)),
            LoadError::Missing(_)
            | LoadError::Io(_)
            | LoadError::TooLarge
            | LoadError::Utf16
            | LoadError::Binary => None,
        };
        return vec![NotLinted {
            skipped: Skipped {
                file: name,
                position,
                reason: failure.to_string(),
            },
            broken: None,
        }];
    }
    if file.is_template && file.is_named {
        return vec![whole(
            "a template, not a manifest: render it first".to_owned(),
        )];
    }
    if file.is_named && !file.is_kubernetes && file.errors.is_empty() {
        return vec![whole("no Kubernetes object in it".to_owned())];
    }
    let broken = file.errors.iter();
    broken
        .map(|error| NotLinted::unparsed(&file.source, error))
        .collect()
}

/// Unrendered templates, counted by chart.
fn templates(run: &Run) -> Vec<Templates> {
    let mut charts: BTreeMap<String, usize> = BTreeMap::new();
    for file in run
        .files
        .iter()
        .filter(|file| file.is_template && !file.is_named)
    {
        *charts
            .entry(chart_of(Path::new(file.source.name())))
            .or_default() += 1;
    }
    charts
        .into_iter()
        .map(|(chart, count)| Templates { chart, count })
        .collect()
}

/// The folder above `templates`, else the file's own.
fn chart_of(path: &Path) -> String {
    let templates = path
        .ancestors()
        .filter(|above| above.file_name().is_some_and(|name| name == "templates"))
        .last();
    let chart = templates
        .and_then(Path::parent)
        .or(path.parent())
        .unwrap_or(Path::new("."));
    format!("{}/", chart.display().to_string().trim_end_matches('/'))
}

fn notes(file: &FileRead) -> Vec<Skipped> {
    let twice = file.keys_twice.iter().map(|twice| Skipped {
        file: file.source.name().to_owned(),
        position: Some(twice.again),
        reason: format!(
            "{} is given on line {}, too; the later one counts",
            twice.key, twice.first_line
        ),
    });
    twice.collect()
}

fn totals(run: &Run) -> Totals {
    let judged = || run.files.iter().filter(|file| !file.is_beside);
    Totals {
        files: judged().count(),
        documents: judged().map(|file| file.document_count).sum(),
        workloads: run.workloads().count(),
    }
}

/// What it takes to write the fixes that nobody ignores.
struct Fixer<'r> {
    run: &'r Run,
    target: Target<'r>,
    suppressor: Suppressor<'r>,
    /// What is found about the templates, when the server's pods are what is judged.
    own: Option<&'r [Finding]>,
    /// What a baseline hides.
    known: Known,
}

/// `--diff`: the patches and nothing else on standard output; titles and summary beside it.
fn print_diff(
    fixer: &Fixer<'_>,
    report: &Report,
    options: &Options,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> std::io::Result<u8> {
    let mut is_empty = true;
    for (source, file) in fixer.run.files.iter().enumerate() {
        let before = file.source.text();
        let Some(after) = fixer.patched(report, source) else {
            continue;
        };
        is_empty = false;
        write!(out, "{}", diff::unified(file.source.name(), before, &after))?;
    }
    out.flush()?;
    let quiet = Options {
        quiet: true,
        format: LintFormat::Text,
        ..*options
    };
    render::summary(report, &quiet, err)?;
    Ok(match report.exit.code() {
        2 => 2,
        _ => u8::from(!is_empty),
    })
}

impl Fixer<'_> {
    /// A file's text with every proven fix; none when there is no fix.
    fn patched(&self, report: &Report, source: usize) -> Option<String> {
        let file = self.run.files.get(source)?;
        let has_fix = |finding: &&Finding| {
            let outcome = finding.fix.as_ref().map(|fix| &fix.outcome);
            let is_active = finding.source == source && finding.suppressed.is_none();
            is_active && matches!(outcome, Some(Outcome::Proven(_)))
        };
        let findings = self.own.unwrap_or(&report.findings).iter();
        let mut documents: Vec<usize> = findings
            .filter(has_fix)
            .map(|finding| finding.document)
            .collect();
        documents.sort_unstable();
        documents.dedup();
        let suppress = |read: &DocumentRead, findings: &mut [Finding]| {
            self.suppressor.mark_document(self.run, read, findings);
            self.leave_settled(findings);
            self.known.hide(findings);
        };
        let mut text = file.source.text().to_owned();
        let mut is_changed = false;
        // From the last document to the first, so that the spans of earlier ones stay right.
        for index in documents.into_iter().rev() {
            let span = self.run.document(source, index)?.document.span;
            let fixed = fix::apply_all(self.run, self.target, source, index, &suppress);
            if let Some(changed) = fixed {
                text.replace_range(span.range(), &changed);
                is_changed = true;
            }
        }
        is_changed.then_some(text)
    }

    /// What the server has settled needs no patch.
    fn leave_settled(&self, findings: &mut [Finding]) {
        let Some(own) = self.own else { return };
        for finding in findings {
            if !fix::has_fix_for(own, finding) {
                finding.fix = None;
            }
        }
    }
}
