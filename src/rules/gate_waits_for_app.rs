//! A gate that cannot open before the container that it holds back has started.

use super::context::{label, refused};
use super::{Check, Context, Rule};
use crate::cure::probe;
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::edit::Operation;
use crate::manifest::{FieldPath, Mark};
use crate::plan::gate::Hold;
use crate::plan::serves::ServedBy;
use crate::plan::{Hook, Target, profile, settings};
use crate::pod::{Action, Container, Role};
use serde_json::json;

pub(super) static RULE: Rule = Rule {
    id: "gate-waits-for-app",
    summary: "the gate asks an endpoint that itself waits for the app",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet starts the app only when the sidecar's startupProbe has passed. An endpoint that is healthy only \
          once the app listens, such as daprd's `/v1.0/healthz` with an app port, or a port that the app itself opens, \
          can then never answer: both wait for each other.",
    facts: &["S3", "S6"],
    cure: "The vendor's endpoint for the sidecar alone: `/v1.0/healthz/outbound` of daprd.",
    silent: "The endpoint does not look at the app; the app has no port for it; the probe is a readiness or liveness \
             probe, which holds nobody back.",
    example: include_str!("../../testdata/rules/gate-waits-for-app/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.workload.template.is_partial {
        return;
    }
    for step in &context.plan.steps {
        let container = context.container(step.container);
        let is_last = context
            .plan
            .steps
            .last()
            .is_some_and(|last| last.container == step.container);
        if is_last {
            continue;
        }
        if step.role == Role::Sidecar {
            findings.extend(startup(context, step.container));
        }
        if matches!(step.role, Role::Sidecar | Role::App) && asks_for_app(context, step.container) {
            findings.push(hooked(context, container));
        }
    }
}

/// The endpoint of the catalogue that looks at the app, if the sidecar is told of one.
fn endpoint<'a>(context: &Context<'a>, container: &Container) -> Option<&'a str> {
    let endpoint = context.catalog.find(container)?.waits_for_app.as_ref()?;
    let settings = settings::settings(container);
    let is_set = |name: &String| settings.iter().any(|setting| setting.name == *name);
    let is_told = endpoint.when.is_empty() || endpoint.when.iter().any(is_set);
    is_told.then_some(endpoint.path.as_str())
}

fn is_path(known: &str, path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match known.ends_with('/') {
        true => path.starts_with(known),
        false => path.trim_end_matches('/') == known,
    }
}

fn startup(context: &Context<'_>, at: usize) -> Option<Finding> {
    let container = context.container(at);
    let action = &container.startup.as_ref()?.action;
    let field = container.at.key("startupProbe");
    match action {
        Action::HttpGet { path, .. }
            if endpoint(context, container).is_some_and(|known| is_path(known, path)) =>
        {
            let place = field.keys(&["httpGet", "path"]);
            Some(report(context, container, place, Mark::Value, field))
        }
        Action::HttpGet { .. } | Action::TcpSocket { .. } | Action::Grpc { .. } => {
            by_port(context, at, action, &field)
        }
        Action::Exec { command } => match named_endpoint(context, container, command) {
            Some((word, known)) => {
                let place = field.keys(&["exec", "command"]).index(word);
                let mark = Mark::Part(known.to_owned());
                Some(report(context, container, place, mark, field))
            }
            None => by_command(context, at, command, &field),
        },
        Action::Sleep { .. } | Action::Unreadable => None,
    }
}

/// The word of a command that names the endpoint, and the endpoint.
fn named_endpoint<'a>(
    context: &Context<'a>,
    container: &Container,
    command: &[String],
) -> Option<(usize, &'a str)> {
    let known = endpoint(context, container)?;
    let names = |word: &String| {
        let mut parts = word.split_whitespace();
        parts.any(|part| ends_with_path(part, known))
    };
    Some((command.iter().position(names)?, known))
}

/// Whether a URL of a command names the endpoint.
fn ends_with_path(word: &str, known: &str) -> bool {
    let word = word.trim_matches(['"', '\'', ';']);
    word.find(known)
        .is_some_and(|at| at > 0 && is_path(known, &word[at..]))
}

/// A probe of a port that only a later container opens.
fn by_port(
    context: &Context<'_>,
    at: usize,
    action: &Action,
    field: &FieldPath,
) -> Option<Finding> {
    let port = context.container(at).port_number(action.port()?)?;
    let later = later_server(context, at, port)?;
    let place = probe::handler(field, action)?.key("port");
    Some(report_port(context, at, later, (place, Mark::Value)))
}

/// A command that asks for a port which only a later container opens.
fn by_command(
    context: &Context<'_>,
    at: usize,
    command: &[String],
    field: &FieldPath,
) -> Option<Finding> {
    let reading = profile::read_words(context.container(at), command);
    let fatal = reading.tries.iter().filter(|check| check.bound.fails());
    let mut checks = reading.waits.iter().chain(fatal);
    let (later, words) = checks.find_map(|check| {
        let port = check.target.own_server()?.port_or_default()?;
        Some((later_server(context, at, port)?, &check.words))
    })?;
    let place = field.keys(&["exec", "command"]);
    let place = match command.iter().position(|word| word.contains(words)) {
        Some(word) => (place.index(word), Mark::Part(words.clone())),
        None => (place, Mark::Key),
    };
    Some(report_port(context, at, later, place))
}

/// The later container that alone declares a port.
fn later_server(context: &Context<'_>, at: usize, port: u16) -> Option<usize> {
    let own = context.profiles.get(at)?.served(port);
    if own.is_some_and(|served| served.by != ServedBy::Probe) {
        return None;
    }
    let is_server = |other: usize| {
        let profile = context.profiles.get(other);
        let served = profile.and_then(|other| other.served(port));
        served.is_some_and(|served| served.by == ServedBy::Declared)
    };
    let steps = context.plan.steps.iter().map(|step| step.container);
    let mut later = steps.skip_while(|other| *other != at).skip(1);
    later.find(|other| is_server(*other))
}

fn report_port(
    context: &Context<'_>,
    at: usize,
    later: usize,
    (place, mark): (FieldPath, Mark),
) -> Finding {
    let (own, server) = (context.container(at), context.container(later));
    let message = format!(
        "`{}`'s startupProbe waits for `{}`, which starts after it",
        own.name, server.name
    );
    let text = format!("only `{}` serves it", server.name);
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(own.name.clone());
    finding.dependent = Some(server.name.clone());
    let starts = format!("starts only after `{}`'s startupProbe has passed", own.name);
    let name = server.at.key("name");
    finding.related.push(label(name, Mark::Value, starts));
    finding.because = because(own);
    finding.fix = Some(refused(format!(
        "nothing tells which port of `{}` is meant",
        own.name
    )));
    finding
}

fn because(container: &Container) -> String {
    format!(
        "the next container starts only when `{}`'s gate has opened: both wait for each other",
        container.name
    )
}

/// Whether a waiting hook asks the endpoint that looks at the app.
fn asks_for_app(context: &Context<'_>, at: usize) -> bool {
    let container = context.container(at);
    let Some(known) = endpoint(context, container) else {
        return false;
    };
    let holds = context
        .plan
        .needs
        .iter()
        .any(|need| need.provider == at && matches!(need.hold, Hold::PostStart { .. }));
    let hook = context
        .profiles
        .get(at)
        .and_then(|profile| profile.hook.as_ref());
    let Some(Hook::Waits { waits, .. }) = hook.filter(|_| holds) else {
        return false;
    };
    waits.iter().any(|wait| match &wait.target {
        Target::Address(address) => {
            let path = address.path.as_deref().unwrap_or_default();
            address.is_loopback() && is_path(known, path)
        }
        Target::Dns { .. } | Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            false
        }
    })
}

fn hooked(context: &Context<'_>, container: &Container) -> Finding {
    let field = container.at.keys(&["lifecycle", "postStart"]);
    let known = endpoint(context, container).unwrap_or_default().to_owned();
    let words = match &container.post_start {
        Some(Action::Exec { command }) => command.iter().position(|word| word.contains(&known)),
        _ => None,
    };
    let place = match words {
        Some(word) => field.keys(&["exec", "command"]).index(word),
        None => field.clone(),
    };
    report(context, container, place, Mark::Part(known), field)
}

fn report(
    context: &Context<'_>,
    container: &Container,
    place: FieldPath,
    mark: Mark,
    gate: FieldPath,
) -> Finding {
    let message = format!(
        "`{}`'s gate waits for the app, and the app for the gate",
        container.name
    );
    let text = "is healthy only once the app listens";
    let fix = fix(context, container, &place, &mark, &gate);
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(container.name.clone());
    let next = context
        .plan
        .steps
        .iter()
        .skip_while(|step| context.container(step.container).at != container.at)
        .nth(1);
    if let Some(next) = next {
        let next = context.container(next.container);
        let text = "starts only after the gate has opened";
        finding.dependent = Some(next.name.clone());
        finding
            .related
            .push(label(next.at.key("name"), Mark::Value, text));
    }
    finding.because = because(container);
    finding.fix = Some(fix.unwrap_or_else(refused));
    finding
}

/// The vendor's endpoint for the sidecar alone.
fn fix(
    context: &Context<'_>,
    container: &Container,
    place: &FieldPath,
    mark: &Mark,
    gate: &FieldPath,
) -> Result<Fix, String> {
    let health = context
        .catalog
        .find(container)
        .and_then(|entry| entry.health_in(container));
    let health = health.ok_or_else(|| {
        format!(
            "no endpoint of `{}` is known that looks at itself alone",
            container.name
        )
    })?;
    let Mark::Part(known) = mark else {
        let operations = vec![Operation::Replace {
            at: place.clone(),
            value: json!(health.path),
        }];
        let title = format!("ask {}", health.path);
        return Ok(Fix::new(FixSafety::Safe, title, operations));
    };
    let action = match gate.last() {
        Some(crate::manifest::path::Segment::Key(key)) if key == "postStart" => {
            container.post_start.as_ref()
        }
        _ => container.startup.as_ref().map(|probe| &probe.action),
    };
    let command = match (action, place.last()) {
        (Some(Action::Exec { command }), Some(crate::manifest::path::Segment::Index(index))) => {
            command.get(*index)
        }
        _ => None,
    };
    let command = command.ok_or_else(|| "the command was not found again".to_owned())?;
    let operations = vec![Operation::Replace {
        at: place.clone(),
        value: json!(command.replace(known.as_str(), &health.path)),
    }];
    let title = format!("ask {}", health.path);
    Ok(Fix::new(FixSafety::Safe, title, operations))
}
