//! One container as its neighbours see it: what it serves, dials, opens, writes and waits for.

use super::addresses::{self, Address, Target};
use super::entrypoint;
use super::hooks::{self, Hook};
use super::serves::{self, Served};
use super::settings::{self, Setting};
use super::waits::{self, Reading, Wait};
use crate::catalog::{Catalog, Class, Entry};
use crate::manifest::FieldPath;
use crate::pod::template::{Mount, VolumeSource};
use crate::pod::{Action, Container, PodTemplate, Role};
use crate::shell::{Background, Surroundings};

/// An address of this pod's loopback that a container names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialled {
    /// The port; none when only the host is written.
    pub port: Option<u16>,
    /// The path of a URL.
    pub path: Option<String>,
    /// What is marked in the field: `127.0.0.1:5432`.
    pub words: String,
    /// The field.
    pub at: FieldPath,
    /// The variable or flag that holds it.
    pub setting: Option<String>,
}

/// A path of a file or socket that a container names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// The path, absolute.
    pub path: String,
    /// The field.
    pub at: FieldPath,
    /// It listens there: a flag such as `--socket` or `--listen` names it.
    pub is_made: bool,
}

/// What is known of one container.
#[derive(Clone, Debug)]
pub struct Profile<'c> {
    /// The container.
    pub container: &'c Container,
    /// What the catalogue knows of its image.
    pub entry: Option<&'c Entry>,
    /// Its class by the catalogue, or a front proxy by its flags.
    pub class: Option<Class>,
    /// Its flags and variables.
    pub settings: Vec<Setting>,
    /// The ports that it listens on.
    pub serves: Vec<Served>,
    /// The loopback addresses that it names, its own ports left out.
    pub dials: Vec<Dialled>,
    /// The paths that it reads or opens.
    pub paths: Vec<NamedPath>,
    /// What its own command does, as far as it can be read.
    pub reading: Reading,
    /// What its postStart hook does.
    pub hook: Option<Hook>,
    /// The command of its postStart hook, as far as it can be read.
    pub post_start: Option<Reading>,
    /// The command of its preStop hook, as far as it can be read.
    pub pre_stop: Option<Reading>,
    /// Named like something that never has to be there first (exporter, backup, …).
    pub has_helper_name: bool,
}

/// The value of a key of a ConfigMap, by the map's name and the key.
pub type Config<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// The profiles of all containers; none for a lone container without a hook and without a script,
/// which has no order to get wrong and waits for nobody.
pub fn profiles<'c>(
    template: &'c PodTemplate,
    catalog: &'c Catalog,
    config: Config<'_>,
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
        .map(|container| Profile::read(container, template, catalog, config))
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
        config: Config<'_>,
    ) -> Profile<'c> {
        let given = Given {
            container,
            template,
            config,
        };
        let entry = catalog.find(container);
        let settings = settings::settings(container);
        let serves = serves::ports(container, &settings, entry);
        let post_start = given.read_exec(container.post_start.as_ref());
        let mut profile = Profile {
            container,
            entry,
            class: entry.map(|entry| entry.class_in(container)),
            serves,
            dials: Vec::new(),
            paths: Vec::new(),
            reading: given.read_command(),
            hook: given.judge_hook(post_start.as_ref()),
            pre_stop: given.read_exec(container.pre_stop.as_ref()),
            post_start,
            has_helper_name: has_helper_name(&container.name),
            settings,
        };
        profile.dials = profile.read_dials();
        profile.paths = profile.read_paths();
        if is_front_proxy(&profile, template) {
            profile.class = Some(Class::Reverse);
        }
        profile
    }

    /// Whether it listens on a port, and how that is known.
    pub fn served(&self, port: u16) -> Option<Served> {
        self.serves
            .iter()
            .copied()
            .find(|served| served.port == port)
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
        let health = other.entry.and_then(|entry| entry.health.as_ref());
        let health = health.and_then(|health| serves::health_port(&other.settings, health));
        self.waits().any(|wait| match &wait.target {
            Target::Address(address) if address.is_loopback() => {
                let port = address.port_or_default();
                port.is_some_and(|port| other.served(port).is_some() || health == Some(port))
            }
            _ => false,
        })
    }

    /// Whether its command visibly uses no network.
    pub fn is_offline(&self) -> bool {
        self.reading.is_offline() == Some(true)
    }

    fn read_dials(&self) -> Vec<Dialled> {
        let mut found: Vec<Dialled> = Vec::new();
        for setting in self
            .settings
            .iter()
            .filter(|setting| !is_exception_list(setting) && !is_telemetry(setting))
        {
            for (address, words) in dialled(&setting.value, true) {
                let port = address
                    .port_or_default()
                    .or_else(|| self.sibling_port(setting));
                let port = port.or_else(|| default_port(&setting.name));
                let named = setting.is_variable() || setting.name.starts_with("--");
                let name = named.then(|| setting.name.clone());
                add(&mut found, dial(address, port, words, &setting.at, name));
            }
        }
        for word in settings::words(self.container) {
            for (address, words) in dialled(&word.text, false) {
                let port = address.port_or_default();
                add(&mut found, dial(address, port, words, &word.at, None));
            }
        }
        self.read_polled(&mut found);
        found.retain(|dialled| dialled.port.is_none_or(|port| self.served(port).is_none()));
        found
    }

    /// Ports that its own command polls: `nc -z localhost 5432`.
    fn read_polled(&self, found: &mut Vec<Dialled>) {
        let words = settings::words(self.container);
        for wait in self.waits() {
            let Target::Address(address) = &wait.target else {
                continue;
            };
            let port = address.port_or_default();
            let word = words.iter().find(|word| word.text.contains(&wait.words));
            let Some(word) = word.filter(|_| address.is_loopback() && port.is_some()) else {
                continue;
            };
            if !found.iter().any(|dialled| dialled.port == port) {
                let polled = dial(address.clone(), port, wait.words.clone(), &word.at, None);
                found.push(polled);
            }
        }
    }

    /// The port beside a host of its own: `DB_PORT` for `DB_HOST`, `--db-port` for `--db-host`.
    fn sibling_port(&self, host: &Setting) -> Option<u16> {
        const HOST: [&str; 6] = ["host", "hostname", "addr", "address", "server", "endpoint"];
        const PORT: [&str; 1] = ["port"];
        let stem = |setting: &Setting, ends: &[&str]| {
            let text: String = setting.name_words().collect::<Vec<_>>().join("_");
            ends.iter().find_map(|end| {
                text.strip_suffix(end)
                    .map(|stem| stem.trim_end_matches('_').to_owned())
            })
        };
        let wanted = stem(host, &HOST)?;
        let port = self
            .settings
            .iter()
            .find(|port| stem(port, &PORT).as_ref() == Some(&wanted))?;
        port.value.trim().parse().ok()
    }

    fn read_paths(&self) -> Vec<NamedPath> {
        let mut found = Vec::new();
        let mut add = |path: String, at: &FieldPath, is_made: bool| {
            found.push(NamedPath {
                path,
                at: at.clone(),
                is_made,
            });
        };
        for setting in &self.settings {
            let is_made = !setting.is_variable() && names_own_socket(setting);
            for path in paths(&setting.value) {
                add(path, &setting.at, is_made);
            }
        }
        for word in settings::words(self.container) {
            if !word.text.contains(char::is_whitespace) {
                paths(&word.text)
                    .into_iter()
                    .for_each(|path| add(path, &word.at, false));
                continue;
            }
            let stands = |path: &&String| word.text.contains(path.as_str());
            let reads = self.reading.reads.iter().filter(stands);
            reads.for_each(|path| add(path.clone(), &word.at, false));
            let writes = self.reading.writes.iter().filter(stands);
            writes.for_each(|path| add(path.clone(), &word.at, true));
        }
        found
    }
}

/// What a container's own command does, by what the container says of itself.
pub fn read_command(container: &Container) -> Reading {
    let words: Vec<String> = container.words().map(str::to_owned).collect();
    let surroundings = Surroundings {
        env: &|name| own_variable(container, name),
        file: &|_| None,
    };
    waits::read(&words, surroundings)
}

/// What a container's postStart hook does by itself; none without one.
pub fn hook_of(container: &Container) -> Option<Hook> {
    let surroundings = Surroundings {
        env: &|name| own_variable(container, name),
        file: &|_| None,
    };
    let action = container.post_start.as_ref()?;
    Some(hooks::read_hook(action, surroundings))
}

/// The value of one of the container's own variables, as far as the manifest writes it.
fn own_variable(container: &Container, name: &str) -> Option<String> {
    let found = container.env.iter().rfind(|var| var.name == name)?;
    Some(settings::expand(container, found.value.as_deref()?))
}

/// What a container's scripts find around them: its variables, and files of ConfigMaps.
#[derive(Clone, Copy)]
struct Given<'g> {
    container: &'g Container,
    template: &'g PodTemplate,
    config: Config<'g>,
}

impl Given<'_> {
    fn read_command(&self) -> Reading {
        let own = self.container.words().map(str::to_owned);
        let words: Vec<String> = entrypoint::implied(self.container)
            .map(str::to_owned)
            .into_iter()
            .chain(own)
            .collect();
        self.with_surroundings(|surroundings| waits::read(&words, surroundings))
    }

    /// Reads the command of an exec hook.
    fn read_exec(&self, action: Option<&Action>) -> Option<Reading> {
        let Action::Exec { command } = action? else {
            return None;
        };
        Some(self.with_surroundings(|surroundings| waits::read(command, surroundings)))
    }

    /// What the postStart hook does; `reading` is that of its command, if it has one.
    fn judge_hook(&self, reading: Option<&Reading>) -> Option<Hook> {
        let action = self.container.post_start.as_ref()?;
        Some(match (action, reading) {
            (Action::Exec { command }, Some(reading)) => hooks::judge(command, reading),
            _ => self.with_surroundings(|surroundings| hooks::read_hook(action, surroundings)),
        })
    }

    fn with_surroundings<T>(&self, read: impl FnOnce(Surroundings<'_>) -> T) -> T {
        read(Surroundings {
            env: &|name| self.variable(name),
            file: &|path| self.file(path),
        })
    }

    /// The value of one of the container's own variables.
    fn variable(&self, name: &str) -> Option<String> {
        let own = self.container.env.iter().rfind(|var| var.name == name);
        if let Some(var) = own {
            return match (&var.value, &var.from) {
                (Some(value), _) => Some(settings::expand(self.container, value)),
                (None, Some(key)) if !key.secret => (self.config)(&key.name, &key.key),
                (None, Some(_) | None) => None,
            };
        }
        let maps = self.container.env_from.iter().filter(|map| !map.secret);
        maps.rev()
            .find_map(|map| (self.config)(&map.name, name.strip_prefix(map.prefix.as_str())?))
    }

    /// The text of a file that is a key of a ConfigMap.
    fn file(&self, path: &str) -> Option<String> {
        let (mount, key) = self
            .container
            .mounts
            .iter()
            .filter_map(|mount| Some((mount, key_of(mount, path)?)))
            .max_by_key(|(mount, _)| mount.path.len())?;
        match &self.template.volume(&mount.volume)?.source {
            VolumeSource::ConfigMap(name) => (self.config)(name, key),
            VolumeSource::EmptyDir
            | VolumeSource::HostPath(_)
            | VolumeSource::Claim(_)
            | VolumeSource::Secret(_)
            | VolumeSource::Csi(_)
            | VolumeSource::Other(_) => None,
        }
    }
}

/// The key that a path below a mount stands for.
fn key_of<'p>(mount: &'p Mount, path: &'p str) -> Option<&'p str> {
    let folder = mount.path.trim_end_matches('/');
    match &mount.sub_path {
        Some(key) => (path == folder).then_some(key.as_str()),
        None => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// The loopback addresses in a text; a bare host counts only where the whole text is one.
fn dialled(text: &str, takes_bare_host: bool) -> Vec<(Address, String)> {
    let mut found = addresses::mentions(text);
    if found.is_empty() && takes_bare_host {
        found.extend(addresses::endpoint(text.trim()));
    }
    let loopback = found
        .into_iter()
        .filter_map(|mention| match mention.target {
            Target::Address(address) if address.is_loopback() => Some((address, mention.words)),
            _ => None,
        });
    loopback.collect()
}

fn dial(
    address: Address,
    port: Option<u16>,
    words: String,
    at: &FieldPath,
    setting: Option<String>,
) -> Dialled {
    Dialled {
        port,
        path: address.path,
        words,
        at: at.clone(),
        setting,
    }
}

fn add(found: &mut Vec<Dialled>, dialled: Dialled) {
    let is_known = |other: &Dialled| other.port == dialled.port && other.at == dialled.at;
    if !found.iter().any(is_known) {
        found.push(dialled);
    }
}

/// A flag that names the socket a server makes: `--listen=/run/x.sock`, `--host=unix:///run/x.sock`.
fn names_own_socket(setting: &Setting) -> bool {
    let words = |word: String| matches!(word.as_str(), "listen" | "bind" | "socket" | "sock");
    let is_host = setting.name == "--host" || setting.name == "-H";
    setting.name_words().any(words) || (is_host && setting.value.starts_with("unix://"))
}

/// The absolute paths in a value.
fn paths(value: &str) -> Vec<String> {
    let parts = value
        .split(|char: char| char.is_whitespace() || matches!(char, ',' | '=' | '"' | '\'' | ';'));
    let path = |part: &str| {
        let bare = ["unix://", "file://", "unix:", "file:"]
            .iter()
            .find_map(|scheme| part.strip_prefix(scheme));
        let bare = bare.unwrap_or(part);
        let is_path = bare.starts_with('/') && bare.len() > 1 && !bare.starts_with("//");
        is_path.then(|| bare.to_owned())
    };
    parts.filter_map(path).collect()
}

/// `NO_PROXY` and the like list addresses that are not dialled.
fn is_exception_list(setting: &Setting) -> bool {
    let name = setting.name.to_lowercase();
    name.contains("no_proxy")
        || name.contains("no-proxy")
        || name.contains("allowed")
        || name.contains("exclude")
}

/// Where traces, metrics and logs are sent: whoever sends them buffers and retries.
fn is_telemetry(setting: &Setting) -> bool {
    const WORDS: [&str; 14] = [
        "otel",
        "otlp",
        "exporter",
        "export",
        "jaeger",
        "zipkin",
        "statsd",
        "tracing",
        "traces",
        "telemetry",
        "datadog",
        "apm",
        "fluentd",
        "syslog",
    ];
    setting
        .name_words()
        .any(|word| WORDS.contains(&word.as_str()))
}

/// The port that a name stands for when none is written.
fn default_port(name: &str) -> Option<u16> {
    let name = name.to_lowercase();
    let known = [
        ("pg", 5432),
        ("postgres", 5432),
        ("mysql", 3306),
        ("mariadb", 3306),
        ("redis", 6379),
        ("mongo", 27017),
        ("amqp", 5672),
        ("rabbit", 5672),
        ("memcache", 11211),
        ("elastic", 9200),
    ];
    known
        .iter()
        .find(|(word, _)| name.contains(word))
        .map(|(_, port)| *port)
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

/// A front proxy by its flags: it waits for the container behind it.
fn is_front_proxy(profile: &Profile<'_>, template: &PodTemplate) -> bool {
    let forwards = profile.settings.iter().any(|setting| {
        let name = setting.name.trim_start_matches('-');
        let points_back = matches!(
            name,
            "upstream" | "backend" | "backend-address" | "proxy-to" | "upstream-url"
        );
        points_back && !dialled(&setting.value, true).is_empty()
    });
    let connects = profile.container.words().any(|word| {
        word.strip_prefix("tcp-connect:")
            .or_else(|| word.strip_prefix("TCP-CONNECT:"))
            .is_some_and(|rest| serves::is_loopback(rest.split(':').next().unwrap_or_default()))
    });
    let image = profile.container.image.as_deref().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let last = last.split([':', '@']).next().unwrap_or_default();
    let is_web_server = matches!(
        last,
        "nginx" | "haproxy" | "traefik" | "caddy" | "nginx-unprivileged"
    );
    let apps = template
        .containers
        .iter()
        .filter(|container| container.role == Role::App)
        .count();
    forwards || connects || (is_web_server && profile.container.role == Role::App && apps > 1)
}
