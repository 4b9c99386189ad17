//! A wait for a Service that the run does not hold, or not as the wait means it.

use super::{Check, Context, Rule};
use crate::finding::{Finding, Severity};
use crate::graph::{Host, Missing, Stage, Waiting};
use crate::nearness;
use crate::plan::{Purpose, Target};
use crate::pod::workload::Service;

pub(super) static RULE: Rule = Rule {
    id: "wait-for-missing-service",
    summary: "a container waits for a Service that is not in the run, or not like this",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: None,
    why: "A misspelt name, another namespace, a port that the Service does not have, or a selector that fits no pod: \
          the wait never ends, and nothing says why. Whether a Service outside this run has the name, nobody can tell \
          from manifests; a near miss in the run is worth a look.",
    facts: &["S18"],
    cure: "Nothing that a patch could know: which of the two names is right.",
    silent: "The run holds no Service in that namespace; the host is outside the cluster; the Service is external, has \
             no selector, or has endpoints of its own in the run; it is headless (its ports do not count). In a \
             namespace with more than 500 Services similar names are not looked for.",
    example: include_str!("../../testdata/rules/wait-for-missing-service/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// Beyond this many Services a namespace always has a similar name.
const MANY: usize = 500;

/// What is wrong, and how sure that is.
struct Miss {
    message: String,
    text: String,
    severity: Severity,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut told: Vec<(usize, String)> = Vec::new();
    for waiting in context.waits() {
        let is_single_check = waiting.wait.purpose == Purpose::Asks
            && waiting.holds()
            && waiting.stage != Stage::Command;
        let (true, Some(host)) = (waiting.wait.repeats || is_single_check, waiting.host()) else {
            continue;
        };
        let key = (waiting.container, host.to_owned());
        if told.contains(&key) {
            continue;
        }
        let miss = match context.asker().resolve(host) {
            Host::Missing(missing) => no_service(context, &waiting, &missing),
            Host::Service(found) => wrong_port(context, &waiting, found.service)
                .or_else(|| no_pod(context, &waiting, found.service)),
            Host::Elsewhere => None,
        };
        if let Some(miss) = miss {
            told.push(key);
            findings.push(report(context, &waiting, miss));
        }
    }
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>, miss: Miss) -> Finding {
    let mut finding = context.wait_finding(&RULE, waiting, miss.message, miss.text);
    finding.severity = miss.severity;
    finding.because = "a name resolves by its Service alone, and a Service answers at its own ports, for pods that its selector fits".to_owned();
    finding
}

/// Services that every cluster has.
fn is_of_every_cluster(missing: &Missing) -> bool {
    let known = [("default", "kubernetes"), ("kube-system", "kube-dns")];
    known.contains(&(missing.namespace.as_str(), missing.name.as_str()))
}

fn no_service(context: &Context<'_>, waiting: &Waiting<'_>, missing: &Missing) -> Option<Miss> {
    let names = context.run.service_names(&missing.namespace);
    let holds_some = names.len() > 0;
    if is_of_every_cluster(missing) {
        return None;
    }
    let name = context.waiting_name(waiting);
    let elsewhere = other_namespace(context, missing, holds_some);
    let similar = || similar(names, &missing.name);
    let wanted = &missing.name;
    let not_here = "no such Service in this run";
    let (message, text, severity) = match (elsewhere, holds_some) {
        (Some(namespace), _) => (
            format!("`{name}` waits for Service `{wanted}`, which is in namespace `{namespace}`"),
            format!("looked for in namespace {}", missing.namespace),
            Severity::Warning,
        ),
        (None, false) => return None,
        (None, true) => match similar() {
            Some(near) => (
                format!("`{name}` waits for Service `{wanted}`, and this run has `{near}`"),
                not_here.to_owned(),
                Severity::Warning,
            ),
            None => (
                format!("`{name}` waits for Service `{wanted}`, which is not in this run"),
                not_here.to_owned(),
                Severity::Info,
            ),
        },
    };
    Some(Miss {
        message,
        text,
        severity,
    })
}

/// Another namespace that has a Service of this name. Without any Service in the wait's own one the
/// run says little about it: then only the same file counts.
fn other_namespace<'r>(
    context: &Context<'r>,
    missing: &Missing,
    holds_some: bool,
) -> Option<&'r str> {
    let mut others = context.run.namespaces_with_service(&missing.name);
    let found = others.next()?;
    let is_same_file = || {
        context
            .run
            .has_service_in(context.source, found, &missing.name)
    };
    (holds_some || is_same_file()).then_some(found)
}

/// The name of the namespace's Services that a slip of the keyboard would make of this one.
fn similar<'r>(names: impl ExactSizeIterator<Item = &'r str>, wanted: &str) -> Option<&'r str> {
    if names.len() > MANY {
        return None;
    }
    let is_slip = |name: &&str| {
        let most = match wanted.len().min(name.len()) {
            0..=2 => 0,
            3..=4 => 1,
            _ => 2,
        };
        let letters = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
        name.len().abs_diff(wanted.len()) <= most
            && nearness::distance(name, wanted) <= most
            && letters(name) != letters(wanted)
    };
    names
        .filter(is_slip)
        .min_by_key(|name| nearness::distance(name, wanted))
}

fn wrong_port(context: &Context<'_>, waiting: &Waiting<'_>, service: &Service) -> Option<Miss> {
    let port = waiting.port().filter(|_| is_written(context, waiting))?;
    let is_listed = service.ports.iter().any(|one| one.port == port);
    let is_plain = !service.is_headless && !service.is_external && !service.ports.is_empty();
    if is_listed || !is_plain {
        return None;
    }
    let ports: Vec<String> = service
        .ports
        .iter()
        .map(|one| one.port.to_string())
        .collect();
    let name = &service.object.name;
    Some(Miss {
        message: format!(
            "`{}` waits for port {port} of Service `{name}`, which has {}",
            context.waiting_name(waiting),
            ports.join(", ")
        ),
        text: format!("the Service has no port {port}"),
        severity: Severity::Warning,
    })
}

/// Whether the port is the wait's own, not a tool's default beside a variable.
fn is_written(context: &Context<'_>, waiting: &Waiting<'_>) -> bool {
    let Target::Address(address) = &waiting.wait.target else {
        return false;
    };
    if address.scheme.is_some() {
        return true;
    }
    let container = context.container(waiting.container);
    let words = crate::cure::script::words(container, waiting.stage);
    let digits = address
        .port
        .map(|port| port.to_string())
        .unwrap_or_default();
    let has_digits = words.iter().any(|word| word.text.contains(&digits));
    let has_variable = words.iter().any(|word| word.text.contains('$'));
    has_digits || !has_variable
}

/// The Service selects no pod of the run, though other pods have labels of its keys.
fn no_pod(context: &Context<'_>, waiting: &Waiting<'_>, service: &Service) -> Option<Miss> {
    let run = context.run;
    let namespace = run.namespace_of(&service.object);
    let name = &service.object.name;
    if service.is_external || service.selector.is_empty() || run.has_endpoints(namespace, name) {
        return None;
    }
    let is_open = |key: &String| run.has_label_key(namespace, key, &context.workload.object);
    if !service.selector.keys().all(is_open) || !run.behind(service).is_empty() {
        return None;
    }
    let labels: Vec<String> = service
        .selector
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    Some(Miss {
        message: format!(
            "`{}` waits for Service `{name}`, whose selector ({}) fits no pod of this run",
            context.waiting_name(waiting),
            labels.join(", ")
        ),
        text: "nobody stands behind it".to_owned(),
        severity: Severity::Warning,
    })
}
