//! The paths of files and sockets that a container names.

use super::addresses::Target;
use super::settings::{Setting, Word};
use super::told::Told;
use super::waits::Reading;
use crate::finding::Elsewhere;
use crate::manifest::FieldPath;
use std::borrow::Cow;

/// What a container does with a path that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// It reads the file, or connects to the socket.
    Opens,
    /// A flag such as `--socket` names it: mostly the server's, at times a client's.
    MayMake,
    /// It writes the file, or listens there.
    Makes,
}

/// A path of a file or socket that a container names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// The path, absolute.
    pub path: String,
    /// The field.
    pub at: FieldPath,
    /// Which end of it the container is.
    pub usage: Usage,
    /// Where it stands when that is not the workload's document.
    pub elsewhere: Option<Elsewhere>,
}

impl NamedPath {
    fn own(path: String, at: &FieldPath, usage: Usage) -> NamedPath {
        NamedPath {
            path,
            at: at.clone(),
            usage,
            elsewhere: None,
        }
    }

    pub(super) fn told(path: String, setting: &Setting, usage: Usage) -> NamedPath {
        NamedPath {
            path,
            at: setting.at.clone(),
            usage,
            elsewhere: setting.elsewhere.clone(),
        }
    }
}

/// The paths that settings and words name, and those that the scripts in them read and make.
pub(super) fn of_container(
    settings: &[Setting],
    words: &[Word],
    reading: &Reading,
    told: &Told,
) -> Vec<NamedPath> {
    let mut found = Vec::new();
    for setting in settings.iter().filter(|it| may_name_one(&it.value)) {
        let Some(usage) = usage(setting) else {
            continue;
        };
        // In a script a short flag belongs to a tool whose reading tells more: `tail -F FILE`; and the
        // value of `sh -c` is the script itself.
        let is_path = !setting.value.contains(char::is_whitespace);
        let is_of_tool = setting.name.len() == 2 && !(is_path && is_socket(&setting.value));
        if is_of_tool && is_in_script(setting, words) {
            continue;
        }
        let named = paths(&setting.value).into_iter();
        let named = named.filter(|path| !reading.only_local_commands_name(path));
        found.extend(named.map(|path| NamedPath::own(path, &setting.at, usage)));
    }
    for word in words {
        if let Some((path, usage)) = of_relay(&word.text) {
            found.push(NamedPath::own(path, &word.at, usage));
            continue;
        }
        if !word.text.contains(char::is_whitespace) {
            // What a flag names is told by its name already.
            let mut named = paths(&word.text);
            let is_told = |path: &String| {
                let mut told = found.iter();
                told.any(|one: &NamedPath| one.at == word.at && one.path == *path)
            };
            named.retain(|path| !is_told(path));
            let named = named.into_iter();
            found.extend(named.map(|path| NamedPath::own(path, &word.at, Usage::Opens)));
            continue;
        }
        let stands = |path: &&String| word.text.contains(path.as_str());
        let reads = reading.reads.iter().filter(stands);
        found.extend(reads.map(|path| NamedPath::own(path.clone(), &word.at, Usage::Opens)));
        let writes = reading.writes.iter().filter(stands);
        found.extend(writes.map(|path| NamedPath::own(path.clone(), &word.at, Usage::Makes)));
    }
    add_told(told, reading, &mut found);
    add_awaited(words, reading, &mut found);
    found
}

/// The file that a wait is for may stand nowhere: the usual socket of a client.
fn add_awaited(words: &[Word], reading: &Reading, found: &mut Vec<NamedPath>) {
    for wait in reading.waits.iter().chain(&reading.tries) {
        let Target::File { path } = &wait.target else {
            continue;
        };
        let word = words.iter().find(|word| word.text.contains(&wait.words));
        let is_named = found.iter().any(|named| named.path == *path);
        if let Some(word) = word.or(words.first()).filter(|_| !is_named) {
            found.push(NamedPath::own(path.clone(), &word.at, Usage::Opens));
        }
    }
}

fn add_told(told: &Told, reading: &Reading, found: &mut Vec<NamedPath>) {
    for setting in told.settings.iter().filter(|setting| opens(setting)) {
        let named = paths(&setting.value).into_iter();
        found.extend(named.map(|path| NamedPath::told(path, setting, Usage::Opens)));
    }
    for setting in &told.listens {
        let made = paths(&setting.value).into_iter();
        found.extend(made.map(|path| NamedPath::told(path, setting, Usage::Makes)));
    }
    let kinds = [
        (&reading.reads, Usage::Opens),
        (&reading.writes, Usage::Makes),
    ];
    for (path, usage) in kinds
        .into_iter()
        .flat_map(|(paths, usage)| paths.iter().map(move |path| (path, usage)))
    {
        let mut lines = told.script.iter();
        let line = lines.find(|line| line.value.contains(path.as_str()));
        found.extend(line.map(|line| NamedPath::told(path.clone(), line, usage)));
    }
}

fn is_in_script(setting: &Setting, words: &[Word]) -> bool {
    let mut scripts = words
        .iter()
        .filter(|word| word.text.contains(char::is_whitespace));
    scripts.any(|word| word.at == setting.at)
}

/// Whether a key of a file names something to open: a socket, or a file by its name. Logs, data
/// and folders are the container's own.
fn opens(setting: &Setting) -> bool {
    const OPENED: [&str; 12] = [
        "file",
        "path",
        "cert",
        "certificate",
        "key",
        "token",
        "secret",
        "secrets",
        "credentials",
        "ca",
        "password",
        "truststore",
    ];
    const OWN: [&str; 7] = ["log", "logs", "output", "pid", "dir", "data", "cache"];
    let has = |list: &[&str]| setting.name_words().any(|word| list.contains(&&*word));
    setting.value.contains('/') && (is_socket(&setting.value) || (has(&OPENED) && !has(&OWN)))
}

fn is_socket(value: &str) -> bool {
    value.contains(".sock") || value.contains("unix:") || value.contains(".s.PGSQL")
}

/// What is merely kept below a path: logs, caches, the number of a process.
const KEPT: [&str; 14] = [
    "log",
    "logs",
    "logfile",
    "logdir",
    "pid",
    "pidfile",
    "cache",
    "spool",
    "tmp",
    "temp",
    "storage",
    "datadir",
    "workdir",
    "workspace",
];

/// What a setting says of its path: `--listen=/run/x.sock` and `--host=unix:///run/x.sock` are the
/// server's, `--unix-socket=/run/x.sock` mostly, a variable is the client's. None when nobody has to
/// make it first.
fn usage(setting: &Setting) -> Option<Usage> {
    let words: Vec<Cow<'_, str>> = setting.name_words().collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    if has(&KEPT) || (has(&["data"]) && has(&["dir", "directory", "path", "folder"])) {
        return None;
    }
    let is_host = setting.name == "--host" || setting.name == "-H";
    Some(if setting.is_variable() {
        Usage::Opens
    } else if has(&["listen", "bind", "listener"])
        || has(&["output", "out", "outfile", "dest", "destination", "sink"])
        || (is_host && setting.value.starts_with("unix://"))
    {
        Usage::Makes
    } else if has(&["socket", "sock", "unixsocket"]) {
        Usage::MayMake
    } else {
        Usage::Opens
    })
}

/// The socket in a word of `socat`: `UNIX-LISTEN:/run/x.sock,fork`.
fn of_relay(word: &str) -> Option<(String, Usage)> {
    let (kind, rest) = word.split_once(':')?;
    let usage = match kind.to_ascii_uppercase().as_str() {
        "UNIX-LISTEN" => Usage::Makes,
        "UNIX-CONNECT" | "UNIX-CLIENT" => Usage::Opens,
        _ => return None,
    };
    let path = rest.split(',').next().unwrap_or(rest);
    path.starts_with('/').then(|| (path.to_owned(), usage))
}

/// Whether a value can name a path at all.
fn may_name_one(value: &str) -> bool {
    value.contains(['/', '%'])
}

/// The absolute paths in a value; `%2F` in a URL is a `/`.
pub(super) fn paths(value: &str) -> Vec<String> {
    if !may_name_one(value) {
        return Vec::new();
    }
    let is_end = |char: char| {
        char.is_whitespace()
            || matches!(
                char,
                ',' | '=' | '"' | '\'' | ';' | '&' | '?' | '(' | ')' | '@'
            )
    };
    // A host that is a folder of sockets ends where the path of the URL begins.
    let decode = |part: &str| match part.find("%2F").or_else(|| part.find("%2f")) {
        Some(0) => {
            let host = part.split('/').next().unwrap_or(part);
            host.replace("%2F", "/").replace("%2f", "/")
        }
        Some(_) | None => part.to_owned(),
    };
    let path = |part: &str| {
        let part = decode(part);
        let part = part.as_str();
        let bare = ["unix://", "file://", "unix:", "file:"]
            .iter()
            .find_map(|scheme| part.strip_prefix(scheme));
        let bare = bare.unwrap_or(part);
        let is_path = bare.starts_with('/') && bare.len() > 1 && !bare.starts_with("//");
        is_path.then(|| bare.to_owned())
    };
    value.split(is_end).filter_map(path).collect()
}
