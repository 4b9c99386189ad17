//! `lint -o json`: one object. Fields may be added; none is renamed or removed.

use super::edits::edits;
use super::{Report, Target};
use crate::finding::{Evidence, Finding, Outcome, Severity, Skipped, fingerprint};
use crate::manifest::{Source, Span};
use crate::pod::workload::ObjectRef;
use serde::Serialize;
use std::io::{self, Write};

/// Prints the report with the findings of every severity.
pub fn findings(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &RunJson::of(report))?;
    writeln!(out)
}

#[derive(Serialize)]
struct RunJson<'r> {
    version: u32,
    tool: ToolJson,
    target: TargetJson<'r>,
    findings: Vec<FindingJson<'r>>,
    skipped: Vec<SkippedJson<'r>>,
    notes: Vec<SkippedJson<'r>>,
    summary: SummaryJson,
}

#[derive(Serialize)]
struct ToolJson {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct TargetJson<'r> {
    kubernetes: String,
    source: &'static str,
    mesh: Option<&'r str>,
    /// What was judged, if not the manifests as they stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingJson<'r> {
    rule: &'static str,
    severity: &'static str,
    message: &'r str,
    help: Option<&'r str>,
    workload: WorkloadJson<'r>,
    container: Option<&'r str>,
    dependent: Option<&'r str>,
    evidence: Vec<EvidenceJson<'r>>,
    file: &'r str,
    document: usize,
    path: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    fix: Option<FixJson<'r>>,
    fingerprint: String,
    suppressed: bool,
    suppressed_by: Option<&'r str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkloadJson<'r> {
    api_version: &'r str,
    kind: &'r str,
    namespace: Option<&'r str>,
    name: &'r str,
}

#[derive(Serialize)]
struct EvidenceJson<'r> {
    kind: &'static str,
    detail: &'r str,
    /// The file and document that the place lies in, when that is not the workload's document.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<usize>,
    path: String,
    line: Option<usize>,
    column: Option<usize>,
}

#[derive(Serialize)]
struct FixJson<'r> {
    safety: &'static str,
    title: &'r str,
    cost: Option<&'r str>,
    /// Empty when the fix of another finding of the document mends this one, too.
    edits: Vec<EditJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EditJson {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
    text: String,
}

#[derive(Serialize)]
struct SkippedJson<'r> {
    file: &'r str,
    line: Option<usize>,
    column: Option<usize>,
    reason: &'r str,
}

#[derive(Serialize)]
struct SummaryJson {
    files: usize,
    documents: usize,
    workloads: usize,
    templates: usize,
    error: usize,
    warning: usize,
    info: usize,
    suppressed: usize,
}

impl<'r> RunJson<'r> {
    fn of(report: &'r Report) -> RunJson<'r> {
        let findings = report
            .findings
            .iter()
            .map(|finding| FindingJson::of(report, finding));
        let not_linted = report
            .not_linted
            .iter()
            .map(|it| SkippedJson::of(&it.skipped));
        RunJson {
            version: 1,
            tool: ToolJson {
                name: "startorder",
                version: env!("CARGO_PKG_VERSION"),
            },
            target: TargetJson::of(&report.target),
            findings: findings.collect(),
            skipped: not_linted.collect(),
            notes: report.notes.iter().map(SkippedJson::of).collect(),
            summary: SummaryJson::of(report),
        }
    }
}

impl<'r> TargetJson<'r> {
    fn of(target: &'r Target) -> TargetJson<'r> {
        TargetJson {
            kubernetes: target.kubernetes.to_string(),
            source: target.source.word(),
            mesh: target.mesh.as_deref(),
            shape: target.answered.map(|_| "server"),
        }
    }
}

impl<'r> FindingJson<'r> {
    fn of(report: &'r Report, finding: &'r Finding) -> FindingJson<'r> {
        let source = report.source_of(finding);
        let place = place(source, finding.primary.span.unwrap_or(Span::new(0, 0)));
        let evidence = finding.evidence.iter();
        FindingJson {
            rule: finding.rule,
            severity: finding.severity.word(),
            message: &finding.message,
            help: finding.help.as_deref(),
            workload: WorkloadJson::of(&finding.object),
            container: finding.container.as_deref(),
            dependent: finding.dependent.as_deref(),
            evidence: evidence
                .map(|it| EvidenceJson::of(report, source, it))
                .collect(),
            file: source.map_or("", Source::name),
            document: finding.document,
            path: finding.primary.at.to_string(),
            line: place.start_line,
            column: place.start_column,
            end_line: place.end_line,
            end_column: place.end_column,
            fix: FixJson::of(report, finding),
            fingerprint: fingerprint(finding),
            suppressed: finding.suppressed.is_some(),
            suppressed_by: finding.suppressed.as_ref().map(|it| &*it.by),
        }
    }
}

impl<'r> WorkloadJson<'r> {
    fn of(object: &'r ObjectRef) -> WorkloadJson<'r> {
        WorkloadJson {
            api_version: &object.api_version,
            kind: &object.kind,
            namespace: object.namespace.as_deref(),
            name: &object.name,
        }
    }
}

impl<'r> EvidenceJson<'r> {
    fn of(report: &'r Report, own: Option<&'r Source>, evidence: &'r Evidence) -> EvidenceJson<'r> {
        let elsewhere = evidence.elsewhere.as_ref();
        let source = match elsewhere {
            Some(place) => report.source(place.source),
            None => own,
        };
        let span = elsewhere.map_or(evidence.span, |place| place.span);
        let at = source.zip(span);
        let at = at.map(|(source, span)| source.position(span.start));
        let path = elsewhere.map_or(&evidence.at, |place| &place.at);
        EvidenceJson {
            kind: evidence.kind.word(),
            detail: &evidence.detail,
            file: elsewhere.and(source).map(Source::name),
            document: elsewhere.map(|place| place.document),
            path: path.to_string(),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
        }
    }
}

impl<'r> FixJson<'r> {
    fn of(report: &'r Report, finding: &'r Finding) -> Option<FixJson<'r>> {
        let fix = finding.fix.as_ref()?;
        let edits = match &fix.outcome {
            Outcome::Proven(text) => {
                let (source, document) = report.document_of(finding)?;
                let edits = edits(source, document, text).into_iter();
                edits
                    .map(|edit| EditJson {
                        text: edit.text,
                        ..place(Some(source), edit.span)
                    })
                    .collect()
            }
            Outcome::Settled => Vec::new(),
            Outcome::Untried | Outcome::Refused(_) => return None,
        };
        Some(FixJson {
            safety: fix.safety.word(),
            title: &fix.title,
            cost: fix.costs.as_deref(),
            edits,
        })
    }
}

/// The lines and columns of a span, as an edit without text.
fn place(source: Option<&Source>, span: Span) -> EditJson {
    let position = |offset| {
        source.map_or((1, 1), |source| {
            let at = source.position(offset);
            (at.line, at.column)
        })
    };
    let (start_line, start_column) = position(span.start);
    let (end_line, end_column) = position(span.end);
    EditJson {
        start_line,
        start_column,
        end_line,
        end_column,
        text: String::new(),
    }
}

impl<'r> SkippedJson<'r> {
    fn of(skipped: &'r Skipped) -> SkippedJson<'r> {
        SkippedJson {
            file: &skipped.file,
            line: skipped.position.map(|(line, _)| line),
            column: skipped.position.map(|(_, column)| column),
            reason: &skipped.reason,
        }
    }
}

impl SummaryJson {
    fn of(report: &Report) -> SummaryJson {
        let count = |severity| {
            let of_severity = |finding: &&Finding| finding.severity == severity;
            report.active().filter(of_severity).count()
        };
        SummaryJson {
            files: report.totals.files,
            documents: report.totals.documents,
            workloads: report.totals.workloads,
            templates: report.templates.iter().map(|chart| chart.count).sum(),
            error: count(Severity::Error),
            warning: count(Severity::Warning),
            info: count(Severity::Info),
            suppressed: report.findings.len() - report.active().count(),
        }
    }
}
