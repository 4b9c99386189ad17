//! One sidecar: what is known of an image in its usual mode, and in others.

use super::image::Image;
use super::modes::{runs_one_of, says};
use super::version::Range;
use crate::pod::Container;

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
    /// Containers that dial it, and nobody else: whether it is used only the manifest tells.
    Callers,
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
    /// Its port when no setting names another; none when a setting has to.
    pub port: Option<u16>,
    /// Flags and variables that name another port.
    pub port_by: Vec<String>,
    /// Words and variables without all of which it is not there, and that a fix does not add.
    pub only_when: Vec<String>,
    /// Arguments without which it is not there, or listens on loopback only.
    pub args: Vec<String>,
    /// Variables or short flags that stand for those arguments, in the same order.
    pub env: Vec<String>,
    /// The versions of the image that have it.
    pub range: Range,
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
    /// The versions of the image that have it.
    pub range: Range,
}

/// A command of the image for an exec probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeCommand {
    /// Its words.
    pub command: Vec<String>,
    /// Flags of the sidecar that say where it listens; the command needs the same value.
    pub host_by: Vec<String>,
    /// The command's own flag for that.
    pub host_flag: String,
}

/// How a sidecar behaves in a pod that has to complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It goes on until it is stopped.
    Never,
    /// It ends alone once its work is done.
    Itself,
    /// It goes on until somebody calls an endpoint of its own.
    Quit(Quit),
}

/// An endpoint that ends a sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quit {
    /// Its path.
    pub path: String,
    /// Its port when no setting names another.
    pub port: u16,
    /// Flags and variables that name another port.
    pub port_by: Vec<String>,
    /// Words and variables without all of which the sidecar does not listen there.
    pub only_when: Vec<String>,
}

/// What is different in some versions of the image, or in some modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The versions.
    pub range: Range,
    /// Words and variables without all of which it is not this mode.
    pub only_when: Vec<String>,
    /// Words and variables that make it another mode.
    pub not_when: Vec<String>,
    /// The facts there, those of the entry included where they hold as well.
    pub entry: Entry,
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
    /// Words and variables (`docs/catalog.md` says how) without all of which it is something else.
    pub only_when: Vec<String>,
    /// Words and variables that make it something else.
    pub not_when: Vec<String>,
    /// The programs of the image that this is about, when a command replaces the entrypoint.
    pub programs: Vec<String>,
    /// Words and variables that make it a front proxy.
    pub front_when: Vec<String>,
    /// It is a front proxy wherever an app container stands beside it: a web server.
    pub fronts_neighbours: bool,
    /// Words and variables that make it an init twin: it does its job once and ends.
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
    /// Its health endpoints, of which versions and modes have at most one.
    pub health: Vec<Health>,
    /// A command of its image for an exec probe.
    pub probe: Option<ProbeCommand>,
    /// Its own wait command, if the version has it.
    pub wait: Option<WaitCommand>,
    /// Whether it ends, and by what; none when that is not known.
    pub exit: Option<Exit>,
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
    /// What differs in some versions or modes; the first that holds counts.
    pub variants: Vec<Variant>,
}

impl Entry {
    /// Whether an image and a mode are this sidecar's.
    pub(super) fn takes(&self, image: &Image<'_>, container: &Container) -> bool {
        self.images.iter().any(|pattern| image.matches(pattern))
            && in_mode(&self.only_when, &self.not_when, container)
            && runs_one_of(container, &self.programs)
    }

    /// What is known of it in this version and mode.
    pub(super) fn of(&self, image: &Image<'_>, container: &Container) -> &Entry {
        let holds = |variant: &&Variant| {
            variant.range.holds(image) && in_mode(&variant.only_when, &variant.not_when, container)
        };
        let variant = self.variants.iter().find(holds);
        variant.map_or(self, |variant| &variant.entry)
    }

    /// Its class in this container: a front proxy by its flags points the other way.
    pub fn class_in(&self, container: &Container) -> Class {
        if self.front_when.iter().any(|words| says(container, words)) {
            Class::Reverse
        } else {
            self.class
        }
    }

    /// Its health endpoint in this container's version and mode; one that only waits for a flag of
    /// its own ([`Health::args`]) counts.
    pub fn health_in(&self, container: &Container) -> Option<&Health> {
        let image = Image::parse(container.image.as_deref().unwrap_or_default());
        self.health.iter().find(|health| {
            health.range.holds(&image)
                && health.only_when.iter().all(|words| says(container, words))
        })
    }

    /// Its wait command, if this container's version has it.
    pub fn wait_in(&self, container: &Container) -> Option<&WaitCommand> {
        let image = Image::parse(container.image.as_deref().unwrap_or_default());
        self.wait.as_ref().filter(|wait| wait.range.holds(&image))
    }

    /// Whether the container does its job once and ends, as an init twin does.
    pub fn runs_once(&self, container: &Container) -> bool {
        self.once_when.iter().any(|words| says(container, words))
    }
}

impl Quit {
    /// Whether the sidecar may listen for it in this container; variables from elsewhere may say so.
    pub fn is_offered(&self, container: &Container) -> bool {
        !container.env_from.is_empty() || self.only_when.iter().all(|words| says(container, words))
    }
}

fn in_mode(only_when: &[String], not_when: &[String], container: &Container) -> bool {
    only_when.iter().all(|words| says(container, words))
        && !not_when.iter().any(|words| says(container, words))
}
