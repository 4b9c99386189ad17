//! What has changed between two texts, line by line: for patches and for excerpts.

use similar::{Algorithm, DiffOp, DiffTag};
use std::fmt::Write;

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is in both texts.
    Keep,
    /// It is in the text before only.
    Remove,
    /// It is in the text after only.
    Add,
}

/// One line of two compared texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'t> {
    /// What became of it.
    pub kind: ChangeKind,
    /// Its number in the text before, from 1; none for an added line.
    pub before_line: Option<usize>,
    /// The line without its line break.
    pub text: &'t str,
}

/// All lines of both texts in reading order; where lines were replaced, the removed ones come first.
pub fn line_changes<'t>(before: &'t str, after: &'t str) -> Vec<Change<'t>> {
    let lines = Lines::of(before, after);
    let ops = lines.compare();
    ops.iter().flat_map(|op| lines.changes(op)).collect()
}

/// A patch with three lines of context; empty when the texts are equal.
///
/// `patch -p0` applies it. Carriage returns are part of their lines.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let lines = Lines::of(before, after);
    let hunks = similar::group_diff_ops(lines.compare(), CONTEXT);
    let mut out = String::new();
    for hunk in hunks.iter().filter(|hunk| !hunk.is_empty()) {
        if out.is_empty() {
            let name = file_name(name);
            out = format!("--- {name}\n+++ {name}\n");
        }
        write_hunk(&mut out, &lines, hunk);
    }
    out
}

/// How many unchanged lines a patch shows around a change.
const CONTEXT: usize = 3;

/// Two texts as lines with their line breaks.
struct Lines<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    fn of(before: &'t str, after: &'t str) -> Lines<'t> {
        Lines {
            before: before.split_inclusive('\n').collect(),
            after: after.split_inclusive('\n').collect(),
        }
    }

    fn compare(&self) -> Vec<DiffOp> {
        similar::capture_diff_slices(Algorithm::Myers, &self.before, &self.after)
    }

    fn changes(&self, op: &DiffOp) -> impl Iterator<Item = Change<'t>> {
        let (tag, before, after) = op.as_tag_tuple();
        let kind = match tag {
            DiffTag::Equal => ChangeKind::Keep,
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => ChangeKind::Remove,
        };
        let added = match kind {
            ChangeKind::Keep => &[],
            ChangeKind::Remove | ChangeKind::Add => &self.after[after],
        };
        let first = before.start + 1;
        let old = self.before[before].iter().zip(first..);
        let old = old.map(move |(text, line)| change(kind, Some(line), text));
        let new = added.iter().map(|text| change(ChangeKind::Add, None, text));
        old.chain(new).collect::<Vec<_>>().into_iter()
    }
}

fn change(kind: ChangeKind, before_line: Option<usize>, text: &str) -> Change<'_> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    Change {
        kind,
        before_line,
        text: text.strip_suffix('\r').unwrap_or(text),
    }
}

fn write_hunk(out: &mut String, lines: &Lines<'_>, ops: &[DiffOp]) {
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
        return;
    };
    let before = range(first.old_range().start, last.old_range().end);
    let after = range(first.new_range().start, last.new_range().end);
    let _ = writeln!(out, "@@ -{before} +{after} @@");
    for op in ops {
        let (tag, before, after) = op.as_tag_tuple();
        match tag {
            DiffTag::Equal => write_lines(out, ' ', &lines.before[before]),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                write_lines(out, '-', &lines.before[before]);
                write_lines(out, '+', &lines.after[after]);
            }
        }
    }
}

/// `first line,count` as patches say it: no count of 1; an empty stretch stands behind a line.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

fn write_lines(out: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// A name that `patch` reads back: quoted if it holds odd characters, with a tab behind it if blanks.
fn file_name(name: &str) -> String {
    if name.contains(|char: char| char.is_control() || matches!(char, '"' | '\\')) {
        let mut quoted = String::from("\"");
        for byte in name.bytes() {
            match byte {
                b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                b' '..=b'~' => quoted.push(char::from(byte)),
                _ => {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
        }
        quoted.push('"');
        return quoted;
    }
    match name.contains(' ') {
        true => format!("{name}\t"),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Applies a patch as the format says: only what its hunks hold may be used.
    fn patched(before: &str, patch: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        let mut lines = patch.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            if let Some(hunk) = line.strip_prefix("@@ -") {
                let place = hunk.split(' ').next().expect("a range");
                let (start, count) = place.split_once(',').unwrap_or((place, "1"));
                let start: usize = start.parse().expect("a number");
                let start = if count == "0" { start } else { start - 1 };
                out.extend(old[at..start].iter().copied());
                at = start;
                continue;
            }
            let (mark, text) = line.split_at(1);
            let cut = lines.next_if(|next| next.starts_with("\\ ")).is_some();
            let text = if cut {
                text.strip_suffix('\n').expect("a line")
            } else {
                text
            };
            if mark != "+" {
                assert_eq!(old[at], text, "the hunk fits the text");
                at += 1;
            }
            if mark != "-" {
                out.push_str(text);
            }
        }
        out.extend(old[at..].iter().copied());
        out
    }

    #[test]
    fn a_patch_looks_as_patch_wants_it() {
        let before = "1\n2\n3\n4\n5\r\n6\n7\n8\n9";
        let after = "1\n2\n3\n4\nfive\r\n6\n7\n8\n9\n";
        assert_eq!(
            unified("a b.yaml", before, after),
            "--- a b.yaml\t\n+++ a b.yaml\t\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\r\n+five\r\n 6\n 7\n 8\n-9\n\\ No newline at end of file\n+9\n"
        );
        assert_eq!(unified("x", "same\n", "same\n"), "");
        assert_eq!(unified("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n");
    }

    #[test]
    fn changes_number_the_lines_of_the_text_before() {
        let changes = line_changes("a\r\nb\r\nc\r\n", "a\r\nx\r\nc\r\nd\r\n");
        let shown = changes
            .iter()
            .map(|change| (change.kind, change.before_line, change.text));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (ChangeKind::Keep, Some(1), "a"),
                (ChangeKind::Remove, Some(2), "b"),
                (ChangeKind::Add, None, "x"),
                (ChangeKind::Keep, Some(3), "c"),
                (ChangeKind::Add, None, "d"),
            ]
        );
    }

    proptest! {
        #[test]
        fn patches_make_the_new_text(before in "([ab]\r?\n){0,20}[ab]{0,1}", after in "([ab]\r?\n){0,20}[ab]{0,1}") {
            let patch = unified("x", &before, &after);
            prop_assert_eq!(patched(&before, &patch), after);
        }
    }
}
