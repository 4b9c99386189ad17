//! What other versions of Kubernetes do with the same pod, and why this one does what it does.

use super::{Prediction, names, timing};
use crate::plan::{Prior, StartPlan, predict};
use crate::pod::{Action, Container, KubeVersion, Role};
use crate::render::Glyphs;

/// A sentence about a range of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionNote {
    /// The oldest version that it holds for.
    from: KubeVersion,
    /// The newest one.
    to: KubeVersion,
    /// What happens there.
    pub text: String,
}

const NATIVE: KubeVersion = KubeVersion::minor(29);
/// Where facts come from that nobody has seen on a real kubelet.
const UNSEEN: &str = "by the feature table; not seen on a real kubelet";

impl VersionNote {
    fn new(from: KubeVersion, to: KubeVersion, text: impl Into<String>) -> VersionNote {
        VersionNote {
            from,
            to,
            text: text.into(),
        }
    }

    /// `on 1.29–1.35`, `on 1.28`, `on 1.29+`.
    pub fn label(&self, glyphs: &Glyphs) -> String {
        let (from, to) = (self.from, self.to);
        if from == to {
            format!("on {from}")
        } else if to == KubeVersion::NEWEST {
            format!("on {from}+")
        } else {
            format!("on {from}{}{to}", glyphs.dash)
        }
    }

    /// Whether it speaks of a version.
    pub fn covers(&self, version: KubeVersion) -> bool {
        (self.from..=self.to).contains(&version)
    }
}

/// The notes about one prediction: about its own version first.
pub fn notes(prediction: &Prediction<'_>) -> Vec<VersionNote> {
    let mut all = if prediction.plan.version.has_native_sidecars() {
        on_native_versions(prediction)
    } else {
        on_older_versions(prediction)
    };
    all.extend(sleep_note(prediction));
    all
}

fn natives<'a>(prediction: &Prediction<'a>) -> impl Iterator<Item = &'a Container> {
    let containers = prediction.template.containers.iter();
    containers.filter(|container| container.role == Role::Sidecar)
}

fn on_native_versions(prediction: &Prediction<'_>) -> Vec<VersionNote> {
    let mut all = Vec::new();
    let relisting = (KubeVersion::minor(35), KubeVersion::minor(36));
    match timing::relisted(prediction) {
        Some(steps) if prediction.plan.version.relists_after_sync() => {
            all.push(VersionNote::new(
                NATIVE,
                relisting.0,
                format!(
                    "{steps} up to about 1 s later (the kubelet re-reads its containers once a \
                     second; since {} also right after each start)",
                    relisting.1
                ),
            ));
        }
        Some(steps) => all.push(VersionNote::new(
            relisting.1,
            KubeVersion::NEWEST,
            format!(
                "{steps} without that second: the kubelet re-reads right after each start, too"
            ),
        )),
        None => {}
    }
    let before = KubeVersion::minor(28);
    if let Some(field) = natives(prediction).find_map(forbidden_field) {
        all.push(VersionNote::new(before, before, not_accepted(field)));
    } else if let Some(native) = natives(prediction).next() {
        let (at, _) = prediction
            .template
            .container(&native.name)
            .unwrap_or((0, native));
        let text = format!(
            "{} is a plain init container: nothing after it starts until it has exited 0 (by the \
             feature table)",
            names::name(prediction.template, at)
        );
        all.push(VersionNote::new(before, before, text));
    }
    all
}

/// What a plain init container may not have (S10).
fn forbidden_field(container: &Container) -> Option<&'static str> {
    let has_hook = container.post_start.is_some() || container.pre_stop.is_some();
    let fields = [
        (container.startup.is_some(), "startupProbe"),
        (container.readiness.is_some(), "readinessProbe"),
        (container.liveness.is_some(), "livenessProbe"),
        (has_hook, "lifecycle hook"),
    ];
    fields
        .into_iter()
        .find(|(has, _)| *has)
        .map(|(_, field)| field)
}

fn not_accepted(field: &str) -> String {
    format!(
        "not accepted, it seems: native sidecars are off, and a plain init container may not have \
         a {field} (by the feature table)"
    )
}

/// S11: below 1.29 the restart policy of an init container is dropped.
fn on_older_versions(prediction: &Prediction<'_>) -> Vec<VersionNote> {
    let version = prediction.plan.version;
    let own = |text: String| VersionNote::new(version, version, text);
    let Some(native) = prediction.plan.never_ends else {
        return vec![own(UNSEEN.to_owned())];
    };
    let gate = if version == KubeVersion::minor(28) {
        "SidecarContainers is alpha and off"
    } else {
        "SidecarContainers is not there yet"
    };
    let dropped = format!("restartPolicy of an init container is dropped: {gate} ({UNSEEN})");
    let mut all = vec![own(dropped)];
    if let Some(field) = natives(prediction).find_map(forbidden_field) {
        all.push(own(not_accepted(field)));
    }
    let newer = predict(prediction.template, NATIVE, Vec::new());
    let text = native_sentence(prediction, &newer, native);
    all.push(VersionNote::new(NATIVE, KubeVersion::NEWEST, text));
    all
}

/// `sidecar is a native sidecar; app starts once its process runs`.
fn native_sentence(prediction: &Prediction<'_>, newer: &StartPlan, native: usize) -> String {
    let name = |container| names::name(prediction.template, container);
    let is_native = format!("{} is a native sidecar", name(native));
    let next = newer
        .steps
        .iter()
        .find(|step| step.after.container() == Some(native));
    let Some(next) = next else { return is_native };
    let once = match next.after {
        Prior::StartupProbePassed(_) => "its startupProbe has passed",
        Prior::PostStartReturned(_) => "its postStart has returned",
        Prior::Runs(_) | Prior::StartReturned(_) => "its process runs",
        Prior::Exited(_) | Prior::SandboxReady => return is_native,
    };
    format!("{is_native}; {} starts once {once}", name(next.container))
}

/// Where the sleep action is off, a hook that only sleeps does nothing.
fn sleep_note(prediction: &Prediction<'_>) -> Option<VersionNote> {
    let sleeps =
        |container: &&Container| matches!(container.post_start, Some(Action::Sleep { .. }));
    prediction.template.containers.iter().find(sleeps)?;
    Some(VersionNote::new(
        NATIVE,
        NATIVE,
        "the sleep action is alpha and off: a hook that only sleeps does nothing",
    ))
}
