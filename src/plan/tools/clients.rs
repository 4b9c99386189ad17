//! Clients of servers, many of which have a command that asks whether the server is up.

use super::client_table::{CLIENTS, Client, Plain};
use super::options::{Options, Takes};
use super::{
    Kind, Line, Recognised, Retry, address_of, joined, local, mark, one, unquoted,
    with_default_port,
};
use crate::plan::addresses::{Address, Target, endpoint, mentions};
use crate::shell::Arg;
use std::time::Duration;

/// Binaries that are the server as well: only a question or one of these words makes them a client.
const IS_SERVER_TOO: [(&str, &[&str]); 5] = [
    (
        "vault",
        &[
            "operator", "login", "write", "kv", "auth", "policy", "secrets",
        ],
    ),
    (
        "bao",
        &[
            "operator", "login", "write", "kv", "auth", "policy", "secrets",
        ],
    ),
    ("consul", &["kv", "join", "acl", "services"]),
    ("zkServer", &[]),
    ("ollama", &["run", "pull", "create", "cp"]),
];

pub(super) fn recognise(line: &Line<'_>) -> Option<Recognised> {
    match line.name {
        "docker" | "podman" | "nerdctl" => docker(line),
        "buildctl" => buildctl(line),
        _ => {
            let mut clients = CLIENTS.iter();
            client(
                line,
                clients.find(|client| client.names.contains(&line.name))?,
            )
        }
    }
}

fn client(line: &Line<'_>, client: &Client) -> Option<Recognised> {
    let options = Options::read(line.words, &client.takes);
    let asks = client.asks.is_empty() || client.asks.iter().any(|word| line.has_word(word));
    let mut servers = IS_SERVER_TOO.iter();
    let both = servers.find(|(name, _)| *name == line.name);
    let is_used = |(_, words): &(&str, &[&str])| words.iter().any(|word| line.has_word(word));
    if !asks && both.is_some_and(|both| !is_used(both)) {
        return None;
    }
    let kind = if asks { Kind::Probe } else { Kind::Client };
    let (target, words) = server(line, client, &options);
    let retry = client_retry(line, &options);
    let target = with_default_port(target, client.port);
    one(line.check(target, words, retry, kind))
}

/// Whom a client asks, and what to mark: this very pod only when nothing could tell it another host.
fn server(line: &Line<'_>, client: &Client, options: &Options<'_>) -> (Target, String) {
    let stated = options
        .value(client.address)
        .and_then(|arg| stated(arg, client))
        .or_else(|| plain(client, options));
    let hidden = match stated {
        Some((Target::Opaque, words)) => Some(words),
        Some(found) => return found,
        None => None,
    };
    let port = options.value(client.port_option);
    if let Some(host) = options.value(client.host) {
        return by_host(host, port);
    }
    if let Some(words) = hidden {
        return (Target::Opaque, words);
    }
    let words = line.words[0].source.to_string();
    if options.has(client.elsewhere) {
        return (Target::Opaque, words);
    }
    let target = by_env(line, client).unwrap_or_else(|| {
        let number = port.and_then(|port| port.value.text.parse().ok());
        local(number.unwrap_or(client.port))
    });
    (target, words)
}

/// The address that a word is or holds; one that nobody can read is opaque.
fn stated(arg: &Arg, client: &Client) -> Option<(Target, String)> {
    let text = arg.value.text.as_str();
    let is_list_of_hosts = client.port == 9092 && arg.value.as_known().is_some();
    if looks_like_address(text) || is_list_of_hosts {
        return first_of(arg);
    }
    if arg.value.as_known().is_none() {
        return Some((Target::Opaque, unquoted(&arg.source).to_owned()));
    }
    // `host=db port=5432 dbname=app`
    let named = mentions(text).into_iter().next()?;
    Some((named.target, mark(arg, &named.words)))
}

fn plain(client: &Client, options: &Options<'_>) -> Option<(Target, String)> {
    let mut words = options.plain.iter().map(|(_, arg)| *arg);
    match client.plain {
        Plain::Nothing => None,
        Plain::Address => words.find_map(|arg| stated(arg, client)),
        Plain::HostAndPort => Some(joined(words.next()?, words.next())),
    }
}

fn by_host(host: &Arg, port: Option<&Arg>) -> (Target, String) {
    let text = host.value.text.as_str();
    if let Some((name, port)) = text.split_once(',') {
        // `sqlcmd -S tcp:HOST,PORT`
        let name = name.trim_start_matches("tcp:");
        let address = Address::new(name, port.parse().ok());
        return (Target::Address(address), mark(host, text));
    }
    if text.starts_with('/') {
        let path = text.to_owned();
        return (Target::File { path }, mark(host, text));
    }
    joined(host, port)
}

fn looks_like_address(text: &str) -> bool {
    text.contains("://") || (text.contains(':') && !text.contains(' ')) || text == "localhost"
}

/// The first of the addresses that a word lists.
fn first_of(arg: &Arg) -> Option<(Target, String)> {
    let mut first = arg.clone();
    let text = arg.value.text.split(',').next().unwrap_or_default();
    text.clone_into(&mut first.value.text);
    address_of(&first)
}

/// The server that the client's usual environment variables name; opaque when they may be set, to
/// what nobody knows.
fn by_env(line: &Line<'_>, client: &Client) -> Option<Target> {
    let named = client.env.iter().find_map(|name| (line.env)(name));
    if let Some(value) = named {
        let first = value.split(',').next().unwrap_or_default();
        let Some(Target::Address(mut address)) = endpoint(first).map(|found| found.target) else {
            return Some(Target::Opaque);
        };
        let port = (line.env)("PGPORT").filter(|_| client.port == 5432);
        address.port = address.port.or_else(|| port?.parse().ok());
        return Some(Target::Address(address));
    }
    let mut names = client.env.iter();
    names
        .any(|name| (line.may_be_set)(name))
        .then_some(Target::Opaque)
}

fn client_retry(line: &Line<'_>, options: &Options<'_>) -> Retry {
    let waits = ["await_startup", "wait", "await_online_nodes"];
    let is_rabbit = line.name.starts_with("rabbitmq");
    if is_rabbit && waits.iter().any(|word| line.has_word(word)) {
        return match options.time(&["t", "timeout"]) {
            Some(time) => Retry::For(time),
            None => Retry::Unknown,
        };
    }
    if line.name == "mysqladmin"
        && let Some(arg) = options.value(&["wait"])
    {
        return match arg.value.text.parse() {
            Ok(count) => Retry::For(Duration::from_secs(count)),
            Err(_) => Retry::Unknown,
        };
    }
    Retry::Once(options.time(&["connect-timeout"]).unwrap_or_default())
}

fn docker(line: &Line<'_>) -> Option<Recognised> {
    let asks = ["info", "version", "ps"]
        .iter()
        .any(|word| line.has_word(word));
    if !asks {
        return None;
    }
    let takes = Takes {
        short: "Hf",
        long: &["host", "format"],
    };
    let options = Options::read(line.words, &takes);
    let retry = Retry::Once(Duration::ZERO);
    if let Some((target, words)) = options.value(&["H", "host"]).and_then(address_of) {
        return one(line.check(target, words, retry, Kind::Probe));
    }
    let target = daemon(line, "DOCKER_HOST", "/var/run/docker.sock");
    one(line.check(target, line.words[0].source.to_string(), retry, Kind::Probe))
}

fn buildctl(line: &Line<'_>) -> Option<Recognised> {
    if !line.has_word("workers") {
        return None;
    }
    let takes = Takes {
        short: "",
        long: &["addr"],
    };
    let options = Options::read(line.words, &takes);
    let retry = Retry::Once(Duration::ZERO);
    if let Some((target, words)) = options.value(&["addr"]).and_then(address_of) {
        return one(line.check(target, words, retry, Kind::Probe));
    }
    let target = daemon(line, "BUILDKIT_HOST", "/run/buildkit/buildkitd.sock");
    one(line.check(target, line.words[0].source.to_string(), retry, Kind::Probe))
}

/// The daemon that a variable names, else the usual socket; opaque when the variable may be set, to
/// what nobody knows.
fn daemon(line: &Line<'_>, variable: &str, socket: &str) -> Target {
    let named = (line.env)(variable).and_then(|value| Some(endpoint(&value)?.target));
    let hidden = (line.may_be_set)(variable).then_some(Target::Opaque);
    named.or(hidden).unwrap_or_else(|| Target::File {
        path: socket.to_owned(),
    })
}
