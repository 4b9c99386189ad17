//! Servers that listen on loopback only, by their own flags or by what the catalogue knows.

use super::serves::is_loopback;
use super::settings::Setting;
use crate::catalog::Entry;
use crate::manifest::FieldPath;
use crate::pod::Container;

/// Why a port of a container is open on loopback only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// A flag or variable says so.
    Setting {
        /// The field that holds the address.
        at: FieldPath,
        /// The words to mark: `127.0.0.1:8000`, `127.0.0.1`.
        words: String,
    },
    /// The image does so unless it is told otherwise.
    Default,
}

/// Whether and why a container opens a port on loopback only.
pub fn loopback_only(
    container: &Container,
    settings: &[Setting],
    entry: Option<&Entry>,
    port: u16,
) -> Option<Bind> {
    let by_setting = || by_setting(settings, port);
    let by_own = || by_own_setting(settings, entry?, port);
    by_setting().or_else(by_own).or_else(|| {
        let entry = entry?;
        by_catalog(container, settings, entry, port).then_some(Bind::Default)
    })
}

/// A setting of which only the catalogue knows that the server listens there.
fn by_own_setting(settings: &[Setting], entry: &Entry, port: u16) -> Option<Bind> {
    let listens = |setting: &&Setting| {
        let (host, own) = setting.value.rsplit_once(':')?;
        let host = host.rsplit("//").next()?;
        (entry.serves_by.contains(&setting.name) && own.parse() == Ok(port))
            .then(|| is_loopback(host.trim_matches(['[', ']'])))
    };
    let mut all = settings
        .iter()
        .filter_map(|setting| Some((setting, listens(&setting)?)))
        .peekable();
    let first = all.peek()?.0;
    all.all(|(_, is_local)| is_local).then(|| Bind::Setting {
        at: first.at.clone(),
        words: first.value.clone(),
    })
}

/// The last words of names that say where a server listens.
const BINDS: [&str; 7] = [
    "addr", "address", "bind", "host", "listen", "listener", "hostname",
];

fn by_setting(settings: &[Setting], port: u16) -> Option<Bind> {
    let addresses = settings
        .iter()
        .filter_map(|setting| Some((setting, address(setting)?)));
    let addresses: Vec<Address<'_>> = addresses.collect();
    let mut of_port = addresses.iter().filter(|(_, (_, own))| *own == Some(port));
    if let Some((first, (host, _))) = of_port.next() {
        let is_local = is_loopback(host) && of_port.all(|(_, (host, _))| is_loopback(host));
        return is_local.then(|| Bind::Setting {
            at: first.at.clone(),
            words: first.value.clone(),
        });
    }
    let mut hosts = addresses.iter().filter(|(_, (_, own))| own.is_none());
    let (host, _) = hosts.find(|(setting, (host, _))| is_loopback(host) && is_own(setting))?;
    let has_port = settings.iter().any(|setting| {
        let is_port =
            setting.name_words().next_back().as_deref() == Some("port") || setting.name == "-p";
        is_port && setting.value.trim() == port.to_string()
    });
    has_port.then(|| Bind::Setting {
        at: host.at.clone(),
        words: host.value.clone(),
    })
}

/// Whether a name is about the server itself: `--host` beside `--port`; a longer name may be somebody
/// else's, such as `--db-host`.
fn is_own(setting: &Setting) -> bool {
    setting.name_words().count() == 1
        || setting
            .name_words()
            .all(|word| BINDS.contains(&&*word) || word == "http")
}

/// A setting with the host and perhaps the port that it names.
type Address<'s> = (&'s Setting, (&'s str, Option<u16>));

/// The address that a setting binds to, by its name: host and perhaps port.
fn address(setting: &Setting) -> Option<(&str, Option<u16>)> {
    let last = setting.name_words().next_back()?;
    let binds = BINDS.contains(&&*last) || matches!(setting.name.as_str(), "-b" | "-l");
    if !binds || setting.value.contains('/') {
        return None;
    }
    let value = setting.value.trim();
    match value.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Some((host, Some(port.parse().ok()?)))
        }
        Some(_) | None => Some((value, None)),
    }
}

fn by_catalog(container: &Container, settings: &[Setting], entry: &Entry, port: u16) -> bool {
    let value_of = |name: &str| {
        let setting = settings.iter().find(|setting| setting.name == name);
        setting.map(|setting| setting.value.as_str())
    };
    let is_opened = |name: &str| {
        value_of(name).is_some_and(|value| {
            let host = value.rsplit_once(':').map_or(value, |(host, _)| host);
            !is_loopback(host)
        })
    };
    let health = entry
        .health_in(container)
        .filter(|health| super::serves::health_port(settings, health) == Some(port));
    let opening = health.and_then(|health| {
        let at = health
            .args
            .iter()
            .position(|arg| arg.contains("=0.0.0.0"))?;
        Some((health.args[at].split('=').next()?, health.env.get(at)))
    });
    if let Some((flag, variable)) = opening {
        // A variable from elsewhere may hold anything.
        let is_elsewhere = variable.is_some_and(|name| is_unknown(container, name));
        let is_variable_open = variable.is_some_and(|name| is_opened(name));
        return !is_opened(flag) && !is_variable_open && !is_elsewhere;
    }
    let is_elsewhere = entry
        .address_by
        .iter()
        .any(|name| is_unknown(container, name));
    entry.listens_on_loopback.contains(&port)
        && !is_elsewhere
        && !entry.address_by.iter().any(|name| is_opened(name))
}

/// Whether a variable is set to something that the manifest does not say.
fn is_unknown(container: &Container, name: &str) -> bool {
    let mut env = container.env.iter();
    env.any(|var| var.name == name && var.value.is_none())
}
