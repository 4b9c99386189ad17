//! Where the input of commands comes from and their output goes.

use super::rehearsal::{Flow, Rehearsal};
use super::script::{Command, Redirection, RedirectionKind};
use super::trace::{Arg, Request};

/// Where the output of a command goes.
pub(super) struct Outputs {
    /// Nothing of it reaches what reads the script's output.
    pub(super) is_silent: bool,
    /// A connection that it needs was refused.
    pub(super) is_refused: bool,
    /// Where the walk goes on.
    pub(super) flow: Flow,
}

impl Rehearsal<'_> {
    /// Opens what redirections name.
    pub(super) fn redirect(&mut self, redirections: &[Redirection]) -> Outputs {
        let mut outputs = Outputs {
            is_silent: false,
            is_refused: false,
            flow: Flow::Next,
        };
        for redirection in redirections {
            let value = self.value(&redirection.target);
            match redirection.kind {
                RedirectionKind::Text => self.input = Some(value),
                RedirectionKind::Duplicate => {}
                RedirectionKind::Read
                | RedirectionKind::Write
                | RedirectionKind::Append
                | RedirectionKind::ReadWrite
                | RedirectionKind::Both => {
                    let takes_output = !matches!(
                        redirection.kind,
                        RedirectionKind::Read | RedirectionKind::ReadWrite
                    );
                    outputs.is_silent |= takes_output
                        && redirection
                            .descriptor
                            .is_none_or(|descriptor| descriptor == 1);
                    let path = Arg {
                        value,
                        source: redirection.target.source.clone(),
                        at: Some(redirection.target.at),
                    };
                    self.open(redirection.kind, &path, &mut outputs);
                }
            }
        }
        outputs
    }

    fn open(&mut self, kind: RedirectionKind, path: &Arg, outputs: &mut Outputs) {
        let (reply, flow) = self.ask_in_full(&Request::File { kind, path });
        outputs.is_refused |= reply.status.succeeds() == Some(false);
        if outputs.flow == Flow::Next {
            outputs.flow = flow;
        }
        if kind != RedirectionKind::Read && !path.value.text.starts_with("/dev/") {
            self.write(&path.value.text);
        }
    }
}

/// Whether neither output of a command is the script's own any more.
pub(super) fn is_output_redirected(command: &Command) -> bool {
    let goes = |descriptor: u32| {
        command.redirections.iter().any(|redirection| {
            let is_it = redirection.descriptor.unwrap_or(1) == descriptor;
            match redirection.kind {
                RedirectionKind::Both => true,
                RedirectionKind::Write | RedirectionKind::Append => is_it,
                RedirectionKind::Duplicate => is_it && descriptor == 2,
                RedirectionKind::Read | RedirectionKind::ReadWrite | RedirectionKind::Text => false,
            }
        })
    };
    goes(1) && goes(2)
}
