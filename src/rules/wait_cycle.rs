//! Workloads of one run wait for each other: none of them ever starts.

use super::{Check, Rule, Subject, Together};
use crate::finding::{Finding, Label, Severity};
use crate::graph::{Edge, Graph, Node, Stage};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "wait-cycle",
    summary: "workloads wait for each other through their Services",
    severity: Severity::Error,
    since: "0.1.0",
    fix: None,
    why: "A wait for a Service ends when a pod behind it is ready, and a pod is ready only after its own waits have \
          ended. Workloads that wait for each other in a circle are never ready, at least not where none of them has \
          run before: it works until the cluster is made anew.",
    facts: &["S4", "S18"],
    cure: "Nothing that a patch could know: one of the waits has to go, or to give up without failing.",
    silent: "One of the waits is a mere look-up of a name, gives up without failing, or leads to a Service with \
             another workload behind it, or one that publishes addresses that are not ready.",
    example: include_str!("../../testdata/rules/wait-cycle/bad/minimal.yaml"),
    check: Check::WholeRun(check),
};

fn check(together: &Together<'_>, findings: &mut Vec<Finding>) {
    let nodes = together.subjects.iter().map(|subject| Node {
        source: subject.source,
        workload: subject.workload,
        profiles: &subject.profiles,
    });
    let graph = Graph::of(together.run, nodes.collect());
    let cycles = graph.cycles();
    if cycles.is_empty() {
        return;
    }
    for cycle in &cycles {
        let members: BTreeSet<usize> = cycle.iter().copied().collect();
        let mut told: Vec<(usize, usize)> = Vec::new();
        for edge in &graph.edges {
            let key = (edge.from, edge.waiting.container);
            if leads_back(&graph, &members, edge) && !told.contains(&key) {
                told.push(key);
                findings.push(report(together, &graph, cycle, edge));
            }
        }
    }
}

/// Whether a wait of a member ends only when another member is ready.
fn leads_back(graph: &Graph<'_>, members: &BTreeSet<usize>, edge: &Edge<'_>) -> bool {
    let is_member = |node: &usize| members.contains(node);
    members.contains(&edge.from)
        && graph.is_certain(edge)
        && edge
            .needs_one_of()
            .is_some_and(|behind| behind.iter().any(is_member))
}

fn report(together: &Together<'_>, graph: &Graph<'_>, cycle: &[usize], edge: &Edge<'_>) -> Finding {
    let subject: &Subject<'_> = &together.subjects[edge.from];
    let template = &subject.workload.template;
    let container = &template.containers[edge.waiting.container].name;
    let (at, mark) = edge.waiting.place(template);
    let service = edge
        .service()
        .map_or("", |service| service.object.name.as_str());
    let message =
        format!("`{container}` waits for Service `{service}`, whose pods wait for this one");
    let end = match edge.waiting.stage {
        Stage::Init => "has exited with 0",
        Stage::Hook => "has returned from its hook",
        Stage::Command => "has what it waits for",
    };
    Finding {
        rule: RULE.id,
        severity: RULE.severity,
        message,
        help: Some("drop one of the waits, or let it give up without failing".to_owned()),
        because: format!(
            "a Service lists a pod once it is ready, and this pod is not before `{container}` {end}: in a circle nobody is first"
        ),
        object: subject.workload.object.clone(),
        source: subject.source,
        document: subject.document,
        container: Some(container.clone()),
        dependent: None,
        primary: Label {
            at,
            mark,
            text: "never answers".to_owned(),
            span: None,
        },
        related: Vec::new(),
        evidence: Vec::new(),
        notes: vec![told(graph, cycle, edge.from)],
        fix: None,
        suppressed: None,
    }
}

/// More members than these are counted, not named.
const NAMED: usize = 6;

/// The circle from one member on: `A waits for B, which waits for A`.
fn told(graph: &Graph<'_>, cycle: &[usize], from: usize) -> String {
    let start = cycle.iter().position(|node| *node == from).unwrap_or(0);
    let title = |node: usize| {
        let object = &graph.nodes[node].workload.object;
        format!("{} `{}`", object.kind, object.name)
    };
    let around = (1..cycle.len()).map(|step| cycle[(start + step) % cycle.len()]);
    let mut names: Vec<String> = around.take(NAMED).map(title).collect();
    match cycle.len().saturating_sub(NAMED + 1) {
        0 => names.push(title(from)),
        more => names.push(format!("{more} more in the circle")),
    }
    format!(
        "{} waits for {}",
        title(from),
        names.join(", which waits for ")
    )
}
