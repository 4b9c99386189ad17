//! Changes inside the scripts of containers and hooks.

use crate::graph::Stage;
use crate::manifest::FieldPath;
use crate::manifest::edit::Operation;
use crate::pod::{Action, Container};
use serde_json::Value;

/// A word of a command as it is written, with its field.
#[derive(Clone, Debug)]
pub struct Written<'c> {
    /// The word.
    pub text: &'c str,
    /// Its field.
    pub at: FieldPath,
}

/// The words that run in a stage: `command` and `args`, or those of the postStart hook.
pub fn words(container: &Container, stage: Stage) -> Vec<Written<'_>> {
    let lists: Vec<(FieldPath, &[String])> = match (stage, &container.post_start) {
        (Stage::Hook, Some(Action::Exec { command })) => {
            let at = container
                .at
                .keys(&["lifecycle", "postStart", "exec", "command"]);
            vec![(at, command.as_slice())]
        }
        (Stage::Hook, _) => Vec::new(),
        (Stage::Init | Stage::Command, _) => vec![
            (container.at.key("command"), container.command.as_slice()),
            (container.at.key("args"), container.args.as_slice()),
        ],
    };
    let all = lists.into_iter().flat_map(|(at, list)| {
        let numbered = list.iter().enumerate();
        numbered.map(move |(index, text)| Written {
            text,
            at: at.index(index),
        })
    });
    all.collect()
}

/// Replaces a piece that stands exactly once in the words.
pub fn replace(
    container: &Container,
    stage: Stage,
    from: &str,
    to: &str,
) -> Result<Operation, String> {
    let words = words(container, stage);
    let mut holders = words.iter().filter(|word| word.text.contains(from));
    let (Some(holder), None) = (holders.next(), holders.next()) else {
        return Err(format!(
            "`{from}` does not stand in the command as one piece"
        ));
    };
    if holder.text.matches(from).count() > 1 {
        return Err(format!("`{from}` stands in the script more than once"));
    }
    Ok(Operation::Replace {
        at: holder.at.clone(),
        value: Value::from(holder.text.replace(from, to)),
    })
}
