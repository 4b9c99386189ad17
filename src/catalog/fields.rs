//! The values of one entry's fields: read strictly, each error with its place.

use super::version::Version;
use crate::manifest::{Node, Span};
use crate::nearness::distance;

/// What is wrong with an entry, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CatalogError {
    /// What is wrong, in a clause.
    pub message: String,
    /// What could be meant, in a clause.
    pub hint: Option<String>,
    /// Where, when it came from a text.
    pub at: Option<Span>,
}

/// What reading a part of an entry gives.
pub(super) type Read<T> = Result<T, CatalogError>;

/// An error at a node.
pub(super) fn error<T>(node: Node<'_>, message: impl Into<String>) -> Read<T> {
    Err(CatalogError {
        message: message.into(),
        hint: None,
        at: node.span(),
    })
}

/// An error at the key of an unknown field, with the known one that is nearest.
pub(super) fn unknown<T>(node: Node<'_>, key: &str, known: &[&str]) -> Read<T> {
    let near = known
        .iter()
        .map(|name| (distance(key, name), name))
        .filter(|(distance, name)| *distance <= 2.max(name.len() / 4))
        .min();
    let hint = match near {
        Some((_, name)) => format!("{name:?}?"),
        None => format!("known are {}", known.join(", ")),
    };
    Err(CatalogError {
        message: format!("unknown field {key:?}"),
        hint: Some(hint),
        at: node.entry(key).and_then(|(key, _)| key.span()),
    })
}

/// The fields of a mapping, those left empty (`key:`) included; an error for anything else.
pub(super) fn fields<'d>(node: Node<'d>, what: &str) -> Read<Vec<(&'d str, Node<'d>)>> {
    match node.is_mapping() {
        true => Ok(node.entries()),
        false => error(node, format!("{what} needs fields")),
    }
}

/// A text that says something.
pub(super) fn text(node: Node<'_>, key: &str) -> Read<String> {
    match node.string() {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        Some(_) | None => error(node, format!("{key} needs a text")),
    }
}

/// A list of texts; a single one has to be a list, too, as everywhere in Kubernetes.
pub(super) fn texts(node: Node<'_>, key: &str) -> Read<Vec<String>> {
    if node.is_null() {
        return Ok(Vec::new());
    }
    if !node.is_sequence() {
        return error(node, format!("{key} needs a list of texts"));
    }
    node.items().map(|item| text(item, key)).collect()
}

/// A port.
pub(super) fn port(node: Node<'_>, key: &str) -> Read<u16> {
    match node.int() {
        None => error(node, format!("{key} needs a port number")),
        Some(number) => match u16::try_from(number) {
            Ok(port) if port > 0 => Ok(port),
            Ok(_) | Err(_) => error(node, format!("port {number} is not between 1 and 65535")),
        },
    }
}

/// A list of ports.
pub(super) fn ports(node: Node<'_>, key: &str) -> Read<Vec<u16>> {
    if node.is_null() {
        return Ok(Vec::new());
    }
    if !node.is_sequence() {
        return error(node, format!("{key} needs a list of port numbers"));
    }
    node.items().map(|item| port(item, key)).collect()
}

/// A number of seconds.
pub(super) fn seconds(node: Node<'_>, key: &str) -> Read<u64> {
    let number = node.int().and_then(|number| u64::try_from(number).ok());
    match number {
        Some(number) => Ok(number),
        None => error(node, format!("{key} needs a number of seconds")),
    }
}

/// Yes or no.
pub(super) fn flag(node: Node<'_>, key: &str) -> Read<bool> {
    match node.bool() {
        Some(flag) => Ok(flag),
        None => error(node, format!("{key} needs true or false")),
    }
}

/// One word of several.
pub(super) fn one_of<T: Copy>(node: Node<'_>, key: &str, known: &[(&str, T)]) -> Read<T> {
    let word = node.text().unwrap_or_default();
    match known.iter().find(|(name, _)| *name == word) {
        Some((_, found)) => Ok(*found),
        None => {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            error(
                node,
                format!("unknown {key} {word:?}: {} are known", names.join(", ")),
            )
        }
    }
}

/// A version of the image.
pub(super) fn version(node: Node<'_>, key: &str) -> Read<Version> {
    use crate::manifest::scalar::Scalar;
    let found = match node.scalar() {
        // As a number, 1.30 is 1.3.
        Some(Scalar::Float(_)) => {
            let written = node.text().unwrap_or_default();
            return error(node, format!("{key} needs quotes: \"{written}\""));
        }
        Some(_) => node.text().and_then(Version::parse),
        None => None,
    };
    match found {
        Some(version) => Ok(version),
        None => error(node, format!("{key} needs a version such as \"2.8.0\"")),
    }
}

/// A month, as `YYYY-MM`.
pub(super) fn month(node: Node<'_>, key: &str) -> Read<String> {
    let text = text(node, key)?;
    let is_month = text.split_once('-').is_some_and(|(year, month)| {
        let month: Option<u8> = month.parse().ok().filter(|_| month.len() == 2);
        year.len() == 4
            && year.parse::<u16>().is_ok()
            && month.is_some_and(|month| (1..=12).contains(&month))
    });
    match is_month {
        true => Ok(text),
        false => error(node, format!("{key} needs a month such as 2026-08")),
    }
}

/// Addresses of pages.
pub(super) fn sources(node: Node<'_>, key: &str) -> Read<Vec<String>> {
    let found = texts(node, key)?;
    for (item, text) in node.items().zip(&found) {
        if !text.starts_with("https://") && !text.starts_with("http://") {
            return error(
                item,
                format!("{key} needs addresses that begin with https://"),
            );
        }
    }
    Ok(found)
}
