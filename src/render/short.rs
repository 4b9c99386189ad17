//! A finding whose reason was told before: two lines.

use super::elsewhere;
use super::wrap::{GLUE, glued};
use super::{Options, Report};
use crate::finding::{Finding, Label};
use crate::manifest::{Source, Span};
use crate::pod::workload::ObjectRef;

/// The most pieces of evidence that one line names.
const EVIDENCE: usize = 3;

/// `file:line:col`, or the file alone when the place is not known.
pub fn place(report: &Report, finding: &Finding) -> String {
    let Some(source) = report.source_of(finding) else {
        return String::new();
    };
    match finding.primary.span {
        Some(span) => {
            let at = source.position(span.start);
            format!("{}:{}:{}", source.name(), at.line, at.column)
        }
        None => source.name().to_owned(),
    }
}

/// `Kind/name`.
pub fn object(object: &ObjectRef) -> String {
    match (object.kind.as_str(), object.name.as_str()) {
        ("", name) => name.to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, name) => format!("{kind}/{name}"),
    }
}

/// `file:line:col  Kind/name`.
pub fn headed_place(report: &Report, finding: &Finding) -> String {
    let text = format!("{}  {}", place(report, finding), object(&finding.object));
    text.trim_end().to_owned()
}

/// `file:line:col  Kind/name · 127.0.0.1:8080 on line 17`.
pub fn located(report: &Report, options: &Options, finding: &Finding) -> String {
    let place = headed_place(report, finding);
    let Some(source) = report.source_of(finding) else {
        return place;
    };
    let evidence = evidence(report, source, finding);
    if evidence.is_empty() {
        return place;
    }
    format!(
        "{place}{GLUE}{} {}",
        options.style.glyphs().dot,
        evidence.join(", ")
    )
}

/// What speaks for the finding, each with its line: the words of the evidence, then the related
/// places that have no words of their own and speak for themselves.
fn evidence(report: &Report, source: &Source, finding: &Finding) -> Vec<String> {
    let own = finding
        .evidence
        .iter()
        .filter(|evidence| evidence.elsewhere.is_none());
    let words = own.filter_map(|evidence| Some(on_line(source, &evidence.words, evidence.span?)));
    let facts = finding
        .related
        .iter()
        .filter_map(|label| bare_fact(source, label));
    let mut all: Vec<String> = Vec::new();
    let elsewhere = elsewhere::places(report, finding);
    let elsewhere = elsewhere.iter().map(|place| glued(&place.brief()));
    for text in words.chain(elsewhere).chain(facts) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    if all.len() > EVIDENCE {
        let more = all.len() - EVIDENCE;
        all.truncate(EVIDENCE);
        all.push(format!("{more} more"));
    }
    all
}

fn on_line(source: &Source, words: &str, span: Span) -> String {
    let line = source.position(span.start).line;
    glued(&format!("{words} on line {line}"))
}

/// `restartPolicy: Never` as `restartPolicy Never on line 9`.
fn bare_fact(source: &Source, label: &Label) -> Option<String> {
    let span = label.span.filter(|_| label.text.is_empty())?;
    let words = source.slice(span).lines().next()?;
    Some(on_line(source, &words.replacen(": ", " ", 1), span))
}
