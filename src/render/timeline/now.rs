//! The `now` block: who waits for whom, since when, and what ends it.

use super::command;
use super::line::{Line, Tag};
use super::rows::Frame;
use super::scene::Shown;
use super::seconds::running;
use super::waiting::{Cause, Waiting};
use super::words::{list, ordinal};
use crate::plan::Wait;
use crate::pod::Container;
use crate::render::Role;
use crate::timeline::{Attempt, ContainerTimeline};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// Before this, one line is enough.
const CALM: SignedDuration = SignedDuration::from_secs(1);

/// From this on the consequences are told.
const LONG: SignedDuration = SignedDuration::from_secs(10);

/// From this on something may be stuck, unless its own command says when it gives up.
const STUCK: Duration = Duration::from_secs(60);

/// What is waited for, in one line: `app waits: sidecar's postStart has been running for 0.8 s`.
pub(super) fn sentence(waiting: &Waiting<'_>, now: Timestamp) -> String {
    let age = running(now.duration_since(waiting.since));
    let who = who(waiting);
    match waiting.cause {
        Cause::Schedule => format!("the pod waits for a node, for {age}"),
        Cause::Sandbox => format!("the pod waits: sandbox or volumes are not ready after {age}"),
        Cause::Pull(own) => format!("{who}{} has been pulling its image for {age}", own.name),
        Cause::PostStart(own, attempt) => {
            subject(&who, own, attempt, "postStart has been running", &age)
        }
        Cause::Run(own, attempt) if attempt.number > 1 => format!(
            "{who}{}, {} try, has been running for {age}",
            own.name,
            ordinal(attempt.number)
        ),
        Cause::Run(own, _) => format!("{who}{} has been running for {age}", own.name),
        Cause::StartupProbe(own, attempt) => {
            subject(&who, own, attempt, "startupProbe has not passed", &age)
        }
        Cause::BackOff(own, attempt) => {
            let next = ordinal(attempt.number.saturating_add(1));
            format!(
                "{who}{} failed {age} ago; its {next} try is due after a back-off",
                own.name
            )
        }
        Cause::Trouble(own, reason) => format!("{who}{}: {reason} for {age}", own.name),
        Cause::Readiness(own) => format!("the pod waits: {} is not ready after {age}", own.name),
        Cause::ReadinessGate => format!("the pod waits for a readiness gate, for {age}"),
        Cause::HookBeforeDeletion(own) => {
            format!("deletion waits: {}'s postStart is running", own.name)
        }
        Cause::Stop => format!("deletion waits: {} has to end", list(&waiting.held)),
    }
}

/// The same where the time is over, in `timed out after 10s: …`.
pub(super) fn at_timeout(waiting: &Waiting<'_>, now: Timestamp) -> String {
    if !matches!(waiting.cause, Cause::PostStart(..)) {
        return sentence(waiting, now);
    }
    let age = running(now.duration_since(waiting.since));
    format!("{}, running for {age}", brief(waiting))
}

/// What is waited for, for a column: `app waits: proxy's postStart`.
pub(super) fn brief(waiting: &Waiting<'_>) -> String {
    let who = who(waiting);
    match waiting.cause {
        Cause::Schedule => "waits for a node".to_owned(),
        Cause::Sandbox => "waits for its sandbox or volumes".to_owned(),
        Cause::Pull(own) => format!("{}: pulling its image", own.name),
        Cause::PostStart(own, _) => format!("{who}{}'s postStart", own.name),
        Cause::Run(own, _) => format!("{who}{} runs", own.name),
        Cause::StartupProbe(own, _) => format!("{who}{}'s startupProbe", own.name),
        Cause::BackOff(own, _) => format!("{}: back-off", own.name),
        Cause::Trouble(own, reason) => format!("{}: {reason}", own.name),
        Cause::Readiness(own) => format!("{} is not ready", own.name),
        Cause::ReadinessGate => "waits for a readiness gate".to_owned(),
        Cause::HookBeforeDeletion(own) => format!("deletion waits: {}'s postStart", own.name),
        Cause::Stop => "is being stopped".to_owned(),
    }
}

fn who(waiting: &Waiting<'_>) -> String {
    match waiting.held.as_slice() {
        [] => String::new(),
        [only] => format!("{only} waits: "),
        // Whoever comes last waits for all that is before it.
        [.., last] if is_init(waiting) => format!("{last} waits: "),
        several => format!("{} wait: ", list(several)),
    }
}

fn is_init(waiting: &Waiting<'_>) -> bool {
    matches!(waiting.cause, Cause::Run(..))
}

/// `app waits: sidecar's postStart …`, or `sidecar: 2nd try, its postStart …`.
fn subject(who: &str, own: &ContainerTimeline, attempt: &Attempt, what: &str, age: &str) -> String {
    let name = &own.name;
    match (who.is_empty(), attempt.number) {
        (false, 1) => format!("{who}{name}'s {what} for {age}"),
        (true, 1) => format!("{name}: its {what} for {age}"),
        (_, number) => format!("{who}{name}: {} try, its {what} for {age}", ordinal(number)),
    }
}

/// The lines of the block; none when nobody waits.
pub(super) fn block(frame: &Frame<'_>, has_keys: bool) -> Vec<Line> {
    let Some(waiting) = frame.waiting else {
        return Vec::new();
    };
    let (first, rest) = match waiting.cause {
        Cause::HookBeforeDeletion(own) => deletion(frame, waiting, own),
        Cause::PostStart(own, attempt) if attempt.number == 1 && !waiting.held.is_empty() => {
            hook(frame, waiting, own)
        }
        Cause::PostStart(_, attempt) if attempt.number > 1 && waiting.held.is_empty() => {
            (sentence(waiting, frame.now), restart(frame))
        }
        Cause::Run(..) => run(frame, waiting),
        Cause::StartupProbe(..) => (sentence(waiting, frame.now), probe(frame, waiting)),
        Cause::Trouble(own, _) => {
            let ellipsis = frame.style.glyphs().ellipsis;
            (sentence(waiting, frame.now), message(own, ellipsis))
        }
        Cause::PostStart(..)
        | Cause::Schedule
        | Cause::Sandbox
        | Cause::Pull(_)
        | Cause::BackOff(..)
        | Cause::Readiness(_)
        | Cause::ReadinessGate
        | Cause::Stop => (sentence(waiting, frame.now), Vec::new()),
    };
    let mut line = Line::new(Tag::Now, first);
    if is_stuck(frame, waiting) {
        line.mark = Some(("stuck?", Role::Warning));
    }
    let mut lines = vec![line];
    lines.extend(rest.into_iter().map(|(tag, text)| Line::new(tag, text)));
    if has_keys && lines.len() == 2 && age(frame, waiting) < LONG {
        lines[1].aside = Some(("? for keys  ", Role::Quiet));
    }
    lines
}

type Told = (String, Vec<(Tag, String)>);

fn age(frame: &Frame<'_>, waiting: &Waiting<'_>) -> SignedDuration {
    frame.now.duration_since(waiting.since)
}

fn is_stuck(frame: &Frame<'_>, waiting: &Waiting<'_>) -> bool {
    let limit = match waiting.cause {
        Cause::PostStart(..) => waiting.declared(frame.shown).and_then(command::bound),
        Cause::HookBeforeDeletion(..) | Cause::Stop | Cause::Schedule | Cause::Readiness(_) => {
            return false;
        }
        Cause::Sandbox
        | Cause::Pull(_)
        | Cause::Run(..)
        | Cause::StartupProbe(..)
        | Cause::BackOff(..)
        | Cause::Trouble(..)
        | Cause::ReadinessGate => None,
    };
    let limit = SignedDuration::try_from(limit.unwrap_or(STUCK)).unwrap_or(SignedDuration::MAX);
    age(frame, waiting) >= limit
}

/// The limit that the hook's own command sets; the kubelet sets none (S3).
fn limit(declared: Option<&Container>) -> Option<String> {
    let bound = declared.and_then(command::bound)?;
    Some(format!("it gives up after {} s", bound.as_secs()))
}

fn hook(frame: &Frame<'_>, waiting: &Waiting<'_>, own: &ContainerTimeline) -> Told {
    let declared = waiting.declared(frame.shown);
    let action = declared.and_then(|own| own.post_start.as_ref());
    let first = sentence(waiting, frame.now);
    let limit = limit(declared);
    if age(frame, waiting) < CALM / 2 {
        return (first, Vec::new());
    }
    if age(frame, waiting) < LONG {
        let limit = limit.unwrap_or_else(|| "the kubelet sets no time limit".to_owned());
        let second = match action.and_then(command::action) {
            Some(action) => format!("{action}; {limit}"),
            None => limit,
        };
        return (first, vec![(Tag::More, second)]);
    }
    let (end, doubt) = match limit {
        Some(limit) => (format!(", {limit}"), None),
        None => (
            ", no time limit".to_owned(),
            Some("not known: whether it would return; no event tells of a running hook"),
        ),
    };
    let held = format!(
        "held back with it: status, probes and logs of {}; deleting the pod",
        own.name
    );
    let mut rest = vec![(Tag::More, held)];
    rest.extend(doubt.map(|doubt| (Tag::More, doubt.to_owned())));
    (format!("{first}{end}"), rest)
}

fn restart(frame: &Frame<'_>) -> Vec<(Tag, String)> {
    match frame.stage {
        super::scene::Stage::Live => Vec::new(),
        super::scene::Stage::End => vec![(
            Tag::More,
            "a restart holds nobody back; only the first start did".to_owned(),
        )],
    }
}

fn run(frame: &Frame<'_>, waiting: &Waiting<'_>) -> Told {
    let first = sentence(waiting, frame.now);
    let wait = waiting.declared(frame.shown).and_then(command::own_wait);
    let Some(wait) = wait else {
        return (first, Vec::new());
    };
    let missing = missing_service(frame.shown, &wait);
    let words = match wait.words.starts_with(&wait.tool) {
        true => wait.words,
        false => format!("{} {}", wait.tool, wait.words),
    };
    let mut rest = vec![(Tag::More, words)];
    rest.extend(missing.map(|missing| (Tag::More, missing)));
    (format!("{first}; its command repeats"), rest)
}

/// That the Service which is polled is not there, where that was asked.
fn missing_service(shown: &Shown, wait: &Wait) -> Option<String> {
    let (namespace, name) = command::service(wait, &shown.pod.namespace)?;
    let is_missing = shown
        .services
        .iter()
        .any(|seen| seen.namespace == namespace && seen.name == name && !seen.exists);
    is_missing.then(|| format!("Service {namespace}/{name} does not exist (asked just now)"))
}

fn probe(frame: &Frame<'_>, waiting: &Waiting<'_>) -> Vec<(Tag, String)> {
    let declared = waiting.declared(frame.shown);
    let probe = declared.and_then(|own| own.startup.as_ref());
    probe
        .map(|probe| (Tag::More, command::probe(probe)))
        .into_iter()
        .collect()
}

/// A message of the kubelet is cut to so many characters: two lines.
const MESSAGE: usize = 140;

/// What the kubelet says of its trouble.
fn message(own: &ContainerTimeline, ellipsis: &str) -> Vec<(Tag, String)> {
    let message = own
        .waiting
        .as_ref()
        .and_then(|(_, message)| message.as_deref());
    let line = message.and_then(|text| text.lines().next());
    line.map(|line| {
        let short: String = line.chars().take(MESSAGE).collect();
        let is_whole = short.len() == line.len();
        let end = if is_whole { "" } else { ellipsis };
        (Tag::More, format!("{short}{end}"))
    })
    .into_iter()
    .collect()
}

fn deletion(frame: &Frame<'_>, waiting: &Waiting<'_>, own: &ContainerTimeline) -> Told {
    let pod = &frame.shown.pod;
    let name = &own.name;
    let grace = pod
        .deletion
        .as_ref()
        .map_or(0, |deletion| deletion.grace_seconds);
    let is_over = age(frame, waiting) >= SignedDuration::from_secs(grace);
    let state = match is_over {
        true => format!("{grace} s of grace are over, nothing was stopped"),
        false => format!("{grace} s of grace, nothing is being stopped yet"),
    };
    let asked = running(frame.since_zero(waiting.since));
    let mut rest = vec![
        (
            Tag::More,
            format!("the kubelet stops no container here until {name}'s postStart returns"),
        ),
        (
            Tag::Word("to free it"),
            format!(
                "kubectl exec {} -c {name} -- ps   then kill the hook's process",
                pod.name
            ),
        ),
        (
            Tag::Under,
            "a shorter grace period does not reach it".to_owned(),
        ),
    ];
    let action = waiting
        .declared(frame.shown)
        .and_then(|own| own.post_start.as_ref());
    if let Some(bounded) = action.and_then(command::bounded) {
        let lint = format!("(lint pod/{} --diff)", pod.name);
        rest.push((
            Tag::Word("for good"),
            format!("bound the hook: {bounded} {lint}"),
        ));
    }
    (format!("deletion waits: asked at {asked}, {state}"), rest)
}
