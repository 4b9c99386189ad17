//! Files and sockets that one container makes and another one opens, through a volume of both.

use super::needs::Firmness;
use super::paths::{NamedPath, Usage};
use super::profile::Profile;
use crate::catalog::Class;
use crate::finding::EvidenceKind;
use crate::pod::PodTemplate;
use crate::pod::template::{Mount, VolumeSource};

/// A path that both containers see, and how it is known that the other one makes it.
pub(super) struct Shared<'p> {
    /// A socket or a file.
    pub(super) kind: EvidenceKind,
    /// What it rests on.
    pub(super) firmness: Firmness,
    /// The volume.
    pub(super) volume: &'p str,
}

/// Whether the provider makes the path that the dependent names. When each is told the path by a
/// flag that may mean either end, neither is known to be the server; and the sockets of the node are
/// made by the node.
pub(super) fn shared<'p>(
    template: &PodTemplate,
    dependent: &'p Profile<'_>,
    provider: &Profile<'_>,
    named: &NamedPath,
) -> Option<Shared<'p>> {
    let seen = seen(dependent, &named.path)?;
    let (kind, firmness, usage) = makes(provider, &seen)?;
    let volume = template.volume(seen.volume);
    let is_of_node = volume.is_some_and(|volume| volume.source != VolumeSource::EmptyDir);
    if (usage == Usage::MayMake && is_of_node) || only_touches(provider, &seen) {
        return None;
    }
    (named.usage == Usage::Opens || usage == Usage::Makes).then_some(Shared {
        kind,
        firmness,
        volume: seen.volume,
    })
}

/// Whether another container makes the file or socket that one of them names, through a volume
/// that both mount, and what that rests on.
pub fn makes_for(
    dependent: &Profile<'_>,
    provider: &Profile<'_>,
    path: &str,
) -> Option<(EvidenceKind, Firmness)> {
    let (kind, firmness, _) = makes(provider, &seen(dependent, path)?)?;
    Some((kind, firmness))
}

/// Whether the provider's script only makes an empty file or folder there.
fn only_touches(provider: &Profile<'_>, wanted: &Seen<'_>) -> bool {
    let reading = &provider.reading;
    let mut writes = reading.writes.iter();
    writes.any(|path| {
        let is_same = |own: Seen<'_>| own.volume == wanted.volume && own.inner == wanted.inner;
        !reading.fills.contains(path) && seen(provider, path).is_some_and(is_same)
    })
}

/// A path as a place in a volume.
#[derive(PartialEq, Eq)]
struct Seen<'p> {
    volume: &'p str,
    /// The path in the volume, that of a `subPath` included.
    inner: String,
    is_read_only: bool,
}

/// The volume below whose mount a path lies: that of the longest one.
fn seen<'p>(profile: &'p Profile<'_>, path: &str) -> Option<Seen<'p>> {
    let below = |mount: &Mount| {
        let rest = path.strip_prefix(mount.path.trim_end_matches('/'))?;
        let is_part = rest.is_empty() || rest.starts_with('/');
        is_part.then(|| rest.trim_matches('/').to_owned())
    };
    let mounts = profile.container.mounts.iter();
    let mounts = mounts.filter(|mount| mount.path.len() > 1);
    let found = mounts.filter_map(|mount| Some((mount, below(mount)?)));
    let (mount, rest) = found.max_by_key(|(mount, _)| mount.path.len())?;
    let part = mount
        .sub_path
        .as_deref()
        .unwrap_or_default()
        .trim_matches('/');
    let inner = match (part, rest.as_str()) {
        ("", _) => rest,
        (_, "") => part.to_owned(),
        (_, _) => format!("{part}/{rest}"),
    };
    Some(Seen {
        volume: &mount.volume,
        inner,
        is_read_only: mount.read_only,
    })
}

fn makes(provider: &Profile<'_>, wanted: &Seen<'_>) -> Option<(EvidenceKind, Firmness, Usage)> {
    let is_socket = is_socket(&wanted.inner);
    let is_made = |named: &&NamedPath| {
        let same = |own: Seen<'_>| {
            let is_folder = named.usage == Usage::MayMake && !self::is_socket(&own.inner);
            own.volume == wanted.volume
                && !own.is_read_only
                && (own.inner == wanted.inner && !wanted.inner.is_empty()
                    || is_folder && is_below(&wanted.inner, &own.inner))
        };
        named.usage != Usage::Opens && seen(provider, &named.path).is_some_and(same)
    };
    let made = provider.paths.iter().filter(is_made);
    if let Some(named) = made.max_by_key(|named| named.usage == Usage::Makes) {
        let is_socket = is_socket || named.usage == Usage::MayMake;
        return Some(match is_socket {
            true => (EvidenceKind::Socket, Firmness::Declared, named.usage),
            false => (EvidenceKind::File, Firmness::Manifest, named.usage),
        });
    }
    by_catalog(provider, wanted, is_socket)
}

/// What an image is known to make: its default sockets, or all files of a volume.
fn by_catalog(
    provider: &Profile<'_>,
    wanted: &Seen<'_>,
    is_socket: bool,
) -> Option<(EvidenceKind, Firmness, Usage)> {
    let entry = provider
        .entry
        .filter(|entry| entry.class == Class::Needed)?;
    let by_default = entry.sockets.iter().any(|socket| {
        seen(provider, socket)
            .is_some_and(|own| own.volume == wanted.volume && own.inner == wanted.inner)
    });
    let mut mounts = provider.container.mounts.iter();
    let is_writable = mounts.any(|mount| {
        let part = mount
            .sub_path
            .as_deref()
            .unwrap_or_default()
            .trim_matches('/');
        mount.volume == wanted.volume
            && !mount.read_only
            && (part.is_empty() || is_below(&wanted.inner, part))
    });
    let fills = entry.files && !is_socket && is_writable && !wanted.inner.is_empty();
    let kind = if is_socket {
        EvidenceKind::Socket
    } else {
        EvidenceKind::File
    };
    (by_default || fills).then_some((kind, Firmness::Image, Usage::Makes))
}

fn is_socket(path: &str) -> bool {
    path.ends_with(".sock") || path.ends_with(".socket") || path.contains(".s.PGSQL")
}

/// Whether a path is a folder or lies below it; the volume itself is the empty path.
fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
