//! Judges the workloads of a run: predicts each, runs the rules, looks up the places of findings.

use crate::catalog::Catalog;
use crate::config::Levels;
use crate::finding::Finding;
use crate::inject::Mesh;
use crate::manifest::{Document, Mark};
use crate::plan::config::NoConfigs;
use crate::plan::profile::{Profile, profiles};
use crate::plan::{self, StartPlan};
use crate::pod::{KubeVersion, Workload};
use crate::rules::configs::{self, OfRun};
use crate::rules::{self, Context, Preference, Subject};
use crate::run::{DocumentRead, Run};
use rayon::prelude::*;
use std::cmp::Reverse;

/// What workloads are judged by.
#[derive(Clone, Copy, Debug)]
pub struct Target<'c> {
    /// The kubelet's version.
    pub version: KubeVersion,
    /// The kind of gate that fixes write.
    pub preference: Preference,
    /// The mesh whose proxies are injected although no manifest says so.
    pub mesh: Option<Mesh>,
    /// Known sidecars.
    pub catalog: &'c Catalog,
    /// Severities that the user has settled.
    pub levels: &'c Levels,
}

/// Judges every workload. Findings come in the order of files, lines and rules, their places
/// looked up, their fixes untried.
pub fn findings(run: &Run, target: Target<'_>) -> Vec<Finding> {
    let documents: Vec<(usize, &DocumentRead)> = run.documents().collect();
    let judged = documents.par_iter().map(|(source, read)| {
        let mut subjects = subjects(run, *source, read, target);
        let findings = of_subjects(run, read, &subjects, target);
        // A run of many files would hold all that each container says of itself until its end.
        let profiles = subjects
            .iter_mut()
            .flat_map(|subject| &mut subject.profiles);
        profiles.for_each(Profile::keep_waits);
        (subjects, findings)
    });
    let (subjects, own): (Vec<Vec<Subject<'_>>>, Vec<Vec<Finding>>) = judged.unzip();
    let subjects: Vec<Subject<'_>> = subjects.into_iter().flatten().collect();
    let mut of_run = rules::check_run(run, &subjects);
    for finding in &mut of_run {
        target.levels.apply(finding);
        if let Some(read) = run.document(finding.source, finding.document) {
            look_up(finding, &read.document, run);
        }
    }
    let mut findings: Vec<Finding> = own.into_iter().flatten().chain(of_run).collect();
    rules::drop_consequences(&mut findings);
    sort(&mut findings);
    findings
}

/// The findings of a document's subjects, their places looked up.
fn of_subjects(
    run: &Run,
    read: &DocumentRead,
    subjects: &[Subject<'_>],
    target: Target<'_>,
) -> Vec<Finding> {
    let all = subjects
        .iter()
        .flat_map(|subject| rules::check(&context(run, subject, target)));
    let mut findings: Vec<Finding> = all.collect();
    findings.iter_mut().for_each(|finding| {
        target.levels.apply(finding);
        look_up(finding, &read.document, run);
    });
    findings.shrink_to_fit();
    findings
}

/// Brings findings whose places are looked up into the order in which they are told.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| {
        (
            finding.source,
            finding.document,
            finding.primary.span.map_or(0, |span| span.start),
            Reverse(finding.severity),
            finding.rule,
        )
    });
}

/// Every workload of the run with all that is known of it, in the order of [`Run::workloads`].
pub fn all_subjects<'r>(run: &'r Run, target: Target<'r>) -> Vec<Subject<'r>> {
    let documents: Vec<(usize, &DocumentRead)> = run.documents().collect();
    let subjects = documents
        .par_iter()
        .map(|(source, read)| subjects(run, *source, read, target));
    subjects.flatten_iter().collect()
}

/// The findings of one document by itself, without what rests on other documents.
pub fn document(run: &Run, source: usize, read: &DocumentRead, target: Target<'_>) -> Vec<Finding> {
    let subjects = subjects(run, source, read, target);
    let mut findings = of_subjects(run, read, &subjects, target);
    findings.sort_by_key(|finding| {
        (
            finding.primary.span.map_or(0, |span| span.start),
            Reverse(finding.severity),
            finding.rule,
        )
    });
    findings
}

/// What the kubelet does with a workload of which nothing else is known.
pub fn plan(workload: &Workload, version: KubeVersion, catalog: &Catalog) -> StartPlan {
    let profiles = profiles(&workload.template, catalog, &NoConfigs);
    plan_by(workload, version, &profiles)
}

/// What the kubelet of this version does with a workload of a run, whose ConfigMaps tell who needs
/// whom, too.
pub fn plan_in(
    run: &Run,
    source: usize,
    workload: &Workload,
    (version, catalog): (KubeVersion, &Catalog),
) -> StartPlan {
    let configs = OfRun {
        run,
        namespace: run.namespace_of(&workload.object),
        source,
    };
    let profiles = profiles(&workload.template, catalog, &configs);
    plan_by(workload, version, &profiles)
}

fn plan_by(workload: &Workload, version: KubeVersion, profiles: &[Profile<'_>]) -> StartPlan {
    let needs = plan::needs::find(&workload.template, &workload.object.name, version, profiles);
    plan::predict(&workload.template, version, needs)
}

fn subjects<'r>(
    run: &'r Run,
    source: usize,
    read: &'r DocumentRead,
    target: Target<'r>,
) -> Vec<Subject<'r>> {
    let workloads: Vec<&Workload> = read.workloads().collect();
    let subjects = workloads
        .into_iter()
        .map(|workload| subject(run, source, read.document.index, workload, target));
    subjects.collect()
}

fn subject<'r>(
    run: &'r Run,
    source: usize,
    document: usize,
    workload: &'r Workload,
    target: Target<'r>,
) -> Subject<'r> {
    let namespace = run.namespace_of(&workload.object);
    let configs = OfRun {
        run,
        namespace,
        source,
    };
    let profiles = profiles(&workload.template, target.catalog, &configs);
    let plan = plan_by(workload, target.version, &profiles);
    Subject {
        source,
        document,
        workload,
        plan,
        profiles,
    }
}

fn context<'a>(run: &'a Run, subject: &'a Subject<'a>, target: Target<'a>) -> Context<'a> {
    Context {
        run,
        workload: subject.workload,
        plan: &subject.plan,
        profiles: &subject.profiles,
        catalog: target.catalog,
        preference: target.preference,
        mesh: target.mesh,
        source: subject.source,
        document: subject.document,
    }
}

/// Looks up the places of a finding's labels and evidence.
pub fn look_up(finding: &mut Finding, document: &Document, run: &Run) {
    let labels = std::iter::once(&mut finding.primary).chain(&mut finding.related);
    labels.for_each(|label| label.span = document.span_at(&label.at, &label.mark));
    for evidence in &mut finding.evidence {
        let mark = match evidence.words.is_empty() || evidence.elsewhere.is_some() {
            true => Mark::Value,
            false => Mark::Part(evidence.words.clone()),
        };
        evidence.span = document.span_at(&evidence.at, &mark);
        if let Some(elsewhere) = &mut evidence.elsewhere {
            configs::look_up(elsewhere, &evidence.words, run);
        }
    }
}
