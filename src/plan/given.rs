//! What a container's commands find around them: its variables, and the files of ConfigMaps.

use super::config::{Configs, MountedFile, mounted};
use super::entrypoint;
use super::hooks::{self, Hook};
use super::variables::{self, Variables};
use super::waits::{self, Reading};
use crate::pod::{Action, Container, PodTemplate};
use crate::shell::Surroundings;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The surroundings of one container.
pub(super) struct Given<'g> {
    /// The container.
    pub(super) container: &'g Container,
    /// Its pod.
    pub(super) template: &'g PodTemplate,
    /// Its environment.
    pub(super) variables: Variables,
    configs: &'g dyn Configs,
    files: OnceCell<Vec<MountedFile<'g>>>,
    /// The paths of the files that were opened as scripts.
    opened: RefCell<BTreeSet<String>>,
}

impl<'g> Given<'g> {
    pub(super) fn new(
        container: &'g Container,
        template: &'g PodTemplate,
        configs: &'g dyn Configs,
    ) -> Given<'g> {
        Given {
            container,
            template,
            variables: Variables::with(container, configs),
            configs,
            files: OnceCell::new(),
            opened: RefCell::default(),
        }
    }

    /// The files that are keys of ConfigMaps and Secrets, listed when somebody first asks.
    pub(super) fn files(&self) -> &[MountedFile<'g>] {
        self.files
            .get_or_init(|| mounted(self.container, self.template, self.configs))
    }

    /// Reads `command` and `args`, and tells the scripts among the files that they run.
    pub(super) fn read_command(&self) -> (Arc<Reading>, BTreeSet<String>) {
        let own = self.container.words();
        let own = own.map(|word| self.variables.expand(word).into_owned());
        let words: Vec<String> = entrypoint::implied(self.container)
            .map(str::to_owned)
            .into_iter()
            .chain(own)
            .collect();
        self.opened.take();
        let reading = self.with_surroundings(|surroundings| waits::read(&words, surroundings));
        (reading, self.opened.take())
    }

    /// The scripts among the files that hooks have run since the command was read.
    pub(super) fn hook_scripts(&self) -> BTreeSet<String> {
        self.opened.take()
    }

    /// Reads the command of an exec hook.
    pub(super) fn read_exec(&self, action: Option<&Action>) -> Option<Arc<Reading>> {
        let Action::Exec { command } = action? else {
            return None;
        };
        Some(self.with_surroundings(|surroundings| waits::read(command, surroundings)))
    }

    /// What the postStart hook does; `reading` is that of its command, if it has one.
    pub(super) fn judge_hook(&self, reading: Option<&Reading>) -> Option<Hook> {
        let action = self.container.post_start.as_ref()?;
        Some(match (action, reading) {
            (Action::Exec { command }, Some(reading)) => hooks::judge(command, reading),
            _ => self.with_surroundings(|surroundings| hooks::read_hook(action, surroundings)),
        })
    }

    fn with_surroundings<T>(&self, read: impl FnOnce(Surroundings<'_>) -> T) -> T {
        read(Surroundings {
            env: &|name| self.variable(name),
            may_be_set: &|name| variables::may_be_set(self.container, name),
            file: &|path| self.file(path),
        })
    }

    /// What a script sees in a variable. Who listens on the pod's address is reached like who listens
    /// on loopback.
    fn variable(&self, name: &str) -> Option<String> {
        let own = self.container.env.iter().rfind(|var| var.name == name);
        let is_pod_address = own.is_some_and(|var| {
            matches!(var.field.as_deref(), Some("status.podIP" | "status.podIPs"))
        });
        match is_pod_address {
            true => Some("127.0.0.1".to_owned()),
            false => self.variables.get(name).map(str::to_owned),
        }
    }

    /// The text of a file that is a key of a ConfigMap. That of a Secret stays closed, because what a
    /// script waits for is shown.
    fn file(&self, path: &str) -> Option<String> {
        let mut files = self.files().iter().filter(|file| !file.place.is_secret);
        let file = files.rfind(|file| file.path == path)?;
        self.opened.borrow_mut().insert(path.to_owned());
        Some(file.text.to_owned())
    }
}
