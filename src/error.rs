//! What ends a command: one sentence, and a hint what to do.

use crate::render::{Role, Style};
use miette::Diagnostic;
use std::fmt::Display;
use std::io::{self, Write};

/// Why a command could not do its job. As a miette diagnostic its help is the hint.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    kind: Kind,
    text: String,
    hint: Option<String>,
    #[source]
    io: Option<io::Error>,
    /// What else is wrong.
    others: Vec<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Ours: told after `error: `.
    Own,
    /// A server's or client's own text, passed on unchanged.
    Passed,
    /// `--timeout` was reached.
    TimedOut,
}

impl Failure {
    /// A failure told in one sentence, without a full stop:
    /// `the path "deploy.yml" does not exist`.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::of(Kind::Own, message.into())
    }

    /// A failure in the words of an API server or client, which are passed on unchanged:
    /// `Error from server (NotFound): pods "sample" not found`.
    pub fn passed(text: impl Into<String>) -> Failure {
        Failure::of(Kind::Passed, text.into())
    }

    /// The time that the user gave (`1m0s`) is over, and this is still missing:
    /// `app waits: sidecar's postStart, running for 59.8 s`.
    pub fn timed_out(after: impl Display, waited_for: impl Display) -> Failure {
        let text = format!("timed out after {after}: {waited_for}");
        Failure::of(Kind::TimedOut, text)
    }

    fn of(kind: Kind, text: String) -> Failure {
        Failure {
            kind,
            text,
            hint: None,
            io: None,
            others: Vec::new(),
        }
    }

    /// Adds what the user could do.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Adds another failure, which is told below this one.
    pub fn and(mut self, other: Failure) -> Failure {
        self.others.push(other);
        self
    }

    /// Whether the reader of our output has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        self.io
            .as_ref()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit code: 1 when only time ran out, as with `kubectl wait`; else 2.
    pub fn code(&self) -> u8 {
        match self.kind {
            Kind::TimedOut => 1,
            Kind::Own | Kind::Passed => 2,
        }
    }

    /// Prints the sentence and, below it, the hint.
    pub fn print(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        match self.kind {
            Kind::Own => writeln!(out, "{}: {self}", style.paint(Role::Error, "error"))?,
            Kind::Passed | Kind::TimedOut => writeln!(out, "{self}")?,
        }
        if let Some(hint) = self.help() {
            let hint = format!("hint: {hint}");
            writeln!(out, "{}", style.paint(Role::Quiet, &hint))?;
        }
        let mut others = self.others.iter();
        others.try_for_each(|other| other.print(style, out))
    }
}

impl Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        let hint = self.hint.as_ref()?;
        Some(Box::new(hint))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let failure = Failure::new(error.to_string());
        Failure {
            io: Some(error),
            ..failure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(failure: &Failure) -> String {
        let style = Style {
            color: false,
            ascii: false,
        };
        let mut out = Vec::new();
        failure.print(style, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn own_failures_say_error_and_hint() {
        let failure = Failure::new("the path \"deploy.yml\" does not exist")
            .hint("there is a \"deploy.yaml\"");
        assert_eq!(
            printed(&failure),
            "error: the path \"deploy.yml\" does not exist\nhint: there is a \"deploy.yaml\"\n"
        );
        assert_eq!(failure.code(), 2);
    }

    #[test]
    fn a_servers_text_and_a_timeout_speak_for_themselves() {
        let text = "Error from server (NotFound): pods \"sample\" not found";
        let passed = Failure::passed(text).hint("namespace \"shop\" has one (-n shop)");
        assert_eq!(
            printed(&passed),
            format!("{text}\nhint: namespace \"shop\" has one (-n shop)\n")
        );
        let timeout = Failure::timed_out("1m0s", "app waits: sidecar's postStart");
        assert_eq!(
            printed(&timeout),
            "timed out after 1m0s: app waits: sidecar's postStart\n"
        );
        assert_eq!(timeout.code(), 1);
    }
}
