//! Lets the kubelet reach a server that listens on loopback only.

use super::check::flag_place;
use super::probe;
use crate::catalog::Entry;
use crate::finding::{Fix, FixSafety};
use crate::manifest::FieldPath;
use crate::manifest::edit::Operation;
use crate::manifest::path::Segment;
use crate::plan::binds::Bind;
use crate::pod::{Container, Probe};
use serde_json::{Value, json};

/// The address that a server is given instead.
const ALL: &str = "0.0.0.0";

/// Opens the server to the kubelet, or asks it from within; the error says why neither can be done.
pub fn open(
    container: &Container,
    entry: Option<&Entry>,
    at: &FieldPath,
    asked: &Probe,
    bind: &Bind,
) -> Result<Fix, String> {
    match bind {
        Bind::Setting { at, words } => widen(container, at, words),
        Bind::Default => {
            let entry = entry.ok_or_else(|| unknown(container))?;
            by_vendor(container, entry, at, asked)
        }
    }
}

fn unknown(container: &Container) -> String {
    format!(
        "no flag of `{}` is known that opens the port to the kubelet",
        container.name
    )
}

/// The same flag or variable with an address that the kubelet can reach.
fn widen(container: &Container, at: &FieldPath, words: &str) -> Result<Fix, String> {
    let text = text_at(container, at).ok_or_else(|| unknown(container))?;
    if text.contains(char::is_whitespace) {
        return Err("the address stands in a script".to_owned());
    }
    let port = words.rsplit_once(':').map(|(_, port)| port);
    let wide = port.map_or(ALL.to_owned(), |port| format!("{ALL}:{port}"));
    let operations = vec![Operation::Replace {
        at: at.clone(),
        value: json!(text.replace(words, &wide)),
    }];
    let title = format!("listen on {wide}");
    let mut fix = Fix::new(FixSafety::Unsafe, title, operations);
    fix.assumes = vec![format!(
        "`{}` may be reached on the pod's address",
        container.name
    )];
    Ok(fix)
}

/// The text of a word of the command, or of a variable.
fn text_at<'c>(container: &'c Container, at: &FieldPath) -> Option<&'c str> {
    let index = |path: &FieldPath| match path.last() {
        Some(Segment::Index(index)) => Some(*index),
        Some(Segment::Key(_)) | None => None,
    };
    let lists = [("command", &container.command), ("args", &container.args)];
    for (list, words) in lists {
        if at.is_below(&container.at.key(list)) {
            return words.get(index(at)?).map(String::as_str);
        }
    }
    let variable = at
        .parent()
        .filter(|above| above.is_below(&container.at.key("env")))?;
    container.env.get(index(&variable)?)?.value.as_deref()
}

/// The vendor's flag for the address, or its own command as an exec probe.
fn by_vendor(
    container: &Container,
    entry: &Entry,
    at: &FieldPath,
    asked: &Probe,
) -> Result<Fix, String> {
    if let Some(own) = &entry.probe {
        let handler = probe::handler(at, &asked.action).ok_or_else(|| unknown(container))?;
        let operations = vec![
            Operation::Remove { at: handler },
            Operation::Insert {
                at: at.clone(),
                key: "exec".to_owned(),
                value: json!({"command": own.command}),
                after: None,
            },
        ];
        let title = format!("ask by {}", own.command.join(" "));
        return Ok(Fix::new(FixSafety::Safe, title, operations));
    }
    let health = entry.health_in(container);
    let flags = health.iter().flat_map(|health| &health.args);
    let opening = flags.into_iter().find(|arg| arg.contains("=0.0.0.0"));
    let opening = opening.ok_or_else(|| unknown(container))?;
    if container.args.is_empty() {
        return Err(format!(
            "`{}` has no args to add {opening} to",
            container.name
        ));
    }
    let operations = vec![Operation::InsertItem {
        at: container.at.key("args").index(flag_place(&container.args)),
        value: Value::from(opening.as_str()),
    }];
    let title = format!("add {opening}");
    Ok(Fix::new(FixSafety::Safe, title, operations))
}

/// Lets a probe dial the pod's own address.
pub fn without_host(container: &Container, host: FieldPath) -> Fix {
    let operations = vec![Operation::Remove { at: host }];
    let title = "dial the pod's address".to_owned();
    let mut fix = Fix::new(FixSafety::Unsafe, title, operations);
    fix.assumes = vec![format!(
        "`{}` listens there, and not on loopback only",
        container.name
    )];
    fix
}
