//! Annotations of the pod.

use crate::manifest::edit::Operation;
use crate::pod::PodTemplate;
use serde_json::{Value, json};

/// Sets an annotation of the pod template, beside those that are there.
pub fn set(template: &PodTemplate, key: &str, value: &str) -> Operation {
    let metadata = template.at.key("metadata");
    if template.annotations.contains_key(key) {
        return Operation::Replace {
            at: metadata.key("annotations").key(key.to_owned()),
            value: Value::from(value),
        };
    }
    if !template.annotations.is_empty() {
        return Operation::Insert {
            at: metadata.key("annotations"),
            key: key.to_owned(),
            value: Value::from(value),
            after: None,
        };
    }
    if template.has_metadata {
        let after = (!template.labels.is_empty()).then(|| "labels".to_owned());
        return Operation::Insert {
            at: metadata,
            key: "annotations".to_owned(),
            value: json!({key: value}),
            after,
        };
    }
    Operation::Insert {
        at: template.at.clone(),
        key: "metadata".to_owned(),
        value: json!({"annotations": {key: value}}),
        after: None,
    }
}
