//! The gate that the kubelet enforces: a native sidecar with a startupProbe.

use super::Patient;
use super::check::{self, Check};
use crate::finding::{Fix, FixSafety};
use crate::manifest::edit::Operation;
use crate::plan::gate::Gap;
use crate::plan::needs::Need;
use crate::pod::{Container, Role};
use serde_json::json;

/// What a startupProbe costs.
pub const COST: &str = "up to 1 s more at each start (with the default period up to 10 s)";

/// What moving a container to the init list costs.
const REQUESTS: &str = "its requests count for the pod's whole life";

/// Makes a plain sidecar a native one with a startupProbe; the error says why it cannot be done.
pub fn make_native(patient: Patient<'_>, need: &Need) -> Result<Fix, String> {
    let entry = patient.catalog.find(patient.container(need.provider));
    if entry.is_some_and(|entry| entry.runs_once(patient.container(need.provider))) {
        return make_init(patient, need.provider);
    }
    if !patient.plan.version.has_native_sidecars() {
        return Err(format!(
            "native sidecars need Kubernetes 1.29, the target is {}",
            patient.plan.version
        ));
    }
    let provider = patient.container(need.provider);
    let check = check::find(patient, need)?;
    let place = place(patient, need);
    let name = &provider.name;
    let is_request = matches!(
        provider.post_start,
        Some(crate::pod::Action::HttpGet { .. })
    );
    let title = match (is_request, place) {
        (true, None) => "the same request as startupProbe of a native sidecar".to_owned(),
        (false, None) => format!("make `{name}` a native sidecar with a startupProbe"),
        (_, Some((_, before))) => format!(
            "make `{name}` a native sidecar, above `{}`",
            patient.container(before).name
        ),
    };
    let mut operations = check.prepare.clone();
    // A hook that does something else than wait goes on doing it.
    if provider.post_start.is_some() && need.gap() != Some(Gap::UnreadHook) {
        operations.push(remove_post_start(provider));
    }
    if provider.restart_policy.is_some() {
        operations.push(Operation::Remove {
            at: provider.at.key("restartPolicy"),
        });
    }
    if provider.startup.is_some() {
        operations.push(Operation::Remove {
            at: provider.at.key("startupProbe"),
        });
    }
    operations.push(insert(
        patient,
        need,
        "restartPolicy",
        json!("Always"),
        None,
    ));
    operations.push(insert(
        patient,
        need,
        "startupProbe",
        check::startup_probe(&check),
        Some("restartPolicy"),
    ));
    operations.push(move_to_init(patient, need, place));
    Ok(fix(title, operations, check))
}

/// Makes a container that does its job once and ends an init container: as a native sidecar it
/// would be started again and again.
fn make_init(patient: Patient<'_>, at: usize) -> Result<Fix, String> {
    let container = patient.container(at);
    let has_hook = container.post_start.is_some() || container.pre_stop.is_some();
    if has_hook || container.probes().next().is_some() {
        return Err("an init container has neither hooks nor probes".to_owned());
    }
    let place = first_init_dependent(patient, at);
    let policy = container.restart_policy.as_ref();
    let mut operations: Vec<Operation> = policy
        .map(|_| Operation::Remove {
            at: container.at.key("restartPolicy"),
        })
        .into_iter()
        .collect();
    operations.push(to_init(patient, at, place.map(|(index, _)| index)));
    Ok(Fix::new(
        FixSafety::Safe,
        format!("make `{}` an init container", container.name),
        operations,
    ))
}

/// Makes a plain sidecar that nobody has to wait for a native one; the error says why it cannot be
/// done.
pub fn make_plain(patient: Patient<'_>, at: usize) -> Result<Fix, String> {
    if !patient.plan.version.has_native_sidecars() {
        return Err(format!(
            "native sidecars need Kubernetes 1.29, the target is {}",
            patient.plan.version
        ));
    }
    let container = patient.container(at);
    let mut operations = Vec::new();
    if container.restart_policy.as_deref() != Some("Always") {
        if container.restart_policy.is_some() {
            operations.push(Operation::Remove {
                at: container.at.key("restartPolicy"),
            });
        }
        operations.push(Operation::Insert {
            at: container.at.clone(),
            key: "restartPolicy".to_owned(),
            value: json!("Always"),
            after: Some("image".to_owned()),
        });
    }
    let place = first_init_dependent(patient, at);
    operations.push(to_init(patient, at, place.map(|(index, _)| index)));
    Ok(Fix {
        costs: Some(REQUESTS.to_owned()),
        ..Fix::new(
            FixSafety::Safe,
            format!("make `{}` a native sidecar", container.name),
            operations,
        )
    })
}

/// Gives a native sidecar a startupProbe.
pub fn add_startup_probe(patient: Patient<'_>, need: &Need) -> Result<Fix, String> {
    let provider = patient.container(need.provider);
    let check = check::find(patient, need)?;
    let mut operations = check.prepare.clone();
    if provider.post_start.is_some() && is_false_gate(need.gap()) {
        operations.push(remove_post_start(provider));
    }
    operations.push(insert(
        patient,
        need,
        "startupProbe",
        check::startup_probe(&check),
        Some("restartPolicy"),
    ));
    Ok(fix(
        format!("add a startupProbe{}", check.like),
        operations,
        check,
    ))
}

/// Whether the hook of the provider is there to wait, and cannot.
fn is_false_gate(gap: Option<Gap>) -> bool {
    matches!(gap, Some(Gap::HttpHook | Gap::Sleep | Gap::ReturnsEarly))
}

/// Removes a postStart hook, and `lifecycle` with it when nothing else is there.
pub fn remove_post_start(container: &Container) -> Operation {
    let lifecycle = container.at.key("lifecycle");
    let at = match container.pre_stop {
        Some(_) => lifecycle.key("postStart"),
        None => lifecycle,
    };
    Operation::Remove { at }
}

/// Moves a later native sidecar above the init container that needs it.
pub fn move_above(patient: Patient<'_>, need: &Need) -> Result<Fix, String> {
    let (provider, dependent) = (
        patient.container(need.provider),
        patient.container(need.dependent),
    );
    let to = dependent.at.clone();
    let title = format!("move `{}` above `{}`", provider.name, dependent.name);
    let operations = vec![Operation::Move {
        from: provider.at.clone(),
        to,
    }];
    let fix = Fix::new(FixSafety::Safe, title, operations);
    Ok(fix)
}

fn insert(
    patient: Patient<'_>,
    need: &Need,
    key: &str,
    value: serde_json::Value,
    after: Option<&str>,
) -> Operation {
    Operation::Insert {
        at: patient.container(need.provider).at.clone(),
        key: key.to_owned(),
        value,
        after: after.map(str::to_owned),
    }
}

fn fix(title: String, operations: Vec<Operation>, check: Check) -> Fix {
    Fix {
        assumes: check.assumes,
        costs: Some(COST.to_owned()),
        ..Fix::new(check.safety, title, operations)
    }
}

/// Above the first init container that needs it: its place in the list, and who that is. `None`
/// for the end of the list.
fn place(patient: Patient<'_>, need: &Need) -> Option<(usize, usize)> {
    first_init_dependent(patient, need.provider)
}

fn first_init_dependent(patient: Patient<'_>, provider: usize) -> Option<(usize, usize)> {
    let needs = patient
        .plan
        .needs
        .iter()
        .filter(|other| other.provider == provider && other.is_open());
    let early = needs
        .map(|other| other.dependent)
        .filter(|at| patient.container(*at).role.list() == "initContainers");
    let first = early.min()?;
    Some((patient.list_index(first), first))
}

fn move_to_init(patient: Patient<'_>, need: &Need, place: Option<(usize, usize)>) -> Operation {
    to_init(patient, need.provider, place.map(|(index, _)| index))
}

fn to_init(patient: Patient<'_>, container: usize, place: Option<usize>) -> Operation {
    let template = &patient.workload.template;
    let inits = template
        .containers
        .iter()
        .filter(|container| matches!(container.role, Role::Init | Role::Sidecar))
        .count();
    let to = place.unwrap_or(inits);
    Operation::Move {
        from: patient.container(container).at.clone(),
        to: template.spec_at.key("initContainers").index(to),
    }
}
