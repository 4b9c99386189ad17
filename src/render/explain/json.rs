//! `explain -o json`. Fields may be added; none is renamed or removed.

use super::{Explanation, Prediction, names, needs, obstacles, timing, versions};
use crate::finding::Evidence;
use crate::manifest::Mark;
use crate::plan::gate::Hold;
use crate::plan::needs::Need;
use crate::plan::{Event, Prior, Step};
use crate::render::{Style, TargetSource};
use serde::Serialize;
use serde_json::{Value, json};

/// Programs get plain characters in labels.
const PLAIN: Style = Style {
    color: false,
    ascii: true,
};

/// An explanation for programs: one object, or `reality` and `expected`, or a list `versions`.
pub fn to_json(explanation: &Explanation<'_>, source: TargetSource) -> Value {
    let of = |prediction| json!(PredictionJson::of(prediction, source));
    match explanation {
        Explanation::One(prediction) => of(prediction),
        Explanation::Compared { reality, expected } => json!({
            "version": 1,
            "reality": of(&reality.prediction),
            "expected": of(&expected.prediction),
        }),
        Explanation::Versions(predictions) => json!({
            "version": 1,
            "versions": predictions.iter().map(of).collect::<Vec<_>>(),
        }),
    }
}

#[derive(Serialize)]
struct PredictionJson<'a> {
    version: u32,
    target: TargetJson,
    workload: WorkloadJson<'a>,
    steps: Vec<StepJson>,
    needs: Vec<NeedJson<'a>>,
    notes: Vec<String>,
    stop: Vec<StopJson>,
}

#[derive(Serialize)]
struct TargetJson {
    kubernetes: String,
    source: &'static str,
    mesh: Option<String>,
    /// What is predicted, if not the manifest as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkloadJson<'a> {
    api_version: &'a str,
    kind: &'a str,
    namespace: Option<&'a str>,
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepJson {
    container: String,
    role: &'static str,
    waits_for: MilestoneJson,
    basis: &'static str,
    /// A hook is taken to wait although it could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    assumed: bool,
}

#[derive(Serialize)]
struct MilestoneJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    event: &'static str,
}

#[derive(Serialize)]
struct NeedJson<'a> {
    dependent: String,
    provider: String,
    evidence: Vec<EvidenceJson<'a>>,
    basis: &'static str,
}

#[derive(Serialize)]
struct EvidenceJson<'a> {
    kind: &'static str,
    detail: &'a str,
    path: String,
    line: Option<usize>,
    column: Option<usize>,
}

#[derive(Serialize)]
struct StopJson {
    container: String,
    after: Vec<String>,
}

impl<'a> PredictionJson<'a> {
    fn of(prediction: &Prediction<'a>, source: TargetSource) -> PredictionJson<'a> {
        let plan = prediction.plan;
        let object = prediction.object;
        let name = |container: &usize| names::name(prediction.template, *container);
        PredictionJson {
            version: 1,
            target: TargetJson {
                kubernetes: plan.version.to_string(),
                source: source.word(),
                mesh: None,
                shape: prediction.is_answered.then_some("server"),
            },
            workload: WorkloadJson {
                api_version: &object.api_version,
                kind: &object.kind,
                namespace: object.namespace.as_deref(),
                name: &object.name,
            },
            steps: plan
                .steps
                .iter()
                .map(|step| step_json(prediction, step))
                .collect(),
            needs: plan
                .needs
                .iter()
                .map(|need| need_json(prediction, need))
                .collect(),
            notes: notes(prediction),
            stop: plan
                .stop
                .iter()
                .map(|step| StopJson {
                    container: name(&step.container),
                    after: step.after.iter().map(name).collect(),
                })
                .collect(),
        }
    }
}

fn step_json(prediction: &Prediction<'_>, step: &Step) -> StepJson {
    let before = step.after.container();
    let event: Event = step.after.event();
    StepJson {
        container: names::name(prediction.template, step.container),
        role: step.role.word(),
        waits_for: MilestoneJson {
            container: before.map(|before| names::name(prediction.template, before)),
            event: event.word(),
        },
        basis: step.basis.json_word(),
        assumed: is_assumed(prediction, step.after),
    }
}

fn is_assumed(prediction: &Prediction<'_>, prior: Prior) -> bool {
    let Prior::PostStartReturned(before) = prior else {
        return false;
    };
    let is_guess = |need: &Need| match need.hold {
        Hold::PostStart { is_assumed, .. } => is_assumed,
        Hold::Exit
        | Hold::StartupProbe
        | Hold::InitTwin(_)
        | Hold::Mount
        | Hold::OwnWait
        | Hold::LaunchOrder
        | Hold::Nothing(_) => false,
    };
    let needs = prediction.plan.needs.iter();
    needs.filter(|need| need.provider == before).any(is_guess)
}

fn need_json<'a>(prediction: &Prediction<'a>, need: &'a Need) -> NeedJson<'a> {
    let evidence = need.evidence.iter();
    NeedJson {
        dependent: names::name(prediction.template, need.dependent),
        provider: names::name(prediction.template, need.provider),
        evidence: evidence.map(|one| evidence_json(prediction, one)).collect(),
        basis: need.hold.basis().json_word(),
    }
}

fn evidence_json<'a>(prediction: &Prediction<'_>, evidence: &'a Evidence) -> EvidenceJson<'a> {
    let mark = if evidence.words.is_empty() || evidence.elsewhere.is_some() {
        Mark::Value
    } else {
        Mark::Part(evidence.words.clone())
    };
    let span = evidence
        .span
        .or_else(|| prediction.document.span_at(&evidence.at, &mark));
    let at = prediction
        .document
        .source()
        .zip(span)
        .map(|(source, span)| source.position(span.start));
    EvidenceJson {
        kind: evidence.kind.word(),
        detail: &evidence.detail,
        path: evidence.at.to_string(),
        line: at.map(|at| at.line),
        column: at.map(|at| at.column),
    }
}

/// All sentences of the text, one each.
fn notes(prediction: &Prediction<'_>) -> Vec<String> {
    let of_needs = (0..prediction.plan.needs.len()).flat_map(|at| {
        let note = needs::note(prediction, at).unwrap_or_default();
        let limit = note.limit.map(str::to_owned);
        note.clauses.into_iter().chain(limit)
    });
    let of_versions = versions::notes(prediction);
    let of_versions = of_versions
        .iter()
        .map(|note| format!("{}: {}", note.label(PLAIN.glyphs()), note.text));
    of_needs
        .chain(obstacles::obstacles(prediction))
        .chain(timing::waits(prediction))
        .chain(timing::holes(prediction))
        .chain(timing::first_start_only(prediction))
        .chain(of_versions)
        .collect()
}
