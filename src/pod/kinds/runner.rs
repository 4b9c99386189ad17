//! actions-runner-controller's older kinds: the spec of a runner is its container, and holds the
//! lists of the others.

use super::{around_main, list};
use crate::manifest::{FieldPath, Node};
use crate::pod::template::{PodTemplate, Role};

/// The runner's pod, when anything is known that runs beside it.
pub(super) fn templates(root: Node<'_>, at: &FieldPath) -> Vec<PodTemplate> {
    let below = root.find(&["spec", "template", "spec"]);
    let (spec, spec_at) = match (below, root.get("spec")) {
        (Some(spec), _) => (spec, at.keys(&["spec", "template", "spec"])),
        (None, Some(spec)) => (spec, at.key("spec")),
        (None, None) => return Vec::new(),
    };
    if !spec.is_mapping() {
        return Vec::new();
    }
    let mut template = around_main(spec, &spec_at, "runner", None, "sidecarContainers");
    // Entries by the names of the controller's own containers change those; others are added.
    let added = list(spec, &spec_at, "containers", Role::App);
    let is_own = |name: &str| matches!(name, "runner" | "docker");
    let added = added
        .into_iter()
        .filter(|container| !is_own(&container.name));
    template.containers.extend(added);
    // The controller deletes the pod once the runner has ended.
    template.ends_sidecars = true;
    match template.containers.len() {
        1 => Vec::new(),
        _ => vec![template],
    }
}
