//! What holds for a run: the flags, before all else.

use super::rules::unknown;
use crate::config::{Level, Levels};
use crate::error::Failure;
use crate::rules::{self, RULES, Rule};

/// How much each rule counts by `--only` and `--ignore`.
pub fn levels(only: &[String], ignore: &[String]) -> Result<Levels, Failure> {
    let only = known(only)?;
    let mut levels = Levels::default();
    for rule in RULES {
        if !only.is_empty() && !only.iter().any(|one| one.id == rule.id) {
            levels.set(rule.id, Level::Off);
        }
    }
    for rule in known(ignore)? {
        levels.set(rule.id, Level::Off);
    }
    Ok(levels)
}

fn known(ids: &[String]) -> Result<Vec<&'static Rule>, Failure> {
    let rules = ids.iter().map(|id| id.trim());
    rules
        .map(|id| rules::find(id).ok_or_else(|| unknown(id)))
        .collect()
}
