//! An endless wait gets a bound: the loop counts its rounds and gives up.

use super::script;
use crate::finding::{Fix, FixSafety};
use crate::graph::Waiting;
use crate::manifest::edit::Operation;
use crate::pod::Container;
use crate::shell::script::{Command, Form, Script, Word};
use crate::shell::{duration, parse};
use serde_json::Value;

/// How long a bounded wait goes on, in seconds.
const LIMIT: u64 = 300;

/// Ends the loop around a wait after about five minutes; the error says why that cannot be written.
pub fn limit_loop(container: &Container, waiting: &Waiting<'_>) -> Result<Fix, String> {
    let words = script::words(container, waiting.stage);
    let holds = |text: &str| text.contains(&waiting.wait.words) && text.contains("do");
    let unknown = || "the loop does not stand in the command itself".to_owned();
    let written = words
        .iter()
        .find(|word| holds(word.text))
        .ok_or_else(unknown)?;
    let tree = parse(written.text);
    let found = loop_with(&tree, written.text, &waiting.wait.words).ok_or_else(unknown)?;
    let pause = found.pause.clamp(1, LIMIT);
    let rounds = LIMIT / pause;
    if written.text.contains("tries") {
        return Err("the script uses the name `tries` itself".to_owned());
    }
    let guard = format!("[ $((tries+=1)) -le {rounds} ] || exit 1; ");
    let mut text = written.text.to_owned();
    text.insert_str(found.body_at, &guard);
    Ok(Fix {
        costs: Some(format!(
            "after {} s without an answer the init container fails, and is run again",
            rounds * pause
        )),
        ..Fix::new(
            FixSafety::Safe,
            format!("give up after {} s", rounds * pause),
            vec![Operation::Replace {
                at: written.at.clone(),
                value: Value::from(text),
            }],
        )
    })
}

/// Where the body of a loop begins, and how long a round sleeps.
struct FoundLoop {
    body_at: usize,
    pause: u64,
}

/// The innermost `while` or `until` loop in whose text some words stand.
fn loop_with(script: &Script, text: &str, words: &str) -> Option<FoundLoop> {
    let commands: Vec<&Command> = commands(script);
    let mut found = None;
    for (number, command) in commands.iter().enumerate() {
        let end = commands.get(number + 1).map_or(text.len(), |next| next.at);
        let holds = text
            .get(command.at..end)
            .is_some_and(|part| part.contains(words));
        match &command.form {
            Form::Loop { body, .. } if holds => {
                let body_at = body.lists.first()?.first.commands.first()?.at;
                found = Some(FoundLoop {
                    body_at,
                    pause: pause(body),
                });
            }
            Form::Loop { .. }
            | Form::Simple { .. }
            | Form::Group(_)
            | Form::Subshell(_)
            | Form::If { .. }
            | Form::For { .. }
            | Form::Count { .. }
            | Form::Case { .. }
            | Form::Function { .. }
            | Form::Arithmetic(_)
            | Form::Opaque(_) => {}
        }
    }
    found
}

/// The commands of the outermost level, in order.
fn commands(script: &Script) -> Vec<&Command> {
    let lists = script.lists.iter();
    let pipelines = lists.flat_map(|list| {
        std::iter::once(&list.first).chain(list.rest.iter().map(|(_, pipeline)| pipeline))
    });
    pipelines.flat_map(|pipeline| &pipeline.commands).collect()
}

/// The seconds that a round of a loop sleeps.
fn pause(body: &Script) -> u64 {
    let sleeps = commands(body)
        .into_iter()
        .filter_map(|command| match &command.form {
            Form::Simple { words, .. } => seconds(words),
            Form::Loop { .. }
            | Form::Group(_)
            | Form::Subshell(_)
            | Form::If { .. }
            | Form::For { .. }
            | Form::Count { .. }
            | Form::Case { .. }
            | Form::Function { .. }
            | Form::Arithmetic(_)
            | Form::Opaque(_) => None,
        });
    sleeps.sum()
}

fn seconds(words: &[Word]) -> Option<u64> {
    let [name, time] = words else { return None };
    let is_sleep = name.literal().as_deref() == Some("sleep");
    let time = duration(&time.literal()?)?;
    is_sleep.then_some(time.as_secs())
}
