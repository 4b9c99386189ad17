//! Files that a command reads and makes.

use super::worlds::{Call, Opened};
use std::collections::BTreeSet;

/// The files that commands read at once. A file that an endless loop reads again and again may come
/// at any time, so it is none of them; neither is one that `tail` follows.
pub(super) fn reads(
    calls: &BTreeSet<Call>,
    opened: &BTreeSet<Opened>,
    is_endless: bool,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in opened.iter().filter(|file| file.is_read) {
        if !(file.is_in_loop && is_endless) {
            found.insert(file.path.clone());
        }
    }
    for call in calls {
        if !(call.place.is_in_loop && is_endless) {
            found.extend(read_by(call));
        }
    }
    found.into_iter().collect()
}

/// The files and folders that commands make or change.
pub(super) fn writes(calls: &BTreeSet<Call>, opened: &BTreeSet<Opened>) -> Vec<String> {
    let mut found = opened_to_write(opened);
    found.extend(calls.iter().flat_map(written_by));
    found.into_iter().collect()
}

/// The files and folders that get content: what is merely made stays out.
pub(super) fn fills(calls: &BTreeSet<Call>, opened: &BTreeSet<Opened>) -> Vec<String> {
    const EMPTY: [&str; 4] = ["mkdir", "mkfifo", "mknod", "touch"];
    let mut found = opened_to_write(opened);
    let filling = calls.iter().filter(|call| !EMPTY.contains(&name(call)));
    found.extend(filling.flat_map(written_by));
    found.into_iter().collect()
}

fn opened_to_write(opened: &BTreeSet<Opened>) -> BTreeSet<String> {
    let written = opened.iter().filter(|file| !file.is_read);
    written.map(|file| file.path.clone()).collect()
}

fn name(call: &Call) -> &str {
    let first = call.words.first().map_or("", String::as_str);
    first.rsplit('/').next().unwrap_or(first)
}

fn arguments(call: &Call) -> &[String] {
    call.words.get(1..).unwrap_or_default()
}

/// The words that are no options.
fn plain(call: &Call) -> Vec<String> {
    let words = arguments(call).iter();
    words
        .filter(|word| !word.starts_with('-'))
        .cloned()
        .collect()
}

fn paths(call: &Call) -> Vec<String> {
    let mut words = plain(call);
    words.retain(|word| word.contains('/'));
    words
}

fn read_by(call: &Call) -> Vec<String> {
    let follows = || {
        let mut words = arguments(call).iter();
        words.any(|word| word.starts_with('-') && word.contains(['f', 'F']))
    };
    match name(call) {
        "." | "source" => plain(call).into_iter().take(1).collect(),
        "tail" if follows() => Vec::new(),
        "cat" | "head" | "tail" | "base64" | "jq" | "grep" | "awk" | "sed" | "wc" | "sort"
        | "envsubst" | "sha256sum" | "md5sum" => paths(call),
        "sh" | "bash" | "ash" | "dash" => paths(call).into_iter().take(1).collect(),
        "cp" | "mv" | "install" => {
            let mut words = paths(call);
            words.pop();
            words
        }
        _ => Vec::new(),
    }
}

/// The value of an option in the next word, or behind its `=`.
fn option(call: &Call, names: &[&str]) -> Option<String> {
    let words = arguments(call);
    words.iter().enumerate().find_map(|(index, word)| {
        if names.contains(&word.as_str()) || names.iter().any(|name| ends_cluster(word, name)) {
            return words.get(index + 1).cloned();
        }
        let (name, value) = word.split_once('=')?;
        names.contains(&name).then(|| value.to_owned())
    })
}

/// Whether a word is several short options of which the last is this one: `-sfo` for `-o`.
fn ends_cluster(word: &str, option: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    let is_cluster = letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_cluster && option.len() == 2 && option.starts_with('-') && letters.ends_with(&option[1..])
}

fn written_by(call: &Call) -> Vec<String> {
    match name(call) {
        "touch" | "tee" | "mkdir" | "mkfifo" | "mknod" | "truncate" | "fallocate" => plain(call)
            .into_iter()
            .filter(|word| word.contains('/'))
            .collect(),
        "cp" | "mv" | "install" | "ln" => copied(call),
        "dd" => option(call, &["of"]).into_iter().collect(),
        "curl" => option(call, &["-o", "--output"])
            .into_iter()
            .filter(is_file)
            .collect(),
        "wget" => option(call, &["-O", "--output-document"])
            .into_iter()
            .filter(is_file)
            .collect(),
        "tar" | "unzip" => option(call, &["-C", "-d", "--directory"])
            .into_iter()
            .collect(),
        "openssl" => option(call, &["-out", "-keyout"]).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn is_file(path: &String) -> bool {
    path != "-" && !path.starts_with("/dev/")
}

/// Where copies go: the target itself, and the names in it when it may be a folder.
fn copied(call: &Call) -> Vec<String> {
    let mut sources = plain(call);
    let target = match option(call, &["-t", "--target-directory"]) {
        Some(folder) => {
            sources.retain(|word| *word != folder);
            folder
        }
        None => match sources.pop() {
            Some(target) if !sources.is_empty() => target,
            _ => return Vec::new(),
        },
    };
    let folder = target.trim_end_matches('/').to_owned();
    let mut found = vec![if folder.is_empty() {
        target
    } else {
        folder.clone()
    }];
    for source in sources {
        let base = source
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        if !base.is_empty() && base != "." && !base.contains('*') {
            found.push(format!("{folder}/{base}"));
        }
    }
    found
}
