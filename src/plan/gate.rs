//! What holds a container back until another one serves, and what only looks like it.

use super::constraint::Basis;

/// What holds a dependent container until its provider serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The provider is an init container: it has exited with 0 before.
    Exit,
    /// The provider is a native sidecar whose startupProbe has passed.
    StartupProbe,
    /// The provider's postStart hook waits.
    PostStart {
        /// The hook's command cannot be read; it only says that it waits.
        is_assumed: bool,
        /// The provider is a native sidecar: a failed hook holds the next container back, too.
        is_native: bool,
    },
    /// An init container of the same kind has filled the volume before.
    InitTwin(usize),
    /// A volume whose mount the kubelet itself waits for.
    Mount,
    /// The dependent's own command waits.
    OwnWait,
    /// Another controller starts the containers in order.
    LaunchOrder,
    /// Nothing.
    Nothing(Gap),
}

/// Why nothing holds the dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The provider is listed later, and the dependent is an init container: it can never come.
    LaterThanInit,
    /// The provider's waiting hook is listed after the dependent.
    GateAfterDependent,
    /// The provider's hook is an httpGet to itself: one try, any answer.
    HttpHook,
    /// The provider has a hook that only sleeps.
    Sleep,
    /// The provider has a hook that looks like a wait and cannot hold.
    ReturnsEarly,
    /// The provider has a hook whose command cannot be read and says nothing of waiting.
    UnreadHook,
    /// The provider has no hook, and no startupProbe that counts.
    NoGate,
}

impl Hold {
    /// How firmly it holds.
    pub fn basis(self) -> Basis {
        match self {
            Hold::Exit | Hold::StartupProbe | Hold::InitTwin(_) | Hold::Mount => Basis::Enforced,
            Hold::PostStart {
                is_native: true, ..
            } => Basis::Enforced,
            Hold::PostStart {
                is_native: false, ..
            }
            | Hold::LaunchOrder => Basis::Attempted,
            Hold::OwnWait => Basis::Polled,
            Hold::Nothing(_) => Basis::Needed,
        }
    }
}
