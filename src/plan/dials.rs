//! The loopback addresses that a container names.

use super::addresses::{self, Address, Target};
use super::settings::{Setting, Word};
use super::undialled::{is_for_others, is_telemetry};
use super::waits::Reading;
use crate::finding::Elsewhere;
use crate::manifest::FieldPath;

/// An address of this pod's loopback that a container names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialled {
    /// The port; none when only the host is written.
    pub port: Option<u16>,
    /// The path of a URL.
    pub path: Option<String>,
    /// What is marked in the field: `127.0.0.1:5432`.
    pub words: String,
    /// The field.
    pub at: FieldPath,
    /// The variable, flag or file that holds it.
    pub setting: Option<String>,
    /// It proves something only when another container is known to serve the port.
    pub is_loose: bool,
    /// What holds it says that the container does without it, too.
    pub is_optional: bool,
    /// Where it stands when that is not the workload's document.
    pub elsewhere: Option<Elsewhere>,
}

impl Dialled {
    /// The address of a setting.
    pub(super) fn of(
        address: Address,
        port: Option<u16>,
        words: String,
        setting: &Setting,
    ) -> Dialled {
        // A container names the pod's address to say where it is itself, too.
        let is_loose = is_pod_ip(&address.host);
        let is_secret = setting
            .elsewhere
            .as_ref()
            .is_some_and(|place| place.is_secret);
        Dialled {
            port,
            // Nothing of a Secret is shown or written into a fix.
            path: address.path.filter(|_| !is_secret),
            words: if is_secret { String::new() } else { words },
            at: setting.at.clone(),
            setting: setting.label(),
            is_loose: setting.is_loose || is_loose,
            is_optional: says_optional(&setting.value),
            elsewhere: setting.elsewhere.clone(),
        }
    }

    /// The address of a word of the command.
    fn of_word(address: Address, port: Option<u16>, words: String, word: &Word) -> Dialled {
        Dialled {
            port,
            is_loose: is_pod_ip(&address.host),
            path: address.path,
            words,
            at: word.at.clone(),
            setting: None,
            is_optional: says_optional(&word.text) && !word.text.contains('\n'),
            elsewhere: None,
        }
    }
}

/// The addresses of variables, flags and keys of configuration.
pub(super) fn of_settings(settings: &[Setting], found: &mut Vec<Dialled>) {
    let may_dial = |setting: &&Setting| {
        has_loopback(&setting.value) && !is_for_others(setting) && !is_telemetry(setting)
    };
    for setting in settings.iter().filter(may_dial) {
        for (address, words) in dialled(&setting.value, true) {
            let port = address
                .port_or_default()
                .or_else(|| sibling_port(settings, setting))
                .or_else(|| default_port(&setting.name));
            // A file that names the host alone may bind to it.
            if port.is_some() || setting.file.is_none() {
                add(found, Dialled::of(address, port, words, setting));
            }
        }
    }
}

/// Takes back what words name only for settings whose addresses are not dialled.
pub(super) fn leave_out(settings: &[Setting], found: &mut Vec<Dialled>) {
    let undialled = settings.iter().filter(|setting| {
        has_loopback(&setting.value) && (is_for_others(setting) || is_telemetry(setting))
    });
    let undialled: Vec<(String, &FieldPath)> = undialled
        .flat_map(|setting| {
            let words = dialled(&setting.value, true).into_iter();
            words.map(|(_, words)| (words, &setting.at))
        })
        .collect();
    found.retain(|one| {
        !undialled
            .iter()
            .any(|(words, at)| one.words == *words && one.at == **at && one.elsewhere.is_none())
    });
}

/// The addresses in words of the command.
pub(super) fn of_words(words: &[Word], found: &mut Vec<Dialled>) {
    for word in words.iter().filter(|word| has_loopback(&word.text)) {
        for (address, words) in dialled(&word.text, false) {
            let port = address.port_or_default();
            add(found, Dialled::of_word(address, port, words, word));
        }
    }
}

/// The addresses that a script puts together from its variables.
pub(super) fn of_calls(words: &[Word], reading: &Reading, found: &mut Vec<Dialled>) {
    let script = words
        .iter()
        .find(|word| word.text.contains(char::is_whitespace));
    let Some(script) = script else { return };
    for sent in reading.words_sent().filter(|sent| has_loopback(sent)) {
        for (address, words) in dialled(sent, false) {
            if let Some(port) = address.port_or_default() {
                let one = Dialled::of_word(address, Some(port), words, script);
                add(found, one);
            }
        }
    }
}

/// The addresses in lines of a script.
pub(super) fn of_script(lines: &[Setting], found: &mut Vec<Dialled>) {
    for line in lines.iter().filter(|line| has_loopback(&line.value)) {
        for (address, words) in dialled(&line.value, false) {
            if let Some(port) = address.port_or_default() {
                add(found, Dialled::of(address, Some(port), words, line));
            }
        }
    }
}

/// An address that a command asks for, with the word or the line of a script that says so.
pub(super) fn asked(
    address: &Address,
    named: &str,
    words: &[Word],
    script: &[Setting],
) -> Option<Dialled> {
    let (address, port) = (address.clone(), Some(address.port_or_default()?));
    if let Some(word) = words.iter().find(|word| word.text.contains(named)) {
        return Some(Dialled::of_word(address, port, named.to_owned(), word));
    }
    let line = script.iter().find(|line| line.value.contains(named))?;
    Some(Dialled::of(address, port, named.to_owned(), line))
}

/// The loopback addresses in a text, and those at the pod's own address; a bare host counts only where the whole text is one.
pub(super) fn dialled(text: &str, takes_bare_host: bool) -> Vec<(Address, String)> {
    if !has_loopback(text) {
        return Vec::new();
    }
    let mut found = addresses::mentions(text);
    if found.is_empty() && takes_bare_host {
        found.extend(addresses::endpoint(text.trim()));
    }
    let loopback = found
        .into_iter()
        .filter_map(|mention| match mention.target {
            Target::Address(address) if address.is_loopback() || is_pod_ip(&address.host) => {
                Some((address, mention.words))
            }
            Target::Address(_)
            | Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. }
            | Target::Opaque => None,
        });
    loopback.collect()
}

fn add(found: &mut Vec<Dialled>, dialled: Dialled) {
    let is_known = |other: &Dialled| other.port == dialled.port && other.at == dialled.at;
    if !found.iter().any(is_known) {
        found.push(dialled);
    }
}

/// Whether a text can name the pod's loopback at all.
pub fn has_loopback(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Every text of every container is asked this, more than once: one pass for all names.
    bytes.iter().enumerate().any(|(at, byte)| {
        let is = |name: &str| bytes[at..].starts_with(name.as_bytes());
        match byte {
            b'1' => is("127."),
            b'l' => is("localhost"),
            b':' => is("::1"),
            b'L' => is("LOCALHOST") || is("Localhost"),
            b'P' => is("POD_IP"),
            _ => false,
        }
    })
}

/// Whether a host is the variable that holds the pod's own address, by its usual names.
fn is_pod_ip(host: &str) -> bool {
    let name = host
        .strip_prefix('$')
        .map(|name| name.trim_matches(|letter| matches!(letter, '(' | ')' | '{' | '}')));
    name.is_some_and(|name| name.ends_with("POD_IP"))
}

/// Whether a value says that its server may be missing: `optional:configserver:http://…`.
fn says_optional(value: &str) -> bool {
    let mut words = value.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.any(|word| matches!(word, "optional" | "ignorable"))
}

/// The port beside a host of its own: `DB_PORT` for `DB_HOST`, `--db-port` for `--db-host`.
fn sibling_port(settings: &[Setting], host: &Setting) -> Option<u16> {
    const HOST: [&str; 6] = ["host", "hostname", "addr", "address", "server", "endpoint"];
    const PORT: [&str; 1] = ["port"];
    let stem = |setting: &Setting, ends: &[&str]| {
        let text: String = setting.name_words().collect::<Vec<_>>().join("_");
        ends.iter().find_map(|end| {
            text.strip_suffix(end)
                .map(|stem| stem.trim_end_matches('_').to_owned())
        })
    };
    let wanted = stem(host, &HOST)?;
    let port = settings
        .iter()
        .find(|port| stem(port, &PORT).as_ref() == Some(&wanted))?;
    port.value.trim().parse().ok()
}

/// The port that a name stands for when none is written.
fn default_port(name: &str) -> Option<u16> {
    let name = name.to_lowercase();
    let known = [
        ("pg", 5432),
        ("postgres", 5432),
        ("mysql", 3306),
        ("mariadb", 3306),
        ("redis", 6379),
        ("mongo", 27017),
        ("amqp", 5672),
        ("rabbit", 5672),
        ("memcache", 11211),
        ("elastic", 9200),
    ];
    known
        .iter()
        .find(|(word, _)| name.contains(word))
        .map(|(_, port)| *port)
}
