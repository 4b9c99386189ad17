//! Clients of servers, many of which have a command that asks whether the server is up.

use super::client_table::{CLIENTS, Client};
use super::options::{Options, Takes};
use super::{
    Kind, Line, Recognised, Retry, address_of, joined, local, mark, one, with_default_port,
};
use crate::plan::addresses::{Address, Target, endpoint};
use std::time::Duration;

/// Binaries that are the server as well, so that only a question makes them a client.
const IS_SERVER_TOO: [&str; 4] = ["vault", "bao", "consul", "zkServer"];

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
    if !asks && IS_SERVER_TOO.contains(&line.name) {
        return None;
    }
    let kind = if asks { Kind::Probe } else { Kind::Client };
    let named = options
        .value(client.address)
        .filter(|arg| arg.value.text.contains([':', '.', '/']) || client.port == 9092);
    let plain = options
        .plain
        .iter()
        .map(|(_, arg)| *arg)
        .find(|arg| client.has_plain_address && looks_like_address(&arg.value.text));
    let host = options.value(client.host);
    let port = options.value(client.port_option);
    let found = if let Some(arg) = named.or(plain) {
        first_of(arg)?
    } else if let Some(host) = host {
        if let Some((name, port)) = host.value.text.split_once(',') {
            // `sqlcmd -S tcp:HOST,PORT`
            let name = name.trim_start_matches("tcp:");
            let address = Address::new(name, port.parse().ok());
            (Target::Address(address), mark(host, &host.value.text))
        } else if host.value.text.starts_with('/') {
            let path = host.value.text.clone();
            (Target::File { path }, mark(host, &host.value.text))
        } else {
            joined(host, port)
        }
    } else {
        let (target, words) = (by_env(line), line.words[0].source.clone());
        let number = port.and_then(|port| port.value.text.parse().ok());
        (
            target.unwrap_or_else(|| local(number.unwrap_or(client.port))),
            words,
        )
    };
    let retry = client_retry(line, &options);
    let target = with_default_port(found.0, client.port);
    one(line.check(target, found.1, retry, kind))
}

fn looks_like_address(text: &str) -> bool {
    text.contains("://") || (text.contains(':') && !text.contains(' ')) || text == "localhost"
}

/// The first of the addresses that a word lists.
fn first_of(arg: &crate::shell::Arg) -> Option<(Target, String)> {
    let mut first = arg.clone();
    let text = arg.value.text.split(',').next().unwrap_or_default();
    text.clone_into(&mut first.value.text);
    address_of(&first)
}

/// The address that the client's usual environment variable names.
fn by_env(line: &Line<'_>) -> Option<Target> {
    let name = match line.name {
        "vault" => "VAULT_ADDR",
        "bao" => "BAO_ADDR",
        "consul" => "CONSUL_HTTP_ADDR",
        "etcdctl" => "ETCDCTL_ENDPOINTS",
        "pg_isready" | "psql" => {
            let host = (line.env)("PGHOST")?;
            let port = (line.env)("PGPORT").and_then(|port| port.parse().ok());
            return Some(Target::Address(Address::new(host, port)));
        }
        _ => return None,
    };
    let value = (line.env)(name)?;
    Some(endpoint(value.split(',').next()?)?.target)
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
    let target = (line.env)("DOCKER_HOST")
        .and_then(|value| Some(endpoint(&value)?.target))
        .unwrap_or_else(|| Target::File {
            path: "/var/run/docker.sock".to_owned(),
        });
    one(line.check(target, line.words[0].source.clone(), retry, Kind::Probe))
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
    let target = (line.env)("BUILDKIT_HOST")
        .and_then(|value| Some(endpoint(&value)?.target))
        .unwrap_or_else(|| Target::File {
            path: "/run/buildkit/buildkitd.sock".to_owned(),
        });
    one(line.check(target, line.words[0].source.clone(), retry, Kind::Probe))
}
