//! What a walk through a script asks, and what it met.

use super::script::RedirectionKind;
use super::value::{Status, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A word of a command that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its value.
    pub value: Value,
    /// Its text in the script.
    pub source: Arc<str>,
    /// Where it begins in its script, in bytes; none for words that no script holds.
    pub at: Option<usize>,
}

/// What a walk asks of the caller.
#[derive(Debug)]
pub enum Request<'r> {
    /// A command that is neither built in nor a function of the script.
    Command {
        /// Its words.
        words: &'r [Arg],
        /// What it reads from a pipe or a here-document.
        input: Option<&'r Value>,
    },
    /// `[ -f PATH ]` and its kin.
    FileTest {
        /// The path.
        path: &'r Arg,
    },
    /// A redirection.
    File {
        /// Which way.
        kind: RedirectionKind,
        /// The path.
        path: &'r Arg,
    },
}

/// The variables that a script has set when it calls a command.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'r> {
    pub(super) variables: &'r BTreeMap<String, Value>,
    /// A script that nobody can read was sourced before: it may have set any other.
    pub is_open: bool,
}

impl<'r> Scope<'r> {
    /// The value that the script has given a variable.
    pub fn get(&self, name: &str) -> Option<&'r Value> {
        self.variables.get(name)
    }
}

/// What a command would do.
#[derive(Clone, Debug)]
pub struct Reply {
    /// How it ends.
    pub status: Status,
    /// What it prints.
    pub output: Value,
    /// How long it takes; none when it never ends.
    pub takes: Option<Duration>,
    /// The caller's numbers of the checks that it makes.
    pub checks: Vec<usize>,
    /// The word at which the command begins that it runs in its own place afterwards.
    pub then: Option<usize>,
}

impl Reply {
    /// A command that ends at once in this way and checks nothing.
    pub fn of(status: Status) -> Reply {
        Reply {
            status,
            output: Value::unknown(""),
            takes: Some(Duration::ZERO),
            checks: Vec::new(),
            then: None,
        }
    }
}

/// Whether the script waits for what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Background {
    /// It does.
    No,
    /// After `&`, with the script's own output.
    Bare,
    /// After `&`, with its output sent elsewhere.
    Redirected,
}

/// Where in a script something runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// How many loops are around it.
    pub loops: usize,
    /// Whether the script waits for it.
    pub background: Background,
    /// `nohup` or `setsid` stands before it.
    pub is_detached: bool,
    /// The text of the commands that read its output.
    pub piped_into: String,
}

/// A check that a walk met.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The caller's number.
    pub check: usize,
    /// When it began.
    pub from: Duration,
    /// When it ended.
    pub until: Duration,
    /// The innermost loop around it, as a place in [`Run::loops`].
    pub in_loop: Option<usize>,
    /// Where.
    pub place: Place,
}

/// One run of a loop.
#[derive(Clone, Debug)]
pub struct LoopRun {
    /// Tells one loop of the text from another.
    pub key: (usize, usize),
    /// The loop around it.
    pub outer: Option<usize>,
    /// When it was left; none when it never was.
    pub left: Option<Duration>,
    /// Its rounds are all the same: what ended it, if anything, came from outside.
    pub is_endless: bool,
    /// It was left, or may be left, by a condition that nobody knows.
    pub is_unsure: bool,
    /// Numbers that are compared decide whether it is left, as in loops with a counter.
    pub has_number_test: bool,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The script came to its end with this status.
    Finished(Status),
    /// It never ends.
    Endless,
    /// It was too long to follow.
    TooLong,
}

/// What a walk met.
#[derive(Clone, Debug)]
pub struct Run {
    /// The checks in order.
    pub asked: Vec<Asked>,
    /// The loops in the order in which they began.
    pub loops: Vec<LoopRun>,
    /// How it ended.
    pub end: End,
    /// How long it took.
    pub took: Duration,
    /// How long it slept.
    pub slept: Duration,
    /// A time on the way is not known.
    pub has_unknown_time: bool,
    /// `wait` was called: what runs in the background holds the script after all.
    pub joins: bool,
    /// How many steps it took.
    pub steps: usize,
}
