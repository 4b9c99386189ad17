//! A needed plain sidecar is stopped together with the app that still works.

use super::context::{label, refused};
use super::job_never_completes::must_complete;
use super::{Check, Context, Rule};
use crate::cure::native;
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::needs::Need;
use crate::pod::Role;
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    id: "sidecar-stops-first",
    summary: "a needed sidecar is stopped while the app still works",
    severity: Severity::Info,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "At a pod's end all plain containers are told to stop at once. An app that drains in its preStop hook, or that \
          is given minutes for its last work, finds the sidecar that it needs gone.",
    facts: &["S16"],
    cure: "A native sidecar is sent SIGTERM only after every app container has ended. A preStop hook that keeps the \
           sidecar for as long as the app drains does it, too.",
    silent: "The sidecar is native or has a preStop hook; the app has none, and the grace period is short.",
    example: include_str!("../../testdata/rules/sidecar-stops-first/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// A grace period beyond this one is meant for work at the end.
const LONG: Duration = Duration::from_secs(60);

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.workload.template.is_partial || must_complete(context.workload).is_some() {
        return;
    }
    let mut told: Vec<usize> = Vec::new();
    for need in &context.plan.needs {
        if is_cut_off(context, need) && !told.contains(&need.provider) {
            told.push(need.provider);
            findings.push(report(context, need));
        }
    }
}

fn is_cut_off(context: &Context<'_>, need: &Need) -> bool {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let works_on = dependent.pre_stop.is_some() || context.workload.template.grace > LONG;
    provider.role == Role::App
        && dependent.role == Role::App
        && provider.pre_stop.is_none()
        && !need.is_main_provider
        && works_on
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let message = format!(
        "`{}` stops while `{}` still works",
        provider.name, dependent.name
    );
    let name = provider.at.key("name");
    let text = "told to stop at once: no preStop hook";
    let mut finding = context.pair(&RULE, need, message, name, Mark::Value, text);
    finding.severity = Severity::Info;
    let template = &context.workload.template;
    finding.related.push(match dependent.pre_stop.is_some() {
        true => label(
            dependent.at.keys(&["lifecycle", "preStop"]),
            Mark::Key,
            format!("`{}` works on meanwhile", dependent.name),
        ),
        false => label(
            template.spec_at.key("terminationGracePeriodSeconds"),
            Mark::Entry,
            format!("`{}` has this long for its last work", dependent.name),
        ),
    });
    finding.because =
        "plain containers are told to stop at once; a native sidecar only after the app has ended"
            .to_owned();
    let fix = match need.is_open() {
        true => native::make_native(context.patient(), need),
        false => native::make_plain(context.patient(), need.provider),
    };
    finding.fix = Some(fix.unwrap_or_else(refused));
    finding
}
