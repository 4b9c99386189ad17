//! Changes of a startupProbe that is there already.

use crate::finding::{Fix, FixSafety};
use crate::manifest::FieldPath;
use crate::manifest::edit::Operation;
use crate::pod::{Action, Container, Probe};
use serde_json::{Value, json};

/// Asks a startupProbe every second, for as long as before.
pub fn hasten(container: &Container, probe: &Probe) -> Fix {
    let at = container.at.key("startupProbe");
    let rounds = probe.period.as_secs() * u64::from(probe.failure_threshold);
    let set = |key: &str, value: u64, is_set: bool, after: Option<&str>| match is_set {
        true => Operation::Replace {
            at: at.key(key.to_owned()),
            value: json!(value),
        },
        false => Operation::Insert {
            at: at.clone(),
            key: key.to_owned(),
            value: json!(value),
            after: after.map(str::to_owned),
        },
    };
    let operations = vec![
        set("periodSeconds", 1, probe.has_period, None),
        set(
            "failureThreshold",
            rounds,
            probe.has_failure_threshold,
            Some("periodSeconds"),
        ),
    ];
    let title = format!("ask every second, up to {rounds} times");
    Fix::new(FixSafety::Safe, title, operations)
}

/// Dials another port, by number or name.
pub fn redirect(at: &FieldPath, action: &Action, port: Value, name: &str) -> Option<Fix> {
    let at = handler(at, action)?.key("port");
    let title = format!(
        "dial {}",
        port.as_str().map_or(port.to_string(), str::to_owned)
    );
    let operations = vec![Operation::Replace { at, value: port }];
    let mut fix = Fix::new(FixSafety::Unsafe, title, operations);
    fix.assumes = vec![format!("`{name}` answers there once it serves")];
    Some(fix)
}

/// Where the handler of a probe stands, if it dials somebody.
pub fn handler(at: &FieldPath, action: &Action) -> Option<FieldPath> {
    match action {
        Action::HttpGet { .. } => Some(at.key("httpGet")),
        Action::TcpSocket { .. } => Some(at.key("tcpSocket")),
        Action::Grpc { .. } => Some(at.key("grpc")),
        Action::Exec { .. } | Action::Sleep { .. } | Action::Unreadable => None,
    }
}
