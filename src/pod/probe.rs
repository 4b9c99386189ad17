//! Probes and lifecycle hooks, with the defaults of the API.

use crate::manifest::Node;
use std::fmt;
use std::time::Duration;

/// A port by number or by the name that a container gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortRef {
    /// A number.
    Number(u16),
    /// A name that is looked up in the container's `ports`.
    Name(String),
}

impl PortRef {
    /// Reads a port; a quoted number is a number.
    pub fn read(node: Node<'_>) -> Option<PortRef> {
        match node.int() {
            Some(number) => u16::try_from(number).ok().map(PortRef::Number),
            None => node.string().map(|name| PortRef::Name(name.to_owned())),
        }
    }
}

impl fmt::Display for PortRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortRef::Number(number) => number.fmt(f),
            PortRef::Name(name) => name.fmt(f),
        }
    }
}

/// What a probe or a hook does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Runs a command in the container.
    Exec {
        /// The words of the command; no shell unless the words name one.
        command: Vec<String>,
    },
    /// One GET.
    HttpGet {
        /// The host that is dialled; none means the pod's address.
        host: Option<String>,
        /// The path, `/` by default.
        path: String,
        /// The port.
        port: PortRef,
        /// Whether `scheme: HTTPS` is set.
        https: bool,
        /// `httpHeaders`, name and value.
        headers: Vec<(String, String)>,
    },
    /// Opens a connection. In a lifecycle hook it always fails (S5).
    TcpSocket {
        /// The host that is dialled; none means the pod's address.
        host: Option<String>,
        /// The port.
        port: PortRef,
    },
    /// Asks the gRPC health service; probes only.
    Grpc {
        /// The port.
        port: PortRef,
    },
    /// Waits; hooks only.
    Sleep {
        /// How long.
        duration: Duration,
    },
    /// No handler, or one that could not be read.
    Unreadable,
}

impl Action {
    /// Reads the handler of a probe or hook.
    pub fn read(node: Node<'_>) -> Action {
        if let Some(exec) = node.get("exec") {
            return Action::Exec {
                command: exec.get("command").map(strings).unwrap_or_default(),
            };
        }
        if let Some(http) = node.get("httpGet") {
            return read_http(http).unwrap_or(Action::Unreadable);
        }
        if let Some(tcp) = node.get("tcpSocket") {
            let port = tcp.get("port").and_then(PortRef::read);
            return port.map_or(Action::Unreadable, |port| Action::TcpSocket {
                host: string(tcp, "host"),
                port,
            });
        }
        if let Some(port) = node.find(&["grpc", "port"]).and_then(PortRef::read) {
            return Action::Grpc { port };
        }
        match node.find(&["sleep", "seconds"]).and_then(Node::int) {
            Some(seconds) => Action::Sleep {
                duration: whole_seconds(seconds),
            },
            None => Action::Unreadable,
        }
    }

    /// The handler as the API writes it, for a probe that does the same.
    pub fn to_json(&self) -> Option<serde_json::Value> {
        use serde_json::json;
        let port_json = |port: &PortRef| match port {
            PortRef::Number(number) => json!(number),
            PortRef::Name(name) => json!(name),
        };
        Some(match self {
            Action::Exec { command } => json!({"exec": {"command": command}}),
            Action::HttpGet {
                host,
                path,
                port,
                https,
                headers,
            } => {
                let mut get = json!({"path": path, "port": port_json(port)});
                if *https {
                    get["scheme"] = json!("HTTPS");
                }
                if let Some(host) = host {
                    get["host"] = json!(host);
                }
                if !headers.is_empty() {
                    let all = headers
                        .iter()
                        .map(|(name, value)| json!({"name": name, "value": value}));
                    get["httpHeaders"] = all.collect();
                }
                json!({"httpGet": get})
            }
            Action::TcpSocket { host: None, port } => {
                json!({"tcpSocket": {"port": port_json(port)}})
            }
            Action::TcpSocket {
                host: Some(host),
                port,
            } => {
                json!({"tcpSocket": {"host": host, "port": port_json(port)}})
            }
            Action::Grpc { port } => json!({"grpc": {"port": port_json(port)}}),
            Action::Sleep { .. } | Action::Unreadable => return None,
        })
    }

    /// The port that it dials, if it dials one.
    pub fn port(&self) -> Option<&PortRef> {
        match self {
            Action::HttpGet { port, .. }
            | Action::TcpSocket { port, .. }
            | Action::Grpc { port } => Some(port),
            Action::Exec { .. } | Action::Sleep { .. } | Action::Unreadable => None,
        }
    }
}

fn read_http(http: Node<'_>) -> Option<Action> {
    Some(Action::HttpGet {
        host: string(http, "host"),
        path: string(http, "path").unwrap_or_else(|| "/".to_owned()),
        port: http.get("port").and_then(PortRef::read)?,
        https: string(http, "scheme").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https")),
        headers: read_headers(http),
    })
}

fn read_headers(http: Node<'_>) -> Vec<(String, String)> {
    let headers = http.get("httpHeaders").into_iter().flat_map(Node::items);
    headers
        .filter_map(|header| Some((string(header, "name")?, string(header, "value")?)))
        .collect()
}

fn string(node: Node<'_>, key: &str) -> Option<String> {
    node.get(key)?
        .string()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// The scalars of a list; what is not a scalar is left out.
pub(super) fn strings(node: Node<'_>) -> Vec<String> {
    node.items()
        .map(|item| item.string().unwrap_or_default().to_owned())
        .collect()
}

/// Seconds of the API as a duration; negative ones as none.
pub(super) fn whole_seconds(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

/// A startup, readiness or liveness probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What it does.
    pub action: Action,
    /// `periodSeconds`, 10 s by default.
    pub period: Duration,
    /// `timeoutSeconds`, 1 s by default.
    pub timeout: Duration,
    /// `initialDelaySeconds`, none by default.
    pub initial_delay: Duration,
    /// `failureThreshold`, 3 by default.
    pub failure_threshold: u32,
    /// Whether the manifest sets the period itself.
    pub has_period: bool,
    /// Whether the manifest sets the failure threshold itself.
    pub has_failure_threshold: bool,
}

impl Probe {
    /// Reads a probe; `None` when the field is null or no mapping.
    pub fn read(node: Node<'_>) -> Option<Probe> {
        if !node.is_mapping() {
            return None;
        }
        let seconds =
            |key, default| whole_seconds(node.get(key).and_then(Node::int).unwrap_or(default));
        let at_least_one = |duration: Duration| duration.max(Duration::from_secs(1));
        let is_set = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
        Some(Probe {
            action: Action::read(node),
            period: at_least_one(seconds("periodSeconds", 10)),
            timeout: at_least_one(seconds("timeoutSeconds", 1)),
            initial_delay: seconds("initialDelaySeconds", 0),
            failure_threshold: node
                .get("failureThreshold")
                .and_then(Node::int)
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| *number > 0)
                .unwrap_or(3),
            has_period: is_set("periodSeconds"),
            has_failure_threshold: is_set("failureThreshold"),
        })
    }

    /// How long a startup probe goes on before the kubelet kills the container.
    pub fn gives_up_after(&self) -> Duration {
        self.initial_delay + self.period * self.failure_threshold
    }
}
