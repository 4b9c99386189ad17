//! `restartPolicy: Always` in `containers`, where it makes no sidecar.

use super::context::refused;
use super::{Check, Context, Rule};
use crate::cure::native;
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::Mark;
use crate::manifest::edit::Operation;
use crate::pod::{Container, Role};

pub(super) static RULE: Rule = Rule {
    id: "restart-policy-on-app-container",
    summary: "`restartPolicy: Always` on an app container makes no sidecar",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "Only in `initContainers` does `restartPolicy: Always` make a native sidecar. In `containers` the field is \
          rejected before 1.35; since then it says when this one container is restarted and nothing more: others do not \
          wait for it, it is stopped together with them, and it keeps a Job running.",
    facts: &["S1", "S6"],
    cure: "The container moves to `initContainers`, with a startupProbe where somebody needs it. A pod's only app \
           container loses the field instead.",
    silent: "The policy is Never or OnFailure, or comes with `restartPolicyRules`; it stands at the level of the pod.",
    example: include_str!("../../testdata/rules/restart-policy-on-app-container/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    for (at, container) in template.containers.iter().enumerate() {
        if container.is_misplaced_sidecar() {
            findings.push(report(context, at, container));
        }
    }
}

fn report(context: &Context<'_>, at: usize, container: &Container) -> Finding {
    let version = context.plan.version;
    let is_accepted = version.has_container_restart_policy();
    let message = format!("`{}` is no sidecar: it is an app container", container.name);
    let text = match is_accepted {
        true => "restarts this container, and nothing more",
        false => "rejected in containers before 1.35",
    };
    let place = container.at.key("restartPolicy");
    let mut finding = context.finding(&RULE, message, place, Mark::Entry, text);
    finding.container = Some(container.name.clone());
    if !is_accepted {
        finding.severity = Severity::Error;
    }
    finding.because =
        "restartPolicy: Always makes a native sidecar in initContainers only".to_owned();
    finding.notes.extend(context.open_pairs(at));
    finding.fix = Some(fix(context, at, container).unwrap_or_else(refused));
    finding
}

fn fix(context: &Context<'_>, at: usize, container: &Container) -> Result<Fix, String> {
    let template = &context.workload.template;
    let others = template.containers.iter().filter(|other| {
        other.role == Role::App && other.at != container.at && !other.is_misplaced_sidecar()
    });
    if others.count() == 0 {
        let title = "remove restartPolicy".to_owned();
        let operations = vec![Operation::Remove {
            at: container.at.key("restartPolicy"),
        }];
        return Ok(Fix::new(FixSafety::Safe, title, operations));
    }
    let need = context
        .plan
        .needs
        .iter()
        .find(|need| need.provider == at && need.is_open());
    match need {
        Some(need) => native::make_native(context.patient(), need),
        None => native::make_plain(context.patient(), at),
    }
}
