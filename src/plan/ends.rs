//! Whether a sidecar ends by itself, or is ended by the container beside it.

use super::profile::Profile;
use super::settings;
use crate::catalog::{Entry, Exit, Quit};
use crate::plan::Target;
use crate::plan::addresses::{Address, mentions};
use crate::plan::serves::named_ports;
use crate::plan::waits::Reading;
use crate::pod::PodTemplate;

/// Programs that end others.
const KILLERS: [&str; 3] = ["kill", "killall", "pkill"];

/// Clients by which a container asks its neighbour to quit.
const CLIENTS: [&str; 12] = [
    "curl",
    "wget",
    "http",
    "nc",
    "ncat",
    "pilot-agent",
    "redis-cli",
    "valkey-cli",
    "mysqladmin",
    "rabbitmqctl",
    "cloud-sql-proxy",
    "alloydb-auth-proxy",
];

/// Wrappers that tell a mesh proxy to quit once the command that they run has ended.
const WRAPPERS: [&str; 4] = ["scuttle", "envoy-preflight", "kubexit", "linkerd-await"];

/// Whether a container is seen to end by itself, whatever its image usually does.
pub fn ends_by_itself(profile: &Profile<'_>) -> bool {
    let container = profile.container;
    let runs_once = profile
        .entry
        .is_some_and(|entry| entry.runs_once(container));
    let has_death = container
        .env
        .iter()
        .any(|var| var.name == "KUBEXIT_DEATH_DEPS");
    let is_known_to_end = profile
        .entry
        .is_some_and(|entry| entry.exit == Some(Exit::Itself));
    let is_timed = container.words().any(|word| base(word) == "timeout");
    runs_once
        || is_known_to_end
        || has_death
        || is_timed
        || container.has_restart_rules
        || (!profile.reading.runs_forever() && has_script_that_ends(profile))
}

/// Whether an image is known to go on until somebody ends it.
pub fn never_ends(entry: &Entry) -> bool {
    matches!(entry.exit, Some(Exit::Never | Exit::Quit(_)))
}

/// A script that stops its own server, or waits for a file before it goes on.
fn has_script_that_ends(profile: &Profile<'_>) -> bool {
    let waits_for_file = profile
        .waits()
        .any(|wait| matches!(wait.target, Target::File { .. }));
    let stops = scripts(profile).any(|script| {
        let mut words = words_of(script);
        words.any(|word| KILLERS.contains(&word) || word == "timeout" || word == "exit")
    });
    waits_for_file || stops
}

fn scripts<'p>(profile: &'p Profile<'_>) -> impl Iterator<Item = &'p str> {
    profile
        .container
        .words()
        .filter(|word| word.contains(char::is_whitespace))
}

fn words_of(script: &str) -> impl Iterator<Item = &str> {
    script.split(|char: char| !char.is_alphanumeric() && !matches!(char, '-' | '_'))
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// Whether `main` ends the sidecar: it asks for its end, kills it, or runs in a wrapper that does.
pub fn is_ended_by(
    template: &PodTemplate,
    sidecar: &Profile<'_>,
    main: &Profile<'_>,
    all: &[Profile<'_>],
) -> bool {
    let kills = scripts(main).any(|script| words_of(script).any(|word| KILLERS.contains(&word)));
    (template.shares_processes && kills) || is_wrapped(main) || asks_to_quit(sidecar, main, all)
}

/// Whether a container ends the proxy that a webhook adds to its pod.
pub fn ends_injected(main: &Profile<'_>) -> bool {
    is_wrapped(main) || main.reading.quit_calls().next().is_some() || scripts(main).any(is_trapped)
}

fn is_wrapped(main: &Profile<'_>) -> bool {
    let mut words = settings::words(main.container).into_iter();
    let first = words.next().map(|word| word.text).unwrap_or_default();
    let is_told = |name: &str| {
        let mut flags = main.container.words();
        name != "linkerd-await" || flags.any(|word| word == "--shutdown" || word == "-S")
    };
    let name = base(&first);
    WRAPPERS.contains(&name) && is_told(name)
}

/// Whether `main` calls a quit endpoint, or sends a shutdown, as a command of its own.
fn asks_to_quit(sidecar: &Profile<'_>, main: &Profile<'_>, all: &[Profile<'_>]) -> bool {
    quit_not_offered(sidecar).is_none() && calls_quit(sidecar, main, all)
}

/// The quit endpoint of a sidecar that `main` calls although the sidecar is not told to have it.
pub fn vain_quit<'s>(
    sidecar: &'s Profile<'_>,
    main: &Profile<'_>,
    all: &[Profile<'_>],
) -> Option<&'s Quit> {
    quit_not_offered(sidecar).filter(|_| calls_quit(sidecar, main, all))
}

/// The quit endpoint that the image could have and this container has not.
fn quit_not_offered<'s>(sidecar: &'s Profile<'_>) -> Option<&'s Quit> {
    quit_of(sidecar).filter(|quit| !quit.is_offered(sidecar.container))
}

fn quit_of<'s>(sidecar: &'s Profile<'_>) -> Option<&'s Quit> {
    match sidecar.entry?.exit.as_ref()? {
        Exit::Quit(quit) => Some(quit),
        Exit::Never | Exit::Itself => None,
    }
}

fn calls_quit(sidecar: &Profile<'_>, main: &Profile<'_>, all: &[Profile<'_>]) -> bool {
    let is_anothers = |port: u16| {
        sidecar.served(port).is_none()
            && all.iter().any(|other| {
                other.container.at != sidecar.container.at && other.served(port).is_some()
            })
    };
    let called = main
        .reading
        .quit_calls()
        .any(|words| !addresses(words).any(|at| at.port_or_default().is_some_and(is_anothers)));
    let by_address = quit_of(sidecar).is_some_and(|quit| {
        let moved = named_ports(&sidecar.settings, &quit.port_by).next();
        let port = moved.unwrap_or(quit.port);
        let is_it = |address: Address| {
            address.is_loopback()
                && address.port_or_default() == Some(port)
                && address.path.as_deref() == Some(quit.path.as_str())
        };
        let mut calls = main.reading.client_calls();
        calls.any(|words| addresses(words).any(is_it))
    });
    called || by_address || scripts(main).any(is_trapped)
}

/// The servers that a command names.
fn addresses(words: &[String]) -> impl Iterator<Item = Address> {
    let mentions = words.iter().flat_map(|word| mentions(word));
    mentions.filter_map(|mention| match mention.target {
        Target::Address(address) => Some(address),
        Target::Dns { .. } | Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            None
        }
    })
}

/// `trap 'curl … /quitquitquit' EXIT`: the words of a trap are a command, too.
fn is_trapped(script: &str) -> bool {
    let mut lines = script
        .lines()
        .filter(|line| line.trim_start().starts_with("trap "));
    lines.any(|line| {
        let calls = words_of(line).any(|word| CLIENTS.contains(&word));
        calls && words_of(line).any(quits)
    })
}

fn quits(word: &str) -> bool {
    let word = word.to_lowercase();
    word.starts_with("quit") || word == "shutdown" || word == "graceful_shutdown"
}

impl Reading {
    /// The words of commands that ask somebody to quit.
    fn quit_calls(&self) -> impl Iterator<Item = &[String]> {
        self.client_calls().filter(|words| {
            let mut words = words.iter().skip(1).flat_map(|word| words_of(word));
            words.any(quits)
        })
    }

    /// The words of commands that call a server.
    fn client_calls(&self) -> impl Iterator<Item = &[String]> {
        let calls = self.calls.iter().map(|call| call.words.as_slice());
        calls.filter(|words| {
            let name = words.first().map_or("", |word| base(word));
            CLIENTS.contains(&name)
        })
    }
}

/// Whether a container is told to be a server: a verb such as `serve` and a port that it opens.
pub fn is_told_to_serve(profile: &Profile<'_>) -> bool {
    const VERBS: [&str; 8] = [
        "serve",
        "server",
        "--server",
        "-server",
        "daemon",
        "--daemon",
        "start-server",
        "runserver",
    ];
    let is_server = |name: &str| name.ends_with("-server") || name.ends_with("-proxy");
    let words: Vec<&str> = profile.container.words().take(4).map(base).collect();
    let has_verb = words.iter().any(|word| VERBS.contains(word));
    words.first().is_some_and(|word| is_server(word)) || (has_verb && !profile.serves.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, read};
    use crate::manifest::parse::parse;
    use crate::pod::workload;

    /// Whether a sidecar of this entry, with these words, ends without anybody's help.
    fn ends(exit: &str, args: &str) -> bool {
        let entry = format!(
            "- {{name: own, class: useful, images: [own], once_when: [--once], exit: {exit}}}\n"
        );
        let list = parse("catalog", entry);
        let list = list.documents[0].root().expect("a list");
        let catalog = read::read(list, read::Origin::User).expect("an entry");
        ends_with(&catalog, args)
    }

    fn ends_with(catalog: &Catalog, args: &str) -> bool {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nspec: {{containers: [{{name: x, image: own, args: {args}}}]}}\n"
        );
        let parsed = parse("pod", pod);
        let contents = workload::read(&parsed.documents[0]);
        let Some(workload::Object::Workload(found)) = contents.objects.first() else {
            panic!("a pod")
        };
        let template = &found.template;
        let profile = Profile::read(
            &template.containers[0],
            template,
            catalog,
            &crate::plan::config::NoConfigs,
        );
        ends_by_itself(&profile)
    }

    #[test]
    fn an_entry_says_whether_a_sidecar_ends() {
        assert!(ends("self", "[run]"));
        assert!(!ends("never", "[run]"));
        assert!(ends("never", "[run, --once]"));
        assert!(!ends("{quit: {path: /quit, port: 80}}", "[run]"));
    }
}
