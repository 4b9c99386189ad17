//! A native sidecar for a kubelet that does not know native sidecars.

use super::context::refused;
use super::{Check, Context, Rule};
use crate::cure::hook;
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::pod::{Container, Role};

pub(super) static RULE: Rule = Rule {
    id: "native-sidecar-unsupported",
    summary: "the target version does not know native sidecars",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "Below 1.29 the feature gate `SidecarContainers` is off. The API server drops `restartPolicy` of an init \
          container, the kubelet waits until that has ended, and a sidecar never ends: the pod stays in `Init`. With a \
          hook or a probe the API server rejects the pod.",
    facts: &["S4", "S10", "S11"],
    cure: "The sidecar becomes an app container that is listed first, with a postStart hook that waits where somebody \
           needs it. That gate is attempted, not enforced.",
    silent: "The target is 1.29 or newer; the init container has no `restartPolicy: Always`.",
    example: include_str!("../../testdata/rules/native-sidecar-unsupported/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.plan.version.has_native_sidecars() {
        return;
    }
    let containers = context.workload.template.containers.iter().enumerate();
    let native = containers.filter(|(_, container)| container.role == Role::Sidecar);
    findings.extend(native.map(|(at, container)| report(context, at, container)));
}

/// The first field that a plain init container may not have.
fn rejected(container: &Container) -> Option<&'static str> {
    let has_hook = container.post_start.is_some() || container.pre_stop.is_some();
    let probe = container.probes().next().map(|(field, _)| field);
    has_hook.then_some("lifecycle").or(probe)
}

fn report(context: &Context<'_>, at: usize, container: &Container) -> Finding {
    let version = context.plan.version;
    let message = format!(
        "`{}` is a native sidecar, which Kubernetes {version} does not know",
        container.name
    );
    let text = match rejected(container) {
        Some(_) => "dropped: a plain init container",
        None => "dropped: the pod waits until it ends",
    };
    let place = container.at.key("restartPolicy");
    let mut finding = context.finding(&RULE, message, place, Mark::Entry, text);
    finding.container = Some(container.name.clone());
    if let Some(field) = rejected(container) {
        finding.related.push(super::context::label(
            container.at.key(field),
            Mark::Key,
            "rejected on a plain init container",
        ));
    }
    finding.because = match rejected(container) {
        Some(_) => {
            "below 1.29 an init container may have no hook and no probe: the API server rejects the pod"
        }
        None => {
            "below 1.29 restartPolicy of an init container is dropped, and the next container waits until it exits"
        }
    }
    .to_owned();
    finding.fix = Some(hook::make_classic(context.patient(), at).unwrap_or_else(refused));
    finding
}
