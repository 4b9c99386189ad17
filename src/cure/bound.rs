//! Bounds for waits, and room for hooks within the grace period.

use super::Patient;
use crate::finding::{Fix, FixSafety};
use crate::manifest::FieldPath;
use crate::manifest::edit::Operation;
use serde_json::{Value, json};
use std::time::Duration;

/// How long a wait may take that was given a bound.
const SECONDS: u64 = 300;

/// Puts `timeout 300` before the command of an exec hook at `hook`.
pub fn bound_command(hook: &FieldPath, owner: &str) -> Fix {
    let first = hook.keys(&["exec", "command"]).index(0);
    let insert = |word: &str| Operation::InsertItem {
        at: first.clone(),
        value: Value::from(word),
    };
    Fix {
        assumes: vec![format!(
            "the image of `{owner}` has the command timeout (busybox, Alpine and Debian have)"
        )],
        costs: Some(format!(
            "a hook that takes longer than {SECONDS} s fails, and the kubelet kills its container"
        )),
        ..Fix::new(
            FixSafety::Safe,
            format!("give the hook {SECONDS} s"),
            vec![insert(&SECONDS.to_string()), insert("timeout")],
        )
    }
}

/// Raises the grace period so that a hook of this length ends within it, with the default on top.
pub fn raise_grace(patient: Patient<'_>, hook: Duration) -> Fix {
    let template = &patient.workload.template;
    let seconds = hook.as_secs() + 30;
    let key = "terminationGracePeriodSeconds";
    let operation = match template.has_grace {
        true => Operation::Replace {
            at: template.spec_at.key(key),
            value: json!(seconds),
        },
        false => Operation::Insert {
            at: template.spec_at.clone(),
            key: key.to_owned(),
            value: json!(seconds),
            after: None,
        },
    };
    Fix {
        costs: Some(format!("the pod may take up to {seconds} s to stop")),
        ..Fix::new(
            FixSafety::Safe,
            format!("raise the grace period to {seconds} s"),
            vec![operation],
        )
    }
}

/// Turns an exec hook that only sleeps into the sleep action, which needs no command.
pub fn sleep_action(hook: &FieldPath, time: Duration) -> Fix {
    let seconds = time.as_secs();
    Fix::new(
        FixSafety::Safe,
        format!("let the kubelet sleep {seconds} s"),
        vec![
            Operation::Insert {
                at: hook.clone(),
                key: "sleep".to_owned(),
                value: json!({"seconds": seconds}),
                after: None,
            },
            Operation::Remove {
                at: hook.key("exec"),
            },
        ],
    )
}
