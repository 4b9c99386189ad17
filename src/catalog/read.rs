//! The catalogue's reader: for the built-in data, and with places for a user's file.

use super::fields::{
    Read, error, fields, flag, month, one_of, port, ports, seconds, sources, text, texts, unknown,
    version,
};
use super::version::Range;
use super::{
    Catalog, CatalogError, Class, Covers, Entry, Exit, Health, ProbeCommand, Quit, Shell, Variant,
    WaitCommand, WaitsForApp,
};
use crate::manifest::Node;

/// Who wrote the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This project: each entry says where its facts were checked, and when.
    BuiltIn,
    /// A user, who owes nobody a source.
    User,
}

/// Reads a list of entries.
///
/// The error is the first thing that cannot be read, with its place when the list came from a text.
pub fn read(list: Node<'_>, origin: Origin) -> Result<Catalog, CatalogError> {
    if list.is_null() {
        return Ok(Catalog::default());
    }
    if !list.is_sequence() {
        return error(list, "the catalogue needs a list of entries");
    }
    let mut entries: Vec<Entry> = Vec::new();
    for item in list.items() {
        let entry = read_entry(item, origin)?;
        if entries.iter().any(|other| other.name == entry.name) {
            let place = item.get("name").unwrap_or(item);
            return error(place, format!("two entries have the name {:?}", entry.name));
        }
        entries.push(entry);
    }
    Ok(Catalog::new(entries))
}

const CLASSES: [(&str, Class); 4] = [
    ("needed", Class::Needed),
    ("useful", Class::Useful),
    ("irrelevant", Class::Irrelevant),
    ("reverse", Class::Reverse),
];

const COVERS: [(&str, Covers); 5] = [
    ("all", Covers::All),
    ("apps", Covers::Apps),
    ("loopback", Covers::Loopback),
    ("callers", Covers::Callers),
    ("volume", Covers::Volume),
];

const SHELLS: [(&str, Shell); 3] = [
    ("posix", Shell::Posix),
    ("none", Shell::None),
    ("varies", Shell::Varies),
];

/// The fields that say what an entry is of.
const OWN: [&str; 8] = [
    "name",
    "images",
    "programs",
    "only_when",
    "not_when",
    "variants",
    "checked",
    "sources",
];

/// The fields that say when a variant holds.
const CONDITIONS: [&str; 4] = ["since", "until", "only_when", "not_when"];

/// The fields that hold facts, which a variant may give anew.
const FACTS: [&str; 21] = [
    "class",
    "kind",
    "front_when",
    "fronts_neighbours",
    "once_when",
    "covers",
    "serves",
    "serves_by",
    "listens_on_loopback",
    "address_by",
    "waits_for_app",
    "sockets",
    "files",
    "health",
    "probe",
    "wait",
    "exit",
    "shell",
    "bare_images",
    "shell_tags",
    "tools",
];

fn read_entry(node: Node<'_>, origin: Origin) -> Read<Entry> {
    let known: Vec<&str> = OWN.into_iter().chain(FACTS).collect();
    check_fields(node, "an entry", &known)?;
    let mut entry = empty(required(node, "name", text)?);
    entry.images = required(node, "images", texts)?;
    required(node, "class", text)?;
    if let Some(pattern) = entry
        .images
        .iter()
        .position(|pattern| names_nothing(pattern))
    {
        let place = node.get("images").and_then(|images| images.item(pattern));
        let message = "a pattern needs letters in the last segment of the image";
        return error(place.unwrap_or(node), message);
    }
    entry.programs = optional(node, "programs", texts)?;
    entry.only_when = optional(node, "only_when", texts)?;
    entry.not_when = optional(node, "not_when", texts)?;
    read_facts(node, &mut entry)?;
    match origin {
        Origin::BuiltIn => {
            entry.checked = required(node, "checked", month)?;
            entry.sources = required(node, "sources", sources)?;
        }
        Origin::User => {
            entry.checked = optional(node, "checked", month)?;
            entry.sources = optional(node, "sources", sources)?;
        }
    }
    if let Some(list) = node.get("variants") {
        if !list.is_sequence() {
            return error(list, "variants needs a list");
        }
        let variants = list.items().map(|item| read_variant(item, &entry));
        entry.variants = variants.collect::<Read<_>>()?;
    }
    Ok(entry)
}

/// Whether a pattern would take every image.
fn names_nothing(pattern: &str) -> bool {
    let name = super::image::Image::parse(pattern).name();
    !name.contains(char::is_alphanumeric)
}

/// An entry of which nothing is known.
fn empty(name: String) -> Entry {
    Entry {
        name,
        class: Class::Needed,
        kind: String::new(),
        images: Vec::new(),
        only_when: Vec::new(),
        not_when: Vec::new(),
        programs: Vec::new(),
        front_when: Vec::new(),
        fronts_neighbours: false,
        once_when: Vec::new(),
        covers: Covers::Loopback,
        serves: Vec::new(),
        serves_by: Vec::new(),
        listens_on_loopback: Vec::new(),
        address_by: Vec::new(),
        waits_for_app: None,
        sockets: Vec::new(),
        files: false,
        health: Vec::new(),
        probe: None,
        wait: None,
        exit: None,
        shell: Shell::Varies,
        bare_images: Vec::new(),
        shell_tags: Vec::new(),
        tools: Vec::new(),
        checked: String::new(),
        sources: Vec::new(),
        variants: Vec::new(),
    }
}

fn check_fields(node: Node<'_>, what: &str, known: &[&str]) -> Read<()> {
    let mut all = fields(node, what)?.into_iter();
    match all.find(|(key, _)| !known.contains(key)) {
        Some((key, _)) => unknown(node, key, known),
        None => Ok(()),
    }
}

/// The value of a field that has to be there and say something.
fn required<T: Default + PartialEq>(
    node: Node<'_>,
    key: &str,
    read: fn(Node<'_>, &str) -> Read<T>,
) -> Read<T> {
    let Some(value) = node.get(key).filter(|value| !value.is_null()) else {
        let what = match node.get("name").and_then(Node::string) {
            Some(name) => format!("entry {name:?}"),
            None => "an entry".to_owned(),
        };
        return error(node, format!("{what} needs the field {key}"));
    };
    match read(value, key)? {
        found if found == T::default() => error(value, format!("{key} is empty")),
        found => Ok(found),
    }
}

/// The value of a field that may be left out.
fn optional<T: Default>(node: Node<'_>, key: &str, read: fn(Node<'_>, &str) -> Read<T>) -> Read<T> {
    let value = node.get(key).filter(|value| !value.is_null());
    value.map_or_else(|| Ok(T::default()), |value| read(value, key))
}

/// What is there in some versions or modes instead; `null` takes a fact away.
fn read_variant(node: Node<'_>, entry: &Entry) -> Read<Variant> {
    let known: Vec<&str> = CONDITIONS.into_iter().chain(FACTS).collect();
    check_fields(node, "a variant", &known)?;
    let mut variant = Variant {
        range: read_range(node)?,
        only_when: optional(node, "only_when", texts)?,
        not_when: optional(node, "not_when", texts)?,
        entry: entry.clone(),
    };
    if variant.range.is_open() && variant.only_when.is_empty() && variant.not_when.is_empty() {
        let conditions = CONDITIONS.join(", ");
        return error(node, format!("a variant needs one of {conditions}"));
    }
    read_facts(node, &mut variant.entry)?;
    Ok(variant)
}

/// The versions in which a fact holds: `since` the first, `until` the first after them.
fn read_range(node: Node<'_>) -> Read<Range> {
    let bound = |key: &str| node.get(key).map(|value| version(value, key)).transpose();
    Ok(Range {
        since: bound("since")?,
        until: bound("until")?,
    })
}

/// Reads the facts that a mapping gives over those that an entry has.
fn read_facts(node: Node<'_>, entry: &mut Entry) -> Read<()> {
    for (key, value) in fields(node, "an entry")? {
        match key {
            "class" => entry.class = one_of(value, key, &CLASSES)?,
            "kind" => entry.kind = text(value, key)?,
            "front_when" => entry.front_when = texts(value, key)?,
            "fronts_neighbours" => entry.fronts_neighbours = flag(value, key)?,
            "once_when" => entry.once_when = texts(value, key)?,
            "covers" => entry.covers = one_of(value, key, &COVERS)?,
            "serves" => entry.serves = ports(value, key)?,
            "serves_by" => entry.serves_by = texts(value, key)?,
            "listens_on_loopback" => entry.listens_on_loopback = ports(value, key)?,
            "address_by" => entry.address_by = texts(value, key)?,
            "waits_for_app" => entry.waits_for_app = unless_null(value, read_waits_for_app)?,
            "sockets" => entry.sockets = texts(value, key)?,
            "files" => entry.files = flag(value, key)?,
            "health" => entry.health = read_endpoints(value)?,
            "probe" => entry.probe = unless_null(value, read_probe)?,
            "wait" => entry.wait = unless_null(value, read_wait)?,
            "exit" => entry.exit = unless_null(value, read_exit)?,
            "shell" => entry.shell = one_of(value, key, &SHELLS)?,
            "bare_images" => entry.bare_images = texts(value, key)?,
            "shell_tags" => entry.shell_tags = texts(value, key)?,
            "tools" => entry.tools = texts(value, key)?,
            // The entry's own fields and a variant's conditions are read elsewhere.
            _ => {}
        }
    }
    Ok(())
}

fn unless_null<T>(node: Node<'_>, read: fn(Node<'_>) -> Read<T>) -> Read<Option<T>> {
    match node.is_null() {
        true => Ok(None),
        false => read(node).map(Some),
    }
}

/// One health endpoint, or a list of those that versions and modes have.
fn read_endpoints(node: Node<'_>) -> Read<Vec<Health>> {
    match (node.is_null(), node.is_sequence()) {
        (true, _) => Ok(Vec::new()),
        (false, true) => node.items().map(read_health).collect(),
        (false, false) => Ok(vec![read_health(node)?]),
    }
}

fn read_health(node: Node<'_>) -> Read<Health> {
    let known = [
        "path",
        "port",
        "port_by",
        "only_when",
        "args",
        "env",
        "since",
        "until",
    ];
    check_fields(node, "health", &known)?;
    let health = Health {
        path: node.get("path").map_or_else(|| Ok("/".to_owned()), path)?,
        port: node
            .get("port")
            .map(|value| port(value, "port"))
            .transpose()?,
        port_by: optional(node, "port_by", texts)?,
        only_when: optional(node, "only_when", texts)?,
        args: optional(node, "args", texts)?,
        env: optional(node, "env", texts)?,
        range: read_range(node)?,
    };
    if health.port.is_none() && health.port_by.is_empty() {
        return error(node, "health needs the field port, or port_by");
    }
    if health.env.len() > health.args.len() {
        let place = node.get("env").unwrap_or(node);
        return error(
            place,
            "each variable of env stands for one of args: there are more",
        );
    }
    Ok(health)
}

fn path(node: Node<'_>) -> Read<String> {
    match text(node, "path")? {
        text if text.starts_with('/') => Ok(text),
        _ => error(node, "path needs a path that begins with /"),
    }
}

fn read_probe(node: Node<'_>) -> Read<ProbeCommand> {
    check_fields(node, "probe", &["exec", "host_by", "host_flag"])?;
    let flag = node.get("host_flag");
    Ok(ProbeCommand {
        command: command(node, "exec")?,
        host_by: optional(node, "host_by", texts)?,
        host_flag: flag.map_or_else(|| Ok("--host".to_owned()), |flag| text(flag, "host_flag"))?,
    })
}

/// The words of a command, of which there has to be one at least.
fn command(node: Node<'_>, key: &str) -> Read<Vec<String>> {
    let words = optional(node, key, texts)?;
    match words.is_empty() {
        true => error(
            node.get(key).unwrap_or(node),
            format!("{key} needs the words of a command"),
        ),
        false => Ok(words),
    }
}

fn read_waits_for_app(node: Node<'_>) -> Read<WaitsForApp> {
    check_fields(node, "waits_for_app", &["path", "when"])?;
    Ok(WaitsForApp {
        path: path(node.get("path").unwrap_or(node))?,
        when: optional(node, "when", texts)?,
    })
}

fn read_wait(node: Node<'_>) -> Read<WaitCommand> {
    let known = ["command", "bound_seconds", "args", "env", "since", "until"];
    check_fields(node, "wait", &known)?;
    let bound = node.get("bound_seconds");
    Ok(WaitCommand {
        command: command(node, "command")?,
        bound_seconds: bound
            .map(|value| seconds(value, "bound_seconds"))
            .transpose()?,
        args: optional(node, "args", texts)?,
        env: optional(node, "env", texts)?,
        range: read_range(node)?,
    })
}

fn read_exit(node: Node<'_>) -> Read<Exit> {
    if !node.is_mapping() {
        return match node.text() {
            Some("never") => Ok(Exit::Never),
            Some("self") => Ok(Exit::Itself),
            Some(_) | None => error(node, "exit needs never, self, or the field quit"),
        };
    }
    check_fields(node, "exit", &["quit"])?;
    let quit = node.get("quit").unwrap_or(node);
    check_fields(quit, "quit", &["path", "port", "port_by", "only_when"])?;
    let Some(number) = quit.get("port") else {
        return error(quit, "quit needs the field port");
    };
    Ok(Exit::Quit(Quit {
        path: path(quit.get("path").unwrap_or(quit))?,
        port: port(number, "port")?,
        port_by: optional(quit, "port_by", texts)?,
        only_when: optional(quit, "only_when", texts)?,
    }))
}

#[cfg(test)]
mod tests;
