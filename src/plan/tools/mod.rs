//! Commands that check whether something is there, by their words.

mod client_table;
mod clients;
mod http;
mod network;
mod options;
mod waiters;

pub(super) use network::dev_tcp;

use super::addresses::{Address, Mention, Target, endpoint};
use crate::shell::{Arg, Value};
use std::time::Duration;

/// What one command checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) target: Target,
    /// The command's name.
    pub(super) tool: String,
    /// The words to mark.
    pub(super) words: String,
    pub(super) retry: Retry,
    pub(super) kind: Kind,
}

/// Whether a command tries again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// One try of at most this time.
    Once(Duration),
    /// For this time, then it fails.
    For(Duration),
    /// Until it succeeds.
    Forever,
    /// It does, nobody knows for how long.
    Unknown,
}

/// How much a command says about its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It asks whether something is there.
    Probe,
    /// It works with a server; whether that is a check depends on what is done with its status.
    Client,
    /// A command that is not known, in a loop.
    Other,
    /// It looks at a file.
    File,
}

/// What is known of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) checks: Vec<Check>,
    /// The word at which the command begins that it runs afterwards.
    pub(super) then: Option<usize>,
    /// It runs that command even when the wait fails.
    pub(super) always_then: bool,
}

/// A command as the readers of tools see it.
pub(super) struct Line<'a> {
    /// Its name without folders and without `.sh`.
    pub(super) name: &'a str,
    /// All words, the name first.
    pub(super) words: &'a [Arg],
    /// What it reads from a pipe.
    pub(super) input: Option<&'a Value>,
    /// The text of the commands that read its output.
    pub(super) piped_into: &'a str,
    /// The value of an environment variable, or of one that the script has set.
    pub(super) env: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a variable whose value is not known may be set.
    pub(super) may_be_set: &'a dyn Fn(&str) -> bool,
}

impl Line<'_> {
    fn check(&self, target: Target, words: String, retry: Retry, kind: Kind) -> Check {
        Check {
            target,
            tool: self.name.to_owned(),
            words,
            retry,
            kind,
        }
    }

    /// A check without an address in it; its own name is marked.
    fn bare(&self, target: Target, retry: Retry) -> Check {
        self.check(target, self.words[0].source.to_string(), retry, Kind::Probe)
    }

    fn has_word(&self, word: &str) -> bool {
        self.words[1..].iter().any(|arg| arg.value.text == word)
    }
}

/// The name of a command by which tools are known.
pub(super) fn name_of(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_suffix(".sh").unwrap_or(name)
}

/// What a command checks; none when it is no tool that is known.
pub(super) fn recognise(line: &Line<'_>) -> Option<Recognised> {
    http::recognise(line)
        .or_else(|| network::recognise(line))
        .or_else(|| waiters::recognise(line))
        .or_else(|| clients::recognise(line))
}

/// One check and nothing else.
fn one(check: Check) -> Option<Recognised> {
    Some(Recognised {
        checks: vec![check],
        ..Recognised::default()
    })
}

/// The text of a word without the quotes around it.
pub(super) fn unquoted(source: &str) -> &str {
    source.trim_matches(['"', '\''])
}

/// The words to mark for an address found in a word: as they stand in the source.
fn mark(arg: &Arg, words: &str) -> String {
    if arg.source.contains(words) {
        return words.to_owned();
    }
    let source = unquoted(&arg.source);
    match endpoint(source) {
        Some(found) if arg.source.contains(&found.words) => found.words,
        _ => source.to_owned(),
    }
}

/// The address that a word names, and what to mark.
fn address_of(arg: &Arg) -> Option<(Target, String)> {
    // A client takes `:5000` for its own host.
    if let Some(port) = arg.value.text.strip_prefix(':')
        && let Ok(port) = port.parse()
    {
        return Some((local(port), unquoted(&arg.source).to_owned()));
    }
    let Mention { target, words } = endpoint(&arg.value.text)?;
    Some((target, mark(arg, &words)))
}

/// The address made of a host and a port in two words, and what to mark.
fn joined(host: &Arg, port: Option<&Arg>) -> (Target, String) {
    let number = port.and_then(|port| port.value.text.parse().ok());
    let name = host
        .value
        .text
        .trim_start_matches('[')
        .trim_end_matches(']');
    let are_neighbours = port.is_some_and(|port| {
        host.at
            .zip(port.at)
            .is_some_and(|(from, to)| from + host.source.len() + 1 == to)
    });
    let words = match port {
        Some(port) if are_neighbours => format!("{} {}", host.source, port.source),
        Some(_) | None => unquoted(&host.source).to_owned(),
    };
    (Target::Address(Address::new(name, number)), words)
}

/// An address with a default port, for a tool that has one.
fn with_default_port(target: Target, port: u16) -> Target {
    match target {
        Target::Address(mut address) => {
            address.port = address.port_or_default().or(Some(port));
            Target::Address(address)
        }
        other => other,
    }
}

/// The loopback server that a tool dials when it is told nothing.
fn local(port: u16) -> Target {
    Target::Address(Address::new("localhost", Some(port)))
}
