//! What a container is told: its flags and variables as names with values, wherever they stand.

use super::config::Configs;
use super::speech;
use super::variables::{Borrowed, Variables};
use crate::finding::Elsewhere;
use crate::manifest::FieldPath;
use crate::pod::Container;
use serde_json::Value;
use std::borrow::Cow;

/// A flag with its value, or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `--http-port`, `-p` or `HTTP_PORT`, as it is written.
    pub name: String,
    /// Its value, `$(VAR)` references resolved.
    pub value: String,
    /// The field that holds it.
    pub at: FieldPath,
    /// The file that holds it, when it is the line of a ConfigMap's file.
    pub file: Option<String>,
    /// It stands in a text that may be about the container itself: an address proves something only
    /// when another container is known to serve it.
    pub is_loose: bool,
    /// Where it stands when that is not the workload's document; then `at` is the field that reads
    /// it from there.
    pub elsewhere: Option<Elsewhere>,
}

impl Setting {
    fn own(name: String, value: String, at: FieldPath) -> Setting {
        Setting {
            name,
            value,
            at,
            file: None,
            is_loose: false,
            elsewhere: None,
        }
    }

    /// Whether it is meant for this container: not a variable that others have, too.
    pub(super) fn is_own(&self) -> bool {
        self.file.is_some() || !self.is_loose
    }

    /// What messages call it; none for a word without a name.
    pub fn label(&self) -> Option<String> {
        match &self.file {
            Some(file) if self.name.is_empty() => Some(file.clone()),
            Some(file) => Some(format!("{} in {file}", self.name)),
            None => {
                let is_long = self.name.starts_with("--") || self.name.starts_with(PROPERTY);
                (self.is_variable() || is_long).then(|| self.name.clone())
            }
        }
    }

    /// Whether it is a variable rather than a flag.
    pub fn is_variable(&self) -> bool {
        !self.name.starts_with('-')
    }

    /// The words of its name in lower case: `--http-port`, `-Dhttp.port` and `HTTP_PORT` are `http`,
    /// `port`.
    pub fn name_words(&self) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
        let property = self.name.strip_prefix(PROPERTY).filter(|it| !it.is_empty());
        let bare = property.unwrap_or(self.name.trim_start_matches('-'));
        let words = bare.split(['-', '_', '.']);
        words.filter(|word| !word.is_empty()).map(in_lower_case)
    }
}

/// A word in lower case; most words of flags are already.
fn in_lower_case(word: &str) -> Cow<'_, str> {
    let is_lower = word.is_ascii() && !word.bytes().any(|byte| byte.is_ascii_uppercase());
    match is_lower {
        true => Cow::Borrowed(word),
        false => Cow::Owned(word.to_lowercase()),
    }
}

/// What stands before a Java system property.
const PROPERTY: &str = "-D";

/// A word of a command, with the field that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, `$(VAR)` references resolved.
    pub text: String,
    /// The field.
    pub at: FieldPath,
}

/// The words of `command` and `args` with their places; what a script says in comments, or to
/// whoever reads its output, is left out.
pub fn words(container: &Container) -> Vec<Word> {
    words_with(container, &Variables::own(container))
}

/// [`words`], given the container's whole environment.
pub fn words_with(container: &Container, variables: &Variables) -> Vec<Word> {
    let lists = [("command", &container.command), ("args", &container.args)];
    let all = lists.into_iter().flat_map(|(key, words)| {
        words
            .iter()
            .enumerate()
            .map(move |(index, word)| (word, container.at.item(key, index)))
    });
    let mut all: Vec<Word> = all
        .map(|(word, at)| Word {
            text: said(&variables.expand(word)),
            at,
        })
        .collect();
    let script = container.command.len().checked_sub(1);
    if let (Some(last), Some(script)) = (script.and_then(|at| all.get_mut(at)), &container.script) {
        script.clone_into(&mut last.at);
    }
    all
}

/// A word as it is; of a script what it does.
fn said(word: &str) -> String {
    match word.contains(char::is_whitespace) {
        true => speech::left_out(word),
        false => word.to_owned(),
    }
}

/// Variables and flags of a container, in the order of the manifest. Flags inside a script that a
/// shell runs count, too, and so does what a variable such as `JAVA_OPTS` holds.
pub fn settings(container: &Container) -> Vec<Setting> {
    settings_with(container, &Variables::own(container))
}

/// [`settings`], given the container's whole environment. Variables that come from elsewhere are
/// not among them.
pub fn settings_with(container: &Container, variables: &Variables) -> Vec<Setting> {
    of_words(container, &words_with(container, variables), variables)
}

/// The variables of a container that come from ConfigMaps and Secrets.
pub fn borrowed(container: &Container, configs: &dyn Configs) -> Vec<Setting> {
    let variables = Variables::with(container, configs);
    let all = variables.borrowed.iter();
    all.map(|one| of_borrowed(container, one)).collect()
}

pub(super) fn of_borrowed(container: &Container, borrowed: &Borrowed) -> Setting {
    let (list, index) = borrowed.list;
    Setting {
        name: borrowed.name.clone(),
        value: borrowed.value.clone(),
        at: container.at.item(list, index),
        file: None,
        is_loose: borrowed.elsewhere.is_secret,
        elsewhere: Some(borrowed.elsewhere.clone()),
    }
}

/// [`settings_with`], the container's words being known.
pub(super) fn of_words(
    container: &Container,
    words: &[Word],
    variables: &Variables,
) -> Vec<Setting> {
    let own = container.env.iter().enumerate();
    let own = own.filter_map(|(index, var)| {
        // Of two variables with one name the later one counts.
        let is_last = !container.env[index + 1..]
            .iter()
            .any(|later| later.name == var.name);
        let value = match variables.get(&var.name) {
            Some(value) if is_last => value.to_owned(),
            _ => var.value.clone()?,
        };
        var.value.as_ref().filter(|_| is_last)?;
        let at = match &var.at {
            Some(elsewhere) => elsewhere.clone(),
            None => container.at.item("env", index).key("value"),
        };
        let inner = inside(&var.name, &value, &at);
        Some(std::iter::once(Setting::own(var.name.clone(), value, at)).chain(inner))
    });
    let mut all: Vec<Setting> = own.flatten().collect();
    for (index, word) in words.iter().enumerate() {
        if word.text.contains(char::is_whitespace) {
            all.extend(flags_in(&word.text, &word.at));
            continue;
        }
        // What stands behind a shell's `-c` is a script, read for itself.
        let next = words.get(index + 1).filter(|next| {
            !(is_script_flag(&word.text) && next.text.contains(char::is_whitespace))
        });
        let is_apart = !word.text.contains('=');
        if let Some((name, value)) = flag(&word.text, next.map(|next| next.text.as_str())) {
            let at = next.filter(|_| is_apart).map_or(&word.at, |next| &next.at);
            all.extend(assigned(&name, &value, at));
            all.push(Setting::own(name, value, at.clone()));
        }
    }
    all
}

/// The flags in a text of several words.
fn flags_in(text: &str, at: &FieldPath) -> Vec<Setting> {
    let parts: Vec<&str> = text
        .split_whitespace()
        .map(|part| part.trim_matches(['"', '\'']))
        .collect();
    let flags = parts
        .iter()
        .enumerate()
        .filter_map(|(index, part)| flag(part, parts.get(index + 1).copied()));
    flags
        .map(|(name, value)| Setting::own(name, value, at.clone()))
        .collect()
}

/// What the value of a variable holds: flags (`JAVA_OPTS`), or the members of a JSON object.
fn inside(name: &str, value: &str, at: &FieldPath) -> Vec<Setting> {
    let text = value.trim();
    if text.starts_with('{') {
        let mut members = Vec::new();
        if let Ok(json) = serde_json::from_str(text) {
            add_members(name, &json, at, &mut members);
        }
        return members;
    }
    match text.starts_with('-') {
        true => flags_in(text, at),
        false => Vec::new(),
    }
}

fn add_members(name: &str, json: &Value, at: &FieldPath, found: &mut Vec<Setting>) {
    let mut add = |value: String| {
        found.push(Setting::own(name.to_owned(), value, at.clone()));
    };
    match json {
        Value::String(text) => add(text.clone()),
        Value::Number(number) => add(number.to_string()),
        Value::Object(members) => {
            for (key, value) in members {
                add_members(&format!("{name}.{key}"), value, at, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => {}
    }
}

/// `-c name=value`, as servers such as `postgres` take their settings.
fn assigned(flag: &str, value: &str, at: &FieldPath) -> Option<Setting> {
    let (name, value) = value.split_once('=').filter(|_| flag == "-c")?;
    Some(Setting::own(
        format!("--{name}"),
        value.to_owned(),
        at.clone(),
    ))
}

/// `-c`, alone or with other letters: `-ec`.
fn is_script_flag(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    letters.ends_with('c') && letters.chars().all(|char| char.is_ascii_lowercase())
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
