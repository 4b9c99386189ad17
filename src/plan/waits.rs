//! Waits recognised in the commands of containers and hooks.

use super::addresses::Target;
use super::bounds::{AtBound, Bound, bound_of, breaks_on_first_failure};
use super::files;
use super::tools::{Check, Kind, Retry};
use super::worlds::{Call, MAX_CHECKS, Worlds};
use crate::shell::{Arg, Background, End, Run, Status, Surroundings, Value};
use std::sync::Arc;
use std::time::Duration;

/// What a check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It asks whether something is there.
    Asks,
    /// It does its work with what is there, as a client does.
    Uses,
}

/// A check that a command makes, once or until it succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What has to be there.
    pub target: Target,
    /// The tool that checks, such as `curl`, `nc` or `test`.
    pub tool: String,
    /// The words of the source to mark: `host:port` or the host, a path, or the command's name.
    pub words: String,
    /// What it is for.
    pub purpose: Purpose,
    /// It is tried again until it succeeds; a single try is no wait.
    pub repeats: bool,
    /// How long it goes on when nothing comes. For a single try: what one failure does.
    pub bound: Bound,
    /// Whether the command waits for it at all.
    pub background: Background,
    /// `nohup` or `setsid` stands before it.
    pub is_detached: bool,
    /// Something else would end it as well: `until nc -z a 80 || nc -z b 80`.
    pub has_alternative: bool,
}

/// What a command does, as far as it can be read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What it waits for, in order.
    pub waits: Vec<Wait>,
    /// What it asks or uses once.
    pub tries: Vec<Wait>,
    /// The tries of a loop that ends at the first failure instead of the first success.
    pub broken_loops: Vec<Wait>,
    /// Files that it reads at once, without waiting for them.
    pub reads: Vec<String>,
    /// Files and folders that it makes or changes.
    pub writes: Vec<String>,
    /// Those of them that get content: more than an empty folder or file.
    pub fills: Vec<String>,
    /// How long it sleeps when everything it checks is there.
    pub slept: Duration,
    /// A time that it sleeps is not known.
    pub has_unknown_sleep: bool,
    /// How it ends when everything it checks is there.
    pub end: End,
    /// It fails whatever it finds.
    pub is_certain_to_fail: bool,
    pub(super) calls: Vec<Call>,
    pub(super) is_empty: bool,
}

/// Reads a command by its words: `command` and `args` of a container, or the words of a hook.
///
/// The kubelet puts the values of `$(NAME)` in before it runs a container's words.
pub fn read(words: &[String], surroundings: Surroundings<'_>) -> Arc<Reading> {
    super::memory::read(words, surroundings)
}

pub(super) fn read_anew(words: &[String], surroundings: Surroundings<'_>) -> Reading {
    let args: Vec<Arg> = words.iter().map(|word| arg(word, surroundings)).collect();
    let mut worlds = Worlds::new(surroundings);
    let present = worlds.walk(&args, &|_, _| false);
    let missing = each_missing(&mut worlds, &args, &present);
    let mut reading = Reading {
        waits: Vec::new(),
        tries: Vec::new(),
        broken_loops: Vec::new(),
        reads: Vec::new(),
        writes: Vec::new(),
        fills: Vec::new(),
        slept: present.slept,
        has_unknown_sleep: present.has_unknown_time,
        end: present.end,
        is_certain_to_fail: fails(&present) && missing.iter().all(fails),
        calls: worlds.calls.iter().cloned().collect(),
        is_empty: words.is_empty(),
    };
    reading.note_checks(&mut worlds, &args, &present, &missing);
    reading.note_files(&worlds, present.end == End::Endless);
    reading
}

/// A walk for each check, in which what it looks for alone is missing.
fn each_missing(worlds: &mut Worlds<'_>, args: &[Arg], present: &Run) -> Vec<Run> {
    let mut missing: Vec<Run> = Vec::new();
    // A walk may meet checks that none before it met.
    while missing.len() < worlds.checks.len().min(MAX_CHECKS) {
        let number = missing.len();
        // Nothing changes when something is missing that nobody asks for.
        let is_asked = present.asked.iter().any(|asked| asked.check == number);
        missing.push(match is_asked {
            true => worlds.walk(args, &|check, _| check == number),
            false => present.clone(),
        });
    }
    missing
}

impl Reading {
    /// Which checks are waits, and which are single tries.
    fn note_checks(
        &mut self,
        worlds: &mut Worlds<'_>,
        args: &[Arg],
        present: &Run,
        missing: &[Run],
    ) {
        let asked_count = worlds.checks.iter().filter(|it| is_asked(it)).count();
        let mut nothing = None;
        for (number, alone) in missing.iter().enumerate() {
            let check = worlds.checks[number].clone();
            let wait = wait_of(number, &check, present, alone);
            if let Some(bound) = bound_of(present, alone, number, check.retry) {
                self.waits.extend(wait.map(|wait| Wait { bound, ..wait }));
                continue;
            }
            if asked_count > 1 && is_asked(&check) {
                let missing_all = || worlds.walk(args, &|_, check| is_asked(check));
                let nothing = nothing.get_or_insert_with(missing_all);
                let found = one_of_several(worlds, args, nothing, number, wait.as_ref());
                if let Some(found) = found {
                    self.waits.push(found);
                    continue;
                }
            }
            self.add_try(
                wait,
                &check,
                breaks_on_first_failure(present, alone, number),
            );
        }
    }

    /// Which files it reads, makes and fills; a file that it waits for is none that it reads.
    fn note_files(&mut self, worlds: &Worlds<'_>, is_endless: bool) {
        let is_waited = |path: &str| {
            let mut waits = self.waits.iter();
            waits
                .any(|wait| matches!(&wait.target, Target::File { path: waited } if waited == path))
        };
        let reads = files::reads(&worlds.calls, &worlds.opened, is_endless);
        self.reads = reads.into_iter().filter(|path| !is_waited(path)).collect();
        self.writes = files::writes(&worlds.calls, &worlds.opened);
        self.fills = files::fills(&worlds.calls, &worlds.opened);
    }
}

/// A wait for one of several things that would each do: it is only missed when all of them are
/// missing.
fn one_of_several(
    worlds: &mut Worlds<'_>,
    args: &[Arg],
    nothing: &Run,
    number: usize,
    wait: Option<&Wait>,
) -> Option<Wait> {
    if !is_repeated(nothing, number) {
        return None;
    }
    let check = worlds.checks[number].clone();
    let others = |other: usize, check: &Check| other != number && is_asked(check);
    let only_this = worlds.walk(args, &others);
    let bound = bound_of(&only_this, nothing, number, check.retry)?;
    let wait = wait
        .cloned()
        .or_else(|| wait_of(number, &check, &only_this, nothing))?;
    Some(Wait {
        bound,
        has_alternative: true,
        ..wait
    })
}

fn fails(run: &Run) -> bool {
    matches!(run.end, End::Finished(Status::Known(code)) if code != 0)
}

/// Whether a check can be missing in a world without anything.
fn is_asked(check: &Check) -> bool {
    check.kind != Kind::Other
}

fn is_repeated(run: &Run, number: usize) -> bool {
    run.asked
        .iter()
        .filter(|asked| asked.check == number)
        .count()
        > 1
        || run.end == End::Endless && run.asked.iter().any(|asked| asked.check == number)
}

/// A check as a single try; none when no walk met it.
fn wait_of(number: usize, check: &Check, present: &Run, missing: &Run) -> Option<Wait> {
    let mut tries = missing.asked.iter().chain(&present.asked);
    let place = &tries.find(|asked| asked.check == number)?.place;
    Some(Wait {
        target: check.target.clone(),
        tool: check.tool.clone(),
        words: check.words.clone(),
        purpose: match check.kind {
            Kind::Probe | Kind::File => Purpose::Asks,
            Kind::Client | Kind::Other => Purpose::Uses,
        },
        repeats: true,
        bound: one_failure(missing, check),
        background: if present.joins {
            Background::No
        } else {
            place.background
        },
        is_detached: place.is_detached,
        has_alternative: false,
    })
}

impl Reading {
    /// The commands that it calls, as they are written.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.calls
            .iter()
            .filter_map(|call| call.words.first().map(String::as_str))
    }

    /// Keeps a check of a server or a name that is no wait.
    fn add_try(&mut self, wait: Option<Wait>, check: &Check, breaks: bool) {
        let tries = match check.kind {
            Kind::File | Kind::Other => return,
            Kind::Probe if breaks => &mut self.broken_loops,
            Kind::Probe | Kind::Client => &mut self.tries,
        };
        tries.extend(wait.map(|wait| Wait {
            repeats: false,
            ..wait
        }));
    }
}

/// What one failure of a check does to the command.
fn one_failure(missing: &Run, check: &Check) -> Bound {
    let upper = match check.retry {
        Retry::Once(time) | Retry::For(time) => Some(time),
        Retry::Forever | Retry::Unknown => None,
    };
    let then = if fails(missing) {
        AtBound::Fails
    } else {
        AtBound::GoesOn
    };
    Bound::Bounded { upper, then }
}

/// A word of the manifest, with the environment's values in it.
fn arg(word: &str, surroundings: Surroundings<'_>) -> Arg {
    // A script keeps its `$(…)`: there they may be commands as well.
    let is_script = word.contains(char::is_whitespace);
    let text = if is_script || !word.contains("$(") {
        word.to_owned()
    } else {
        with_values(word, surroundings)
    };
    let value = if !is_script && text.contains("$(") {
        Value::unknown(text)
    } else {
        Value::known(text)
    };
    Arg {
        value,
        source: word.into(),
        at: None,
    }
}

fn with_values(word: &str, surroundings: Surroundings<'_>) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("$(") {
        text.push_str(before);
        let found = after
            .split_once(')')
            .and_then(|(name, behind)| Some(((surroundings.env)(name)?, behind)));
        match found {
            Some((value, behind)) => {
                text.push_str(&value);
                rest = behind;
            }
            None => {
                text.push_str("$(");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
