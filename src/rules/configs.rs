//! The ConfigMaps and Secrets of a run, as the pods of one namespace and file see them.

use crate::finding::Elsewhere;
use crate::manifest::Mark;
use crate::plan::config::{ConfigEntry, Configs, MapRef};
use crate::run::{ConfigValue, Run};

/// Those that a workload of this namespace, in this source, means by their names.
pub struct OfRun<'r> {
    /// The run.
    pub run: &'r Run,
    /// The namespace.
    pub namespace: &'r str,
    /// The source, whose own ConfigMaps are meant before those of others.
    pub source: usize,
}

impl Configs for OfRun<'_> {
    fn entries(&self, map: MapRef<'_>) -> Vec<ConfigEntry<'_>> {
        let values = self
            .run
            .config_values(self.namespace, map.name, map.is_secret, self.source);
        values.map(|value| entry(map, value)).collect()
    }
}

fn entry<'r>(map: MapRef<'_>, value: ConfigValue<'r>) -> ConfigEntry<'r> {
    let kind = if map.is_secret { "Secret" } else { "ConfigMap" };
    ConfigEntry {
        key: value.key,
        text: value.text,
        place: Elsewhere {
            source: value.source,
            document: value.document,
            at: value.at,
            line: 0,
            object: format!("{kind} `{}`", map.name),
            is_secret: map.is_secret,
            span: None,
        },
    }
}

/// Looks up where a piece of evidence stands: its words, or the key alone when it is a Secret's.
pub fn look_up(elsewhere: &mut Elsewhere, words: &str, run: &Run) {
    let Some(read) = run.document(elsewhere.source, elsewhere.document) else {
        return;
    };
    elsewhere.span = match words.is_empty() {
        true => read.document.span_at(&elsewhere.at, &Mark::Key),
        false => read
            .document
            .span_on_line(&elsewhere.at, elsewhere.line, words),
    };
}
