//! Images whose entrypoint is a tool that checks or waits, so that their arguments alone say what they
//! wait for.

use crate::pod::Container;

/// The last segment of such an image's name, which is the tool's name, too.
const TOOLS: [&str; 7] = [
    "curl",
    "k8s-wait-for",
    "kubectl",
    "dockerize",
    "wait4x",
    "wait-for-it",
    "wait-on",
];

/// The tool that runs when a container gives arguments and no command.
pub(super) fn implied(container: &Container) -> Option<&'static str> {
    if !container.command.is_empty() || container.args.is_empty() {
        return None;
    }
    let image = container.image.as_deref()?;
    let name = image.split('@').next().unwrap_or(image);
    let last = name.rsplit('/').next()?.split(':').next()?;
    TOOLS.into_iter().find(|tool| *tool == last)
}
