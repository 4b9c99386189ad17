//! Which text is read how, and by whom.

use super::mounted::MountedFile;
use super::{Fact, Meaning, caddy, envoy, haproxy, lines, nginx, pgbouncer, redis, tree};
use crate::pod::{Container, PodTemplate};

/// The configuration of one program.
struct Format {
    /// Words of the images and commands of the program.
    programs: &'static [&'static str],
    /// Names of its files; `*` stands for anything at the begin or the end.
    names: &'static [&'static str],
    /// Folders that nobody else reads.
    folders: &'static [&'static str],
    /// Endings of files that the program reads in other places.
    endings: &'static [&'static str],
    /// What a text says; none for programs that start without whoever they name: scrapers and
    /// shippers, which try again, and servers that other facts tell about.
    read: Option<fn(&str) -> Vec<Fact>>,
}

const FORMATS: &[Format] = &[
    Format {
        programs: &["nginx", "openresty"],
        names: &["nginx.conf", "nginx.conf.template"],
        folders: &[
            "/etc/nginx",
            "/opt/bitnami/nginx/conf",
            "/usr/local/openresty",
        ],
        endings: &["conf", "template"],
        read: Some(nginx::read),
    },
    Format {
        programs: &["haproxy"],
        names: &["haproxy.cfg"],
        folders: &["/usr/local/etc/haproxy", "/etc/haproxy"],
        endings: &["cfg"],
        read: Some(haproxy::read),
    },
    Format {
        programs: &["envoy"],
        names: &["envoy.yaml", "envoy.yml", "envoy.json"],
        folders: &["/etc/envoy"],
        endings: &["yaml", "yml", "json"],
        read: Some(envoy::read),
    },
    Format {
        programs: &["pgbouncer"],
        names: &["pgbouncer.ini"],
        folders: &["/etc/pgbouncer", "/opt/bitnami/pgbouncer/conf"],
        endings: &["ini"],
        read: Some(pgbouncer::read),
    },
    Format {
        programs: &["redis", "valkey", "redis-server", "redis-sentinel"],
        names: &["redis.conf", "valkey.conf", "sentinel.conf"],
        folders: &["/usr/local/etc/redis", "/etc/redis"],
        endings: &["conf"],
        read: Some(redis::read),
    },
    Format {
        programs: &["caddy"],
        names: &["Caddyfile"],
        folders: &["/etc/caddy"],
        endings: &[],
        read: Some(caddy::read),
    },
    Format {
        programs: &["prometheus", "vmagent", "thanos", "victoria-metrics"],
        names: &[
            "prometheus.yml",
            "prometheus.yaml",
            "scrape*.yml",
            "scrape*.yaml",
        ],
        folders: &["/etc/prometheus"],
        endings: &["yml", "yaml"],
        read: None,
    },
    Format {
        programs: &[
            "fluent-bit",
            "fluentd",
            "vector",
            "otelcol",
            "opentelemetry-collector",
            "telegraf",
            "promtail",
            "alloy",
            "filebeat",
            "metricbeat",
            "logstash",
            "collector",
            "statsd",
        ],
        names: &[
            "fluent-bit*",
            "fluent.conf",
            "fluentd*",
            "vector.*",
            "otel*",
            "collector*",
            "telegraf.conf",
            "promtail*",
            "filebeat*",
            "metricbeat*",
            "logstash*",
            "config.alloy",
        ],
        folders: &[
            "/fluent-bit",
            "/fluentd",
            "/etc/otelcol",
            "/etc/vector",
            "/etc/telegraf",
            "/etc/promtail",
        ],
        endings: &["yml", "yaml", "conf", "toml"],
        read: None,
    },
    // Grafana asks its sources when somebody looks.
    Format {
        programs: &["grafana"],
        names: &["datasource*", "*dashboard*", "grafana.ini"],
        folders: &["/etc/grafana"],
        endings: &["yml", "yaml", "json", "ini"],
        read: None,
    },
    // Databases, whose files name their own clients.
    Format {
        programs: &[
            "mysql",
            "mariadb",
            "mysqld",
            "postgres",
            "mongod",
            "rabbitmq",
            "supervisord",
        ],
        names: &[
            "my.cnf",
            "*.cnf",
            "postgresql.conf",
            "pg_hba.conf",
            "mongod.conf",
            "rabbitmq.conf",
            "supervisord.conf",
        ],
        folders: &["/etc/mysql", "/etc/supervisor"],
        endings: &["cnf", "conf"],
        read: None,
    },
];

/// What a container's file says.
#[derive(Debug, Default)]
pub struct Read {
    /// The facts in the order of the text.
    pub facts: Vec<Fact>,
    /// The text is that of a program whose every address is told apart, so that it is known to whom
    /// the container passes requests on.
    pub is_structured: bool,
    /// The text is the app's own configuration: addresses in it count like those of variables.
    pub is_of_app: bool,
}

/// The most keys of a text that are looked at.
const MOST_FACTS: usize = 2_000;

/// The longest text that is read, in bytes.
const MOST: usize = 256 * 1024;

/// Reads a mounted file as far as it is configuration that the container itself reads.
pub fn read(file: &MountedFile<'_>, container: &Container, template: &PodTemplate) -> Option<Read> {
    if file.text.len() > MOST {
        return None;
    }
    if let Some(format) = FORMATS.iter().find(|format| format.is_of(file, container)) {
        let read = format
            .read
            .filter(|_| format.is_read_by(file, container, template))?;
        return Some(Read {
            facts: read(file.text),
            is_structured: true,
            is_of_app: false,
        });
    }
    if !has_hint(file.text) || !reads_generic(file, container, template) {
        return None;
    }
    let mut facts = match file.ending() {
        "yaml" | "yml" | "json" => tree::read(file.text),
        "properties" | "env" | "ini" | "toml" | "conf" | "cfg" | "config" => lines::read(file.text),
        _ => return None,
    };
    facts.retain(|fact| !(names_neighbour(&fact.value) && only_watches(&fact.name)));
    facts
        .iter_mut()
        .filter(|fact| names_neighbour(&fact.value) && passes_on(&fact.name))
        .for_each(|fact| {
            fact.meaning = Meaning::Forwards;
        });
    facts.truncate(MOST_FACTS);
    let is_of_app = file.name().starts_with("application") || file.ending() == "env";
    Some(Read {
        facts,
        is_structured: false,
        is_of_app,
    })
}

impl Format {
    fn is_of(&self, file: &MountedFile<'_>, container: &Container) -> bool {
        let name = file.name();
        let named = |pattern: &&str| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(end), None) => name.ends_with(end),
            (None, Some(begin)) => name.starts_with(begin),
            (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
            (None, None) => match pattern.split_once('*') {
                Some((begin, end)) => name.starts_with(begin) && name.ends_with(end),
                None => name == *pattern,
            },
        };
        self.names.iter().any(named)
            || self.owns_folder(file)
            || (self.endings.contains(&file.ending()) && self.runs_in(container))
    }

    fn owns_folder(&self, file: &MountedFile<'_>) -> bool {
        let mut folders = self.folders.iter();
        folders.any(|folder| {
            file.path
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Whether the container is the program, by its image or its command.
    fn runs_in(&self, container: &Container) -> bool {
        let image = container.image.as_deref().unwrap_or_default();
        let image = image.split('@').next().unwrap_or_default();
        let last = image.rsplit('/').next().unwrap_or_default();
        let last = last.split(':').next().unwrap_or_default();
        let is_exporter = last.contains("exporter") || last.contains("reload");
        let in_image = |word: &&str| last.contains(word) && !is_exporter;
        let runs = |word: &str| {
            let base = word.rsplit('/').next().unwrap_or(word);
            self.programs.contains(&base)
        };
        let mut words = container.words().flat_map(str::split_whitespace);
        self.programs.iter().any(in_image) || words.any(runs)
    }

    /// Whether this container is the one that reads the file.
    fn is_read_by(
        &self,
        file: &MountedFile<'_>,
        container: &Container,
        template: &PodTemplate,
    ) -> bool {
        let is_elsewhere = || {
            let mut others = template
                .containers
                .iter()
                .filter(|one| one.at != container.at);
            others.any(|one| self.runs_in(one))
        };
        self.runs_in(container)
            || names(container, &file.path)
            || (self.owns_folder(file) && !is_elsewhere())
    }
}

/// Whether a text can say anything of its neighbours at all.
fn has_hint(text: &str) -> bool {
    [
        "localhost",
        "127.",
        "[::1]",
        ".sock",
        "unix:",
        "port",
        "PORT",
    ]
    .iter()
    .any(|hint| text.contains(hint))
}

/// Whether a container reads a file that no program is known for: nobody else has it, or it names the
/// file or its folder. Containers that look after files read none.
fn reads_generic(file: &MountedFile<'_>, container: &Container, template: &PodTemplate) -> bool {
    const KEEPERS: [&str; 4] = ["reload", "watch", "sync", "backup"];
    let image = container.image.as_deref().unwrap_or_default();
    let keeps = |word: &&str| image.contains(word) || container.name.contains(word);
    if KEEPERS.iter().any(keeps) {
        return false;
    }
    let Some(mount) = container.mounts.get(file.mount) else {
        return false;
    };
    let mut others = template
        .containers
        .iter()
        .filter(|one| one.at != container.at);
    let is_shared = others.any(|one| one.mounts.iter().any(|other| other.volume == mount.volume));
    !is_shared || names(container, &file.path)
}

/// Whether a word or variable of the container names a path.
fn names(container: &Container, path: &str) -> bool {
    let mut variables = container.env.iter().filter_map(|var| var.value.as_deref());
    container.words().any(|word| word.contains(path)) || variables.any(|value| value.contains(path))
}

/// Whether a value can name a server or socket of the pod.
fn names_neighbour(value: &str) -> bool {
    ["localhost", "127.", "[::1]", ".sock", "unix:"]
        .iter()
        .any(|part| value.contains(part))
}

/// Whether a key names what is looked at again and again, however often it is not there.
fn only_watches(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "health",
        "healthcheck",
        "healthchecks",
        "liveness",
        "readiness",
        "probe",
        "probes",
        "scrape",
        "monitor",
    ];
    has_word(name, &WORDS)
}

/// Whether a key names servers to which requests are passed on once they come.
fn passes_on(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "upstream",
        "upstreams",
        "backend",
        "backends",
        "loadbalancer",
        "target",
        "targets",
        "destination",
        "downstream",
        "forward",
    ];
    has_word(name, &WORDS) || name.to_lowercase().ends_with("proxy_pass")
}

/// Whether one of the words of a key is among these, whatever its case.
fn has_word(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    let mut own = name.split(['.', '-', '_']);
    own.any(|word| words.contains(&word))
}
