//! Reads a configuration; all that is wrong is told at once.

use super::ignore::Glob;
use super::{Config, Ignore, Level, Set};
use crate::catalog;
use crate::finding::Severity;
use crate::inject::Mesh;
use crate::manifest::parse::parse_source;
use crate::manifest::{Node, Source, Span};
use crate::nearness::nearest;
use crate::pod::KubeVersion;
use crate::pod::version::UnknownVersion;
use std::sync::Arc;

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// What is wrong, in a clause.
    pub message: String,
    /// What could be meant, in a clause.
    pub hint: Option<String>,
    /// Where.
    pub at: Span,
}

/// Reads a text; `rules` are the ids of all rules. The errors come in the order of the text.
pub fn read(source: &Arc<Source>, rules: &[&'static str]) -> Result<Config, Vec<ConfigError>> {
    let parsed = parse_source(source);
    let mut reader = Reader {
        rules,
        config: Config {
            source: Some(Arc::clone(source)),
            ..Config::default()
        },
        errors: Vec::new(),
    };
    for broken in &parsed.errors {
        reader.fail(broken.at, broken.message.clone());
    }
    let mut documents = parsed.documents.iter();
    let first = documents.find_map(|document| document.root());
    for again in documents.filter_map(|document| document.root()) {
        let at = again.span().unwrap_or(Span::new(0, 0));
        reader.fail(at, "a second document; a configuration is one".to_owned());
    }
    for document in &parsed.documents {
        for twice in &document.duplicates {
            let key = source.slice(twice.again);
            reader.fail(twice.again, format!("{key:?} is given twice"));
        }
    }
    if let Some(root) = first.filter(|root| !root.is_null()) {
        reader.root(root);
    }
    reader.errors.sort_by_key(|error| error.at);
    match reader.errors.is_empty() {
        true => Ok(reader.config),
        false => Err(reader.errors),
    }
}

/// The least severity that fails a run, in words; none for `none`.
pub fn fail_on(word: &str) -> Result<Option<Severity>, String> {
    match word {
        "none" => Ok(None),
        word => {
            let severity = word
                .parse()
                .map_err(|_| format!("unknown severity {word:?}: info, warning, error or none"))?;
            Ok(Some(severity))
        }
    }
}

const KEYS: [&str; 6] = [
    "k8s-version",
    "assume-mesh",
    "fail-on",
    "rules",
    "ignore",
    "catalog",
];

const IGNORE_KEYS: [&str; 6] = [
    "rule",
    "path",
    "workload",
    "namespace",
    "container",
    "reason",
];

struct Reader<'r> {
    rules: &'r [&'static str],
    config: Config,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn fail(&mut self, at: Span, message: String) {
        self.fail_with(at, message, None);
    }

    fn fail_with(&mut self, at: Span, message: String, hint: Option<String>) {
        self.errors.push(ConfigError { message, hint, at });
    }

    fn root(&mut self, root: Node<'_>) {
        for (key, value) in self.entries(root, "a configuration", &KEYS) {
            match key {
                "k8s-version" => {
                    let version = |word: &str| {
                        let version: Result<KubeVersion, UnknownVersion> = word.parse();
                        version.map_err(|error| error.to_string())
                    };
                    self.config.version = self.word(value, version);
                }
                "assume-mesh" => self.config.mesh = self.word(value, mesh),
                "fail-on" => self.config.fail_on = self.word(value, fail_on),
                "rules" => self.levels(value),
                "ignore" => self.ignores(value),
                _ => self.catalog(value),
            }
        }
    }

    /// The entries of a mapping with known keys; the others are told.
    fn entries<'d, 'k>(
        &mut self,
        node: Node<'d>,
        what: &str,
        known: &[&'k str],
    ) -> Vec<(&'k str, Node<'d>)> {
        if !node.is_mapping() {
            self.fail(span(node), format!("{what} is a mapping"));
            return Vec::new();
        }
        let mut entries = Vec::new();
        for (key, value) in node.own_entries() {
            let name = key.text().unwrap_or_default();
            match known.iter().find(|known| **known == name) {
                Some(known) => entries.push((*known, value)),
                None => {
                    let near = nearest(name, known.iter().copied());
                    let hint = match near {
                        Some(near) => format!("{near:?}?"),
                        None => format!("{what} has {}", known.join(", ")),
                    };
                    self.fail_with(span(key), format!("unknown key {name:?}"), Some(hint));
                }
            }
        }
        entries
    }

    /// A scalar by its text: `1.30` stays that, and `off` is a word.
    fn word<T>(
        &mut self,
        value: Node<'_>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Set<T>> {
        let at = span(value);
        let text = value.text().filter(|text| !text.is_empty());
        let Some(text) = text else {
            self.fail(at, "a word is missing here".to_owned());
            return None;
        };
        match read(text) {
            Ok(value) => Some(Set { value, at }),
            Err(message) => {
                self.fail(at, message);
                None
            }
        }
    }

    fn text(&mut self, value: Node<'_>) -> Option<String> {
        let text = self.word(value, |text| Ok(text.to_owned()));
        text.map(|text| text.value)
    }

    /// A rule by its id.
    fn rule(&mut self, node: Node<'_>) -> Option<&'static str> {
        let id = node.text().unwrap_or_default();
        let known = self.rules.iter().find(|rule| **rule == id).copied();
        if known.is_none() {
            let near = nearest(id, self.rules.iter().copied());
            let near = near.map(|near| format!("{near:?}? "));
            let near = near.unwrap_or_default();
            let hint = format!("{near}kubectl startorder rules lists them all");
            self.fail_with(span(node), format!("unknown rule {id:?}"), Some(hint));
        }
        known
    }

    fn levels(&mut self, node: Node<'_>) {
        if !node.is_mapping() && !node.is_null() {
            self.fail(
                span(node),
                "rules is a mapping of rules to severities".to_owned(),
            );
        }
        for (key, value) in node.own_entries() {
            let rule = self.rule(key);
            let level = self.word(value, level);
            if let (Some(rule), Some(level)) = (rule, level) {
                self.config.rules.insert(rule, level);
            }
        }
    }

    fn ignores(&mut self, node: Node<'_>) {
        if !node.is_sequence() && !node.is_null() {
            self.fail(span(node), "ignore is a list".to_owned());
        }
        for item in node.items() {
            if let Some(ignore) = self.ignore(item) {
                self.config.ignores.push(ignore);
            }
        }
    }

    fn ignore(&mut self, node: Node<'_>) -> Option<Ignore> {
        let before = self.errors.len();
        let mut ignore = Ignore {
            rules: Vec::new(),
            path: None,
            workload: None,
            namespace: None,
            container: None,
            reason: None,
            at: span(node),
        };
        for (key, value) in self.entries(node, "an ignore", &IGNORE_KEYS) {
            match key {
                "rule" => ignore.rules = self.ignored_rules(value),
                "path" => ignore.path = self.word(value, glob).map(|path| path.value),
                "workload" => {
                    ignore.workload = self.word(value, workload).map(|workload| workload.value);
                }
                "namespace" => ignore.namespace = self.text(value),
                "container" => ignore.container = self.text(value),
                _ => ignore.reason = self.text(value),
            }
        }
        let is_sound = self.errors.len() == before;
        let says_nothing = ignore.rules.is_empty()
            && ignore.path.is_none()
            && ignore.workload.is_none()
            && ignore.namespace.is_none()
            && ignore.container.is_none();
        if is_sound && says_nothing {
            let message = "an ignore that says nothing would hide everything".to_owned();
            let hint = format!("it has {}", IGNORE_KEYS.join(", "));
            self.fail_with(span(node), message, Some(hint));
        }
        (self.errors.len() == before).then_some(ignore)
    }

    /// One rule, or a list of them.
    fn ignored_rules(&mut self, value: Node<'_>) -> Vec<(&'static str, Span)> {
        let nodes: Vec<Node<'_>> = match value.is_sequence() {
            true => value.items().collect(),
            false => vec![value],
        };
        let rules = nodes.into_iter();
        rules
            .filter_map(|node| Some((self.rule(node)?, span(node))))
            .collect()
    }

    fn catalog(&mut self, node: Node<'_>) {
        if node.is_null() {
            return;
        }
        match catalog::read::read(node, catalog::read::Origin::User) {
            Ok(own) => self.config.catalog = own,
            Err(error) => self.fail(error.at.unwrap_or(span(node)), error.message),
        }
        for item in node.items() {
            let name = item.get("name");
            if let Some((node, name)) = name.and_then(|name| Some((name, name.string()?))) {
                self.config.entries.insert(name.to_owned(), span(node));
            }
        }
    }
}

fn span(node: Node<'_>) -> Span {
    node.span().unwrap_or(Span::new(0, 0))
}

fn level(word: &str) -> Result<Level, String> {
    match word {
        "off" => Ok(Level::Off),
        word => word
            .parse()
            .map(Level::At)
            .map_err(|_| format!("unknown severity {word:?}: off, info, warning or error")),
    }
}

fn mesh(word: &str) -> Result<Mesh, String> {
    let mut known = Mesh::ASSUMED.into_iter();
    known.find(|mesh| mesh.word() == word).ok_or_else(|| {
        let words = Mesh::ASSUMED.map(Mesh::word);
        format!("unknown mesh {word:?}: {}", words.join(", "))
    })
}

fn glob(text: &str) -> Result<Glob, String> {
    Glob::parse(text).map_err(|error| format!("no pattern: {}", error.msg))
}

/// `KIND/NAME`, both perhaps with `*`.
fn workload(text: &str) -> Result<(Glob, Glob), String> {
    let (kind, name) = text
        .split_once('/')
        .filter(|(kind, name)| !kind.is_empty() && !name.is_empty())
        .ok_or_else(|| format!("{text:?} is no KIND/NAME such as Deployment/web"))?;
    Ok((glob(&kind.to_lowercase())?, glob(name)?))
}
