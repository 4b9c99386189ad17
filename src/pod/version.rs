//! Kubernetes versions, and which start-order features exist from when.

use std::fmt;
use std::str::FromStr;

/// A kubelet's minor version: all that the start order depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubeVersion {
    minor: u16,
}

/// A version that nobody here knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown Kubernetes version {text:?}: {} to {} are known, {} on in full",
    KubeVersion::OLDEST,
    KubeVersion::NEWEST,
    KubeVersion::FULL
)]
pub struct UnknownVersion {
    text: String,
}

impl KubeVersion {
    /// The oldest version that is read; its order is assumed from the feature table.
    pub const OLDEST: KubeVersion = KubeVersion::minor(25);
    /// The oldest version whose kubelet was read (`docs/start-sequence.md`).
    pub const FULL: KubeVersion = KubeVersion::minor(29);
    /// The newest version that is known: the default for files.
    pub const NEWEST: KubeVersion = KubeVersion::minor(37);

    /// Kubernetes 1.`minor`.
    pub const fn minor(minor: u16) -> KubeVersion {
        KubeVersion { minor }
    }

    /// A version that a server or kubelet reports (`v1.29.6-gke.100`), known or not.
    pub fn reported(text: &str) -> Option<KubeVersion> {
        let rest = text.trim().trim_start_matches('v').strip_prefix("1.")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(KubeVersion {
            minor: digits.parse().ok()?,
        })
    }

    /// `SidecarContainers` on by default: `restartPolicy: Always` makes an init container a sidecar.
    pub fn has_native_sidecars(self) -> bool {
        self.minor >= 29
    }

    /// Endpoint controllers find named target ports of native sidecars, too.
    pub fn has_named_ports_of_sidecars(self) -> bool {
        self.minor >= 32
    }

    /// `ContainerRestartRules` on by default: a restart policy may stand on any container.
    pub fn has_container_restart_policy(self) -> bool {
        self.minor >= 35
    }

    /// The kubelet re-reads a pod's containers right after each sync, not once a second only.
    pub fn relists_after_sync(self) -> bool {
        self.minor >= 36
    }

    /// The lifecycle `sleep` action is on by default.
    pub fn has_sleep_action(self) -> bool {
        self.minor >= 30
    }

    /// The lifecycle `sleep` action may be one of 0 s.
    pub fn has_zero_sleep(self) -> bool {
        self.minor >= 33
    }

    /// Its kubelet was read and seen, not only looked up in feature tables.
    pub fn is_known_in_full(self) -> bool {
        self >= Self::FULL
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

impl FromStr for KubeVersion {
    type Err = UnknownVersion;

    /// Reads `1.29`, `v1.29.6` or `1.29+`.
    fn from_str(text: &str) -> Result<KubeVersion, UnknownVersion> {
        let known = |version: &KubeVersion| (Self::OLDEST..=Self::NEWEST).contains(version);
        KubeVersion::reported(text)
            .filter(known)
            .ok_or_else(|| UnknownVersion {
                text: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_people_and_servers_write_them() {
        for text in ["1.29", "v1.29.6", "1.29+", "v1.29.4-gke.1043"] {
            assert_eq!(
                text.parse::<KubeVersion>(),
                Ok(KubeVersion::minor(29)),
                "{text}"
            );
        }
        let error = "1.9".parse::<KubeVersion>().expect_err("too old");
        assert_eq!(
            error.to_string(),
            "unknown Kubernetes version \"1.9\": 1.25 to 1.37 are known, 1.29 on in full"
        );
    }
}
