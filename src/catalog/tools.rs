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

impl Catalog {
    /// Whether a container's image is known not to have a command, given as it is called.
    pub fn lacks(&self, container: &Container, command: &str) -> bool {
        let Some(name) = general(container, command) else {
            return false;
        };
        let Some(text) = container.image.as_deref() else {
            return false;
        };
        let image = Image::parse(text);
        if is_plain_busybox(&image) {
            return NOT_IN_BUSYBOX.split(' ').any(|absent| absent == name);
        }
        let entry = self.find(container);
        let has_one_program = ONE_PROGRAM.iter().any(|known| image.matches(known));
        let is_bare = is_distroless(text)
            || has_one_program
            || entry.is_some_and(|entry| entry.is_bare(&image));
        is_bare && !entry.is_some_and(|entry| entry.tools.iter().any(|tool| tool == name))
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
