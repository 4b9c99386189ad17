//! A postStart hook that asks for a container which starts only after it.

use super::hook::{self, Side};
use super::{Check, Context, Rule};
use crate::cure::hook as gate;
use crate::finding::{Finding, Fix, FixSafety, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::addresses::Target;
use crate::plan::bounds::{AtBound, Bound};
use crate::plan::hooks::Hook;
use crate::plan::needs::{Firmness, Need};
use crate::plan::paths::Usage;
use crate::plan::serves::{ServedBy, is_loopback};
use crate::plan::volumes::makes_for;
use crate::plan::waits::Wait;
use crate::pod::{PortRef, Role};
use crate::shell::Background;

pub(super) static RULE: Rule = Rule {
    id: "hook-waits-for-later-container",
    summary: "a postStart hook asks for a container that starts only after it",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The kubelet starts the next container when the postStart hook of this one has returned. A hook that waits \
          for a later container waits for something that cannot come: for ever, or until its bound is over and it \
          fails. Meanwhile the pod reads ContainerCreating, without logs and probes.",
    facts: &["S1", "S3", "S9"],
    cure: "The later container moves above the one with the hook.",
    silent: "The port, socket or file belongs to the container itself or to one that is listed before.",
    example: include_str!("../../testdata/rules/hook-waits-for-later-container/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// What a hook asks for, and who would have to be there.
pub(super) struct Later {
    /// The later container, by its place in the template.
    pub(super) provider: usize,
    /// The port that is asked, when it is one.
    port: Option<u16>,
    place: (FieldPath, Mark),
    severity: Severity,
    manner: Manner,
}

/// How a hook asks.
#[derive(Clone, Copy)]
enum Manner {
    ForEver,
    ForAWhile,
    Once,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for at in 0..context.profiles.len() {
        if let Some(later) = awaited(context, at) {
            findings.push(report(context, at, &later));
        }
    }
}

/// The later container that the postStart hook of a container asks for.
pub(super) fn awaited(context: &Context<'_>, at: usize) -> Option<Later> {
    let container = context.container(at);
    if container.role == Role::Init || context.workload.template.is_partial {
        return None;
    }
    match hook::of(context, at)? {
        Hook::Waits { waits, .. } => waits.iter().find_map(|wait| by_wait(context, at, wait)),
        Hook::SingleTry { tries, .. } => {
            let mut fatal = tries
                .iter()
                .filter(|wait| wait.background == Background::No && wait.bound.fails());
            fatal.find_map(|wait| by_wait(context, at, wait))
        }
        Hook::HttpGet { host, port, .. } if host.as_deref().is_none_or(is_loopback) => {
            by_request(context, at, port)
        }
        Hook::HttpGet { .. }
        | Hook::SleepsOnly { .. }
        | Hook::ReturnsEarly { .. }
        | Hook::Fails { .. }
        | Hook::NeverEnds { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

fn by_wait(context: &Context<'_>, at: usize, wait: &Wait) -> Option<Later> {
    let (provider, port, is_by_image) = match &wait.target {
        Target::Address(address) if address.is_loopback() => {
            let port = address.port_or_default()?;
            if context.profiles[at].served(port).is_some() {
                return None;
            }
            let (provider, by) = later_server(context, at, port)?;
            (provider, Some(port), by == ServedBy::Catalog)
        }
        Target::File { path } => {
            let (provider, firmness) = later_maker(context, at, path)?;
            (provider, None, firmness == Firmness::Image)
        }
        Target::Address(_) | Target::Dns { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            return None;
        }
    };
    let manner = match (wait.repeats, wait.bound) {
        (false, _) => Manner::Once,
        (true, Bound::Unbounded) => Manner::ForEver,
        (true, Bound::Bounded { .. } | Bound::Unknown) => Manner::ForAWhile,
    };
    let goes_on = matches!(
        wait.bound,
        Bound::Bounded {
            then: AtBound::GoesOn,
            ..
        }
    );
    let severity = match is_by_image || goes_on {
        true => Severity::Warning,
        false => Severity::Error,
    };
    Some(Later {
        provider,
        port,
        place: Side::PostStart.words_at(context.container(at), &wait.words),
        severity,
        manner,
    })
}

fn by_request(context: &Context<'_>, at: usize, port: &PortRef) -> Option<Later> {
    let PortRef::Number(port) = port else {
        return None;
    };
    let own = context.profiles[at].served(*port);
    if own.is_some_and(|own| own.by != ServedBy::Probe) {
        return None;
    }
    let (provider, by) = later_server(context, at, *port)?;
    (by == ServedBy::Declared).then(|| Later {
        provider,
        port: Some(*port),
        place: (
            Side::PostStart
                .at(context.container(at))
                .keys(&["httpGet", "port"]),
            Mark::Value,
        ),
        severity: Severity::Error,
        manner: Manner::Once,
    })
}

/// The later container that serves a port which nobody before it serves.
fn later_server(context: &Context<'_>, at: usize, port: u16) -> Option<(usize, ServedBy)> {
    let mut servers = context
        .profiles
        .iter()
        .enumerate()
        .filter_map(|(other, profile)| {
            let runs =
                other != at && !matches!(profile.container.role, Role::Init | Role::Ephemeral);
            let served = profile.served(port).filter(|_| runs)?;
            Some((other, served.by))
        });
    servers.next().filter(|(first, _)| *first > at)
}

/// The later container that makes a file which nobody before it makes.
fn later_maker(context: &Context<'_>, at: usize, path: &str) -> Option<(usize, Firmness)> {
    let own = &context.profiles[at];
    if own
        .paths
        .iter()
        .any(|named| named.usage != Usage::Opens && named.path == path)
    {
        return None;
    }
    let others = context.profiles.iter().enumerate();
    let mut makers = others
        .filter(|(other, _)| *other != at)
        .filter_map(|(other, profile)| {
            let (_, firmness) = makes_for(own, profile, path)?;
            Some((other, firmness))
        });
    makers.next().filter(|(first, _)| *first > at)
}

fn report(context: &Context<'_>, at: usize, later: &Later) -> Finding {
    let (own, provider) = (context.container(at), context.container(later.provider));
    let verb = match later.manner {
        Manner::ForEver | Manner::ForAWhile => "waits for",
        Manner::Once => "asks for",
    };
    let message = format!(
        "the postStart hook of `{}` {verb} `{}`, which is later",
        own.name, provider.name
    );
    let text = match later.manner {
        Manner::ForEver => "the hook never returns",
        Manner::ForAWhile => "nothing answers before the wait is over",
        Manner::Once => "nothing answers yet",
    };
    let need = hook::need_by_hook(at, later.provider, later.port, &later.place);
    let (place, mark) = later.place.clone();
    let mut finding = context.pair(&RULE, &need, message, place, mark, text);
    finding.severity = later.severity;
    let starts = format!("starts only when the hook of `{}` has returned", own.name);
    let name_at = provider.at.key("name");
    finding
        .related
        .push(super::context::label(name_at, Mark::Value, starts));
    finding.because = because(&own.name, &provider.name, later.manner);
    finding.fix = Some(fix(context, &need, later.manner).unwrap_or_else(super::context::refused));
    finding
}

fn because(own: &str, provider: &str, manner: Manner) -> String {
    let end = match manner {
        Manner::ForEver => "the pod stays in ContainerCreating, and cannot even be deleted",
        Manner::ForAWhile => "the wait is lost, and a hook that fails kills its container",
        Manner::Once => "the hook fails, and the kubelet kills its container",
    };
    format!("the kubelet starts `{provider}` only when the hook of `{own}` has returned: {end}")
}

/// The later container moves above the one whose hook asks for it.
fn fix(context: &Context<'_>, need: &Need, manner: Manner) -> Result<Fix, String> {
    let (own, provider) = (
        context.container(need.dependent),
        context.container(need.provider),
    );
    if own.at.parent() != provider.at.parent() {
        return Err(format!(
            "`{}` and `{}` stand in different lists: the hook of `{}` cannot wait for it",
            own.name, provider.name, own.name
        ));
    }
    let needs_it = context
        .needs()
        .any(|other| other.dependent == need.provider && other.provider == need.dependent);
    if needs_it {
        return Err(format!(
            "`{}` needs `{}`, too: one of the two cannot wait",
            provider.name, own.name
        ));
    }
    let mut fix = gate::move_first(context.patient(), need)?;
    fix.limit = None;
    if matches!(manner, Manner::Once) {
        fix.safety = FixSafety::Unsafe;
        fix.assumes.push(format!(
            "`{}` answers by the time that the hook of `{}` asks once",
            provider.name, own.name
        ));
    }
    Ok(fix)
}
