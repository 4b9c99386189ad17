use super::*;
use crate::manifest::Document;
use crate::pod::workload::{Object, read};
use serde_json::{Value, json};

/// A container of this image with these words and variables (`NAME=value`).
fn container(image: &str, words: &[&str], env: &[&str]) -> Container {
    let env: Vec<Value> = env
        .iter()
        .map(|var| {
            let (name, value) = var.split_once('=').unwrap_or((var, "x"));
            json!({"name": name, "value": value})
        })
        .collect();
    let container = json!({"name": "x", "image": image, "args": words, "env": env});
    of_json(&container)
}

fn of_json(container: &Value) -> Container {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}});
    let document = Document::from_json(&pod);
    let contents = read(&document);
    let Some(Object::Workload(workload)) = contents.objects.first() else {
        panic!("a pod")
    };
    workload.template.containers[0].clone()
}

/// Name and class of what the catalogue finds; `-` for nothing.
fn found(container: &Container) -> String {
    Catalog::built_in()
        .find(container)
        .map_or("-".to_owned(), |entry| {
            format!("{} {:?}", entry.name, entry.class_in(container))
        })
}

/// Image, words and variables of a container, and what it is.
const MODES: &str = "
docker.io/istio/proxyv2:1.24 proxy sidecar -> istio-proxy Needed
docker.io/istio/proxyv2:1.24 proxy router -> istio-proxy Reverse
docker.io/istio/proxyv2:1.24 istio-iptables -p 15001 -> -
cr.l5d.io/linkerd/proxy:edge-25.1.1 -> linkerd-proxy Needed
cr.l5d.io/linkerd/proxy:edge-25.1.1 linkerd2-proxy-init -> -
auto -> -
hashicorp/vault:1.18 agent -config=/etc/vault/agent.hcl -> vault-agent Needed
hashicorp/vault:1.18 sh -ec vault agent -config=/x -> vault-agent Needed
hashicorp/vault:1.18 server -> -
hashicorp/vault:1.18 server -config=/vault/agent/server.hcl -> -
registry.example.com/reports/archive-to-cold-vault:0.4.0 agent -> -
docker:27.3-dind -> dind Needed
docker:27.3-cli -> -
docker:27.3-dind sh -c docker build . -> -
docker:27.3-dind sh -c dockerd-entrypoint.sh & make -> dind Needed
registry.example.com:5000/oliver/redis_exporter@sha256:00 -> metrics-exporter Reverse
prom/statsd-exporter:v0.28 -> metrics-exporter Reverse
registry.example.com/shop/invoice-exporter:2 -> exporter Reverse
kiwigrid/k8s-sidecar:1.28.0 LABEL=datasource -> k8s-sidecar Needed
kiwigrid/k8s-sidecar:1.28.0 REQ_URL=http://localhost:3000/reload -> k8s-sidecar Useful
kiwigrid/k8s-sidecar:1.28.0 LABEL=grafana_dashboard -> k8s-sidecar Useful
tailscale/tailscale:v1.90 -> tailscale Needed
tailscale/tailscale:v1.90 TS_SERVE_CONFIG=/c.json -> tailscale Reverse
cloudflare/cloudflared:2024.12.2 tunnel run -> cloudflared Reverse
cloudflare/cloudflared:2024.12.2 access tcp --url 127.0.0.1:5432 -> cloudflared Needed
ghostunnel/ghostunnel:v1.8 client --listen localhost:5432 -> ghostunnel Needed
ghostunnel/ghostunnel:v1.8 server --target localhost:8080 -> ghostunnel Reverse
quay.io/thanos/thanos:v0.37 sidecar -> thanos-sidecar Reverse
quay.io/thanos/thanos:v0.37 query -> -
openpolicyagent/opa:1.4.2 run --server -> opa Needed
openpolicyagent/opa:1.4.2 test /policies -> -
mongo:7 mongos --configdb c/x -> mongos Needed
mongo:7 mongod -> -
moby/buildkit:v0.20 --addr tcp://0.0.0.0:1234 -> buildkitd Needed
gcr.io/knative-releases/knative.dev/serving/cmd/queue@sha256:00 -> queue-proxy Reverse
";

#[test]
fn class_belongs_to_image_and_mode() {
    for line in MODES.lines().filter(|line| !line.is_empty()) {
        let (said, expected) = line.split_once(" -> ").expect("an arrow");
        let mut said = said.split(' ');
        let image = said.next().expect("an image");
        let is_variable = |word: &&str| word.starts_with(|char: char| char.is_ascii_uppercase());
        let (env, words): (Vec<&str>, Vec<&str>) = said.partition(is_variable);
        assert_eq!(found(&container(image, &words, &env)), expected, "{line}");
    }
}

#[test]
fn another_program_of_the_image_is_none_of_the_entry() {
    let with = |command: Value| {
        let text = json!({"name": "x", "image": "moby/buildkit:v0.20", "command": command});
        found(&of_json(&text))
    };
    assert_eq!(with(json!(["buildctl-daemonless.sh", "build"])), "-");
    assert_eq!(
        with(json!(["rootlesskit", "buildkitd"])),
        "buildkitd Needed"
    );
}

#[test]
fn an_init_twin_does_its_job_once() {
    let once = |image: &str, words: &[&str], env: &[&str]| {
        let container = container(image, words, env);
        let entry = Catalog::built_in().find(&container).expect("an entry");
        entry.runs_once(&container)
    };
    assert!(once("git-sync/git-sync:v4.4.0", &["--one-time"], &[]));
    assert!(once(
        "git-sync/git-sync:v4.4.0",
        &[],
        &["GITSYNC_ONE_TIME=1"]
    ));
    assert!(!once(
        "git-sync/git-sync:v4.4.0",
        &["--one-time=false"],
        &[]
    ));
    assert!(once("kiwigrid/k8s-sidecar:1", &[], &["METHOD=LIST"]));
    assert!(!once("kiwigrid/k8s-sidecar:1", &[], &["METHOD=WATCH"]));
    assert!(once("hashicorp/consul-template:0.39", &["-once"], &[]));
    assert!(once("spiffe/spiffe-helper:0.9", &["-exitWhenReady"], &[]));
    let reloader = "prometheus-operator/prometheus-config-reloader:v0.80";
    assert!(once(reloader, &["--watch-interval=0"], &[]));
    assert!(!once(reloader, &["--watch-interval=30s"], &[]));
}

#[test]
fn facts_hold_in_the_versions_that_have_them() {
    let catalog = Catalog::built_in();
    let has_wait = |image: &str| {
        let container = container(image, &["x"], &[]);
        let entry = catalog.find(&container).expect("an entry");
        entry.wait_in(&container).is_some()
    };
    assert!(has_wait("cloud-sql-connectors/cloud-sql-proxy:2.8.0"));
    assert!(has_wait("cloud-sql-connectors/cloud-sql-proxy:2"));
    assert!(has_wait("cloud-sql-connectors/cloud-sql-proxy"));
    assert!(!has_wait(
        "cloud-sql-connectors/cloud-sql-proxy:2.7.2-alpine"
    ));
    assert!(!has_wait("alloydb-connectors/alloydb-auth-proxy:1.5.0"));
    let health = |image: &str, env: &[&str]| {
        let container = container(image, &[], env);
        let entry = catalog.find(&container).expect("an entry");
        entry.health_in(&container).map(|health| health.port)
    };
    let own = ["TS_ENABLE_HEALTH_CHECK=true"];
    let old = ["TS_HEALTHCHECK_ADDR_PORT=:9002"];
    assert_eq!(
        health("tailscale/tailscale:v1.90.1", &own),
        Some(Some(9002))
    );
    assert_eq!(health("tailscale/tailscale:v1.90.1", &old), None);
    assert_eq!(health("tailscale/tailscale:v1.70.0", &own), None);
    assert_eq!(health("tailscale/tailscale:v1.70.0", &old), Some(None));
    let is_local = |image: &str| {
        let container = container(image, &["run", "--server"], &[]);
        let entry = catalog.find(&container).expect("an entry");
        entry.listens_on_loopback.contains(&8181)
    };
    assert!(is_local("openpolicyagent/opa:1.4.2-static") && is_local("openpolicyagent/opa"));
    assert!(!is_local("openpolicyagent/opa:0.70.0"));
}

#[test]
fn images_lack_a_shell_by_version_and_tag() {
    let lacks = |image: &str| {
        let container = container(image, &["run"], &[]);
        let tools = Catalog::built_in().tools(&container);
        tools.is_some_and(|tools| tools.lack("sh"))
    };
    assert!(lacks("gcr.io/cloudsql-docker/gce-proxy:1.33.2"));
    assert!(!lacks("gcr.io/cloudsql-docker/gce-proxy:1.15"));
    assert!(!lacks("gcr.io/cloudsql-docker/gce-proxy:1.33.2-alpine"));
    assert!(lacks("quay.io/oauth2-proxy/oauth2-proxy:v7.8.1"));
    assert!(!lacks("quay.io/oauth2-proxy/oauth2-proxy:v7.4.0"));
    assert!(!lacks("bitnami/oauth2-proxy:7.8.1"));
    assert!(lacks("cloudflare/cloudflared:2024.12.2"));
    assert!(!lacks("cloudflare/cloudflared:latest"));
    assert!(lacks("timberio/vector:0.43.1-distroless-static"));
    assert!(!lacks("timberio/vector:0.43.1-alpine"));
    assert!(lacks("openpolicyagent/opa:1.4.2") && !lacks("openpolicyagent/opa:1.4.2-debug"));
}

/// An image of the form of a pattern, in a version of the range.
fn example_image(pattern: &str, range: Range) -> String {
    let pattern = pattern.replace('*', "x");
    match (pattern.contains(':'), range.since, range.until) {
        (true, _, _) | (false, None, None) => pattern,
        (false, Some(since), _) => format!("{pattern}:{since}"),
        (false, None, Some(_)) => format!("{pattern}:0.1"),
    }
}

/// A container that says all of these patterns.
fn example(image: &str, patterns: &[&[String]]) -> Container {
    let all = patterns.iter().flat_map(|list| list.iter());
    let first = all.map(|pattern| pattern.split(" | ").next().unwrap_or_default());
    let is_variable = |text: &&str| text.starts_with(|char: char| char.is_ascii_uppercase());
    let (env, words): (Vec<&str>, Vec<&str>) = first.partition(is_variable);
    let words: Vec<&str> = words.iter().flat_map(|text| text.split(' ')).collect();
    container(image, &words, &env)
}

#[test]
fn every_entry_can_be_found_by_each_of_its_images() {
    for entry in Catalog::built_in().entries() {
        for pattern in &entry.images {
            let image = example_image(pattern, Range::default());
            let container = example(&image, &[&entry.only_when]);
            let found = Catalog::built_in().find(&container);
            let name = found.map(|found| found.name.as_str());
            assert_eq!(name, Some(entry.name.as_str()), "{pattern}");
        }
    }
}

#[test]
fn every_variant_and_every_endpoint_can_be_met() {
    for entry in Catalog::built_in().entries() {
        for variant in &entry.variants {
            let image = example_image(&entry.images[0], variant.range);
            let container = example(&image, &[&entry.only_when, &variant.only_when]);
            let found = Catalog::built_in().find(&container);
            assert_eq!(found, Some(&variant.entry), "{}", entry.name);
            assert_ne!(
                Entry {
                    variants: Vec::new(),
                    ..entry.clone()
                },
                variant.entry,
                "a variant of {} differs in nothing",
                entry.name
            );
        }
        for health in &entry.health {
            let image = example_image(&entry.images[0], health.range);
            let container = example(&image, &[&entry.only_when, &health.only_when]);
            assert_eq!(entry.health_in(&container), Some(health), "{}", entry.name);
        }
    }
}

#[test]
fn every_entry_says_where_and_when_it_was_checked() {
    // That each has both is the reader's to refuse; a catalogue that it refuses is empty here.
    assert!(Catalog::built_in().entries().len() >= 50);
    for entry in Catalog::built_in().entries() {
        assert!(!entry.sources.is_empty(), "{}", entry.name);
        assert!(entry.checked.as_str() >= "2026-08", "{}", entry.name);
    }
}
