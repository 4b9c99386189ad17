//! A look-up of a ClusterIP Service's name is taken for a wait until it serves.

use super::{Check, Context, Rule};
use crate::cure::lookup;
use crate::finding::{Finding, FixSafety, Severity};
use crate::graph::{Found, Host, Waiting};
use crate::pod::workload::Service;

pub(super) static RULE: Rule = Rule {
    id: "dns-as-readiness",
    summary: "a name is looked up as if it resolved only once somebody serves",
    severity: Severity::Info,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The name of a Service with a cluster IP resolves from the moment that the Service is made, with no pod \
          behind it. A loop around nslookup, dig or getent ends at once, and the next container meets a server that \
          is not there yet. Only a headless Service leaves pods out of its answer until they are ready.",
    facts: &["S18", "S19"],
    cure: "The look-up becomes a connection to the Service's port, where the image is known to have `nc`.",
    silent: "The Service is headless, external, or not in this run; the same container connects to it as well.",
    example: include_str!("../../testdata/rules/dns-as-readiness/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let waits = context.waits();
    let asker = context.asker();
    let mut told: Vec<(usize, &Service)> = Vec::new();
    let lookups = waits
        .iter()
        .filter(|one| one.is_lookup() && one.wait.repeats);
    for waiting in lookups {
        let Some(service) = resolved(&asker, waiting) else {
            continue;
        };
        let connects = |other: &Waiting<'_>| {
            !other.is_lookup()
                && other.container == waiting.container
                && resolved(&asker, other) == Some(service)
        };
        let has_address = !service.is_headless && !service.is_external;
        let key = (waiting.container, service);
        if has_address && !waits.iter().any(connects) && !told.contains(&key) {
            told.push(key);
            findings.push(report(context, waiting, service));
        }
    }
}

fn resolved<'r>(asker: &crate::graph::Asker<'r>, waiting: &Waiting<'_>) -> Option<&'r Service> {
    match asker.resolve(waiting.host()?) {
        Host::Service(Found { service, .. }) => Some(service),
        Host::Missing(_) | Host::Elsewhere => None,
    }
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>, service: &Service) -> Finding {
    let name = &service.object.name;
    let message = format!(
        "`{}` looks up Service `{name}`, which says nothing of the pods behind it",
        context.waiting_name(waiting)
    );
    let text = "resolves as soon as the Service exists";
    let mut finding = context.wait_finding(&RULE, waiting, message, text);
    finding.because = "the name of a Service with a cluster IP resolves from the moment that the Service is made, \
                       ready pods or not"
        .to_owned();
    let fix = lookup::connect(
        context.run,
        context.container(waiting.container),
        waiting,
        service,
    );
    finding.fix = Some(fix.unwrap_or_else(super::context::refused));
    finding
}
