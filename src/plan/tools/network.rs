//! Tools that open a connection or look a name up.

use super::options::{Options, Takes};
use super::{
    Kind, Line, Recognised, Retry, address_of, joined, local, mark, one, unquoted,
    with_default_port,
};
use crate::plan::addresses::{Address, Target, mentions};
use crate::shell::Arg;
use std::time::Duration;

pub(super) fn recognise(line: &Line<'_>) -> Option<Recognised> {
    match line.name {
        "nc" | "ncat" | "netcat" => netcat(line),
        "telnet" => host_port(
            line,
            &Takes {
                short: "l",
                long: &[],
            },
        ),
        "nslookup" | "host" | "getent" | "dig" | "drill" | "kdig" => lookup(line),
        "ping" | "ping6" | "fping" => ping(line),
        "nmap" => nmap(line),
        "socat" => socat(line),
        "openssl" => openssl(line),
        "http" | "https" | "httpie" | "xh" | "lwp-request" | "GET" => first_address(line),
        "ss" | "netstat" | "lsof" => listening(line),
        "python" | "python3" | "python2" | "perl" | "node" | "ruby" | "php" => one_liner(line),
        _ => None,
    }
}

/// What a redirection to `/dev/tcp/HOST/PORT` dials.
pub(in crate::plan) fn dev_tcp(path: &Arg) -> Option<(Target, String)> {
    let rest = path
        .value
        .text
        .strip_prefix("/dev/tcp/")
        .or_else(|| path.value.text.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/')?;
    let words = unquoted(&path.source)
        .trim_start_matches("/dev/tcp/")
        .to_owned();
    Some((
        Target::Address(Address::new(host, port.parse().ok())),
        words,
    ))
}

fn netcat(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "wipsqxXceGIOPTVm",
        long: &["wait", "idle-timeout", "source-port", "exec", "proxy"],
    };
    let options = Options::read(line.words, &takes);
    if options.has(&["l", "listen"]) {
        return Some(Recognised::default());
    }
    let retry = Retry::Once(options.time(&["w", "wait"]).unwrap_or_default());
    let plain: Vec<&Arg> = options.plain.iter().map(|(_, arg)| *arg).collect();
    let (target, words) = match plain.as_slice() {
        [path] if options.has(&["U", "unixsock"]) => {
            let path = path.value.text.clone();
            (Target::File { path: path.clone() }, path)
        }
        [both] => address_of(both)?,
        [host, port, ..] => joined(host, Some(port)),
        [] => return None,
    };
    // Without -z it talks; a script that sends it something uses the server.
    let sends = line.input.is_some() && !options.has(&["z"]) && line.piped_into.is_empty();
    let kind = if sends { Kind::Client } else { Kind::Probe };
    one(line.check(target, words, retry, kind))
}

fn host_port(line: &Line<'_>, takes: &Takes) -> Option<Recognised> {
    let options = Options::read(line.words, takes);
    let mut plain = options.plain.iter().map(|(_, arg)| *arg);
    let (host, port) = (plain.next()?, plain.next());
    let (target, words) = match port {
        Some(port) => joined(host, Some(port)),
        None => address_of(host)?,
    };
    one(line.check(target, words, Retry::Once(Duration::ZERO), Kind::Probe))
}

fn first_address(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "a",
        long: &["timeout"],
    };
    let options = Options::read(line.words, &takes);
    let (target, words) = options
        .plain
        .iter()
        .filter(|(_, arg)| arg.value.text.contains([':', '.']))
        .find_map(|(_, arg)| address_of(arg))?;
    let retry = Retry::Once(options.time(&["timeout"]).unwrap_or_default());
    one(line.check(target, words, retry, Kind::Probe))
}

fn lookup(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "tpcWRm",
        long: &["type", "timeout"],
    };
    let options = Options::read(line.words, &takes);
    const TYPES: [&str; 10] = [
        "a", "aaaa", "srv", "any", "cname", "txt", "ns", "in", "soa", "mx",
    ];
    let is_getent = line.name == "getent";
    if is_getent && !line.words.get(1)?.value.text.contains("host") {
        return Some(Recognised::default());
    }
    let takes_types = ["dig", "drill", "kdig"].contains(&line.name);
    let mut names = options.plain.iter().skip(usize::from(is_getent));
    let (_, name) = names.find(|(_, arg)| {
        let text = arg.value.text.to_ascii_lowercase();
        let is_type = takes_types && TYPES.contains(&text.as_str());
        !text.starts_with(['+', '@']) && !is_type
    })?;
    let target = Target::Dns {
        name: name.value.text.clone(),
    };
    let words = unquoted(&name.source).to_owned();
    one(line.check(target, words, Retry::Once(Duration::ZERO), Kind::Probe))
}

fn ping(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "cwWiIstMmpQTl",
        long: &["count"],
    };
    let options = Options::read(line.words, &takes);
    let (_, host) = options.plain.first()?;
    let (target, words) = joined(host, None);
    let retry = Retry::Once(options.time(&["w", "W"]).unwrap_or_default());
    one(line.check(target, words, retry, Kind::Probe))
}

fn nmap(line: &Line<'_>) -> Option<Recognised> {
    let takes = Takes {
        short: "p",
        long: &["host-timeout", "max-retries"],
    };
    let options = Options::read(line.words, &takes);
    let (_, host) = options.plain.last()?;
    let (target, words) = joined(host, options.value(&["p"]));
    one(line.check(target, words, Retry::Once(Duration::ZERO), Kind::Probe))
}

fn socat(line: &Line<'_>) -> Option<Recognised> {
    let found = line.words[1..].iter().find_map(|arg| {
        let (kind, rest) = arg.value.text.split_once(':')?;
        let rest = rest.split(',').next().unwrap_or(rest);
        match kind.to_ascii_lowercase().as_str() {
            "tcp" | "tcp4" | "openssl" => Some((
                crate::plan::addresses::endpoint(rest)?.target,
                mark(arg, rest),
            )),
            "unix-connect" | "unix" | "unix-client" => Some((
                Target::File {
                    path: rest.to_owned(),
                },
                mark(arg, rest),
            )),
            _ => None,
        }
    });
    let listens = line.words[1..]
        .iter()
        .any(|arg| arg.value.text.to_ascii_lowercase().contains("listen"));
    if listens {
        return Some(Recognised::default());
    }
    let (target, words) = found?;
    one(line.check(target, words, Retry::Once(Duration::ZERO), Kind::Probe))
}

fn openssl(line: &Line<'_>) -> Option<Recognised> {
    if !line.has_word("s_client") {
        return None;
    }
    let takes = Takes {
        short: "",
        long: &["connect", "servername"],
    };
    let options = Options::read(line.words, &takes);
    let (target, words) = address_of(options.value(&["connect"])?)?;
    one(line.check(target, words, Retry::Once(Duration::ZERO), Kind::Probe))
}

/// A look at the ports that are listened on, with the port in its own words or in the filter.
fn listening(line: &Line<'_>) -> Option<Recognised> {
    let own: Vec<&str> = line.words[1..]
        .iter()
        .map(|arg| arg.value.text.as_str())
        .collect();
    let text = format!("{} {}", own.join(" "), line.piped_into);
    let number = text
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|digits| digits.len() > 1)
        .find_map(|digits| digits.parse::<u16>().ok());
    match number {
        Some(port) => one(line.check(
            local(port),
            port.to_string(),
            Retry::Once(Duration::ZERO),
            Kind::Probe,
        )),
        None => one(line.bare(Target::Opaque, Retry::Once(Duration::ZERO))),
    }
}

/// A script in another language that opens a connection or looks a name up.
fn one_liner(line: &Line<'_>) -> Option<Recognised> {
    let at = line.words.iter().position(|arg| {
        ["-c", "-e", "-r", "-le", "-mIO::Socket"].contains(&arg.value.text.as_str())
    })?;
    let code = line.words.get(at + 1)?;
    let text = code.value.text.as_str();
    let (target, words) = connected(text).or_else(|| looked_up(text))?;
    one(line.check(
        with_default_port(target, 80),
        words,
        code_retry(text),
        Kind::Probe,
    ))
}

/// The server that a script connects to.
fn connected(text: &str) -> Option<(Target, String)> {
    const CALLS: [&str; 9] = [
        "socket",
        "Socket",
        "connect",
        "urlopen",
        "requests.",
        "http.client",
        "http.get",
        "net.",
        "fetch(",
    ];
    let is_lookup = LOOKUPS.iter().any(|call| text.contains(call)) && !text.contains("connect");
    if is_lookup || !CALLS.iter().any(|call| text.contains(call)) {
        return None;
    }
    mentions(text)
        .into_iter()
        .map(|mention| (mention.target, mention.words))
        .find(|(target, _)| {
            !matches!(
                target,
                Target::Address(Address {
                    port: None,
                    scheme: None,
                    ..
                })
            )
        })
        .or_else(|| pair(text))
}

/// Calls that look a name up and do nothing more.
const LOOKUPS: [&str; 4] = [
    "gethostbyname(",
    "getaddrinfo(",
    "dns.lookup(",
    "dns.resolve(",
];

/// The name that a script looks up.
fn looked_up(text: &str) -> Option<(Target, String)> {
    let call = LOOKUPS.iter().find(|call| text.contains(*call))?;
    let (_, behind) = text.split_once(call)?;
    let quoted = behind.trim_start().strip_prefix(['"', '\''])?;
    let name = quoted.split(['"', '\'']).next()?.to_owned();
    Some((Target::Dns { name: name.clone() }, name))
}

/// Whether a script tries again, and for how long: one that counts, or looks at the time, gives up.
fn code_retry(text: &str) -> Retry {
    const ENDLESS: [&str; 6] = [
        "while True",
        "while 1:",
        "while true",
        "while (true)",
        "while(true)",
        "while (1)",
    ];
    const BOUNDS: [&str; 14] = [
        "range(",
        "attempt",
        "retries",
        "tries",
        "count",
        "max",
        "deadline",
        "elapsed",
        "time()",
        "Date.",
        "monotonic",
        "+= 1",
        "++",
        "exit(1",
    ];
    let holds = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let loops = text.contains("while") || (text.contains("for ") && text.contains("sleep"));
    match loops {
        true if holds(&ENDLESS) && !holds(&BOUNDS) => Retry::Forever,
        true => Retry::Unknown,
        false => Retry::Once(Duration::ZERO),
    }
}

/// Host and port as two arguments of a call: `("localhost", 5432)`.
fn pair(text: &str) -> Option<(Target, String)> {
    let mut pieces = text.split(['"', '\'']);
    let mut host = pieces.next()?;
    for piece in pieces {
        let digits: String = piece
            .trim_start_matches([',', ' '])
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let is_second = piece.starts_with(',') && !host.is_empty();
        if let (true, Ok(port)) = (is_second, digits.parse()) {
            return Some((
                Target::Address(Address::new(host, Some(port))),
                host.to_owned(),
            ));
        }
        host = piece;
    }
    None
}
