//! What is written twice is the same twice: the README's outputs and rule table, the help texts, the
//! manifest for krew. `SNAPSHOTS=overwrite cargo test` rewrites the README.

use clap::CommandFactory;
use startorder::cli::Cli;
use startorder::rules::RULES;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn in_repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn expect(path: &str, actual: &str) {
    let path = in_repository(path);
    let expected = snapbox::Data::read_from(&path, None);
    snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false)
        .eq(snapbox::Data::text(actual), expected);
}

/// What a command of the README prints, run where its paths lead: in `testdata/`.
fn printed(command: &str) -> String {
    let arguments = command
        .strip_prefix("kubectl startorder ")
        .expect("a command of ours");
    let mut program = Command::new(env!("CARGO_BIN_EXE_kubectl-startorder"));
    program.current_dir(in_repository("testdata")).env_clear();
    let output = program
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("text")
}

fn rule_table() -> String {
    let mut table = String::from("| rule | severity | finds |\n|---|---|---|\n");
    for rule in RULES {
        writeln!(
            table,
            "| `{}` | {} | {} |",
            rule.id, rule.severity, rule.summary
        )
        .expect("memory");
    }
    table
}

#[test]
fn the_readme_shows_what_the_binary_prints() {
    let text = fs::read_to_string(in_repository("README.md")).expect("the README");
    let (before, rest) = text
        .split_once("<!-- rules -->\n")
        .expect("the place of the rule table");
    let (_, after) = rest.split_once("<!-- end of rules -->").expect("its end");
    let with_rules = format!(
        "{before}<!-- rules -->\n{}<!-- end of rules -->{after}",
        rule_table()
    );
    let mut whole = String::new();
    let mut parts = with_rules.split("```console\n");
    whole.push_str(parts.next().expect("a beginning"));
    for part in parts {
        let (block, after) = part.split_once("```").expect("a fence is closed");
        let command = block
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("$ "))
            .expect("a command");
        write!(
            whole,
            "```console\n$ {command}\n{}```{after}",
            printed(command)
        )
        .expect("memory");
    }
    expect("README.md", &whole);
}

/// A rule's page, from the same source as `kubectl startorder rules ID`.
fn page(rule: &startorder::rules::Rule) -> String {
    let facts: Vec<String> = rule
        .facts
        .iter()
        .map(|fact| format!("[{fact}](start-sequence.md)"))
        .collect();
    format!(
        "## {id}\n\n{severity}, since {since}: {summary}.\n\n{why} ({facts})\n\n```yaml\n{example}```\n\n\
         **Fix.** {cure}\n\n**Silent when:** {silent}\n",
        id = rule.id,
        severity = rule.severity,
        since = rule.since,
        summary = rule.summary,
        why = rule.why,
        facts = facts.join(", "),
        example = rule.example,
        cure = rule.cure,
        silent = rule.silent,
    )
}

#[test]
fn the_rule_pages_say_what_the_rules_say() {
    let pages: Vec<String> = RULES.iter().map(|rule| page(rule)).collect();
    let head = "# Rules\n\nWritten by `SNAPSHOTS=overwrite cargo test`; the text stands in `src/rules/`.\n\n";
    expect("docs/rules.md", &format!("{head}{}", pages.join("\n")));
}

#[test]
fn help_lists_every_flag_and_no_other() {
    for command in Cli::command().get_subcommands() {
        let path = in_repository(&format!("src/cli/help/{}.txt", command.get_name()));
        let Ok(help) = fs::read_to_string(path) else {
            continue;
        };
        let own = command.get_arguments().filter(|argument| {
            argument
                .get_help_heading()
                .is_none_or(|heading| !heading.starts_with("Connection"))
        });
        let mut known: Vec<String> = own
            .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
            .collect();
        known.retain(|flag| flag != "--help" && flag != "--version");
        let told: Vec<&str> = help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .flat_map(str::split_whitespace)
            .filter(|word| word.starts_with("--"))
            .collect();
        let told: Vec<String> = told
            .iter()
            .map(|word| {
                word.trim_matches(',')
                    .split(['=', '['])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        for flag in &known {
            assert!(
                told.contains(flag),
                "{}: {flag} is not in its help",
                command.get_name()
            );
        }
        let every = command
            .get_arguments()
            .filter_map(|argument| argument.get_long());
        let every: Vec<String> = every.map(|flag| format!("--{flag}")).collect();
        for flag in &told {
            assert!(
                every.contains(flag),
                "{}: {flag} is in its help, and does not exist",
                command.get_name()
            );
        }
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{}",
            command.get_name()
        );
    }
}

#[test]
fn the_krew_manifest_names_this_plugin() {
    let text = fs::read_to_string(in_repository("krew/startorder.yaml")).expect("the manifest");
    let value: serde_json::Value = serde_saphyr::from_str(&text).expect("YAML");
    assert_eq!(value["kind"], "Plugin");
    assert_eq!(value["metadata"]["name"], "startorder");
    assert_eq!(
        value["spec"]["version"],
        format!("v{}", env!("CARGO_PKG_VERSION"))
    );
    let platforms = value["spec"]["platforms"].as_array().expect("platforms");
    for platform in platforms {
        assert!(platform["files"].to_string().contains("LICENSE"));
        assert!(
            platform["bin"]
                .as_str()
                .is_some_and(|bin| bin.starts_with("kubectl-startorder"))
        );
    }
    let short = value["spec"]["shortDescription"]
        .as_str()
        .expect("a description");
    assert!(short.len() <= 80 && !short.ends_with('.'));
}
