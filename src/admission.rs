//! What an API server makes of the pods of a run: the pods to ask it about, and its answers in the
//! place of the templates.
//!
//! Webhooks, policies and defaults change a pod when it is made. A question is a workload's pod as
//! its controller would create it; an answer is that pod as the server would keep it. The answer is
//! judged, and what is found goes back to the lines of the user's manifest.

mod changes;
mod fixes;
mod places;
mod question;

#[cfg(test)]
mod tests;

use crate::finding::{Evidence, Finding, Label};
use crate::judge::{self, Target};
use crate::manifest::{Document, Mark};
use crate::pod::{PodTemplate, Workload};
use crate::rules;
use crate::run::Run;
use places::{Place, Places};
use serde_json::Value;
use std::collections::BTreeMap;

pub use question::{Question, questions};

/// The answers to the questions of a run, by the place of their workloads in [`Run::workloads`].
#[derive(Debug, Default)]
pub struct Answers {
    answers: BTreeMap<usize, Answer>,
    /// The workloads with the answered pods as their templates; while they are in the run, the
    /// user's own.
    workloads: BTreeMap<usize, Workload>,
    /// The keys of the answers by their documents.
    by_document: BTreeMap<(usize, usize), Vec<usize>>,
}

/// A pod as the server would keep it.
#[derive(Debug)]
struct Answer {
    source: usize,
    document: usize,
    pod: Document,
    /// The template that was asked about.
    asked: PodTemplate,
}

impl Answers {
    /// Takes what the server made of a question's pod. In a sentence: what that changes about the
    /// start order; none when it changes nothing.
    pub fn take(&mut self, run: &Run, question: &Question, pod: &Value) -> Option<String> {
        let asked = run.workload(question.workload)?;
        let pod = Document::from_json(pod);
        let answered = answered(asked, &pod)?;
        let said = changes::sentence(&asked.template, &answered.template);
        let answer = Answer {
            source: question.source,
            document: question.document,
            pod,
            asked: asked.template.clone(),
        };
        let place = (question.source, question.document);
        let numbers = self.by_document.entry(place).or_default();
        numbers.push(question.workload);
        self.answers.insert(question.workload, answer);
        self.workloads.insert(question.workload, answered);
        said
    }

    /// How many pods were answered.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether no pod was answered.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Whether the pod of a workload was answered.
    pub fn holds(&self, workload: usize) -> bool {
        self.answers.contains_key(&workload)
    }

    /// Puts the answered pods in the place of the templates; a second time puts the templates back.
    pub fn exchange(&mut self, run: &mut Run) {
        run.exchange(&mut self.workloads);
    }

    /// The findings about the answered pods, each at its place in the user's manifest; their fixes
    /// are those of `own`, the findings about the templates as they stand. Of `own` only those keep
    /// a fix that are findings about the answered pods, too.
    pub fn findings(&mut self, run: &mut Run, target: Target, own: &mut [Finding]) -> Vec<Finding> {
        self.exchange(run);
        let mut findings = judge::findings(run, target);
        self.exchange(run);
        for finding in &mut findings {
            self.to_manifest(run, finding);
        }
        findings.extend(self.lost(run));
        rules::drop_consequences(&mut findings);
        judge::sort(&mut findings);
        fixes::keep_shared(own, &findings);
        findings
    }

    /// Gives the findings the fixes of the templates' findings, which have been tried by now.
    pub fn carry_fixes(&self, own: &[Finding], findings: &mut [Finding]) {
        for finding in findings {
            let asked = self.of_finding(finding).map(|answer| &answer.asked);
            fixes::carry(own, finding, asked);
        }
    }

    /// The places of the evidence of a need of an answered pod in the user's manifest.
    pub fn place_evidence(&self, run: &Run, workload: usize, evidence: &mut Evidence) {
        let Some(answer) = self.answers.get(&workload) else {
            return;
        };
        let Some(read) = run.document(answer.source, answer.document) else {
            return;
        };
        let place = answer.places(&read.document).find(&evidence.at);
        evidence.at = place.at;
    }

    fn of_finding(&self, finding: &Finding) -> Option<&Answer> {
        let numbers = self.by_document.get(&finding.place())?.iter();
        numbers
            .filter_map(|number| self.answers.get(number))
            .filter(|answer| finding.primary.at.is_below(&answer.asked.at))
            .max_by_key(|answer| answer.asked.at.segments().len())
    }

    fn to_manifest(&self, run: &Run, finding: &mut Finding) {
        let Some(answer) = self.of_finding(finding) else {
            return;
        };
        let Some(read) = run.document(finding.source, finding.document) else {
            return;
        };
        let places = answer.places(&read.document);
        let mut is_added = Vec::new();
        for evidence in &mut finding.evidence {
            let place = places.find(&evidence.at);
            is_added.push(place.added.is_some());
            evidence.at = place.at;
        }
        move_label(&mut finding.primary, &places);
        let related = std::mem::take(&mut finding.related);
        for mut label in related {
            // What stands nowhere in the manifest, and beside what stands nowhere, is told in words.
            if places.find(&label.at).added.is_none() {
                finding.related.push(label);
            } else if !label.text.is_empty() {
                move_label(&mut label, &places);
                finding.notes.push(label.text);
            }
        }
        for label in &mut finding.related {
            move_label(label, &places);
        }
        judge::look_up(finding, &read.document, run);
        // What only the server has stands in no line.
        for (evidence, is_added) in finding.evidence.iter_mut().zip(is_added) {
            evidence.span = evidence.span.filter(|_| !is_added);
        }
    }

    /// What the server has dropped of the templates' start order.
    fn lost(&self, run: &Run) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (number, answer) in &self.answers {
            let place = (answer.source, answer.document);
            let (Some(asked), Some(answered), Some(read)) = (
                run.workload(*number),
                self.workloads.get(number),
                run.document(place.0, place.1),
            ) else {
                continue;
            };
            for mut finding in rules::lost_in_answer(asked, place, &answered.template) {
                judge::look_up(&mut finding, &read.document, run);
                findings.push(finding);
            }
        }
        findings
    }
}

impl Answer {
    fn places<'a>(&'a self, manifest: &'a Document) -> Places<'a> {
        Places {
            asked: &self.asked,
            pod: &self.pod,
            manifest,
        }
    }
}

/// The workload with the answered pod as its template. Its places are those of the manifest, but
/// for the positions in lists, which are the answer's.
fn answered(asked: &Workload, pod: &Document) -> Option<Workload> {
    let own = &asked.template;
    let root = pod.root()?;
    let spec = root.get("spec")?;
    let mut template = PodTemplate::read(root, own.at.clone(), spec, own.spec_at.clone());
    // The server fills in what the manifest leaves to it.
    template.has_metadata = own.has_metadata;
    template.has_restart_policy = own.has_restart_policy;
    template.has_grace = own.has_grace;
    template.ends_sidecars = own.ends_sidecars;
    template.is_partial = false;
    template.odd_fields = places::odd_fields(own, &template);
    let mut workload = asked.clone();
    workload.origin.is_admitted = true;
    workload.template = template;
    Some(workload)
}

fn move_label(label: &mut Label, places: &Places<'_>) {
    let Place { at, added } = places.find(&label.at);
    label.at = at;
    let Some(added) = added else { return };
    label.mark = Mark::Key;
    label.text = match label.text.is_empty() {
        true => format!("the server adds {added}"),
        false => format!("the server adds {added}: {}", label.text),
    };
}
