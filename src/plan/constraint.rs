//! What must come before what, and why: shared by prediction, rules and observation.

use crate::pod::Role;
use std::fmt;

/// Something that happens to a container or to the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// The scheduler has chosen a node.
    Scheduled,
    /// Sandbox, network and volumes are there.
    SandboxReady,
    /// The kubelet began to pull the image.
    Pulling,
    /// The image is there.
    Pulled,
    /// The runtime has made the container.
    Created,
    /// The process runs.
    Started,
    /// The postStart hook has returned without an error.
    PostStartReturned,
    /// The postStart hook has failed.
    PostStartFailed,
    /// The startup probe has passed.
    StartupProbePassed,
    /// Ready, for the pod or the container.
    Ready,
    /// No longer ready.
    NotReady,
    /// The process has ended.
    Exited,
    /// The kubelet has begun to stop the container.
    Killing,
    /// The pod is gone from the API.
    Deleted,
}

impl Event {
    /// The word of JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Event::Scheduled => "scheduled",
            Event::SandboxReady => "sandboxReady",
            Event::Pulling => "pulling",
            Event::Pulled => "pulled",
            Event::Created => "created",
            Event::Started => "started",
            Event::PostStartReturned => "postStartReturned",
            Event::PostStartFailed => "postStartFailed",
            Event::StartupProbePassed => "startupProbePassed",
            Event::Ready => "ready",
            Event::NotReady => "notReady",
            Event::Exited => "exited",
            Event::Killing => "killing",
            Event::Deleted => "deleted",
        }
    }

    /// The event that JSON output calls by this word.
    pub fn of_word(word: &str) -> Option<Event> {
        use Event::{
            Created, Deleted, Exited, Killing, NotReady, PostStartFailed, PostStartReturned,
            Pulled, Pulling, Ready, SandboxReady, Scheduled, Started, StartupProbePassed,
        };
        let all = [
            Scheduled,
            SandboxReady,
            Pulling,
            Pulled,
            Created,
            Started,
            PostStartReturned,
            PostStartFailed,
            StartupProbePassed,
            Ready,
            NotReady,
            Exited,
            Killing,
            Deleted,
        ];
        all.into_iter().find(|event| event.word() == word)
    }
}

/// An event of one container, or of the pod itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Milestone {
    /// The container's name; none for the pod's own events.
    pub container: Option<String>,
    /// What happened.
    pub event: Event,
}

impl Milestone {
    /// An event of a container.
    pub fn of(container: &str, event: Event) -> Milestone {
        Milestone {
            container: Some(container.to_owned()),
            event,
        }
    }

    /// An event of the pod.
    pub fn of_pod(event: Event) -> Milestone {
        Milestone {
            container: None,
            event,
        }
    }
}

/// How firmly one thing comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// The kubelet does not go on until it holds, at the pod's first start.
    Enforced,
    /// The kubelet tries in this order and waits for the try, not for success.
    Attempted,
    /// The container's own command waits; the kubelet has no part in it.
    Polled,
    /// Somebody depends on it and nothing provides it.
    Needed,
}

impl Basis {
    /// The word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Basis::Enforced => "guaranteed",
            Basis::Attempted => "attempted",
            Basis::Polled => "own wait",
            Basis::Needed => "not ordered",
        }
    }

    /// The word of JSON output.
    pub fn json_word(self) -> &'static str {
        match self {
            Basis::Enforced => "enforced",
            Basis::Attempted => "attempted",
            Basis::Polled => "polled",
            Basis::Needed => "needed",
        }
    }

    /// The basis that JSON output calls by this word.
    pub fn of_json_word(word: &str) -> Option<Basis> {
        [
            Basis::Enforced,
            Basis::Attempted,
            Basis::Polled,
            Basis::Needed,
        ]
        .into_iter()
        .find(|basis| basis.json_word() == word)
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One thing that comes, or has to come, before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// What comes first.
    pub before: Milestone,
    /// What comes after it.
    pub after: Milestone,
    /// How firmly.
    pub basis: Basis,
    /// The hook is taken to wait although its command cannot be read.
    pub is_assumed: bool,
    /// The role of the container that comes first.
    pub role: Role,
}
