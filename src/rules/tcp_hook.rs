//! A tcpSocket lifecycle hook, which the API server accepts and the kubelet cannot run.

use super::hook::{self, Side};
use super::teller::Teller;
use super::{Check, Context, Rule};
use crate::finding::{Finding, Fix, FixSafety, Outcome, Severity};
use crate::manifest::Mark;
use crate::manifest::edit::Operation;
use crate::pod::{Action, Container, Role};

pub(super) static RULE: Rule = Rule {
    id: "tcp-hook",
    summary: "a lifecycle hook is a tcpSocket, which always fails",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Safe),
    why: "The API server takes `tcpSocket` in a lifecycle hook, but the kubelet has no way to run it: the hook fails \
          at once. After a failed postStart hook the kubelet kills the container, at each of its starts. After a \
          failed preStop hook the container is stopped without it.",
    facts: &["S3", "S5"],
    cure: "For a sidecar that others need, the same connection becomes the startupProbe of a native sidecar; else the \
           hook is removed.",
    silent: "`tcpSocket` stands in a probe, where it works.",
    example: include_str!("../../testdata/rules/tcp-hook/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let containers = context.workload.template.containers.iter().enumerate();
    for (at, container) in containers.filter(|(_, container)| container.role != Role::Init) {
        let sides: Vec<Side> = Side::BOTH
            .into_iter()
            .filter(|side| is_tcp(*side, container))
            .collect();
        if let [first, rest @ ..] = sides.as_slice() {
            findings.push(report(context, at, *first, rest));
        }
    }
}

fn is_tcp(side: Side, container: &Container) -> bool {
    matches!(side.action(container), Some(Action::TcpSocket { .. }))
}

fn report(context: &Context<'_>, at: usize, first: Side, rest: &[Side]) -> Finding {
    let container = context.container(at);
    let name = &container.name;
    let message = format!(
        "the {} hook of `{name}` is a tcpSocket and always fails",
        first.field()
    );
    let mut finding = context.finding(
        &RULE,
        message,
        first.at(container).key("tcpSocket"),
        Mark::Key,
        "the kubelet cannot run this as a hook",
    );
    finding.container = Some(name.clone());
    for side in rest {
        let text = "nor this one";
        let other = side.at(container).key("tcpSocket");
        finding
            .related
            .push(super::context::label(other, Mark::Key, text));
    }
    finding.because = match first {
        Side::PostStart => format!(
            "the API server accepts a tcpSocket hook, the kubelet fails it at once and kills `{name}`, at each start"
        ),
        Side::PreStop => format!(
            "the API server accepts a tcpSocket hook, the kubelet fails it at once and stops `{name}` without it"
        ),
    };
    let need =
        hook::needs_of(context, at).find(|need| context.teller(need) == Some(Teller::TcpHook));
    if let Some(need) = need.filter(|_| first == Side::PostStart) {
        let dependent = &context.container(need.dependent).name;
        finding.dependent = Some(dependent.clone());
        finding.evidence = need.evidence.clone();
        finding.related.extend(hook::evidence_label(context, need));
        finding
            .notes
            .push(format!("nothing holds `{dependent}` until `{name}` serves"));
        if rest.is_empty() {
            let gate = context.close(need);
            if gate.outcome == Outcome::Untried {
                finding.fix = Some(gate);
                return finding;
            }
        }
    }
    finding.fix = Some(remove(container, first, rest));
    finding
}

fn remove(container: &Container, first: Side, rest: &[Side]) -> Fix {
    let sides: Vec<Side> = std::iter::once(first).chain(rest.iter().copied()).collect();
    let keeps = Side::BOTH
        .into_iter()
        .any(|side| side.action(container).is_some() && !sides.contains(&side));
    let operations = match keeps {
        true => sides
            .iter()
            .map(|side| Operation::Remove {
                at: side.at(container),
            })
            .collect(),
        false => vec![Operation::Remove {
            at: container.at.key("lifecycle"),
        }],
    };
    let what = match rest {
        [] => format!("the {} hook", first.field()),
        _ => "both hooks".to_owned(),
    };
    Fix::new(
        FixSafety::Safe,
        format!("remove {what} of `{}`", container.name),
        operations,
    )
}
