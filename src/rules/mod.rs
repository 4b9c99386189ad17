//! The rules: each reports one bad pattern about start order. `RULES` is the one list.

mod busybox_nslookup;
pub mod configs;
mod context;
mod dns_as_readiness;
mod entrypoint_races_hook;
mod forbidden_init_field;
mod gate_after_dependent;
mod gate_failure_fatal;
mod gate_returns_early;
mod gate_waits_for_app;
mod gate_without_timeout;
mod hook;
mod hook_cannot_succeed;
mod hook_exceeds_grace;
mod hook_on_dependent;
mod hook_tool_missing;
mod hook_waits_for_later_container;
mod http_hook_as_gate;
mod init_failure_fatal;
mod init_needs_later_container;
mod init_outside_mesh;
mod job_never_completes;
mod native_sidecar_unsupported;
mod order_field_lost;
mod probe_on_loopback_listener;
mod removed_api_version;
mod restart_policy_on_app_container;
mod self_wait;
mod sidecar_stops_first;
mod sleep_as_gate;
mod slow_startup_probe;
mod startup_probe_nobody_serves;
mod startup_probe_on_app_container;
mod tcp_hook;
mod teller;
mod together;
mod ungated_injected_proxy;
mod ungated_native_sidecar;
mod ungated_sidecar;
mod unknown_order_field;
mod unready_dns;
pub mod unused_ignore;
mod wait_cycle;
mod wait_for_missing_service;
mod wait_without_rbac;
mod wait_without_timeout;

pub use context::{Context, Preference};
pub use order_field_lost::{drop_consequences, lost_in_answer};
pub use together::{Subject, Together};

use crate::finding::{Finding, FixSafety, Severity};
use crate::nearness::nearest;
use crate::run::Run;

/// What a rule looks at.
#[derive(Clone, Copy)]
pub enum Check {
    /// One workload at a time.
    PerWorkload(fn(&Context<'_>, &mut Vec<Finding>)),
    /// All workloads together, with the other objects of the run.
    WholeRun(fn(&Together<'_>, &mut Vec<Finding>)),
    /// What the findings of all other rules leave of the ignores; see [`crate::suppress`].
    Ignores,
}

/// A rule, and its page.
pub struct Rule {
    /// Names the bad pattern; reads well after "ignore".
    pub id: &'static str,
    /// What fires, in a clause.
    pub summary: &'static str,
    /// The severity when nothing makes it more or less.
    pub severity: Severity,
    /// The version that brought the rule.
    pub since: &'static str,
    /// The best fix that it offers; a finding may say less.
    pub fix: Option<FixSafety>,
    /// Why it matters, with the kubelet's fact.
    pub why: &'static str,
    /// The facts of `docs/start-sequence.md` that it rests on.
    pub facts: &'static [&'static str],
    /// What the fix does, and what it costs.
    pub cure: &'static str,
    /// When it stays silent.
    pub silent: &'static str,
    /// The smallest manifest that fires.
    pub example: &'static str,
    /// What finds it.
    pub check: Check,
}

/// Every rule, sorted by id.
pub static RULES: &[&Rule] = &[
    &busybox_nslookup::RULE,
    &dns_as_readiness::RULE,
    &entrypoint_races_hook::RULE,
    &forbidden_init_field::RULE,
    &gate_after_dependent::RULE,
    &gate_failure_fatal::RULE,
    &gate_returns_early::RULE,
    &gate_waits_for_app::RULE,
    &gate_without_timeout::RULE,
    &hook_cannot_succeed::RULE,
    &hook_exceeds_grace::RULE,
    &hook_on_dependent::RULE,
    &hook_tool_missing::RULE,
    &hook_waits_for_later_container::RULE,
    &http_hook_as_gate::RULE,
    &init_failure_fatal::RULE,
    &init_needs_later_container::RULE,
    &init_outside_mesh::RULE,
    &job_never_completes::RULE,
    &native_sidecar_unsupported::RULE,
    &order_field_lost::RULE,
    &probe_on_loopback_listener::RULE,
    &removed_api_version::RULE,
    &restart_policy_on_app_container::RULE,
    &self_wait::RULE,
    &sidecar_stops_first::RULE,
    &sleep_as_gate::RULE,
    &slow_startup_probe::RULE,
    &startup_probe_nobody_serves::RULE,
    &startup_probe_on_app_container::RULE,
    &tcp_hook::RULE,
    &ungated_injected_proxy::RULE,
    &ungated_native_sidecar::RULE,
    &ungated_sidecar::RULE,
    &unknown_order_field::RULE,
    &unready_dns::RULE,
    &unused_ignore::RULE,
    &wait_cycle::RULE,
    &wait_for_missing_service::RULE,
    &wait_without_rbac::RULE,
    &wait_without_timeout::RULE,
];

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// The rule whose id somebody may have meant.
pub fn near(id: &str) -> Option<&'static str> {
    nearest(id, RULES.iter().map(|rule| rule.id))
}

/// Runs every rule on one workload.
pub fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        match rule.check {
            Check::PerWorkload(check) => check(context, &mut findings),
            Check::WholeRun(_) | Check::Ignores => {}
        }
    }
    findings
}

/// Runs the rules that look at all workloads together.
pub fn check_run(run: &Run, subjects: &[Subject<'_>]) -> Vec<Finding> {
    let together = Together { run, subjects };
    let mut findings = Vec::new();
    for rule in RULES {
        match rule.check {
            Check::WholeRun(check) => check(&together, &mut findings),
            Check::PerWorkload(_) | Check::Ignores => {}
        }
    }
    findings
}
