//! `haproxy.cfg`: `bind`, and the servers of its backends.

use super::lines::without_comment;
use super::{Fact, Meaning};

/// Where it listens, and where it passes requests on.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let lines = text.lines().enumerate();
    let facts = lines.filter_map(|(number, line)| {
        let words: Vec<&str> = without_comment(line).split_whitespace().collect();
        match words.as_slice() {
            ["bind", address, ..] => Some(Fact::new(number, "bind", address, Meaning::Listens)),
            ["server", _, address, ..] => {
                Some(Fact::new(number, "server", address, Meaning::Forwards))
            }
            _ => None,
        }
    });
    facts.collect()
}
