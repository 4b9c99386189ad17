//! The pods to ask about.

use crate::manifest::{Document, Node};
use crate::pod::{PodTemplate, Workload};
use crate::run::Run;
use serde_json::{Map, Value, json};

/// A workload's pod as its controller would create it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The workload, by its place in [`Run::workloads`].
    pub workload: usize,
    /// The source that it is from.
    pub source: usize,
    /// The document of the source.
    pub document: usize,
    /// The namespace in which the pod would be created.
    pub namespace: String,
    /// The pod, or why there is none to ask about.
    pub pod: Result<Value, &'static str>,
}

/// A question for each workload, but for live pods: those are what a server made already.
pub fn questions(run: &Run) -> Vec<Question> {
    let all = run.workloads().enumerate();
    let asked = all.filter(|(_, (_, _, workload))| !workload.origin.is_admitted);
    let questions = asked.map(|(number, (source, read, workload))| {
        let namespace = run.namespace_of(&workload.object);
        Question {
            workload: number,
            source,
            document: read.document.index,
            namespace: namespace.to_owned(),
            pod: pod(&read.document, workload, namespace),
        }
    });
    questions.collect()
}

fn pod(document: &Document, workload: &Workload, namespace: &str) -> Result<Value, &'static str> {
    let template = &workload.template;
    if template.is_partial {
        return Err("only a part of its pod stands in the manifest");
    }
    if !is_plain(template) {
        return Err("its controller makes the pod in a way of its own");
    }
    let spec = document.node_at(&template.spec_at).and_then(Node::to_json);
    let Some(Value::Object(mut spec)) = spec else {
        return Err("its pod spec cannot be read");
    };
    // The server refuses them in a new pod.
    spec.shift_remove("ephemeralContainers");
    add_claims(document, workload, &mut spec);
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": name_prefix(&workload.object.name),
            "namespace": namespace,
            "labels": template.labels,
            "annotations": template.annotations,
        },
        "spec": spec,
    }))
}

/// Whether the template is a pod spec as the API knows it, rather than steps or settings from which
/// a controller makes one.
fn is_plain(template: &PodTemplate) -> bool {
    template.containers.iter().all(|container| {
        let list = template.spec_at.key(container.role.list());
        container.at.parent().is_some_and(|parent| parent == list)
    })
}

/// A StatefulSet's controller adds a volume for each of its claims.
fn add_claims(document: &Document, workload: &Workload, spec: &mut Map<String, Value>) {
    let claims = workload.at.keys(&["spec", "volumeClaimTemplates"]);
    let claims = document.node_at(&claims).into_iter().flat_map(Node::items);
    let names: Vec<&str> = claims
        .filter_map(|claim| claim.find(&["metadata", "name"])?.string())
        .collect();
    if names.is_empty() {
        return;
    }
    let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
    let Some(volumes) = volumes.as_array_mut() else {
        return;
    };
    for name in names {
        volumes.retain(|volume| volume["name"] != name);
        let claim = format!("{name}-{}-0", workload.object.name);
        volumes.push(json!({"name": name, "persistentVolumeClaim": {"claimName": claim}}));
    }
}

/// What the server makes a new name of, so that no pod is in the way.
fn name_prefix(name: &str) -> String {
    match name.trim_end_matches(['*', '-']) {
        "" => "pod-".to_owned(),
        name => format!("{name}-"),
    }
}
