//! `pgbouncer.ini`: its own port, and the databases behind it.

use super::{Fact, Meaning, lines};

/// Where it listens, and where it passes requests on.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let facts = lines::read(text).into_iter().filter_map(|fact| {
        let (section, key) = fact.name.split_once('.')?;
        match (section, key) {
            ("pgbouncer", "listen_port") => Some(Fact {
                meaning: Meaning::Listens,
                ..fact
            }),
            ("databases", _) => {
                let value = database(&fact.value)?;
                Some(Fact {
                    value,
                    meaning: Meaning::Forwards,
                    ..fact
                })
            }
            _ => None,
        }
    });
    facts.collect()
}

/// The server of a connection string: `host=127.0.0.1 port=5432`, or a folder of sockets.
fn database(connection: &str) -> Option<String> {
    let value = |key: &str| {
        let mut words = connection.split_whitespace();
        words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    };
    let host = value("host")?.split(',').next()?;
    let port = value("port").unwrap_or("5432");
    Some(match host.starts_with('/') {
        true => format!("unix:{host}/.s.PGSQL.{port}"),
        false => format!("{host}:{port}"),
    })
}
