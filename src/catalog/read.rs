//! The catalogue's loader: from the built-in data, and with places from a user's file.

use super::{Catalog, Class, Covers, Entry, Health, Shell, WaitCommand, WaitsForApp};
use crate::manifest::{Document, Node, Span};

/// What is wrong with an entry, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CatalogError {
    /// What is wrong, in a clause.
    pub message: String,
    /// Where, when it came from a text.
    pub at: Option<Span>,
}

/// Reads a list of entries.
pub fn read(document: &Document) -> Result<Catalog, CatalogError> {
    let entries = document
        .root()
        .into_iter()
        .flat_map(Node::items)
        .map(read_entry);
    Ok(Catalog {
        entries: entries.collect::<Result<_, _>>()?,
    })
}

fn error<T>(node: Node<'_>, message: String) -> Result<T, CatalogError> {
    Err(CatalogError {
        message,
        at: node.span(),
    })
}

fn text(node: Node<'_>, key: &str) -> Option<String> {
    node.get(key)?.string().map(str::to_owned)
}

fn texts(node: Node<'_>, key: &str) -> Vec<String> {
    let items = node.get(key).into_iter().flat_map(Node::items);
    items
        .filter_map(|item| item.text().map(str::to_owned))
        .collect()
}

fn ports(node: Node<'_>, key: &str) -> Vec<u16> {
    let items = node.get(key).into_iter().flat_map(Node::items);
    items
        .filter_map(|item| u16::try_from(item.int()?).ok())
        .collect()
}

fn one_of<T: Copy>(
    node: Node<'_>,
    key: &str,
    known: &[(&str, T)],
    default: T,
) -> Result<T, CatalogError> {
    let Some(value) = node.get(key) else {
        return Ok(default);
    };
    let word = value.text().unwrap_or_default();
    match known.iter().find(|(name, _)| *name == word) {
        Some((_, found)) => Ok(*found),
        None => {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            error(
                value,
                format!("unknown {key} {word:?}: {}", names.join(", ")),
            )
        }
    }
}

const CLASSES: [(&str, Class); 4] = [
    ("needed", Class::Needed),
    ("useful", Class::Useful),
    ("irrelevant", Class::Irrelevant),
    ("reverse", Class::Reverse),
];

const COVERS: [(&str, Covers); 4] = [
    ("all", Covers::All),
    ("apps", Covers::Apps),
    ("loopback", Covers::Loopback),
    ("volume", Covers::Volume),
];

const SHELLS: [(&str, Shell); 3] = [
    ("posix", Shell::Posix),
    ("none", Shell::None),
    ("varies", Shell::Varies),
];

fn read_entry(node: Node<'_>) -> Result<Entry, CatalogError> {
    let Some(name) = text(node, "name") else {
        return error(node, "an entry needs a name".to_owned());
    };
    let images = texts(node, "images");
    if images.is_empty() {
        return error(node, format!("{name} needs images, a list of patterns"));
    }
    Ok(Entry {
        name,
        class: one_of(node, "class", &CLASSES, Class::Needed)?,
        kind: text(node, "kind").unwrap_or_default(),
        images,
        only_when: texts(node, "only_when"),
        not_when: texts(node, "not_when"),
        front_when: texts(node, "front_when"),
        once_when: texts(node, "once_when"),
        covers: one_of(node, "covers", &COVERS, Covers::Loopback)?,
        serves: ports(node, "serves"),
        serves_by: texts(node, "serves_by"),
        listens_on_loopback: ports(node, "listens_on_loopback"),
        address_by: texts(node, "address_by"),
        waits_for_app: node.get("waits_for_app").map(read_waits_for_app),
        sockets: texts(node, "sockets"),
        files: node.get("files").and_then(Node::bool).unwrap_or(false),
        health: node.get("health").map(read_health).transpose()?,
        probe: node
            .get("probe")
            .map(|probe| texts(probe, "exec"))
            .unwrap_or_default(),
        probe_host_by: node
            .get("probe")
            .map(|probe| texts(probe, "host_by"))
            .unwrap_or_default(),
        wait: node.get("wait").map(read_wait),
        never_exits: matches!(text(node, "exit").as_deref(), Some("never" | "quit")),
        shell: one_of(node, "shell", &SHELLS, Shell::Varies)?,
        bare_images: texts(node, "bare_images"),
        shell_tags: texts(node, "shell_tags"),
        tools: texts(node, "tools"),
        checked: text(node, "checked").unwrap_or_default(),
        sources: texts(node, "sources"),
    })
}

fn read_health(node: Node<'_>) -> Result<Health, CatalogError> {
    let port = node
        .get("port")
        .and_then(Node::int)
        .and_then(|port| u16::try_from(port).ok());
    let Some(port) = port else {
        return error(node, "health needs a port".to_owned());
    };
    Ok(Health {
        path: text(node, "path").unwrap_or_else(|| "/".to_owned()),
        port,
        port_by: texts(node, "port_by"),
        args: texts(node, "args"),
        env: texts(node, "env"),
    })
}

fn read_waits_for_app(node: Node<'_>) -> WaitsForApp {
    WaitsForApp {
        path: text(node, "path").unwrap_or_default(),
        when: texts(node, "when"),
    }
}

fn read_wait(node: Node<'_>) -> WaitCommand {
    WaitCommand {
        command: texts(node, "command"),
        bound_seconds: node
            .get("bound_seconds")
            .and_then(Node::int)
            .and_then(|seconds| u64::try_from(seconds).ok()),
        args: texts(node, "args"),
        env: texts(node, "env"),
    }
}
