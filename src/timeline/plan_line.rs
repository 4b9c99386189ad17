//! The line of a recording that holds what was concluded from a pod's spec while it was all there.

use crate::plan::{Basis, Constraint, Event, Milestone};
use crate::pod::Role;
use serde_json::{Value, json};

/// The constraints of one pod, computed live, so that a replay needs no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLine {
    /// `metadata.uid` of the pod.
    pub uid: String,
    /// What must come before what.
    pub constraints: Vec<Constraint>,
}

impl PlanLine {
    /// Reads the value of `plan`; none when a word of it is not known.
    pub fn read(value: &Value) -> Option<PlanLine> {
        let constraints = value["constraints"].as_array()?.iter();
        Some(PlanLine {
            uid: value["uid"].as_str()?.to_owned(),
            constraints: constraints.map(read_constraint).collect::<Option<_>>()?,
        })
    }

    /// The value of `plan`.
    pub fn to_json(&self) -> Value {
        let constraints: Vec<Value> = self.constraints.iter().map(constraint_json).collect();
        json!({"uid": self.uid, "constraints": constraints})
    }
}

fn read_constraint(value: &Value) -> Option<Constraint> {
    let role = [Role::Init, Role::Sidecar, Role::App, Role::Ephemeral]
        .into_iter()
        .find(|role| value["role"] == role.word())?;
    Some(Constraint {
        before: read_milestone(&value["before"])?,
        after: read_milestone(&value["after"])?,
        basis: Basis::of_json_word(value["basis"].as_str()?)?,
        is_assumed: value["assumed"] == true,
        role,
    })
}

fn read_milestone(value: &Value) -> Option<Milestone> {
    Some(Milestone {
        container: value["container"].as_str().map(str::to_owned),
        event: Event::of_word(value["event"].as_str()?)?,
    })
}

fn constraint_json(constraint: &Constraint) -> Value {
    let mut value = json!({
        "before": milestone_json(&constraint.before),
        "after": milestone_json(&constraint.after),
        "basis": constraint.basis.json_word(),
        "role": constraint.role.word(),
    });
    if constraint.is_assumed {
        value["assumed"] = true.into();
    }
    value
}

/// A milestone as JSON output writes it; `container` is absent for the pod's own.
pub(crate) fn milestone_json(milestone: &Milestone) -> Value {
    match &milestone.container {
        Some(container) => json!({"container": container, "event": milestone.event.word()}),
        None => json!({"event": milestone.event.word()}),
    }
}
