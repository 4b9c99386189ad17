//! Who needs whom, and what holds it, in sentences.

use super::obstacles::has_failing_hook;
use super::{Prediction, names};
use crate::plan::StartPlan;
use crate::plan::gate::{Gap, Hold};
use crate::plan::needs::Need;
use crate::render::wrap;

/// Whether a hook of this container is known, or taken, to hold somebody until it serves.
pub fn is_held_by_hook(plan: &StartPlan, provider: usize) -> bool {
    plan.needs
        .iter()
        .any(|need| need.provider == provider && matches!(need.hold, Hold::PostStart { .. }))
}

/// Where the dependent finds the provider, as the manifest writes it: `127.0.0.1:5432`, or a path.
pub fn place(need: &Need) -> Option<String> {
    let words = need.evidence.iter().map(|evidence| evidence.words.trim());
    let first = words.into_iter().find(|words| !words.is_empty())?;
    Some(wrap::on_one_line(first))
}

/// `needs sidecar on 127.0.0.1:8080`.
pub fn sentence(prediction: &Prediction<'_>, need: &Need) -> String {
    let provider = names::name(prediction.template, need.provider);
    match place(need) {
        Some(path) if path.starts_with('/') => format!("needs {provider} for {path}"),
        Some(place) => format!("needs {provider} on {place}"),
        None => format!("needs {provider}, {}", by_what(need)),
    }
}

/// What tells of the need when no place may be named: the image, or a Secret.
fn by_what(need: &Need) -> String {
    let first = need.evidence.first();
    match first.and_then(|one| one.elsewhere.as_ref()) {
        Some(elsewhere) => format!("by {}", elsewhere.object),
        None => "by its image".to_owned(),
    }
}

/// `app → sidecar 127.0.0.1:8080`.
pub fn pair(prediction: &Prediction<'_>, need: &Need, arrow: &str) -> String {
    let name = |container| names::name(prediction.template, container);
    let place = place(need).unwrap_or_else(|| by_what(need));
    format!(
        "{} {arrow} {} {place}",
        name(need.dependent),
        name(need.provider)
    )
}

/// What is said of a need beside its word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// What holds for this pair.
    pub clauses: Vec<String>,
    /// What holds for every hook.
    pub limit: Option<&'static str>,
}

/// What every hook that somebody waits for brings with it (S3, S9, S17).
pub const HOOK_LIMIT: &str = "the kubelet sets it no time limit, and it holds back status, probes, \
                              logs and deletion of the pod, too";

/// The note of a need; none for the second one that the same hook holds.
pub fn note(prediction: &Prediction<'_>, at: usize) -> Option<Note> {
    let need = prediction.plan.needs.get(at)?;
    let is_told = prediction.plan.needs[..at]
        .iter()
        .any(|other| other.provider == need.provider && other.hold == need.hold);
    let note = note_of(prediction, need);
    match need.hold {
        Hold::PostStart { .. } if is_told => None,
        _ => Some(note).filter(|note| !note.clauses.is_empty()),
    }
}

fn note_of(prediction: &Prediction<'_>, need: &Need) -> Note {
    let name = |container| names::name(prediction.template, container);
    let (dependent, provider) = (name(need.dependent), name(need.provider));
    let plain = |clause: String| Note {
        clauses: vec![clause],
        limit: None,
    };
    match need.hold {
        Hold::Exit | Hold::StartupProbe => Note::default(),
        Hold::PostStart {
            is_assumed,
            is_native,
        } => {
            let assumed = format!("assumed: the hook waits until {provider} serves");
            let failed = if_hook_fails(&provider, &dependent, is_native);
            let clauses = is_assumed.then_some(assumed).into_iter().chain([failed]);
            Note {
                clauses: clauses.collect(),
                limit: Some(HOOK_LIMIT),
            }
        }
        Hold::InitTwin(twin) => plain(format!("{} has filled the volume before", name(twin))),
        Hold::Mount => plain("the kubelet waits until the volume is mounted".to_owned()),
        Hold::OwnWait => plain(format!(
            "{dependent}'s own command waits; the kubelet has no part in it"
        )),
        Hold::LaunchOrder if is_in_turns(prediction, need.dependent) => {
            plain(format!("{dependent}'s controller lets it work only then"))
        }
        Hold::LaunchOrder => {
            plain("another controller starts the containers in this order".to_owned())
        }
        Hold::Nothing(Gap::UnreadHook) if has_failing_hook(prediction, need.provider) => {
            plain(format!("{provider}'s hook always fails"))
        }
        Hold::Nothing(gap) => plain(gap_clause(gap, &dependent, &provider)),
    }
}

fn is_in_turns(prediction: &Prediction<'_>, container: usize) -> bool {
    let container = prediction.template.containers.get(container);
    container.is_some_and(|container| !container.started_after.is_empty())
}

/// S3: after a native sidecar's hook has failed nobody goes on; an app container's holds nobody.
pub fn if_hook_fails(provider: &str, dependent: &str, is_native: bool) -> String {
    if is_native {
        format!("if it fails, the kubelet restarts {provider}, and {dependent} goes on waiting")
    } else {
        format!("if it fails, {dependent} starts all the same")
    }
}

fn gap_clause(gap: Gap, dependent: &str, provider: &str) -> String {
    match gap {
        Gap::LaterThanInit => format!("{provider} starts only after {dependent} has exited 0"),
        Gap::GateAfterDependent => {
            format!("{provider}'s hook holds back only what is listed below {provider}")
        }
        Gap::HttpHook => {
            format!("{provider}'s httpGet hook has one try, at once; it does not wait")
        }
        Gap::Sleep => format!("{provider}'s hook only sleeps: a delay, not a gate"),
        Gap::ReturnsEarly => format!("{provider}'s hook returns before {provider} serves"),
        Gap::UnreadHook => format!("{provider}'s hook does not say that it waits"),
        Gap::NoGate => "nothing waits for it".to_owned(),
    }
}

/// Whether a gate of the provider holds the dependent, at the first start.
pub fn is_gated(need: &Need) -> bool {
    match need.hold {
        Hold::StartupProbe | Hold::PostStart { .. } => true,
        Hold::Exit
        | Hold::InitTwin(_)
        | Hold::Mount
        | Hold::OwnWait
        | Hold::LaunchOrder
        | Hold::Nothing(_) => false,
    }
}
