//! Which rule tells about a pair: one finding a pair, from the most specific rule.

use super::Context;
use super::hook::{self, Side};
use super::hook_waits_for_later_container as later;
use super::{entrypoint_races_hook, hook_cannot_succeed, hook_on_dependent, hook_tool_missing};
use crate::plan::gate::Gap;
use crate::plan::hooks::Hook;
use crate::plan::needs::Need;
use crate::pod::Action;

/// The rule that tells about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Teller {
    InitNeedsLaterContainer,
    TcpHook,
    HookCannotSucceed,
    HookWaitsForLaterContainer,
    HookToolMissing,
    HttpHookAsGate,
    SleepAsGate,
    GateReturnsEarly,
    GateAfterDependent,
    EntrypointRacesHook,
    HookOnDependent,
    Ungated,
}

impl Context<'_> {
    /// The rule that tells about an open pair; none for a pair that is held.
    pub(super) fn teller(&self, need: &Need) -> Option<Teller> {
        let gap = need.gap()?;
        if gap == Gap::LaterThanInit {
            return Some(Teller::InitNeedsLaterContainer);
        }
        Some(by_provider_fault(self, need).unwrap_or_else(|| by_gap(self, need, gap)))
    }
}

/// A hook that fails whatever it waits for, or waits for what cannot come.
fn by_provider_fault(context: &Context<'_>, need: &Need) -> Option<Teller> {
    let awaited = later::awaited(context, need.dependent);
    if matches!(
        hook::of(context, need.provider),
        Some(Hook::TcpSocket { .. })
    ) {
        return Some(Teller::TcpHook);
    }
    if hook_cannot_succeed::failure(context, need.provider).is_some() {
        return Some(Teller::HookCannotSucceed);
    }
    // A provider whose hook waits for its dependent would deadlock with any gate.
    let deadlock = later::awaited(context, need.provider);
    if awaited.is_some_and(|later| later.provider == need.provider)
        || deadlock.is_some_and(|later| later.provider == need.dependent)
    {
        return Some(Teller::HookWaitsForLaterContainer);
    }
    let hook = &context.container(need.provider).post_start;
    if !matches!(hook, Some(Action::Exec { .. })) {
        return None;
    }
    let missing = hook_tool_missing::missing(context, need.provider);
    let mut fields = missing.iter().map(|missing| missing.field);
    fields
        .any(|field| field == Side::PostStart.field())
        .then_some(Teller::HookToolMissing)
}

fn by_gap(context: &Context<'_>, need: &Need, gap: Gap) -> Teller {
    match gap {
        Gap::LaterThanInit => Teller::InitNeedsLaterContainer,
        Gap::HttpHook => Teller::HttpHookAsGate,
        Gap::Sleep => Teller::SleepAsGate,
        Gap::GateAfterDependent => Teller::GateAfterDependent,
        Gap::ReturnsEarly if entrypoint_races_hook::uses_own_server(context, need.provider) => {
            Teller::EntrypointRacesHook
        }
        Gap::ReturnsEarly => Teller::GateReturnsEarly,
        Gap::NoGate | Gap::UnreadHook if hook_on_dependent::is_meant_for(context, need) => {
            Teller::HookOnDependent
        }
        Gap::NoGate | Gap::UnreadHook => Teller::Ungated,
    }
}
