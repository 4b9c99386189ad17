//! Texts of ConfigMaps that a container reads as its own configuration: what they say of where it
//! listens, whom it dials and to whom it passes requests on.
//!
//! One file a format; `table` says which text is read how. A text that nobody knows to be read by
//! the container says nothing.

mod caddy;
mod envoy;
mod haproxy;
mod lines;
mod mounted;
mod nginx;
mod pgbouncer;
mod redis;
mod table;
mod tree;

pub(super) use mounted::{MountedFile, mounted};
pub(super) use table::read;

use crate::finding::Elsewhere;
use crate::pod::template::{KeyFiles, KeyRef};

/// A ConfigMap or Secret by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapRef<'a> {
    /// A Secret rather than a ConfigMap.
    pub is_secret: bool,
    /// Its name.
    pub name: &'a str,
}

impl<'a> MapRef<'a> {
    /// The object that a variable or `envFrom` names.
    pub fn of(key: &'a KeyRef) -> MapRef<'a> {
        MapRef {
            is_secret: key.secret,
            name: &key.name,
        }
    }

    /// The object whose keys are files of a volume.
    pub fn of_files(files: &'a KeyFiles) -> MapRef<'a> {
        MapRef {
            is_secret: files.secret,
            name: &files.name,
        }
    }
}

/// A key of a ConfigMap or Secret.
#[derive(Clone, Debug)]
pub struct ConfigEntry<'r> {
    /// The key.
    pub key: &'r str,
    /// Its text.
    pub text: &'r str,
    /// Its place; the line is that of its first.
    pub place: Elsewhere,
}

/// The ConfigMaps and Secrets of a pod's namespace, as far as the run holds them.
pub trait Configs {
    /// All keys with text, in the order of the manifest; none when the run has no such object.
    fn entries(&self, map: MapRef<'_>) -> Vec<ConfigEntry<'_>>;

    /// One key.
    fn entry(&self, map: MapRef<'_>, key: &str) -> Option<ConfigEntry<'_>> {
        let mut all = self.entries(map).into_iter();
        all.find(|entry| entry.key == key)
    }
}

/// A run without ConfigMaps.
#[derive(Clone, Copy, Debug)]
pub struct NoConfigs;

impl Configs for NoConfigs {
    fn entries(&self, _: MapRef<'_>) -> Vec<ConfigEntry<'_>> {
        Vec::new()
    }
}

/// What one line of a text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The line, from 0.
    pub line: usize,
    /// The directive or key, such as `proxy_pass` or `spring.datasource.url`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What it means.
    pub meaning: Meaning,
}

/// What a directive means for the neighbours of its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Its name tells, as that of a variable does.
    Setting,
    /// The container listens there.
    Listens,
    /// Requests are passed on there once they come: the container stands in front.
    Forwards,
}

impl Fact {
    fn new(line: usize, name: &str, value: &str, meaning: Meaning) -> Fact {
        Fact {
            line,
            name: name.to_owned(),
            value: value.to_owned(),
            meaning,
        }
    }
}
