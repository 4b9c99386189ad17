//! The environment of a container as the kubelet puts it together, and `$(NAME)` in its words.

use super::config::{Configs, MapRef};
use crate::finding::Elsewhere;
use crate::pod::Container;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A variable that comes from a ConfigMap or Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Borrowed {
    /// The variable.
    pub name: String,
    /// Its value; of a Secret, too: it may be read, never shown.
    pub value: String,
    /// The list of the container that names it, and the place there.
    pub list: (&'static str, usize),
    /// Where the value stands.
    pub elsewhere: Elsewhere,
}

/// The variables of one container.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// What `$(NAME)` and scripts see. Values of Secrets are left out.
    known: BTreeMap<String, String>,
    /// Those from ConfigMaps and Secrets.
    pub borrowed: Vec<Borrowed>,
}

impl Variables {
    /// The variables whose values the container itself writes.
    pub fn own(container: &Container) -> Variables {
        Variables::with(container, &super::config::NoConfigs)
    }

    /// All variables whose values are in the run. A later one of a name counts, and `env` before
    /// `envFrom`; in the value of a variable, `$(NAME)` means one of `env` above it.
    pub fn with(container: &Container, configs: &dyn Configs) -> Variables {
        let mut above: BTreeMap<String, String> = BTreeMap::new();
        let mut borrowed: Vec<Borrowed> = Vec::new();
        for (index, var) in container.env.iter().enumerate() {
            borrowed.retain(|other| other.name != var.name);
            above.remove(&var.name);
            if let Some(value) = &var.value {
                let value = expand(value, |name| above.get(name).map(String::as_str));
                above.insert(var.name.clone(), value.into_owned());
                continue;
            }
            let Some(key) = &var.from else { continue };
            let Some(entry) = configs.entry(MapRef::of(key), &key.key) else {
                continue;
            };
            if !key.secret {
                above.insert(var.name.clone(), entry.text.to_owned());
            }
            borrowed.push(Borrowed {
                name: var.name.clone(),
                value: entry.text.to_owned(),
                list: ("env", index),
                elsewhere: entry.place,
            });
        }
        let mut variables = Variables {
            known: above,
            borrowed,
        };
        variables.add_whole_maps(container, configs);
        variables
    }

    /// `envFrom`: every key of a map, unless `env` or a later map has a variable of that name.
    fn add_whole_maps(&mut self, container: &Container, configs: &dyn Configs) {
        for (index, map) in container.env_from.iter().enumerate().rev() {
            for entry in configs.entries(MapRef::of(map)) {
                let name = format!("{}{}", map.prefix, entry.key);
                let is_taken = container.env.iter().any(|var| var.name == name)
                    || self.borrowed.iter().any(|other| other.name == name);
                if is_taken {
                    continue;
                }
                if !map.secret {
                    self.known.insert(name.clone(), entry.text.to_owned());
                }
                self.borrowed.push(Borrowed {
                    name,
                    value: entry.text.to_owned(),
                    list: ("envFrom", index),
                    elsewhere: entry.place,
                });
            }
        }
    }

    /// The value of a variable, as far as it may be shown.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(String::as_str)
    }

    /// A word of `command` or `args` as the kubelet hands it on.
    pub fn expand<'t>(&self, text: &'t str) -> Cow<'t, str> {
        expand(text, |name| self.get(name))
    }
}

/// Whether a variable may come from a Secret or a ConfigMap that nobody can read here.
pub fn may_be_set(container: &Container, name: &str) -> bool {
    let is_own = container.env.iter().any(|var| var.name == name);
    is_own || !container.env_from.is_empty()
}

/// Puts values in for `$(NAME)`, as the kubelet does: `$$` is a `$` that begins nothing, and a name
/// that nobody knows stays as it is written.
fn expand<'t, 'v>(text: &'t str, value: impl Fn(&str) -> Option<&'v str>) -> Cow<'t, str> {
    if !text.contains("$(") && !text.contains("$$") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(behind) = after.strip_prefix('$') {
            out.push('$');
            rest = behind;
            continue;
        }
        let Some((name, behind)) = after
            .strip_prefix('(')
            .and_then(|inner| inner.split_once(')'))
        else {
            out.push('$');
            continue;
        };
        match value(name) {
            Some(value) => out.push_str(value),
            None => out.extend(["$(", name, ")"]),
        }
        rest = behind;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_expanded_like_the_kubelet_does() {
        let value = |name: &str| match name {
            "HOST" => Some("127.0.0.1"),
            "PORT" => Some("5432"),
            _ => None,
        };
        let cases = [
            ("$(HOST):$(PORT)", "127.0.0.1:5432"),
            ("$$(HOST)", "$(HOST)"),
            ("$$$(HOST)", "$127.0.0.1"),
            ("$(OTHER) $(HOST", "$(OTHER) $(HOST"),
            ("$HOST ${HOST} $", "$HOST ${HOST} $"),
            ("$($(HOST))", "$($(HOST))"),
        ];
        for (text, wanted) in cases {
            assert_eq!(expand(text, value), wanted, "{text}");
        }
    }
}
