//! A hook or a probe on a plain init container, which the API server rejects.

use super::{Check, Context, Rule};
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::Mark;
use crate::manifest::edit::Operation;
use crate::pod::{Container, Role};
use serde_json::json;

pub(super) static RULE: Rule = Rule {
    id: "forbidden-init-field",
    summary: "a plain init container has a hook or a probe",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Unsafe),
    why: "Only an init container with `restartPolicy: Always`, a native sidecar, may have a lifecycle hook or a probe. \
          On a plain init container the API server rejects the whole pod: `may not be set for init containers without \
          restartPolicy=Always`. A controller reports that only in its events.",
    facts: &["S10"],
    cure: "`restartPolicy: Always` where a probe says that a server is meant; else the field is removed.",
    silent: "The init container is a native sidecar; the manifest is a patch of which only a part is known.",
    example: include_str!("../../testdata/rules/forbidden-init-field/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.workload.template.is_partial {
        return;
    }
    for container in context
        .workload
        .template
        .containers
        .iter()
        .filter(|container| {
            container.role == Role::Init && !is_meant_as_sidecar(context, container)
        })
    {
        let fields = forbidden(container);
        findings.extend(fields.iter().map(|field| report(context, container, field)));
    }
}

/// Whether its restart policy is misspelt: then that is what there is to say.
fn is_meant_as_sidecar(context: &Context<'_>, container: &Container) -> bool {
    let mut odd = context.workload.template.odd_fields.iter();
    odd.any(|odd| odd.lost == "restartPolicy" && odd.container.as_ref() == Some(&container.at))
}

fn forbidden(container: &Container) -> Vec<&'static str> {
    let fields = [
        (
            "lifecycle",
            container.post_start.is_some() || container.pre_stop.is_some(),
        ),
        ("livenessProbe", container.liveness.is_some()),
        ("readinessProbe", container.readiness.is_some()),
        ("startupProbe", container.startup.is_some()),
    ];
    fields
        .into_iter()
        .filter(|(_, is_set)| *is_set)
        .map(|(field, _)| field)
        .collect()
}

fn report(context: &Context<'_>, container: &Container, field: &'static str) -> Finding {
    let message = format!(
        "`{}` is a plain init container and may not have `{field}`",
        container.name
    );
    let text = "the API server rejects the pod for it";
    let mut finding = context.finding(&RULE, message, container.at.key(field), Mark::Key, text);
    finding.container = Some(container.name.clone());
    finding.because =
        "only an init container with restartPolicy: Always may have a lifecycle hook or a probe"
            .to_owned();
    finding.fix = Some(fix(context, container, field));
    finding
}

/// A probe of a port means a server, which is to go on: a native sidecar. Anything else is dropped.
fn fix(context: &Context<'_>, container: &Container, field: &'static str) -> Fix {
    let probes = [
        &container.startup,
        &container.readiness,
        &container.liveness,
    ];
    let serves = probes
        .into_iter()
        .flatten()
        .any(|probe| probe.action.port().is_some())
        || container.startup.is_some();
    let is_sidecar = serves && context.plan.version.has_native_sidecars();
    let (title, operation, assumes) = match is_sidecar {
        true => (
            format!("make `{}` a native sidecar", container.name),
            Operation::Insert {
                at: container.at.clone(),
                key: "restartPolicy".to_owned(),
                value: json!("Always"),
                after: Some("image".to_owned()),
            },
            format!("`{}` is meant to run on beside the app", container.name),
        ),
        false => (
            format!("remove `{field}` of `{}`", container.name),
            Operation::Remove {
                at: container.at.key(field),
            },
            format!("`{}` is meant to end before the app starts", container.name),
        ),
    };
    Fix {
        assumes: vec![assumes],
        ..Fix::new(FixSafety::Unsafe, title, vec![operation])
    }
}
