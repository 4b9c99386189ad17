//! Commands whose meaning does not depend on the world outside the script.

use super::condition;
use super::rehearsal::{Flow, Rehearsal};
use super::trace::{Arg, Background};
use super::value::{Knowledge, Status, Value};
use super::wrapper::{assigned, base_name, duration};
use std::sync::Arc;
use std::time::Duration;

/// The seconds of the epoch at which the clock of a walk begins.
const EPOCH: u64 = 1_700_000_000;

/// Commands that pass on what they read.
const FILTERS: [&str; 20] = [
    "grep", "egrep", "fgrep", "jq", "yq", "awk", "sed", "cut", "tr", "head", "tail", "sort",
    "uniq", "wc", "tee", "cat", "xargs", "base64", "column", "od",
];

impl Rehearsal<'_> {
    /// Walks through a command that is built in; none when it is not.
    pub(super) fn builtin(&mut self, name: &str, words: &[Arg]) -> Option<Flow> {
        let arguments = words.get(1..).unwrap_or_default();
        let first = arguments.first();
        self.status = match name {
            "exit" => return Some(self.leave(first, Flow::Exit)),
            "return" => return Some(self.leave(first, Flow::Return)),
            "break" => return Some(self.jump(Flow::Break(levels(first)))),
            "continue" => return Some(self.jump(Flow::Continue(levels(first)))),
            "sleep" => return Some(self.sleep(arguments)),
            "wait" => return Some(self.join()),
            "eval" => return Some(self.eval(arguments)),
            "." | "source" => return self.source(first),
            ":" | "true" => Status::OK,
            "false" => Status::FAILED,
            "test" => Status::of(condition::holds(self, arguments)),
            "[" | "[[" => Status::of(condition::holds(self, without_bracket(arguments))),
            "echo" | "printf" => self.echo(arguments),
            "date" => self.date(arguments),
            "seq" => self.seq(arguments),
            "let" => {
                self.numbers_compared += 1;
                let value = arguments
                    .iter()
                    .fold(None, |_, argument| self.calculate(&argument.value.text));
                Status::of(value.map(|value| value != 0))
            }
            "expr" => self.expr(arguments),
            "export" | "local" | "readonly" | "declare" | "typeset" => {
                for (name, value) in arguments.iter().filter_map(assigned) {
                    self.set(&name, value);
                }
                Status::OK
            }
            "read" => self.read(arguments),
            "set" => self.options(arguments),
            "shift" => {
                let count = first.and_then(|arg| arg.value.number()).unwrap_or(1);
                let count = usize::try_from(count)
                    .unwrap_or(0)
                    .min(self.arguments.len());
                self.arguments.drain(..count);
                Status::OK
            }
            "unset" => self.unset(arguments),
            "trap" | "cd" | "umask" | "ulimit" | "hash" | "shopt" | "alias" | "pwd" => Status::OK,
            "type" | "which" | "getopts" => Status::Unknown,
            _ => return self.filter(name, arguments),
        };
        Some(Flow::Next)
    }

    fn unset(&mut self, arguments: &[Arg]) -> Status {
        for argument in arguments {
            let name = &argument.value.text;
            if self.variables.contains_key(name) {
                Arc::make_mut(&mut self.variables).remove(name);
                self.changes += 1;
            }
        }
        Status::OK
    }

    fn leave(&mut self, code: Option<&Arg>, flow: Flow) -> Flow {
        if let Some(code) = code {
            self.status = match code.value.number() {
                Some(number) => Status::Known(number.rem_euclid(256).try_into().unwrap_or(1)),
                None => Status::Unknown,
            };
        }
        flow
    }

    fn jump(&mut self, flow: Flow) -> Flow {
        self.status = Status::OK;
        flow
    }

    fn sleep(&mut self, arguments: &[Arg]) -> Flow {
        self.status = Status::OK;
        let is_waited = self.place.background == Background::No;
        let mut time = Duration::ZERO;
        for argument in arguments {
            let text = argument.value.text.as_str();
            if text.starts_with("inf") {
                if is_waited {
                    self.run.slept = Duration::MAX;
                }
                return self.forever();
            }
            let known = argument.value.as_known().and_then(duration);
            self.run.has_unknown_time |= known.is_none();
            time = time.saturating_add(known.unwrap_or(Duration::from_secs(1)));
        }
        if is_waited {
            self.run.slept = self.run.slept.saturating_add(time);
        }
        self.advance(time)
    }

    fn join(&mut self) -> Flow {
        self.run.joins = true;
        self.status = Status::OK;
        match self.jobs {
            Some(end) => self.advance(end.saturating_sub(self.clock)),
            None => self.forever(),
        }
    }

    fn eval(&mut self, arguments: &[Arg]) -> Flow {
        let mut text = Value::known("");
        for argument in arguments {
            text.push(&argument.value);
            text.push(&Value::known(" "));
        }
        if text.knowledge != Knowledge::Known {
            self.has_unknown_variables = true;
            self.status = Status::Unknown;
            return Flow::Next;
        }
        let (_, script) = self.library.read(&text.text);
        self.script(&script)
    }

    fn source(&mut self, path: Option<&Arg>) -> Option<Flow> {
        let Some(text) = (self.surroundings.file)(&path?.value.text) else {
            self.has_unknown_variables = true;
            return None;
        };
        let (_, script) = self.library.read(&text);
        Some(match self.script(&script) {
            Flow::Return => Flow::Next,
            flow => flow,
        })
    }

    fn echo(&mut self, arguments: &[Arg]) -> Status {
        let mut text = Value::known("");
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                text.push(&Value::known(" "));
            }
            text.push(&argument.value);
        }
        self.print(&text);
        Status::OK
    }

    /// The seconds of the epoch; every other form of a date is read by people.
    fn date(&mut self, arguments: &[Arg]) -> Status {
        if !arguments.iter().any(|arg| arg.value.text.contains("%s")) {
            self.print(&Value::unknown(""));
            return Status::OK;
        }
        self.time_reads += 1;
        let seconds = self.clock.as_secs().saturating_add(EPOCH);
        self.print(&Value::known(seconds.to_string()));
        Status::OK
    }

    fn seq(&mut self, arguments: &[Arg]) -> Status {
        let numbers: Option<Vec<i64>> = arguments.iter().map(|arg| arg.value.number()).collect();
        let text = match numbers.as_deref() {
            Some([to]) if *to <= 200 => Some((1..=*to).collect::<Vec<_>>()),
            Some([from, to]) if to.saturating_sub(*from) <= 200 => Some((*from..=*to).collect()),
            _ => None,
        };
        let value = text.map_or_else(
            || Value::unknown(""),
            |numbers| {
                let words: Vec<_> = numbers.iter().map(i64::to_string).collect();
                Value::known(words.join("\n"))
            },
        );
        self.print(&value);
        Status::OK
    }

    fn expr(&mut self, arguments: &[Arg]) -> Status {
        let words: Option<Vec<&str>> = arguments.iter().map(|arg| arg.value.as_known()).collect();
        let value = words.and_then(|words| self.calculate(&words.join(" ").replace(" = ", " == ")));
        let text = value.map_or_else(
            || Value::unknown(""),
            |number| Value::known(number.to_string()),
        );
        self.print(&text);
        // A result of zero counts as a failure.
        Status::of(value.map(|number| number != 0))
    }

    fn read(&mut self, arguments: &[Arg]) -> Status {
        for argument in arguments {
            let name = &argument.value.text;
            if !name.starts_with('-') {
                self.set(name, Value::unknown(format!("${name}")));
            }
        }
        Status::Unknown
    }

    fn options(&mut self, arguments: &[Arg]) -> Status {
        let mut words = arguments.iter().enumerate();
        while let Some((index, argument)) = words.next() {
            let text = argument.value.text.as_str();
            if text == "--" {
                let rest = arguments.get(index + 1..).unwrap_or_default();
                self.arguments = rest.iter().map(|arg| arg.value.clone()).collect();
                break;
            }
            let Some(letters) = text.strip_prefix(['-', '+']) else {
                break;
            };
            let turns_on = text.starts_with('-');
            if letters.contains('e') {
                self.exits_on_error = turns_on;
            }
            if letters.ends_with('o')
                && let Some((_, option)) = words.next()
            {
                match option.value.text.as_str() {
                    "pipefail" => self.pipe_fails = turns_on,
                    "errexit" => self.exits_on_error = turns_on,
                    _ => {}
                }
            }
        }
        Status::OK
    }

    /// A command that passes on what a check printed, or what nobody knows.
    fn filter(&mut self, name: &str, arguments: &[Arg]) -> Option<Flow> {
        let input = self.input.clone()?;
        let name = base_name(name);
        if !FILTERS.contains(&name) {
            return None;
        }
        let is_judge = name.ends_with("grep") || has_flag(arguments, 'e', "--exit-status", name);
        let is_reversed = is_judge
            && (has_flag(arguments, 'v', "--invert-match", "jq")
                || arguments.iter().any(|argument| {
                    let text = &argument.value.text;
                    !text.starts_with('-') && text.len() > 1 && condition::is_negative(text)
                }));
        match input.knowledge {
            Knowledge::Answer(good) => {
                let holds = good != is_reversed;
                self.status = Status::of(Some(holds || !is_judge));
                self.print(&Value::answer(good));
            }
            Knowledge::Known | Knowledge::Unknown => {
                self.status = if is_judge {
                    Status::Unknown
                } else {
                    Status::OK
                };
                self.print(&Value::unknown(""));
            }
        }
        Some(Flow::Next)
    }
}

/// Whether a flag is among the arguments of `jq` by its letter, or of any command by its name.
fn has_flag(arguments: &[Arg], letter: char, long: &str, name: &str) -> bool {
    arguments.iter().any(|argument| {
        let text = argument.value.text.as_str();
        let is_short = text.starts_with('-') && !text.starts_with("--") && text.contains(letter);
        text == long || (is_short && name == "jq")
    })
}

fn levels(word: Option<&Arg>) -> usize {
    let number = word.and_then(|arg| arg.value.number());
    number
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or(1)
}

fn without_bracket(words: &[Arg]) -> &[Arg] {
    match words.split_last() {
        Some((last, rest)) if last.value.text == "]" || last.value.text == "]]" => rest,
        _ => words,
    }
}
