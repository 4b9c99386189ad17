//! `explain`: reads, predicts, prints.

use super::input::{self, Scope};
use super::settings::Settings;
use super::terminal;
use super::via_server::{self, ViaServer};
use crate::admission::Answers;
use crate::catalog::Catalog;
use crate::cli::{ExplainArgs, ExplainFormat};
use crate::error::Failure;
use crate::finding::Skipped;
use crate::fix;
use crate::judge::{self, Target};
use crate::manifest::load::{Input, LoadError};
use crate::plan::StartPlan;
use crate::pod::KubeVersion;
use crate::pod::workload::Workload;
use crate::render::TargetSource;
use crate::render::explain::{Explanation, Named, Prediction, to_json, to_text};
use crate::rules::Preference;
use crate::run::{DocumentRead, FileRead, Run};
use crate::suppress::Suppressor;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Runs the command; the number is the exit code.
pub fn run(args: &ExplainArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    let settings = Settings::read(&args.configuration)?;
    let mut gathered = input::gather(
        &args.input,
        &args.connection,
        "-",
        ("explain", Scope::default()),
    )?;
    let mut compared = args.compare.as_deref().map(read_compared).transpose()?;
    let mut answers = Vec::new();
    let mut code = 0;
    if args.via_server {
        let mut via = via_server::ask_about(&args.connection, &mut gathered)?;
        code = code.max(print_said(&via, err)?);
        via.answers.exchange(&mut gathered.run);
        answers.push(via.answers);
        if let Some(compared) = &mut compared {
            let mut via = via_server::ask(&args.connection, compared)?;
            code = code.max(print_said(&via, err)?);
            via.answers.exchange(compared);
            answers.push(via.answers);
        }
    }
    let (settled, source) = settings.version(&gathered);
    let versions = versions(args, settled)?;
    let run = gathered.run;
    let mut printer = Printer {
        args,
        source: match args.k8s_version.is_empty() {
            true => source,
            false => TargetSource::Flag,
        },
        out,
        is_first: true,
    };
    let (own, others) = (answers.first(), answers.get(1));
    for (source, subject) in subjects(&run, own, &settings.catalog) {
        let expected = match &compared {
            Some(compared) => Some(counterpart(compared, others, &subject)?),
            None => None,
        };
        match expected {
            Some(expected) => printer.compared(&versions, &subject, &expected)?,
            None => match fixed((&run, &settings), &versions, source, &subject, args) {
                Some(fixed) => printer.fixed(&versions, &subject, &fixed)?,
                None => printer.alone(&versions, &subject)?,
            },
        }
    }
    printer.out.flush()?;
    Ok(code.max(print_unread(&run, err)?))
}

/// Tells what the server said about the pods; the number is the exit code.
fn print_said(via: &ViaServer, err: &mut dyn Write) -> io::Result<u8> {
    let told = |word: &'static str| move |it: &Skipped| (word, it.clone());
    let notes = via.notes.iter().map(told("note"));
    let unanswered = via.unanswered.iter().map(told("error"));
    for (word, it) in notes.chain(unanswered) {
        let place = it
            .position
            .map(|(line, column)| format!(":{line}:{column}"));
        let place = place.unwrap_or_default();
        writeln!(err, "{}{place}: {word}: {}", it.file, it.reason)?;
    }
    Ok(if via.unanswered.is_empty() { 0 } else { 2 })
}

/// A workload with the document and the file that it stands in.
#[derive(Clone, Copy)]
struct Subject<'r> {
    name: &'r str,
    read: &'r DocumentRead,
    workload: &'r Workload,
    /// The run that it is from, and its place there.
    run: &'r Run,
    number: usize,
    /// The pods as the server makes them, if it was asked.
    answers: Option<&'r Answers>,
    /// The run that holds its ConfigMaps, and its source there.
    around: (&'r Run, usize),
    /// The sidecars that are known.
    catalog: &'r Catalog,
}

impl<'r> Subject<'r> {
    fn plan(&self, version: KubeVersion) -> StartPlan {
        let (around, source) = self.around;
        let mut plan = judge::plan_in(around, source, self.workload, (version, self.catalog));
        if let Some(answers) = self.answers {
            let evidence = plan.needs.iter_mut().flat_map(|need| &mut need.evidence);
            evidence.for_each(|one| answers.place_evidence(self.run, self.number, one));
        }
        plan
    }

    fn prediction(&self, plan: &'r StartPlan) -> Prediction<'r> {
        Prediction {
            object: &self.workload.object,
            template: &self.workload.template,
            plan,
            document: &self.read.document,
            is_answered: self
                .answers
                .is_some_and(|answers| answers.holds(self.number)),
        }
    }
}

struct Printer<'p> {
    args: &'p ExplainArgs,
    /// Who chose the version.
    source: TargetSource,
    out: &'p mut dyn Write,
    is_first: bool,
}

impl Printer<'_> {
    fn alone(&mut self, versions: &[KubeVersion], subject: &Subject<'_>) -> io::Result<()> {
        let plans: Vec<StartPlan> = versions.iter().map(|it| subject.plan(*it)).collect();
        let predictions = plans.iter().map(|plan| subject.prediction(plan));
        let mut predictions: Vec<Prediction<'_>> = predictions.collect();
        let explanation = match predictions.len() {
            1 => Explanation::One(predictions.remove(0)),
            _ => Explanation::Versions(predictions),
        };
        match self.args.output {
            ExplainFormat::Text => self.text(&explanation),
            ExplainFormat::Json => self.json(&to_json(&explanation, self.source)),
        }
    }

    /// One comparison for each version.
    fn compared(
        &mut self,
        versions: &[KubeVersion],
        reality: &Subject<'_>,
        expected: &Subject<'_>,
    ) -> io::Result<()> {
        let mut values = Vec::new();
        for version in versions {
            let plans = (reality.plan(*version), expected.plan(*version));
            let named = |subject: &Subject<'_>| subject.name.to_owned();
            let explanation = Explanation::Compared {
                reality: Named {
                    name: named(reality),
                    prediction: reality.prediction(&plans.0),
                },
                expected: Named {
                    name: named(expected),
                    prediction: expected.prediction(&plans.1),
                },
            };
            match self.args.output {
                ExplainFormat::Text => self.text(&explanation)?,
                ExplainFormat::Json => values.push(to_json(&explanation, self.source)),
            }
        }
        match (self.args.output, values.as_slice()) {
            (ExplainFormat::Text, _) => Ok(()),
            (ExplainFormat::Json, [only]) => self.json(only),
            (ExplainFormat::Json, all) => self.json(&json!({"version": 1, "versions": all})),
        }
    }

    /// A manifest beside itself with its fixes, which are found again in the fixed text.
    fn fixed(
        &mut self,
        versions: &[KubeVersion],
        reality: &Subject<'_>,
        fixed: &str,
    ) -> io::Result<()> {
        let run = Run::of_texts([("with its fixes".to_owned(), fixed.to_owned())]);
        // A fix of another workload of the document, or one that changes no order, shows nothing.
        let is_changed = |found: &Subject<'_>| {
            let differs = |version: &KubeVersion| found.plan(*version) != reality.plan(*version);
            versions.iter().any(differs)
        };
        let expected = same_object(&run, None, reality).map(|found| Subject {
            around: reality.around,
            ..found
        });
        match expected.filter(is_changed) {
            Some(expected) => self.compared(versions, reality, &expected),
            None => self.alone(versions, reality),
        }
    }

    fn text(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        if !self.is_first {
            writeln!(self.out)?;
        }
        self.is_first = false;
        let style = terminal::style(&self.args.style);
        write!(
            self.out,
            "{}",
            to_text(explanation, terminal::width(), style)
        )
    }

    /// Several workloads are several objects, one after the other.
    fn json(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        writeln!(self.out)
    }
}

/// The versions that are asked for, the oldest first.
fn versions(args: &ExplainArgs, settled: KubeVersion) -> Result<Vec<KubeVersion>, Failure> {
    if args.k8s_version.is_empty() {
        return Ok(vec![settled]);
    }
    let parsed = args.k8s_version.iter().map(|text| input::version(text));
    let mut versions = parsed.collect::<Result<Vec<KubeVersion>, Failure>>()?;
    versions.sort_unstable();
    versions.dedup();
    Ok(versions)
}

fn read_compared(path: &Path) -> Result<Run, Failure> {
    let paths = [path.to_owned()];
    let is_missing = path.as_os_str() != "-" && !path.exists();
    if is_missing {
        let error = LoadError::Missing(path.display().to_string());
        return Err(input::missing(error, &paths));
    }
    let input = Input {
        path: path.to_owned(),
        is_named: true,
    };
    let run = Run::read(&[input], "-");
    match run.files.iter().flat_map(unread).next() {
        Some(reason) => Err(Failure::new(reason)),
        None => Ok(run),
    }
}

/// The workload of the compared file that stands for this one: the same object, else the only one.
fn counterpart<'r>(
    compared: &'r Run,
    answers: Option<&'r Answers>,
    reality: &Subject<'r>,
) -> Result<Subject<'r>, Failure> {
    if let Some(same) = same_object(compared, answers, reality) {
        return Ok(same);
    }
    let mut all = subjects(compared, answers, reality.catalog).map(|(_, subject)| subject);
    if let (Some(only), None) = (all.next(), all.next()) {
        return Ok(only);
    }
    let name = compared.files.first().map_or("", |file| file.source.name());
    let object = &reality.workload.object;
    Err(Failure::new(format!(
        "no {}/{} in {name:?} to compare with",
        object.kind, object.name
    )))
}

/// The workloads of a run, each with its source.
fn subjects<'r>(
    run: &'r Run,
    answers: Option<&'r Answers>,
    catalog: &'r Catalog,
) -> impl Iterator<Item = (usize, Subject<'r>)> {
    let workloads = run.workloads().enumerate();
    workloads.map(move |(number, (source, read, workload))| {
        let subject = Subject {
            name: run.files[source].source.name(),
            read,
            workload,
            run,
            number,
            answers,
            around: (run, source),
            catalog,
        };
        (source, subject)
    })
}

fn same_object<'r>(
    run: &'r Run,
    answers: Option<&'r Answers>,
    reality: &Subject<'r>,
) -> Option<Subject<'r>> {
    let workload = reality.workload;
    let is_same = |subject: &Subject<'_>| {
        let (object, own) = (&subject.workload.object, &workload.object);
        let same_place = subject.workload.template.spec_at == workload.template.spec_at;
        object.kind == own.kind && object.name == own.name && same_place
    };
    let mut all = subjects(run, answers, reality.catalog).map(|(_, subject)| subject);
    all.find(is_same)
}

/// The document's text with its fixes, when there are any: what "expected" shows without
/// `--compare`. Several versions are compared with each other instead, programs ask with
/// `--compare`, and the fixes of a manifest are not what the server makes of it.
fn fixed(
    (run, settings): (&Run, &Settings),
    versions: &[KubeVersion],
    source: usize,
    subject: &Subject<'_>,
    args: &ExplainArgs,
) -> Option<String> {
    let ([version], ExplainFormat::Text, false) = (versions, args.output, args.via_server) else {
        return None;
    };
    let levels = settings.config.levels();
    let target = Target {
        version: *version,
        preference: Preference::PerRule,
        mesh: settings.config.mesh.map(|mesh| mesh.value),
        catalog: &settings.catalog,
        levels: &levels,
    };
    let paths = settings.paths(run);
    let suppressor = Suppressor {
        levels: &levels,
        config: &settings.config,
        paths: &paths,
    };
    let index = subject.read.document.index;
    fix::apply_all(run, target, source, index, &|read, findings| {
        suppressor.mark_document(run, read, findings);
    })
}

/// Tells what could not be read; the number is the exit code.
pub(super) fn print_unread(run: &Run, err: &mut dyn Write) -> io::Result<u8> {
    let mut code = 0;
    for reason in run.files.iter().flat_map(unread) {
        writeln!(err, "error: {reason}")?;
        code = 2;
    }
    Ok(code)
}

/// Why a file, or a part of it, could not be read.
fn unread(file: &FileRead) -> Vec<String> {
    let name = file.source.name();
    if let Some(failure) = &file.failure {
        return vec![format!("{name}: {failure}")];
    }
    if file.is_template && file.is_named {
        return vec![format!(
            "{name}: a template, not a manifest: render it first"
        )];
    }
    let errors = file.errors.iter().map(|error| {
        let at = file.source.position(error.at.start);
        format!("{name}:{}:{}: {}", at.line, at.column, error.message)
    });
    errors.collect()
}
