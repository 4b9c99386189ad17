//! `curl` and `wget`.

use super::options::{Options, Takes};
use super::{Kind, Line, Recognised, Retry, address_of, mark, one};
use crate::plan::addresses::Target;
use crate::shell::Arg;
use std::time::Duration;

pub(super) fn recognise(line: &Line<'_>) -> Option<Recognised> {
    match line.name {
        "curl" => curl(line),
        "wget" => wget(line),
        _ => None,
    }
}

const CURL: Takes = Takes {
    short: "obcdeEFHKmPQrtTuUwxXyYzAC",
    long: &[
        "retry",
        "retry-delay",
        "retry-max-time",
        "max-time",
        "connect-timeout",
        "unix-socket",
        "resolve",
        "cacert",
        "cert",
        "key",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "header",
        "request",
        "output",
        "write-out",
        "user",
        "user-agent",
        "url",
        "cookie",
        "cookie-jar",
        "form",
        "upload-file",
        "proxy",
        "connect-to",
        "interface",
        "capath",
        "pass",
        "referer",
        "range",
        "json",
        "noproxy",
        "stderr",
        "config",
        "aws-sigv4",
    ],
};

fn curl(line: &Line<'_>) -> Option<Recognised> {
    let options = Options::read(line.words, &CURL);
    let retry = curl_retry(&options);
    let kind = curl_kind(&options);
    if let Some(socket) = options.value(&["unix-socket"]) {
        let path = socket.value.text.clone();
        let words = mark(socket, &path);
        return one(line.check(Target::File { path }, words, retry, kind));
    }
    let named = options.value(&["url"]);
    let mut recognised = Recognised::default();
    for url in named
        .into_iter()
        .chain(options.plain.iter().map(|(_, arg)| *arg))
    {
        if let Some((target, words)) = address_of(url) {
            let target = with_scheme(target);
            recognised
                .checks
                .push(line.check(target, words, retry, kind));
        }
    }
    Some(recognised)
}

/// A request that sends or fetches something is no question.
fn curl_kind(options: &Options<'_>) -> Kind {
    let sends = options.has(&[
        "d",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "json",
        "F",
        "form",
        "T",
        "upload-file",
        "O",
        "remote-name",
    ]);
    let method = options.value(&["X", "request"]);
    let changes =
        method.is_some_and(|method| !["GET", "HEAD"].contains(&method.value.text.as_str()));
    let file = options.value(&["o", "output"]);
    if sends || changes || file.is_some_and(is_kept) {
        return Kind::Client;
    }
    Kind::Probe
}

/// Whether an output file is one that stays.
fn is_kept(file: &Arg) -> bool {
    file.value.text != "-" && !file.value.text.starts_with("/dev/")
}

/// A URL without a scheme is HTTP.
fn with_scheme(target: Target) -> Target {
    match target {
        Target::Address(mut address) => {
            address.scheme.get_or_insert_with(|| "http".to_owned());
            Target::Address(address)
        }
        other => other,
    }
}

fn curl_retry(options: &Options<'_>) -> Retry {
    let one_try = options
        .time(&["m", "max-time"])
        .or_else(|| options.time(&["connect-timeout"]))
        .unwrap_or_default();
    // Without one of these a refused connection is not tried again.
    if !options.has(&["retry-connrefused", "retry-all-errors"]) {
        return Retry::Once(one_try);
    }
    let Some(count) = options.number(&["retry"]) else {
        return match options.value(&["retry"]) {
            Some(_) => Retry::Unknown,
            None => Retry::Once(one_try),
        };
    };
    let pauses = match options
        .time(&["retry-delay"])
        .filter(|delay| !delay.is_zero())
    {
        Some(delay) => delay.saturating_mul(count),
        // One second, doubled each time, up to ten minutes.
        None => (0..count.min(1000))
            .map(|round| Duration::from_secs(1 << round.min(9)).min(Duration::from_secs(600)))
            .sum(),
    };
    let all = pauses.saturating_add(one_try.saturating_mul(count.saturating_add(1)));
    match options
        .time(&["retry-max-time"])
        .filter(|most| !most.is_zero())
    {
        Some(most) => Retry::For(all.min(most)),
        None if count == 0 => Retry::Once(one_try),
        None => Retry::For(all),
    }
}

const WGET: Takes = Takes {
    short: "OoaTtQPUeiBAwR",
    long: &[
        "output-document",
        "timeout",
        "tries",
        "waitretry",
        "header",
        "post-data",
        "post-file",
        "user",
        "password",
        "wait",
        "user-agent",
        "connect-timeout",
        "read-timeout",
        "dns-timeout",
        "directory-prefix",
        "method",
        "body-data",
        "output-file",
        "ca-certificate",
    ],
};

fn wget(line: &Line<'_>) -> Option<Recognised> {
    let options = Options::read(line.words, &WGET);
    let one_try = options
        .time(&["T", "timeout"])
        .or_else(|| options.time(&["connect-timeout"]))
        .unwrap_or_default();
    let retry = if options.has(&["retry-connrefused"]) {
        let most = options.number(&["waitretry"]).unwrap_or(10);
        match options.number(&["t", "tries"]).unwrap_or(20) {
            0 => Retry::Forever,
            tries => {
                let pauses: u64 = (1..tries.min(10_000))
                    .map(|round| u64::from(round.min(most)))
                    .sum();
                Retry::For(
                    Duration::from_secs(pauses).saturating_add(one_try.saturating_mul(tries)),
                )
            }
        }
    } else {
        Retry::Once(one_try)
    };
    let sends = options.has(&[
        "post-data",
        "post-file",
        "body-data",
        "P",
        "directory-prefix",
    ]);
    let file = options.value(&["O", "output-document"]);
    let kind = if sends || file.is_some_and(is_kept) {
        Kind::Client
    } else {
        Kind::Probe
    };
    let checks = options
        .plain
        .iter()
        .filter_map(|(_, url)| address_of(url))
        .map(|(target, words)| line.check(with_scheme(target), words, retry, kind))
        .collect();
    Some(Recognised {
        checks,
        ..Recognised::default()
    })
}
