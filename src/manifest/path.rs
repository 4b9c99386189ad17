//! Field paths, and the only way from a path to a place in the text.

use super::node::{Document, Kind, Node};
use super::source::Span;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A key of a mapping.
    Key(Cow<'static, str>),
    /// An item of a sequence, from 0.
    Index(usize),
}

impl Segment {
    /// The step to a key of the text. The keys on the way to nearly every pod template are not copied
    /// into each of the many paths below it.
    pub fn of_key(key: &str) -> Segment {
        const USUAL: [&str; 3] = ["spec", "template", "jobTemplate"];
        let usual = USUAL.into_iter().find(|usual| *usual == key);
        Segment::Key(usual.map_or_else(|| Cow::Owned(key.to_owned()), Cow::Borrowed))
    }
}

/// The way from a document's root to a value, as `kubectl explain` writes it:
/// `spec.template.spec.initContainers[0].startupProbe`. Many things know their place, so that a copy
/// shares the steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Arc<[Segment]>);

impl FieldPath {
    /// The path of the document's root.
    pub fn root() -> FieldPath {
        FieldPath::default()
    }

    /// This path and a key below it.
    pub fn key(&self, key: impl Into<Cow<'static, str>>) -> FieldPath {
        self.with(Segment::Key(key.into()))
    }

    /// This path and an item below it.
    pub fn index(&self, index: usize) -> FieldPath {
        self.with(Segment::Index(index))
    }

    /// An item of a list below this path.
    pub fn item(&self, list: &'static str, index: usize) -> FieldPath {
        let steps = [Segment::Key(Cow::Borrowed(list)), Segment::Index(index)];
        self.below(steps.into_iter())
    }

    fn with(&self, segment: Segment) -> FieldPath {
        FieldPath(self.0.iter().cloned().chain([segment]).collect())
    }

    /// This path and several keys below it.
    pub fn keys(&self, keys: &[&'static str]) -> FieldPath {
        let below = keys.iter().map(|key| Segment::Key(Cow::Borrowed(key)));
        FieldPath(self.0.iter().cloned().chain(below).collect())
    }

    /// This path and more steps below it.
    pub fn below(&self, steps: impl Iterator<Item = Segment>) -> FieldPath {
        FieldPath(self.0.iter().cloned().chain(steps).collect())
    }

    /// The path one step up; none for the root.
    pub fn parent(&self) -> Option<FieldPath> {
        let (_, above) = self.0.split_last()?;
        Some(FieldPath(above.into()))
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The last step; none for the root.
    pub fn last(&self) -> Option<&Segment> {
        self.0.last()
    }

    /// Whether this path leads to `above` or to something below it.
    pub fn is_below(&self, above: &FieldPath) -> bool {
        self.0.starts_with(&above.0)
    }

    /// The path without list positions, which stays when items are moved: for fingerprints.
    pub fn without_indices(&self) -> String {
        let keys = self.0.iter().filter_map(|segment| match segment {
            Segment::Key(key) => Some(&**key),
            Segment::Index(_) => None,
        });
        keys.collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if key.contains(['.', '[', '/']) => write!(f, "[{key:?}]")?,
                Segment::Key(key) if at == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

/// Which part of the field at a path is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Its value.
    Value,
    /// Its key (the whole item for an item of a list).
    Key,
    /// Key and value.
    Entry,
    /// The first place where these words stand in its value; the whole value when they do not
    /// stand there as they are (escapes, several lines).
    Part(String),
}

impl Document {
    /// The value at a path, through aliases and merges.
    pub fn node_at(&self, path: &FieldPath) -> Option<Node<'_>> {
        path.segments()
            .iter()
            .try_fold(self.root()?, |node, segment| match segment {
                Segment::Key(key) => node.get(key),
                Segment::Index(index) => node.item(*index),
            })
    }

    /// The place of a field. A field that is not there has the place of what is nearest above it.
    pub fn span_at(&self, path: &FieldPath, mark: &Mark) -> Option<Span> {
        let Some(node) = self.node_at(path) else {
            return self.span_at(&path.parent()?, &Mark::Key);
        };
        match mark {
            Mark::Value => value_span(node).or_else(|| self.key_at(path)?.span()),
            Mark::Key => self
                .key_at(path)
                .map_or_else(|| value_span(node), Node::span),
            Mark::Entry => {
                let (key, value) = (self.key_at(path).and_then(Node::span), node.full_span()?);
                Some(Span {
                    start: key.map_or(value.start, |key| key.start),
                    end: value.end.max(key.map_or(0, |key| key.end)),
                })
            }
            Mark::Part(words) => {
                part_span(node, words).or_else(|| self.span_at(path, &Mark::Value))
            }
        }
    }

    /// The place of words on one line (from 0) of a text of several lines, or the whole line when they
    /// do not stand there as they are. The first place of the words when the text is no block.
    pub fn span_on_line(&self, path: &FieldPath, line: usize, words: &str) -> Option<Span> {
        let on_line = || {
            let node = self.node_at(path)?.resolved();
            let span = node.span().filter(|_| node.kind() == Kind::Block)?;
            let text = self.source()?.slice(span);
            // The span of a block begins at its `|`.
            let header = usize::from(text.starts_with(['|', '>']));
            let mut start = span.start as usize;
            let mut lines = text.split_inclusive('\n');
            for before in lines.by_ref().take(header + line) {
                start += before.len();
            }
            let text = lines.next()?;
            if let Some(at) = text.find(words) {
                return Some(Span::new(start + at, start + at + words.len()));
            }
            let indent = text.len() - text.trim_start().len();
            Some(Span::new(start + indent, start + text.trim_end().len()))
        };
        on_line().or_else(|| self.span_at(path, &Mark::Part(words.to_owned())))
    }

    /// The key node of the field at a path; none for items and the root.
    pub fn key_at(&self, path: &FieldPath) -> Option<Node<'_>> {
        let Some(Segment::Key(key)) = path.last() else {
            return None;
        };
        let (key, _) = self.node_at(&path.parent()?)?.entry(key)?;
        Some(key)
    }
}

/// A value's span; none when the value is empty.
fn value_span(node: Node<'_>) -> Option<Span> {
    node.span().filter(|span| !span.is_empty())
}

fn part_span(node: Node<'_>, words: &str) -> Option<Span> {
    let node = node.resolved();
    let is_scalar = matches!(node.kind(), Kind::Plain | Kind::Quoted | Kind::Block);
    let span = node.span().filter(|_| is_scalar && !words.is_empty())?;
    let text = node.document().source()?.slice(span);
    let at = match node.kind() {
        // A comment of a script says what stands below it, often in the same words.
        Kind::Block => outside_comments(text, words).or_else(|| text.find(words))?,
        _ => text.find(words)?,
    } + span.start as usize;
    Some(Span::new(at, at + words.len()))
}

/// The first place of words on a line that does not begin with `#`.
fn outside_comments(text: &str, words: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#')
            && let Some(at) = line.find(words)
        {
            return Some(start + at);
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    #[test]
    fn marks_name_key_value_entry_and_part() {
        let text = "spec:\n  containers:\n  - name: web\n    args: [--url=http://localhost:80/x]\n    stdin:\n";
        let parsed = parse("x.yaml", text);
        let document = &parsed.documents[0];
        let container = FieldPath::root().key("spec").key("containers").index(0);
        let shown = |path: &FieldPath, mark: Mark| {
            let span = document.span_at(path, &mark).expect("a place");
            &text[span.range()]
        };
        assert_eq!(container.key("name").to_string(), "spec.containers[0].name");
        assert_eq!(shown(&container.key("name"), Mark::Value), "web");
        assert_eq!(shown(&container.key("name"), Mark::Key), "name");
        assert_eq!(shown(&container.key("name"), Mark::Entry), "name: web");
        assert_eq!(
            shown(
                &container.key("args").index(0),
                Mark::Part("localhost:80".into())
            ),
            "localhost:80"
        );
        assert_eq!(shown(&container.key("stdin"), Mark::Value), "stdin");
        assert_eq!(
            shown(&container.key("lifecycle").key("postStart"), Mark::Value),
            &text[text.find("name").expect("there")..text.len() - 2]
        );
    }
}
