//! What a container's command, hook or probe does, in a few words.

use crate::plan::profile::{hook_of, read_command};
use crate::plan::{Bound, Hook, Target, Wait};
use crate::pod::{Action, Container, Probe};
use std::time::Duration;

/// A command is cut to this many columns.
const SHORT: usize = 24;

/// Words as one types them, as far as they fit: `sh -c 'while true; do…'`.
pub(super) fn short(words: &[String]) -> String {
    let whole = typed(words);
    if whole.chars().count() <= SHORT {
        return whole;
    }
    let is_script = whole.ends_with('\'');
    let room = SHORT - if is_script { 2 } else { 1 };
    let cut: String = whole.chars().take(room).collect();
    let at_space = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    let head = if at_space.contains('\'') || !is_script {
        at_space
    } else {
        &cut
    };
    let close = if is_script { "'" } else { "" };
    format!("{}…{close}", head.trim_end())
}

/// Words as one types them, on one line.
pub(super) fn typed(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            let lines: Vec<&str> = word.split_whitespace().collect();
            format!("'{}'", lines.join(" "))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// What a hook does: its command, or the request that it sends.
pub(super) fn action(action: &Action) -> Option<String> {
    match action {
        Action::Exec { command } if command.is_empty() => None,
        Action::Exec { command } => Some(short(command)),
        Action::HttpGet { port, path, .. } => Some(format!("GET :{port}{path}")),
        Action::TcpSocket { port, .. } => Some(format!("connect to :{port}")),
        Action::Grpc { port } => Some(format!("gRPC health of :{port}")),
        Action::Sleep { duration } => Some(format!("sleep {}", duration.as_secs())),
        Action::Unreadable => None,
    }
}

/// What a probe asks, and how often.
pub(super) fn probe(probe: &Probe) -> String {
    let every = format!("every {} s", probe.period.as_secs());
    match action(&probe.action) {
        Some(what) => format!("{what}, {every}"),
        None => every,
    }
}

/// The command of a hook as it has to be written behind `timeout 60`.
pub(super) fn bounded(action: &Action) -> Option<String> {
    let Action::Exec { command } = action else {
        return None;
    };
    let shell = ["sh", "bash", "ash"];
    match command.as_slice() {
        [first, flag, _] if shell.iter().any(|shell| first.ends_with(shell)) => {
            Some(format!("timeout 60 {first} {flag} '…'"))
        }
        [] => None,
        words => Some(format!("timeout 60 {}", short(words))),
    }
}

/// How long a hook takes at most by its own command; none when it sets no limit that can be read.
pub(super) fn bound(container: &Container) -> Option<Duration> {
    match hook_of(container)? {
        Hook::Waits { bound, .. } => upper(bound),
        Hook::SleepsOnly { duration, .. } => Some(duration),
        Hook::SingleTry { .. }
        | Hook::ReturnsEarly { .. }
        | Hook::Fails { .. }
        | Hook::NeverEnds { .. }
        | Hook::HttpGet { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

fn upper(bound: Bound) -> Option<Duration> {
    match bound {
        Bound::Bounded { upper, .. } => upper,
        Bound::Unbounded | Bound::Unknown => None,
    }
}

/// What the command of an init container waits for, if it can be read.
pub(super) fn own_wait(container: &Container) -> Option<Wait> {
    let reading = read_command(container);
    reading.waits.iter().find(|wait| wait.repeats).cloned()
}

/// The Service whose name a wait polls, as namespace and name: `db` means the pod's own namespace,
/// `db.shop.svc` and `db.shop.svc.cluster.local` name one. Two words may be a name of the Internet.
pub(super) fn service(wait: &Wait, own_namespace: &str) -> Option<(String, String)> {
    let host = match &wait.target {
        Target::Address(address) if !address.is_loopback() => &address.host,
        Target::Dns { name } => name,
        Target::Address(_) | Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            return None;
        }
    };
    let words: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    let is_word = |word: &&str| {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !word.is_empty() && word.chars().all(is_plain)
    };
    if !words.iter().all(is_word) {
        return None;
    }
    match words.as_slice() {
        [name] => Some((own_namespace.to_owned(), (*name).to_owned())),
        _ => {
            let at = words.iter().position(|word| *word == "svc")?;
            let name = words.get(at.checked_sub(2)?)?;
            Some((words[at - 1].to_owned(), (*name).to_owned()))
        }
    }
}

/// `polls DNS: myservice`
pub(super) fn polls(wait: &Wait) -> String {
    match &wait.target {
        Target::Address(address) => match address.port_or_default() {
            Some(port) => format!("polls {}:{port}", address.host),
            None => format!("polls {}", address.host),
        },
        Target::Dns { name } => {
            let first = name.split('.').next().unwrap_or(name);
            format!("polls DNS: {first}")
        }
        Target::File { path } => format!("waits for {path}"),
        Target::Kubernetes { what } => format!("waits for {what}"),
        Target::Opaque => format!("repeats {}", wait.tool),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn names_of_the_cluster_tell_their_service() {
        let polled = |host: &str| {
            let script = format!("until nslookup {host}; do sleep 1; done");
            let command = words(&["sh", "-c", &script]);
            let around = crate::shell::Surroundings {
                env: &|_| None,
                may_be_set: &|_| false,
                file: &|_| None,
            };
            let reading = crate::plan::waits::read(&command, around);
            let (namespace, name) = service(&reading.waits[0], "shop")?;
            Some(format!("{namespace}/{name}"))
        };
        let told = |host| polled(host).unwrap_or_default();
        assert_eq!(told("db"), "shop/db");
        assert_eq!(told("db.data.svc"), "data/db");
        assert_eq!(told("db.data.svc.cluster.local"), "data/db");
        assert_eq!(told("db-0.db.data.svc.cluster.local"), "data/db");
        assert_eq!(polled("example.com"), None);
    }

    #[test]
    fn a_long_script_is_cut_at_a_word_and_stays_quoted() {
        let hook = words(&["sh", "-c", "while true; do sleep 1; done"]);
        assert_eq!(short(&hook), "sh -c 'while true; do…'");
        assert_eq!(short(&words(&["/entrypoint", "wait"])), "/entrypoint wait");
        let action = Action::Exec { command: hook };
        assert_eq!(bounded(&action).as_deref(), Some("timeout 60 sh -c '…'"));
    }
}
