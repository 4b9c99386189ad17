//! Words that several parts of a picture share.

use crate::plan::{Event, Milestone};
use crate::pod::Role;
use crate::render::Style;

/// `app`, `app and web`, `app, web and db`, `app, web and 3 more`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [head @ .., last] if names.len() <= 3 => format!("{} and {last}", head.join(", ")),
        [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
    }
}

/// The sign before an upper bound.
pub(super) fn at_most(style: Style) -> &'static str {
    if style.ascii { "<=" } else { "≤" }
}

/// The sign before a lower bound.
pub(super) fn at_least(style: Style) -> &'static str {
    if style.ascii { ">=" } else { "≥" }
}

/// `1 restart`, `2 restarts`.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("{number} {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// `2nd`, `3rd`, `11th`.
pub(super) fn ordinal(number: u32) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// What had happened: `sidecar's postStart had returned`.
pub(super) fn had_happened(milestone: &Milestone, role: Role) -> String {
    let name = milestone.container.as_deref().unwrap_or("the pod");
    match milestone.event {
        Event::PostStartReturned => format!("{name}'s postStart had returned"),
        Event::PostStartFailed => format!("{name}'s postStart had failed"),
        Event::StartupProbePassed => format!("{name}'s startupProbe had passed"),
        Event::Exited if role == Role::Init => format!("{name} had exited 0"),
        Event::Exited => format!("{name} had exited"),
        Event::Ready => format!("{name} was ready"),
        Event::NotReady => format!("{name} was no longer ready"),
        Event::Started => format!("{name} had started"),
        Event::Scheduled => format!("{name} had been scheduled"),
        Event::SandboxReady => format!("{name} had its sandbox"),
        Event::Pulling => format!("{name} had begun to pull its image"),
        Event::Pulled => format!("{name} had its image"),
        Event::Created => format!("{name} had been created"),
        Event::Killing => format!("{name} had begun to stop"),
        Event::Deleted => format!("{name} had been deleted"),
    }
}

/// What happens, as a noun: `sidecar's postStart`.
pub(super) fn event_of(milestone: &Milestone) -> String {
    let name = milestone.container.as_deref().unwrap_or("the pod");
    match milestone.event {
        Event::PostStartReturned | Event::PostStartFailed => format!("{name}'s postStart"),
        Event::StartupProbePassed => format!("{name}'s startupProbe"),
        Event::Started => format!("{name}'s start"),
        Event::Exited => format!("{name}'s exit"),
        Event::Ready | Event::NotReady => format!("{name}'s readiness"),
        Event::Scheduled
        | Event::SandboxReady
        | Event::Pulling
        | Event::Pulled
        | Event::Created
        | Event::Killing
        | Event::Deleted => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list(&["a", "b", "c", "d", "e"]), "a, b and 3 more");
        assert_eq!(
            [ordinal(2), ordinal(11), ordinal(23)],
            ["2nd", "11th", "23rd"]
        );
    }
}
