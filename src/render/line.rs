//! One line a finding, for grep and editors.

use super::short::place;
use super::style::Role;
use super::wrap::on_one_line;
use super::{Options, Report};
use std::io::{self, Write};

/// `file:line:col: warning[rule]: message`.
pub fn findings(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.listed() {
        let word = options
            .style
            .paint(Role::of(finding.severity), finding.severity.word());
        let rule = options.style.paint(Role::Info, finding.rule);
        let place = on_one_line(&place(report, finding));
        writeln!(
            out,
            "{place}: {word}[{rule}]: {}",
            on_one_line(&finding.message)
        )?;
    }
    if options.show_suppressed {
        suppressed(report, options, out)?;
    }
    Ok(())
}

/// `file:line:col: suppressed[rule]: message (line 30: "spans are buffered")`.
fn suppressed(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        let Some(suppression) = &finding.suppressed else {
            continue;
        };
        let word = options.style.paint(Role::Quiet, "suppressed");
        let rule = options.style.paint(Role::Info, finding.rule);
        let place = on_one_line(&place(report, finding));
        let message = on_one_line(&finding.message);
        let by = on_one_line(&suppression.by);
        writeln!(out, "{place}: {word}[{rule}]: {message} ({by})")?;
    }
    Ok(())
}
