//! Commands that run another command, and the choice of what runs.

use super::cursor::is_name;
use super::rehearsal::{Flow, Rehearsal};
use super::trace::{Arg, Request};
use super::value::{Knowledge, Status, Value};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The time that a word such as `10`, `0.5` or `2m` stands for, as `sleep` reads it.
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => match text.chars().last()? {
            's' => (&text[..text.len() - 1], 1.0),
            'm' => (&text[..text.len() - 1], 60.0),
            'h' => (&text[..text.len() - 1], 3600.0),
            'd' => (&text[..text.len() - 1], 86400.0),
            _ => (text, 1.0),
        },
    };
    let is_plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if number.is_empty() || !is_plain {
        return compound_duration(text);
    }
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

/// The time that a word such as `1m30s` stands for.
fn compound_duration(text: &str) -> Option<Duration> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let rest = text[end..].trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let head = &text[..text.len() - rest.len()];
    if rest.is_empty()
        || rest.len() >= text.len()
        || !head.starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    duration(head)?.checked_add(duration(rest)?)
}

/// How many words the options at the start take; `with_value` are those with a word of their own.
fn options(words: &[Arg], with_value: &[&str]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        let text = word.value.text.as_str();
        if text == "--" {
            return count + 1;
        }
        if !text.starts_with('-') || text == "-" {
            return count;
        }
        count += 1 + usize::from(with_value.contains(&text));
    }
    words.len()
}

const SHELLS: [&str; 7] = ["sh", "bash", "ash", "dash", "ksh", "zsh", "mksh"];

impl Rehearsal<'_> {
    /// Walks into a command by its words.
    pub(super) fn call(&mut self, words: &[Arg]) -> Flow {
        if !self.step() {
            return Flow::TooLong;
        }
        if self.is_too_deep() {
            self.status = Status::Unknown;
            return Flow::Next;
        }
        self.depth += 1;
        let flow = self.dispatch(words);
        self.depth -= 1;
        flow
    }

    fn dispatch(&mut self, words: &[Arg]) -> Flow {
        let Some(first) = words.first() else {
            self.status = Status::OK;
            return Flow::Next;
        };
        if first.value.knowledge != Knowledge::Known && first.value.text.is_empty() {
            self.status = Status::Unknown;
            return Flow::Next;
        }
        if let Some(body) = self.functions.get(&first.value.text).cloned() {
            return self.function(&body, &words[1..]);
        }
        let name = base_name(&first.value.text).to_owned();
        if SHELLS.contains(&name.as_str()) {
            return self.inner_shell(words);
        }
        if let Some(rest) = wrapped(&name, &words[1..]) {
            return self.call(rest);
        }
        match name.as_str() {
            "busybox" if words.len() > 1 => self.call(&words[1..]),
            "timeout" | "gtimeout" => self.timeout(words),
            "env" => self.with_env(&words[1..]),
            "nohup" | "setsid" => self.detached(&words[1..]),
            "exec" => self.replaced(&words[1..]),
            _ => match self.builtin(&name, words) {
                Some(flow) => flow,
                None => self.external(words),
            },
        }
    }

    fn function(&mut self, body: &super::script::Command, arguments: &[Arg]) -> Flow {
        let arguments = arguments.iter().map(|arg| arg.value.clone()).collect();
        let outer = mem::replace(&mut self.arguments, arguments);
        self.status = Status::OK;
        let flow = self.command_at(body);
        self.arguments = outer;
        match flow {
            Flow::Return => Flow::Next,
            flow => flow,
        }
    }

    /// `sh -c SCRIPT`, `sh FILE`.
    fn inner_shell(&mut self, words: &[Arg]) -> Flow {
        let mut exits_on_error = false;
        let mut has_script = false;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.value.text.as_str();
            let Some(letters) = text.strip_prefix(['-', '+']) else {
                break;
            };
            at += 1;
            if text == "-" || text == "--" {
                break;
            }
            if !letters.starts_with('-') {
                exits_on_error |= letters.contains('e') && text.starts_with('-');
                has_script |= letters.contains('c') && text.starts_with('-');
                at += usize::from(letters.ends_with('o'));
            }
        }
        let Some(script) = words.get(at) else {
            return self.external(words);
        };
        let text = if has_script {
            Some(script.value.text.clone())
        } else {
            (self.surroundings.file)(&script.value.text)
        };
        let Some(text) = text else {
            return self.external(words);
        };
        // With `-c` the first word after the script is `$0`.
        let from = at + 1 + usize::from(has_script);
        let name = words.get(from - 1).map(|arg| arg.value.clone());
        let outer = mem::replace(&mut self.script_name, name);
        let flow = self.run_text(&text, words.get(from..).unwrap_or_default(), exits_on_error);
        self.script_name = outer;
        flow
    }

    /// Walks through another script, as a process of its own.
    pub(super) fn run_text(&mut self, text: &str, arguments: &[Arg], exits_on_error: bool) -> Flow {
        let (number, script) = self.library.read(text);
        let arguments = arguments.iter().map(|arg| arg.value.clone()).collect();
        let outer = (
            mem::replace(&mut self.script, number),
            mem::replace(&mut self.arguments, arguments),
            mem::replace(&mut self.exits_on_error, exits_on_error),
            mem::take(&mut self.conditions),
            mem::take(&mut self.pipe_fails),
            Arc::clone(&self.variables),
            self.functions.clone(),
        );
        self.status = Status::OK;
        let flow = self.script(&script);
        (
            self.script,
            self.arguments,
            self.exits_on_error,
            self.conditions,
            self.pipe_fails,
            self.variables,
            self.functions,
        ) = outer;
        if flow.passes_subshell() {
            flow
        } else {
            Flow::Next
        }
    }

    /// `timeout [OPTIONS] TIME COMMAND…`
    fn timeout(&mut self, words: &[Arg]) -> Flow {
        let mut at = 1 + options(&words[1..], &["-s", "-k", "--signal", "--kill-after"]);
        // The old busybox form has its time after `-t`, which counts as an option without a value.
        let Some(time) = words.get(at) else {
            return Flow::Next;
        };
        let time = time.value.as_known().and_then(duration);
        at += 1;
        // Zero is no limit.
        if time == Some(Duration::ZERO) {
            return self.call(words.get(at..).unwrap_or_default());
        }
        self.deadlines
            .push(time.map(|time| self.clock.saturating_add(time)));
        let mine = self.deadlines.len() - 1;
        let flow = self.call(words.get(at..).unwrap_or_default());
        self.deadlines.truncate(mine);
        match flow {
            Flow::TimedOut(number) if number == mine => {
                self.status = Status::Known(124);
                Flow::Next
            }
            flow => flow,
        }
    }

    /// `env NAME=VALUE… COMMAND…`
    fn with_env(&mut self, words: &[Arg]) -> Flow {
        let mut at = options(words, &["-u", "--unset", "-C", "--chdir"]);
        while let Some((name, value)) = words.get(at).and_then(assigned) {
            self.set(&name, value);
            at += 1;
        }
        self.call(words.get(at..).unwrap_or_default())
    }

    fn detached(&mut self, words: &[Arg]) -> Flow {
        let outer = mem::replace(&mut self.place.is_detached, true);
        let flow = self.call(&words[options(words, &[])..]);
        self.place.is_detached = outer;
        flow
    }

    /// `exec COMMAND…`, which nothing follows.
    fn replaced(&mut self, words: &[Arg]) -> Flow {
        let words = &words[options(words, &["-a"])..];
        if words.is_empty() {
            self.status = Status::OK;
            return Flow::Next;
        }
        match self.call(words) {
            Flow::Next => Flow::Exit,
            flow => flow,
        }
    }

    /// A command that the caller knows, or nobody.
    pub(super) fn external(&mut self, words: &[Arg]) -> Flow {
        let path = &words[0].value.text;
        if path.contains('/')
            && let Some(text) = (self.surroundings.file)(path)
        {
            return self.run_text(&text, &words[1..], false);
        }
        let input = self.input.take();
        let (reply, flow) = self.ask_in_full(&Request::Command {
            words,
            input: input.as_ref(),
        });
        self.input = input;
        self.status = reply.status;
        self.print(&reply.output);
        if flow != Flow::Next {
            return flow;
        }
        match reply.then.and_then(|at| words.get(at..)) {
            Some(rest) if !rest.is_empty() => self.call(rest),
            _ => Flow::Next,
        }
    }
}

/// The name and value in a word `NAME=VALUE`.
pub(super) fn assigned(arg: &Arg) -> Option<(String, Value)> {
    let (name, text) = arg.value.text.split_once('=')?;
    is_name(name).then(|| {
        let value = Value {
            text: text.to_owned(),
            knowledge: arg.value.knowledge,
        };
        (name.to_owned(), value)
    })
}

/// The command that a plain wrapper runs.
fn wrapped<'w>(name: &str, words: &'w [Arg]) -> Option<&'w [Arg]> {
    let skipped = match name {
        "nice" | "ionice" | "chrt" => options(words, &["-n", "-c", "-p"]),
        "stdbuf" => options(words, &["-i", "-o", "-e"]),
        "sudo" => options(words, &["-u", "-g"]),
        "time" | "command" | "builtin" | "unbuffer" | "catchsegv" => options(words, &[]),
        "tini" | "dumb-init" | "catatonit" => options(words, &["-e", "-p", "-r", "--rewrite"]),
        "npx" | "bunx" => options(words, &["-p", "--package"]),
        "gosu" | "su-exec" => 1,
        _ => return None,
    };
    words.get(skipped..).filter(|rest| !rest.is_empty())
}
