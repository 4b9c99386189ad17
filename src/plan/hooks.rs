//! What a postStart hook does to the containers after it.

use super::bounds::Bound;
use super::waits::{self, Purpose, Reading, Wait};
use super::worlds::{Call, PlaceOfCall};
use crate::pod::{Action, PortRef};
use crate::shell::{Background, End, Surroundings};
use std::time::Duration;

/// What a postStart hook does (S3: the kubelet tries it once and waits for its end, whatever it takes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// It waits until something is there.
    Waits {
        /// For what, in order.
        waits: Vec<Wait>,
        /// How long all of them take at most.
        bound: Bound,
    },
    /// It lets time pass and checks nothing.
    SleepsOnly {
        /// How long.
        duration: Duration,
        /// The words to mark.
        words: String,
    },
    /// It needs something at its first try, and fails without it.
    SingleTry {
        /// What it tries.
        tries: Vec<Wait>,
        /// How long it sleeps before or after.
        slept: Duration,
    },
    /// It looks like a wait and cannot hold anybody back.
    ReturnsEarly {
        /// Why.
        reason: EarlyReturn,
        /// What it checks; empty when its command cannot be read.
        checks: Vec<Wait>,
        /// The words to mark.
        words: String,
    },
    /// It is certain to fail.
    Fails {
        /// The words to mark.
        words: String,
    },
    /// It never ends, whatever it finds.
    NeverEnds {
        /// The words to mark.
        words: String,
    },
    /// One GET; every answer passes (S5).
    HttpGet {
        /// The host; none means the pod's address.
        host: Option<String>,
        /// The path.
        path: String,
        /// The port.
        port: PortRef,
        /// Over TLS.
        https: bool,
    },
    /// It always fails (S5).
    TcpSocket {
        /// The port.
        port: PortRef,
    },
    /// A command that cannot be read and has a word of waiting in it.
    MayWait {
        /// The words to mark.
        words: String,
    },
    /// A command that cannot be read and says nothing of waiting.
    NotUnderstood {
        /// The words to mark.
        words: String,
    },
    /// It does something else.
    NotAWait,
}

/// Why a wait does not hold anybody back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EarlyReturn {
    /// It runs in the background with its output sent elsewhere: the hook returns at once (42).
    BackgroundRedirected,
    /// It runs in the background with the hook's own output: containerd waits for it all the same (07).
    BackgroundBare,
    /// As [`Self::BackgroundBare`], behind `nohup` or `setsid`.
    Nohup,
    /// One try whose failure is thrown away.
    IgnoresFailure,
    /// The loop ends at the first failure instead of the first success.
    BreaksOnFirstFailure,
}

impl Hook {
    /// What it checks, whether it waits for that or not.
    pub fn asks(&self) -> &[Wait] {
        match self {
            Hook::Waits { waits, .. } => waits,
            Hook::SingleTry { tries, .. } => tries,
            Hook::ReturnsEarly { checks, .. } => checks,
            Hook::SleepsOnly { .. }
            | Hook::Fails { .. }
            | Hook::NeverEnds { .. }
            | Hook::HttpGet { .. }
            | Hook::TcpSocket { .. }
            | Hook::MayWait { .. }
            | Hook::NotUnderstood { .. }
            | Hook::NotAWait => &[],
        }
    }
}

/// Reads a postStart hook.
pub fn read_hook(action: &Action, surroundings: Surroundings<'_>) -> Hook {
    match action {
        Action::Exec { command } => exec(command, surroundings),
        Action::HttpGet {
            host,
            path,
            port,
            https,
            headers: _,
        } => Hook::HttpGet {
            host: host.clone(),
            path: path.clone(),
            port: port.clone(),
            https: *https,
        },
        Action::TcpSocket { port, .. } => Hook::TcpSocket { port: port.clone() },
        Action::Sleep { duration } => Hook::SleepsOnly {
            duration: *duration,
            words: String::new(),
        },
        Action::Grpc { .. } | Action::Unreadable => Hook::NotUnderstood {
            words: String::new(),
        },
    }
}

fn exec(command: &[String], surroundings: Surroundings<'_>) -> Hook {
    judge(command, &waits::read(command, surroundings))
}

/// What a hook's command does, by its reading.
pub(super) fn judge(command: &[String], reading: &Reading) -> Hook {
    let script = script_of(command);
    if reading.is_certain_to_fail && reading.waits.is_empty() {
        return Hook::Fails {
            words: failing_words(script),
        };
    }
    waiting(reading, script)
        .or_else(|| trying(reading, script))
        .or_else(|| unread(reading, script))
        .unwrap_or_else(|| resting(reading, script))
}

/// The longest word with a blank in it, which is the script, when there is one.
fn script_of(command: &[String]) -> &str {
    let mut words = command.iter();
    let is_script = |word: &String| word.contains(char::is_whitespace);
    let longest = match words.any(is_script) {
        true => command
            .iter()
            .filter(|word| is_script(word))
            .max_by_key(|word| word.len()),
        false => command.last(),
    };
    longest.map_or("", String::as_str)
}

fn holds(wait: &Wait) -> bool {
    wait.background == Background::No
}

fn waiting(reading: &Reading, script: &str) -> Option<Hook> {
    let held: Vec<Wait> = reading
        .waits
        .iter()
        .filter(|wait| holds(wait))
        .cloned()
        .collect();
    if let Some(bound) = held.iter().map(|wait| wait.bound).reduce(Bound::and_then) {
        return Some(Hook::Waits { waits: held, bound });
    }
    let first = reading.waits.first()?;
    Some(Hook::ReturnsEarly {
        reason: background_reason(first.background, first.is_detached),
        checks: reading.waits.clone(),
        words: background_words(script, &first.words),
    })
}

fn background_reason(background: Background, is_detached: bool) -> EarlyReturn {
    match background {
        Background::Redirected => EarlyReturn::BackgroundRedirected,
        Background::Bare | Background::No if is_detached => EarlyReturn::Nohup,
        Background::Bare | Background::No => EarlyReturn::BackgroundBare,
    }
}

/// The end of the script with its `&`, when it stands there.
fn background_words(script: &str, otherwise: &str) -> String {
    let line = script.trim_end().lines().next_back().unwrap_or_default();
    let Some(before) = line.strip_suffix('&') else {
        return otherwise.to_owned();
    };
    let start = before
        .trim_end()
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + 1);
    line.get(start..)
        .unwrap_or(otherwise)
        .trim_start()
        .to_owned()
}

fn trying(reading: &Reading, script: &str) -> Option<Hook> {
    if let Some(first) = reading.broken_loops.first() {
        return Some(Hook::ReturnsEarly {
            reason: EarlyReturn::BreaksOnFirstFailure,
            words: first.words.clone(),
            checks: reading.broken_loops.clone(),
        });
    }
    let tries = reading.tries.clone();
    if tries.iter().any(|wait| holds(wait) && is_fatal(wait)) {
        return Some(Hook::SingleTry {
            tries,
            slept: reading.slept,
        });
    }
    // What uses a server and does not mind whether it is there is no attempt at a wait; neither is
    // one try in the background.
    let mut asking = tries
        .iter()
        .filter(|wait| wait.purpose == Purpose::Asks && holds(wait));
    let first = asking.next()?.clone();
    let ignored = ["|| true", "|| :", "||true", "; true", "|| exit 0"];
    let words = ignored.into_iter().find(|words| script.contains(words));
    Some(Hook::ReturnsEarly {
        reason: EarlyReturn::IgnoresFailure,
        words: words.map_or_else(|| first.words.clone(), str::to_owned),
        checks: tries,
    })
}

fn is_fatal(wait: &Wait) -> bool {
    wait.bound.fails()
}

const WAITING_WORDS: [&str; 5] = ["wait", "ready", "await", "health", "probe"];

/// Whether one of the words, split at all but letters, speaks of waiting.
fn speaks_of_waiting(call: &Call) -> bool {
    call.words.iter().any(|word| {
        word.split(|letter: char| !letter.is_ascii_alphabetic())
            .any(|piece| WAITING_WORDS.contains(&piece.to_ascii_lowercase().as_str()))
    })
}

fn unread(reading: &Reading, script: &str) -> Option<Hook> {
    let mut unknown = reading
        .calls
        .iter()
        .filter(|call| !call.is_known && !call.is_local);
    let call = unknown.find(|call| speaks_of_waiting(call))?;
    let PlaceOfCall {
        background,
        is_detached,
        ..
    } = call.place;
    if background == Background::No {
        return Some(Hook::MayWait {
            words: call.source.to_string(),
        });
    }
    Some(Hook::ReturnsEarly {
        reason: background_reason(background, is_detached),
        checks: Vec::new(),
        words: background_words(script, &call.source),
    })
}

fn resting(reading: &Reading, script: &str) -> Hook {
    let unknown = reading
        .calls
        .iter()
        .find(|call| !call.is_known && !call.is_local);
    if let Some(call) = unknown {
        return Hook::NotUnderstood {
            words: call.source.to_string(),
        };
    }
    if reading.end == End::Endless {
        return Hook::NeverEnds {
            words: script.lines().next().unwrap_or_default().to_owned(),
        };
    }
    if reading.slept > Duration::ZERO {
        return Hook::SleepsOnly {
            duration: reading.slept,
            words: sleeping_words(script),
        };
    }
    Hook::NotAWait
}

/// `sleep` and its time as they stand in the script.
fn sleeping_words(script: &str) -> String {
    let Some(at) = script.find("sleep ") else {
        return "sleep".to_owned();
    };
    let rest = &script[at + "sleep ".len()..];
    let end = rest
        .find(|letter: char| letter.is_whitespace() || ";&|)".contains(letter))
        .unwrap_or(rest.len());
    script[at..at + "sleep ".len() + end].to_owned()
}

/// The `exit` or `false` that makes a script fail.
fn failing_words(script: &str) -> String {
    let Some(at) = script.rfind("exit ") else {
        return if script.contains("false") {
            "false"
        } else {
            script
        }
        .to_owned();
    };
    let rest = &script[at + "exit ".len()..];
    let end = rest
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    script[at..at + "exit ".len() + end].to_owned()
}

#[cfg(test)]
mod tests;
