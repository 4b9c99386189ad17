//! Gives a field of the start order its right name, value or place.

use super::{Patient, native};
use crate::finding::{Fix, FixSafety};
use crate::manifest::edit::Operation;
use crate::pod::{OddField, Oddity};
use serde_json::json;

/// Mends the field; the error says why that cannot be done by machine.
pub fn mend(patient: Patient<'_>, odd: &OddField, container: Option<usize>) -> Result<Fix, String> {
    match odd.oddity {
        Oddity::Misspelt(meant) => {
            let operations = vec![Operation::Rename {
                at: odd.at.clone(),
                key: meant.to_owned(),
            }];
            let title = format!("write {meant}");
            Ok(Fix::new(FixSafety::Safe, title, operations))
        }
        Oddity::WrongCase(meant) => {
            let operations = vec![Operation::Replace {
                at: odd.at.clone(),
                value: json!(meant),
            }];
            let title = format!("write {meant}");
            Ok(Fix::new(FixSafety::Safe, title, operations))
        }
        Oddity::Misplaced(belongs) => rehome(odd, belongs),
        Oddity::NeverLanded => {
            let container = container.ok_or_else(|| "its container was not found".to_owned())?;
            instead_of_type(patient, odd, container)
        }
    }
}

/// The same entry where it belongs.
fn rehome(odd: &OddField, belongs: &str) -> Result<Fix, String> {
    let home = odd
        .home
        .as_ref()
        .ok_or_else(|| format!("nothing tells where {belongs} `{}` is meant", odd.key))?;
    let operations = vec![
        Operation::Remove { at: odd.at.clone() },
        Operation::Insert {
            at: home.at.clone(),
            key: home.key.to_owned(),
            value: home.value.clone(),
            after: None,
        },
    ];
    let title = format!("move {} {belongs}", odd.key);
    Ok(Fix::new(FixSafety::Safe, title, operations))
}

/// A native sidecar, which is what came of the proposal.
fn instead_of_type(patient: Patient<'_>, odd: &OddField, container: usize) -> Result<Fix, String> {
    let mut needs = patient.plan.needs.iter();
    let need = needs.find(|need| need.provider == container && need.is_open());
    let mut fix = match need {
        Some(need) => native::make_native(patient, need)?,
        None => native::make_plain(patient, container)?,
    };
    let sidecar = patient.container(container);
    let has_hook = sidecar.post_start.is_some() || sidecar.pre_stop.is_some();
    let gone = match (has_hook, odd.at.parent()) {
        (false, Some(lifecycle)) => lifecycle,
        (true, _) | (false, None) => odd.at.clone(),
    };
    fix.operations.insert(0, Operation::Remove { at: gone });
    Ok(fix)
}
