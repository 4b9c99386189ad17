//! Which commands an image is known not to have.

use super::image::Image;
use super::{Catalog, Entry, Shell};
use crate::pod::Container;

/// Commands that come with a shell or a base system, never with one program alone; sorted.
const GENERAL: [&str; 61] = [
    "[",
    "ash",
    "awk",
    "base64",
    "bash",
    "busybox",
    "cat",
    "chmod",
    "chown",
    "cp",
    "curl",
    "cut",
    "dash",
    "date",
    "dig",
    "echo",
    "env",
    "expr",
    "false",
    "find",
    "getent",
    "grep",
    "head",
    "hostname",
    "jq",
    "kill",
    "killall",
    "ksh",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "nc",
    "ncat",
    "netcat",
    "nslookup",
    "pgrep",
    "pidof",
    "ping",
    "pkill",
    "ps",
    "python",
    "python3",
    "rm",
    "sed",
    "seq",
    "sh",
    "sleep",
    "sort",
    "tail",
    "tee",
    "test",
    "timeout",
    "touch",
    "tr",
    "true",
    "wait-for-it",
    "wc",
    "wget",
    "xargs",
    "zsh",
];

/// Commands that the plain images of busybox and Alpine come without.
const NOT_IN_BUSYBOX: &str = "bash curl jq perl python python3 zsh";

/// Images that hold one program and nothing else, by the Dockerfiles of their projects.
const ONE_PROGRAM: [&str; 8] = [
    "pause",
    "chainguard/static",
    "coredns/coredns",
    "kube-state-metrics/kube-state-metrics",
    "metrics-server/metrics-server",
    "jetstack/cert-manager-controller",
    "jetstack/cert-manager-webhook",
    "jetstack/cert-manager-cainjector",
];

/// What is known of the commands of a container's image.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    container: &'a Container,
    stock: Stock<'a>,
}

/// The general commands of an image.
#[derive(Clone, Copy, Debug)]
enum Stock<'a> {
    /// Those of a plain busybox or Alpine.
    Busybox,
    /// None but those that its entry lists.
    Listed(&'a [String]),
}

impl Catalog {
    /// The commands of a container's image; none when it may have any.
    pub fn tools<'a>(&'a self, container: &'a Container) -> Option<Tools<'a>> {
        let text = container.image.as_deref()?;
        let image = Image::parse(text);
        let stock = if is_plain_busybox(&image) {
            Stock::Busybox
        } else {
            let entry = self.find(container);
            let has_one_program = || ONE_PROGRAM.iter().any(|known| image.matches(known));
            let is_bare = entry.is_some_and(|entry| entry.is_bare(&image))
                || is_distroless(text)
                || has_one_program();
            let listed = entry.map_or(&[][..], |entry| &entry.tools);
            is_bare.then_some(Stock::Listed(listed))?
        };
        Some(Tools { container, stock })
    }
}

impl Tools<'_> {
    /// Whether the image is known not to have a command, given as it is called.
    pub fn lack(&self, command: &str) -> bool {
        let Some(name) = general(self.container, command) else {
            return false;
        };
        match self.stock {
            Stock::Busybox => NOT_IN_BUSYBOX.split(' ').any(|absent| absent == name),
            Stock::Listed(tools) => !tools.iter().any(|tool| tool == name),
        }
    }
}

impl Entry {
    /// Whether an image of this entry has nothing but its own programs.
    fn is_bare(&self, image: &Image<'_>) -> bool {
        let brings_shell = self.shell_tags.iter().any(|tag| image.has_tag(tag));
        let is_listed = || self.bare_images.iter().any(|it| image.matches(it));
        !brings_shell && (self.shell == Shell::None || is_listed())
    }
}

/// The name of a general command that would have to be in the image itself: not in a volume, and
/// not in a folder of the image's own.
fn general<'w>(container: &Container, command: &'w str) -> Option<&'w str> {
    let (folder, name) = command.rsplit_once('/').unwrap_or(("", command));
    let is_usual = [
        "",
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
    ]
    .contains(&folder);
    let is_mounted = container
        .mounts
        .iter()
        .any(|mount| !folder.is_empty() && mount.path.trim_end_matches('/') == folder);
    let is_general = GENERAL.binary_search(&name).is_ok();
    (is_usual && is_general && !is_mounted).then_some(name)
}

/// Images that say of themselves that there is no shell; their debug tags have one.
fn is_distroless(image: &str) -> bool {
    image.contains("distroless") && !image.contains("debug")
}

fn is_plain_busybox(image: &Image<'_>) -> bool {
    let is_official = |name: &str| image.is(name) || image.matches(&format!("library/{name}"));
    is_official("busybox") || is_official("alpine")
}

#[cfg(test)]
mod tests {
    #[test]
    fn general_commands_are_sorted() {
        assert!(super::GENERAL.is_sorted());
    }
}
