//! What the rules about hooks share.

use super::Context;
use crate::finding::{Evidence, EvidenceKind, Label};
use crate::manifest::{FieldPath, Mark};
use crate::plan::gate::{Gap, Hold};
use crate::plan::hooks::Hook;
use crate::plan::needs::{Firmness, Need};
use crate::pod::{Action, Container};

/// One of a container's two hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    PostStart,
    PreStop,
}

impl Side {
    pub(super) const BOTH: [Side; 2] = [Side::PostStart, Side::PreStop];

    /// Its field below `lifecycle`, which is also its name.
    pub(super) fn field(self) -> &'static str {
        match self {
            Side::PostStart => "postStart",
            Side::PreStop => "preStop",
        }
    }

    pub(super) fn action(self, container: &Container) -> Option<&Action> {
        match self {
            Side::PostStart => container.post_start.as_ref(),
            Side::PreStop => container.pre_stop.as_ref(),
        }
    }

    pub(super) fn at(self, container: &Container) -> FieldPath {
        container.at.keys(&["lifecycle", self.field()])
    }

    /// Where these words stand in the command of an exec hook; the hook itself when they do not.
    pub(super) fn words_at(self, container: &Container, words: &str) -> (FieldPath, Mark) {
        let at = self.at(container);
        if let Some(Action::Exec { command }) = self.action(container) {
            let index = command.iter().rposition(|word| word.contains(words));
            if let Some(index) = index.filter(|_| !words.is_empty()) {
                let item = at.keys(&["exec", "command"]).index(index);
                return (item, Mark::Part(words.to_owned()));
            }
        }
        (at, Mark::Key)
    }
}

/// The postStart hook of a container by its place in the template.
pub(super) fn of<'a>(context: &Context<'a>, at: usize) -> Option<&'a Hook> {
    context.profiles.get(at)?.hook.as_ref()
}

/// The needs of others for this container.
pub(super) fn needs_of<'a>(context: &Context<'a>, at: usize) -> impl Iterator<Item = &'a Need> {
    context.needs().filter(move |need| need.provider == at)
}

/// The place of the fields in a label that marks the proof of a need.
pub(super) fn evidence_label(context: &Context<'_>, need: &Need) -> Option<Label> {
    let dependent = context.container(need.dependent);
    let verb = context.verb(need);
    context.evidence_label(need, format!("`{}` {verb} it", dependent.name))
}

/// A need that a hook of the dependent shows, when nothing else does.
pub(super) fn need_by_hook(
    dependent: usize,
    provider: usize,
    port: Option<u16>,
    place: &(FieldPath, Mark),
) -> Need {
    let words = match &place.1 {
        Mark::Part(words) => words.clone(),
        Mark::Value | Mark::Key | Mark::Entry => String::new(),
    };
    Need {
        dependent,
        provider,
        evidence: vec![Evidence {
            kind: EvidenceKind::Wait,
            detail: format!("the postStart hook asks {words}"),
            words,
            at: place.0.clone(),
            span: None,
            elsewhere: None,
        }],
        hold: Hold::Nothing(Gap::NoGate),
        port,
        url_path: None,
        firmness: Firmness::Manifest,
        is_main_provider: false,
        has_own_wait: false,
        is_optional: false,
        is_on_loopback: false,
    }
}
