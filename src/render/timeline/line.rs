//! A line of the last block, before it is laid out.

use crate::render::Role;
use crate::timeline::verdict::Verdict;

/// What stands before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// `now`.
    Now,
    /// A verdict's mark and word.
    Verdict(Verdict),
    /// A word of its own, such as `help`.
    Word(&'static str),
    /// Nothing: the line goes on below the text of the line before.
    More,
    /// Nothing, below a word that stands further right than `now`.
    Under,
    /// Nothing, and the text begins at the left edge.
    None,
}

/// A line of the last block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) tag: Tag,
    pub(super) text: String,
    /// Of how many pods a verdict is true, and of all how many.
    pub(super) share: Option<(usize, usize)>,
    /// Right behind the text.
    pub(super) mark: Option<(&'static str, Role)>,
    /// At the right edge, where there is room.
    pub(super) aside: Option<(&'static str, Role)>,
}

impl Line {
    pub(super) fn new(tag: Tag, text: impl Into<String>) -> Line {
        Line {
            tag,
            text: text.into(),
            share: None,
            mark: None,
            aside: None,
        }
    }
}
