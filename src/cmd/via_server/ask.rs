//! Asks the API server what it would make of each pod template.

use super::ViaServer;
use crate::admission::{Question, questions};
use crate::cluster::{Connection, Trial};
use crate::cmd::live::{failure, version_of};
use crate::error::Failure;
use crate::finding::Skipped;
use crate::manifest::Mark;
use crate::render::counted;
use crate::run::Run;
use std::collections::BTreeMap;

/// Creates the pod of each template for trial.
pub fn ask(connection: &Connection, run: &mut Run) -> Result<ViaServer, Failure> {
    connection.namespace().clone_into(&mut run.namespace);
    let mut via = ViaServer {
        version: connection.kubernetes().as_ref().and_then(version_of),
        ..ViaServer::default()
    };
    let questions = questions(run);
    let mut asked = Vec::new();
    for question in &questions {
        match &question.pod {
            Ok(pod) => asked.push((question, pod)),
            Err(why) => via.note(run, question, &format!("is linted as it stands: {why}")),
        }
    }
    let pods: Vec<_> = asked
        .iter()
        .map(|(question, pod)| (&*question.namespace, *pod))
        .collect();
    let trials = connection.try_pods(&pods).map_err(failure)?;
    let mut unanswered: BTreeMap<String, Vec<&Question>> = BTreeMap::new();
    for ((question, _), trial) in asked.iter().zip(trials) {
        match trial {
            Trial::Made(pod) => via.take(run, question, &pod),
            Trial::Refused(words) => {
                let text = format!("is linted as it stands, the server refuses its pod: {words}");
                via.note(run, question, &text);
            }
            Trial::Unanswered(words) => unanswered.entry(words).or_default().push(question),
        }
    }
    for (words, questions) in unanswered {
        via.unanswered_count += questions.len();
        via.unanswered.extend(no_answer(run, &words, &questions));
    }
    via.unanswered
        .sort_by_key(|it| (it.file.clone(), it.position));
    Ok(via)
}

impl ViaServer {
    fn take(&mut self, run: &Run, question: &Question, pod: &serde_json::Value) {
        if let Some(changes) = self.answers.take(run, question, pod) {
            let text = format!("is linted as the server makes its pod: it {changes}");
            self.note(run, question, &text);
        }
    }

    fn note(&mut self, run: &Run, question: &Question, text: &str) {
        self.notes
            .push(entry(run, question, |name| format!("{name} {text}")));
    }
}

/// One entry for all workloads of which the server says the same: mostly it is about who asks.
fn no_answer(run: &Run, words: &str, questions: &[&Question]) -> Option<Skipped> {
    let (first, others) = questions.split_first()?;
    let reason = |name: &str| match others.len() {
        0 => format!("{name} as the server makes its pod, only as it stands: {words}"),
        count => {
            let others = counted(count, "other workload");
            format!(
                "{name} and {others} as the server makes their pods, only as they stand: {words}"
            )
        }
    };
    Some(entry(run, first, reason))
}

/// At the workload's name.
fn entry(run: &Run, question: &Question, reason: impl Fn(&str) -> String) -> Skipped {
    let file = &run.files[question.source].source;
    let read = run.document(question.source, question.document);
    let workload = run.workload(question.workload);
    let name = workload.map(|workload| {
        let object = &workload.object;
        format!("{}/{}", object.kind, object.name)
    });
    let place = workload.zip(read).and_then(|(workload, read)| {
        let at = workload.at.keys(&["metadata", "name"]);
        read.document.span_at(&at, &Mark::Value)
    });
    let position = place.map(|span| {
        let at = file.position(span.start);
        (at.line, at.column)
    });
    Skipped {
        file: file.name().to_owned(),
        position,
        reason: reason(&name.unwrap_or_default()),
    }
}
