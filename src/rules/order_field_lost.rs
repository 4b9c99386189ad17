//! A live pod lacks a field of the start order that its owner's template has.

use super::context::{finding, label, refused};
use super::together::Together;
use super::{Check, Rule};
use crate::finding::{Finding, Label, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::pod::workload::ObjectRef;
use crate::pod::{Container, PodTemplate, Role, Workload};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: Rule = Rule {
    id: "order-field-lost",
    summary: "a pod lacks an order field that its owner's template has",
    severity: Severity::Error,
    since: "0.1.0",
    fix: None,
    why: "A mutating webhook or a client that was built before a field existed reads the pod, drops what it does not \
          know, and writes the rest back. A native sidecar without its `restartPolicy` is an init container that never \
          ends; a lost hook or probe is a lost gate. The template still looks right.",
    facts: &["S4", "S6", "S11"],
    cure: "The webhook or client has to be built with a newer Kubernetes API. `metadata.managedFields` of the pod names \
           who wrote it.",
    silent: "The pod has what the template has, with defaults and added containers; its owner is not part of the run.",
    example: include_str!("../../testdata/rules/order-field-lost/bad/minimal.yaml"),
    check: Check::WholeRun(check),
};

/// A workload of the run, or one that stands beside it.
#[derive(Clone, Copy)]
struct Seen<'t> {
    source: usize,
    document: usize,
    workload: &'t Workload,
}

/// Workloads by namespace, kind and name.
type ByName<'t> = BTreeMap<(&'t str, &'t str, &'t str), Vec<Seen<'t>>>;

fn check(together: &Together<'_>, findings: &mut Vec<Finding>) {
    let is_owned_pod = |it: &Workload| it.object.kind == "Pod" && it.origin.owner.is_some();
    let run = together.run;
    let mut workloads = together.subjects.iter().map(|subject| subject.workload);
    let mut beside = run.beside().map(|(_, _, workload)| workload);
    if !workloads.any(is_owned_pod) && !beside.any(is_owned_pod) {
        return;
    }
    let judged = together.subjects.iter().map(|subject| Seen {
        source: subject.source,
        document: subject.document,
        workload: subject.workload,
    });
    let beside = together.run.beside().map(|(source, read, workload)| Seen {
        source,
        document: read.document.index,
        workload,
    });
    let all: Vec<Seen<'_>> = judged.chain(beside).collect();
    let mut by_name = ByName::new();
    for seen in &all {
        let object = &seen.workload.object;
        let name = (object.namespace_or_default(), &*object.kind, &*object.name);
        by_name.entry(name).or_default().push(*seen);
    }
    for pod in all.iter().filter(|it| it.workload.object.kind == "Pod") {
        if let Some(owner) = owner_of(&by_name, pod.workload) {
            let top = owner_of(&by_name, owner.workload).unwrap_or(owner);
            compare(*pod, owner, &top.workload.object, findings);
        }
    }
}

/// Leaves out what other rules say about a container that has lost a field: the loss is the finding,
/// and the rest stands at the owner's template.
pub fn drop_consequences(findings: &mut Vec<Finding>) {
    if !findings.iter().any(|finding| finding.rule == RULE.id) {
        return;
    }
    let pod = |finding: &Finding| {
        let object = &finding.object;
        (
            finding.source,
            finding.document,
            object.kind.clone(),
            object.name.clone(),
        )
    };
    let losses: BTreeSet<_> = findings
        .iter()
        .filter(|finding| finding.rule == RULE.id)
        .map(|finding| (pod(finding), finding.container.clone()))
        .collect();
    let is_about = |finding: &Finding, name: &Option<String>| {
        name.is_some() && losses.contains(&(pod(finding), name.clone()))
    };
    findings.retain(|finding| {
        finding.rule == RULE.id
            || !(is_about(finding, &finding.container) || is_about(finding, &finding.dependent))
    });
}

/// The object that made another one: by kind, name and namespace, and by uid where it is known.
fn owner_of<'t>(by_name: &ByName<'t>, made: &Workload) -> Option<Seen<'t>> {
    let named = made.origin.owner.as_ref()?;
    let name = (
        made.object.namespace_or_default(),
        &*named.kind,
        &*named.name,
    );
    let mut found = by_name.get(&name)?.iter();
    let is_owner = |other: &&Seen<'_>| match &other.workload.origin.uid {
        Some(uid) if !named.uid.is_empty() => *uid == named.uid,
        Some(_) | None => true,
    };
    found.find(is_owner).copied()
}

/// What a server has dropped of a template when it made a pod of it, found at the template's fields.
pub fn lost_in_answer(
    asked: &Workload,
    place: (usize, usize),
    answered: &PodTemplate,
) -> Vec<Finding> {
    let template = &asked.template;
    let mut all: Vec<(&Container, Lost, &str)> = Vec::new();
    for wanted in &template.containers {
        if let Some((_, own)) = answered.container(&wanted.name) {
            let lost = lost_fields(wanted, own).into_iter();
            all.extend(lost.map(|lost| (wanted, lost, "the server drops it")));
        }
    }
    if let Some((own, lost)) = lost_order(answered, template)
        && let Some((_, wanted)) = template.container(&own.name)
    {
        all.push((wanted, lost, "comes earlier in the server's pod"));
    }
    let told = all.into_iter().map(|(container, lost, text)| {
        let mut finding = finding(&RULE, asked, place, label(lost.at, lost.mark, text));
        finding.message = format!("`{}` has lost {}", container.name, lost.what);
        finding.container = Some(container.name.clone());
        finding.because = BECAUSE.to_owned();
        finding.help = Some("who drops it has to be built with a newer Kubernetes API".to_owned());
        finding
    });
    told.collect()
}

const BECAUSE: &str =
    "a webhook or client built before the field existed drops it when it writes the pod back";

/// A field that is gone.
struct Lost {
    /// As people call it: `restartPolicy: Always`.
    what: String,
    /// Where the template has it.
    at: FieldPath,
    mark: Mark,
}

/// Compares a pod with the template that it was made of; `top` is who the template is from.
fn compare(pod: Seen<'_>, owner: Seen<'_>, top: &ObjectRef, findings: &mut Vec<Finding>) {
    let template = &owner.workload.template;
    for wanted in &template.containers {
        let Some((_, own)) = pod.workload.template.container(&wanted.name) else {
            continue;
        };
        for lost in lost_fields(wanted, own) {
            findings.push(report((pod, owner), top, own, &lost));
        }
    }
    if let Some((own, lost)) = lost_order(&pod.workload.template, template) {
        findings.push(report((pod, owner), top, own, &lost));
    }
}

fn lost_fields(wanted: &Container, own: &Container) -> Vec<Lost> {
    let mut lost = Vec::new();
    if wanted.role == Role::Sidecar && own.role == Role::Init {
        lost.push(Lost {
            what: "restartPolicy: Always".to_owned(),
            at: wanted.at.key("restartPolicy"),
            mark: Mark::Entry,
        });
    }
    let hooks = [
        ("postStart", &wanted.post_start, &own.post_start),
        ("preStop", &wanted.pre_stop, &own.pre_stop),
    ];
    for (hook, _, _) in hooks
        .iter()
        .filter(|(_, wanted, own)| wanted.is_some() && own.is_none())
    {
        lost.push(Lost {
            what: format!("its {hook} hook"),
            at: wanted.at.keys(&["lifecycle", *hook]),
            mark: Mark::Key,
        });
    }
    for (probe, _) in wanted.probes() {
        if !own.probes().any(|(kept, _)| kept == probe) {
            lost.push(Lost {
                what: format!("its {probe}"),
                at: wanted.at.key(probe),
                mark: Mark::Key,
            });
        }
    }
    lost
}

/// The first container that comes earlier in the pod than in the template.
fn lost_order<'p>(pod: &'p PodTemplate, template: &PodTemplate) -> Option<(&'p Container, Lost)> {
    let lists = ["initContainers", "containers"];
    lists.into_iter().find_map(|list| {
        let of_list = |container: &&Container| container.role.list() == list;
        let kept = pod.containers.iter().filter(of_list);
        let kept = kept.filter(|own| {
            let wanted = template.container(&own.name);
            wanted.is_some_and(|(_, wanted)| of_list(&wanted))
        });
        let places: Vec<(&Container, usize)> = kept
            .filter_map(|own| Some((own, template.container(&own.name)?.0)))
            .collect();
        let swapped = places.windows(2).find(|pair| pair[0].1 > pair[1].1)?;
        let wanted = &template.containers[swapped[0].1];
        let lost = Lost {
            what: "its place in the order".to_owned(),
            at: wanted.at.key("name"),
            mark: Mark::Value,
        };
        Some((swapped[0].0, lost))
    })
}

fn report(
    (pod, owner): (Seen<'_>, Seen<'_>),
    object: &ObjectRef,
    own: &Container,
    lost: &Lost,
) -> Finding {
    let message = format!("`{}` has lost {}", own.name, lost.what);
    let text = format!(
        "without {}, which {} {} has",
        lost.what, object.kind, object.name
    );
    let at = own.at.key("name");
    let primary = label(at, Mark::Value, text);
    let mut finding = finding(&RULE, pod.workload, (pod.source, pod.document), primary);
    finding.message = message;
    finding.container = Some(own.name.clone());
    if (pod.source, pod.document) == (owner.source, owner.document) {
        finding.related.push(Label {
            at: lost.at.clone(),
            mark: lost.mark.clone(),
            text: "the template has it".to_owned(),
            span: None,
        });
    }
    finding.because = BECAUSE.to_owned();
    let managers = &pod.workload.origin.managers;
    if !managers.is_empty() {
        finding
            .notes
            .push(format!("the pod was written by {}", managers.join(", ")));
    }
    finding.fix = Some(refused(
        "the order of a live pod cannot be changed; who drops the field has to be updated"
            .to_owned(),
    ));
    finding
}
