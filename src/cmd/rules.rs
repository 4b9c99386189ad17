//! `rules`: the list, or the page of one rule.

use crate::cli::RulesArgs;
use crate::error::Failure;
use crate::rules::{self, RULES, Rule};
use std::io::{self, Write};

/// Prints the list, or one page.
pub fn run(args: &RulesArgs, width: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(id) = &args.id else {
        return Ok(list(out)?);
    };
    let rule = rules::find(id).ok_or_else(|| unknown(id))?;
    Ok(page(rule, width.min(100), out)?)
}

/// That there is no such rule, with the one that may be meant.
pub(super) fn unknown(id: &str) -> Failure {
    let near = rules::near(id).map(|near| format!("{near:?}? "));
    let near = near.unwrap_or_default();
    Failure::new(format!("unknown rule {id:?}"))
        .hint(format!("{near}kubectl startorder rules lists them all"))
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in RULES {
        writeln!(
            out,
            "{:width$}  {:7}  {}",
            rule.id,
            rule.severity.word(),
            rule.summary
        )?;
    }
    Ok(())
}

fn page(rule: &Rule, width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} ({}, since {})", rule.id, rule.severity, rule.since)?;
    writeln!(out, "{}", rule.summary)?;
    for (title, text) in [
        ("Why", rule.why),
        ("Fix", rule.cure),
        ("Silent when", rule.silent),
    ] {
        writeln!(out, "\n{title}")?;
        for line in wrapped(text, width - 2) {
            writeln!(out, "  {line}")?;
        }
    }
    writeln!(
        out,
        "\nFacts of docs/start-sequence.md: {}",
        rule.facts.join(", ")
    )?;
    writeln!(out, "\nExample")?;
    rule.example
        .lines()
        .try_for_each(|line| writeln!(out, "  {line}"))
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("it begins with one line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
    }
    lines
}
