//! Tools that wait by themselves until something is there.

use super::options::{Options, Takes};
use super::{Check, Kind, Line, Recognised, Retry, address_of, joined, mark, one, unquoted};
use crate::plan::addresses::{Address, Target};
use crate::shell::{Arg, duration};
use std::time::Duration;

pub(super) fn recognise(line: &Line<'_>) -> Option<Recognised> {
    match line.name {
        "wait-for-it" | "wait_for_it" | "waitforit" | "wait-for" | "waitfor" | "wait-for-port" => {
            wait_for(line)
        }
        "wait-on" | "wait-port" => wait_on(line),
        "wait4x" => wait4x(line),
        "dockerize" => dockerize(line),
        "linkerd-await" => linkerd_await(line),
        "scuttle" | "envoy-preflight" => scuttle(line),
        "kubexit" => kubexit(line),
        "pilot-agent" => vendor(line, "wait", "http://localhost:15021/healthz/ready", 60),
        "kuma-dp" => vendor(line, "wait", "http://localhost:9902/ready", 180),
        "cloud-sql-proxy" | "alloydb-auth-proxy" => {
            vendor(line, "wait", "http://localhost:9090/startup", 30)
        }
        "cub" => cub(line),
        "kubectl" | "oc" => kubectl(line),
        "wait_for" | "k8s-wait-for" => wait_for_object(line),
        "entrypoint" => tekton(line),
        "inotifywait" => one(line.bare(Target::Opaque, Retry::Forever)),
        _ => None,
    }
}

/// What a time option means: zero is no limit, and what is not known is not known.
fn limit(options: &Options<'_>, names: &[&str], default: Retry) -> Retry {
    match (options.value(names), options.time(names)) {
        (Some(_), Some(Duration::ZERO)) => Retry::Forever,
        (Some(_), Some(time)) => Retry::For(time),
        (Some(_), None) => Retry::Unknown,
        (None, _) => default,
    }
}

const fn seconds(count: u64) -> Retry {
    Retry::For(Duration::from_secs(count))
}

fn wait_for(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "htpd",
        long: &["host", "port", "timeout"],
    };
    let options = Options::read(line.words, &takes);
    let retry = limit(&options, &["t", "timeout"], seconds(15));
    let mut found: Vec<(Target, String)> = Vec::new();
    if let Some(host) = options.value(&["h", "host"]) {
        found.push(joined(host, options.value(&["p", "port"])));
    }
    let plain: Vec<&Arg> = options.plain.iter().map(|(_, arg)| *arg).collect();
    match plain.as_slice() {
        [host, port] if port.value.text.parse::<u16>().is_ok() => {
            found.push(joined(host, Some(port)));
        }
        words => found.extend(words.iter().filter_map(|arg| address_of(arg))),
    }
    let is_strict = line.name == "wait-for" || options.has(&["s", "strict"]);
    let mut recognised = checks(line, found, retry);
    recognised.then = options.rest;
    recognised.always_then = !is_strict;
    Some(recognised)
}

fn checks(line: &Line<'_>, found: Vec<(Target, String)>, retry: Retry) -> Recognised {
    let checks: Vec<Check> = found
        .into_iter()
        .map(|(target, words)| line.check(target, words, retry, Kind::Probe))
        .collect();
    let checks = if checks.is_empty() {
        vec![line.bare(Target::Opaque, retry)]
    } else {
        checks
    };
    Recognised {
        checks,
        ..Recognised::default()
    }
}

/// The target of a resource such as `tcp:localhost:80` or `http-get://localhost/x`.
fn resource(arg: &Arg) -> Option<(Target, String)> {
    let mut bare = arg.clone();
    for prefix in ["tcp:", "socket:", "file:"] {
        if let Some(rest) = arg.value.text.strip_prefix(prefix)
            && !rest.starts_with("//")
        {
            bare.value.text = rest.to_owned();
        }
    }
    if bare.value.text.starts_with('/') {
        let path = bare.value.text.clone();
        let words = mark(arg, &path);
        return Some((Target::File { path }, words));
    }
    let mut found = address_of(&bare)?;
    found.1 = mark(arg, &found.1);
    Some(found)
}

fn wait_on(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "cdistvw",
        long: &[
            "config",
            "delay",
            "interval",
            "timeout",
            "httpTimeout",
            "tcpTimeout",
            "window",
        ],
    };
    let options = Options::read(line.words, &takes);
    // Plain numbers are milliseconds.
    let retry = match options.value(&["t", "timeout"]) {
        None => Retry::Forever,
        Some(arg) => match arg.value.as_known() {
            Some(text) => match text.parse::<u64>() {
                Ok(count) => Retry::For(Duration::from_millis(count)),
                Err(_) => duration(text).map_or(Retry::Unknown, Retry::For),
            },
            None => Retry::Unknown,
        },
    };
    let found = options.plain.iter().filter_map(|(_, arg)| resource(arg));
    Some(checks(line, found.collect(), retry))
}

fn wait4x(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "ti",
        long: &[
            "timeout",
            "interval",
            "backoff-policy",
            "expect-status-code",
            "connection-timeout",
        ],
    };
    let options = Options::read(line.words, &takes);
    let retry = limit(&options, &["t", "timeout"], seconds(10));
    let is_dns = line.words.get(1).is_some_and(|arg| arg.value.text == "dns");
    let skipped = if is_dns { 2 } else { 1 };
    let found = options.plain.iter().skip(skipped).filter_map(|(_, arg)| {
        if is_dns {
            let name = arg.value.text.clone();
            return Some((Target::Dns { name: name.clone() }, name));
        }
        address_of(arg)
    });
    let mut recognised = checks(line, found.collect(), retry);
    recognised.then = options.rest;
    Some(recognised)
}

fn dockerize(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "",
        long: &[
            "wait",
            "timeout",
            "wait-retry-interval",
            "template",
            "stdout",
            "stderr",
            "delims",
            "env",
            "env-section",
            "wait-http-header",
        ],
    };
    // The first plain word begins the command that is run afterwards.
    let end = command_start(line.words, takes.long).unwrap_or(line.words.len());
    let options = Options::read(&line.words[..end], &takes);
    let retry = limit(&options, &["timeout"], seconds(10));
    let found = options.values(&["wait"]).into_iter().filter_map(resource);
    let found: Vec<_> = found.collect();
    let mut recognised = Recognised::default();
    if !found.is_empty() {
        recognised = checks(line, found, retry);
    }
    recognised.then = (end < line.words.len()).then_some(end);
    Some(recognised)
}

/// The place of the first word that is neither an option nor the value of one.
fn command_start(words: &[Arg], with_value: &[&str]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.value.text.as_str();
        if text == "--" {
            return Some(at + 1);
        }
        let Some(name) = text.strip_prefix('-') else {
            return Some(at);
        };
        at += 1 + usize::from(with_value.contains(&name.trim_start_matches('-')));
    }
    None
}

fn linkerd_await(line: &Line<'_>) -> Option<Recognised> {
    let long = &["port", "timeout", "backoff", "verbose", "p", "t", "b", "v"];
    let takes = Takes {
        short: "ptbv",
        long,
    };
    let end = command_start(line.words, long).unwrap_or(line.words.len());
    let options = Options::read(&line.words[..end], &takes);
    let retry = limit(&options, &["timeout", "t"], Retry::Forever);
    let port = options.value(&["port", "p"]);
    let number = port.map_or(Some(4191), |port| port.value.text.parse().ok());
    let target = Target::Address(Address {
        scheme: Some("http".to_owned()),
        host: "localhost".to_owned(),
        port: number,
        path: Some("/ready".to_owned()),
    });
    let words = port.map_or_else(
        || line.words[0].source.to_string(),
        |port| unquoted(&port.source).to_owned(),
    );
    Some(Recognised {
        checks: vec![line.check(target, words, retry, Kind::Probe)],
        then: (end < line.words.len()).then_some(end),
        always_then: false,
    })
}

fn scuttle(line: &Line<'_>) -> Option<Recognised> {
    let then = (line.words.len() > 1).then_some(1);
    let is_on =
        |name: &str| (line.env)(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let endpoint = (line.env)("ENVOY_ADMIN_API")
        .filter(|_| !is_on("START_WITHOUT_ENVOY"))
        .and_then(|url| crate::plan::addresses::endpoint(&url));
    let retry = match (line.env)("WAIT_FOR_ENVOY_TIMEOUT") {
        Some(text) => duration(&text).map_or(Retry::Unknown, Retry::For),
        None => Retry::Forever,
    };
    let checks = endpoint
        .map(|found| line.bare(found.target, retry))
        .into_iter()
        .collect();
    Some(Recognised {
        checks,
        then,
        always_then: false,
    })
}

fn kubexit(line: &Line<'_>) -> Option<Recognised> {
    let retry = match (line.env)("KUBEXIT_BIRTH_TIMEOUT") {
        Some(text) => duration(&text).map_or(Retry::Unknown, Retry::For),
        None => seconds(30),
    };
    let checks = (line.env)("KUBEXIT_BIRTH_DEPS")
        .filter(|deps| !deps.is_empty())
        .map(|what| line.bare(Target::Kubernetes { what }, retry))
        .into_iter()
        .collect();
    Some(Recognised {
        checks,
        then: (line.words.len() > 1).then_some(1),
        always_then: false,
    })
}

/// A vendor's own wait command.
fn vendor(line: &Line<'_>, word: &str, url: &str, default: u64) -> Option<Recognised> {
    if !line.has_word(word) {
        return None;
    }
    let takes = Takes {
        short: "",
        long: &[
            "url",
            "max",
            "timeout",
            "timeoutSeconds",
            "http-port",
            "http-address",
        ],
    };
    let options = Options::read(line.words, &takes);
    let retry = limit(
        &options,
        &["max", "timeout", "timeoutSeconds"],
        seconds(default),
    );
    let mut target = crate::plan::addresses::endpoint(url)?.target;
    let mut words = format!("{} {word}", line.words[0].source);
    if let Some((named, mark)) = options.value(&["url"]).and_then(address_of) {
        target = named;
        words = mark;
    }
    if let (Some(port), Target::Address(address)) = (options.number(&["http-port"]), &mut target) {
        address.port = u16::try_from(port).ok();
    }
    one(line.check(target, words, retry, Kind::Probe))
}

/// `cub kafka-ready -b HOST:PORT COUNT SECONDS`, `cub zk-ready HOST:PORT SECONDS`
fn cub(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "bcs",
        long: &["config"],
    };
    let options = Options::read(line.words, &takes);
    let retry = options
        .plain
        .last()
        .and_then(|(_, arg)| duration(arg.value.as_known()?))
        .map_or(Retry::Unknown, Retry::For);
    let named = options.value(&["b"]).and_then(address_of);
    let found = named.or_else(|| {
        let mut plain = options.plain.iter().skip(1);
        plain.find_map(|(_, arg)| address_of(arg))
    });
    Some(checks(line, found.into_iter().collect(), retry))
}

fn kubectl(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "nlofc",
        long: &[
            "namespace",
            "selector",
            "output",
            "for",
            "timeout",
            "filename",
            "context",
            "kubeconfig",
            "field-selector",
        ],
    };
    let options = Options::read(line.words, &takes);
    let verbs: Vec<&str> = options
        .plain
        .iter()
        .map(|(_, arg)| arg.value.text.as_str())
        .collect();
    let (skipped, retry) = match verbs.as_slice() {
        ["wait", ..] => (1, limit(&options, &["timeout"], seconds(30))),
        ["rollout", "status", ..] => (2, limit(&options, &["timeout"], Retry::Forever)),
        ["get" | "describe", ..] => (1, Retry::Once(Duration::ZERO)),
        _ => return None,
    };
    let mut what = verbs[skipped..].join(" ");
    if let Some(selector) = options.value(&["l", "selector"]) {
        what.push_str(" -l ");
        what.push_str(&selector.value.text);
    }
    let words = options.plain.get(skipped).map_or_else(
        || line.words[0].source.to_string(),
        |(_, arg)| unquoted(&arg.source).to_owned(),
    );
    let what = what.trim().to_owned();
    one(line.check(Target::Kubernetes { what }, words, retry, Kind::Probe))
}

fn wait_for_object(line: &Line<'_>) -> Option<Recognised> {
    let words: Vec<&str> = line.words[1..]
        .iter()
        .map(|arg| arg.value.text.as_str())
        .collect();
    let what = words.join(" ");
    one(line.bare(Target::Kubernetes { what }, Retry::Forever))
}

/// Tekton's entrypoint: `-wait_file A,B`.
fn tekton(line: &Line<'_>) -> Option<Recognised> {
    let at = line
        .words
        .iter()
        .position(|arg| ["-wait_file", "--wait_file"].contains(&arg.value.text.as_str()))?;
    let files = line.words.get(at + 1)?;
    let found = files.value.text.split(',').map(|path| {
        let path = path.to_owned();
        (Target::File { path: path.clone() }, path)
    });
    Some(checks(line, found.collect(), Retry::Forever))
}
