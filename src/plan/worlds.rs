//! Walks through one command, each in a world where other servers and files are there.
//!
//! What a script waits for is what it tries again when it alone is missing; how long it waits is
//! how long that walk takes.

use super::offline::is_local;
use super::tools::{Check, Kind, Line, Recognised, Retry, dev_tcp, name_of, recognise, unquoted};
use crate::plan::addresses::{Target, mentions};
use crate::shell::{
    Arg, Knowledge, Library, Place, RedirectionKind, Rehearsal, Reply, Request, Run, Scope, Status,
    Surroundings, Value,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How many checks of one command are looked at.
pub(super) const MAX_CHECKS: usize = 12;

/// How many steps all walks through one command may take together.
const MAX_STEPS: usize = 60_000;

/// A command that a walk met.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    /// Its words.
    pub(super) words: Vec<String>,
    /// Its name as it is written.
    pub(super) source: Arc<str>,
    /// It uses no network.
    pub(super) is_local: bool,
    /// A tool that is known.
    pub(super) is_known: bool,
    /// Where it runs.
    pub(super) place: PlaceOfCall,
}

/// What counts of the place of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlaceOfCall {
    pub(super) background: crate::shell::Background,
    pub(super) is_detached: bool,
    pub(super) is_in_loop: bool,
}

impl PlaceOfCall {
    fn of(place: &Place) -> PlaceOfCall {
        PlaceOfCall {
            background: place.background,
            is_detached: place.is_detached,
            is_in_loop: place.loops > 0,
        }
    }
}

/// A file that a redirection opens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Opened {
    pub(super) path: String,
    pub(super) is_read: bool,
    pub(super) is_in_loop: bool,
}

/// Everything that the walks met.
pub(super) struct Worlds<'a> {
    surroundings: Surroundings<'a>,
    library: Library,
    steps_left: usize,
    pub(super) checks: Vec<Check>,
    keys: Vec<(Target, String, String)>,
    pub(super) calls: BTreeSet<Call>,
    pub(super) opened: BTreeSet<Opened>,
}

impl<'a> Worlds<'a> {
    pub(super) fn new(surroundings: Surroundings<'a>) -> Worlds<'a> {
        Worlds {
            surroundings,
            library: Library::default(),
            steps_left: MAX_STEPS,
            checks: Vec::new(),
            keys: Vec::new(),
            calls: BTreeSet::new(),
            opened: BTreeSet::new(),
        }
    }

    /// One walk; `is_missing` says of a check whether what it looks for is missing.
    pub(super) fn walk(
        &mut self,
        words: &[Arg],
        is_missing: &dyn Fn(usize, &Check) -> bool,
    ) -> Run {
        let mut library = std::mem::take(&mut self.library);
        let surroundings = self.surroundings;
        let steps = self.steps_left;
        let mut respond = |request: &Request<'_>, place: &Place, scope: Scope<'_>| {
            self.respond(request, place, scope, is_missing)
        };
        let run = Rehearsal::new(surroundings, steps, &mut library, &mut respond).command(words);
        self.steps_left = steps.saturating_sub(run.steps);
        self.library = library;
        run
    }

    fn respond(
        &mut self,
        request: &Request<'_>,
        place: &Place,
        scope: Scope<'_>,
        is_missing: &dyn Fn(usize, &Check) -> bool,
    ) -> Reply {
        match request {
            Request::File { kind, path } => self.open(*kind, path, place, is_missing),
            // Outside a loop nobody knows whether it is there, and what the kernel shows of the
            // node nobody in the pod makes.
            Request::FileTest { path } if place.loops == 0 || is_of_the_node(&path.value.text) => {
                Reply::of(Status::Unknown)
            }
            Request::FileTest { path } => {
                let check = file_check("test", path);
                self.answer(vec![check], is_missing)
            }
            Request::Command { words, input } => {
                self.command((words, *input), place, scope, is_missing)
            }
        }
    }

    fn open(
        &mut self,
        kind: RedirectionKind,
        path: &Arg,
        place: &Place,
        is_missing: &dyn Fn(usize, &Check) -> bool,
    ) -> Reply {
        if let Some((target, words)) = dev_tcp(path) {
            let check = Check {
                target,
                tool: "/dev/tcp".to_owned(),
                words,
                retry: Retry::Once(Duration::ZERO),
                kind: Kind::Probe,
            };
            return self.answer(vec![check], is_missing);
        }
        let is_device = ["/dev/", "/proc/"]
            .iter()
            .any(|folder| path.value.text.starts_with(folder));
        if !is_device {
            self.opened.insert(Opened {
                path: path.value.text.clone(),
                is_read: kind == RedirectionKind::Read,
                is_in_loop: place.loops > 0,
            });
        }
        Reply::of(Status::OK)
    }

    fn command(
        &mut self,
        (words, input): (&[Arg], Option<&Value>),
        place: &Place,
        scope: Scope<'_>,
        is_missing: &dyn Fn(usize, &Check) -> bool,
    ) -> Reply {
        let name = name_of(&words[0].value.text);
        let surroundings = self.surroundings;
        let line = Line {
            name,
            words,
            input,
            piped_into: &place.piped_into,
            env: &|name| match scope.get(name) {
                Some(own) => own.as_known().map(str::to_owned),
                None => (surroundings.env)(name),
            },
            may_be_set: &|name| match scope.get(name) {
                Some(own) => own.as_known().is_none(),
                None => scope.is_open || (surroundings.may_be_set)(name),
            },
        };
        let recognised = recognise(&line);
        self.note(words, recognised.is_some(), place);
        if let Some(recognised) = recognised {
            return self.tool(recognised, is_missing);
        }
        if follows(name, words) {
            let mut reply = Reply::of(Status::OK);
            reply.takes = None;
            return reply;
        }
        if place.loops == 0 {
            return Reply::of(Status::OK);
        }
        match look(name, words) {
            Some(check) => self.answer(vec![check], is_missing),
            None => Reply::of(Status::OK),
        }
    }

    fn note(&mut self, words: &[Arg], is_known: bool, place: &Place) {
        self.calls.insert(Call {
            words: words.iter().map(|arg| arg.value.text.clone()).collect(),
            source: words[0].source.clone(),
            is_local: is_local(name_of(&words[0].value.text)),
            is_known,
            place: PlaceOfCall::of(place),
        });
    }

    fn tool(
        &mut self,
        recognised: Recognised,
        is_missing: &dyn Fn(usize, &Check) -> bool,
    ) -> Reply {
        let mut reply = self.answer(recognised.checks, is_missing);
        let goes_on = reply.status == Status::OK || recognised.always_then;
        reply.then = recognised.then.filter(|_| goes_on);
        reply
    }

    /// What a command with these checks does.
    fn answer(&mut self, checks: Vec<Check>, is_missing: &dyn Fn(usize, &Check) -> bool) -> Reply {
        if checks.is_empty() {
            return Reply::of(Status::OK);
        }
        let mut reply = Reply::of(Status::OK);
        reply.output = Value::answer(true);
        for check in checks {
            let Some(number) = self.number_of(&check) else {
                continue;
            };
            reply.checks.push(number);
            if is_missing(number, &check) {
                reply.status = Status::FAILED;
                reply.output.knowledge = Knowledge::Answer(false);
                let time = match check.retry {
                    Retry::Once(time) | Retry::For(time) => Some(time),
                    Retry::Unknown => Some(Duration::from_secs(1)),
                    Retry::Forever => None,
                };
                reply.takes = reply.takes.zip(time).map(|(one, other)| one.max(other));
            }
        }
        reply
    }

    fn number_of(&mut self, check: &Check) -> Option<usize> {
        let what = match check.target {
            Target::Opaque => check.words.clone(),
            Target::Address(_)
            | Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. } => String::new(),
        };
        let key = (check.target.clone(), check.tool.clone(), what);
        if let Some(number) = self.keys.iter().position(|known| *known == key) {
            return Some(number);
        }
        if self.keys.len() >= MAX_CHECKS {
            return None;
        }
        self.keys.push(key);
        self.checks.push(check.clone());
        Some(self.checks.len() - 1)
    }
}

fn file_check(tool: &str, path: &Arg) -> Check {
    Check {
        target: Target::File {
            path: path.value.text.clone(),
        },
        tool: tool.to_owned(),
        words: unquoted(&path.source).to_owned(),
        retry: Retry::Once(Duration::ZERO),
        kind: Kind::File,
    }
}

/// Whether a path is one of the kernel's, about the node; the pod's own network is made in the pod.
fn is_of_the_node(path: &str) -> bool {
    path.starts_with("/sys/") && !path.starts_with("/sys/class/net")
}

/// Whether a command follows a file for ever.
fn follows(name: &str, words: &[Arg]) -> bool {
    let has_flag = words.iter().any(|arg| {
        let text = arg.value.text.as_str();
        text == "--follow"
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['f', 'F']))
    });
    (name == "tail" && has_flag) || name == "pause"
}

/// What a command in a loop may be waiting for.
fn look(name: &str, words: &[Arg]) -> Option<Check> {
    let file = words[1..]
        .iter()
        .rev()
        .find(|arg| arg.value.text.starts_with('/'));
    if [
        "ls",
        "cat",
        "stat",
        "grep",
        "egrep",
        "find",
        "head",
        "mountpoint",
        "readlink",
    ]
    .contains(&name)
    {
        let file = file.filter(|path| !is_of_the_node(&path.value.text));
        return file.map(|path| file_check(name, path));
    }
    let is_process = ["pgrep", "pidof", "killall", "kill", "ps"].contains(&name);
    if is_local(name) && !is_process {
        return None;
    }
    let named = words[1..].iter().find_map(|arg| {
        let found = mentions(&arg.value.text).into_iter().next()?;
        let source = unquoted(&arg.source);
        let words = if source.contains(&found.words) {
            found.words
        } else {
            source.to_owned()
        };
        Some((found.target, words))
    });
    let (target, mark) = named.unwrap_or_else(|| {
        let text: Vec<&str> = words.iter().map(|arg| &*arg.source).collect();
        (Target::Opaque, text.join(" "))
    });
    Some(Check {
        target,
        tool: name.to_owned(),
        words: mark,
        retry: Retry::Once(Duration::ZERO),
        kind: Kind::Other,
    })
}
