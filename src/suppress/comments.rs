//! The ignores in comments, each with the line that it is about.
//!
//! A comment behind something is about its own line. Comments that have lines for themselves are
//! about the line right below their block; a blank line in between parts them from it.

use super::directive::{Directive, MARK};
use super::page::Ignore;
use crate::manifest::source::Source;
use crate::manifest::{Document, Span};
use crate::run::{DocumentRead, FileRead};

/// A comment that ignores rules.
pub(super) struct Comment {
    /// The ignores that it holds, a rule each.
    pub ignores: Vec<Ignore>,
    /// The line that it is about; none when nothing stands right below it.
    pub line: Option<usize>,
    /// As far to the right as this an item of a list has to stand for the comment to be its own,
    /// if another item is above: deeper comments right below an item go with that one, in a move,
    /// too.
    pub least_column: usize,
}

/// Where a comment stands, and what it is about.
struct Place {
    span: Span,
    line: usize,
    column: usize,
    has_own_line: bool,
    about: Option<usize>,
    least_column: usize,
}

/// Whether a file has ignores in comments at all.
pub(super) fn are_in(source: &Source) -> bool {
    memchr::memmem::find(source.text().as_bytes(), MARK.as_bytes()).is_some()
}

/// The ignores in the comments of a document.
pub(super) fn read(document: &Document) -> Vec<Comment> {
    let Some(source) = document.source() else {
        return Vec::new();
    };
    let mut spans = document.comments.clone();
    spans.sort_unstable();
    let mut places: Vec<Place> = spans.into_iter().map(|span| place(source, span)).collect();
    look_up(&mut places, source);
    look_down(&mut places, source);
    let comments = places.into_iter().filter_map(|place| {
        let directive = Directive::parse(source.slice(place.span))?;
        Some(Comment {
            ignores: ignores(&directive, place.span, place.line),
            line: place.about,
            least_column: place.least_column,
        })
    });
    comments.collect()
}

/// The ignores of a file that stand in no document with objects of interest: above the first `---`,
/// or in a document of another kind.
pub(super) fn strays(file: &FileRead) -> Vec<Ignore> {
    if file.is_template || !file.errors.is_empty() {
        return Vec::new();
    }
    let source = &file.source;
    let is_read = |at: usize| {
        let span = |read: &DocumentRead| read.document.span.range();
        let documents = &file.documents;
        let next = documents.partition_point(|read| span(read).end <= at);
        let next = documents.get(next);
        next.is_some_and(|read| span(read).contains(&at))
    };
    let mut found = Vec::new();
    for (at, _) in source.text().match_indices(MARK) {
        let line = source.position(at as u32).line;
        let span = source.line_span(line);
        let comment = source.slice(span).trim_start();
        let start = span.end as usize - comment.len();
        if comment.starts_with('#')
            && !is_read(at)
            && let Some(directive) = Directive::parse(comment)
        {
            found.extend(ignores(
                &directive,
                Span::new(start, span.end as usize),
                line,
            ));
        }
    }
    found
}

/// One ignore for each rule of a comment; one without a rule when it names none.
fn ignores(directive: &Directive<'_>, span: Span, line: usize) -> Vec<Ignore> {
    let by = match directive.reason {
        "" => format!("line {line}"),
        reason => format!("line {line}: \"{reason}\""),
    };
    let ignore = |rule: &str, span: Span| Ignore::new(rule, span, by.clone());
    if directive.rules.is_empty() {
        return vec![ignore("", span)];
    }
    let rules = directive.rules.iter().map(|(at, rule)| {
        let start = span.start as usize + at;
        ignore(rule, Span::new(start, start + rule.len()))
    });
    rules.collect()
}

fn place(source: &Source, span: Span) -> Place {
    let line = source.position(span.start).line;
    let start = source.line_span(line).start;
    let before = source.slice(Span {
        start,
        end: span.start,
    });
    let is_mark = |char: char| char.is_whitespace() || matches!(char, '-' | '\u{feff}');
    Place {
        span: trimmed(source, span),
        line,
        column: (span.start - start) as usize,
        has_own_line: before.chars().all(is_mark),
        about: None,
        least_column: 0,
    }
}

/// A comment without the carriage return behind it.
fn trimmed(source: &Source, span: Span) -> Span {
    let text = source.slice(span).trim_end();
    Span::new(span.start as usize, span.start as usize + text.len())
}

/// Which items comments may belong to, by what stands above their block.
fn look_up(places: &mut [Place], source: &Source) {
    let mut above: Option<(usize, usize)> = None;
    for place in places.iter_mut().filter(|place| place.has_own_line) {
        let least = match above {
            Some((line, least)) if line + 1 == place.line => least,
            _ if is_blank(source, place.line - 1) => 0,
            _ => usize::MAX,
        };
        place.least_column = place.column.min(least);
        above = Some((place.line, place.least_column));
    }
}

fn is_blank(source: &Source, line: usize) -> bool {
    line == 0 || source.line(line).trim().is_empty()
}

/// From the last comment to the first, so that a long block is walked once.
fn look_down(places: &mut [Place], source: &Source) {
    let mut below: Option<(usize, Option<usize>)> = None;
    for place in places.iter_mut().rev() {
        if !place.has_own_line {
            place.about = Some(place.line);
            continue;
        }
        let next = place.line + 1;
        place.about = match below {
            Some((line, about)) if line == next => about,
            _ => (!is_blank(source, next)).then_some(next),
        };
        below = Some((place.line, place.about));
    }
}
