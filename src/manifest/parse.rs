//! Text to documents: splits a source at its `---` lines and builds the tree of each part.
//!
//! Every part is parsed by itself, so that a broken document hides no other. YAML's own rules make
//! the split safe: a line `---` ends a document wherever it stands, block scalars included.

use super::node::{Document, Duplicate, Kind, NONE, Node, Property, Raw};
use super::source::{Source, Span};
use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle};
use memchr::memmem;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Why a document could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// What is wrong, in a clause.
    pub message: String,
    /// Where, in the source.
    pub at: Span,
    /// Which document of the file.
    pub document: usize,
    /// The opening bracket or quote that the message speaks of.
    pub opened: Option<Span>,
}

/// What became of one source.
#[derive(Debug)]
pub struct Parsed {
    /// The text that all spans lie in.
    pub source: Arc<Source>,
    /// The documents that could be read, empty ones included.
    pub documents: Vec<Document>,
    /// The documents that could not.
    pub errors: Vec<ParseError>,
}

/// Parses a whole text, part by part.
pub fn parse(name: impl Into<String>, text: impl Into<String>) -> Parsed {
    parse_source(&Arc::new(Source::new(name, text)))
}

/// Parses a whole source, part by part.
pub fn parse_source(source: &Arc<Source>) -> Parsed {
    let mut parsed = Parsed {
        source: Arc::clone(source),
        documents: Vec::new(),
        errors: Vec::new(),
    };
    let mut index = 0;
    for part in parts(source.text()) {
        let mut read = parse_part(source, part, index);
        index += (read.documents.len() + read.errors.len()).max(1);
        parsed.documents.append(&mut read.documents);
        parsed.errors.append(&mut read.errors);
    }
    parsed
}

/// The parts of a text that can be parsed by themselves: what stands between `---` lines, or the
/// objects of concatenated JSON.
pub fn parts(text: &str) -> Vec<Span> {
    if let Some(parts) = json_parts(text) {
        return parts;
    }
    // A directive belongs to the document after the next `---`: such a file is parsed in one go.
    if text.starts_with('%') || memmem::find(text.as_bytes(), b"\n%").is_some() {
        return vec![Span::new(0, text.len())];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for dashes in separators(text) {
        if start > 0 || has_content(&text[..dashes]) {
            parts.push(Span::new(start, dashes));
        }
        start = dashes + 3;
    }
    if start == 0 || start < text.len() {
        parts.push(Span::new(start, text.len()));
    }
    parts
}

/// The offsets of lines that begin with `---` and a blank or nothing.
fn separators(text: &str) -> impl Iterator<Item = usize> {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let first = text[bom..].starts_with("---").then_some(bom);
    let rest = memmem::find_iter(text.as_bytes(), b"\n---").map(|at| at + 1);
    first.into_iter().chain(rest).filter(|at| {
        matches!(
            text.as_bytes().get(at + 3),
            None | Some(b' ' | b'\t' | b'\r' | b'\n')
        )
    })
}

fn has_content(text: &str) -> bool {
    let blank = |line: &str| line.is_empty() || line.starts_with('#');
    !text
        .trim_start_matches('\u{feff}')
        .lines()
        .all(|line| blank(line.trim()))
}

/// The top-level objects of JSON texts that follow one another; `None` if it is anything else.
fn json_parts(text: &str) -> Option<Vec<Span>> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut depth, mut start, mut in_string, mut at) = (0usize, 0, false, 0);
    if bytes.starts_with("\u{feff}".as_bytes()) {
        at = 3;
    }
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' if depth > 0 => in_string = !in_string,
            b'\\' if in_string => at += 1,
            _ if in_string => {}
            b'{' | b'[' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    parts.push(Span::new(start, at + 1));
                }
            }
            byte if depth == 0 && !byte.is_ascii_whitespace() => return None,
            _ => {}
        }
        at += 1;
    }
    (depth == 0 && parts.len() > 1).then_some(parts)
}

/// Documents and errors of one part.
pub struct Part {
    /// The documents that could be read; one without a root when the part is empty.
    pub documents: Vec<Document>,
    /// At most one error for each document that could not.
    pub errors: Vec<ParseError>,
}

/// Parses one of the [`parts`]; `index` is the number of its first document.
pub fn parse_part(source: &Arc<Source>, part: Span, index: usize) -> Part {
    let text = source.slice(part);
    let bom = text.len() - text.trim_start_matches('\u{feff}').len();
    let bom = bom + leading_bom(&text[bom..]);
    let base = part.start + bom as u32;
    let mut parser = Parser::new_from_str_with_options(&text[bom..], options());
    let mut builder = Builder::new(source, part, base, index);
    loop {
        match parser.next_event() {
            None => break,
            Some(Ok((event, span))) => builder.event(event, span),
            Some(Err(error)) => {
                builder.fail(&error);
                if !may_go_on(text) || !parser.proceed_next_document().unwrap_or(false) {
                    break;
                }
            }
        }
    }
    builder.finish()
}

/// Whether a part can hold another document behind one that is broken: nearly none does, and the
/// parser reads on to its end to find out.
fn may_go_on(part: &str) -> bool {
    let has = |mark: &[u8]| memmem::find(part.as_bytes(), mark).is_some();
    has(b"\n---") || has(b"\n...")
}

/// kubectl accepts a byte order mark after a `---` line (files joined with `cat`); the parser does
/// not, so the blank line in front of it and the mark are passed over.
fn leading_bom(text: &str) -> usize {
    let blank = text.len() - text.trim_start_matches(['\r', '\n']).len();
    if text[blank..].starts_with('\u{feff}') {
        blank + 3
    } else {
        0
    }
}

fn options() -> Options {
    granit_parser::options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        max_buffered_comment_events: 1 << 20,
    }
}

/// A manifest has about one value for so many bytes of its text.
const BYTES_PER_NODE: usize = 10;

/// A collection whose end has not come yet.
struct Open {
    id: u32,
    last: u32,
}

struct Builder<'s> {
    source: &'s Arc<Source>,
    part: Span,
    /// What is added to the parser's offsets.
    base: u32,
    index: usize,
    current: Option<Document>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, u32>,
    /// Comments before the document's start event.
    comments: Vec<Span>,
    documents: Vec<Document>,
    errors: Vec<ParseError>,
}

impl<'s> Builder<'s> {
    fn new(source: &'s Arc<Source>, part: Span, base: u32, index: usize) -> Builder<'s> {
        Builder {
            source,
            part,
            base,
            index,
            current: None,
            open: Vec::new(),
            anchors: BTreeMap::new(),
            comments: Vec::new(),
            documents: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        Span {
            start: range.start as u32 + self.base,
            end: range.end as u32 + self.base,
        }
    }

    fn event(&mut self, event: Event<'_>, at: granit_parser::Span) {
        let span = self.span(at);
        let tag_start = at.tag_start().and_then(|mark| mark.byte_offset());
        match event {
            Event::DocumentStart(..) => self.start_document(),
            Event::DocumentEnd => self.end_document(),
            Event::Comment(..) => self.comments.push(span),
            Event::Scalar(text, style, anchor, tag) => {
                let id = self.scalar(text, style, span);
                if anchor != 0 || tag.is_some() {
                    self.properties(id, anchor, tag.as_deref(), tag_start);
                }
            }
            Event::SequenceStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let start = if flow {
                    span.start
                } else {
                    self.dash_at_or_before(span.start)
                };
                let id = self.start(
                    Kind::Sequence { flow },
                    Span {
                        start,
                        end: span.end,
                    },
                );
                self.properties(id, anchor, tag.as_deref(), tag_start);
            }
            Event::MappingStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let id = self.start(Kind::Mapping { flow }, span);
                self.properties(id, anchor, tag.as_deref(), tag_start);
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => self.unknown_alias(&name, span),
            Event::Anchor(_, name) => self.name_anchor(&name, span.start),
            _ => {}
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) {
        let target = self.anchors.get(&anchor).copied();
        self.add(Raw {
            kind: if target.is_some() {
                Kind::Alias
            } else {
                Kind::UnknownAlias
            },
            start: span.start,
            end: span.end,
            first: target.unwrap_or(NONE),
            next: NONE,
        });
    }

    fn unknown_alias(&mut self, name: &str, span: Span) {
        self.add(Raw {
            kind: Kind::UnknownAlias,
            start: span.start,
            end: span.end,
            first: NONE,
            next: NONE,
        });
        self.error(
            span,
            format!("no anchor &{name} stands before this alias"),
            None,
        );
    }

    fn start_document(&mut self) {
        let index = self.index + self.documents.len() + self.errors.len();
        let mut document = Document::empty(Some(Arc::clone(self.source)), index, self.part);
        if self.documents.is_empty() {
            let bytes = self.part.range().len();
            document.nodes.reserve(bytes / BYTES_PER_NODE);
        }
        self.current = Some(document);
        self.anchors.clear();
    }

    fn end_document(&mut self) {
        let Some(mut document) = self.current.take() else {
            return;
        };
        document.comments = std::mem::take(&mut self.comments);
        let failed = self
            .errors
            .last()
            .is_some_and(|error| error.document == document.index);
        if !failed {
            self.documents.push(document);
        }
    }

    /// Adds a node as the next child of the innermost open collection.
    fn add(&mut self, raw: Raw) -> u32 {
        let Some(document) = &mut self.current else {
            return 0;
        };
        let id = document.nodes.len() as u32;
        document.nodes.push(raw);
        match self.open.last_mut() {
            None => document.root = id,
            Some(parent) => {
                match parent.last {
                    NONE => document.nodes[parent.id as usize].first = id,
                    before => document.nodes[before as usize].next = id,
                }
                parent.last = id;
            }
        }
        id
    }

    fn scalar(&mut self, text: std::borrow::Cow<'_, str>, style: ScalarStyle, span: Span) -> u32 {
        let kind = match style {
            ScalarStyle::Plain => Kind::Plain,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Kind::Quoted,
            ScalarStyle::Literal | ScalarStyle::Folded => Kind::Block,
        };
        let quotes = if kind == Kind::Quoted { 1 } else { 0 };
        let written = self
            .source
            .text()
            .get(span.start as usize + quotes..span.end as usize - quotes);
        // What the parser borrows is the text at this place, and a value that is left out comes as a
        // `~` of no length.
        let is_there = |written: &str| {
            written.len() == text.len()
                && (std::ptr::eq(written.as_ptr(), text.as_ptr()) || *written == *text)
        };
        let is_written = span.is_empty() || written.is_some_and(is_there);
        let mut first = NONE;
        if !is_written && let Some(document) = &mut self.current {
            document.owned.push(text.into_owned().into_boxed_str());
            first = document.owned.len() as u32 - 1;
        }
        self.add(Raw {
            kind,
            start: span.start,
            end: span.end,
            first,
            next: NONE,
        })
    }

    fn start(&mut self, kind: Kind, span: Span) -> u32 {
        let id = self.add(Raw {
            kind,
            start: span.start,
            end: span.end,
            first: NONE,
            next: NONE,
        });
        self.open.push(Open { id, last: NONE });
        id
    }

    /// Closes a collection: a flow one at its bracket, a block one at the end of its last child
    /// (the parser's end event of those lies on the next token).
    fn end(&mut self, span: Span) {
        let (Some(open), Some(document)) = (self.open.pop(), &mut self.current) else {
            return;
        };
        let raw = document.nodes[open.id as usize];
        let end = match raw.kind {
            Kind::Sequence { flow: true } | Kind::Mapping { flow: true } => span.end,
            _ => children_end(document, raw.first).max(raw.start),
        };
        document.nodes[open.id as usize].end = end;
        if matches!(raw.kind, Kind::Mapping { .. }) {
            find_duplicates(document, raw.first);
        }
    }

    fn properties(
        &mut self,
        id: u32,
        anchor: usize,
        tag: Option<&granit_parser::Tag>,
        tag_start: Option<usize>,
    ) {
        if anchor != 0 {
            self.anchors.insert(anchor, id);
        }
        let (Some(document), Some(tag)) = (&mut self.current, tag) else {
            return;
        };
        let start = tag_start.map_or(document.nodes[id as usize].start, |start| {
            start as u32 + self.base
        });
        let name = tag
            .core_suffix()
            .map_or_else(|| tag.original(), str::to_owned);
        document.properties.push(Property {
            node: id,
            start,
            anchor: None,
            tag: Some(name.into()),
        });
    }

    /// The anchor event follows its node's.
    fn name_anchor(&mut self, name: &str, start: u32) {
        let Some(document) = &mut self.current else {
            return;
        };
        let node = document.nodes.len() as u32 - 1;
        match document.properties.last_mut() {
            Some(property) if property.node == node => {
                property.anchor = Some(name.into());
                property.start = property.start.min(start);
            }
            _ => document.properties.push(Property {
                node,
                start,
                anchor: Some(name.into()),
                tag: None,
            }),
        }
    }

    /// Whether a block sequence begins at `start`: at a dash with a blank behind it, which stands
    /// first in its line if the sequence is a mapping's value (or behind the `?` or `:` of a
    /// complex key).
    fn is_at_dash(&self, start: u32) -> bool {
        let (before, rest) = self.source.text().split_at(start as usize);
        let is_dash = rest
            .strip_prefix('-')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        let parent = self.open.last().zip(self.current.as_ref());
        let is_value = || {
            parent.is_some_and(|(open, document)| {
                matches!(document.nodes[open.id as usize].kind, Kind::Mapping { .. })
            })
        };
        let stands_first = || {
            let line = before.trim_end_matches([' ', '?', ':']);
            line.is_empty() || line.ends_with('\n')
        };
        is_dash && (!is_value() || stands_first())
    }

    /// Where a block sequence begins: the parser reports one whose dash stands in its key's own
    /// column from its first item on, so the dash is looked for on that line and those above.
    fn dash_at_or_before(&self, start: u32) -> u32 {
        let text = self.source.text();
        let mut end = start as usize;
        if self.is_at_dash(start) {
            return start;
        }
        loop {
            let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
            let indent = text[line..].len() - text[line..].trim_start_matches(' ').len();
            if text[line + indent..].starts_with('-') {
                return (line + indent) as u32;
            }
            if line <= self.base as usize {
                return start;
            }
            end = line - 1;
        }
    }

    fn fail(&mut self, error: &granit_parser::ScanError) {
        let at = error.marker().byte_offset().unwrap_or(0) as u32 + self.base;
        let at = at.min(self.part.end);
        if self.current.is_none() {
            self.start_document();
        }
        let unclosed = self.unclosed_flow();
        let message = match unclosed {
            Some((_, opened)) if error_is_structural(&error.info()) => {
                format!(
                    "the {} opened on line {} is not closed",
                    opened,
                    self.line_of_unclosed()
                )
            }
            _ => error.info(),
        };
        self.error(
            Span { start: at, end: at },
            message,
            unclosed.map(|(span, _)| span),
        );
        self.open.clear();
        self.current = None;
        self.comments.clear();
    }

    /// The innermost flow collection that is still open, when a line begins below it.
    fn unclosed_flow(&self) -> Option<(Span, &'static str)> {
        let document = self.current.as_ref()?;
        let raw = document.nodes[self.open.last()?.id as usize];
        match raw.kind {
            Kind::Mapping { flow: true } => Some((
                Span {
                    start: raw.start,
                    end: raw.start + 1,
                },
                "mapping",
            )),
            Kind::Sequence { flow: true } => Some((
                Span {
                    start: raw.start,
                    end: raw.start + 1,
                },
                "sequence",
            )),
            _ => None,
        }
    }

    fn line_of_unclosed(&self) -> usize {
        self.unclosed_flow()
            .map_or(1, |(span, _)| self.source.position(span.start).line)
    }

    fn error(&mut self, at: Span, message: String, opened: Option<Span>) {
        let document = self
            .current
            .as_ref()
            .map_or(self.index, |document| document.index);
        if self
            .errors
            .last()
            .is_none_or(|last| last.document != document)
        {
            self.errors.push(ParseError {
                message,
                at,
                document,
                opened,
            });
        }
    }

    fn finish(mut self) -> Part {
        if self.documents.is_empty() && self.errors.is_empty() {
            self.start_document();
            self.end_document();
        }
        Part {
            documents: self.documents,
            errors: self.errors,
        }
    }
}

/// Whether the parser stumbled over the shape, so that naming what is still open helps.
fn error_is_structural(info: &str) -> bool {
    ["flow", "bracket", "expected", "mapping", "key", "block"]
        .iter()
        .any(|word| info.contains(word))
}

fn children_end(document: &Document, first: u32) -> u32 {
    let (mut child, mut end) = (first, 0);
    while child != NONE {
        let raw = &document.nodes[child as usize];
        end = end.max(raw.end);
        child = raw.next;
    }
    end
}

/// Up to so many keys of a mapping are compared one with another.
const FEW: usize = 16;

/// Notes keys that a mapping holds twice (by comparison while there are few, else by hashing), and
/// what else is odd about its keys.
fn find_duplicates(document: &mut Document, first: u32) {
    let mut names = [None; FEW];
    let mut found = Vec::new();
    let (mut has_odd_key, mut has_merge_key, mut count) = (false, false, 0);
    // The lengths and first letters met so far: most mappings have no two keys alike in both.
    let mut met: u64 = 0;
    for key in keys(document, first) {
        let name = key.bytes();
        has_odd_key |= matches!(key.kind(), Kind::Mapping { .. } | Kind::Sequence { .. });
        has_merge_key |= name == Some(b"<<");
        if let (Some(place), Some(text)) = (names.get_mut(count), name) {
            *place = name;
            let letter = text.first().copied().unwrap_or_default();
            let form = 1 << ((text.len() * 7 + usize::from(letter)) % 64);
            if met & form != 0 {
                let earlier = names[..count].iter().position(|earlier| *earlier == name);
                let earlier = earlier.and_then(|at| keys(document, first).nth(at));
                found.extend(earlier.map(|earlier| duplicate(earlier, key)));
            }
            met |= form;
        }
        count += 1;
    }
    if count > FEW {
        found = duplicates_of_many(document, first);
    }
    document.has_odd_key |= has_odd_key;
    document.has_merge_key |= has_merge_key;
    document.duplicates.append(&mut found);
}

fn duplicates_of_many(document: &Document, first: u32) -> Vec<Duplicate> {
    let mut seen: HashMap<&str, Node<'_>> = HashMap::new();
    let named = keys(document, first).filter_map(|key| Some((key.text()?, key)));
    named
        .filter_map(|(name, key)| Some(duplicate(seen.insert(name, key)?, key)))
        .collect()
}

/// The keys of a mapping, by its first child.
fn keys(document: &Document, first: u32) -> impl Iterator<Item = Node<'_>> {
    let next = |id: u32| {
        (id != NONE)
            .then(|| document.nodes[id as usize].next)
            .filter(|id| *id != NONE)
    };
    let first = Some(first).filter(|id| *id != NONE);
    let ids = std::iter::successors(first, move |key| next(next(*key)?));
    ids.map(|id| Node { document, id })
}

fn duplicate(first: Node<'_>, again: Node<'_>) -> Duplicate {
    let place = |node: Node<'_>| {
        let raw = &node.document.nodes[node.id as usize];
        Span {
            start: raw.start,
            end: raw.end,
        }
    };
    Duplicate {
        first: place(first),
        again: place(again),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Vec<serde_json::Value> {
        let parsed = parse("x", text);
        assert_eq!(parsed.errors, [], "{text}");
        parsed
            .documents
            .iter()
            .map(|document| {
                document.root().map_or(serde_json::Value::Null, |root| {
                    root.to_json().expect("small")
                })
            })
            .collect()
    }

    #[test]
    fn documents_are_counted_with_the_empty_ones() {
        let parsed = parse("x", "# head\n---\n---\na: 1\n---\nb: [\n---\nc: 3\n");
        let indices: Vec<_> = parsed
            .documents
            .iter()
            .map(|document| document.index)
            .collect();
        assert_eq!(indices, [0, 1, 3]);
        assert_eq!(parsed.errors.len(), 1);
        assert_eq!(parsed.errors[0].document, 2);
    }

    #[test]
    fn json_texts_may_follow_one_another() {
        assert_eq!(json("{\"a\": \"}{\"}\n{\"b\": 2}").len(), 2);
        assert_eq!(json("{\"a\": 1}").len(), 1);
    }

    #[test]
    fn merges_and_aliases_are_seen_through() {
        let text = "base: &b {x: 1, z: 2}\nuse:\n  <<: *b\n  z: 3\n";
        assert_eq!(json(text)[0]["use"], serde_json::json!({"z": 3, "x": 1}));
    }

    #[test]
    fn a_same_column_sequence_begins_at_its_dash() {
        let text = "a:\n# one\n- # two-three\n  x: 1\n- y\n";
        let parsed = parse("x", text);
        let list = parsed.documents[0]
            .root()
            .and_then(|root| root.get("a"))
            .expect("a list");
        let span = list.span().expect("a span");
        assert_eq!(&text[span.range()], "- # two-three\n  x: 1\n- y");
    }

    #[test]
    fn items_that_begin_with_a_dash_are_not_taken_for_it() {
        let start = |text: &str| {
            let parsed = parse("x", text);
            let list = parsed.documents[0].root().and_then(|root| root.get("a"));
            list.and_then(|list| list.span()).map(|span| span.start)
        };
        assert_eq!(start("a:\n- --x\n- -y\n"), Some(3));
        assert_eq!(start("a:\n- - x\n  - y\n"), Some(3));
        assert_eq!(start("a:\n  -\n    --x\n"), Some(5));
        assert_eq!(start("? - b\n: 1\na:\n-\n  - x\n"), Some(13));
    }

    #[test]
    fn byte_order_marks_of_joined_files_are_passed_over() {
        assert_eq!(
            json("\u{feff}a: 1\n---\n\u{feff}b: 2\n"),
            [serde_json::json!({"a": 1}), serde_json::json!({"b": 2})]
        );
    }

    #[test]
    fn a_self_referring_alias_ends() {
        let parsed = parse("x", "a: &a\n  b: *a\n");
        assert!(
            parsed.documents[0]
                .root()
                .expect("a root")
                .to_json()
                .is_none()
        );
    }
}
