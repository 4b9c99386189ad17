use super::*;

fn gates(manifest: &str, version: u16) -> Vec<(Mesh, InjectedGate)> {
    let run = Run::of_texts([("x.yaml".to_owned(), manifest.to_owned())]);
    let workloads: Vec<Workload> = run.workloads().map(|(_, _, one)| one.clone()).collect();
    let all = workloads
        .iter()
        .flat_map(|workload| injected(&run, (workload, 0), None, KubeVersion::minor(version)));
    all.map(|one| (one.mesh, one.gate)).collect()
}

fn pod(labels: &str, annotations: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  namespace: shop\n  labels: {{{labels}}}\n  \
         annotations: {{{annotations}}}\nspec:\n  containers:\n  - {{name: app, image: app:1}}\n"
    )
}

#[test]
fn the_target_version_decides_unless_the_pod_does() {
    let inject = "sidecar.istio.io/inject: 'true'";
    let native = "sidecar.istio.io/nativeSidecar: 'true'";
    let hold = "proxy.istio.io/config: '{\"holdApplicationUntilProxyStarts\": true}'";
    for (annotations, version, gate) in [
        ("", 32, InjectedGate::Open),
        ("", 33, InjectedGate::Native),
        (native, 30, InjectedGate::Native),
        (native, 28, InjectedGate::Open),
        (
            "sidecar.istio.io/nativeSidecar: 'false'",
            34,
            InjectedGate::Open,
        ),
        (hold, 30, InjectedGate::Held),
    ] {
        let found = gates(&pod(inject, annotations), version);
        assert_eq!(found, [(Mesh::Istio, gate)], "{annotations} {version}");
    }
}

#[test]
fn the_pods_own_word_counts_before_its_namespaces() {
    let space = "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels: {istio-injection: enabled}\n  \
                 annotations: {linkerd.io/inject: enabled, config.linkerd.io/proxy-await: disabled}\n";
    let both = format!("{}{space}", pod("", ""));
    assert_eq!(
        gates(&both, 30),
        [
            (Mesh::Istio, InjectedGate::Open),
            (Mesh::Linkerd, InjectedGate::Open)
        ]
    );
    let none = format!(
        "{}{space}",
        pod(
            "sidecar.istio.io/inject: 'false'",
            "linkerd.io/inject: disabled"
        )
    );
    assert_eq!(gates(&none, 30), []);
}

#[test]
fn a_proxy_that_the_manifest_holds_is_not_injected_again() {
    let there = pod("sidecar.istio.io/inject: 'true'", "").replace(
        "containers:\n",
        "containers:\n  - {name: istio-proxy, image: istio/proxyv2:1.24.1}\n",
    );
    assert_eq!(gates(&there, 30), []);
    let placeholder = there.replace("istio/proxyv2:1.24.1", "auto");
    assert_eq!(gates(&placeholder, 30), [(Mesh::Istio, InjectedGate::Open)]);
}
