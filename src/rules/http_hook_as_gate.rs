//! An httpGet postStart hook on a needed sidecar: one try, and any answer passes.

use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::finding::{Finding, FixSafety, Severity};
use crate::manifest::Mark;
use crate::plan::needs::Need;
use crate::pod::Role;

pub(super) static RULE: Rule = Rule {
    id: "http-hook-as-gate",
    summary: "an httpGet postStart hook is taken for a wait",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: Some(FixSafety::Unsafe),
    why: "The kubelet sends the request of an httpGet hook once, right after the process was started. When the server \
          does not listen yet the hook has failed: the kubelet kills the container and starts the next one. When it \
          does listen, any answer passes, even 404 or 503.",
    facts: &["S3", "S5"],
    cure: "The same request becomes the startupProbe of a native sidecar: it is repeated every second until the answer \
           is a success.",
    silent: "Nobody needs the container before its own start; the hook is a preStop hook, or calls another host.",
    example: include_str!("../../testdata/rules/http-hook-as-gate/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let hooked = context
        .needs()
        .filter(|need| context.teller(need) == Some(Teller::HttpHookAsGate));
    findings.extend(hooked.map(|need| report(context, need)));
}

fn report(context: &Context<'_>, need: &Need) -> Finding {
    let (provider, dependent) = (
        context.container(need.provider),
        context.container(need.dependent),
    );
    let message = format!("the httpGet hook of `{}` does not wait", provider.name);
    let at = provider.at.keys(&["lifecycle", "postStart", "httpGet"]);
    let text = format!(
        "tried once, at once: `{}` may not listen yet",
        provider.name
    );
    let mut finding = context.pair(&RULE, need, message, at, Mark::Key, text);
    let verb = context.verb(need);
    finding
        .related
        .extend(context.evidence_label(need, format!("`{}` {verb} it", dependent.name)));
    finding.because = match provider.role {
        Role::Sidecar => format!(
            "an httpGet hook has one try: refused means failed, and then the kubelet kills `{}` and starts it again; \
             even a 404 would pass",
            provider.name
        ),
        Role::Init | Role::App | Role::Ephemeral => format!(
            "an httpGet hook has one try: refused means failed, and then the kubelet kills `{}` and starts `{}`; even \
             a 404 would pass",
            provider.name, dependent.name
        ),
    };
    finding.fix = Some(context.close(need));
    finding
}
