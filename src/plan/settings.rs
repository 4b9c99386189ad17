//! What a container is told: its flags and variables as names with values, wherever they stand.

use super::variables::Variables;
use crate::finding::Elsewhere;
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
            None => (self.is_variable() || self.name.starts_with("--")).then(|| self.name.clone()),
        }
    }

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
    words_with(container, &Variables::own(container))
}

/// [`words`], given the container's whole environment.
pub fn words_with(container: &Container, variables: &Variables) -> Vec<Word> {
    let lists = [("command", &container.command), ("args", &container.args)];
    let all = lists.into_iter().flat_map(|(key, words)| {
        let at = container.at.key(key);
        words
            .iter()
            .enumerate()
            .map(move |(index, word)| (word, at.index(index)))
    });
    let mut all: Vec<Word> = all
        .map(|(word, at)| Word {
            text: without_comments(&variables.expand(word)),
            at,
        })
        .collect();
    let script = container.command.len().checked_sub(1);
    if let (Some(last), Some(script)) = (script.and_then(|at| all.get_mut(at)), &container.script) {
        script.clone_into(&mut last.at);
    }
    all
}

/// A script without the lines that are comments: what they name is not done.
fn without_comments(word: &str) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    if !word.lines().any(|line| is_comment(&line)) {
        return word.to_owned();
    }
    let kept = word.split_inclusive('\n').filter(|line| !is_comment(line));
    kept.collect()
}

/// Variables and flags of a container, in the order of the manifest. Flags inside a script that a
/// shell runs count, too.
pub fn settings(container: &Container) -> Vec<Setting> {
    settings_with(container, &Variables::own(container))
}

/// [`settings`], given the container's whole environment. Variables that come from elsewhere are
/// not among them.
pub fn settings_with(container: &Container, variables: &Variables) -> Vec<Setting> {
    let env_at = container.at.key("env");
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
        let at = env_at.index(index).key("value");
        Some(Setting::own(var.name.clone(), value, at))
    });
    let mut all: Vec<Setting> = own.collect();
    let words = words_with(container, variables);
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
            all.extend(flags.map(|(name, value)| Setting::own(name, value, word.at.clone())));
            continue;
        }
        // What stands behind a shell's `-c` is a script, read for itself.
        let next = words.get(index + 1).filter(|next| {
            !(is_script_flag(&word.text) && next.text.contains(char::is_whitespace))
        });
        let is_apart = !word.text.contains('=');
        if let Some((name, value)) = flag(&word.text, next.map(|next| next.text.as_str())) {
            let at = next.filter(|_| is_apart).map_or(&word.at, |next| &next.at);
            all.push(Setting::own(name, value, at.clone()));
        }
    }
    all
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
