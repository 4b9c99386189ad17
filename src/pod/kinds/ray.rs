//! KubeRay: the pods of a cluster have the usual shape; some settings become variables of the head.

use crate::manifest::{FieldPath, Node};
use crate::pod::shape;
use crate::pod::template::{EnvVar, PodTemplate, Role};
use crate::pod::workload::ObjectRef;

/// All pod templates of the object, the head's with the variables that the operator adds.
pub(super) fn templates(root: Node<'_>, at: &FieldPath, object: &ObjectRef) -> Vec<PodTemplate> {
    let mut templates = shape::templates(root, at, object);
    let specs = [
        &["spec"][..],
        &["spec", "rayClusterSpec"],
        &["spec", "rayClusterConfig"],
    ];
    for path in specs {
        let address = root
            .find(path)
            .and_then(|spec| spec.find(&["gcsFaultToleranceOptions", "redisAddress"]))
            .and_then(Node::string);
        let Some(address) = address else { continue };
        let head_at = at.keys(path).keys(&["headGroupSpec", "template"]);
        let head = templates
            .iter_mut()
            .find(|template| template.at == head_at)
            .and_then(ray_container);
        if let Some(env) = head {
            env.push(EnvVar {
                name: "RAY_REDIS_ADDRESS".to_owned(),
                value: Some(address.to_owned()),
                from: None,
                field: None,
                at: Some(
                    at.keys(path)
                        .keys(&["gcsFaultToleranceOptions", "redisAddress"]),
                ),
            });
        }
    }
    templates
}

/// The variables of Ray's own container, which is the first one.
fn ray_container(template: &mut PodTemplate) -> Option<&mut Vec<EnvVar>> {
    let mut containers = template.containers.iter_mut();
    let first = containers.find(|container| container.role == Role::App)?;
    Some(&mut first.env)
}
