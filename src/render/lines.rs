//! Which lines differ between two texts.

use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::Range;

/// The stretches of `old` that go, each with the stretch of `new` that comes in its place; either
/// may be empty. Between two stretches there is always a line that stays.
pub fn changed(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut changes: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        match changes.last_mut() {
            Some((before, come)) if before.end == old.start && come.end == new.start => {
                (before.end, come.end) = (old.end, new.end);
            }
            _ => changes.push((old, new)),
        }
    }
    changes
}
