//! A fix as rows of a diff: what is shown around each change, what is folded, what is too long.

use super::lines;
use crate::manifest::{Source, Span};
use std::ops::Range;

/// From this many changed lines on a diff is one line.
const LONG_DIFF: usize = 12;
/// A block that moves and has more lines than this is one line.
const LONG_MOVE: usize = 12;
/// Moved blocks are looked for up to this many pairs of lines.
const PAIRS: usize = 1_000_000;

/// One row of a diff. Line numbers are those of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line that stays.
    Kept(usize, String),
    /// A line that goes.
    Removed(usize, Text),
    /// A line that comes.
    Added(Text),
    /// Lines that are left out.
    Fold,
    /// A long block that changes its place.
    Moved {
        /// Its first and last line.
        lines: (usize, usize),
        /// The line that it comes before (up) or after (down).
        to: usize,
        /// Whether it moves towards the beginning.
        is_up: bool,
    },
}

/// A line that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The line.
    pub line: String,
    /// The byte where it begins to differ from the line that it replaces or that replaces it.
    pub differs_at: usize,
}

/// A document's text and the text that takes its place.
#[derive(Debug)]
pub struct Patch<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    /// The source's number of the first old line.
    first_line: usize,
    changes: Vec<Change>,
}

/// Old lines that go and new lines that come in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
    /// The part of `new` that is a moved block, with the old lines that it is.
    arrives: Option<Moved>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Moved {
    old: Range<usize>,
    new: Range<usize>,
}

impl<'t> Patch<'t> {
    /// The patch that gives a document another text.
    pub fn new(source: &'t Source, document: Span, text: &'t str) -> Patch<'t> {
        let old: Vec<&str> = source.slice(document).lines().collect();
        let new: Vec<&str> = text.lines().collect();
        let changes = lines::changed(&old, &new)
            .into_iter()
            .map(|(old, new)| Change {
                old,
                new,
                arrives: None,
            });
        let changes = changes.collect();
        Patch {
            old,
            new,
            first_line: source.position(document.start).line,
            changes,
        }
    }

    /// How many lines go or come.
    pub fn changed_lines(&self) -> usize {
        count(&self.changes)
    }

    /// Every change in full.
    pub fn full(&self) -> Vec<Row> {
        self.rows(&self.changes)
    }

    /// The changes with long moves as one line each; none when it is too long all the same.
    pub fn short(&self) -> Option<Vec<Row>> {
        let changes = self.without_moves();
        (count(&changes) < LONG_DIFF).then(|| self.rows(&changes))
    }

    /// The last line of the source that a row may name.
    pub fn last_line(&self) -> usize {
        let last = self.changes.last().map_or(0, |change| change.old.end + 1);
        self.first_line + last.min(self.old.len())
    }

    fn rows(&self, changes: &[Change]) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut at = 0;
        for (index, change) in changes.iter().enumerate() {
            self.between(at..change.old.start, index > 0, change, &mut rows);
            self.removed(change, &mut rows);
            self.added(change, &mut rows);
            at = change.old.end;
        }
        if changes.last().is_some() && self.is_list_item(at) {
            rows.push(self.kept(at));
        }
        rows
    }

    /// The lines between two changes: the first if it begins a list item, the last unless the
    /// change below rewrites a line in place. What is left is folded, unless it is one line.
    fn between(&self, lines: Range<usize>, has_above: bool, below: &Change, rows: &mut Vec<Row>) {
        let head = usize::from(has_above && !lines.is_empty() && self.is_list_item(lines.start));
        let shows_last = !below.rewrites_in_place() && self.is_worth_showing(&lines);
        let tail = usize::from(shows_last && lines.len() > head);
        let hidden = lines.start + head..lines.end - tail;
        rows.extend((lines.start..hidden.start).map(|line| self.kept(line)));
        match (has_above, hidden.len()) {
            (true, 1) => rows.push(self.kept(hidden.start)),
            (true, 2..) => rows.push(Row::Fold),
            (true, 0) | (false, _) => {}
        }
        rows.extend((hidden.end..lines.end).map(|line| self.kept(line)));
    }

    fn removed(&self, change: &Change, rows: &mut Vec<Row>) {
        let removed = change.old.clone().map(|line| {
            let twin = change.new.start + line - change.old.start;
            let text = self.changed(change, self.old[line], self.new.get(twin));
            Row::Removed(self.number(line), text)
        });
        rows.extend(removed);
    }

    fn added(&self, change: &Change, rows: &mut Vec<Row>) {
        let line = |line: usize| {
            let twin = change.old.start + line - change.new.start;
            Row::Added(self.changed(change, self.new[line], self.old.get(twin)))
        };
        let Some(moved) = &change.arrives else {
            rows.extend(change.new.clone().map(line));
            return;
        };
        let is_up = change.old.start <= moved.old.start;
        rows.extend((change.new.start..moved.new.start).map(line));
        rows.push(Row::Moved {
            lines: (self.number(moved.old.start), self.number(moved.old.end) - 1),
            to: self.number(change.old.start) - usize::from(!is_up),
            is_up,
        });
        rows.extend((moved.new.end..change.new.end).map(line));
    }

    /// A line with the place where it differs from its twin, if it is rewritten in place.
    fn changed(&self, change: &Change, line: &str, twin: Option<&&str>) -> Text {
        let twin = twin.filter(|_| change.rewrites_in_place());
        let pairs = twin.map(|twin| line.chars().zip(twin.chars()));
        let same = pairs.into_iter().flatten().take_while(|(a, b)| a == b);
        Text {
            differs_at: same.map(|(character, _)| character.len_utf8()).sum(),
            line: line.to_owned(),
        }
    }

    fn number(&self, line: usize) -> usize {
        self.first_line + line
    }

    fn kept(&self, line: usize) -> Row {
        Row::Kept(self.number(line), self.old[line].to_owned())
    }

    fn is_list_item(&self, line: usize) -> bool {
        self.old
            .get(line)
            .is_some_and(|text| text.trim_start().starts_with("- "))
    }

    fn is_worth_showing(&self, lines: &Range<usize>) -> bool {
        !lines.is_empty() && !self.old[lines.end - 1].trim().is_empty()
    }

    /// The changes with each long block that moves taken out of where it leaves.
    fn without_moves(&self) -> Vec<Change> {
        let mut changes = self.changes.clone();
        for at in 0..changes.len() {
            let Some(moved) = self.arrival(&changes, at) else {
                continue;
            };
            changes[at].arrives = Some(moved.clone());
            changes = changes
                .into_iter()
                .flat_map(|change| change.without(&moved.old))
                .collect();
            // One block a patch: further ones are shown line by line.
            break;
        }
        changes
    }

    /// The longest block that goes somewhere and comes in change `at`, if it is long.
    fn arrival(&self, changes: &[Change], at: usize) -> Option<Moved> {
        let new = &changes[at].new;
        let leaves = changes.iter().enumerate().filter(|(other, _)| *other != at);
        leaves
            .filter_map(|(_, change)| self.common_block(&change.old, new))
            .max_by_key(|moved| moved.old.len())
    }

    /// The longest run of lines that two ranges share, indentation aside.
    fn common_block(&self, old: &Range<usize>, new: &Range<usize>) -> Option<Moved> {
        if old.len() <= LONG_MOVE || new.len() <= LONG_MOVE || old.len() * new.len() > PAIRS {
            return None;
        }
        let mut best: Option<Moved> = None;
        let mut above = vec![0; new.len() + 1];
        for i in old.clone() {
            let mut row = vec![0; new.len() + 1];
            for (k, j) in new.clone().enumerate() {
                if self.old[i].trim() != self.new[j].trim() {
                    continue;
                }
                row[k + 1] = above[k] + 1;
                let run = row[k + 1];
                if run > best.as_ref().map_or(LONG_MOVE, |best| best.old.len()) {
                    best = Some(Moved {
                        old: i + 1 - run..i + 1,
                        new: j + 1 - run..j + 1,
                    });
                }
            }
            above = row;
        }
        best
    }
}

fn count(changes: &[Change]) -> usize {
    changes.iter().map(Change::lines).sum()
}

impl Change {
    fn lines(&self) -> usize {
        let moved = self.arrives.as_ref().map_or(0, |moved| moved.new.len() - 1);
        self.old.len() + self.new.len() - moved
    }

    /// Such a change carries its own line numbers and needs no line above it.
    fn rewrites_in_place(&self) -> bool {
        !self.old.is_empty() && self.old.len() == self.new.len()
    }

    /// The change without the removal of `lines`: up to two changes, or none.
    fn without(self, lines: &Range<usize>) -> Vec<Change> {
        let is_here = self.old.start <= lines.start && lines.end <= self.old.end;
        if !is_here || lines.is_empty() {
            return vec![self];
        }
        let before = Change {
            old: self.old.start..lines.start,
            new: self.new.clone(),
            arrives: self.arrives,
        };
        let after = Change {
            old: lines.end..self.old.end,
            new: self.new.end..self.new.end,
            arrives: None,
        };
        let mut parts = vec![before, after];
        parts.retain(|part| !part.old.is_empty() || !part.new.is_empty());
        parts
    }
}
