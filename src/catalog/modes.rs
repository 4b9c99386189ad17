//! The mode of a container: what its words and variables say.
//!
//! A pattern is words of the command one after the other (`proxy router`, `--one-time`), a variable
//! with its value (`METHOD=LIST`), or a variable alone in capitals (`REQ_URL`). ` | ` stands between
//! alternatives.

use crate::pod::Container;

/// Whether the container says one of the pattern's alternatives.
pub(super) fn says(container: &Container, pattern: &str) -> bool {
    pattern
        .split(" | ")
        .any(|one| says_one(container, one.trim()))
}

fn says_one(container: &Container, pattern: &str) -> bool {
    let variable = pattern.split('=').next().unwrap_or_default();
    if !is_variable(variable) {
        return has_words(container, pattern);
    }
    let found = container.env.iter().rfind(|var| var.name == variable);
    match (found, pattern.split_once('=')) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(var), Some((_, value))) => {
            let own = var.value.as_deref();
            own.is_some_and(|own| own == value || is_same_flag(own, value))
        }
    }
}

/// Capitals, digits and underscores only; a single capital is a word of the command.
fn is_variable(name: &str) -> bool {
    let is_capital = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
    name.len() > 2
        && name.starts_with(|char: char| char.is_ascii_uppercase())
        && name.chars().all(is_capital)
}

/// Whether both are ways to write the same boolean.
fn is_same_flag(own: &str, wanted: &str) -> bool {
    let flag = |text: &str| match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "t" | "yes" | "on" => Some(true),
        "false" | "0" | "f" | "no" | "off" => Some(false),
        _ => None,
    };
    flag(own).is_some() && flag(own) == flag(wanted)
}

/// Whether the command has these words one after the other, perhaps inside a script.
fn has_words(container: &Container, words: &str) -> bool {
    let line = container.words().collect::<Vec<_>>().join(" ");
    let ends = |char: Option<char>| {
        char.is_none_or(|char| !char.is_alphanumeric() && char != '-' && char != '_')
    };
    line.match_indices(words).any(|(at, _)| {
        ends(line[..at].chars().next_back()) && ends(line[at + words.len()..].chars().next())
    })
}
