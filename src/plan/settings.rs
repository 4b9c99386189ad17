//! What a container is told: its flags and variables as names with values, wherever they stand.

use crate::manifest::FieldPath;
use crate::pod::Container;

/// A flag with its value, or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `--http-port`, `-p` or `HTTP_PORT`, as it is written.
    pub name: String,
    /// Its value, `$(VAR)` references resolved.
    pub value: String,
    /// The field that holds it.
    pub at: FieldPath,
}

impl Setting {
    /// Whether it is a variable rather than a flag.
    pub fn is_variable(&self) -> bool {
        !self.name.starts_with('-')
    }

    /// The words of its name in lower case: `--http-port` and `HTTP_PORT` are `http`, `port`.
    pub fn name_words(&self) -> impl Iterator<Item = String> {
        let words = self.name.trim_start_matches('-').split(['-', '_', '.']);
        words.filter(|word| !word.is_empty()).map(str::to_lowercase)
    }
}

/// A word of a command, with the field that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, `$(VAR)` references resolved.
    pub text: String,
    /// The field.
    pub at: FieldPath,
}

/// The words of `command` and `args` with their places.
pub fn words(container: &Container) -> Vec<Word> {
    let lists = [("command", &container.command), ("args", &container.args)];
    let all = lists.into_iter().flat_map(|(key, words)| {
        let at = container.at.key(key);
        words
            .iter()
            .enumerate()
            .map(move |(index, word)| (word, at.index(index)))
    });
    all.map(|(word, at)| Word {
        text: expand(container, word),
        at,
    })
    .collect()
}

/// Variables and flags of a container, in the order of the manifest. Flags inside a script that a
/// shell runs count, too.
pub fn settings(container: &Container) -> Vec<Setting> {
    let env_at = container.at.key("env");
    let variables = container.env.iter().enumerate().filter_map(|(index, var)| {
        let value = expand(container, var.value.as_deref()?);
        Some(Setting {
            name: var.name.clone(),
            value,
            at: env_at.index(index).key("value"),
        })
    });
    let mut all: Vec<Setting> = variables.collect();
    let words = words(container);
    for (index, word) in words.iter().enumerate() {
        if word.text.contains(char::is_whitespace) {
            let parts: Vec<&str> = word
                .text
                .split_whitespace()
                .map(|part| part.trim_matches(['"', '\'']))
                .collect();
            let flags = parts
                .iter()
                .enumerate()
                .filter_map(|(at, part)| flag(part, parts.get(at + 1).copied()));
            all.extend(flags.map(|(name, value)| Setting {
                name,
                value,
                at: word.at.clone(),
            }));
            continue;
        }
        let next = words.get(index + 1);
        let is_apart = !word.text.contains('=');
        if let Some((name, value)) = flag(&word.text, next.map(|next| next.text.as_str())) {
            let at = next.filter(|_| is_apart).map_or(&word.at, |next| &next.at);
            all.push(Setting {
                name,
                value,
                at: at.clone(),
            });
        }
    }
    all
}

/// `--name=value`, or `--name` and the word after it unless that is a flag, too.
fn flag(word: &str, next: Option<&str>) -> Option<(String, String)> {
    let is_flag = |word: &str| {
        word.len() > 1
            && word.starts_with('-')
            && !word[1..].starts_with(|char: char| char.is_ascii_digit())
    };
    if !is_flag(word) {
        return None;
    }
    match word.split_once('=') {
        Some((name, value)) => Some((name.to_owned(), value.trim_matches(['"', '\'']).to_owned())),
        None => next
            .filter(|next| !is_flag(next))
            .map(|next| (word.to_owned(), next.to_owned())),
    }
}

/// Resolves `$(NAME)` by the container's own variables, as the kubelet does; others stay as they are.
pub fn expand(container: &Container, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("$(") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let end = after.find(')');
        let name = end.map(|end| &after[2..end]);
        let value = name.and_then(|name| {
            container
                .env
                .iter()
                .find(|var| var.name == name)?
                .value
                .as_deref()
        });
        match (value, end) {
            (Some(value), Some(end)) => {
                out.push_str(value);
                rest = &after[end + 1..];
            }
            _ => {
                out.push_str("$(");
                rest = &after[2..];
            }
        }
    }
    out.push_str(rest);
    out
}
