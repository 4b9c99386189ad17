//! An init container asks the API server, and its ServiceAccount may not.

use super::{Check, Context, Rule};
use crate::finding::{Finding, Severity};
use crate::graph::{Stage, Waiting};
use crate::plan::Target;
use access::{Ask, Right, asks};

mod access;

pub(super) static RULE: Rule = Rule {
    id: "wait-without-rbac",
    summary: "an init container waits for the API server's answer, which its ServiceAccount may not have",
    severity: Severity::Error,
    since: "0.1.0",
    fix: None,
    why: "`kubectl wait` gets, lists and watches what it waits for; k8s-wait-for gets or lists it. Without these rights \
          each try is refused, and the init container never ends. A ServiceAccount has none but what a binding gives.",
    facts: &["S4"],
    cure: "A Role with the verbs and a RoleBinding to the ServiceAccount: new objects, which no patch of this one can \
           make.",
    silent: "A Role or ClusterRole of the run, or one that every cluster has, gives the rights; the command has a \
             kubeconfig or a token of its own.",
    example: include_str!("../../testdata/rules/wait-without-rbac/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut told: Vec<usize> = Vec::new();
    for waiting in context.waits() {
        let is_asked = matches!(waiting.wait.target, Target::Kubernetes { .. });
        let is_tool = matches!(
            waiting.wait.tool.as_str(),
            "kubectl" | "oc" | "k8s-wait-for" | "wait_for"
        );
        if waiting.stage != Stage::Init
            || !is_asked
            || !is_tool
            || told.contains(&waiting.container)
        {
            continue;
        }
        let asks = asks(context.container(waiting.container), &waiting.wait.tool);
        for ask in &asks {
            match ask.right(context) {
                Right::Granted => {}
                right @ (Right::Lacking(_) | Right::NotSeen) => {
                    told.push(waiting.container);
                    findings.push(report(context, &waiting, ask, &right));
                    break;
                }
            }
        }
    }
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>, ask: &Ask, right: &Right) -> Finding {
    let name = context.waiting_name(waiting);
    let account = &context.workload.template.service_account;
    let what = ask.what();
    let all = ask.verbs.join(", ");
    let message = match right {
        Right::Lacking(verbs) => format!(
            "`{name}` asks the API server about {what}, which ServiceAccount `{account}` may not {}",
            alternatives(verbs)
        ),
        Right::Granted | Right::NotSeen => format!(
            "`{name}` asks the API server about {what}; nothing in this run lets ServiceAccount `{account}` do that"
        ),
    };
    let mut finding =
        context.wait_finding(&RULE, waiting, message, format!("takes {all} on {what}"));
    if matches!(right, Right::NotSeen) {
        finding.severity = Severity::Info;
    }
    finding.because = "a ServiceAccount has no rights but those that a binding gives it".to_owned();
    finding.help = Some(format!(
        "give ServiceAccount {account} {all} on {what} by a Role and a RoleBinding"
    ));
    finding
}

/// `get, list or watch`.
fn alternatives(verbs: &[&str]) -> String {
    match verbs {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => verbs.concat(),
    }
}
