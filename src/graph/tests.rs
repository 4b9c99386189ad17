use super::*;
use crate::catalog::Catalog;
use crate::plan::profile::profiles;

/// The circles of a run, by the names of the workloads.
fn cycles(manifest: &str) -> Vec<Vec<String>> {
    let run = Run::of_texts([("x.yaml".to_owned(), manifest.to_owned())]);
    let all: Vec<(usize, &Workload)> = run
        .workloads()
        .map(|(source, _, one)| (source, one))
        .collect();
    let read: Vec<Vec<Profile<'_>>> = all
        .iter()
        .map(|(_, one)| {
            profiles(
                &one.template,
                Catalog::built_in(),
                &crate::plan::config::NoConfigs,
            )
        })
        .collect();
    let nodes = all
        .iter()
        .zip(&read)
        .map(|((source, workload), profiles)| Node {
            source: *source,
            workload,
            profiles,
        });
    let graph = Graph::of(&run, nodes.collect());
    let names = |cycle: Vec<usize>| {
        cycle
            .into_iter()
            .map(|node| graph.nodes[node].workload.object.name.clone())
            .collect()
    };
    graph.cycles().into_iter().map(names).collect()
}

/// A Service and a pod behind it that waits for others before it starts.
fn pod(name: &str, app: &str, waits: &[&str]) -> String {
    let steps = waits.iter().enumerate().map(|(number, wait)| {
        format!("  - {{name: wait-{number}, image: busybox:1.36, command: [sh, -c, '{wait}']}}\n")
    });
    let inits = match waits {
        [] => String::new(),
        _ => format!("  initContainers:\n{}", steps.collect::<String>()),
    };
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {app}}}\nspec: {{selector: {{app: {app}}}, ports: [{{port: 80}}]}}\n\
         ---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {app}}}}}\nspec:\n{inits}  \
         containers:\n  - {{name: app, image: app:1}}\n"
    )
}

fn run(pods: &[String]) -> Vec<Vec<String>> {
    cycles(&pods.concat())
}

const ON_A: &str = "until nc -z a 80; do sleep 1; done";
const ON_B: &str = "until nc -z b.default.svc 80; do sleep 1; done";
const ON_C: &str = "until nc -z c 80; do sleep 1; done";

#[test]
fn those_who_wait_for_each_other_are_a_circle_and_those_behind_them_are_not() {
    let found = run(&[
        pod("a", "a", &[ON_B]),
        pod("b", "b", &[ON_A]),
        pod("c", "c", &[ON_A]),
    ]);
    assert_eq!(found, [["a", "b"]]);
    let ring = run(&[
        pod("a", "a", &[ON_C]),
        pod("b", "b", &[ON_A]),
        pod("c", "c", &[ON_B]),
    ]);
    assert_eq!(ring, [["a", "c", "b"]]);
}

#[test]
fn one_way_out_opens_the_circle() {
    let another = pod("other", "a", &[]);
    assert!(run(&[pod("a", "a", &[ON_B]), pod("b", "b", &[ON_A]), another]).is_empty());
    let lookup = "until nslookup b.default.svc.cluster.local; do sleep 1; done";
    assert!(run(&[pod("a", "a", &[lookup]), pod("b", "b", &[ON_A])]).is_empty());
    let goes_on = "for i in 1 2 3; do nc -z b 80 && break; sleep 1; done";
    assert!(run(&[pod("a", "a", &[goes_on]), pod("b", "b", &[ON_A])]).is_empty());
}

#[test]
fn every_wait_of_a_pod_has_to_end() {
    let free = pod("c", "c", &[]);
    let found = run(&[pod("a", "a", &[ON_C, ON_B]), pod("b", "b", &[ON_A]), free]);
    assert_eq!(found, [["a", "b"]]);
}

#[test]
fn names_are_read_in_every_form() {
    let manifest = format!(
        "{}{}",
        pod("a", "a", &[]),
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: ring}\nspec: {clusterIP: None, selector: {app: ring}}\n"
    );
    let run = Run::of_texts([("x.yaml".to_owned(), manifest)]);
    let (source, _, workload) = run.workloads().next().expect("a pod");
    let asker = Asker {
        run: &run,
        workload,
        source,
    };
    let told = |host: &str| match asker.resolve(host) {
        Host::Service(found) => match found.pod {
            Some(pod) => format!("{} {pod:?}", found.service.object.name),
            None => found.service.object.name.clone(),
        },
        Host::Missing(missing) => format!("no {}/{}", missing.namespace, missing.name),
        Host::Elsewhere => "elsewhere".to_owned(),
    };
    for (host, expected) in [
        ("a", "a"),
        ("a.default", "a"),
        ("a.default.svc.cluster.local.", "a"),
        (
            "a.$(cat /run/secrets/kubernetes.io/serviceaccount/namespace).svc",
            "a",
        ),
        ("b", "no default/b"),
        ("a.other.svc", "a"),
        ("b.other.svc", "no other/b"),
        ("ring-0.ring", "ring Named(\"ring-0\")"),
        ("$(hostname).ring.default.svc.cluster.local", "ring Own"),
        ("ring-$i.ring", "ring Unknown"),
        ("$DB_HOST", "elsewhere"),
        ("vendor.example.com", "elsewhere"),
        ("10.0.0.1", "elsewhere"),
        ("localhost", "elsewhere"),
    ] {
        assert_eq!(told(host), expected, "{host}");
    }
}
