//! A hook or an exec probe whose command is not in the image.

use super::hook::{self, Side};
use super::{Check, Context, Rule};
use crate::cure::bound;
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::hooks::Hook;
use crate::plan::waits::{self, Reading};
use crate::pod::{Action, Container, Role};
use crate::shell::Surroundings;
use std::sync::Arc;

pub(super) static RULE: Rule = Rule {
    id: "hook-tool-missing",
    summary: "a hook or probe runs a command that its image does not have",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "An exec hook or probe runs inside its own container, with what is in that image. Many vendors' images hold \
          one program and neither a shell nor curl. A postStart hook without its command has failed: the kubelet kills \
          the container. A preStop hook without it is lost, and a probe never passes.",
    facts: &["S3"],
    cure: "A needed sidecar becomes a native sidecar with a startupProbe by the vendor's endpoint; a hook that only \
           sleeps becomes the `sleep` action, which needs no command. Else none.",
    silent: "The tag is known to bring a shell (`-alpine`, `-debug`); the command is mounted from a volume, or \
             installed by the container; nothing is known of the image.",
    example: include_str!("../../testdata/rules/hook-tool-missing/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// A command that is not there.
pub(super) struct Missing {
    /// `postStart`, `preStop`, or the name of a probe.
    pub(super) field: &'static str,
    /// The command as it is called.
    word: String,
    place: (FieldPath, Mark),
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for at in 0..context.workload.template.containers.len() {
        let missing = missing(context, at);
        if let [first, rest @ ..] = missing.as_slice() {
            findings.push(report(context, at, first, rest));
        }
    }
}

/// The commands of hooks and probes of a container that its image is known not to have.
pub(super) fn missing(context: &Context<'_>, at: usize) -> Vec<Missing> {
    let container = context.container(at);
    if container.role == Role::Init {
        return Vec::new();
    }
    let hooks = Side::BOTH.into_iter().filter_map(|side| {
        let action = side.action(container)?;
        Some((side.field(), side.at(container), action))
    });
    let probes = [
        ("startupProbe", &container.startup),
        ("readinessProbe", &container.readiness),
        ("livenessProbe", &container.liveness),
    ];
    let probes = probes.into_iter().filter_map(|(field, probe)| {
        let action = &probe.as_ref()?.action;
        let is_command = matches!(action, Action::Exec { .. });
        is_command.then(|| (field, container.at.key(field), action))
    });
    hooks
        .chain(probes)
        .filter_map(|(field, at, action)| {
            let Action::Exec { command } = action else {
                return None;
            };
            let (word, place) = absent(context, container, command, &at)?;
            (!installs(container)).then_some(Missing { field, word, place })
        })
        .collect()
}

/// Whether the container's own command installs packages.
fn installs(container: &Container) -> bool {
    container
        .words()
        .any(|word| word.contains("apk add") || word.contains("apk --") || word == "apk")
}

fn absent(
    context: &Context<'_>,
    container: &Container,
    command: &[String],
    at: &FieldPath,
) -> Option<(String, (FieldPath, Mark))> {
    let list = at.keys(&["exec", "command"]);
    let first = command.first()?;
    let tools = context.catalog.tools(container)?;
    if tools.lack(first) {
        return Some((first.clone(), (list.index(0), Mark::Value)));
    }
    let reading = read(command);
    if reading.commands().any(|word| word == "apk") {
        return None;
    }
    let mut words = reading.commands();
    let word = words.find(|word| tools.lack(word))?;
    let index = command.iter().rposition(|text| text.contains(word))?;
    let place = (list.index(index), Mark::Part(word.to_owned()));
    Some((word.to_owned(), place))
}

fn read(command: &[String]) -> Arc<Reading> {
    let surroundings = Surroundings {
        env: &|_| None,
        may_be_set: &|_| false,
        file: &|_| None,
    };
    waits::read(command, surroundings)
}

fn report(context: &Context<'_>, at: usize, first: &Missing, rest: &[Missing]) -> Finding {
    let container = context.container(at);
    let message = format!("the image of `{}` has no {}", container.name, first.word);
    let (place, mark) = first.place.clone();
    let in_script = matches!(mark, Mark::Part(_));
    let text = match in_script {
        true => format!("fails each time the {} calls it", name(first.field)),
        false => format!("the {} cannot run", name(first.field)),
    };
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(container.name.clone());
    for other in rest {
        let (place, mark) = other.place.clone();
        let text = format!("nor can the {}", name(other.field));
        finding
            .related
            .push(super::context::label(place, mark, text));
    }
    let image = container.at.key("image");
    finding.related.push(super::context::label(
        image,
        Mark::Value,
        format!("comes without {}", first.word),
    ));
    finding.because = match in_script {
        true => "a hook or probe runs inside its container, with what is in that image".to_owned(),
        false => because(first.field, &container.name),
    };
    let need = hook::needs_of(context, at).find(|_| first.field == Side::PostStart.field());
    if let Some(need) = need {
        finding.dependent = Some(context.container(need.dependent).name.clone());
        finding.evidence = need.evidence.clone();
    }
    if rest.is_empty() {
        finding.fix = fix(context, at, first);
    }
    if finding.fix.is_none() {
        finding.help = Some(help(first.field).to_owned());
    }
    finding
}

fn name(field: &str) -> String {
    match field {
        "postStart" | "preStop" => format!("{field} hook"),
        probe => probe.to_owned(),
    }
}

fn because(field: &str, container: &str) -> String {
    match field {
        "postStart" => format!(
            "a hook whose command is not there has failed: the kubelet kills `{container}`, at each start"
        ),
        "preStop" => format!(
            "a hook whose command is not there fails at once, and `{container}` is stopped without it"
        ),
        probe => format!("a {probe} whose command is not there never passes"),
    }
}

fn help(field: &str) -> &'static str {
    match field {
        "postStart" | "preStop" => {
            "call a program of the image, use an image with a shell, or drop the hook"
        }
        _ => "an httpGet or tcpSocket probe needs no command",
    }
}

fn fix(context: &Context<'_>, at: usize, missing: &Missing) -> Option<Fix> {
    let side = Side::BOTH
        .into_iter()
        .find(|side| side.field() == missing.field)?;
    let container = context.container(at);
    let need = hook::needs_of(context, at).next();
    if let Some(need) = need.filter(|_| side == Side::PostStart) {
        return Some(context.close(need));
    }
    let profile = context.profiles.get(at)?;
    let reading = match side {
        Side::PostStart => profile.post_start.as_ref(),
        Side::PreStop => profile.pre_stop.as_ref(),
    };
    let sleeps = reading.filter(|reading| {
        reading.only_waits() && reading.waits.is_empty() && !reading.has_unknown_sleep
    })?;
    let is_sleep = sleeps.slept.as_secs() > 0 && context.plan.version.has_sleep_action();
    let is_other = matches!(hook::of(context, at), Some(Hook::NeverEnds { .. }));
    (is_sleep && !is_other).then(|| bound::sleep_action(&side.at(container), sleeps.slept))
}
