//! `nslookup` of a short name in a new busybox, which fails although the name resolves.

use super::{Check, Context, Rule};
use crate::cure::lookup;
use crate::finding::{Finding, FixSafety, Severity};
use crate::graph::{Found, Host, Stage, Waiting};
use crate::plan::{AtBound, Bound, Target, Wait};
use crate::pod::Container;

pub(super) static RULE: Rule = Rule {
    id: "busybox-nslookup",
    summary: "busybox's nslookup of a short name fails although the name resolves",
    severity: Severity::Error,
    since: "0.1.0",
    fix: Some(FixSafety::Unsafe),
    why: "From 1.29 on busybox's nslookup asks for a short name with every search domain of the pod, and exits with 1 \
          when one of them does not know it, which is always so. `until nslookup db` prints the right address and \
          never ends.",
    facts: &["S20"],
    cure: "The look-up becomes `nc -z` to the Service's port when the Service is in this run; else the name is \
           written in full, with the cluster's domain.",
    silent: "busybox before 1.29, and other images; a full name, or one with a dot at its end; the output is looked \
             at instead of the exit code.",
    example: include_str!("../../testdata/rules/busybox-nslookup/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.workload.template.is_partial {
        return;
    }
    for (container, profile) in context.profiles.iter().enumerate() {
        if !is_new_busybox(profile.container.image.as_deref().unwrap_or_default()) {
            continue;
        }
        let reading = &profile.reading;
        let counts = |wait: &&Wait| {
            let Target::Dns { name } = &wait.target else {
                return false;
            };
            let counts_status = wait.repeats || is_fatal(wait);
            wait.tool == "nslookup"
                && counts_status
                && is_short(context, name)
                && !is_piped(profile.container, &wait.words)
        };
        let all = reading.waits.iter().chain(&reading.tries);
        let mut told: Vec<&str> = Vec::new();
        for wait in all.filter(counts) {
            if told.contains(&wait.words.as_str()) {
                continue;
            }
            told.push(&wait.words);
            let stage = Stage::of(profile.container.role);
            let waiting = Waiting {
                container,
                stage,
                wait,
            };
            findings.push(report(context, &waiting));
        }
    }
}

fn is_fatal(wait: &Wait) -> bool {
    match wait.bound {
        Bound::Bounded { then, .. } => then == AtBound::Fails,
        Bound::Unbounded | Bound::Unknown => false,
    }
}

/// busybox without a tag, with one that moves, or from 1.29 on.
fn is_new_busybox(image: &str) -> bool {
    let (name, digest) = image
        .split_once('@')
        .map_or((image, ""), |(name, digest)| (name, digest));
    let last = name.rsplit('/').next().unwrap_or(name);
    let (name, tag) = last.split_once(':').unwrap_or((last, ""));
    if name != "busybox" {
        return false;
    }
    if tag.is_empty() {
        return digest.is_empty();
    }
    let version = tag.trim_start_matches('v');
    let Some(rest) = version.strip_prefix("1.") else {
        let moving = ["latest", "stable", "unstable", "musl", "glibc", "uclibc"];
        return version == "1" || moving.iter().any(|word| tag.starts_with(word));
    };
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    minor.parse::<u32>().is_ok_and(|minor| minor >= 29)
}

/// A name of the cluster without the cluster's domain.
fn is_short(context: &Context<'_>, name: &str) -> bool {
    if name.ends_with('.') || name.contains(".svc.") || name.contains(['$', '`']) {
        return false;
    }
    match name.split('.').count() {
        1 => !crate::plan::addresses::is_loopback(name),
        _ => name.ends_with(".svc") || !matches!(context.asker().resolve(name), Host::Elsewhere),
    }
}

/// Whether the script looks at what the command prints.
fn is_piped(container: &Container, words: &str) -> bool {
    let call = format!("nslookup {words}");
    container.words().any(|text| {
        let Some((before, after)) = text.split_once(&call) else {
            return false;
        };
        let end = after.find([';', '\n', '&', '|']).unwrap_or(after.len());
        // `$(nslookup db >/dev/null; echo $?)` captures the exit code alone.
        let own = after[..end].replace(' ', "");
        let is_silent = own.contains(">/dev/null") && !own.contains("2>/dev/null");
        let is_captured =
            !is_silent && (before.trim_end().ends_with("$(") || before.ends_with('`'));
        let then = after[end..].trim_start_matches(' ');
        let after_redirect = skip_redirections(after);
        let is_pipe = |text: &str| text.starts_with('|') && !text.starts_with("||");
        is_captured || is_pipe(then) || is_pipe(after_redirect)
    })
}

/// What stands behind `2>&1`, `> /dev/null` and the like.
fn skip_redirections(text: &str) -> &str {
    let mut rest = text.trim_start_matches(' ');
    for redirection in ["2>&1", "2>/dev/null", "2> /dev/null"] {
        rest = rest
            .strip_prefix(redirection)
            .unwrap_or(rest)
            .trim_start_matches(' ');
    }
    rest
}

fn report(context: &Context<'_>, waiting: &Waiting<'_>) -> Finding {
    let container = context.container(waiting.container);
    let name = waiting.host().unwrap_or_default();
    let is_endless = waiting.wait.repeats && waiting.wait.bound == Bound::Unbounded;
    let message = match is_endless {
        true => format!(
            "`{}` never ends: busybox's nslookup of `{name}` fails each time",
            container.name
        ),
        false => format!(
            "`{}` fails: busybox's nslookup of `{name}` exits with 1",
            container.name
        ),
    };
    let text = "a short name: exits with 1 although it resolves";
    let mut finding = context.wait_finding(&RULE, waiting, message, text);
    if !is_endless {
        finding.severity = Severity::Warning;
    }
    finding.because = "busybox's nslookup, from 1.29 on, asks with every search domain and exits with 1 when one of \
                       them does not know the name"
        .to_owned();
    let service = match context.asker().resolve(name) {
        Host::Service(Found { service, .. }) => Some(service),
        Host::Missing(_) | Host::Elsewhere => None,
    };
    let connect = service
        .ok_or_else(String::new)
        .and_then(|service| lookup::connect(context.run, container, waiting, service));
    let fix = connect.or_else(|_| lookup::full_name(context.workload, container, waiting));
    finding.fix = Some(fix.unwrap_or_else(super::context::refused));
    finding
}
