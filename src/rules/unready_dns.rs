//! Members of a set look each other up by a headless Service that hides them until they are ready.

use super::context::label;
use super::{Check, Context, Rule};
use crate::finding::{Evidence, EvidenceKind, Finding, Severity};
use crate::graph::{Host, PodName};
use crate::manifest::{FieldPath, Mark, Node};
use crate::plan::settings::{self, Setting};
use crate::plan::{Target, mentions};
use crate::pod::Role;
use crate::pod::workload::Service;

pub(super) static RULE: Rule = Rule {
    id: "unready-dns",
    summary: "members look each other up by a headless Service that lists ready pods only",
    severity: Severity::Info,
    since: "0.1.0",
    fix: None,
    why: "The name of a pod behind a headless Service resolves once the pod is ready. Members that are ready only when \
          they have found each other never find each other: at a first start, and again when all restart at once.",
    facts: &["S19"],
    cure: "`publishNotReadyAddresses: true` on the Service; it stands in another document, so that no patch of this \
           one can set it.",
    silent: "The Service publishes addresses that are not ready; no readinessProbe holds the pods back; nobody names a \
             peer; a StatefulSet that starts its pods one by one names its first.",
    example: include_str!("../../testdata/rules/unready-dns/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let template = &context.workload.template;
    let holds = |one: &&crate::pod::Container| {
        matches!(one.role, Role::App | Role::Sidecar) && one.readiness.is_some()
    };
    let Some(probed) = template.containers.iter().find(holds) else {
        return;
    };
    if template.is_partial || template.labels.is_empty() {
        return;
    }
    let mut hiding = context.run.services_of(context.workload);
    hiding.retain(|service| service.is_headless && !service.publishes_unready);
    if hiding.is_empty() {
        return;
    }
    let order = start_order(context);
    for (index, container) in template.containers.iter().enumerate() {
        let mut settings = context.settings(index).into_owned();
        settings.extend(context.borrowed(index));
        let words = settings::words(container);
        let named = settings
            .iter()
            .map(|setting| (&setting.value, &setting.at, Some(setting)));
        let bare = words.iter().map(|word| (&word.text, &word.at, None));
        let names_one = |text: &str| {
            let mut names = hiding.iter().map(|service| &service.object.name);
            names.any(|name| text.contains(name))
        };
        for (text, at, setting) in named.chain(bare).filter(|(text, _, _)| names_one(text)) {
            let Some((service, words)) = peer(context, order, text, setting) else {
                continue;
            };
            let mut finding = match setting.filter(|setting| setting.elsewhere.is_some()) {
                Some(setting) => report_borrowed(context, service, setting, words),
                None => report(context, service, at, Mark::Part(words)),
            };
            finding.container = Some(container.name.clone());
            finding.related.push(label(
                probed.at.key("readinessProbe"),
                Mark::Key,
                "ready only once this passes",
            ));
            findings.push(finding);
            return;
        }
    }
}

/// How the members of a set are started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// There is one only.
    Alone,
    /// Each when the one before is ready: the first is there for all the others.
    OneByOne,
    /// All together.
    AtOnce,
}

impl Order {
    /// Whether a pod, by what follows the set's name, can be unready when the others look for it.
    fn hides(self, suffix: Option<&str>) -> bool {
        let number = suffix.and_then(|suffix| suffix.strip_prefix('-')?.parse::<u32>().ok());
        match (self, number) {
            (_, None) | (Order::Alone, Some(0)) => false,
            (Order::OneByOne, Some(number)) => number > 0,
            (Order::Alone | Order::AtOnce, Some(_)) => true,
        }
    }
}

fn start_order(context: &Context<'_>) -> Order {
    let read = context.run.document(context.source, context.document);
    let spec = context.workload.at.key("spec");
    let field = |key: &'static str| read?.document.node_at(&spec.key(key));
    let replicas = field("replicas").and_then(Node::int).unwrap_or(1);
    let policy = field("podManagementPolicy").and_then(Node::string);
    match (replicas, context.workload.object.kind.as_str(), policy) {
        (..=1, _, _) => Order::Alone,
        (_, "StatefulSet", None | Some("OrderedReady")) => Order::OneByOne,
        (_, _, _) => Order::AtOnce,
    }
}

/// A name of another member of the same set in a text, and its words.
fn peer<'r>(
    context: &Context<'r>,
    order: Order,
    text: &str,
    setting: Option<&Setting>,
) -> Option<(&'r Service, String)> {
    if !text.contains('.') && setting.is_none() {
        return None;
    }
    let own = &context.workload.object;
    for (host, words) in hosts(text) {
        let Host::Service(found) = context.asker().resolve(&host) else {
            continue;
        };
        let service = found.service;
        let same_space = context.run.namespace_of(&service.object) == context.run.namespace_of(own);
        let hides = service.is_headless && !service.publishes_unready;
        if !hides || !same_space || !service.selects(context.workload) {
            continue;
        }
        let is_peer = match &found.pod {
            Some(PodName::Named(name)) => order.hides(name.strip_prefix(&own.name)),
            Some(PodName::Unknown) => order == Order::AtOnce,
            Some(PodName::Own) => false,
            None => order != Order::Alone && setting.is_some_and(names_members),
        };
        if is_peer {
            return Some((service, words));
        }
    }
    None
}

/// The hosts of a text: those with a port or a scheme, and each item of a list.
fn hosts(text: &str) -> Vec<(String, String)> {
    let addresses = mentions(text)
        .into_iter()
        .filter_map(|mention| match mention.target {
            Target::Address(address) => Some((address.host, mention.words)),
            Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. }
            | Target::Opaque => None,
        });
    let mut found: Vec<(String, String)> = addresses.collect();
    let is_list =
        !text.contains(char::is_whitespace) && !text.contains("://") && !text.starts_with('-');
    if is_list {
        let items = text.split([',', ';']);
        found.extend(items.map(|item| {
            let item = item.trim();
            (
                item.split(':').next().unwrap_or(item).to_owned(),
                item.to_owned(),
            )
        }));
    }
    found
}

/// Settings that list the members of a set.
fn names_members(setting: &Setting) -> bool {
    const WORDS: [&str; 14] = [
        "seed",
        "seeds",
        "peer",
        "peers",
        "join",
        "retry",
        "cluster",
        "members",
        "member",
        "discovery",
        "bootstrap",
        "gossip",
        "nodes",
        "initial",
    ];
    setting.name_words().any(|word| WORDS.contains(&&*word))
}

/// A ConfigMap lists the members.
fn report_borrowed(
    context: &Context<'_>,
    service: &Service,
    setting: &Setting,
    words: String,
) -> Finding {
    let mut finding = report(context, service, &setting.at, Mark::Entry);
    finding.evidence.push(Evidence {
        kind: EvidenceKind::Wait,
        detail: format!("{} names {words}", setting.name),
        words,
        at: setting.at.clone(),
        span: None,
        elsewhere: setting.elsewhere.clone(),
    });
    finding
}

fn report(context: &Context<'_>, service: &Service, at: &FieldPath, mark: Mark) -> Finding {
    let name = &service.object.name;
    let message = format!(
        "members of `{}` look each other up by Service `{name}`, which hides them until they are ready",
        context.workload.object.name
    );
    let text = "resolves only once that pod is ready";
    let mut finding = context.finding(&RULE, message, at.clone(), mark, text);
    finding.because =
        "a headless Service resolves to ready pods only, unless it publishes the others, too"
            .to_owned();
    finding.help = Some(format!(
        "set publishNotReadyAddresses: true on Service {name}"
    ));
    finding
}
