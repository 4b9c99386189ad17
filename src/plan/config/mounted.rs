//! Keys of ConfigMaps and Secrets as the files that a container finds.

use super::{ConfigEntry, Configs, MapRef};
use crate::finding::Elsewhere;
use crate::pod::template::{KeyFiles, Mount};
use crate::pod::{Container, PodTemplate};

/// A file that is a key of a ConfigMap or Secret.
#[derive(Clone, Debug)]
pub struct MountedFile<'r> {
    /// Its path in the container.
    pub path: String,
    /// Its text.
    pub text: &'r str,
    /// The place of the mount in `volumeMounts`.
    pub mount: usize,
    /// Where the key stands.
    pub place: Elsewhere,
}

impl MountedFile<'_> {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// What stands behind the last dot of its name; empty without one.
    pub fn ending(&self) -> &str {
        self.name()
            .rsplit_once('.')
            .map_or("", |(_, ending)| ending)
    }
}

/// The files of a container that are keys of ConfigMaps and Secrets of the run.
pub fn mounted<'r>(
    container: &Container,
    template: &PodTemplate,
    configs: &'r dyn Configs,
) -> Vec<MountedFile<'r>> {
    let mut found = Vec::new();
    for (at, mount) in container.mounts.iter().enumerate() {
        let volume = template.volume(&mount.volume);
        for files in volume.iter().flat_map(|volume| &volume.files) {
            for entry in configs.entries(MapRef::of_files(files)) {
                let inner = path_in_volume(files, &entry);
                let path = inner.and_then(|inner| path_below(mount, inner));
                found.extend(path.map(|path| MountedFile {
                    path,
                    text: entry.text,
                    mount: at,
                    place: entry.place,
                }));
            }
        }
    }
    found
}

/// Where a volume shows a key; none when its `items` leave the key out.
fn path_in_volume<'f>(files: &'f KeyFiles, entry: &ConfigEntry<'f>) -> Option<&'f str> {
    if files.items.is_empty() {
        return Some(entry.key);
    }
    let mut items = files.items.iter();
    let (_, path) = items.find(|(key, _)| key == entry.key)?;
    Some(path)
}

/// Where a mount shows a path of its volume.
fn path_below(mount: &Mount, inner: &str) -> Option<String> {
    let folder = mount.path.trim_end_matches('/');
    let Some(part) = mount.sub_path.as_deref().map(|part| part.trim_matches('/')) else {
        return Some(format!("{folder}/{inner}"));
    };
    let rest = inner.strip_prefix(part)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{folder}{rest}"))
}
