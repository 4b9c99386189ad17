//! The gate that the kubelet attempts: a waiting postStart hook on a sidecar that is listed first.

use super::check::flag_place;
use super::{Patient, annotation};
use crate::catalog::Shell;
use crate::finding::{Fix, FixSafety};
use crate::manifest::edit::Operation;
use crate::manifest::path::Segment;
use crate::plan::needs::Need;
use serde_json::{Value, json};

/// The annotation that keeps `kubectl logs` and `kubectl exec` at the container that they went to.
const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// What no hook promises.
fn limit(patient: Patient<'_>, need: &Need) -> String {
    format!(
        "attempted, not guaranteed: if the hook fails, `{}` starts all the same (--prefer native writes a gate that the kubelet enforces)",
        patient.container(need.dependent).name
    )
}

/// Moves a sidecar with a waiting hook above the first container that it has to hold back.
pub fn move_first(patient: Patient<'_>, need: &Need) -> Result<Fix, String> {
    let (provider, first) = (
        patient.container(need.provider),
        first_dependent(patient, need),
    );
    let title = format!(
        "move `{}` above `{}`",
        provider.name,
        patient.container(first).name
    );
    let mut operations = vec![Operation::Move {
        from: provider.at.clone(),
        to: patient.container(first).at.clone(),
    }];
    operations.extend(keep_default_container(patient, first));
    let safety = if need
        .evidence
        .iter()
        .any(|one| one.kind == crate::finding::EvidenceKind::Elimination)
    {
        FixSafety::Unsafe
    } else {
        FixSafety::Safe
    };
    let limit = Some(limit(patient, need));
    Ok(Fix {
        limit,
        ..Fix::new(safety, title, operations)
    })
}

/// Lists a sidecar first and gives it a waiting hook; the error says why it cannot be done.
pub fn add_gate(patient: Patient<'_>, need: &Need) -> Result<Fix, String> {
    let provider = patient.container(need.provider);
    let (command, safety, mut operations) = wait_command(patient, need)?;
    let handler = json!({"exec": {"command": command}});
    if provider.post_start.is_some() {
        operations.push(Operation::Remove {
            at: provider.at.keys(&["lifecycle", "postStart"]),
        });
    }
    let has_lifecycle = provider.post_start.is_some() || provider.pre_stop.is_some();
    let (at, key, value) = match has_lifecycle {
        true => (provider.at.key("lifecycle"), "postStart", handler),
        false => (
            provider.at.clone(),
            "lifecycle",
            json!({"postStart": handler}),
        ),
    };
    operations.push(Operation::Insert {
        at,
        key: key.to_owned(),
        value,
        after: None,
    });
    let first = first_dependent(patient, need);
    if first < need.provider {
        operations.push(Operation::Move {
            from: provider.at.clone(),
            to: patient.container(first).at.clone(),
        });
        operations.extend(keep_default_container(patient, first));
    }
    let title = format!(
        "list `{}` first, with a postStart hook that waits",
        provider.name
    );
    let limit = Some(limit(patient, need));
    Ok(Fix {
        limit,
        ..Fix::new(safety, title, operations)
    })
}

/// Makes a native sidecar an app container that is listed first, with a waiting hook when somebody
/// needs it; the error says why it cannot be done.
pub fn make_classic(patient: Patient<'_>, at: usize) -> Result<Fix, String> {
    let sidecar = patient.container(at);
    let need = patient.plan.needs.iter().find(|need| need.provider == at);
    let mut operations = Vec::new();
    let mut safety = FixSafety::Unsafe;
    if let Some(need) = need.filter(|need| sidecar.post_start.is_none() && !need.has_own_wait) {
        let (command, by, prepare) = wait_command(patient, need)?;
        safety = by;
        operations.extend(prepare);
        let hook = json!({"exec": {"command": command}});
        operations.push(match sidecar.pre_stop.is_some() {
            true => Operation::Insert {
                at: sidecar.at.key("lifecycle"),
                key: "postStart".to_owned(),
                value: hook,
                after: None,
            },
            false => Operation::Insert {
                at: sidecar.at.clone(),
                key: "lifecycle".to_owned(),
                value: json!({"postStart": hook}),
                after: None,
            },
        });
    }
    operations.push(Operation::Remove {
        at: sidecar.at.key("restartPolicy"),
    });
    let mut containers = patient.workload.template.containers.iter().enumerate();
    let first = containers.find(|(_, container)| container.role == crate::pod::Role::App);
    let (first, app) = first.ok_or_else(|| "the pod has no app container".to_owned())?;
    operations.push(Operation::Move {
        from: sidecar.at.clone(),
        to: app.at.clone(),
    });
    operations.extend(keep_default_container(patient, first));
    Ok(Fix {
        limit: need.map(|need| {
            let dependent = &patient.container(need.dependent).name;
            format!(
                "attempted, not guaranteed: if the hook fails, `{dependent}` starts all the same"
            )
        }),
        ..Fix::new(
            safety,
            format!("list `{}` first in containers", sidecar.name),
            operations,
        )
    })
}

/// The vendor's own wait command, else a loop where a shell is known to be in the image.
fn wait_command(
    patient: Patient<'_>,
    need: &Need,
) -> Result<(Vec<String>, FixSafety, Vec<Operation>), String> {
    let provider = patient.container(need.provider);
    let entry = patient.catalog.find(provider);
    if let Some(wait) = entry.and_then(|entry| entry.wait_in(provider)) {
        let has = |arg: &&String| provider.words().any(|word| word == arg.as_str());
        let by_env = wait
            .env
            .iter()
            .any(|name| provider.env.iter().any(|var| var.name == *name));
        let missing: Vec<&String> = wait
            .args
            .iter()
            .filter(|arg| !by_env && !has(arg))
            .collect();
        if missing.is_empty() || !provider.args.is_empty() {
            let first = flag_place(&provider.args);
            let insert = |(at, arg): (usize, &&String)| Operation::InsertItem {
                at: provider.at.key("args").index(first + at),
                value: Value::from(arg.as_str()),
            };
            let prepare = missing.iter().enumerate().map(insert).collect();
            return Ok((wait.command.clone(), FixSafety::Safe, prepare));
        }
    }
    let port = need
        .port
        .filter(|_| entry.is_some_and(|entry| entry.shell == Shell::Posix));
    let Some(port) = port else {
        return Err(format!(
            "no command of `{}` is known that waits until it serves",
            provider.name
        ));
    };
    let script =
        format!("for i in $(seq 60); do nc -z 127.0.0.1 {port} && exit 0; sleep 1; done; exit 1");
    Ok((
        vec!["sh".to_owned(), "-c".to_owned(), script],
        FixSafety::Unsafe,
        Vec::new(),
    ))
}

/// The first container of the same list that the sidecar has to hold back.
fn first_dependent(patient: Patient<'_>, need: &Need) -> usize {
    let list = patient.container(need.provider).role.list();
    let needs = patient
        .plan
        .needs
        .iter()
        .filter(|other| other.provider == need.provider);
    let early = needs
        .map(|other| other.dependent)
        .filter(|at| patient.container(*at).role.list() == list);
    early.min().unwrap_or(need.dependent)
}

/// When the first app container changes, kubectl's default container would, too.
fn keep_default_container(patient: Patient<'_>, first: usize) -> Option<Operation> {
    let template = &patient.workload.template;
    let container = patient.container(first);
    let is_first = matches!(container.at.last(), Some(Segment::Index(0)))
        && container.role.list() == "containers";
    if !is_first || template.annotations.contains_key(DEFAULT_CONTAINER) {
        return None;
    }
    Some(annotation::set(
        template,
        DEFAULT_CONTAINER,
        &container.name,
    ))
}
