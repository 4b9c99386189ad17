//! The check that a gate uses: how the kubelet, or a hook, can tell that a sidecar serves.

use super::Patient;
use crate::catalog::{Entry, Health, ProbeCommand};
use crate::finding::{EvidenceKind, FixSafety};
use crate::manifest::edit::Operation;
use crate::plan::binds::loopback_only;
use crate::plan::config::NoConfigs;
use crate::plan::needs::Need;
use crate::plan::profile::Profile;
use crate::plan::serves::{health_port, is_loopback};
use crate::plan::settings::{self, Setting};
use crate::pod::{Action, Container, Probe};
use serde_json::{Value, json};

/// A check, and what it rests on.
#[derive(Clone, Debug)]
pub struct Check {
    /// The handler, such as `{"httpGet": {…}}`.
    pub handler: Value,
    /// Whether it comes from the manifest or the vendor.
    pub safety: FixSafety,
    /// Where it comes from: ` like the readinessProbe`; may be empty.
    pub like: String,
    /// What it takes for granted.
    pub assumes: Vec<String>,
    /// Changes of the sidecar that the check needs.
    pub prepare: Vec<Operation>,
}

/// A startupProbe of this check: asked every second for a minute.
pub fn startup_probe(check: &Check) -> Value {
    let mut probe = check.handler.clone();
    probe["periodSeconds"] = json!(1);
    probe["failureThreshold"] = json!(60);
    probe
}

/// Finds the best check for a needed sidecar; the error says why there is none.
pub fn find(patient: Patient<'_>, need: &Need) -> Result<Check, String> {
    let provider = patient.container(need.provider);
    let entry = patient.catalog.find(provider);
    own_probe(provider, entry)
        .or_else(|| vendor(provider, entry?))
        .or_else(|| request_of_hook(provider))
        .or_else(|| wait_of_hook(patient, provider, entry))
        .or_else(|| evidence(patient, need, entry))
        .ok_or_else(|| format!("nothing tells how to see that `{}` serves", provider.name))
}

/// The readiness, startup or liveness probe that it already has: it passes today.
fn own_probe(provider: &Container, entry: Option<&Entry>) -> Option<Check> {
    let own = [
        ("startupProbe", &provider.startup),
        ("readinessProbe", &provider.readiness),
        ("livenessProbe", &provider.liveness),
    ];
    let (name, probe): (&str, &Probe) = own
        .into_iter()
        .find_map(|(name, probe)| Some((name, probe.as_deref()?)))?;
    let waits_for_app = entry.is_some_and(|entry| entry.waits_for_app.is_some());
    let cannot_pass = waits_for_app || asks_loopback(provider, entry, &probe.action);
    let handler = probe.action.to_json().filter(|_| !cannot_pass)?;
    let stays = if name == "readinessProbe" {
        ", which stays"
    } else {
        ""
    };
    let like = format!(" like the {name}{stays}");
    Some(Check {
        handler,
        safety: FixSafety::Safe,
        like,
        assumes: Vec::new(),
        prepare: Vec::new(),
    })
}

/// Whether a probe dials a server that listens on loopback only, which the kubelet cannot reach.
fn asks_loopback(provider: &Container, entry: Option<&Entry>, action: &Action) -> bool {
    let port = match action {
        Action::HttpGet { host: None, .. } | Action::TcpSocket { host: None, .. } => action.port(),
        Action::HttpGet { .. }
        | Action::TcpSocket { .. }
        | Action::Grpc { .. }
        | Action::Exec { .. }
        | Action::Sleep { .. }
        | Action::Unreadable => None,
    };
    let settings = settings::settings(provider);
    port.and_then(|port| provider.port_number(port))
        .is_some_and(|port| loopback_only(provider, &settings, entry, port).is_some())
}

/// The vendor's documented endpoint or command.
fn vendor(provider: &Container, entry: &Entry) -> Option<Check> {
    let safe = |handler: Value, prepare: Vec<Operation>| Check {
        handler,
        safety: FixSafety::Safe,
        like: String::new(),
        assumes: Vec::new(),
        prepare,
    };
    let settings = settings::settings(provider);
    if let Some(probe) = &entry.probe {
        let command = probe_command(probe, &settings);
        return Some(safe(json!({"exec": {"command": command}}), Vec::new()));
    }
    let health = entry.health_in(provider)?;
    let port = health_port(&settings, health)?;
    let prepare = missing_args(provider, health)?;
    // The kubelet dials the pod's address: a server on loopback would never answer.
    if prepare.is_empty() && loopback_only(provider, &settings, Some(entry), port).is_some() {
        return None;
    }
    Some(safe(
        json!({"httpGet": {"path": health.path, "port": port}}),
        prepare,
    ))
}

/// The vendor's command, told where the sidecar listens if a flag moves that.
fn probe_command(probe: &ProbeCommand, settings: &[Setting]) -> Vec<String> {
    let moved = settings
        .iter()
        .find(|setting| probe.host_by.contains(&setting.name));
    let mut command = probe.command.clone();
    if let Some(moved) = moved {
        command.insert(1, format!("{}={}", probe.host_flag, moved.value));
    }
    command
}

/// The arguments without which the endpoint is not there; `None` when one is set to something else.
fn missing_args(provider: &Container, health: &Health) -> Option<Vec<Operation>> {
    let mut missing = Vec::new();
    for (at, arg) in health.args.iter().enumerate() {
        let name = arg.split('=').next().unwrap_or(arg);
        let same_flag = |word: &&str| word.split('=').next() == Some(name);
        let has_other = health.env.get(at).is_some_and(|other| {
            provider.env.iter().any(|var| var.name == *other)
                || provider.words().any(|word| word == other)
        });
        match provider.words().find(same_flag) {
            Some(word) if arg.contains('=') && is_loopback(host_of(word)) => {
                return None;
            }
            Some(_) => {}
            None if has_other => {}
            None => missing.push(arg.clone()),
        }
    }
    let list = if provider.args.is_empty() && !provider.command.is_empty() {
        "command"
    } else {
        "args"
    };
    let words = if list == "args" {
        &provider.args
    } else {
        &provider.command
    };
    if words.is_empty() {
        return missing.is_empty().then(Vec::new);
    }
    let program = usize::from(list == "command");
    let first = program + flag_place(words.get(program..).unwrap_or_default());
    let insert = |(at, arg): (usize, String)| Operation::InsertItem {
        at: provider.at.key(list).index(first + at),
        value: Value::from(arg),
    };
    Some(missing.into_iter().enumerate().map(insert).collect())
}

/// Where a flag is added among the arguments: before the first flag, so behind a subcommand.
pub(super) fn flag_place(arguments: &[String]) -> usize {
    let first = arguments.iter().position(|word| word.starts_with('-'));
    first.unwrap_or(arguments.len())
}

/// The host in `--http-address=127.0.0.1` or `--addr=localhost:8181`.
fn host_of(word: &str) -> &str {
    let value = word.split('=').nth(1).unwrap_or_default();
    value.rsplit_once(':').map_or(value, |(host, _)| host)
}

/// The request of an httpGet hook, or the connection of a tcpSocket hook, that is meant as a wait.
fn request_of_hook(provider: &Container) -> Option<Check> {
    let mut action = provider.post_start.clone()?;
    // A probe is sent from the node: there, loopback is another one.
    if let Action::HttpGet { host, .. } | Action::TcpSocket { host, .. } = &mut action {
        host.take_if(|host| is_loopback(host));
    }
    let name = &provider.name;
    let assumes = match &action {
        Action::HttpGet { path, .. } => {
            format!("{path} answers 200 once `{name}` serves (a hook passes with any)")
        }
        Action::TcpSocket { port, .. } => {
            format!("`{name}` opens {port} on the pod's address as soon as it can be used")
        }
        Action::Exec { .. } | Action::Grpc { .. } | Action::Sleep { .. } | Action::Unreadable => {
            return None;
        }
    };
    Some(Check {
        handler: action.to_json()?,
        safety: FixSafety::Unsafe,
        like: String::new(),
        assumes: vec![assumes],
        prepare: Vec::new(),
    })
}

/// What an exec hook asks of its own container.
fn wait_of_hook(
    patient: Patient<'_>,
    provider: &Container,
    entry: Option<&Entry>,
) -> Option<Check> {
    let profile = Profile::read(
        provider,
        &patient.workload.template,
        patient.catalog,
        &NoConfigs,
    );
    let asked = profile.hook.as_ref()?.asks();
    let address = asked.iter().find_map(|wait| wait.target.own_server())?;
    let port = address.port_or_default()?;
    let is_local = loopback_only(provider, &profile.settings, entry, port).is_some();
    if is_local || profile.served(port).is_none() {
        return None;
    }
    let path = address
        .path
        .as_deref()
        .filter(|path| !path.contains(['?', '$', '{']));
    let (handler, what) = match (path, address.scheme.as_deref()) {
        (Some(path), Some("https")) => (
            json!({"httpGet": {"path": path, "port": port, "scheme": "HTTPS"}}),
            path.to_owned(),
        ),
        (Some(path), _) => (
            json!({"httpGet": {"path": path, "port": port}}),
            path.to_owned(),
        ),
        (None, _) => (json!({"tcpSocket": {"port": port}}), port.to_string()),
    };
    let assumes = format!(
        "`{}` answers {what} on the pod's address, too, as the hook asks on loopback",
        provider.name
    );
    Some(Check {
        handler,
        safety: FixSafety::Unsafe,
        like: String::new(),
        assumes: vec![assumes],
        prepare: Vec::new(),
    })
}

/// A request, a connection, a socket or a file, by what the dependent uses.
fn evidence(patient: Patient<'_>, need: &Need, entry: Option<&Entry>) -> Option<Check> {
    match need.port {
        Some(port) => by_port(patient, need, entry, port),
        None => by_file(patient, need),
    }
}

/// A check that nobody has promised to work.
fn guess(handler: Value, assumes: Vec<String>) -> Check {
    Check {
        handler,
        safety: FixSafety::Unsafe,
        like: String::new(),
        assumes,
        prepare: Vec::new(),
    }
}

fn by_port(patient: Patient<'_>, need: &Need, entry: Option<&Entry>, port: u16) -> Option<Check> {
    let provider = patient.container(need.provider);
    let settings = settings::settings(provider);
    let is_local = loopback_only(provider, &settings, entry, port).is_some();
    if is_local || need.is_on_loopback {
        return None;
    }
    let mut evidence = need.evidence.iter();
    let by_elimination = evidence.any(|one| one.kind == EvidenceKind::Elimination);
    let why = match by_elimination {
        true => format!(" ({})", eliminated(patient, need)),
        false => String::new(),
    };
    let serves = format!("`{}` serves {port}{why}", provider.name);
    let (handler, answers) = match need.url_path.as_deref().filter(|path| is_health_path(path)) {
        Some(path) => (
            json!({"httpGet": {"path": path, "port": port}}),
            format!("and answers {path} on the pod's address, too"),
        ),
        None => (
            json!({"tcpSocket": {"port": port}}),
            "on the pod's address, too, as soon as it can be used".to_owned(),
        ),
    };
    Some(guess(handler, vec![serves, answers]))
}

fn by_file(patient: Patient<'_>, need: &Need) -> Option<Check> {
    let mut evidence = need.evidence.iter();
    let (test, file) = evidence.find_map(|one| match one.kind {
        EvidenceKind::Socket => Some(("-S", one)),
        EvidenceKind::File => Some(("-f", one)),
        EvidenceKind::Loopback
        | EvidenceKind::Elimination
        | EvidenceKind::Wait
        | EvidenceKind::Catalog => None,
    })?;
    let path = seen_by(patient, need, &file.words)?;
    let provider = patient.container(need.provider);
    let image = format!("the image of `{}` has the command test", provider.name);
    Some(guess(
        json!({"exec": {"command": ["test", test, path]}}),
        vec![image],
    ))
}

/// Why nobody else could serve the port.
fn eliminated(patient: Patient<'_>, need: &Need) -> String {
    let others: Vec<&str> = patient
        .plan
        .steps
        .iter()
        .filter(|step| {
            step.role == crate::pod::Role::App
                && step.container != need.provider
                && step.container != need.dependent
        })
        .map(|step| patient.container(step.container).name.as_str())
        .collect();
    match others.as_slice() {
        [] => "by elimination: no other container could".to_owned(),
        [other] => format!("by elimination: `{other}` calls it, too"),
        _ => "by elimination: the others call it, too".to_owned(),
    }
}

/// Paths that are made to be asked for health; others may need a body, a token, or do something.
fn is_health_path(path: &str) -> bool {
    let path = path.to_lowercase();
    let asks = ["ready", "health", "live", "status", "ping", "startup"];
    asks.iter().any(|word| path.contains(word)) && !path.contains(['?', '$', '{'])
}

/// A path of the dependent as the provider sees it, through the volume that both mount.
fn seen_by(patient: Patient<'_>, need: &Need, path: &str) -> Option<String> {
    let (dependent, provider) = (
        patient.container(need.dependent),
        patient.container(need.provider),
    );
    let mounts = dependent
        .mounts
        .iter()
        .filter(|mount| path.starts_with(mount.path.trim_end_matches('/')));
    let own = mounts.max_by_key(|mount| mount.path.len())?;
    let theirs = provider
        .mounts
        .iter()
        .find(|mount| mount.volume == own.volume)?;
    let rest = path.strip_prefix(own.path.trim_end_matches('/'))?;
    Some(format!("{}{rest}", theirs.path.trim_end_matches('/')))
}
