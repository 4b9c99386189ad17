//! What a command asks of the API server, and whether its ServiceAccount may.

use crate::pod::Container;
use crate::pod::rbac::{AccessRole, Binding};
use crate::rules::Context;

/// A question to the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// The resource in the plural.
    resource: String,
    /// Its API group; none when it is not known.
    group: Option<&'static str>,
    /// The object, when one is named.
    name: Option<String>,
    /// Its namespace, when one is named.
    namespace: Option<String>,
    /// The verbs that it takes.
    pub(super) verbs: Vec<&'static str>,
}

/// Whether the ServiceAccount may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// It may.
    Granted,
    /// Its roles are in the run and lack these verbs.
    Lacking(Vec<&'static str>),
    /// No role of it is in the run.
    NotSeen,
}

/// Resources by the names that people use: plural, group, and the short names.
const RESOURCES: [(&str, &str, &[&str]); 15] = [
    ("pods", "", &["pod", "po"]),
    ("services", "", &["service", "svc"]),
    ("endpoints", "", &["endpoint", "ep"]),
    ("configmaps", "", &["configmap", "cm"]),
    ("secrets", "", &["secret"]),
    ("namespaces", "", &["namespace", "ns"]),
    ("nodes", "", &["node", "no"]),
    (
        "persistentvolumeclaims",
        "",
        &["persistentvolumeclaim", "pvc"],
    ),
    ("deployments", "apps", &["deployment", "deploy"]),
    ("statefulsets", "apps", &["statefulset", "sts"]),
    ("daemonsets", "apps", &["daemonset", "ds"]),
    ("replicasets", "apps", &["replicaset", "rs"]),
    ("jobs", "batch", &["job", "job-we", "job-wr"]),
    ("cronjobs", "batch", &["cronjob", "cj"]),
    (
        "customresourcedefinitions",
        "apiextensions.k8s.io",
        &["customresourcedefinition", "crd", "crds"],
    ),
];

/// The questions of a container's command: each call of kubectl, or of k8s-wait-for.
pub(super) fn asks(container: &Container, tool: &str) -> Vec<Ask> {
    if container.env.iter().any(|var| var.name == "KUBECONFIG") {
        return Vec::new();
    }
    let words: Vec<&str> = container.words().flat_map(str::split_whitespace).collect();
    let names = |word: &str| {
        let bare = word.trim_start_matches(['(', '!', '$', '"', '\'', '`']);
        let last = bare.rsplit('/').next().unwrap_or(bare);
        last == tool || last.strip_suffix(".sh") == Some(tool)
    };
    let starts: Vec<usize> = (0..words.len()).filter(|at| names(words[*at])).collect();
    if starts.is_empty() {
        return ask(tool, &words).into_iter().collect();
    }
    let calls = starts.into_iter().map(|start| {
        let rest = &words[start + 1..];
        let ends = |word: &&str| {
            matches!(
                *word,
                "|" | "||" | "&&" | ";" | "&" | "do" | "then" | "done"
            ) || word.starts_with('|')
        };
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        // `…;` ends a call as well, with its last word before it.
        let last = rest[..end]
            .iter()
            .position(|word| word.ends_with(';'))
            .map_or(end, |at| at + 1);
        &rest[..last]
    });
    calls.filter_map(|call| ask(tool, call)).collect()
}

fn ask(tool: &str, call: &[&str]) -> Option<Ask> {
    let call = Call::read(call);
    if call.is_elsewhere {
        return None;
    }
    match tool {
        "kubectl" | "oc" => of_kubectl(&call),
        _ => of_wait_for(&call),
    }
}

/// A call's words, its flags told apart.
#[derive(Default)]
struct Call {
    plain: Vec<String>,
    namespace: Option<String>,
    selects: bool,
    watches: bool,
    /// It names whom it asks, and by which right: not the ServiceAccount's.
    is_elsewhere: bool,
}

impl Call {
    fn read(words: &[&str]) -> Call {
        let mut call = Call::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let word = bare(word);
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if word.starts_with('-') => (name, Some(value)),
                _ => (word, None),
            };
            match name {
                "-n" | "--namespace" => {
                    let value = value.or_else(|| words.next().copied());
                    call.namespace = value.map(|value| bare(value).to_owned());
                }
                "-l" | "--selector" | "--field-selector" => {
                    call.selects = true;
                    if value.is_none() {
                        words.next();
                    }
                }
                "--all" => call.selects = true,
                "-w" | "--watch" => call.watches = true,
                "--kubeconfig" | "--context" | "--token" | "--server" | "-s" | "--as" => {
                    call.is_elsewhere = true;
                    if value.is_none() {
                        words.next();
                    }
                }
                "-o" | "--output" | "--for" | "--timeout" | "-f" | "--filename"
                    if value.is_none() =>
                {
                    words.next();
                }
                _ if name.starts_with("-l") && name.len() > 2 => call.selects = true,
                _ if name.starts_with('-') || name.contains('>') => {}
                _ => call.plain.push(word.to_owned()),
            }
        }
        call
    }
}

/// A word of a script without quotes, and without what ends a command.
fn bare(word: &str) -> &str {
    word.trim_matches([';', '"', '\'', ')', '`'])
}

fn of_kubectl(call: &Call) -> Option<Ask> {
    let plain: Vec<&str> = call.plain.iter().map(String::as_str).collect();
    let (rest, verbs): (&[&str], &[&'static str]) = match plain.as_slice() {
        ["wait", rest @ ..] => (rest, &["get", "list", "watch"]),
        ["rollout", "status", rest @ ..] => (rest, &["get", "list", "watch"]),
        ["get" | "describe", rest @ ..] => (rest, &["get"]),
        _ => return None,
    };
    let (kind, name) = match rest.first()?.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (*rest.first()?, rest.get(1).copied()),
    };
    let verbs = match (verbs, name) {
        (["get"], None) if call.watches => vec!["list", "watch"],
        (["get"], None) => vec!["list"],
        (["get"], Some(_)) if call.watches => vec!["get", "list", "watch"],
        (["get"], Some(_)) => vec!["get"],
        (_, None) => vec!["list", "watch"],
        (all, Some(_)) => all.to_vec(),
    };
    Some(of(kind, name, verbs, call))
}

/// `job NAME`, `pod NAME` or `pod -lSELECTOR`.
fn of_wait_for(call: &Call) -> Option<Ask> {
    let kind = call.plain.first()?;
    let name = call.plain.get(1).map(String::as_str);
    let verbs = if name.is_some() && !call.selects {
        vec!["get"]
    } else {
        vec!["list"]
    };
    Some(of(kind, name, verbs, call))
}

fn of(kind: &str, name: Option<&str>, verbs: Vec<&'static str>, call: &Call) -> Ask {
    let kind = kind.to_ascii_lowercase();
    let bare = kind.split('.').next().unwrap_or(&kind);
    let known = RESOURCES
        .iter()
        .find(|(plural, _, short)| *plural == bare || short.contains(&bare));
    let (resource, group) = match known {
        Some((plural, group, _)) => ((*plural).to_owned(), Some(*group)),
        None if bare.ends_with('s') => (bare.to_owned(), None),
        None => (format!("{bare}s"), None),
    };
    Ask {
        resource,
        group,
        name: name.filter(|name| !name.contains('$')).map(str::to_owned),
        namespace: call.namespace.clone(),
        verbs,
    }
}

impl Ask {
    /// The resource, with its namespace when it is written.
    pub(super) fn what(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} in namespace {namespace}", self.resource),
            None => self.resource.clone(),
        }
    }

    /// Whether the pod's ServiceAccount may ask this.
    pub(super) fn right(&self, context: &Context<'_>) -> Right {
        let own = context.run.namespace_of(&context.workload.object);
        let target = self
            .namespace
            .as_deref()
            .filter(|name| !name.contains('$'))
            .unwrap_or(own);
        let account = &context.workload.template.service_account;
        let bindings = context.run.bindings_of(own, account);
        let is_here = |binding: &&Binding| {
            binding.object.kind == "ClusterRoleBinding"
                || context.run.namespace_of(&binding.object) == target
        };
        let mut roles: Vec<&AccessRole> = Vec::new();
        let mut is_complete = true;
        let (here, elsewhere): (Vec<&Binding>, Vec<&Binding>) = bindings.partition(is_here);
        for binding in &here {
            let scope = match binding.role_kind.as_str() {
                "ClusterRole" => "",
                _ => context.run.namespace_of(&binding.object),
            };
            match context.run.role(scope, &binding.role_name, context.source) {
                Some(role) if role.collects.is_empty() => roles.push(role),
                // Others, from outside the run, may be collected as well.
                Some(role) => {
                    is_complete = false;
                    roles.extend(collected(context, role));
                }
                None if self.is_read_by(&binding.role_name) => return Right::Granted,
                None => is_complete = false,
            }
        }
        let allows = |verb: &&'static str| {
            let mut rules = roles.iter().flat_map(|role| &role.rules);
            rules.any(|rule| rule.allows(self.group, &self.resource, self.name.as_deref(), verb))
        };
        let lacking: Vec<&'static str> = self
            .verbs
            .iter()
            .filter(|verb| !allows(verb))
            .copied()
            .collect();
        let is_known = !here.is_empty() || !elsewhere.is_empty();
        match (lacking.is_empty(), is_complete && is_known) {
            (true, _) => Right::Granted,
            (false, true) => Right::Lacking(lacking),
            (false, false) => Right::NotSeen,
        }
    }

    /// The roles that every cluster has let their holders read most things.
    fn is_read_by(&self, role: &str) -> bool {
        let is_kept = matches!(self.resource.as_str(), "secrets" | "nodes") || self.group.is_none();
        match role {
            "cluster-admin" => true,
            "admin" | "edit" => !is_kept || self.resource == "secrets",
            "view" => !is_kept,
            _ => false,
        }
    }
}

/// The ClusterRoles of the run whose rules another one collects.
fn collected<'r>(context: &Context<'r>, role: &AccessRole) -> Vec<&'r AccessRole> {
    let all = context.run.cluster_roles();
    all.filter(|one| role.collects.iter().any(|by| by.selects(&one.labels)))
        .collect()
}
