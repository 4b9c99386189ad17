//! Containers that stand in front of others: they pass requests on once they come, and so need nobody
//! at their own start.

use super::addresses::{Target, endpoint, mentions};
use super::dials::{Dialled, dialled};
use super::paths::{NamedPath, Usage, paths};
use super::profile::Profile;
use super::serves;
use super::settings::Setting;
use super::told::Told;
use crate::pod::{PodTemplate, Role};

/// To whom a container passes requests on, by its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Servers on loopback.
    pub servers: Vec<Dialled>,
    /// Sockets.
    pub sockets: Vec<NamedPath>,
    /// Nothing else is passed on to a neighbour.
    is_complete: bool,
}

impl Front {
    pub(super) fn read(told: &Told) -> Front {
        let mut front = Front {
            is_complete: told.is_complete,
            ..Front::default()
        };
        for setting in &told.forwards {
            let servers = dialled(&setting.value, true).into_iter();
            front.servers.extend(servers.map(|(address, words)| {
                let port = address.port_or_default();
                Dialled::of(address, port, words, setting)
            }));
            let sockets = paths(&setting.value).into_iter();
            front
                .sockets
                .extend(sockets.map(|path| NamedPath::told(path, setting, Usage::Opens)));
            front.is_complete &= names_somebody(setting);
        }
        front
    }

    /// Whether nothing of it lies in the pod.
    fn is_elsewhere(&self) -> bool {
        self.is_complete && self.servers.is_empty() && self.sockets.is_empty()
    }
}

/// Whether the address is written, rather than left to a variable.
fn names_somebody(setting: &Setting) -> bool {
    let mut named = mentions(&setting.value);
    named.extend(endpoint(&setting.value));
    let is_known = |target: &Target| match target {
        Target::Address(address) => !address.host.contains('$'),
        Target::File { .. } => true,
        Target::Dns { .. } | Target::Kubernetes { .. } | Target::Opaque => false,
    };
    !setting.value.contains('$') && named.iter().any(|mention| is_known(&mention.target))
}

/// Whether `front` passes requests on to `behind`. A server that nobody is known to be may be any.
pub(super) fn stands_before(
    front: &Profile<'_>,
    behind: &Profile<'_>,
    all: &[Profile<'_>],
) -> bool {
    let by_server = front.front.servers.iter().any(|server| match server.port {
        Some(port) => {
            behind.served(port).is_some() || !all.iter().any(|one| one.served(port).is_some())
        }
        None => true,
    });
    let shares = |path: &str| {
        let below = |mount: &str| {
            let rest = path.strip_prefix(mount.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let mut mounts = front.container.mounts.iter();
        let volume = mounts
            .find(|mount| below(&mount.path))
            .map(|mount| &mount.volume);
        let mut others = behind.container.mounts.iter();
        volume.is_some_and(|volume| others.any(|other| other.volume == *volume))
    };
    let mut sockets = front.front.sockets.iter();
    by_server || sockets.any(|socket| shares(&socket.path))
}

/// A front proxy by its flags, or a web server beside an app whose configuration is not known to
/// pass requests on to others.
pub(super) fn is_front(profile: &Profile<'_>, template: &PodTemplate) -> bool {
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
    let fronts_neighbours =
        profile.entry.is_some_and(|entry| entry.fronts_neighbours) && !profile.front.is_elsewhere();
    let apps = template
        .containers
        .iter()
        .filter(|container| container.role == Role::App)
        .count();
    forwards || connects || (fronts_neighbours && profile.container.role == Role::App && apps > 1)
}
