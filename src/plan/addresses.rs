//! Addresses and sockets that a text names: URLs, `host:port`, connection strings.

/// What can be waited for or depended on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A server.
    Address(Address),
    /// A name that is looked up and nothing more.
    Dns {
        /// The name.
        name: String,
    },
    /// A file or a Unix socket.
    File {
        /// Its path.
        path: String,
    },
    /// An object of the cluster, by the words that name it.
    Kubernetes {
        /// Such as `pod -l app=db`.
        what: String,
    },
    /// Something that the command does not say.
    Opaque,
}

impl Target {
    /// The server, if it is one.
    pub fn server(&self) -> Option<&Address> {
        match self {
            Target::Address(address) => Some(address),
            Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. }
            | Target::Opaque => None,
        }
    }

    /// The server, if it is one on the loopback of whoever asks.
    pub fn own_server(&self) -> Option<&Address> {
        self.server().filter(|address| address.is_loopback())
    }
}

/// Where a server is. Parts that come from variables nobody knows stand there as they are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The scheme of a URL, in lower case.
    pub scheme: Option<String>,
    /// The host, without the brackets of IPv6.
    pub host: String,
    /// The port, when it is written or the tool has a default.
    pub port: Option<u16>,
    /// The path of a URL, with its `/`.
    pub path: Option<String>,
}

impl Address {
    /// A host and a port.
    pub fn new(host: impl Into<String>, port: Option<u16>) -> Address {
        Address {
            scheme: None,
            host: host.into(),
            port,
            path: None,
        }
    }

    /// The port, or the usual one of the scheme.
    pub fn port_or_default(&self) -> Option<u16> {
        self.port.or_else(|| default_port(self.scheme.as_deref()?))
    }

    /// Whether it is the pod's own loopback.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

/// Whether a host, in brackets or not, is the loopback of whoever dials it.
pub fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host == "::1"
        || host == "ip6-localhost"
        || (host.starts_with("127.") && is_ipv4(host))
}

fn is_ipv4(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok()
}

fn default_port(scheme: &str) -> Option<u16> {
    // `postgresql+psycopg2` names the client's driver, too.
    let (scheme, _) = scheme.split_once('+').unwrap_or((scheme, ""));
    Some(match scheme {
        "http" | "ws" | "http-get" => 80,
        "https" | "wss" | "https-get" => 443,
        "postgres" | "postgresql" => 5432,
        "mysql" | "mariadb" => 3306,
        "redis" | "rediss" | "valkey" => 6379,
        "amqp" => 5672,
        "amqps" => 5671,
        "mongodb" => 27017,
        "nats" => 4222,
        "mqtt" => 1883,
        "ldap" => 389,
        "clickhouse" => 9000,
        "sqlserver" => 1433,
        _ => return None,
    })
}

/// A place in a text that names a server or a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// An address or a file.
    pub target: Target,
    /// The words to mark: `host:port` as they stand in the text, else the host or the path.
    pub words: String,
}

/// The servers and sockets that a text names, in order.
pub fn mentions(text: &str) -> Vec<Mention> {
    if is_plain_word(text) {
        return Vec::new();
    }
    let tokens = tokens(text);
    let port = keyword_port(&tokens);
    let mut mentions = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if let Some(found) = url(token).or_else(|| socket(token)) {
            mentions.push(found);
            continue;
        }
        let value = value_of(token);
        if let Some(found) = host_and_port(value) {
            mentions.push(found);
        } else if let Some(host) = keyword_host(&tokens, index) {
            let address = Address::new(host, port.or_else(|| port_behind_comma(&tokens, index)));
            mentions.push(Mention {
                target: Target::Address(address),
                words: host.to_owned(),
            });
        } else if is_loopback(value) && !is_value_of_last(&mentions, value) {
            mentions.push(Mention {
                target: Target::Address(Address::new(value, None)),
                words: value.to_owned(),
            });
        }
    }
    mentions.dedup();
    mentions
}

/// Whether a text is one word without any mark of an address, as most values are.
fn is_plain_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/');
    text.bytes().all(fits) && !is_loopback(text)
}

/// Whether a host was just read as the value of a keyword.
fn is_value_of_last(mentions: &[Mention], host: &str) -> bool {
    mentions.last().is_some_and(|mention| mention.words == host)
}

/// What one word names as a whole: a URL, a socket, `host:port`, or a bare host.
pub fn endpoint(word: &str) -> Option<Mention> {
    url(word)
        .or_else(|| socket(word))
        .or_else(|| host_and_port(word))
        .or_else(|| bare_host(word))
}

/// Splits a text where no address goes on; `${…}` and `$(…)` stay whole.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut closing: Option<char> = None;
    let mut previous = ' ';
    for (at, letter) in text.char_indices() {
        let was_dollar = previous == '$';
        previous = letter;
        if let Some(end) = closing {
            let is_over = letter == end || letter.is_whitespace();
            if is_over {
                closing = None;
            }
            if !letter.is_whitespace() {
                continue;
            }
        }
        match letter {
            '{' if was_dollar => closing = Some('}'),
            '(' if was_dollar => closing = Some(')'),
            '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '<' | '>' | '|' | '{' | '}' => {
                push(&mut tokens, &text[start..at]);
                start = at + letter.len_utf8();
            }
            _ if letter.is_whitespace() => {
                push(&mut tokens, &text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    push(&mut tokens, &text[start..]);
    tokens
}

fn push<'t>(tokens: &mut Vec<&'t str>, token: &'t str) {
    if !token.is_empty() {
        tokens.push(token);
    }
}

/// What stands behind the last `=` or `@`.
fn value_of(token: &str) -> &str {
    let value = token.rsplit('=').next().unwrap_or(token);
    value.rsplit('@').next().unwrap_or(value)
}

fn url(token: &str) -> Option<Mention> {
    let (before, rest) = token.split_once("://")?;
    let scheme_start = before
        .rfind(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '-' | '.'))
        .map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
    let scheme = before[scheme_start..]
        .trim_start_matches('-')
        .to_ascii_lowercase();
    if scheme == "unix" || scheme == "file" {
        let path = rest.split(['?', '#']).next().unwrap_or(rest);
        return path.starts_with('/').then(|| file(path));
    }
    // gRPC writes `dns:///host:port`, with nobody between the slashes.
    if matches!(scheme.as_str(), "dns" | "passthrough") {
        return host_and_port(rest.trim_start_matches('/'));
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let words = authority.rsplit('@').next().unwrap_or(authority);
    let (host, port) = split_port(words);
    if host.is_empty() || !is_host(host) {
        return None;
    }
    let path = tail.split(['?', '#']).next().unwrap_or(tail);
    Some(Mention {
        target: Target::Address(Address {
            scheme: Some(scheme).filter(|scheme| !scheme.is_empty()),
            host: host.to_owned(),
            port,
            path: path.starts_with('/').then(|| path.to_owned()),
        }),
        words: words.to_owned(),
    })
}

/// `unix:/run/x.sock`, with anything before it that ends in `=`.
fn socket(token: &str) -> Option<Mention> {
    let at = token.find("unix:/")?;
    if at > 0 && !token[..at].ends_with(['=', '@', ':']) {
        return None;
    }
    let path = &token[at + "unix:".len()..];
    Some(file(path))
}

fn file(path: &str) -> Mention {
    Mention {
        target: Target::File {
            path: path.to_owned(),
        },
        words: path.to_owned(),
    }
}

fn host_and_port(token: &str) -> Option<Mention> {
    let end = token.find('/').unwrap_or(token.len());
    let (words, path) = token.split_at(end);
    let (host, port) = split_port(words);
    let port = port.filter(|port| *port >= 20)?;
    let has_name = host.contains(|letter: char| letter.is_ascii_alphabetic()) || host.contains(':');
    if !is_host(host) || !(has_name || is_ipv4(host)) {
        return None;
    }
    Some(Mention {
        target: Target::Address(Address {
            scheme: None,
            host: host.to_owned(),
            port: Some(port),
            path: (!path.is_empty()).then(|| path.to_owned()),
        }),
        words: words.to_owned(),
    })
}

fn bare_host(word: &str) -> Option<Mention> {
    let (host, path) = word.split_at(word.find('/').unwrap_or(word.len()));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (is_host(host) && !host.starts_with('-')).then(|| Mention {
        target: Target::Address(Address {
            scheme: None,
            host: host.to_owned(),
            port: None,
            path: (!path.is_empty()).then(|| path.to_owned()),
        }),
        words: host.to_owned(),
    })
}

/// Host and port of an authority; the host without brackets.
fn split_port(authority: &str) -> (&str, Option<u16>) {
    if let Some(inner) = authority.strip_prefix('[')
        && let Some((host, rest)) = inner.split_once(']')
    {
        let port = rest.strip_prefix(':').and_then(|port| port.parse().ok());
        return (host, port);
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => match port.parse() {
            Ok(port) => (host, Some(port)),
            // A port that is a variable.
            Err(_) if port.contains('$') || port.is_empty() => (host, None),
            Err(_) => (authority, None),
        },
        _ => (authority, None),
    }
}

/// Whether a text can be a host: a name, an address, or one with variables in it.
fn is_host(text: &str) -> bool {
    let has_variable = text.contains('$');
    let fits = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '.' | '-' | '_')
            || (letter == ':' && text.parse::<std::net::Ipv6Addr>().is_ok())
            || (has_variable && matches!(letter, '$' | '{' | '}' | '(' | ')' | ' ' | '"' | ':'))
    };
    !text.is_empty() && text.chars().all(fits)
}

const HOST_KEYS: [&str; 5] = ["host", "hostaddr", "hostname", "server", "address"];

/// The key of `key=value` or `--key`, without dashes, in lower case.
fn key(token: &str) -> String {
    let key = token.split('=').next().unwrap_or(token);
    key.trim_start_matches('-').to_ascii_lowercase()
}

/// The value of a keyword: behind its `=`, or the next word behind a flag.
fn keyword_value<'t>(tokens: &[&'t str], index: usize) -> Option<&'t str> {
    let token = tokens.get(index)?;
    match token.split_once('=') {
        // `host="db"`: a quote ends the word.
        Some((_, "")) => tokens.get(index + 1).copied(),
        Some((_, value)) => Some(value),
        None if token.starts_with('-') => tokens.get(index + 1).copied(),
        None => None,
    }
}

fn keyword_host<'t>(tokens: &[&'t str], index: usize) -> Option<&'t str> {
    if !HOST_KEYS.contains(&key(tokens.get(index)?).as_str()) {
        return None;
    }
    let host = keyword_value(tokens, index)?;
    let has_letter = host.contains(|letter: char| letter.is_ascii_alphabetic());
    (is_host(host) && (has_letter || is_ipv4(host))).then_some(host)
}

/// `Server=127.0.0.1,1433`, as clients of SQL Server write it.
fn port_behind_comma(tokens: &[&str], index: usize) -> Option<u16> {
    let is_server = key(tokens.get(index)?) == "server";
    tokens.get(index + 1).filter(|_| is_server)?.parse().ok()
}

fn keyword_port(tokens: &[&str]) -> Option<u16> {
    let index = tokens.iter().position(|token| key(token) == "port")?;
    keyword_value(tokens, index)?.parse().ok()
}

#[cfg(test)]
mod tests;
