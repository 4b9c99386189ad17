//! What a pod's state is called.

use super::fold::{Attempt, ContainerTimeline, Hook, PodTimeline};
use crate::pod::Role;

impl PodTimeline {
    /// What kubectl would call the pod's state: `Pending`, `Init:0/2`, `Running, not ready`,
    /// `Terminating`, or its phase.
    pub fn state_words(&self) -> String {
        if self.is_deleted {
            return "deleted".to_owned();
        }
        if self.deletion.is_some() && !matches!(self.phase.as_str(), "Succeeded" | "Failed") {
            return "Terminating".to_owned();
        }
        match self.phase.as_str() {
            "Pending" => self.init_words().unwrap_or_else(|| "Pending".to_owned()),
            "Running" if !self.is_ready => "Running, not ready".to_owned(),
            phase => phase.to_owned(),
        }
    }

    /// `Init:1/2` while init containers or native sidecars are not through.
    fn init_words(&self) -> Option<String> {
        let initialization = self.initializations();
        let is_init =
            |container: &&ContainerTimeline| matches!(container.role, Role::Init | Role::Sidecar);
        let inits = self.containers.iter().filter(is_init);
        let is_done = |container: &&ContainerTimeline| {
            let mut attempts = container.in_initialization(initialization);
            attempts.any(|attempt| match container.role {
                Role::Init => attempt
                    .exit
                    .as_ref()
                    .is_some_and(|(_, status)| status.code == Some(0)),
                Role::Sidecar | Role::App | Role::Ephemeral => {
                    attempt.started.is_some()
                        && !matches!(
                            attempt.hook,
                            Some(Hook::Running { .. } | Hook::Failed { .. })
                        )
                        && !self.awaits_probe(container, attempt)
                }
            })
        };
        let (all, done) = (inits.clone().count(), inits.filter(is_done).count());
        (done < all).then(|| format!("Init:{done}/{all}"))
    }

    fn awaits_probe(&self, container: &ContainerTimeline, attempt: &Attempt) -> bool {
        let declared = self.template().container(&container.name);
        let has_probe = declared.is_some_and(|(_, declared)| declared.startup.is_some());
        has_probe && attempt.startup_passed.is_none()
    }
}
