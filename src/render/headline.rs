//! The first line of a finding or of a broken input.

use super::Options;
use super::frame::PROSE;
use super::style::Role;
use super::wrap::{width, wrap};
use crate::finding::Finding;
use std::io::{self, Write};

/// `warning[rule]: message`; a suppressed finding says so in place of its severity.
pub fn finding(options: &Options, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (word, role) = match finding.suppressed {
        Some(_) => ("suppressed", Role::Quiet),
        None => (finding.severity.word(), Role::of(finding.severity)),
    };
    let style = options.style;
    let head = width(word) + width(finding.rule) + 4;
    let (word, rule) = (
        style.paint(role, word),
        style.paint(Role::Info, finding.rule),
    );
    sentence(
        options,
        head,
        &format!("{word}[{rule}]: "),
        &finding.message,
        out,
    )
}

/// A painted head that takes `head_width` columns, then a sentence, continued two columns in.
pub fn sentence(
    options: &Options,
    head_width: usize,
    head: &str,
    text: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let room = options.columns().min(PROSE);
    let lines = wrap(text, room.saturating_sub(head_width), room - 2);
    for (at, line) in lines.iter().enumerate() {
        let line = options.style.paint(Role::Headline, line);
        let head = if at == 0 { head } else { "  " };
        writeln!(out, "{head}{line}")?;
    }
    Ok(())
}
