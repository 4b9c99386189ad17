//! The tree of one document: every value with its span, in one compact arena.

use super::scalar::{self, Scalar};
use super::source::{Source, Span};
use std::sync::Arc;

/// What a node is, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An unquoted scalar; an empty value (`key:`) is one of zero length.
    Plain,
    /// A scalar in single or double quotes.
    Quoted,
    /// A `|` or `>` scalar.
    Block,
    /// A sequence; `flow` when written as `[…]`.
    Sequence {
        /// Written as `[…]`.
        flow: bool,
    },
    /// A mapping; `flow` when written as `{…}`.
    Mapping {
        /// Written as `{…}`.
        flow: bool,
    },
    /// `*anchor`: stands for the node that the anchor names.
    Alias,
    /// `*anchor` without such an anchor before it.
    UnknownAlias,
}

/// No node, or (for a scalar) no text of its own: the text is the source's.
pub(super) const NONE: u32 = u32::MAX;

/// Twenty bytes a value: a 20 MB manifest costs about its own size again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
    /// Sequence, mapping: the first child (a mapping's children are key, value, key, value …).
    /// Scalar: index into `owned`, or NONE. Alias: its target.
    pub first: u32,
    /// The next sibling.
    pub next: u32,
}

/// An anchor or a tag in front of a node.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub node: u32,
    /// Where the first of them begins.
    pub start: u32,
    pub anchor: Option<Box<str>>,
    /// The tag's suffix in the core schema (`str`, `int`, …), or the whole tag.
    pub tag: Option<Box<str>>,
}

/// A key that one mapping holds twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The key's earlier place.
    pub first: Span,
    /// The later one, whose value counts (as with kubectl).
    pub again: Span,
}

/// A parsed document. Without a source (made from JSON of the API) its nodes have no spans.
#[derive(Debug)]
pub struct Document {
    pub(super) source: Option<Arc<Source>>,
    /// Which document of the file it is, from 0, empty ones counted.
    pub index: usize,
    /// The part of the source that it was read from, `---` lines left out.
    pub span: Span,
    pub(super) nodes: Vec<Raw>,
    pub(super) owned: Vec<Box<str>>,
    pub(super) properties: Vec<Property>,
    pub(super) root: u32,
    /// Every comment, from `#` to the end of its line.
    pub comments: Vec<Span>,
    /// Keys given twice.
    pub duplicates: Vec<Duplicate>,
    pub(super) has_odd_key: bool,
    /// Some mapping has a key `<<`, so that look-ups have to see through merges.
    pub(super) has_merge_key: bool,
}

/// The most levels that look-ups follow aliases, and that values are expanded to.
const DEPTH: usize = 128;

impl Document {
    pub(super) fn empty(source: Option<Arc<Source>>, index: usize, span: Span) -> Document {
        Document {
            source,
            index,
            span,
            nodes: Vec::new(),
            owned: Vec::new(),
            properties: Vec::new(),
            root: NONE,
            comments: Vec::new(),
            duplicates: Vec::new(),
            has_odd_key: false,
            has_merge_key: false,
        }
    }

    /// Gives back the room that reading took for nodes that did not come.
    pub fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        self.owned.shrink_to_fit();
        self.comments.shrink_to_fit();
    }

    /// A document of a JSON value that came from no text: its nodes have no spans.
    pub fn from_json(value: &serde_json::Value) -> Document {
        let mut document = Document::empty(None, 0, Span::new(0, 0));
        document.root = document.add_json(value);
        document
    }

    fn add_json(&mut self, value: &serde_json::Value) -> u32 {
        use serde_json::Value;
        let id = self.nodes.len() as u32;
        self.nodes.push(Raw {
            kind: Kind::Plain,
            start: 0,
            end: 0,
            first: NONE,
            next: NONE,
        });
        match value {
            Value::Null => self.set_owned(id, Kind::Plain, "null"),
            Value::Bool(flag) => self.set_owned(id, Kind::Plain, &flag.to_string()),
            Value::Number(number) => self.set_owned(id, Kind::Plain, &number.to_string()),
            Value::String(text) => self.set_owned(id, Kind::Quoted, text),
            Value::Array(items) => {
                self.nodes[id as usize].kind = Kind::Sequence { flow: true };
                let mut last = NONE;
                for item in items {
                    let child = self.add_json(item);
                    self.link(id, &mut last, child);
                }
            }
            Value::Object(entries) => {
                self.nodes[id as usize].kind = Kind::Mapping { flow: true };
                let mut last = NONE;
                for (key, item) in entries {
                    let name = self.nodes.len() as u32;
                    self.nodes.push(Raw {
                        kind: Kind::Quoted,
                        start: 0,
                        end: 0,
                        first: NONE,
                        next: NONE,
                    });
                    self.set_owned(name, Kind::Quoted, key);
                    self.has_merge_key |= key == "<<";
                    self.link(id, &mut last, name);
                    let child = self.add_json(item);
                    self.link(id, &mut last, child);
                }
            }
        }
        id
    }

    fn set_owned(&mut self, id: u32, kind: Kind, text: &str) {
        self.owned.push(text.into());
        let raw = &mut self.nodes[id as usize];
        raw.kind = kind;
        raw.first = self.owned.len() as u32 - 1;
    }

    fn link(&mut self, parent: u32, last: &mut u32, child: u32) {
        match *last {
            NONE => self.nodes[parent as usize].first = child,
            before => self.nodes[before as usize].next = child,
        }
        *last = child;
    }

    /// The document's value; none in an empty document.
    pub fn root(&self) -> Option<Node<'_>> {
        (self.root != NONE).then_some(Node {
            document: self,
            id: self.root,
        })
    }

    /// The source that the spans lie in; none for JSON of the API.
    pub fn source(&self) -> Option<&Arc<Source>> {
        self.source.as_ref()
    }

    /// Whether some mapping has a key that is no scalar: no Kubernetes object does, but
    /// `name: {{ .Values.name }}` reads as one.
    pub fn has_odd_key(&self) -> bool {
        self.has_odd_key
    }

    /// The aliases of the document, in the order of the text.
    pub fn aliases(&self) -> impl Iterator<Item = Node<'_>> {
        let nodes = self.nodes.iter().enumerate();
        let aliases = nodes.filter(|(_, raw)| raw.kind == Kind::Alias);
        aliases.map(|(id, _)| Node {
            document: self,
            id: id as u32,
        })
    }

    /// The nodes that aliases of this document stand for.
    pub fn aliased_anchors(&self) -> impl Iterator<Item = Node<'_>> {
        self.aliases().map(Node::resolved)
    }
}

/// One value of a document. Look-ups see through aliases and `<<` merges; spans do not.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    pub(super) document: &'d Document,
    pub(super) id: u32,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.span())
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.document, other.document) && self.id == other.id
    }
}

impl<'d> Node<'d> {
    fn raw(self) -> &'d Raw {
        &self.document.nodes[self.id as usize]
    }

    /// The document that the node belongs to.
    pub fn document(self) -> &'d Document {
        self.document
    }

    /// How the node is written; an alias is an alias here.
    pub fn kind(self) -> Kind {
        self.raw().kind
    }

    /// Where the value stands: without anchor and tag, with its quotes or brackets. A block
    /// collection ends with its last child; a block scalar begins after its indicator line.
    pub fn span(self) -> Option<Span> {
        self.document.source.as_ref()?;
        Some(Span {
            start: self.raw().start,
            end: self.raw().end,
        })
    }

    fn property(self) -> Option<&'d Property> {
        let properties = &self.document.properties;
        properties
            .binary_search_by_key(&self.id, |property| property.node)
            .ok()
            .map(|at| &properties[at])
    }

    /// The span with anchor and tag included.
    pub fn full_span(self) -> Option<Span> {
        let span = self.span()?;
        Some(Span {
            start: self
                .property()
                .map_or(span.start, |property| property.start),
            end: span.end,
        })
    }

    /// The name of the anchor that the node defines.
    pub fn anchor(self) -> Option<&'d str> {
        self.property()?.anchor.as_deref()
    }

    /// The tag: `str`, `int`, `bool`, … for those of YAML itself, else as it is written.
    pub fn tag(self) -> Option<&'d str> {
        self.property()?.tag.as_deref()
    }

    /// The node that an alias stands for; the node itself otherwise.
    pub fn resolved(self) -> Node<'d> {
        let mut node = self;
        for _ in 0..DEPTH {
            if node.kind() != Kind::Alias {
                break;
            }
            node = Node {
                document: self.document,
                id: node.raw().first,
            };
        }
        node
    }

    /// Whether it is a mapping, perhaps through an alias.
    pub fn is_mapping(self) -> bool {
        matches!(self.resolved().kind(), Kind::Mapping { .. })
    }

    /// Whether it is a sequence, perhaps through an alias.
    pub fn is_sequence(self) -> bool {
        matches!(self.resolved().kind(), Kind::Sequence { .. })
    }

    /// The text of a scalar, unescaped and unresolved: `0777` is `"0777"`, an empty value `""`.
    pub fn text(self) -> Option<&'d str> {
        let node = self.resolved();
        let raw = node.raw();
        if raw.first != NONE && matches!(raw.kind, Kind::Plain | Kind::Quoted | Kind::Block) {
            return self
                .document
                .owned
                .get(raw.first as usize)
                .map(|text| &**text);
        }
        let quotes = match raw.kind {
            Kind::Plain | Kind::Block => 0,
            Kind::Quoted => 1,
            Kind::Sequence { .. } | Kind::Mapping { .. } | Kind::Alias | Kind::UnknownAlias => {
                return None;
            }
        };
        let source = self.document.source.as_ref()?;
        source
            .text()
            .get(raw.start as usize + quotes..raw.end as usize - quotes)
    }

    /// The bytes of [`Self::text`], without asking whether they are whole characters.
    pub(super) fn bytes(self) -> Option<&'d [u8]> {
        let raw = self.raw();
        match (raw.kind, &self.document.source) {
            (Kind::Plain, Some(source)) if raw.first == NONE => {
                let range = raw.start as usize..raw.end as usize;
                source.text().as_bytes().get(range)
            }
            _ => self.text().map(str::as_bytes),
        }
    }

    fn is_text(self, text: &str) -> bool {
        self.bytes() == Some(text.as_bytes())
    }

    /// The scalar as kubectl reads it (YAML 1.1 words and numbers); `None` for collections.
    pub fn scalar(self) -> Option<Scalar<'d>> {
        let text = self.text()?;
        let node = self.resolved();
        Some(match (node.tag(), node.kind()) {
            (Some("str"), _) => Scalar::String(text),
            (None | Some("!"), Kind::Plain) => scalar::resolve(text),
            (Some(_), Kind::Plain | Kind::Quoted) => scalar::resolve(text),
            _ => Scalar::String(text),
        })
    }

    /// Whether it says nothing: `null`, `~`, or an empty value.
    pub fn is_null(self) -> bool {
        matches!(self.scalar(), Some(Scalar::Null))
    }

    /// A string, as the API would take it; a number or a boolean is taken by its text, since a
    /// wrong type in one field must not hide a pod. `None` for null and collections.
    pub fn string(self) -> Option<&'d str> {
        match self.scalar()? {
            Scalar::Null => None,
            Scalar::String(text) => Some(text),
            Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_) => self.text(),
        }
    }

    /// A whole number, also when it is quoted.
    pub fn int(self) -> Option<i64> {
        match self.scalar()? {
            Scalar::Int(number) => Some(number),
            Scalar::Float(number) if number.fract() == 0.0 => Some(number as i64),
            Scalar::String(text) => text.trim().parse().ok(),
            Scalar::Null | Scalar::Bool(_) | Scalar::Float(_) => None,
        }
    }

    /// A boolean, also when it is quoted.
    pub fn bool(self) -> Option<bool> {
        match self.scalar()? {
            Scalar::Bool(flag) => Some(flag),
            Scalar::String("true") => Some(true),
            Scalar::String("false") => Some(false),
            Scalar::Null | Scalar::Int(_) | Scalar::Float(_) | Scalar::String(_) => None,
        }
    }

    fn children(self) -> Children<'d> {
        let node = self.resolved();
        let first = if node.is_mapping() || node.is_sequence() {
            node.raw().first
        } else {
            NONE
        };
        Children {
            document: self.document,
            next: first,
        }
    }

    /// The items of a sequence; nothing for anything else.
    pub fn items(self) -> impl Iterator<Item = Node<'d>> {
        let sequence = self.is_sequence();
        self.children().take_while(move |_| sequence)
    }

    /// The entries that a mapping itself writes, `<<` included, in the order of the text.
    pub fn own_entries(self) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
        let mut children = self.is_mapping().then(|| self.children());
        std::iter::from_fn(move || {
            let children = children.as_mut()?;
            Some((children.next()?, children.next()?))
        })
    }

    /// The entry that a mapping itself writes under `key`; of several the last, as with kubectl.
    pub fn own_entry(self, key: &str) -> Option<(Node<'d>, Node<'d>)> {
        let document = self.document;
        let mapping = self.resolved().raw();
        if !matches!(mapping.kind, Kind::Mapping { .. }) {
            return None;
        }
        let (mut next, mut found) = (mapping.first, None);
        // This look-up is what a run does most, by far: most keys are told apart by their lengths.
        while let Some(raw) = document.nodes.get(next as usize) {
            let name = Node { document, id: next };
            let value = Node {
                document,
                id: raw.next,
            };
            next = document.nodes.get(raw.next as usize)?.next;
            let is_as_written = raw.kind == Kind::Plain && raw.first == NONE;
            let has_other_length = (raw.end - raw.start) as usize != key.len();
            if is_as_written && has_other_length && document.source.is_some() {
                continue;
            }
            if !name.is_text(key) {
                continue;
            }
            found = Some((name, value));
            if document.duplicates.is_empty() {
                break;
            }
        }
        found
    }

    /// The value under `key`, through aliases and merges.
    pub fn get(self, key: &str) -> Option<Node<'d>> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Key and value under `key`, through aliases and merges; a mapping's own key wins over a
    /// merged one, an earlier merge over a later.
    pub fn entry(self, key: &str) -> Option<(Node<'d>, Node<'d>)> {
        self.entry_within(key, DEPTH)
    }

    fn entry_within(self, key: &str, depth: usize) -> Option<(Node<'d>, Node<'d>)> {
        if let Some(found) = self.own_entry(key) {
            return Some(found);
        }
        if !self.document.has_merge_key {
            return None;
        }
        let (_, merged) = self.own_entry("<<")?;
        let depth = depth.checked_sub(1)?;
        if merged.is_sequence() {
            return merged
                .items()
                .find_map(|item| item.entry_within(key, depth));
        }
        merged.entry_within(key, depth)
    }

    /// All entries as kubectl sees them: own ones first, then those of merges that are not
    /// hidden; of a repeated key the last.
    pub fn entries(self) -> Vec<(&'d str, Node<'d>)> {
        let all = self.entry_nodes().into_iter();
        all.filter_map(|(key, value)| Some((key.text()?, value)))
            .collect()
    }

    /// The keys of [`Self::entries`].
    pub fn keys(self) -> impl Iterator<Item = &'d str> {
        // Without merges and repeated keys they are those that are written.
        let is_plain = !self.document.has_merge_key && self.document.duplicates.is_empty();
        let written = is_plain.then(|| self.own_entries().filter_map(|(key, _)| key.text()));
        let seen = (!is_plain).then(|| self.entries().into_iter().map(|(key, _)| key));
        let written = written.into_iter().flatten();
        written.chain(seen.into_iter().flatten())
    }

    fn entry_nodes(self) -> Vec<(Node<'d>, Node<'d>)> {
        let mut all = Vec::new();
        self.collect_entries(&mut all, DEPTH);
        all
    }

    fn collect_entries(self, all: &mut Vec<(Node<'d>, Node<'d>)>, depth: usize) {
        let known = all.len();
        let mut merges = None;
        for (key, value) in self.own_entries() {
            let Some(name) = key.text() else { continue };
            if name == "<<" && key.kind() == Kind::Plain {
                merges = Some(value);
                continue;
            }
            // Without repeated keys and merges there is nothing to hide: no search in large mappings.
            if known == 0 && self.document.duplicates.is_empty() {
                all.push((key, value));
                continue;
            }
            match all.iter().position(|(other, _)| other.text() == Some(name)) {
                Some(at) if at >= known => all[at].1 = value,
                Some(_) => {}
                None => all.push((key, value)),
            }
        }
        let (Some(merges), Some(depth)) = (merges, depth.checked_sub(1)) else {
            return;
        };
        if merges.is_sequence() {
            for merge in merges.items() {
                merge.collect_entries(all, depth);
            }
        } else {
            merges.collect_entries(all, depth);
        }
    }

    /// The value at the end of a chain of keys.
    pub fn find(self, keys: &[&str]) -> Option<Node<'d>> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Item `index` of a sequence.
    pub fn item(self, index: usize) -> Option<Node<'d>> {
        self.items().nth(index)
    }

    /// The value as JSON, aliases and merges expanded, scalars as kubectl reads them.
    ///
    /// `None` when it is nested too deeply or grows beyond a million values: an alias bomb.
    pub fn to_json(self) -> Option<serde_json::Value> {
        let mut budget = 1_000_000;
        self.json_within(&mut budget, DEPTH)
    }

    fn json_within(self, budget: &mut usize, depth: usize) -> Option<serde_json::Value> {
        *budget = budget.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let node = self.resolved();
        if node.is_sequence() {
            let items = node.items().map(|item| item.json_within(budget, depth));
            return items
                .collect::<Option<Vec<_>>>()
                .map(serde_json::Value::Array);
        }
        if node.is_mapping() {
            let mut map = serde_json::Map::new();
            for (key, value) in node.entry_nodes() {
                let name = key.text().unwrap_or_default();
                let name = if key.kind() == Kind::Plain {
                    scalar::key(name)
                } else {
                    name.to_owned()
                };
                map.insert(name, value.json_within(budget, depth)?);
            }
            return Some(serde_json::Value::Object(map));
        }
        Some(
            node.scalar()
                .map_or(serde_json::Value::Null, Scalar::to_json),
        )
    }
}

struct Children<'d> {
    document: &'d Document,
    next: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        if self.next == NONE {
            return None;
        }
        let node = Node {
            document: self.document,
            id: self.next,
        };
        self.next = node.raw().next;
        Some(node)
    }
}
