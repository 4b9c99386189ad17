//! Proves fixes: applies each to its document, reads the outcome again and judges it again.
//!
//! Nothing is called a fix before the changed document parses, only the meant values differ, no
//! comment is lost, the finding is gone, and nothing as bad is new.

use crate::finding::{Finding, Outcome, Severity, of_document};
use crate::judge::{self, Target};
use crate::manifest::edit::{self, Operation};
use crate::pod::workload::{Object, ObjectRef, read};
use crate::pod::{PortRef, Role, Workload};
use crate::run::{DocumentRead, Run};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Which fixes are tried: a proof costs as much as reading and judging the document again.
#[derive(Clone, Debug)]
pub enum Scope {
    /// All.
    All,
    /// Those that text shows, and as many others as a summary counts one by one.
    Shown {
        /// Findings below this are not listed.
        least: Severity,
        /// The documents whose findings are told with their patches, by source and number.
        told: BTreeSet<(usize, usize)>,
    },
}

/// So many fixes are tried in the order of the findings, for the count of those that hold. Beyond
/// it only the documents of patches that are shown are; the summary says how many were not tried.
const COUNTED: usize = 100;

impl Scope {
    /// The least severity whose fixes are tried.
    fn least(&self) -> Severity {
        match self {
            Scope::All => Severity::Info,
            Scope::Shown { least, .. } => *least,
        }
    }

    /// Whether the fixes of one document's findings are tried; `left` is what is left of
    /// [`COUNTED`]. A document is tried whole, since one fix of it may settle another.
    fn takes(&self, group: &[Finding], left: &mut usize) -> bool {
        let Scope::Shown { least, told } = self else {
            return true;
        };
        let is_told = group
            .first()
            .is_some_and(|finding| told.contains(&finding.place()));
        let takes = is_told || *left > 0;
        if takes {
            let listed = group.iter().filter(|finding| finding.severity >= *least);
            *left = left.saturating_sub(listed.filter(|finding| finding.is_untried()).count());
        }
        takes
    }
}

/// Tries the fixes of findings that the scope takes and nobody ignores; those of one document come
/// one after the other.
pub fn prove(run: &Run, target: Target<'_>, findings: &mut [Finding], scope: &Scope) {
    let mut left = COUNTED;
    let groups = findings.chunk_by_mut(|a, b| a.place() == b.place());
    let groups: Vec<&mut [Finding]> = groups
        .filter(|group| scope.takes(group, &mut left))
        .collect();
    groups.into_par_iter().for_each(|group| {
        if let Some(read) = run.document(group[0].source, group[0].document) {
            prove_document(read, target, run, group, scope.least());
        }
    });
}

/// Whether one of the findings, sorted by their documents, is about the same as `finding` and has a
/// fix.
pub fn has_fix_for(findings: &[Finding], finding: &Finding) -> bool {
    let mut others = of_document(findings, finding.place()).iter();
    others.any(|other| other.identity() == finding.identity() && other.fix.is_some())
}

fn prove_document(
    read: &DocumentRead,
    target: Target<'_>,
    run: &Run,
    group: &mut [Finding],
    least: Severity,
) {
    let before: Vec<Finding> = group.to_vec();
    // What each proven fix leaves of the findings, to see which others it settles.
    let mut left_by: Vec<Vec<Finding>> = Vec::new();
    let is_meant = |finding: &Finding| {
        finding.severity >= least && finding.suppressed.is_none() && finding.is_untried()
    };
    let mut meant: Vec<usize> = (0..before.len())
        .filter(|at| is_meant(&before[*at]))
        .collect();
    // Infos last: a fix that people see is not to be settled by one that is not listed.
    meant.sort_by_key(|at| before[*at].severity == Severity::Info);
    for at in meant {
        let own = &before[at];
        let Some(fix) = &mut group[at].fix else {
            continue;
        };
        let ends_it = |left: &Vec<Finding>| !left.iter().any(|other| is_same(other, own));
        if left_by.iter().any(ends_it) {
            fix.outcome = Outcome::Settled;
            continue;
        }
        fix.outcome = match try_fix(read, target, run, own, &fix.operations, &before) {
            Ok((text, left)) => {
                left_by.push(left);
                Outcome::Proven(text)
            }
            Err(reason) => Outcome::Refused(reason),
        };
    }
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    one.identity() == other.identity()
}

fn try_fix(
    read: &DocumentRead,
    target: Target<'_>,
    run: &Run,
    own: &Finding,
    operations: &[Operation],
    before: &[Finding],
) -> Result<(String, Vec<Finding>), String> {
    let workload = read
        .workloads()
        .find(|workload| workload.object == own.object);
    let workload = workload.ok_or_else(|| "the workload was not found again".to_owned())?;
    check_kind(&workload.object)?;
    check_owner(workload)?;
    check_references(workload, target, run, operations)?;
    let edited = edit::apply(&read.document, operations).map_err(|refused| refused.to_string())?;
    let objects = self::read(&edited.document).objects;
    check_pod(&own.object, &objects)?;
    let source = before.first().map_or(0, |finding| finding.source);
    let after = judge::document(
        run,
        source,
        &DocumentRead {
            document: edited.document,
            objects,
        },
        target,
    );
    if after.iter().any(|finding| is_same(finding, own)) {
        return Err("the change would not end the finding".to_owned());
    }
    let worst = before
        .iter()
        .filter(|finding| is_same(finding, own))
        .map(|finding| finding.severity)
        .max();
    let is_new = |finding: &&Finding| !before.iter().any(|known| is_same(known, finding));
    if let Some(new) = after
        .iter()
        .filter(is_new)
        .find(|finding| Some(finding.severity) >= worst)
    {
        return Err(format!("the change would bring {}", new.rule));
    }
    Ok((edited.text, after))
}

/// The API takes no pod without an app container.
fn check_pod(object: &ObjectRef, objects: &[Object]) -> Result<(), String> {
    let has_app = |workload: &Workload| {
        let mut containers = workload.template.containers.iter();
        containers.any(|container| container.role == Role::App)
    };
    let mut workloads = objects.iter().filter_map(Object::workload);
    let is_whole = workloads.any(|workload| workload.object == *object && has_app(workload));
    match is_whole {
        true => Ok(()),
        false => Err("the pod would have no app container left".to_owned()),
    }
}

/// Controllers of other kinds may refuse init containers, hooks or restart policies.
fn check_kind(object: &ObjectRef) -> Result<(), String> {
    let is_built_in = matches!(
        object.kind.as_str(),
        "Pod"
            | "PodTemplate"
            | "ReplicationController"
            | "ReplicaSet"
            | "Deployment"
            | "StatefulSet"
            | "DaemonSet"
            | "Job"
            | "CronJob"
            | "Rollout"
            | "CloneSet"
    );
    match is_built_in {
        true => Ok(()),
        false => Err(format!(
            "the controller of {} may refuse the changed pod template",
            object.kind
        )),
    }
}

/// A pod of a controller is mended in the controller's template.
fn check_owner(workload: &Workload) -> Result<(), String> {
    match &workload.origin.owner {
        Some(owner) => Err(format!(
            "the pod was made by {} {}, whose template has to change",
            owner.kind, owner.name
        )),
        None => Ok(()),
    }
}

fn check_references(
    workload: &Workload,
    target: Target<'_>,
    run: &Run,
    operations: &[Operation],
) -> Result<(), String> {
    for operation in operations {
        let Operation::Move { from, to } = operation else {
            continue;
        };
        let container = workload
            .template
            .containers
            .iter()
            .find(|container| container.at == *from);
        let Some(container) = container else { continue };
        let leaves_its_list = from.parent() != to.parent();
        if leaves_its_list && !target.version.has_named_ports_of_sidecars() {
            check_services(workload, &container.name, run)?;
        }
        let names = |patch: &Workload| patch.template.container(&container.name).is_some();
        if run.patches_of(&workload.object).any(names) {
            return Err(format!(
                "a patch of this run names `{}`, and would miss it after the move",
                container.name
            ));
        }
    }
    Ok(())
}

/// Before 1.32 endpoint controllers do not look at native sidecars for named ports.
fn check_services(workload: &Workload, name: &str, run: &Run) -> Result<(), String> {
    let container = workload
        .template
        .container(name)
        .map(|(_, container)| container);
    let declares = |port: &str| {
        container.is_some_and(|container| {
            container
                .ports
                .iter()
                .any(|own| own.name.as_deref() == Some(port))
        })
    };
    for service in run.services_of(workload) {
        let named = service.ports.iter().find_map(|port| match &port.target {
            PortRef::Name(name) => Some(name).filter(|name| declares(name)),
            PortRef::Number(_) => None,
        });
        if let Some(port) = named {
            let service = &service.object.name;
            return Err(format!(
                "Service {service} targets port {port} by name, which needs Kubernetes 1.32 for a native sidecar"
            ));
        }
    }
    Ok(())
}

/// The text of a whole document after as many fixes as fit together: each is applied to the outcome
/// of the one before, until none is left. `suppress` marks the findings that stay.
pub fn apply_all(
    run: &Run,
    target: Target<'_>,
    source: usize,
    document_index: usize,
    suppress: &dyn Fn(&DocumentRead, &mut [Finding]),
) -> Option<String> {
    let read = run.document(source, document_index)?;
    let mut text: Option<String> = None;
    let mut current: Option<DocumentRead> = None;
    // Each round ends one finding at least, and brings none as bad.
    for _ in 0..64 {
        let seen = current.as_ref().unwrap_or(read);
        let mut findings = judge::document(run, source, seen, target);
        suppress(seen, &mut findings);
        prove_document(seen, target, run, &mut findings, Severity::Info);
        let proven = findings.iter().find_map(|finding| {
            match finding.fix.as_ref().map(|fix| &fix.outcome) {
                Some(Outcome::Proven(text)) => Some(text.clone()),
                Some(Outcome::Untried | Outcome::Settled | Outcome::Refused(_)) | None => None,
            }
        });
        let Some(next) = proven else { break };
        current = reread(&next, seen);
        text = Some(next);
        if current.is_none() {
            break;
        }
    }
    text
}

/// The changed document, read again under its old number.
fn reread(text: &str, before: &DocumentRead) -> Option<DocumentRead> {
    let name = before.document.source().map_or("", |source| source.name());
    let mut parsed = crate::manifest::parse::parse(name, text);
    let mut document = parsed
        .documents
        .pop()
        .filter(|_| parsed.documents.is_empty())?;
    document.index = before.document.index;
    let objects = read(&document).objects;
    Some(DocumentRead { document, objects })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::config::Levels;
    use crate::judge::findings;
    use crate::pod::KubeVersion;
    use crate::rules::Preference;

    #[test]
    fn a_large_run_proves_what_is_told_and_the_first_hundred() {
        let text = include_str!("../testdata/rules/ungated-native-sidecar/bad/minimal.yaml");
        let files = (0..COUNTED + 3).map(|number| (format!("{number}.yaml"), text.to_owned()));
        let run = Run::of_texts(files);
        let target = Target {
            version: KubeVersion::NEWEST,
            preference: Preference::PerRule,
            mesh: None,
            catalog: Catalog::built_in(),
            levels: &Levels::default(),
        };
        let tried = |scope: &Scope| -> Vec<usize> {
            let mut findings = findings(&run, target);
            prove(&run, target, &mut findings, scope);
            let tried = findings.iter().filter(|finding| {
                finding.rule == "ungated-native-sidecar" && !finding.is_untried()
            });
            tried.map(|finding| finding.source).collect()
        };
        let shown = Scope::Shown {
            least: Severity::Warning,
            told: BTreeSet::from([(COUNTED + 2, 0)]),
        };
        let first: Vec<usize> = (0..COUNTED).chain([COUNTED + 2]).collect();
        assert_eq!(tried(&shown), first);
        assert_eq!(tried(&Scope::All).len(), COUNTED + 3);
    }
}
