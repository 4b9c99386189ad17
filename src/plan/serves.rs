//! Which ports a container listens on, and how that is known.

pub use super::addresses::is_loopback;
use super::settings::Setting;
use super::told::Told;
use crate::catalog::{Entry, Health};
use crate::pod::{Action, Container, PodTemplate};
use std::borrow::Cow;

/// How it is known that a container listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedBy {
    /// It is listed in `ports`.
    Declared,
    /// A flag or variable says so.
    Setting,
    /// Its own probe or hook dials it.
    Probe,
    /// The catalogue knows the image.
    Catalog,
}

/// A port that a container listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The port.
    pub port: u16,
    /// How it is known.
    pub by: ServedBy,
}

/// The ports that a container listens on, each with the firmest way to know it; `asked` are those
/// that its own script asks as a client.
pub(super) fn ports(
    (container, template): (&Container, &PodTemplate),
    settings: &[Setting],
    told: &Told,
    (entry, asked): (Option<&Entry>, &[u16]),
) -> Vec<Served> {
    let mut found: Vec<Served> = Vec::new();
    let mut add = |port: u16, by: ServedBy| {
        if port != 0 && !found.iter().any(|served| served.port == port) {
            found.push(Served { port, by });
        }
    };
    container
        .ports
        .iter()
        .for_each(|port| add(port.number, ServedBy::Declared));
    // The `-p` of `pg_isready -p 5432` is the port of another one.
    let is_clients = |setting: &Setting, port: u16| setting.name == "-p" && asked.contains(&port);
    listening(settings)
        .filter(|setting| {
            !listen_port(&setting.value).is_some_and(|port| is_clients(setting, port))
        })
        .chain(listening(&told.settings).filter(|setting| setting.is_own()))
        .filter(|setting| !is_anothers(setting, container, template))
        .filter_map(|setting| listen_port(&setting.value))
        .for_each(|port| add(port, ServedBy::Setting));
    let listens = told.listens.iter();
    listens
        .filter_map(|setting| listen_port(&setting.value))
        .for_each(|port| add(port, ServedBy::Setting));
    relayed(container).for_each(|port| add(port, ServedBy::Setting));
    probed(container).for_each(|port| add(port, ServedBy::Probe));
    let Some(entry) = entry else {
        if let Some(port) = usual_port(container) {
            add(port, ServedBy::Catalog);
        }
        return found;
    };
    let named = named_ports(settings, &entry.serves_by);
    let named: Vec<u16> = named
        .chain(named_ports(&told.settings, &entry.serves_by))
        .collect();
    named.iter().for_each(|port| add(*port, ServedBy::Setting));
    if named.is_empty() && told.listens.is_empty() {
        entry
            .serves
            .iter()
            .for_each(|port| add(*port, ServedBy::Catalog));
    }
    found
}

/// The port of a health endpoint, perhaps moved by a setting.
pub fn health_port(settings: &[Setting], health: &Health) -> Option<u16> {
    named_ports(settings, &health.port_by)
        .next()
        .or(health.port)
}

/// A port that configuration opens on loopback only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// The port.
    pub port: u16,
    /// The line that says so.
    pub setting: Setting,
}

/// The ports that configuration opens on loopback only; what a Secret says may not be shown, and
/// stays out.
pub(super) fn local(told: &Told) -> Vec<Local> {
    let listens = told.listens.iter().chain(listening(&told.settings));
    let local = listens.filter(|setting| {
        let host = setting.value.rsplit_once(':').map(|(host, _)| host);
        let is_secret = setting
            .elsewhere
            .as_ref()
            .is_some_and(|place| place.is_secret);
        !is_secret && host.is_some_and(|host| is_loopback(host.trim_matches(['[', ']'])))
    });
    // The same port may be open at another address besides.
    let is_open = |port: u16| {
        let mut listens = told.listens.iter();
        listens.any(|other| {
            let host = other.value.rsplit_once(':').map_or("", |(host, _)| host);
            listen_port(&other.value) == Some(port) && !is_loopback(host.trim_matches(['[', ']']))
        })
    };
    let local = local.filter_map(|setting| {
        Some(Local {
            port: listen_port(&setting.value).filter(|port| !is_open(*port))?,
            setting: setting.clone(),
        })
    });
    local.collect()
}

/// The port of servers that go by the last segment of their image.
const USUAL: [(&str, u16); 17] = [
    ("mysql", 3306),
    ("mariadb", 3306),
    ("percona-server", 3306),
    ("postgres", 5432),
    ("postgresql", 5432),
    ("postgis", 5432),
    ("timescaledb", 5432),
    ("redis", 6379),
    ("valkey", 6379),
    ("keydb", 6379),
    ("mongo", 27017),
    ("mongodb", 27017),
    ("memcached", 11211),
    ("rabbitmq", 5672),
    ("nats", 4222),
    ("elasticsearch", 9200),
    ("ollama", 11434),
];

/// The port of a well-known server that declares none and runs the image's own command.
fn usual_port(container: &Container) -> Option<u16> {
    let image = container.image.as_deref()?;
    let last = image.rsplit('/').next()?.split([':', '@']).next()?;
    let (_, port) = USUAL.iter().find(|(name, _)| *name == last)?;
    (container.command.is_empty() && container.ports.is_empty()).then_some(*port)
}

/// Whether databases usually serve a port.
pub fn is_database_port(port: u16) -> bool {
    matches!(port, 1433 | 1521 | 3306 | 5432 | 6432 | 27017)
}

/// The ports that settings with one of these names give.
pub fn named_ports<'a>(
    settings: &'a [Setting],
    names: &'a [String],
) -> impl Iterator<Item = u16> + 'a {
    let named = settings
        .iter()
        .filter(move |setting| names.contains(&setting.name));
    named.filter_map(|setting| setting.value.rsplit(':').next()?.parse().ok())
}

/// What the names of listening settings are made of.
const LISTENING: [&str; 8] = [
    "port", "addr", "address", "listen", "bind", "listener", "host", "ports",
];
/// What may stand beside it without naming somebody else.
const OWN: [&str; 26] = [
    "http",
    "https",
    "grpc",
    "tcp",
    "web",
    "admin",
    "api",
    "metrics",
    "health",
    "server",
    "serve",
    "service",
    "proxy",
    "internal",
    "external",
    "public",
    "private",
    "local",
    "status",
    "probe",
    "debug",
    "main",
    "rpc",
    "secure",
    "insecure",
    "telemetry",
];

/// Settings such as `--listen=:8080`, `--http-port 8080`, `PORT=8080`.
fn listening(settings: &[Setting]) -> impl Iterator<Item = &Setting> {
    let is_peer = |setting: &Setting| settings.iter().any(|other| is_peer_host(setting, other));
    settings
        .iter()
        .filter(|setting| setting.value.bytes().any(|byte| byte.is_ascii_digit()))
        .filter(move |setting| is_listening(setting) && !is_peer(setting))
}

fn is_listening(setting: &Setting) -> bool {
    let known = |word: &str| LISTENING.contains(&word) || OWN.contains(&word);
    let says_so = |word: &str| LISTENING[..6].contains(&word);
    let is_clear = |word: &str| matches!(word, "listen" | "bind" | "listener");
    let words: Vec<Cow<'_, str>> = setting.name_words().collect();
    words.iter().any(|word| is_clear(word))
        || (words.iter().any(|word| says_so(word)) && words.iter().all(|word| known(word)))
        || matches!(setting.name.as_str(), "-p" | "-l")
}

/// `SERVER_ADDRESS=localhost:7000` beside a container that declares 7000: that one is the server.
fn is_anothers(setting: &Setting, own: &Container, template: &PodTemplate) -> bool {
    let Some((host, port)) = setting.value.rsplit_once(':') else {
        return false;
    };
    let host = host.rsplit('/').next().unwrap_or(host);
    let declares = |container: &Container| {
        let mut ports = container.ports.iter();
        ports.any(|declared| port.parse() == Ok(declared.number))
    };
    let mut containers = template.containers.iter();
    is_loopback(host)
        && !declares(own)
        && containers.any(|other| other.at != own.at && declares(other))
}

/// `CACHE_PORT` beside `CACHE_HOST=localhost` is the port of a peer.
fn is_peer_host(port: &Setting, other: &Setting) -> bool {
    let is_host =
        |word: Cow<'_, str>| matches!(&*word, "host" | "hostname" | "addr" | "address" | "server");
    port.name != other.name
        && is_loopback(&other.value)
        && other.name_words().any(is_host)
        && !stem(port).is_empty()
        && stem(port) == stem(other)
}

/// The words of a name that say whose port or host it is.
fn stem(setting: &Setting) -> Vec<Cow<'_, str>> {
    let words = setting.name_words();
    words.filter(|word| !LISTENING.contains(&&**word)).collect()
}

/// A port number, perhaps after an address to bind to.
fn listen_port(value: &str) -> Option<u16> {
    // What stands behind a blank are options: `127.0.0.1:8444 http2 ssl`.
    let value = value.split_whitespace().next()?;
    let bare = value.split_once("://").map_or(value, |(_, rest)| rest);
    let bare = bare.split('/').next()?;
    match bare.rsplit_once(':') {
        None => bare.parse().ok(),
        Some((host, port)) => {
            let binds = matches!(host, "" | "*" | "0.0.0.0" | "[::]" | "::" | "$(POD_IP)")
                || is_loopback(host);
            port.parse().ok().filter(|_| binds)
        }
    }
}

/// Ports of `socat TCP-LISTEN:5432,fork …`.
fn relayed(container: &Container) -> impl Iterator<Item = u16> {
    let words = container.words().flat_map(str::split_whitespace);
    words.filter_map(|word| {
        let (kind, rest) = word.split_once(':')?;
        let kind = kind.to_ascii_uppercase();
        let listens =
            ["TCP-LISTEN", "TCP4-LISTEN", "TCP6-LISTEN", "TCP-L"].contains(&kind.as_str());
        rest.split(',').next().filter(|_| listens)?.parse().ok()
    })
}

/// Ports that the container's own probes and hooks dial on itself.
fn probed(container: &Container) -> impl Iterator<Item = u16> {
    let probes = [
        &container.startup,
        &container.readiness,
        &container.liveness,
    ];
    let actions = probes.into_iter().flatten().map(|probe| &probe.action);
    let hooks = [&container.post_start, &container.pre_stop]
        .into_iter()
        .flatten();
    actions
        .chain(hooks)
        .filter(|action| dials_itself(action))
        .filter_map(|action| container.port_number(action.port()?))
}

fn dials_itself(action: &Action) -> bool {
    match action {
        Action::HttpGet { host, .. } | Action::TcpSocket { host, .. } => {
            host.as_deref().is_none_or(is_loopback)
        }
        Action::Grpc { .. } => true,
        Action::Exec { .. } | Action::Sleep { .. } | Action::Unreadable => false,
    }
}
