//! Known sidecars, as data: recognised by image and mode, never by a container's name.
//!
//! The data is `sidecars.yaml` beside this file. A fact there has a source and a date; a rule that
//! rests on an image alone is at most a warning.

mod entry;
mod fields;
mod image;
mod modes;
pub mod read;
mod tools;
mod version;

pub use entry::{
    Class, Covers, Entry, Exit, Health, ProbeCommand, Quit, Shell, Variant, WaitCommand,
    WaitsForApp,
};
pub use fields::CatalogError;
pub use tools::Tools;
pub use version::{Range, Version};

use crate::pod::Container;
use image::Image;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Known sidecars, in the order in which they are tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    entries: Vec<Entry>,
    /// Places of the entries by the image name that a pattern of theirs asks for.
    by_name: BTreeMap<String, Vec<usize>>,
    /// Places of the entries with a pattern whose last segment has a `*`, each with a part of the
    /// segment that the image's name has to have.
    by_form: Vec<(usize, String)>,
}

static BUILT_IN: LazyLock<Catalog> = LazyLock::new(|| {
    let json = include_str!(concat!(env!("OUT_DIR"), "/sidecars.json"));
    let value = serde_json::from_str(json).unwrap_or_default();
    let document = crate::manifest::Document::from_json(&value);
    let entries = document
        .root()
        .map(|list| read::read(list, read::Origin::BuiltIn));
    entries.and_then(Result::ok).unwrap_or_default()
});

impl Catalog {
    /// The catalogue of this build.
    pub fn built_in() -> &'static Catalog {
        &BUILT_IN
    }

    /// A catalogue of these entries.
    pub fn new(entries: Vec<Entry>) -> Catalog {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut by_form = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            for pattern in &entry.images {
                let name = Image::parse(pattern).name();
                if name.contains('*') {
                    let parts = name.split('*');
                    let part = parts.max_by_key(|part| part.len()).unwrap_or_default();
                    by_form.push((at, part.to_owned()));
                } else {
                    by_name.entry(name.to_owned()).or_default().push(at);
                }
            }
        }
        Catalog {
            entries,
            by_name,
            by_form,
        }
    }

    /// The entries, in the order in which they are tried.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// This catalogue with a user's own entries: they are tried first, and one with the name of an
    /// entry here stands in its place, none of whose facts are kept.
    pub fn extended(&self, own: Catalog) -> Catalog {
        let mut entries = own.entries;
        let is_replaced = |entry: &&Entry| entries.iter().any(|own| own.name == entry.name);
        let kept: Vec<Entry> = self
            .entries
            .iter()
            .filter(|entry| !is_replaced(entry))
            .cloned()
            .collect();
        entries.extend(kept);
        Catalog::new(entries)
    }

    /// What a container is, by its image, version and mode.
    pub fn find(&self, container: &Container) -> Option<&Entry> {
        let image = Image::parse(container.image.as_deref()?);
        let name = image.name();
        let named = self.by_name.get(name).into_iter().flatten();
        let formed = self.by_form.iter();
        let formed = formed.filter(|(_, part)| has_part(name, part));
        let mut places: Vec<usize> = named.chain(formed.map(|(at, _)| at)).copied().collect();
        places.sort_unstable();
        places.dedup();
        let mut entries = places.into_iter().map(|at| &self.entries[at]);
        let found = entries.find(|entry| entry.takes(&image, container))?;
        Some(found.of(&image, container))
    }
}

/// `text.contains(part)` for short texts, without the preparation that pays for long ones.
fn has_part(text: &str, part: &str) -> bool {
    let Some(first) = part.bytes().next() else {
        return true;
    };
    let mut windows = text.as_bytes().windows(part.len());
    windows.any(|window| window[0] == first && window == part.as_bytes())
}

#[cfg(test)]
mod tests;
