//! What a server has changed about a pod, as far as its start order goes, in words.

use crate::pod::{Container, PodTemplate, Role};
use std::collections::BTreeMap;

/// The most annotations and labels that a sentence names.
const NAMED: usize = 2;

/// `adds native sidecar `proxy` (first) and annotation `mesh/status`; drops the postStart hook of
/// `app``; none when all is as asked.
pub(super) fn sentence(asked: &PodTemplate, answered: &PodTemplate) -> Option<String> {
    let mut added = added_containers(asked, answered);
    let mut others = dropped_containers(asked, answered);
    others.extend(reordered(asked, answered));
    for own in &asked.containers {
        if let Some((_, theirs)) = answered.container(&own.name) {
            others.extend(changed_role(own, theirs));
            for change in changed_fields(own, theirs) {
                match change {
                    Change::Added(what) => added.push(what),
                    Change::Other(what) => others.push(what),
                }
            }
        }
    }
    let new_keys = |own: &BTreeMap<String, String>, theirs: &BTreeMap<String, String>| {
        let names = theirs.keys().filter(|key| !own.contains_key(*key)).cloned();
        names.collect::<Vec<String>>()
    };
    let annotations = new_keys(&asked.annotations, &answered.annotations);
    let labels = new_keys(&asked.labels, &answered.labels);
    added.extend(named("annotation", &annotations));
    added.extend(named("label", &labels));
    if let Some(added) = listed(&added) {
        others.insert(0, format!("adds {added}"));
    }
    (!others.is_empty()).then(|| others.join("; "))
}

/// `a, b and c`.
fn listed(all: &[String]) -> Option<String> {
    let (last, before) = all.split_last()?;
    Some(match before {
        [] => last.clone(),
        _ => format!("{} and {last}", before.join(", ")),
    })
}

/// Something about a container that the server has changed.
enum Change {
    Added(String),
    Other(String),
}

fn added_containers(asked: &PodTemplate, answered: &PodTemplate) -> Vec<String> {
    let added = answered
        .containers
        .iter()
        .filter(|theirs| asked.container(&theirs.name).is_none());
    let said = added.map(|theirs| {
        let place = place(theirs, answered);
        format!("{} `{}`{place}", kind(theirs.role), theirs.name)
    });
    said.collect()
}

fn kind(role: Role) -> &'static str {
    match role {
        Role::Init => "init container",
        Role::Sidecar => "native sidecar",
        Role::App => "container",
        Role::Ephemeral => "ephemeral container",
    }
}

/// Where it stands in its list, when that is known in a word.
fn place(one: &Container, template: &PodTemplate) -> String {
    let list = one.role.list();
    let of_list = |other: &&Container| other.role.list() == list;
    let list: Vec<&Container> = template.containers.iter().filter(of_list).collect();
    let at = list.iter().position(|other| other.name == one.name);
    match at {
        _ if list.len() < 2 => String::new(),
        Some(0) => " (first)".to_owned(),
        Some(at) if at + 1 == list.len() => " (last)".to_owned(),
        Some(at) => format!(" (before `{}`)", list[at + 1].name),
        None => String::new(),
    }
}

fn dropped_containers(asked: &PodTemplate, answered: &PodTemplate) -> Vec<String> {
    let dropped = asked
        .containers
        .iter()
        .filter(|own| answered.container(&own.name).is_none());
    dropped
        .map(|own| format!("drops {} `{}`", kind(own.role), own.name))
        .collect()
}

/// The containers of both, in the answer's order, if that is not the asked one.
fn reordered(asked: &PodTemplate, answered: &PodTemplate) -> Option<String> {
    let order = |of: &PodTemplate, other: &PodTemplate| {
        let shared = of
            .containers
            .iter()
            .filter(|one| other.container(&one.name).is_some());
        shared.map(|one| one.name.clone()).collect::<Vec<_>>()
    };
    let theirs = order(answered, asked);
    (order(asked, answered) != theirs)
        .then(|| format!("changes the order to `{}`", theirs.join("`, `")))
}

fn changed_role(own: &Container, theirs: &Container) -> Option<String> {
    let (from, name, to) = (kind(own.role), &own.name, kind(theirs.role));
    let article = if to.starts_with(['e', 'i']) {
        "an"
    } else {
        "a"
    };
    (own.role != theirs.role).then(|| format!("makes {from} `{name}` {article} {to}"))
}

fn changed_fields(own: &Container, theirs: &Container) -> Vec<Change> {
    let name = &own.name;
    let hooks = [
        ("postStart hook", &own.post_start, &theirs.post_start),
        ("preStop hook", &own.pre_stop, &theirs.pre_stop),
    ];
    let hooks = hooks
        .into_iter()
        .filter_map(|(what, own, theirs)| changed(what, name, own.as_ref(), theirs.as_ref()));
    let probes = [
        ("startupProbe", &own.startup, &theirs.startup),
        ("readinessProbe", &own.readiness, &theirs.readiness),
        ("livenessProbe", &own.liveness, &theirs.liveness),
    ];
    let probes = probes
        .into_iter()
        .filter_map(|(what, own, theirs)| changed(what, name, own.as_ref(), theirs.as_ref()));
    let mut changes: Vec<Change> = hooks.chain(probes).collect();
    if (&own.command, &own.args) != (&theirs.command, &theirs.args) {
        changes.push(Change::Other(format!("changes the command of `{name}`")));
    }
    changes
}

fn changed<T: PartialEq>(
    what: &str,
    name: &str,
    own: Option<&T>,
    theirs: Option<&T>,
) -> Option<Change> {
    match (own, theirs) {
        (None, Some(_)) => Some(Change::Added(format!("a {what} to `{name}`"))),
        (Some(_), None) => Some(Change::Other(format!("drops the {what} of `{name}`"))),
        (Some(own), Some(theirs)) if own != theirs => {
            Some(Change::Other(format!("changes the {what} of `{name}`")))
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}

/// `annotation `a``, `annotations `a`, `b` and 3 more`.
fn named(what: &str, names: &[String]) -> Option<String> {
    let listed = names
        .iter()
        .take(NAMED)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("{what} {listed}")),
        count if count > NAMED => Some(format!("{what}s {listed} and {} more", count - NAMED)),
        _ => Some(format!("{what}s {listed}")),
    }
}
