//! A fix as the smallest edits of the source: what programs apply.

use super::lines;
use crate::manifest::{Source, Span};
use std::ops::Range;

/// A stretch of the source and the text that takes its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Edit {
    /// The stretch; empty where something is only added.
    pub span: Span,
    /// What comes there; empty where something is only removed.
    pub text: String,
}

/// The edits that give a document another text, in the order of the source. They do not overlap.
pub fn edits(source: &Source, document: Span, text: &str) -> Vec<Edit> {
    let old = source.slice(document);
    let (old_lines, new_lines) = (lines_of(old), lines_of(text));
    let (old_starts, new_starts) = (starts(&old_lines), starts(&new_lines));
    let changed = lines::changed(&old_lines, &new_lines);
    let edits = changed.into_iter().map(|(goes, comes)| {
        let goes = old_starts[goes.start]..old_starts[goes.end];
        let comes = &text[new_starts[comes.start]..new_starts[comes.end]];
        let (kept, comes) = trimmed(&old[goes.clone()], comes);
        let base = document.start as usize + goes.start;
        Edit {
            span: Span::new(base + kept.start, base + kept.end),
            text: comes.to_owned(),
        }
    });
    edits.collect()
}

/// The lines with their line breaks.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Where each line begins, and where the last one ends.
fn starts(lines: &[&str]) -> Vec<usize> {
    let ends = lines.iter().scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Leaves out what both texts begin and end with: the part of `old` that goes and the part of
/// `new` that comes. No line break of two characters is split.
fn trimmed<'t>(old: &str, new: &'t str) -> (Range<usize>, &'t str) {
    let same = |(a, b): &(char, char)| a == b;
    let pairs = old.chars().zip(new.chars()).take_while(same);
    let mut head: usize = pairs.map(|(a, _)| a.len_utf8()).sum();
    if old[..head].ends_with('\r') {
        head -= 1;
    }
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest
        .chars()
        .rev()
        .zip(new_rest.chars().rev())
        .take_while(same);
    let mut tail: usize = pairs.map(|(a, _)| a.len_utf8()).sum();
    let begins_at_break = old_rest[old_rest.len() - tail..].starts_with('\n');
    let ends_in_return = |text: &str| text[..text.len() - tail].ends_with('\r');
    if begins_at_break && (ends_in_return(old_rest) || ends_in_return(new_rest)) {
        tail -= 1;
    }
    (head..old.len() - tail, &new_rest[..new_rest.len() - tail])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies the edits of the second document of a file; gives the file.
    fn applied(old: &str, new: &str) -> (Vec<Edit>, String) {
        let head = "a: 1\n---\n";
        let source = Source::new("x.yaml", format!("{head}{old}"));
        let document = Span::new(head.len(), head.len() + old.len());
        let edits = edits(&source, document, new);
        let mut text = source.text().to_owned();
        for edit in edits.iter().rev() {
            text.replace_range(edit.span.range(), &edit.text);
        }
        (edits, text.split_off(head.len()))
    }

    #[test]
    fn edits_give_the_new_text_and_touch_nothing_else() {
        let cases = [
            ("a:\n  b: 1\n", "a:\n  b: 1\n  c: 2\n"),
            ("a:\n  b: 1", "a:\n  b: 1\n  c: 2"),
            ("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\r\nc: 3\r\n"),
            ("containers: []\n", "initContainers: []\n"),
            ("- é: 1\n- ü: 1\n", "- ü: 1\n- é: 1\n"),
            ("aaa\n", "aa\n"),
            ("", "a: 1\n"),
            ("a: 1\n", ""),
        ];
        for (old, new) in cases {
            assert_eq!(applied(old, new).1, new, "{old:?}");
        }
        let (edits, _) = applied("a: 1\nx: true\nb: 2\n", "a: 1\nx: false\nb: 2\n");
        let texts: Vec<&str> = edits.iter().map(|edit| &*edit.text).collect();
        assert_eq!((texts, edits[0].span.range().len()), (vec!["fals"], 3));
    }
}
