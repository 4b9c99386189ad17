//! The text of one document by lines, and changes to it.

use super::Refused;
use crate::manifest::node::Kind;
use crate::manifest::{Document, Node};
use std::borrow::Cow;
use std::ops::Range;

/// A stretch of the text that is replaced.
#[derive(Debug)]
pub(super) struct Splice {
    pub range: Range<usize>,
    pub text: String,
}

impl Splice {
    pub fn insert(at: usize, text: impl Into<String>) -> Splice {
        Splice {
            range: at..at,
            text: text.into(),
        }
    }

    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Splice {
        Splice {
            range,
            text: text.into(),
        }
    }

    pub fn delete(range: Range<usize>) -> Splice {
        Splice::replace(range, "")
    }
}

/// A document's part of its source. Offsets count from the body's start; every line of the body
/// ends with a line break, the last one too.
pub(super) struct Text<'d> {
    body: Cow<'d, str>,
    /// What stands before the body: a byte order mark.
    lead: &'d str,
    /// The line break that the last line lacks in the source.
    added: &'static str,
    /// What is taken from a span of the source.
    base: usize,
    /// Where comments begin, in order.
    comments: Vec<usize>,
    document: &'d Document,
    /// The document before any change.
    original: &'d Document,
}

impl<'d> Text<'d> {
    /// The text of a document, as `original` has become; none when it came from no text.
    pub fn of(document: &'d Document, original: &'d Document) -> Option<Text<'d>> {
        let part = document.source()?.slice(document.span);
        let blank = part.len() - part.trim_start_matches(['\r', '\n']).len();
        let marks = part[blank..].len() - part[blank..].trim_start_matches('\u{feff}').len();
        let (lead, body) = part.split_at(if marks > 0 { blank + marks } else { 0 });
        let added = if body.ends_with('\n') {
            ""
        } else {
            first_line_break(body)
        };
        let base = document.span.start as usize + lead.len();
        let starts = document.comments.iter();
        let mut comments: Vec<_> = starts
            .filter_map(|span| (span.start as usize).checked_sub(base))
            .collect();
        comments.sort_unstable();
        Some(Text {
            body: match added {
                "" => Cow::Borrowed(body),
                _ => Cow::Owned(format!("{body}{added}")),
            },
            lead,
            added,
            base,
            comments,
            document,
            original,
        })
    }

    /// The line in the user's file of the first alias that uses an anchor.
    pub fn line_of_alias(&self, anchor: &str) -> Option<usize> {
        let mut aliases = self.original.aliases();
        let is_use = |alias: &Node<'_>| alias.resolved().anchor() == Some(anchor);
        let span = aliases.find(is_use)?.span()?;
        Some(self.original.source()?.position(span.start).line)
    }

    pub fn body(&self) -> &str {
        &self.body
    }

    pub fn slice(&self, range: Range<usize>) -> &str {
        self.body.get(range).unwrap_or("")
    }

    /// Makes all changes at once; they must not overlap. A last line break is there if it was there
    /// in the user's file.
    pub fn changed(&self, mut splices: Vec<Splice>) -> Result<String, Refused> {
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let mut out = String::with_capacity(self.body.len() + self.lead.len() + 256);
        out.push_str(self.lead);
        let touches_end = splices
            .last()
            .is_some_and(|splice| splice.range.end >= self.body.len());
        if touches_end && self.ends_in_open_text() {
            return Err(Refused::because(
                "the last line would read differently with a line break behind it",
            ));
        }
        let mut done = 0;
        for splice in &splices {
            let kept = self.body.get(done..splice.range.start);
            let kept = kept.filter(|_| splice.range.start <= splice.range.end);
            out.push_str(kept.ok_or_else(Refused::layout)?);
            out.push_str(&splice.text);
            done = splice.range.end;
        }
        out.push_str(self.body.get(done..).ok_or_else(Refused::layout)?);
        let source = self.original.source();
        let had_last_line_break =
            source.is_some_and(|source| source.slice(self.original.span).ends_with('\n'));
        if !had_last_line_break {
            out.truncate(out.trim_end_matches(['\n', '\r']).len());
        }
        Ok(out)
    }

    /// Whether the last line is one of a `|` or `>` scalar and lacks its line break. kubectl reads
    /// such text without a line break at its end, and with one once anything follows.
    pub fn ends_in_open_text(&self) -> bool {
        let last_line = self.line_start(self.body.trim_end().len());
        let ends_in_comment = self.comments.last().is_some_and(|last| *last >= last_line);
        if self.added.is_empty() || ends_in_comment {
            return false;
        }
        let leaf = self.document.root().map(last_leaf);
        let block = leaf.filter(|leaf| leaf.kind() == Kind::Block);
        block.is_some_and(|block| {
            let header = self.block_header(block).map(|header| self.slice(header));
            header.is_none_or(|header| !header.contains('-'))
        })
    }

    /// A node's place, without anchor and tag.
    pub fn span(&self, node: Node<'_>) -> Range<usize> {
        self.range(node.span())
    }

    /// A node's place with anchor and tag.
    pub fn full_span(&self, node: Node<'_>) -> Range<usize> {
        self.range(node.full_span())
    }

    fn range(&self, span: Option<crate::manifest::Span>) -> Range<usize> {
        let range = span.map_or(0..0, crate::manifest::Span::range);
        range.start.saturating_sub(self.base)..range.end.saturating_sub(self.base)
    }

    /// The first byte of the line that `at` lies in.
    pub fn line_start(&self, at: usize) -> usize {
        self.slice(0..at).rfind('\n').map_or(0, |found| found + 1)
    }

    /// One past the line break of the line that `at` lies in.
    pub fn line_end(&self, at: usize) -> usize {
        let rest = self.slice(at..self.body.len());
        rest.find('\n')
            .map_or(self.body.len(), |found| at + found + 1)
    }

    /// The line that begins at `start`, without its line break.
    pub fn line(&self, start: usize) -> &str {
        self.slice(start..self.line_end(start))
            .trim_end_matches(['\n', '\r'])
    }

    /// The line break of the line that `at` lies in.
    pub fn line_break(&self, at: usize) -> &'static str {
        let end = self.line_end(at);
        if self.slice(0..end).ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    pub fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// Whether nothing but blanks stands before `at` in its line.
    pub fn is_first_in_line(&self, at: usize) -> bool {
        let before = self.slice(self.line_start(at)..at);
        before.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// The blanks that the line of `at` begins with.
    pub fn indent(&self, at: usize) -> &str {
        let line = self.line(self.line_start(at));
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The start of the line above the one that begins at `start`.
    fn line_above(&self, start: usize) -> Option<usize> {
        (start > 0).then(|| self.line_start(start - 1))
    }

    fn is_blank_line(&self, start: usize) -> bool {
        self.line(start).trim().is_empty()
    }

    /// The column of the comment that is all there is in the line that begins at `start`.
    fn comment_line(&self, start: usize) -> Option<usize> {
        let indent = self.indent(start).len();
        let is_comment = self.comments.binary_search(&(start + indent)).is_ok();
        is_comment.then_some(indent)
    }

    /// The comments that begin in a range, without line breaks.
    pub fn comments_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.comments.partition_point(|at| *at < range.start);
        let inside = self.comments[first..].iter();
        inside
            .take_while(move |at| **at < range.end)
            .map(|at| self.slice(*at..self.line_end(*at)).trim_end())
    }

    /// Where a comment begins in the line of `at`, at or after it.
    fn comment_after(&self, at: usize) -> Option<usize> {
        let first = self.comments.partition_point(|comment| *comment < at);
        let comment = *self.comments.get(first)?;
        (comment < self.line_end(at)).then_some(comment)
    }

    /// Where the own-line comments begin that belong to what stands in the line that begins at
    /// `start`, in `column`: those directly above it, but not the deeper ones right below another
    /// value, which belong to that.
    pub fn with_comments_above(&self, start: usize, column: usize, is_first: bool) -> usize {
        let mut top = start;
        while let Some(above) = self.line_above(top) {
            if self.comment_line(above).is_none() {
                break;
            }
            top = above;
        }
        let detached = self
            .line_above(top)
            .is_none_or(|above| self.is_blank_line(above));
        if detached || is_first {
            return top;
        }
        while top < start && self.comment_line(top).is_some_and(|at| at > column) {
            top = self.line_end(top);
        }
        top
    }

    /// Where the deeper-indented own-line comments end that follow directly below `end`.
    pub fn with_comments_below(&self, end: usize, column: usize) -> usize {
        let mut end = end;
        while end < self.body.len() && self.comment_line(end).is_some_and(|at| at > column) {
            end = self.line_end(end);
        }
        end
    }

    /// Where the blank lines begin that end at `end`.
    pub fn blank_lines_above(&self, end: usize) -> usize {
        let mut start = end;
        while let Some(above) = self.line_above(start) {
            if !self.is_blank_line(above) {
                break;
            }
            start = above;
        }
        start
    }

    /// Where the blank lines end that begin at `start`.
    pub fn blank_lines_below(&self, start: usize) -> usize {
        let mut end = start;
        while end < self.body.len() && self.is_blank_line(end) {
            end = self.line_end(end);
        }
        end
    }

    /// The end of a value's last line, its line break and trailing comment included.
    pub fn lines_end(&self, node: Node<'_>) -> usize {
        let end = self.span(node).end;
        let leaf = last_leaf(node);
        if leaf.kind() != Kind::Block {
            return self.line_end(end);
        }
        // The span of a block scalar goes on to the next token; only `|+` owns those blank lines.
        let keeps_blank_lines = self
            .block_header(leaf)
            .is_some_and(|header| self.slice(header).contains('+'));
        let start = self.line_start(end);
        if !keeps_blank_lines {
            self.line_end(self.slice(0..end).trim_end().len())
        } else if self.slice(start..end).trim().is_empty() {
            start
        } else {
            self.line_end(end)
        }
    }

    /// `at`, or the end of its line if nothing but blanks follows there.
    pub fn without_blanks_behind(&self, at: usize) -> usize {
        let rest = self.slice(at..self.line_end(at));
        let rest = rest.trim_end_matches(['\n', '\r']);
        if rest.trim().is_empty() {
            at + rest.len()
        } else {
            at
        }
    }

    /// Where the indicator of a block scalar (`|`, `>-` …) stands.
    pub fn block_header(&self, node: Node<'_>) -> Option<Range<usize>> {
        let mut line = self.line_above(self.line_start(self.span(node).start))?;
        while self.is_blank_line(line) {
            line = self.line_above(line)?;
        }
        let end = self.comment_after(line).unwrap_or(self.line_end(line));
        let written = self.slice(line..end).trim_end();
        let start = written.rfind([' ', '\t']).map_or(0, |at| at + 1);
        let is_header = written[start..].starts_with(['|', '>']);
        is_header.then(|| line + start..line + written.len())
    }

    /// The end of an entry's last line.
    pub fn entry_end(&self, key: Node<'_>, value: Node<'_>) -> usize {
        self.line_end(self.span(key).end).max(self.lines_end(value))
    }

    /// Where a value begins that has none yet: behind `key:` and its anchor and tag.
    pub fn value_slot(&self, key: Node<'_>) -> Option<usize> {
        let end = self.span(key).end;
        let colon = end + self.slice(end..self.line_end(end)).find(':')?;
        Some(self.after_properties(colon + 1))
    }

    /// The offset behind anchors and tags that follow `at` in its line.
    pub fn after_properties(&self, at: usize) -> usize {
        let (mut end, mut next) = (at, at);
        for word in self
            .slice(at..self.line_end(at))
            .split_inclusive([' ', '\t'])
        {
            let length = word.trim_end().len();
            if word.starts_with(['&', '!']) {
                end = next + length;
            } else if length > 0 {
                break;
            }
            next += word.len();
        }
        end
    }
}

/// The last scalar below a node.
pub(super) fn last_leaf(node: Node<'_>) -> Node<'_> {
    let mut leaf = node;
    while let Some(last) = last_child(leaf) {
        leaf = last;
    }
    leaf
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        Kind::Sequence { .. } => node.items().last(),
        Kind::Mapping { .. } => node.own_entries().last().map(|(_, value)| value),
        Kind::Plain | Kind::Quoted | Kind::Block | Kind::Alias | Kind::UnknownAlias => None,
    }
}

fn first_line_break(body: &str) -> &'static str {
    let crlf = body.find('\n').is_some_and(|at| body[..at].ends_with('\r'));
    if crlf { "\r\n" } else { "\n" }
}

/// Shifts every line of a block by so many columns. Lines that stand further left than that go to
/// the margin: comments may, and nothing else does.
pub(super) fn shifted(block: &str, columns: isize) -> String {
    let mut out = String::with_capacity(block.len() + block.len() / 8);
    for line in block.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let is_empty = line.trim_end_matches(['\n', '\r']).is_empty();
        match usize::try_from(columns) {
            Ok(more) => {
                out.extend(std::iter::repeat_n(' ', if is_empty { 0 } else { more }));
                out.push_str(line);
            }
            Err(_) => out.push_str(&line[blanks.min(columns.unsigned_abs())..]),
        }
    }
    out
}
