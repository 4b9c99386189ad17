//! What a pod can ask the webhook of a mesh for.

use super::annotation;
use crate::finding::{Fix, FixSafety};
use crate::inject::{Injected, Mesh};
use crate::manifest::edit::Operation;
use crate::pod::{KubeVersion, PodTemplate};

/// Asks for the gate that holds the app until the injected sidecar serves; the error says why not.
pub fn gate(template: &PodTemplate, found: &Injected) -> Result<Fix, String> {
    let (title, operation) = match found.mesh {
        Mesh::Istio => (
            "hold the application until the proxy is ready",
            hold(template)?,
        ),
        Mesh::Linkerd => (
            "await the proxy",
            annotation::set(template, "config.linkerd.io/proxy-await", "enabled"),
        ),
        Mesh::Kuma => (
            "wait for the data plane",
            annotation::set(template, "kuma.io/wait-for-dataplane-ready", "true"),
        ),
        Mesh::Consul => (
            "switch the proxy's lifecycle on",
            annotation::set(
                template,
                "consul.hashicorp.com/enable-sidecar-proxy-lifecycle",
                "true",
            ),
        ),
        Mesh::Vault => (
            "render the secrets before the app starts",
            annotation::set(template, "vault.hashicorp.com/agent-pre-populate", "true"),
        ),
        Mesh::Appmesh | Mesh::Osm | Mesh::Dapr => {
            return Err(format!(
                "{} has no gate that a pod could ask for",
                found.mesh
            ));
        }
    };
    Ok(fix(title, operation))
}

/// Asks for the proxy as a native sidecar, which init containers have, too; the error says why not.
pub fn native(template: &PodTemplate, mesh: Mesh, version: KubeVersion) -> Result<Fix, String> {
    if !version.has_native_sidecars() {
        return Err(format!("Kubernetes {version} has no native sidecars"));
    }
    let key = match mesh {
        Mesh::Istio => "sidecar.istio.io/nativeSidecar",
        Mesh::Linkerd => "config.linkerd.io/proxy-enable-native-sidecar",
        Mesh::Consul => "consul.hashicorp.com/enable-consul-dataplane-as-sidecar",
        Mesh::Kuma | Mesh::Appmesh | Mesh::Osm | Mesh::Dapr | Mesh::Vault => {
            return Err(format!(
                "no annotation makes {}'s proxy a native sidecar",
                mesh
            ));
        }
    };
    let operation = annotation::set(template, key, "true");
    Ok(fix(
        "have the proxy injected as a native sidecar",
        operation,
    ))
}

fn fix(title: &str, operation: Operation) -> Fix {
    Fix::new(FixSafety::Safe, title.to_owned(), vec![operation])
}

const CONFIG: &str = "proxy.istio.io/config";
const HOLD: &str = "holdApplicationUntilProxyStarts";

/// Merges the hold flag into the proxy's configuration.
fn hold(template: &PodTemplate) -> Result<Operation, String> {
    let Some(config) = template.annotations.get(CONFIG) else {
        return Ok(annotation::set(template, CONFIG, &format!("{HOLD}: true")));
    };
    if config.contains(HOLD) {
        return Err(format!(
            "the annotation {CONFIG} says {HOLD} already, and not true"
        ));
    }
    let text = config.trim_end();
    let merged = match text.strip_prefix('{') {
        Some(rest) if rest.trim() == "}" => format!("{{\"{HOLD}\": true}}"),
        Some(rest) => format!("{{\"{HOLD}\": true, {}", rest.trim_start()),
        None if text.is_empty() => format!("{HOLD}: true"),
        None => format!("{text}\n{HOLD}: true"),
    };
    Ok(annotation::set(template, CONFIG, &merged))
}
