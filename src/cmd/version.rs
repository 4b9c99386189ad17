//! `version`.

use std::io::{self, Write};

/// Prints the version.
pub fn run(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "kubectl-startorder {}", env!("CARGO_PKG_VERSION"))
}
