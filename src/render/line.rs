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
    Ok(())
}
