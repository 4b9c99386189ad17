//! A hook that sleeps longer than the pod may take to stop.

use super::hook::Side;
use super::hook_tool_missing;
use super::sleep_as_gate::seconds;
use super::{Check, Context, Rule};
use crate::cure::bound;
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::edit::Operation;
use crate::manifest::{FieldPath, Mark};
use crate::pod::{Action, Role};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    id: "hook-exceeds-grace",
    summary: "a hook sleeps longer than the grace period",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The API server rejects a `sleep` action that is longer than `terminationGracePeriodSeconds` (30 by default), \
          in a postStart hook, too; up to 1.32 also one of 0 s. It cannot see into the command of an exec hook: a \
          preStop hook that takes the whole grace period is cut off, and the container is killed without time to end \
          by itself.",
    facts: &["S16"],
    cure: "The grace period is raised to the length of the hook and 30 s on top; a sleep of 0 s is removed.",
    silent: "A sleep action as long as the grace period, which the API server accepts; a hook that ends earlier.",
    example: include_str!("../../testdata/rules/hook-exceeds-grace/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// A sleep that does not fit.
struct Over {
    side: Side,
    slept: Duration,
    place: (FieldPath, Mark),
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An exec hook, which is cut off.
    Exec,
    /// A sleep action, which is rejected.
    Action,
    /// A sleep action of no time, which is rejected up to 1.32.
    Zero,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    if template.is_partial {
        return;
    }
    for (at, container) in template.containers.iter().enumerate() {
        if container.role == Role::Init {
            continue;
        }
        let mut over: Vec<Over> = Side::BOTH
            .into_iter()
            .filter_map(|side| excess(context, at, side))
            .collect();
        over.sort_by_key(|one| (one.kind == Kind::Exec, std::cmp::Reverse(one.slept)));
        if let [first, rest @ ..] = over.as_slice() {
            findings.push(report(context, at, first, rest));
        }
    }
}

fn excess(context: &Context<'_>, at: usize, side: Side) -> Option<Over> {
    let container = context.container(at);
    let grace = context.workload.template.grace;
    match side.action(container)? {
        Action::Sleep { duration } => {
            let is_zero = duration.is_zero() && !context.plan.version.has_zero_sleep();
            let kind = if is_zero { Kind::Zero } else { Kind::Action };
            (is_zero || *duration > grace).then(|| Over {
                side,
                slept: *duration,
                place: (side.at(container).keys(&["sleep", "seconds"]), Mark::Entry),
                kind,
            })
        }
        Action::Exec { .. } if side == Side::PreStop => {
            let slept = context.profiles.get(at)?.pre_stop.as_ref()?.slept;
            let missing = hook_tool_missing::missing(context, at);
            let runs = missing.iter().all(|one| one.field != side.field());
            (runs && !slept.is_zero() && slept >= grace).then(|| Over {
                side,
                slept,
                place: sleep_words(container, side),
                kind: Kind::Exec,
            })
        }
        Action::Exec { .. }
        | Action::HttpGet { .. }
        | Action::TcpSocket { .. }
        | Action::Grpc { .. }
        | Action::Unreadable => None,
    }
}

/// The sleep in the command: its word with its time in a script, else the word of the time.
fn sleep_words(container: &crate::pod::Container, side: Side) -> (FieldPath, Mark) {
    let at = side.at(container);
    let Some(Action::Exec { command }) = side.action(container) else {
        return (at, Mark::Key);
    };
    let is_sleep = |word: &String| word == "sleep" || word.ends_with("/sleep");
    if let Some(index) = command.iter().position(is_sleep) {
        let time = at.keys(&["exec", "command"]).index(index + 1);
        return (time, Mark::Value);
    }
    let script = command.iter().find_map(|word| {
        let begin = word.find("sleep ")?;
        let rest = &word[begin..];
        let end = rest[6..]
            .find(|letter: char| letter.is_whitespace() || ";&|)".contains(letter))
            .map_or(rest.len(), |end| end + 6);
        Some(rest[..end].to_owned())
    });
    side.words_at(container, &script.unwrap_or_default())
}

fn report(context: &Context<'_>, at: usize, first: &Over, rest: &[Over]) -> Finding {
    let container = context.container(at);
    let name = &container.name;
    let grace = seconds(context.workload.template.grace);
    let (slept, side) = (seconds(first.slept), first.side.field());
    let message = match first.kind {
        Kind::Zero => {
            format!("the {side} hook of `{name}` sleeps 0 s, which 1.32 and older reject")
        }
        Kind::Action | Kind::Exec => {
            format!("the {side} hook of `{name}` sleeps {slept}, the grace period is {grace}")
        }
    };
    let text = match first.kind {
        Kind::Zero | Kind::Action => "the API server rejects the pod for it".to_owned(),
        Kind::Exec => format!("`{name}` is killed before it can end by itself"),
    };
    let (place, mark) = first.place.clone();
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(name.clone());
    if first.kind == Kind::Exec {
        finding.severity = Severity::Warning;
    }
    for other in rest {
        let (place, mark) = other.place.clone();
        finding
            .related
            .push(super::context::label(place, mark, "too long as well"));
    }
    let template = &context.workload.template;
    if template.has_grace && first.kind != Kind::Zero {
        let at = template.spec_at.key("terminationGracePeriodSeconds");
        finding
            .related
            .push(super::context::label(at, Mark::Entry, ""));
    }
    finding.because = because(first.kind).to_owned();
    finding.fix = Some(match first.kind {
        Kind::Zero => remove(container, first.side),
        Kind::Action | Kind::Exec => bound::raise_grace(context.patient(), first.slept),
    });
    finding
}

fn because(kind: Kind) -> &'static str {
    match kind {
        Kind::Zero => "up to 1.32 the API server wants a sleep action of 1 s at least",
        Kind::Action => {
            "the API server accepts a sleep action up to terminationGracePeriodSeconds (30 when it is not set)"
        }
        Kind::Exec => {
            "preStop and the stop itself share one grace period (30 s when it is not set); when it is over the container \
             is killed"
        }
    }
}

fn remove(container: &crate::pod::Container, side: Side) -> Fix {
    let is_only = Side::BOTH
        .into_iter()
        .all(|other| other == side || other.action(container).is_none());
    let at = match is_only {
        true => container.at.key("lifecycle"),
        false => side.at(container),
    };
    Fix::new(
        FixSafety::Safe,
        format!("remove the {} hook of `{}`", side.field(), container.name),
        vec![Operation::Remove { at }],
    )
}
