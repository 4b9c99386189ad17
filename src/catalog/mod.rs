//! Known sidecars, as data: recognised by image and mode, never by a container's name.
//!
//! The data is `sidecars.yaml` beside this file. A fact there has a source and a date; a rule that
//! rests on an image alone is at most a warning.

mod image;
mod read;
mod tools;

pub use read::CatalogError;

use crate::pod::Container;
use std::sync::LazyLock;

/// What a sidecar means for the start of the containers beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Others need it before they start.
    Needed,
    /// A late start costs data or noise, not a failure.
    Useful,
    /// Its start does not matter.
    Irrelevant,
    /// It depends on the others: front proxies, exporters, reloaders. Never a gate.
    Reverse,
}

/// Which containers a needed sidecar's job covers when nothing else tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Every container of the pod: mesh proxies.
    All,
    /// App containers.
    Apps,
    /// Containers that dial it on loopback; app containers when none does.
    Loopback,
    /// Containers that mount a volume which it fills.
    Volume,
}

/// Whether a shell is in its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// `sh` is there.
    Posix,
    /// Nothing of the kind.
    None,
    /// It depends on the tag, or is not known.
    Varies,
}

/// An HTTP endpoint that answers 200 once the sidecar serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Its path.
    pub path: String,
    /// Its port when no flag names another.
    pub port: u16,
    /// Flags and variables that name another port.
    pub port_by: Vec<String>,
    /// Arguments without which it is not there, or listens on loopback only.
    pub args: Vec<String>,
    /// Variables that stand for those arguments, in the same order.
    pub env: Vec<String>,
}

/// An endpoint of a sidecar that looks at the app behind it: as a gate it is a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitsForApp {
    /// Its path; one that ends in `/` stands for all paths below it.
    pub path: String,
    /// Flags and variables without all of which it looks at nobody.
    pub when: Vec<String>,
}

/// The vendor's own command that waits until the sidecar serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitCommand {
    /// The words of the command; the path of the binary may be left out.
    pub command: Vec<String>,
    /// How long it waits by default, in seconds.
    pub bound_seconds: Option<u64>,
    /// Arguments of the sidecar without which it cannot work.
    pub args: Vec<String>,
    /// Variables that stand for those arguments.
    pub env: Vec<String>,
}

/// One sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How messages call it.
    pub name: String,
    /// What it means for its neighbours.
    pub class: Class,
    /// `mesh`, `database`, `secrets`, …
    pub kind: String,
    /// Patterns for the last segments of the image, with `*` and perhaps a tag.
    pub images: Vec<String>,
    /// Words of the command or variables (`NAME=value`) without all of which it is something else.
    pub only_when: Vec<String>,
    /// Words of the command that make it something else.
    pub not_when: Vec<String>,
    /// Words of the command that make it a front proxy.
    pub front_when: Vec<String>,
    /// Words of the command or variables that make it an init twin: it does its job once and ends.
    pub once_when: Vec<String>,
    /// Whom its job covers.
    pub covers: Covers,
    /// Ports that it listens on when no flag names others.
    pub serves: Vec<u16>,
    /// Flags and variables that name the port it serves.
    pub serves_by: Vec<String>,
    /// Ports that it opens on loopback only.
    pub listens_on_loopback: Vec<u16>,
    /// Flags and variables that give those ports another address.
    pub address_by: Vec<String>,
    /// An endpoint that is not healthy before the container beside it listens.
    pub waits_for_app: Option<WaitsForApp>,
    /// Sockets that it makes by default.
    pub sockets: Vec<String>,
    /// It fills the volumes that it mounts writable.
    pub files: bool,
    /// Its health endpoint.
    pub health: Option<Health>,
    /// A command of its image for an exec probe.
    pub probe: Vec<String>,
    /// Flags of the sidecar that say where it listens; the probe's command needs the same value.
    pub probe_host_by: Vec<String>,
    /// Its own wait command.
    pub wait: Option<WaitCommand>,
    /// It never ends by itself.
    pub never_exits: bool,
    /// Whether a shell is in its image.
    pub shell: Shell,
    /// Patterns for images without a shell, when it depends.
    pub bare_images: Vec<String>,
    /// Patterns for tags that bring a shell all the same.
    pub shell_tags: Vec<String>,
    /// General commands that are in its image although no shell is.
    pub tools: Vec<String>,
    /// When the facts were checked, as `YYYY-MM`.
    pub checked: String,
    /// Where.
    pub sources: Vec<String>,
}

/// All known sidecars.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// In the order in which they are tried.
    pub entries: Vec<Entry>,
}

static BUILT_IN: LazyLock<Catalog> = LazyLock::new(|| {
    let json = include_str!(concat!(env!("OUT_DIR"), "/sidecars.json"));
    let value = serde_json::from_str(json).unwrap_or_default();
    read::read(&crate::manifest::Document::from_json(&value)).unwrap_or_default()
});

impl Catalog {
    /// The catalogue of this build.
    pub fn built_in() -> &'static Catalog {
        &BUILT_IN
    }

    /// What a container is, by its image and its mode.
    pub fn find(&self, container: &Container) -> Option<&Entry> {
        let image = image::Image::parse(container.image.as_deref()?);
        self.entries.iter().find(|entry| {
            entry.images.iter().any(|pattern| image.matches(pattern)) && entry.has_mode(container)
        })
    }
}

impl Entry {
    fn has_mode(&self, container: &Container) -> bool {
        let says = |words: &String| says(container, words);
        self.only_when.iter().all(says) && !self.not_when.iter().any(says)
    }

    /// Its class in this container: a front proxy by its flags points the other way.
    pub fn class_in(&self, container: &Container) -> Class {
        if self.front_when.iter().any(|words| says(container, words)) {
            Class::Reverse
        } else {
            self.class
        }
    }

    /// Whether the container does its job once and ends, as an init twin does.
    pub fn runs_once(&self, container: &Container) -> bool {
        self.once_when.iter().any(|words| says(container, words))
    }
}

/// Whether the command has these words one after the other, perhaps inside a script, or a
/// variable has this value (`NAME=value`).
fn says(container: &Container, words: &str) -> bool {
    if let Some((name, value)) = words.split_once('=').filter(|_| !words.starts_with('-')) {
        return container
            .env
            .iter()
            .any(|var| var.name == name && var.value.as_deref() == Some(value));
    }
    let line = container.words().collect::<Vec<_>>().join(" ");
    let ends = |char: Option<char>| {
        char.is_none_or(|char| !char.is_alphanumeric() && char != '-' && char != '_')
    };
    line.match_indices(words).any(|(at, _)| {
        ends(line[..at].chars().next_back()) && ends(line[at + words.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::parse::parse;
    use crate::pod::workload::{Object, read};

    fn found(container: &str) -> Option<(String, Class)> {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: x\n    {container}\n"
        );
        let parsed = parse("x", text);
        let contents = read(&parsed.documents[0]);
        let Some(Object::Workload(workload)) = contents.objects.first() else {
            panic!("a pod")
        };
        let container = &workload.template.containers[0];
        Catalog::built_in()
            .find(container)
            .map(|entry| (entry.name.clone(), entry.class_in(container)))
    }

    #[test]
    fn class_belongs_to_image_and_mode() {
        let needed = |name: &str| Some((name.to_owned(), Class::Needed));
        assert_eq!(
            found("image: hashicorp/vault:1.18\n    args: [agent, -config=x]"),
            needed("vault-agent")
        );
        assert_eq!(
            found("image: hashicorp/vault:1.18\n    args: [server]"),
            None
        );
        assert_eq!(
            found("image: cr.l5d.io/linkerd/proxy:edge"),
            needed("linkerd-proxy")
        );
        assert_eq!(
            found("image: docker.io/istio/proxyv2:1.24\n    args: [proxy, router]").map(|it| it.1),
            Some(Class::Reverse)
        );
        assert_eq!(found("image: docker:27.3-dind"), needed("dind"));
        assert_eq!(found("image: docker:27.3-cli"), None);
        assert_eq!(
            found("image: registry.example.com/reports/archive-to-cold-vault:0.4.0"),
            None
        );
        assert_eq!(
            found("image: registry.example.com:5000/oliver/redis_exporter@sha256:00")
                .map(|it| it.1),
            Some(Class::Reverse)
        );
    }

    #[test]
    fn every_entry_says_where_and_when_it_was_checked() {
        assert!(Catalog::built_in().entries.len() >= 15);
        for entry in &Catalog::built_in().entries {
            assert!(
                !entry.sources.is_empty() && entry.checked.len() == 7,
                "{}",
                entry.name
            );
        }
    }
}
