//! One container as its neighbours see it: what it serves, dials, opens, writes and waits for.

use super::addresses::Target;
use super::binds;
use super::config::Configs;
use super::dials::{self, Dialled};
use super::front::{self, Front};
use super::given::Given;
use super::hooks::{self, Hook};
use super::paths::{self, NamedPath};
use super::serves::{self, Local, Served, ServedBy};
use super::settings::{self, Setting, Word};
use super::told::{self, Told};
use super::variables::{self, Variables};
use super::waits::{self, Reading, Wait};
use crate::catalog::{Catalog, Class, Entry};
use crate::pod::{Container, PodTemplate, Role};
use crate::shell::{Background, Surroundings};
use std::sync::Arc;

/// What is known of one container.
#[derive(Clone, Debug)]
pub struct Profile<'c> {
    /// The container.
    pub container: &'c Container,
    /// What the catalogue knows of its image.
    pub entry: Option<&'c Entry>,
    /// Its class by the catalogue, or a front proxy by its flags.
    pub class: Option<Class>,
    /// Its flags and variables, as far as its own manifest gives them values.
    pub settings: Vec<Setting>,
    /// The lines of the ConfigMaps' scripts that its command and hooks run.
    pub script: Vec<Setting>,
    /// The ports that it listens on.
    pub serves: Vec<Served>,
    /// Those of them that its configuration opens on loopback only.
    pub local: Vec<Local>,
    /// The loopback addresses that it names, its own ports left out.
    pub dials: Vec<Dialled>,
    /// The paths that it reads or opens.
    pub paths: Vec<NamedPath>,
    /// To whom it passes requests on.
    pub front: Front,
    /// What its own command does, as far as it can be read.
    pub reading: Arc<Reading>,
    /// What its postStart hook does.
    pub hook: Option<Hook>,
    /// The command of its postStart hook, as far as it can be read.
    pub post_start: Option<Arc<Reading>>,
    /// The command of its preStop hook, as far as it can be read.
    pub pre_stop: Option<Arc<Reading>>,
    /// Named like something that never has to be there first (exporter, backup, …).
    pub has_helper_name: bool,
}

/// The profiles of all containers; none for a lone container without a hook and without a script,
/// which has no order to get wrong and waits for nobody.
pub fn profiles<'c>(
    template: &'c PodTemplate,
    catalog: &'c Catalog,
    configs: &dyn Configs,
) -> Vec<Profile<'c>> {
    let has_hook =
        |container: &Container| container.post_start.is_some() || container.pre_stop.is_some();
    let containers = &template.containers;
    let is_alone = containers.len() < 2;
    if is_alone && !containers.iter().any(|one| has_hook(one) || may_wait(one)) {
        return Vec::new();
    }
    containers
        .iter()
        .map(|container| Profile::read(container, template, catalog, configs))
        .collect()
}

/// Whether the command could wait for something: a script, or a tool that waits.
fn may_wait(container: &Container) -> bool {
    let mut words = container.words();
    words.any(|word| {
        word.contains(char::is_whitespace) || word.contains("wait") || word.ends_with(".sh")
    })
}

impl<'c> Profile<'c> {
    /// Reads all that a container says of itself.
    pub fn read(
        container: &'c Container,
        template: &PodTemplate,
        catalog: &'c Catalog,
        configs: &dyn Configs,
    ) -> Profile<'c> {
        let given = Given::new(container, template, configs);
        let (reading, scripts) = given.read_command();
        let told = Told::read(&given, &scripts);
        let entry = catalog.find(container);
        let words = settings::words_with(container, &given.variables);
        let settings = settings::of_words(container, &words, &given.variables);
        let pod = (container, template);
        let mut serves = serves::ports(pod, &settings, &told, (entry, &asked_ports(&reading)));
        // What only its own probe or hook dials may be a port that a neighbour declares.
        serves.retain(|it| {
            it.by != ServedBy::Probe || !is_declared_beside(template, container, it.port)
        });
        let post_start = given.read_exec(container.post_start.as_ref());
        let mut profile = Profile {
            container,
            entry,
            class: entry.map(|entry| entry.class_in(container)),
            serves,
            local: serves::local(&told),
            dials: Vec::new(),
            paths: paths::of_container(&settings, &words, &reading, &told),
            front: Front::read(&told),
            reading,
            hook: given.judge_hook(post_start.as_deref()),
            pre_stop: given.read_exec(container.pre_stop.as_ref()),
            post_start,
            has_helper_name: has_helper_name(&container.name),
            settings,
            script: told.script.clone(),
        };
        let hook_scripts = given.hook_scripts();
        profile.script.extend(told::lines(&given, &hook_scripts));
        profile.dials = profile.read_dials(&words, &told);
        if front::is_front(&profile, template) {
            profile.class = Some(Class::Reverse);
        }
        profile
    }

    fn read_dials(&self, words: &[Word], told: &Told) -> Vec<Dialled> {
        let mut found = Vec::new();
        // A command that uses no network has no use for what it is told.
        if !self.is_offline() {
            dials::of_settings(&self.settings, &mut found);
            dials::of_settings(&told.settings, &mut found);
        }
        dials::of_words(words, &mut found);
        dials::of_calls(words, &self.reading, &mut found);
        dials::leave_out(&self.settings, &mut found);
        dials::of_script(&told.script, &mut found);
        self.read_asked(words, told, &mut found);
        found.retain(|dialled| dialled.port.is_none_or(|port| self.served(port).is_none()));
        found
    }

    /// Ports that its own command asks for: `nc -z localhost 5432`. They tell what a host without a
    /// port in the same words is for.
    fn read_asked(&self, words: &[Word], told: &Told, found: &mut Vec<Dialled>) {
        for wait in self.waits().chain(&self.reading.tries) {
            let Target::Address(address) = &wait.target else {
                continue;
            };
            if !address.is_loopback() {
                continue;
            }
            let Some(asked) = dials::asked(address, &wait.words, words, &told.script) else {
                continue;
            };
            found.retain(|dialled| dialled.port.is_some() || dialled.at != asked.at);
            if !found.iter().any(|dialled| dialled.port == asked.port) {
                found.push(asked);
            }
        }
    }

    /// Whether it listens on a port, and how that is known.
    pub fn served(&self, port: u16) -> Option<Served> {
        self.serves
            .iter()
            .copied()
            .find(|served| served.port == port)
    }

    /// Whether it opens a port on loopback only, by its flags or its configuration.
    pub fn is_on_loopback(&self, port: u16) -> bool {
        let by_flag = || binds::loopback_only(self.container, &self.settings, None, port);
        self.local.iter().any(|local| local.port == port) || by_flag().is_some()
    }

    /// The port on which it serves as a database, by the port's number.
    pub fn database_port(&self) -> Option<u16> {
        let mut ports = self.serves.iter().map(|served| served.port);
        ports.find(|port| serves::is_database_port(*port))
    }

    /// Whether its start has no bearing on the others, whatever they say.
    pub fn is_no_provider(&self) -> bool {
        matches!(
            self.class,
            Some(Class::Reverse | Class::Irrelevant | Class::Useful)
        )
    }

    /// The waits of its own command that go on until what they wait for is there.
    pub fn waits(&self) -> impl Iterator<Item = &Wait> {
        let own = self.reading.waits.iter();
        own.filter(|wait| wait.repeats && wait.background == Background::No)
    }

    /// Whether its own command polls one of the ports that another container serves.
    pub fn polls(&self, other: &Profile<'_>) -> bool {
        let health = other
            .entry
            .and_then(|entry| entry.health_in(other.container));
        let health = health.and_then(|health| serves::health_port(&other.settings, health));
        self.waits().any(|wait| match &wait.target {
            Target::Address(address) if address.is_loopback() => {
                let port = address.port_or_default();
                port.is_some_and(|port| other.served(port).is_some() || health == Some(port))
            }
            _ => false,
        })
    }

    /// Whether a wrapper of its command waits until a container of the pod is ready: kubexit by the
    /// container's name, Tekton's entrypoint for all sidecars.
    pub fn awaits_by_name(&self, other: &str) -> bool {
        self.waits()
            .any(|wait| match (&wait.target, wait.tool.as_str()) {
                (Target::Kubernetes { what }, "kubexit") => {
                    what.split(',').any(|name| name.trim() == other)
                }
                (Target::File { path }, "entrypoint") => path.starts_with("/tekton/"),
                _ => false,
            })
    }

    /// Whether the addresses that it names are some that it calls. What an init container is told is
    /// meant for others when its commands use no network; and one that starts a server itself talks
    /// to that.
    pub fn calls_what_it_names(&self) -> bool {
        self.container.role != Role::Init
            || !(self.reading.may_start_a_server() || self.is_offline())
    }

    /// Whether its command tries its own work again until it succeeds, whatever that needs:
    /// `until python manage.py migrate; do sleep 2; done`.
    pub fn retries_its_work(&self) -> bool {
        const OF_PROCESSES: [&str; 6] = ["inotifywait", "kill", "killall", "pgrep", "pidof", "ps"];
        let mut waits = self.waits();
        waits.any(|wait| {
            wait.target == Target::Opaque && !OF_PROCESSES.contains(&wait.tool.as_str())
        })
    }

    /// Gives up what only the rules about one pod look at; what the container waits for stays.
    pub fn keep_waits(&mut self) {
        self.settings = Vec::new();
        self.serves = Vec::new();
        self.dials = Vec::new();
        self.paths = Vec::new();
        self.front = Front::default();
        self.script = Vec::new();
        self.pre_stop = None;
    }

    /// Whether its command visibly uses no network.
    pub fn is_offline(&self) -> bool {
        self.reading.is_offline() == Some(true)
    }
}

/// The ports that a script asks; none when it starts something beside, which may be the server.
fn asked_ports(reading: &Reading) -> Vec<u16> {
    if reading.starts_something_beside() {
        return Vec::new();
    }
    let port = |wait: &Wait| match &wait.target {
        Target::Address(address) => address.port_or_default(),
        Target::Dns { .. } | Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => {
            None
        }
    };
    let checks = reading.waits.iter().chain(&reading.tries);
    checks.filter_map(port).collect()
}

/// What a container's own command does, by what the container says of itself.
pub fn read_command(container: &Container) -> Arc<Reading> {
    let variables = Variables::own(container);
    let words = container.words();
    let words: Vec<String> = words
        .map(|word| variables.expand(word).into_owned())
        .collect();
    read_words(container, &words)
}

/// What another command of a container does, such as that of a probe, by what the container says
/// of itself.
pub fn read_words(container: &Container, words: &[String]) -> Arc<Reading> {
    let variables = Variables::own(container);
    let surroundings = Surroundings {
        env: &|name| variables.get(name).map(str::to_owned),
        may_be_set: &|name| variables::may_be_set(container, name),
        file: &|_| None,
    };
    waits::read(words, surroundings)
}

/// What a container's postStart hook does by itself; none without one.
pub fn hook_of(container: &Container) -> Option<Hook> {
    let variables = Variables::own(container);
    let surroundings = Surroundings {
        env: &|name| variables.get(name).map(str::to_owned),
        may_be_set: &|name| variables::may_be_set(container, name),
        file: &|_| None,
    };
    let action = container.post_start.as_ref()?;
    Some(hooks::read_hook(action, surroundings))
}

fn is_declared_beside(template: &PodTemplate, own: &Container, port: u16) -> bool {
    let others = template
        .containers
        .iter()
        .filter(|other| other.name != own.name);
    let mut ports = others.flat_map(|other| &other.ports);
    ports.any(|declared| declared.number == port)
}

/// Words in the names of containers that are never needed first.
const HELPERS: [&str; 10] = [
    "exporter",
    "agent",
    "backup",
    "monitor",
    "metrics",
    "dashboard",
    "logrotate",
    "dnsmasq",
    "healthz",
    "reloader",
];

fn has_helper_name(name: &str) -> bool {
    HELPERS.iter().any(|word| name.contains(word))
}
