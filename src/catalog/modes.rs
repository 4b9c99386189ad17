//! The mode of a container: what its words and variables say.
//!
//! A pattern is words of the command one after the other (`proxy router`, `--one-time`), a variable
//! with its value (`METHOD=LIST`), or a variable alone in capitals (`REQ_URL`). ` | ` stands between
//! alternatives. A flag that is set to `false` is not there.

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

/// Whether a container that replaces its image's entrypoint runs one of these programs all the same:
/// as the command, or somewhere in a script.
pub(super) fn runs_one_of(container: &Container, programs: &[String]) -> bool {
    let is_shell = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or_default();
        matches!(name, "sh" | "bash" | "ash" | "dash")
    };
    // Entrypoint scripts run other programs that are named in the arguments.
    let is_replaced =
        !container.command.is_empty() || container.args.first().is_some_and(|word| is_shell(word));
    let has = |program: &String| {
        let mut words = container.words().flat_map(|word| {
            word.split(|char: char| char.is_whitespace() || ";&|()$'\"`=".contains(char))
        });
        words.any(|word| word.rsplit('/').next() == Some(program))
    };
    programs.is_empty() || !is_replaced || programs.iter().any(has)
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
        let after = &line[at + words.len()..];
        // `/etc/agent/x.hcl` is a path, `/bin/agent` a program.
        let is_folder = after.starts_with(['/', '.']);
        ends(line[..at].chars().next_back())
            && ends(after.chars().next())
            && !is_folder
            && !after.starts_with("=false")
    })
}
