//! A hook and the entrypoint of its container need each other, and run in no order.

use super::hook::{self, Side};
use super::teller::Teller;
use super::{Check, Context, Rule};
use super::{hook_cannot_succeed, hook_waits_for_later_container};
use crate::finding::{Finding, Severity};
use crate::manifest::{FieldPath, Mark};
use crate::plan::addresses::Target;
use crate::plan::hooks::Hook;
use crate::plan::needs::Need;
use crate::plan::profile::Profile;
use crate::plan::settings;
use crate::plan::waits::{Purpose, Wait};
use crate::pod::{PortRef, Role};
use crate::shell::Background;

pub(super) static RULE: Rule = Rule {
    id: "entrypoint-races-hook",
    summary: "a hook and the entrypoint of its container need each other and run at once",
    severity: Severity::Warning,
    since: "0.1.0",
    fix: None,
    why: "A postStart hook begins right after the process of its container was started, and nothing orders the two. A \
          file that the hook makes may not be there when the entrypoint opens it. A server that the hook calls may \
          not listen yet: then the hook has failed, and the kubelet kills the container.",
    facts: &["S3", "S5"],
    cure: "None by machine. An init container makes files before the entrypoint starts; a loop in the hook tries until \
           the server answers.",
    silent: "The entrypoint waits for the file, or the hook tries again; the path is a folder of data or documents, \
             which is read later.",
    example: include_str!("../../testdata/rules/entrypoint-races-hook/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for at in 0..context.profiles.len() {
        if context.container(at).role == Role::Init {
            continue;
        }
        if let Some(file) = raced_file(&context.profiles[at]) {
            findings.push(about_file(context, at, &file));
        } else if let Some(call) = own_call(context, at) {
            findings.push(about_server(context, at, call));
        }
    }
}

/// A file that the hook makes and the entrypoint names.
struct RacedFile {
    /// The path as the entrypoint names it.
    path: String,
    /// Where the entrypoint names it.
    at: FieldPath,
    /// Where the hook does.
    made_at: (FieldPath, Mark),
}

/// Words in the names of flags whose folders are read at the start.
const READ_AT_START: [&str; 14] = [
    "plugin",
    "conf",
    "cfg",
    "module",
    "extension",
    "rule",
    "template",
    "cert",
    "polic",
    "provision",
    "schema",
    "script",
    "addon",
    "tls",
];

/// Words in the names of flags whose paths are written, read later, or waited for.
const READ_LATER: [&str; 26] = [
    "log", "pid", "out", "write", "dump", "storage", "data", "cache", "tmp", "temp", "work",
    "upload", "root", "www", "html", "static", "public", "wait", "until", "ready", "marker",
    "signal", "sock", "listen", "lock", "watch",
];

fn has_word(flag: &str, words: &[&str]) -> bool {
    let flag = flag.to_lowercase();
    words.iter().any(|word| flag.contains(word))
}

fn raced_file(profile: &Profile<'_>) -> Option<RacedFile> {
    let made = &profile.post_start.as_ref()?.fills;
    if made.is_empty() {
        return None;
    }
    let is_awaited = |path: &str| {
        let waits = profile.reading.waits.iter();
        let by_command = waits
            .clone()
            .any(|wait| matches!(&wait.target, Target::File { path: waited } if waited == path));
        let mut by_setting = profile
            .settings
            .iter()
            .filter(|setting| has_word(&setting.name, &["wait", "until", "ready", "marker"]));
        by_command || by_setting.any(|setting| setting.value.contains(path))
    };
    let named = named_at_start(profile);
    let found = named.into_iter().find_map(|named| {
        let path = made.iter().find(|path| named.is_made_by(path))?;
        Some((named, path)).filter(|(_, path)| !is_awaited(path))
    });
    let (named, path) = found?;
    Some(RacedFile {
        made_at: Side::PostStart.words_at(profile.container, path),
        path: named.path,
        at: named.at,
    })
}

/// A path that the entrypoint's own words name.
struct Named {
    path: String,
    at: FieldPath,
    /// A folder whose content is read at the start, too.
    is_folder: bool,
}

impl Named {
    fn is_made_by(&self, made: &str) -> bool {
        let (own, made) = (self.path.trim_end_matches('/'), made.trim_end_matches('/'));
        let is_below = made
            .strip_prefix(own)
            .is_some_and(|rest| rest.starts_with('/'));
        own == made || (self.is_folder && is_below)
    }
}

fn looks_like_file(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.trim_start_matches('.').contains('.') && !last.ends_with(".d")
}

/// The paths that the entrypoint opens at its start, as far as its words tell.
fn named_at_start(profile: &Profile<'_>) -> Vec<Named> {
    let mut found = Vec::new();
    let flags = profile
        .settings
        .iter()
        .filter(|setting| !setting.is_variable() && !has_word(&setting.name, &READ_LATER));
    for flag in flags {
        let path = flag.value.trim_start_matches("file://");
        let is_folder = has_word(&flag.name, &READ_AT_START);
        if path.starts_with('/') && (is_folder || looks_like_file(path)) {
            found.push(Named {
                path: path.to_owned(),
                at: flag.at.clone(),
                is_folder: is_folder && !looks_like_file(path),
            });
        }
    }
    let flagged: Vec<FieldPath> = profile
        .settings
        .iter()
        .filter(|setting| !setting.is_variable())
        .map(|setting| setting.at.clone())
        .collect();
    for word in settings::words(profile.container) {
        if word.text.contains(char::is_whitespace) {
            let reads = profile.reading.reads.iter();
            let here = reads.filter(|path| word.text.contains(path.as_str()));
            found.extend(here.map(|path| Named {
                path: path.clone(),
                at: word.at.clone(),
                is_folder: false,
            }));
        } else if word.text.starts_with('/')
            && looks_like_file(&word.text)
            && !flagged.contains(&word.at)
        {
            found.push(Named {
                path: word.text,
                at: word.at,
                is_folder: false,
            });
        }
    }
    found
}

fn about_file(context: &Context<'_>, at: usize, file: &RacedFile) -> Finding {
    let container = context.container(at);
    let name = &container.name;
    let message = format!(
        "`{name}` opens {} while its postStart hook makes it",
        file.path
    );
    let (place, mark) = file.made_at.clone();
    let text = "made here, after the entrypoint was started";
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(name.clone());
    finding.related.push(super::context::label(
        file.at.clone(),
        Mark::Part(file.path.clone()),
        format!("`{name}` opens it at its start"),
    ));
    finding.because =
        "a postStart hook begins after the process was started; nothing orders the hook and the entrypoint".to_owned();
    finding.help = Some(format!(
        "an init container that makes {} ends before `{name}` starts",
        file.path
    ));
    finding
}

/// A call of the container's own server that has one try.
#[derive(Clone, Copy)]
enum OwnCall<'a> {
    Command { wait: &'a Wait, slept: bool },
    Request,
}

/// Whether the hook uses its own server at the first try, and is no check of it.
pub(super) fn uses_own_server(context: &Context<'_>, at: usize) -> bool {
    match single_try(context, at) {
        Some(OwnCall::Command { wait, .. }) => wait.purpose == Purpose::Uses,
        Some(OwnCall::Request) | None => false,
    }
}

/// The call, when no other rule tells about it.
fn own_call<'a>(context: &Context<'a>, at: usize) -> Option<OwnCall<'a>> {
    let call = single_try(context, at)?;
    let is_told = |need: &Need| {
        matches!(
            context.teller(need),
            Some(Teller::GateReturnsEarly | Teller::HttpHookAsGate | Teller::HookToolMissing)
        ) && !need.is_main_provider
    };
    let mut needs = hook::needs_of(context, at);
    (!needs.any(is_told)).then_some(call)
}

fn single_try<'a>(context: &Context<'a>, at: usize) -> Option<OwnCall<'a>> {
    let is_told = hook_cannot_succeed::failure(context, at).is_some()
        || hook_waits_for_later_container::awaited(context, at).is_some();
    if is_told {
        return None;
    }
    match hook::of(context, at)? {
        Hook::SingleTry { tries, slept } => {
            let mut fatal = tries
                .iter()
                .filter(|wait| wait.background == Background::No && wait.bound.fails());
            let wait = fatal.find(|wait| is_own(context, at, wait))?;
            Some(OwnCall::Command {
                wait,
                slept: !slept.is_zero(),
            })
        }
        Hook::HttpGet { port, .. } => {
            let action = context.container(at).post_start.as_ref();
            let is_own = !is_neighbours(context, at, port);
            (is_own && hook_cannot_succeed::asks_pod(action)).then_some(OwnCall::Request)
        }
        Hook::Waits { .. }
        | Hook::SleepsOnly { .. }
        | Hook::ReturnsEarly { .. }
        | Hook::Fails { .. }
        | Hook::NeverEnds { .. }
        | Hook::TcpSocket { .. }
        | Hook::MayWait { .. }
        | Hook::NotUnderstood { .. }
        | Hook::NotAWait => None,
    }
}

/// Whether a port is one that only another container serves.
fn is_neighbours(context: &Context<'_>, at: usize, port: &PortRef) -> bool {
    let PortRef::Number(port) = port else {
        return false;
    };
    let mut others = context
        .profiles
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at);
    context.profiles[at].served(*port).is_none()
        && others.any(|(_, profile)| profile.served(*port).is_some())
}

/// Whether a call on loopback reaches the container itself, as far as the manifest tells.
fn is_own(context: &Context<'_>, at: usize, wait: &Wait) -> bool {
    let Target::Address(address) = &wait.target else {
        return false;
    };
    if !address.is_loopback() {
        return false;
    }
    let Some(port) = address.port_or_default() else {
        return true;
    };
    let own = &context.profiles[at];
    let others = || {
        let all = context.profiles.iter().enumerate();
        all.filter(|(other, profile)| *other != at && profile.container.role != Role::Init)
    };
    let by_others = || others().any(|(_, profile)| profile.served(port).is_some());
    let may_be_others = || !own.container.ports.is_empty() && others().next().is_some();
    own.served(port).is_some() || (!by_others() && !may_be_others())
}

fn about_server(context: &Context<'_>, at: usize, call: OwnCall<'_>) -> Finding {
    let container = context.container(at);
    let name = &container.name;
    let (place, mark, text) = match call {
        OwnCall::Command { wait, slept } => {
            let (place, mark) = Side::PostStart.words_at(container, &wait.words);
            let text = match slept {
                true => "tried once, after a fixed time",
                false => "tried once, at once",
            };
            (place, mark, text)
        }
        OwnCall::Request => {
            let place = Side::PostStart.at(container).key("httpGet");
            (place, Mark::Key, "tried once, at once")
        }
    };
    let message =
        format!("the postStart hook of `{name}` calls its server, which may not listen yet");
    let mut finding = context.finding(&RULE, message, place, mark, text);
    finding.container = Some(name.clone());
    finding.because = format!(
        "the hook runs at the same time as the entrypoint and has one try: refused means failed, and the kubelet kills \
         `{name}`"
    );
    finding.help =
        Some("a loop in the hook that tries until the server answers, with a bound".to_owned());
    let told = hook::needs_of(context, at)
        .find(|need| context.teller(need) == Some(Teller::EntrypointRacesHook));
    if let Some(need) = told {
        let dependent = &context.container(need.dependent).name;
        finding.dependent = Some(dependent.clone());
        finding.evidence = need.evidence.clone();
        finding.notes.push(format!(
            "`{dependent}` can start before `{name}` serves, too"
        ));
    }
    finding
}
