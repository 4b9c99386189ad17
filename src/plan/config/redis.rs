//! `redis.conf` and `sentinel.conf`.

use super::lines::without_comment;
use super::{Fact, Meaning};
use crate::plan::addresses::is_loopback;

/// Where it listens, and whom it follows.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let is_local = is_bound_to_loopback(text);
    let lines = text.lines().enumerate();
    let facts = lines.filter_map(|(number, line)| {
        let words: Vec<&str> = without_comment(line).split_whitespace().collect();
        let fact = |name: &str, value: &str, meaning| Fact::new(number, name, value, meaning);
        match words.as_slice() {
            ["port", port] if is_local => {
                Some(fact("port", &format!("127.0.0.1:{port}"), Meaning::Listens))
            }
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

/// Whether `bind` names loopback addresses only. Without it Redis listens everywhere.
fn is_bound_to_loopback(text: &str) -> bool {
    let mut binds = text
        .lines()
        .filter_map(|line| without_comment(line).strip_prefix("bind "));
    binds.next_back().is_some_and(|hosts| {
        // A dash says that the address may be missing.
        let mut hosts = hosts
            .split_whitespace()
            .map(|host| host.trim_start_matches('-'));
        hosts.all(is_loopback)
    })
}
