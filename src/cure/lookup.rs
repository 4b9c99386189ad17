//! A look-up of a name becomes a connection, or a look-up of the full name.

use super::script;
use crate::finding::{Fix, FixSafety};
use crate::graph::Waiting;
use crate::pod::workload::Service;
use crate::pod::{Container, PortRef, Workload};
use crate::run::Run;

/// Connects to the first port of a Service instead; the error says why that cannot be written.
pub fn connect(
    run: &Run,
    container: &Container,
    waiting: &Waiting<'_>,
    service: &Service,
) -> Result<Fix, String> {
    let name = waiting.host().unwrap_or_default();
    let port = service.ports.first().filter(|_| !service.is_external);
    let port = port.ok_or_else(|| format!("Service {} has no port", service.object.name))?;
    if !has_netcat(container) {
        return Err(format!(
            "whether the image of `{}` has nc is not known",
            container.name
        ));
    }
    let from = format!("{} {}", waiting.wait.tool, waiting.wait.words);
    let to = format!("nc -z {} {}", waiting.wait.words, port.port);
    let operation = script::replace(container, waiting.stage, &from, &to)?;
    let is_served = run.behind(service).iter().any(|number| {
        run.workload(*number).is_some_and(|workload| {
            let mut containers = workload.template.containers.iter();
            containers.any(|one| declares(one, &port.target))
        })
    });
    let (safety, assumes) = match is_served {
        true => (FixSafety::Safe, Vec::new()),
        false => (
            FixSafety::Unsafe,
            vec![format!(
                "a pod behind Service {} serves port {}",
                service.object.name, port.target
            )],
        ),
    };
    Ok(Fix {
        assumes,
        ..Fix::new(
            safety,
            format!("connect to `{name}:{}` instead", port.port),
            vec![operation],
        )
    })
}

fn declares(container: &Container, target: &PortRef) -> bool {
    let number = container.port_number(target);
    number.is_some_and(|number| container.ports.iter().any(|port| port.number == number))
}

/// busybox has nc, and alpine is made of it.
fn has_netcat(container: &Container) -> bool {
    let image = container.image.as_deref().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let name = last.split([':', '@']).next().unwrap_or_default();
    matches!(name, "busybox" | "alpine")
}

/// Writes the name in full; the error says why that cannot be done.
pub fn full_name(
    workload: &Workload,
    container: &Container,
    waiting: &Waiting<'_>,
) -> Result<Fix, String> {
    let words = &waiting.wait.words;
    // What the kubelet mounts into every pod that does not refuse it.
    let own = "$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace)";
    let namespace = workload.object.namespace.as_deref().unwrap_or(own);
    let bare = words.strip_suffix(".svc").unwrap_or(words);
    let full = match bare.contains('.') {
        true => format!("{bare}.svc.cluster.local"),
        false => format!("{bare}.{namespace}.svc.cluster.local"),
    };
    let from = format!("{} {words}", waiting.wait.tool);
    let to = format!("{} {full}", waiting.wait.tool);
    let operation = script::replace(container, waiting.stage, &from, &to)?;
    Ok(Fix {
        assumes: vec!["the cluster's domain is cluster.local".to_owned()],
        ..Fix::new(
            FixSafety::Unsafe,
            format!("look up `{bare}` by its full name"),
            vec![operation],
        )
    })
}
