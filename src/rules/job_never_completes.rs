//! A plain sidecar that never ends in a pod that has to complete.

use super::context::{label, refused};
use super::ungated_injected_proxy::said_by;
use super::{Check, Context, Rule};
use crate::catalog::Class;
use crate::cure::{annotation, mesh, native};
use crate::finding::{EvidenceKind, Finding, Fix, FixSafety, Severity};
use crate::inject::{self, Injected, InjectedGate, Mesh, SaidBy};
use crate::manifest::Mark;
use crate::plan::config::NoConfigs;
use crate::plan::ends;
use crate::plan::needs::{Firmness, Need};
use crate::plan::predict::role_at;
use crate::plan::profile::Profile;
use crate::pod::{KubeVersion, PodTemplate, RestartPolicy, Role, Workload};

pub(super) static RULE: Rule = Rule {
    id: "job-never-completes",
    summary: "a sidecar that never ends keeps the Job running",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A pod completes when all of its app containers have ended. A plain sidecar counts like the others: while it \
          runs, the Job is not complete, however long ago the work was done. Native sidecars do not count, and the \
          kubelet stops them when the last app container has ended.",
    facts: &["S6", "S16"],
    cure: "The sidecar moves to `initContainers` with `restartPolicy: Always`; with a startupProbe when nothing holds \
           the others back until it serves.",
    silent: "The sidecar ends by itself or by a rule; the main container calls its quit endpoint, or kills it in a \
             shared process namespace; Argo or Tekton ends it.",
    example: include_str!("../../testdata/rules/job-never-completes/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// The kubelet's fact.
const BECAUSE: &str =
    "a pod completes when its last app container has ended; native sidecars do not count";

/// How firmly a pod has to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// Its controller waits for it.
    Awaited,
    /// A bare Pod that is not restarted: somebody may wait for it.
    Bare,
}

/// Whether the pods of a workload have to complete.
pub(super) fn must_complete(workload: &Workload) -> Option<Completion> {
    let template = &workload.template;
    let is_awaited = matches!(
        workload.object.kind.as_str(),
        "Job"
            | "CronJob"
            | "JobSet"
            | "ScaledJob"
            | "PyTorchJob"
            | "TFJob"
            | "MPIJob"
            | "XGBoostJob"
            | "PaddleJob"
            | "JAXJob"
    );
    let is_bare = workload.object.kind == "Pod"
        && workload.origin.owner.is_none()
        && template.restart_policy != RestartPolicy::Always;
    match (template.ends_sidecars, is_awaited, is_bare) {
        (true, _, _) | (false, false, false) => None,
        (false, true, _) => Some(Completion::Awaited),
        (false, false, true) => Some(Completion::Bare),
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(completion) = must_complete(context.workload) else {
        return;
    };
    let before = findings.len();
    if !context.workload.template.is_partial {
        plain(context, findings);
        findings.extend(injected(context));
    }
    if completion == Completion::Bare {
        findings[before..]
            .iter_mut()
            .for_each(|finding| finding.severity = Severity::Info);
    }
}

/// Why a container is believed never to end.
#[derive(Clone, Copy)]
enum Proof<'n> {
    /// Its own command goes on for ever.
    Endless,
    /// Another container uses it as a server.
    Used(&'n Need),
    /// Its own words tell it to serve.
    Serves,
    /// The catalogue knows the image.
    Known,
}

fn plain(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let apps: Vec<(usize, &Profile<'_>)> = context
        .profiles
        .iter()
        .enumerate()
        .filter(|(_, profile)| role_at(profile.container, context.plan.version) == Role::App)
        .collect();
    let proofs: Vec<Option<Proof<'_>>> = apps
        .iter()
        .map(|(at, profile)| proof(context, *at, profile))
        .collect();
    // Somebody has to be there whose work ends.
    if proofs.iter().all(Option::is_some) {
        return;
    }
    for ((at, sidecar), proof) in apps.iter().zip(&proofs) {
        let Some(proof) = proof else { continue };
        let template = &context.workload.template;
        let is_ended = apps
            .iter()
            .filter(|(other, _)| other != at)
            .any(|(_, main)| ends::is_ended_by(template, sidecar, main, context.profiles));
        if !is_ended {
            findings.push(report(context, *at, sidecar, *proof));
        }
    }
}

fn proof<'n>(context: &Context<'n>, at: usize, profile: &Profile<'_>) -> Option<Proof<'n>> {
    if ends::ends_by_itself(profile) {
        return None;
    }
    if profile.reading.runs_forever() {
        return Some(Proof::Endless);
    }
    let needs = context.plan.needs.iter();
    let used = needs.filter(|need| need.provider == at && is_served(need));
    if let Some(need) = used.max_by_key(|need| need.firmness) {
        return Some(Proof::Used(need));
    }
    if profile.entry.is_some_and(ends::never_ends) {
        return Some(Proof::Known);
    }
    ends::is_told_to_serve(profile).then_some(Proof::Serves)
}

/// Whether the provider is used as a server rather than for a file that it once makes.
fn is_served(need: &Need) -> bool {
    let mut kinds = need.evidence.iter().map(|one| one.kind);
    kinds.any(|kind| match kind {
        EvidenceKind::Loopback | EvidenceKind::Elimination | EvidenceKind::Socket => true,
        EvidenceKind::File | EvidenceKind::Wait | EvidenceKind::Catalog => false,
    })
}

fn severity(proof: Proof<'_>) -> Severity {
    match proof {
        Proof::Endless | Proof::Serves => Severity::Error,
        Proof::Used(need) if need.is_main_provider => Severity::Warning,
        Proof::Used(need) => {
            let by_elimination = need
                .evidence
                .iter()
                .all(|one| one.kind == EvidenceKind::Elimination);
            match need.firmness {
                Firmness::Declared | Firmness::Manifest if !by_elimination => Severity::Error,
                Firmness::Declared | Firmness::Manifest | Firmness::Image => Severity::Warning,
            }
        }
        Proof::Known => Severity::Warning,
    }
}

fn report(context: &Context<'_>, at: usize, sidecar: &Profile<'_>, proof: Proof<'_>) -> Finding {
    let container = sidecar.container;
    let kind = &context.workload.object.kind;
    let message = format!("the {kind} never completes: `{}` runs on", container.name);
    let name = container.at.key("name");
    let text = "an app container that does not end";
    let mut finding = context.finding(&RULE, message, name, Mark::Value, text);
    finding.container = Some(container.name.clone());
    finding.severity = severity(proof);
    finding.because = BECAUSE.to_owned();
    match proof {
        Proof::Used(need) => {
            let dependent = context.container(need.dependent);
            let text = format!("`{}` {} it", dependent.name, context.verb(need));
            finding.related.extend(context.evidence_label(need, text));
            finding.evidence = need.evidence.clone();
        }
        Proof::Endless | Proof::Serves => {
            let field = match container.command.is_empty() {
                true => "args",
                false => "command",
            };
            let text = match proof {
                Proof::Endless => "never ends",
                _ => "a server",
            };
            finding
                .related
                .push(label(container.at.key(field), Mark::Key, text));
        }
        Proof::Known => {
            let what = sidecar.entry.map_or("it", |entry| entry.name.as_str());
            let image = container.at.key("image");
            let text = format!("{what} runs until it is stopped");
            finding.related.push(label(image, Mark::Value, text));
        }
    }
    finding.notes.extend(vain_call(context, sidecar));
    finding.fix = Some(fix(context, at, sidecar).unwrap_or_else(refused));
    finding
}

/// Says that somebody asks the sidecar to quit, which is not told to listen for it.
fn vain_call(context: &Context<'_>, sidecar: &Profile<'_>) -> Option<String> {
    let others = context
        .profiles
        .iter()
        .filter(|other| other.container.at != sidecar.container.at);
    let (caller, quit) = others.into_iter().find_map(|main| {
        let quit = ends::vain_quit(sidecar, main, context.profiles)?;
        Some((&main.container.name, quit))
    })?;
    let name = &sidecar.container.name;
    let told_by = quit.only_when.first()?.split(" | ").next()?;
    Some(format!(
        "`{caller}` calls {}, which `{name}` has only with {told_by}",
        quit.path
    ))
}

/// The native sidecar of `ungated-sidecar` where nothing holds the others back, else a plain move.
fn fix(context: &Context<'_>, at: usize, sidecar: &Profile<'_>) -> Result<Fix, String> {
    let patient = context.patient();
    let mut needs = context.plan.needs.iter();
    let open = needs.find(|need| need.provider == at && need.is_open());
    match open {
        Some(need) => {
            native::make_native(patient, need).or_else(|_| native::make_plain(patient, at))
        }
        None => {
            let mut fix = native::make_plain(patient, at)?;
            if sidecar.class != Some(Class::Needed) && sidecar.entry.is_none() {
                fix.safety = FixSafety::Unsafe;
                let name = &sidecar.container.name;
                fix.assumes = vec![format!(
                    "the work is done when the others have ended, not `{name}`"
                )];
            }
            Ok(fix)
        }
    }
}

/// A sidecar that a webhook adds as an app container and nobody ends.
fn injected(context: &Context<'_>) -> Option<Finding> {
    let (template, version) = (&context.workload.template, context.plan.version);
    let place = (context.workload, context.source);
    let found = inject::injected(context.run, place, context.mesh, version)
        .into_iter()
        .find(|found| stays(template, version, found))?;
    let mut apps = template
        .containers
        .iter()
        .filter(|container| container.role == Role::App);
    let first = apps.clone().next()?;
    let ends_it = apps.any(|container| {
        let profile = Profile::read(container, template, context.catalog, &NoConfigs);
        ends::ends_injected(&profile)
    });
    if ends_it {
        return None;
    }
    let kind = &context.workload.object.kind;
    let name = found.mesh.container();
    let message = format!("the {kind} never completes: the injected `{name}` runs on");
    let said = said_by(context, &found, first);
    let text = match found.by {
        SaidBy::Flag => format!("`{name}` comes as an app container beside it"),
        SaidBy::Label(_) | SaidBy::Annotation(_) | SaidBy::Namespace { .. } => said.text,
    };
    let mut finding = context.finding(&RULE, message, said.at, said.mark, text);
    finding.severity = Severity::Warning;
    finding.because = BECAUSE.to_owned();
    finding.fix = Some(end_injected(template, version, &found).unwrap_or_else(refused));
    Some(finding)
}

/// Whether an injected sidecar is an app container that runs on. Kuma's control plane ends its own.
fn stays(template: &PodTemplate, version: KubeVersion, found: &Injected) -> bool {
    let says = |key: &str| {
        let value = template.annotations.get(key);
        value.is_some_and(|value| value == "true")
    };
    let is_ended = match found.mesh {
        Mesh::Kuma => true,
        Mesh::Vault => says(PRE_POPULATE_ONLY),
        Mesh::Dapr => version.has_native_sidecars() && says(NATIVE_DAPR),
        Mesh::Istio | Mesh::Linkerd | Mesh::Consul | Mesh::Appmesh | Mesh::Osm => false,
    };
    found.gate != InjectedGate::Native && !is_ended
}

/// The agent fills the volume in an init container, and that is all.
const PRE_POPULATE_ONLY: &str = "vault.hashicorp.com/agent-pre-populate-only";
const NATIVE_DAPR: &str = "dapr.io/enable-native-sidecar";

/// Asks the webhook for a sidecar that does not count.
fn end_injected(
    template: &PodTemplate,
    version: KubeVersion,
    found: &Injected,
) -> Result<Fix, String> {
    let key = match found.mesh {
        Mesh::Vault => PRE_POPULATE_ONLY,
        Mesh::Dapr if version.has_native_sidecars() => NATIVE_DAPR,
        Mesh::Istio
        | Mesh::Linkerd
        | Mesh::Kuma
        | Mesh::Consul
        | Mesh::Appmesh
        | Mesh::Osm
        | Mesh::Dapr => return mesh::native(template, found.mesh, version),
    };
    let title = format!("annotate the pod with {key}");
    let operations = vec![annotation::set(template, key, "true")];
    Ok(Fix::new(FixSafety::Safe, title, operations))
}
