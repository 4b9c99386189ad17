//! A hook that is meant to delay its own container, which runs already.

use super::hook::{self, Side};
use super::sleep_as_gate::{place, seconds};
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::catalog::Class;
use crate::cure::native::remove_post_start;
use crate::finding::{Finding, FixSafety, Outcome, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::addresses::Target;
use crate::plan::gate::Gap;
use crate::plan::hooks::Hook;
use crate::plan::needs::Need;
use crate::plan::volumes::makes_for;
use crate::plan::waits::{Purpose, Wait};
use crate::pod::Role;
use crate::shell::Background;

pub(super) static RULE: Rule = Rule {
    id: "hook-on-dependent",
    summary: "a container's own hook is meant to delay it, and delays only what comes later",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "A postStart hook runs after the process of its container was started, at the same time as the entrypoint. A \
          sleep or a wait there does not keep the container itself back; it keeps back the containers below, and the \
          pod's status, probes and logs.",
    facts: &["S3", "S9"],
    cure: "The hook goes, and the needed sidecar becomes a native sidecar with a startupProbe. A wait for another host \
           belongs into an init container.",
    silent: "The hook does more than wait; it is the gate for a container below; the needed container is gated \
             already; the container waits by its own command.",
    example: include_str!("../../testdata/rules/hook-on-dependent/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// What a hook on a container that needs others does.
enum OwnHook {
    /// It lets time pass.
    Sleeps {
        time: String,
        place: (FieldPath, Mark),
    },
    /// It waits for a container of the pod that is listed before.
    WaitsFor {
        provider: usize,
        port: Option<u16>,
        place: (FieldPath, Mark),
    },
    /// It waits for something outside the pod.
    WaitsOutside {
        what: String,
        place: (FieldPath, Mark),
    },
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for at in 0..context.profiles.len() {
        let Some(own) = own_hook(context, at) else {
            continue;
        };
        match &own {
            OwnHook::WaitsOutside { what, place } => {
                findings.push(outside(context, at, what, place));
            }
            OwnHook::Sleeps { .. } | OwnHook::WaitsFor { .. } => {
                let needs = told(context, at, &own);
                findings.extend(needs.iter().map(|need| report(context, need, &own)));
            }
        }
    }
}

/// Whether the hook of the dependent is meant to close this open need.
pub(super) fn is_meant_for(context: &Context<'_>, need: &Need) -> bool {
    match own_hook(context, need.dependent) {
        Some(OwnHook::Sleeps { .. }) => true,
        Some(OwnHook::WaitsFor { provider, .. }) => provider == need.provider,
        Some(OwnHook::WaitsOutside { .. }) | None => false,
    }
}

/// Whether the hook of a container is told about here.
pub(super) fn is_told(context: &Context<'_>, at: usize) -> bool {
    own_hook(context, at).is_some_and(|own| match &own {
        OwnHook::WaitsOutside { .. } => true,
        OwnHook::Sleeps { .. } | OwnHook::WaitsFor { .. } => !told(context, at, &own).is_empty(),
    })
}

/// The open needs that the hook is meant to close; the hook itself may be the only proof of one.
fn told(context: &Context<'_>, at: usize, own: &OwnHook) -> Vec<Need> {
    let of_plan = context.needs().filter(|need| {
        need.dependent == at && context.teller(need) == Some(Teller::HookOnDependent)
    });
    let mut needs: Vec<Need> = of_plan.cloned().collect();
    if let OwnHook::WaitsFor {
        provider,
        port,
        place,
    } = own
    {
        let is_known = context
            .needs()
            .any(|need| need.dependent == at && need.provider == *provider);
        if !is_known && is_open(context, *provider) {
            needs.push(hook::need_by_hook(at, *provider, *port, place));
        }
    }
    needs
}

/// Whether nothing holds the next container until this one serves.
fn is_open(context: &Context<'_>, provider: usize) -> bool {
    let container = context.container(provider);
    let is_gated = container.role == Role::Sidecar && container.startup.is_some();
    let waits = matches!(
        hook::of(context, provider),
        Some(Hook::Waits { .. } | Hook::MayWait { .. })
    );
    let is_no_provider = context.profiles[provider].is_no_provider();
    !is_gated && !waits && !is_no_provider
}

fn own_hook(context: &Context<'_>, at: usize) -> Option<OwnHook> {
    let profile = context.profiles.get(at)?;
    let template = &context.workload.template;
    let is_meant = matches!(profile.container.role, Role::App | Role::Sidecar);
    if !is_meant || template.is_partial || hook::needs_of(context, at).next().is_some() {
        return None;
    }
    let only_waits = profile
        .post_start
        .as_ref()
        .is_none_or(|reading| reading.only_waits());
    if !only_waits {
        return None;
    }
    match profile.hook.as_ref()? {
        Hook::SleepsOnly { duration, words } => Some(OwnHook::Sleeps {
            time: seconds(*duration),
            place: place(profile.container, words),
        }),
        Hook::Waits { waits, .. } => waiting(context, at, waits),
        Hook::SingleTry { .. }
        | Hook::ReturnsEarly { .. }
        | Hook::Fails { .. }
        | Hook::NeverEnds { .. }
        | Hook::HttpGet { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

fn waiting(context: &Context<'_>, at: usize, waits: &[Wait]) -> Option<OwnHook> {
    let mut held = waits
        .iter()
        .filter(|wait| wait.background == Background::No && wait.purpose == Purpose::Asks);
    let neighbour = held.clone().find_map(|wait| {
        let (provider, port) = earlier(context, at, wait)?;
        let place = Side::PostStart.words_at(context.container(at), &wait.words);
        Some(OwnHook::WaitsFor {
            provider,
            port,
            place,
        })
    });
    if neighbour.is_some() {
        return neighbour;
    }
    let first = held.clone().next()?;
    let is_outside = held.all(|wait| is_outside(context, at, wait)) && is_app(context, at);
    is_outside.then(|| OwnHook::WaitsOutside {
        what: first.words.clone(),
        place: Side::PostStart.words_at(context.container(at), &first.words),
    })
}

/// The earlier container that serves or makes what a wait asks for.
fn earlier(context: &Context<'_>, at: usize, wait: &Wait) -> Option<(usize, Option<u16>)> {
    let own = &context.profiles[at];
    let before = || context.profiles[..at].iter().enumerate();
    match &wait.target {
        Target::Address(address) if address.is_loopback() => {
            let port = address.port_or_default()?;
            if own.served(port).is_some() {
                return None;
            }
            let server = before().find(|(_, profile)| {
                profile.container.role != Role::Init && profile.served(port).is_some()
            });
            let by_elimination = || {
                let mut needs = context.needs();
                needs.find(|need| {
                    need.dependent == at && need.provider < at && need.port == Some(port)
                })
            };
            let provider = server
                .map(|(provider, _)| provider)
                .or_else(|| by_elimination().map(|need| need.provider))?;
            Some((provider, Some(port)))
        }
        Target::File { path } => {
            let makes = |profile| makes_for(own, profile, path).is_some();
            let (provider, _) = before().find(|(_, profile)| makes(profile))?;
            (context.container(provider).role != Role::Init).then_some((provider, None))
        }
        Target::Address(_) | Target::Dns { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            None
        }
    }
}

/// Whether a wait asks for something outside the pod, as far as its name tells.
fn is_outside(context: &Context<'_>, at: usize, wait: &Wait) -> bool {
    let host = match &wait.target {
        Target::Address(address) if !address.is_loopback() => &address.host,
        Target::Dns { name } => name,
        Target::Kubernetes { .. } => return true,
        Target::Address(_) | Target::File { .. } | Target::Opaque => return false,
    };
    let lower = host.to_lowercase();
    let own = ["hostname", "pod_ip", "podip", "pod_name", "my_", "self"];
    let is_variable_of_own = lower.contains('$') && own.iter().any(|word| lower.contains(word));
    let first = lower.split('.').next().unwrap_or_default();
    let names = [
        context.workload.object.name.as_str(),
        context.container(at).name.as_str(),
    ];
    let is_own_service = names.iter().any(|name| is_service_of(first, name));
    !is_variable_of_own && !is_own_service && first != "0"
}

/// Whether a host is the usual name of a workload's own Service, or of one of its pods.
fn is_service_of(host: &str, workload: &str) -> bool {
    const ENDS: [&str; 7] = [
        "",
        "-headless",
        "-hl",
        "-svc",
        "-service",
        "-internal",
        "-nodes",
    ];
    let rest = host.strip_prefix(workload);
    rest.filter(|_| !workload.is_empty()).is_some_and(|rest| {
        let number = rest.strip_prefix('-').unwrap_or_default();
        ENDS.contains(&rest) || number.parse::<u32>().is_ok()
    })
}

/// An app with a process of its own, not a helper whose hook is all that it is there for.
fn is_app(context: &Context<'_>, at: usize) -> bool {
    let profile = &context.profiles[at];
    let is_known = matches!(
        profile.class,
        Some(Class::Needed | Class::Useful | Class::Irrelevant | Class::Reverse)
    );
    let image = profile.container.image.as_deref().unwrap_or_default();
    let is_pause = image.contains("pause") || profile.reading.runs_forever();
    profile.container.role == Role::App && !is_known && !profile.has_helper_name && !is_pause
}

fn report(context: &Context<'_>, need: &Need, own: &OwnHook) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let name = &dependent.name;
    let (does, text, (at, mark)) = match own {
        OwnHook::Sleeps { time, place } => (
            "sleeps",
            format!("{time} in which `{name}` runs already"),
            place.clone(),
        ),
        OwnHook::WaitsFor { place, .. } | OwnHook::WaitsOutside { place, .. } => (
            "waits",
            format!("`{name}` runs already while this waits"),
            place.clone(),
        ),
    };
    let message = format!(
        "`{name}` runs while its own hook {does}, and can be before `{}` serves",
        provider.name
    );
    let mut finding = context.pair(&RULE, need, message, at, mark, text);
    if need.provider > need.dependent {
        let delayed = format!("is what the hook of `{name}` delays");
        let provider_at = provider.at.key("name");
        finding
            .related
            .push(super::context::label(provider_at, Mark::Value, delayed));
    }
    let is_shown = need.gap() == Some(Gap::NoGate) || need.gap() == Some(Gap::UnreadHook);
    if is_shown
        && need
            .evidence
            .iter()
            .all(|one| !one.at.is_below(&Side::PostStart.at(dependent)))
    {
        finding.related.extend(hook::evidence_label(context, need));
    }
    finding.because = because();
    finding.notes.extend(unbounded(context, need.dependent));
    let mut fix = context.close(need);
    if fix.outcome == Outcome::Untried {
        fix.operations.insert(0, remove_post_start(dependent));
        fix.title = format!("{}, and drop the hook of `{name}`", fix.title);
    }
    finding.fix = Some(fix);
    finding
}

fn because() -> String {
    "a postStart hook runs at the same time as the entrypoint of its container, and holds back only the containers \
     below"
        .to_owned()
}

/// A wait without a bound is no finding of its own here.
fn unbounded(context: &Context<'_>, at: usize) -> Option<String> {
    let Some(Hook::Waits { bound, .. }) = hook::of(context, at) else {
        return None;
    };
    let note = "the wait has no bound: until it ends the pod has no status, and cannot be deleted";
    (*bound == crate::plan::bounds::Bound::Unbounded).then(|| note.to_owned())
}

fn outside(context: &Context<'_>, at: usize, what: &str, place: &(FieldPath, Mark)) -> Finding {
    let container = context.container(at);
    let name = &container.name;
    let message = format!("`{name}` runs while its own hook waits for {what}");
    let text = format!("`{name}` runs already while this waits");
    let mut finding = context.finding(&RULE, message, place.0.clone(), place.1.clone(), text);
    finding.container = Some(name.clone());
    finding.because = because();
    finding.notes.extend(unbounded(context, at));
    finding.help = Some(format!(
        "an init container that waits for {what} holds `{name}` back"
    ));
    finding
}
