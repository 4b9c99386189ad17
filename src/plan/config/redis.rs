//! `redis.conf` and `sentinel.conf`.

use super::lines::without_comment;
use super::{Fact, Meaning};

/// Where it listens, and whom it follows.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let lines = text.lines().enumerate();
    let facts = lines.filter_map(|(number, line)| {
        let words: Vec<&str> = without_comment(line).split_whitespace().collect();
        let fact = |name: &str, value: &str, meaning| Fact::new(number, name, value, meaning);
        match words.as_slice() {
            ["port", port] => Some(fact("port", port, Meaning::Listens)),
            ["unixsocket", path] => Some(fact(
                "unixsocket",
                &format!("unix:{path}"),
                Meaning::Listens,
            )),
            ["replicaof" | "slaveof", host, port] => Some(fact(
                "replicaof",
                &format!("{host}:{port}"),
                Meaning::Forwards,
            )),
            ["sentinel", "monitor", _, host, port, ..] => Some(fact(
                "sentinel monitor",
                &format!("{host}:{port}"),
                Meaning::Forwards,
            )),
            _ => None,
        }
    });
    facts.collect()
}
