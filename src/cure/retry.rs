//! A check that is made once is made again until it succeeds, for a time.

use super::script::{self, Written};
use crate::finding::{Fix, FixSafety};
use crate::graph::Stage;
use crate::manifest::edit::Operation;
use crate::pod::Container;
use crate::shell::parse;
use crate::shell::script::Form;
use serde_json::{Value, json};

/// How often a check is made, a second apart.
const TRIES: u32 = 60;

/// Puts the command of an init container into a loop; the error says why that cannot be written.
pub fn in_a_loop(container: &Container) -> Result<Fix, String> {
    let words = script::words(container, Stage::Init);
    let operations = match words.as_slice() {
        [shell, flag, script]
            if is_shell(shell) && flag.text.starts_with('-') && flag.text.ends_with('c') =>
        {
            vec![of_script(script)?]
        }
        plain if !container.command.is_empty() => of_words(container, plain)?,
        _ => {
            return Err("the command is the image's own, to which nothing can be added".to_owned());
        }
    };
    Ok(Fix {
        costs: Some(format!("up to {TRIES} s before the pod fails")),
        ..Fix::new(
            FixSafety::Safe,
            format!("try up to {TRIES} times, a second apart"),
            operations,
        )
    })
}

fn is_shell(word: &Written<'_>) -> bool {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "ash" | "dash")
}

fn looped(check: &str) -> String {
    format!("for i in $(seq {TRIES}); do {check} && exit 0; sleep 1; done; exit 1")
}

/// One simple command or pipeline can be repeated as it stands.
fn of_script(written: &Written<'_>) -> Result<Operation, String> {
    let text = written.text.trim();
    let tree = parse(text);
    let refused = || Err("the script does more than the check".to_owned());
    let [list] = tree.lists.as_slice() else {
        return refused();
    };
    let simple = list
        .first
        .commands
        .iter()
        .all(|command| match &command.form {
            Form::Simple { words, .. } => !words.is_empty(),
            Form::Group(_)
            | Form::Subshell(_)
            | Form::If { .. }
            | Form::Loop { .. }
            | Form::For { .. }
            | Form::Count { .. }
            | Form::Case { .. }
            | Form::Function { .. }
            | Form::Arithmetic(_)
            | Form::Opaque(_) => false,
        });
    let ends_itself = text.starts_with("exec ") || text.contains('\n') || text.ends_with(';');
    if !simple || !list.rest.is_empty() || list.is_background || ends_itself {
        return refused();
    }
    Ok(Operation::Replace {
        at: written.at.clone(),
        value: Value::from(looped(text)),
    })
}

/// Words without a shell: the shell of a small image runs them.
fn of_words(container: &Container, words: &[Written<'_>]) -> Result<Vec<Operation>, String> {
    let image = container.image.as_deref().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let name = last.split([':', '@']).next().unwrap_or_default();
    if !matches!(
        name,
        "busybox" | "alpine" | "curl" | "postgres" | "mysql" | "redis" | "debian" | "ubuntu"
    ) {
        return Err(format!(
            "whether the image of `{}` has a shell is not known",
            container.name
        ));
    }
    if !words.iter().all(|word| is_plain(word.text)) {
        return Err("a word of the command would need quotes in a script".to_owned());
    }
    let line: Vec<&str> = words.iter().map(|word| word.text).collect();
    let mut operations = vec![Operation::Replace {
        at: container.at.key("command"),
        value: json!(["sh", "-c", looped(&line.join(" "))]),
    }];
    if !container.args.is_empty() {
        operations.push(Operation::Remove {
            at: container.at.key("args"),
        });
    }
    Ok(operations)
}

fn is_plain(word: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    !word.is_empty() && word.chars().all(fits)
}
