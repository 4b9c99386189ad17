//! How a run ends, and why.

use super::Report;

/// The exit code with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Code 0.
    Success,
    /// Code 1 or 2.
    Failure {
        /// The exit code.
        code: u8,
        /// Why, in a clause: `deploy/broken.yaml could not be read`.
        reason: String,
    },
}

impl Exit {
    /// The exit code of the process.
    pub fn code(&self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure { code, .. } => *code,
        }
    }
}

impl Report {
    /// How the run ends by what the report holds: 2 for an input that could not be read, 1 for
    /// findings at or above `fail_on`, listed or not.
    pub fn judge(&self) -> Exit {
        if let Some(reason) = self.unreadable() {
            return Exit::Failure { code: 2, reason };
        }
        let Some(fail_on) = self.fail_on else {
            return Exit::Success;
        };
        let fails = |severity| severity >= fail_on;
        match self
            .active()
            .filter(|finding| fails(finding.severity))
            .count()
        {
            0 => Exit::Success,
            count => Exit::Failure {
                code: 1,
                reason: format!(
                    "{} at or above --fail-on={fail_on}",
                    counted(count, "finding")
                ),
            },
        }
    }

    fn unreadable(&self) -> Option<String> {
        let mut files: Vec<&str> = self.not_linted.iter().map(|it| &*it.skipped.file).collect();
        files.sort_unstable();
        files.dedup();
        match files.as_slice() {
            [] => None,
            [file] => Some(format!("{file} could not be read")),
            several => Some(format!("{} files could not be read", several.len())),
        }
    }
}

/// `1 finding`, `2 findings`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
