//! Commands that need nothing but the container itself.

use super::addresses::{Target, mentions};
use super::tools::name_of;
use super::waits::{Purpose, Reading};
use super::worlds::Call;
use crate::shell::{Background, End};

/// Commands that use no network and wait for nobody; sorted.
const LOCAL: [&str; 102] = [
    "[",
    "addgroup",
    "adduser",
    "awk",
    "base64",
    "basename",
    "cat",
    "chgrp",
    "chmod",
    "chown",
    "cksum",
    "clear",
    "cmp",
    "comm",
    "cp",
    "cut",
    "date",
    "dd",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "envsubst",
    "expr",
    "fallocate",
    "false",
    "fgrep",
    "file",
    "find",
    "free",
    "getcap",
    "getfacl",
    "grep",
    "groupadd",
    "gunzip",
    "gzip",
    "head",
    "hostname",
    "id",
    "install",
    "jq",
    "kill",
    "killall",
    "ldconfig",
    "ln",
    "ls",
    "lsattr",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mknod",
    "mktemp",
    "modprobe",
    "mount",
    "mountpoint",
    "mv",
    "nproc",
    "od",
    "openssl",
    "paste",
    "pgrep",
    "pidof",
    "pkill",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
    "sed",
    "setcap",
    "setfacl",
    "sha256sum",
    "sort",
    "stat",
    "swapoff",
    "sync",
    "sysctl",
    "tail",
    "tar",
    "tee",
    "touch",
    "tr",
    "true",
    "truncate",
    "umask",
    "umount",
    "uname",
    "uniq",
    "unlink",
    "unzip",
    "usermod",
    "uuidgen",
    "wc",
    "whoami",
    "xargs",
    "yq",
    "zcat",
];

/// Whether a command by this name uses no network.
pub(super) fn is_local(name: &str) -> bool {
    LOCAL.binary_search(&name).is_ok()
}

impl Reading {
    /// Whether the command visibly uses no network; none when that cannot be seen.
    pub fn is_offline(&self) -> Option<bool> {
        let is_remote = |target: &Target| !matches!(target, Target::File { .. } | Target::Opaque);
        let mut checks = self.waits.iter().chain(&self.tries);
        if checks.any(|wait| is_remote(&wait.target)) {
            return Some(false);
        }
        if self.calls.iter().any(names_an_address) {
            return Some(false);
        }
        let all_local = self.calls.iter().all(|call| call.is_local);
        (all_local && !self.is_empty).then_some(true)
    }

    /// The words of its commands that may use the network, variables resolved.
    pub(super) fn words_sent(&self) -> impl Iterator<Item = &str> {
        let calls = self.calls.iter().filter(|call| !call.is_local);
        calls.flat_map(|call| call.words.iter().map(String::as_str))
    }

    /// Whether its commands name a path, and only those that use no network do.
    pub(super) fn only_local_commands_name(&self, path: &str) -> bool {
        let mut names = self
            .calls
            .iter()
            .filter(|call| call.words.iter().any(|word| word.contains(path)))
            .peekable();
        names.peek().is_some() && names.all(|call| call.is_local)
    }

    /// Whether the command does nothing but wait: whatever else it calls only tells or counts.
    pub fn only_waits(&self) -> bool {
        const RESTING: [&str; 9] = [
            "echo", "printf", "sleep", "true", "date", "seq", "expr", "test", "[",
        ];
        let rests = |call: &Call| {
            let name = name_of(call.words.first().map_or("", String::as_str));
            RESTING.contains(&name) || self.waits.iter().any(|wait| wait.tool == name)
        };
        let mut uses = self.waits.iter().chain(&self.tries);
        self.calls.iter().all(rests)
            && self.writes.iter().all(|path| path.ends_with(".log"))
            && uses.all(|wait| wait.purpose == Purpose::Asks)
    }

    /// Whether something goes on beside the command, after `&`.
    pub fn starts_something_beside(&self) -> bool {
        let is_beside = |call: &Call| call.place.background != Background::No;
        self.calls.iter().any(is_beside)
    }

    /// Whether the command starts a server of its own, which it may then talk to: one in the
    /// background, or a tool that leaves one behind.
    pub fn may_start_a_server(&self) -> bool {
        const LEAVES_ONE: [&str; 9] = [
            "pg_ctl",
            "pg_ctlcluster",
            "mysqld_safe",
            "mariadbd-safe",
            "service",
            "systemctl",
            "rc-service",
            "supervisord",
            "rabbitmq-server",
        ];
        let leaves_one = |call: &Call| {
            let name = name_of(call.words.first().map_or("", String::as_str));
            let mut words = call.words.iter().map(String::as_str);
            LEAVES_ONE.contains(&name)
                || words.any(|word| {
                    matches!(
                        word,
                        "--fork" | "--daemonize" | "--detach" | "--daemon" | "-detached"
                    )
                })
        };
        self.starts_something_beside() || self.calls.iter().any(leaves_one)
    }

    /// Whether the command visibly never ends, whatever it finds.
    pub fn runs_forever(&self) -> bool {
        self.end == End::Endless && self.broken_loops.is_empty()
    }
}

fn names_an_address(call: &Call) -> bool {
    let mut words = call.words.iter().filter(|_| !call.is_local);
    words.any(|word| !mentions(word).is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn local_commands_are_sorted() {
        assert!(super::LOCAL.is_sorted());
    }
}
