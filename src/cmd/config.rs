//! `config`: writes a commented configuration, or shows the effective one with origins.

use super::settings::{FAIL_ON, Settings};
use crate::cli::{ConfigAction, ConfigCommandArgs};
use crate::config::{Config, FILE, Ignore, Level};
use crate::error::Failure;
use crate::finding::Severity;
use crate::manifest::Span;
use crate::pod::KubeVersion;
use crate::rules::RULES;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// What `config init` writes; a test holds that it can be read, and its examples, too.
pub const EXAMPLE: &str = include_str!("config_example.yaml");

/// Runs the command.
pub fn run(
    args: &ConfigCommandArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    match args.action {
        ConfigAction::Init => {
            let named = args.configuration.config.as_deref();
            init(named.unwrap_or(Path::new(FILE)), err)
        }
        ConfigAction::Show => Ok(show(&Settings::read(&args.configuration)?, out)?),
    }
}

/// Writes a new file; one that is there stays as it is.
fn init(path: &Path, err: &mut dyn Write) -> Result<(), Failure> {
    let name = path.display();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::new(format!("\"{name}\" exists already"))
                .hint("kubectl startorder config show tells what it says"),
            _ => Failure::new(format!("{name}: {error}")),
        })?;
    let written = file.write_all(EXAMPLE.as_bytes());
    written.map_err(|error| Failure::new(format!("{name}: {error}")))?;
    writeln!(err, "wrote {name}; all of it is commented out")?;
    Ok(())
}

/// A line of the configuration, and who says it.
struct Told {
    line: String,
    origin: String,
}

fn show(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let config = &settings.config;
    match &config.source {
        Some(source) => writeln!(out, "# {}", source.name())?,
        None => writeln!(out, "# no {FILE} here or above")?,
    }
    let mut lines = defaults(config);
    lines.push(told("rules:", ""));
    lines.extend(RULES.iter().map(|rule| {
        let (level, origin) = match config.rules.get(rule.id) {
            Some(level) => (word(level.value), place(config, Some(level.at))),
            None => (rule.severity.word(), "default".to_owned()),
        };
        told(format!("  {}: {level}", rule.id), origin)
    }));
    if !config.ignores.is_empty() {
        lines.push(told("ignore:", ""));
        lines.extend(
            config
                .ignores
                .iter()
                .flat_map(|ignore| entry(config, ignore)),
        );
    }
    let own = &config.entries;
    let known = settings.catalog.entries().len();
    lines.push(told(
        "catalog:",
        format!("{known} entries, {} own", own.len()),
    ));
    lines.extend(own.iter().map(|(name, at)| {
        let at = place(config, Some(*at));
        told(format!("- name: {name}"), at)
    }));
    print(&lines, out)
}

fn defaults(config: &Config) -> Vec<Told> {
    let version = config.version.map_or(KubeVersion::NEWEST, |it| it.value);
    let mesh = config.mesh.map_or("none", |it| it.value.word());
    let fail_on = config.fail_on.map_or(FAIL_ON, |it| it.value);
    let fail_on = fail_on.map_or("none", Severity::word);
    vec![
        told(
            format!("k8s-version: \"{version}\""),
            place(config, config.version.map(|it| it.at)),
        ),
        told(
            format!("assume-mesh: {mesh}"),
            place(config, config.mesh.map(|it| it.at)),
        ),
        told(
            format!("fail-on: {fail_on}"),
            place(config, config.fail_on.map(|it| it.at)),
        ),
    ]
}

/// An entry of `ignore` in lines.
fn entry(config: &Config, ignore: &Ignore) -> Vec<Told> {
    let rules: Vec<&str> = ignore.rules.iter().map(|(rule, _)| *rule).collect();
    let workload = ignore.workload.as_ref();
    let fields = [
        (
            "rule",
            Some(format!("[{}]", rules.join(", "))).filter(|_| !rules.is_empty()),
        ),
        (
            "path",
            ignore
                .path
                .as_ref()
                .map(|path| format!("{:?}", path.to_string())),
        ),
        (
            "workload",
            workload.map(|(kind, name)| format!("\"{kind}/{name}\"")),
        ),
        ("namespace", ignore.namespace.clone()),
        ("container", ignore.container.clone()),
        (
            "reason",
            ignore.reason.as_ref().map(|reason| format!("{reason:?}")),
        ),
    ];
    let fields = fields
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    let lines = fields.enumerate().map(|(at, (key, value))| match at {
        0 => told(format!("- {key}: {value}"), place(config, Some(ignore.at))),
        _ => told(format!("  {key}: {value}"), ""),
    });
    lines.collect()
}

fn told(line: impl Into<String>, origin: impl Into<String>) -> Told {
    Told {
        line: line.into(),
        origin: origin.into(),
    }
}

fn place(config: &Config, at: Option<Span>) -> String {
    at.map_or("default".to_owned(), |at| config.place(at))
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Off => "off",
        Level::At(severity) => severity.word(),
    }
}

/// The origins stand in one column.
fn print(lines: &[Told], out: &mut dyn Write) -> io::Result<()> {
    let with_origin = lines.iter().filter(|told| !told.origin.is_empty());
    let width = with_origin.map(|told| told.line.chars().count()).max();
    let width = width.unwrap_or(0).min(48);
    for Told { line, origin } in lines {
        match origin.is_empty() {
            true => writeln!(out, "{line}")?,
            false => writeln!(out, "{line:width$}  # {origin}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::manifest::Source;
    use std::sync::Arc;

    #[test]
    fn the_examples_that_init_writes_are_a_configuration() {
        // Examples begin right behind the `#`, or are indented; prose has one blank there.
        let is_prose = |line: &str| line.starts_with("# ") && !line.starts_with("#  ");
        let lines = EXAMPLE.lines().filter(|line| !is_prose(line));
        let lines = lines.map(|line| line.strip_prefix('#').unwrap_or(line));
        let text = lines.collect::<Vec<_>>().join("\n");
        let ids: Vec<&'static str> = RULES.iter().map(|rule| rule.id).collect();
        let config = config::read(&Arc::new(Source::new("x", text)), &ids).expect("no errors");
        assert!(config.version.is_some() && config.mesh.is_some() && config.fail_on.is_some());
        assert_eq!((config.rules.len(), config.ignores.len()), (2, 2));
        assert_eq!(config.entries.len(), 1);
    }
}
