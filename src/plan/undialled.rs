//! Settings that name an address which their container does not need at its start.

use super::settings::Setting;
use std::borrow::Cow;

/// Addresses that the container itself does not dial: exceptions (`NO_PROXY`), what it tells
/// browsers and peers about itself, and where it listens.
pub(super) fn is_for_others(setting: &Setting) -> bool {
    const WORDS: &[&str] = &[
        "public",
        "external",
        "redirect",
        "callback",
        "advertise",
        "advertised",
        "announced",
        "cors",
        "origin",
        "origins",
        "referer",
        "announce",
        "bind",
        "listen",
        "listener",
        "listeners",
        "pprof",
        "jmx",
        "management",
    ];
    let name = setting.name.to_lowercase();
    name.contains("no_proxy")
        || name.contains("no-proxy")
        || name.contains("allowed")
        || name.contains("exclude")
        || setting.name_words().any(|word| WORDS.contains(&&*word))
        || is_own_property(setting)
        || is_own_name(setting)
}

/// `APP_URL`, `SITE_URL`, `SERVER_NAME`: what a web application calls itself.
fn is_own_name(setting: &Setting) -> bool {
    const OWN: &[&str] = &[
        "app",
        "site",
        "root",
        "web",
        "website",
        "home",
        "canonical",
        "frontend",
        "nextauth",
        "self",
        "own",
        "my",
    ];
    let words: Vec<Cow<'_, str>> = setting.name_words().collect();
    let Some((last, first)) = words.split_last() else {
        return false;
    };
    let is_own = |word: &Cow<'_, str>| OWN.contains(&&**word);
    match &**last {
        "url" | "uri" => !first.is_empty() && first.iter().all(is_own),
        "name" => first == ["server"],
        _ => false,
    }
}

/// `-Dserver.address=127.0.0.1` and the like: where a Java program itself listens.
fn is_own_property(setting: &Setting) -> bool {
    if setting.file.is_some() {
        return false;
    }
    let bare = match setting.name.strip_prefix("-D") {
        Some(property) => property,
        None => match setting.name.split_once('.') {
            Some((_, member)) => member,
            None => return false,
        },
    };
    bare.starts_with("server.")
        || bare.starts_with("management.")
        || ["jmxremote", "rmi.server", ".instance."]
            .iter()
            .any(|part| bare.contains(part))
}

/// Where traces, metrics and logs are sent, and what is probed: whoever does that retries.
pub(super) fn is_telemetry(setting: &Setting) -> bool {
    const WORDS: &[&str] = &[
        "apm",
        "datadog",
        "dd",
        "dogstatsd",
        "export",
        "exporter",
        "fluent",
        "fluentd",
        "gelf",
        "graylog",
        "healthcheck",
        "jaeger",
        "liveness",
        "log",
        "logging",
        "logs",
        "logstash",
        "loki",
        "metrics",
        "newrelic",
        "otel",
        "otlp",
        "probe",
        "pushgateway",
        "readiness",
        "sentry",
        "statsd",
        "syslog",
        "telemetry",
        "traces",
        "tracing",
        "zipkin",
    ];
    setting.name_words().any(|word| WORDS.contains(&&*word))
}
