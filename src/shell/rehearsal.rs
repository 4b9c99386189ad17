//! A walk through a script with a clock of its own: nothing runs, the caller answers what each
//! command would do, and what is kept is what was asked when, in which loop, and how it ended.

use super::script::{Command, Script};
use super::trace::{Arg, Asked, Background, End, LoopRun, Place, Reply, Request, Run, Scope};
use super::value::{Status, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How many commands one walk may take: enough for an hour of rounds of a second.
pub const MAX_STEPS: usize = 20_000;

/// How deep commands, functions and scripts may be nested in a walk.
const MAX_DEPTH: usize = 80;

/// What is known around a script.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The value of an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Whether an environment variable may be set, to a value that nobody knows.
    pub may_be_set: &'a dyn Fn(&str) -> bool,
    /// The text of a script by its path.
    pub file: &'a dyn Fn(&str) -> Option<String>,
}

/// Where a walk goes on after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break(usize),
    Continue(usize),
    Return,
    Exit,
    /// It never ends.
    Stuck,
    TooLong,
    /// The time of the `timeout` with this number is over.
    TimedOut(usize),
}

impl Flow {
    /// Whether it goes through a subshell or a substitution to what is around it.
    pub(super) fn passes_subshell(self) -> bool {
        match self {
            Flow::Stuck | Flow::TooLong | Flow::TimedOut(_) => true,
            Flow::Next | Flow::Break(_) | Flow::Continue(_) | Flow::Return | Flow::Exit => false,
        }
    }
}

/// Scripts that were read already, so that a loop does not read its inner script again.
#[derive(Debug, Default)]
pub struct Library(BTreeMap<String, (usize, Arc<Script>)>);

impl Library {
    pub(super) fn read(&mut self, text: &str) -> (usize, Arc<Script>) {
        if let Some(found) = self.0.get(text) {
            return found.clone();
        }
        let entry = (self.0.len() + 1, Arc::new(super::parse(text)));
        self.0.insert(text.to_owned(), entry.clone());
        entry
    }
}

/// Answers what a command would do.
pub type Respond<'a> = &'a mut dyn FnMut(&Request<'_>, &Place, Scope<'_>) -> Reply;

/// A walk on its way.
pub struct Rehearsal<'a> {
    pub(super) surroundings: Surroundings<'a>,
    respond: Respond<'a>,
    pub(super) library: &'a mut Library,
    /// Shared with the subshells around until one of them sets something.
    pub(super) variables: Arc<BTreeMap<String, Value>>,
    /// Something that nobody can read may have set variables.
    pub(super) has_unknown_variables: bool,
    pub(super) functions: BTreeMap<String, Arc<Command>>,
    /// `$0`, when it is known.
    pub(super) script_name: Option<Value>,
    /// `$1` and so on.
    pub(super) arguments: Vec<Value>,
    pub(super) clock: Duration,
    /// `SECONDS` counts from here.
    pub(super) seconds_from: Duration,
    /// The ends of the `timeout`s around; none for one whose time is not known.
    pub(super) deadlines: Vec<Option<Duration>>,
    pub(super) status: Status,
    pub(super) exits_on_error: bool,
    pub(super) pipe_fails: bool,
    /// In conditions, where a failure does not end the script.
    pub(super) conditions: usize,
    pub(super) captures: Vec<Value>,
    pub(super) input: Option<Value>,
    pub(super) pending: Option<Flow>,
    pub(super) place: Place,
    pub(super) script: usize,
    pub(super) current_loop: Option<usize>,
    pub(super) depth: usize,
    max_steps: usize,
    /// Counts what changes in the script's world: a round without change is the same again.
    pub(super) changes: usize,
    pub(super) time_reads: usize,
    pub(super) numbers_compared: usize,
    pub(super) written: BTreeSet<String>,
    /// When the last background command ends; none when one never does.
    pub(super) jobs: Option<Duration>,
    pub(super) run: Run,
}

impl<'a> Rehearsal<'a> {
    /// A walk that has not begun, of at most so many steps and never more than [`MAX_STEPS`].
    pub fn new(
        surroundings: Surroundings<'a>,
        max_steps: usize,
        library: &'a mut Library,
        respond: Respond<'a>,
    ) -> Rehearsal<'a> {
        Rehearsal {
            surroundings,
            respond,
            library,
            variables: Arc::default(),
            has_unknown_variables: false,
            functions: BTreeMap::new(),
            script_name: None,
            arguments: Vec::new(),
            clock: Duration::ZERO,
            seconds_from: Duration::ZERO,
            deadlines: Vec::new(),
            status: Status::OK,
            exits_on_error: false,
            pipe_fails: false,
            conditions: 0,
            captures: Vec::new(),
            input: None,
            pending: None,
            place: Place {
                loops: 0,
                background: Background::No,
                is_detached: false,
                piped_into: String::new(),
            },
            script: 0,
            current_loop: None,
            depth: 0,
            max_steps: max_steps.min(MAX_STEPS),
            changes: 0,
            time_reads: 0,
            numbers_compared: 0,
            written: BTreeSet::new(),
            jobs: Some(Duration::ZERO),
            run: Run {
                asked: Vec::new(),
                loops: Vec::new(),
                end: End::TooLong,
                took: Duration::ZERO,
                slept: Duration::ZERO,
                has_unknown_time: false,
                joins: false,
                steps: 0,
            },
        }
    }

    /// Walks through a command given as separate words, with no shell around it.
    pub fn command(mut self, words: &[Arg]) -> Run {
        let flow = self.call(words);
        self.run.end = match flow {
            Flow::Stuck => End::Endless,
            Flow::TooLong => End::TooLong,
            Flow::Next
            | Flow::Break(_)
            | Flow::Continue(_)
            | Flow::Return
            | Flow::Exit
            | Flow::TimedOut(_) => End::Finished(self.status),
        };
        self.run.took = self.clock;
        self.run
    }

    /// Asks the caller, and keeps the checks that it names.
    pub(super) fn ask(&mut self, request: &Request<'_>) -> Status {
        let (reply, _) = self.ask_in_full(request);
        reply.status
    }

    /// As [`Self::ask`], with the whole answer and where the walk goes on.
    pub(super) fn ask_in_full(&mut self, request: &Request<'_>) -> (Reply, Flow) {
        if let Request::FileTest { path } = request
            && self.written.contains(&path.value.text)
        {
            return (Reply::of(Status::OK), Flow::Next);
        }
        let scope = Scope {
            variables: &self.variables,
            is_open: self.has_unknown_variables,
        };
        let reply = (self.respond)(request, &self.place, scope);
        let from = self.clock;
        let flow = match reply.takes {
            Some(time) => self.advance(time),
            None => self.forever(),
        };
        for check in &reply.checks {
            self.run.asked.push(Asked {
                check: *check,
                from,
                until: self.clock,
                in_loop: self.current_loop,
                place: self.place.clone(),
            });
        }
        (reply, flow)
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, time: Duration) -> Flow {
        self.clock = self.clock.saturating_add(time);
        match self.first_deadline() {
            Some((number, end)) if end < self.clock => {
                self.clock = end;
                Flow::TimedOut(number)
            }
            _ => Flow::Next,
        }
    }

    /// Something never ends: a `timeout` around it ends it, if there is one.
    pub(super) fn forever(&mut self) -> Flow {
        if let Some((number, end)) = self.first_deadline() {
            self.clock = self.clock.max(end);
            return Flow::TimedOut(number);
        }
        match self.deadlines.iter().rposition(Option::is_none) {
            Some(number) => {
                self.run.has_unknown_time = true;
                Flow::TimedOut(number)
            }
            None => Flow::Stuck,
        }
    }

    fn first_deadline(&self) -> Option<(usize, Duration)> {
        let known = self.deadlines.iter().enumerate();
        known
            .filter_map(|(number, end)| Some((number, (*end)?)))
            .min_by_key(|(_, end)| *end)
    }

    /// Counts a step; false when there were too many.
    pub(super) fn step(&mut self) -> bool {
        self.run.steps += 1;
        self.run.steps <= self.max_steps
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.depth >= MAX_DEPTH
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        if name == "SECONDS" {
            let offset = value.number().and_then(|number| u64::try_from(number).ok());
            self.seconds_from = self
                .clock
                .saturating_sub(Duration::from_secs(offset.unwrap_or(0)));
            return;
        }
        if self.variables.get(name) != Some(&value) {
            self.changes += 1;
            Arc::make_mut(&mut self.variables).insert(name.to_owned(), value);
        }
    }

    /// Notes that the script makes a file.
    pub(super) fn write(&mut self, path: &str) {
        if self.written.insert(path.to_owned()) {
            self.changes += 1;
        }
    }

    /// Notes that numbers were compared since then, and that what was found decides whether the
    /// loops around are left.
    pub(super) fn note_number_test(&mut self, compared_before: usize) {
        if self.numbers_compared != compared_before {
            self.for_loops_around(|run| run.has_number_test = true);
        }
    }

    /// Notes that the loops around may be left for a reason that nobody knows.
    pub(super) fn note_unsure(&mut self) {
        self.for_loops_around(|run| run.is_unsure = true);
    }

    fn for_loops_around(&mut self, note: impl Fn(&mut LoopRun)) {
        let mut number = self.current_loop;
        while let Some(run) = number.and_then(|number| self.run.loops.get_mut(number)) {
            note(run);
            number = run.outer;
        }
    }

    /// Prints something to whoever reads the output.
    pub(super) fn print(&mut self, value: &Value) {
        if let Some(capture) = self.captures.last_mut() {
            if !capture.text.is_empty() {
                capture.push(&Value::known("\n"));
            }
            capture.push(value);
        }
    }
}
