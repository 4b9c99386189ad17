//! What of an object is written to a recording: an allow list, so that nothing slips through.

use super::recording::Stream;
use super::tekton;
use serde_json::{Map, Value};
use std::fmt;

/// The parts of the allow list that the caller knows.
#[derive(Clone, Copy)]
pub struct Allow<'a> {
    /// Annotations that the catalogue names.
    pub annotations: &'a [&'a str],
    /// What of a command may be written: the words in which a wait was read.
    pub words: &'a dyn Fn(&[String]) -> Vec<String>,
}

impl fmt::Debug for Allow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allow")
            .field("annotations", &self.annotations)
            .finish_non_exhaustive()
    }
}

const METADATA: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
];

const OWNER: &[&str] = &["apiVersion", "kind", "name", "uid", "controller"];

const SPEC: &[&str] = &[
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "hostNetwork",
    "shareProcessNamespace",
    "serviceAccountName",
    "nodeName",
    "readinessGates",
    "schedulingGates",
];

const CONTAINER: &[&str] = &[
    "name",
    "image",
    "imagePullPolicy",
    "ports",
    "volumeMounts",
    "restartPolicy",
    "restartPolicyRules",
];

const PROBE: &[&str] = &[
    "tcpSocket",
    "grpc",
    "sleep",
    "initialDelaySeconds",
    "periodSeconds",
    "timeoutSeconds",
    "successThreshold",
    "failureThreshold",
    "terminationGracePeriodSeconds",
];

const HTTP_GET: &[&str] = &["path", "port", "host", "scheme"];

const STATUS: &[&str] = &["phase", "startTime", "qosClass", "podIP", "podIPs"];

const CONDITION: &[&str] = &[
    "type",
    "status",
    "lastTransitionTime",
    "lastProbeTime",
    "reason",
];

const CONTAINER_STATUS: &[&str] = &[
    "name",
    "ready",
    "started",
    "restartCount",
    "image",
    "imageID",
    "containerID",
];

const STATE: &[&str] = &[
    "startedAt",
    "finishedAt",
    "exitCode",
    "signal",
    "reason",
    "containerID",
];

const EVENT: &[&str] = &[
    "kind",
    "apiVersion",
    "involvedObject",
    "reason",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "series",
    "type",
    "eventTime",
    "action",
    "reportingComponent",
    "reportingInstance",
];

impl Allow<'_> {
    /// The object with what is allowed, and nothing else.
    pub(super) fn object(&self, stream: Stream, object: &Value) -> Value {
        match stream {
            Stream::Pods => self.pod(object),
            Stream::Events => event(object),
        }
    }

    fn pod(&self, object: &Value) -> Value {
        let mut kept = pick(object, &["kind", "apiVersion"]);
        kept.insert("metadata".to_owned(), self.metadata(&object["metadata"]));
        kept.insert("spec".to_owned(), self.spec(&object["spec"]));
        if object["status"].is_object() {
            kept.insert("status".to_owned(), status(&object["status"]));
        }
        Value::Object(kept)
    }

    fn metadata(&self, metadata: &Value) -> Value {
        let mut kept = pick(metadata, METADATA);
        insert_list(&mut kept, metadata, "ownerReferences", |owner| {
            Value::Object(pick(owner, OWNER))
        });
        let annotations = pick(&metadata["annotations"], self.annotations);
        if !annotations.is_empty() {
            kept.insert("annotations".to_owned(), Value::Object(annotations));
        }
        Value::Object(kept)
    }

    fn spec(&self, spec: &Value) -> Value {
        let mut kept = pick(spec, SPEC);
        for list in ["initContainers", "containers", "ephemeralContainers"] {
            insert_list(&mut kept, spec, list, |container| self.container(container));
        }
        insert_list(&mut kept, spec, "volumes", volume);
        Value::Object(kept)
    }

    fn container(&self, container: &Value) -> Value {
        let mut kept = pick(container, CONTAINER);
        let words = self.command(&container["command"]);
        if !words.is_empty() {
            kept.insert("command".to_owned(), words.into());
        }
        insert_list(&mut kept, container, "env", variable);
        insert_list(&mut kept, container, "envFrom", Value::clone);
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            if container[probe].is_object() {
                kept.insert(probe.to_owned(), self.action(&container[probe]));
            }
        }
        let mut hooks = Map::new();
        for hook in ["postStart", "preStop"] {
            let action = &container["lifecycle"][hook];
            if action.is_object() {
                hooks.insert(hook.to_owned(), self.action(action));
            }
        }
        if !hooks.is_empty() {
            kept.insert("lifecycle".to_owned(), Value::Object(hooks));
        }
        Value::Object(kept)
    }

    /// A probe or hook: its kind, its numbers, no headers.
    fn action(&self, action: &Value) -> Value {
        let mut kept = pick(action, PROBE);
        if action["httpGet"].is_object() {
            let get = Value::Object(pick(&action["httpGet"], HTTP_GET));
            kept.insert("httpGet".to_owned(), get);
        }
        if action["exec"].is_object() {
            let mut exec = Map::new();
            let words = self.command(&action["exec"]["command"]);
            exec.insert("command".to_owned(), words.into());
            kept.insert("exec".to_owned(), Value::Object(exec));
        }
        Value::Object(kept)
    }

    fn command(&self, command: &Value) -> Vec<String> {
        let words = command.as_array().into_iter().flatten();
        let words: Vec<String> = words
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect();
        (self.words)(&words)
    }
}

/// The entries of a mapping whose keys are listed.
fn pick(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .filter(|(key, _)| keys.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn insert_list(
    kept: &mut Map<String, Value>,
    value: &Value,
    key: &str,
    keep: impl Fn(&Value) -> Value,
) {
    if let Some(items) = value[key].as_array() {
        kept.insert(key.to_owned(), items.iter().map(keep).collect());
    }
}

/// A variable: its name, and where its value comes from; never the value.
fn variable(variable: &Value) -> Value {
    Value::Object(pick(variable, &["name", "valueFrom"]))
}

/// A volume: its name and its kind, which decides what the kubelet waits for.
fn volume(volume: &Value) -> Value {
    let entries = volume.as_object().into_iter().flatten();
    let kept = entries.map(|(key, value)| {
        let value = match key.as_str() {
            "name" | "persistentVolumeClaim" => value.clone(),
            _ => Value::Object(pick(value, &["name", "secretName", "driver", "path"])),
        };
        (key.clone(), value)
    });
    Value::Object(kept.collect())
}

fn status(status: &Value) -> Value {
    let mut kept = pick(status, STATUS);
    insert_list(&mut kept, status, "conditions", |condition| {
        Value::Object(pick(condition, CONDITION))
    });
    for list in [
        "initContainerStatuses",
        "containerStatuses",
        "ephemeralContainerStatuses",
    ] {
        insert_list(&mut kept, status, list, container_status);
    }
    Value::Object(kept)
}

fn container_status(status: &Value) -> Value {
    let mut kept = pick(status, CONTAINER_STATUS);
    for key in ["state", "lastState"] {
        let entries = status[key].as_object().into_iter().flatten();
        let states = entries.map(|(word, value)| {
            let mut state = pick(value, STATE);
            let message = value["message"].as_str().and_then(status_message);
            if let Some(message) = message {
                state.insert("message".to_owned(), message.into());
            }
            (word.clone(), Value::Object(state))
        });
        kept.insert(key.to_owned(), Value::Object(states.collect()));
    }
    Value::Object(kept)
}

/// A message of the kubelet's own format, without the words of commands and what they printed.
fn status_message(message: &str) -> Option<String> {
    if let Some(time) = tekton::time_alone(message) {
        return Some(time);
    }
    if message.starts_with("back-off ") {
        return Some(message.to_owned());
    }
    let kind = ["Exec", "HTTP", "Sleep"]
        .into_iter()
        .find(|kind| message.starts_with(&format!("{kind} lifecycle hook (")))?;
    let code = exit_code(message).map(|code| format!(" - error: exited with {code}"));
    Some(format!(
        "{kind} lifecycle hook failed{}",
        code.unwrap_or_default()
    ))
}

/// The exit code in a message about a hook: `… exited with 1: …`.
pub(super) fn exit_code(message: &str) -> Option<i64> {
    let (_, rest) = message.rsplit_once(" exited with ")?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn event(object: &Value) -> Value {
    let mut kept = pick(object, EVENT);
    let metadata = pick(&object["metadata"], METADATA);
    kept.insert("metadata".to_owned(), Value::Object(metadata));
    let reason = object["reason"].as_str().unwrap_or_default();
    let message = object["message"].as_str().unwrap_or_default();
    if let Some(message) = event_message(reason, message) {
        kept.insert("message".to_owned(), message.into());
    }
    Value::Object(kept)
}

/// The part of a message that the kubelet writes in a fixed form and that says more than the reason.
fn event_message(reason: &str, message: &str) -> Option<String> {
    if let Some(rest) = message.strip_prefix("(combined from similar events): ") {
        let kept = event_message(reason, rest).unwrap_or_default();
        return Some(format!("(combined from similar events): {kept}"));
    }
    match reason {
        "Killing" if message == "FailedPostStartHook" => Some(message.to_owned()),
        "Unhealthy" => ["Startup", "Readiness", "Liveness"]
            .into_iter()
            .find(|probe| message.starts_with(probe))
            .map(|probe| format!("{probe} probe failed")),
        "Pulled" => {
            let (_, duration) = message.split_once(" in ")?;
            let is_pull = message.starts_with("Successfully pulled image");
            is_pull.then(|| format!("Successfully pulled image in {duration}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn allow() -> Allow<'static> {
        Allow {
            annotations: &["sidecar.example.com/inject"],
            words: &|words| {
                words
                    .iter()
                    .filter(|word| *word == "wait")
                    .cloned()
                    .collect()
            },
        }
    }

    #[test]
    fn a_pod_keeps_its_order_and_loses_its_secrets() {
        let pod = json!({
            "kind": "Pod",
            "metadata": {
                "name": "p", "uid": "u", "managedFields": [{"manager": "secret"}],
                "annotations": {"sidecar.example.com/inject": "yes", "note": "secret"},
            },
            "spec": {"containers": [{
                "name": "a", "image": "i:1", "command": ["secret", "wait"], "args": ["secret"],
                "env": [{"name": "PASSWORD", "value": "secret"}],
                "startupProbe": {"periodSeconds": 2, "httpGet": {
                    "path": "/", "port": 80, "httpHeaders": [{"name": "Token", "value": "secret"}]}},
                "lifecycle": {"postStart": {"exec": {"command": ["wait", "--secret"]}}},
            }]},
            "status": {"phase": "Pending", "message": "secret", "containerStatuses": [{
                "name": "a", "ready": false, "restartCount": 0,
                "state": {"waiting": {"reason": "PostStartHookError", "message":
                    "Exec lifecycle hook ([secret]) for Container \"a\" in Pod \"p\" failed - error: \
                     command 'secret' exited with 7: secret, message: \"secret\""}},
            }]},
        });
        let kept = allow().object(Stream::Pods, &pod);
        assert!(!kept.to_string().contains("secret"), "{kept}");
        let container = &kept["spec"]["containers"][0];
        assert_eq!(container["env"], json!([{"name": "PASSWORD"}]));
        assert_eq!(container["command"], json!(["wait"]));
        assert_eq!(container["startupProbe"]["periodSeconds"], 2);
        assert_eq!(
            container["lifecycle"]["postStart"]["exec"]["command"],
            json!(["wait"])
        );
        let state = &kept["status"]["containerStatuses"][0]["state"]["waiting"];
        assert_eq!(
            state["message"],
            "Exec lifecycle hook failed - error: exited with 7"
        );
    }

    #[test]
    fn an_event_keeps_what_tells_its_kind_and_loses_its_text() {
        let event = |reason: &str, message: &str| {
            let event = json!({"metadata": {"name": "p.1"}, "reason": reason, "message": message});
            allow().object(Stream::Events, &event)["message"].clone()
        };
        let startup = event(
            "Unhealthy",
            "Startup probe failed: Get \"http://secret\": refused",
        );
        assert_eq!(startup, "Startup probe failed");
        assert_eq!(
            event("Killing", "FailedPostStartHook"),
            "FailedPostStartHook"
        );
        assert_eq!(
            event("Failed", "Error: secret \"late\" not found"),
            Value::Null
        );
        assert_eq!(
            event(
                "Pulled",
                "Successfully pulled image \"a\" in 2s (3s including waiting)"
            ),
            "Successfully pulled image in 2s (3s including waiting)"
        );
    }
}
