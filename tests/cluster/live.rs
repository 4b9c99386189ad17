//! When a watch waits, and when it ends.

use crate::lab::{self, Namespace};
use crate::told::{Told, expect};
use crate::trial;
use libtest_mimic::{Failed, Trial};
use std::time::Duration;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("no-server", no_server),
        trial("no-pod", no_pod),
        trial("follow", follow),
        trial("live-objects", live_objects),
    ]
}

fn no_server(namespace: &Namespace) -> Result<(), Failed> {
    let nobody = namespace
        .run("watch pod/web --server https://127.0.0.1:1")?
        .ends_with(2)?;
    let sentence = "Unable to connect to the server: dial tcp 127.0.0.1:1: connection refused";
    expect(nobody.stderr.starts_with(sentence), sentence, &nobody)
}

fn no_pod(namespace: &Namespace) -> Result<(), Failed> {
    let missing = namespace.run("watch pod/web")?.ends_with(2)?;
    let sentence = "Error from server (NotFound): pods \"web\" not found";
    expect(missing.stderr.starts_with(sentence), sentence, &missing)?;
    let waited = namespace.run("watch pod/web --timeout 1s")?.ends_with(1)?;
    let sentence = "timed out after 1s: no pod web came";
    expect(waited.stderr.starts_with(sentence), sentence, &waited)?;
    let unlabelled = namespace.run("watch -l app=web")?.ends_with(2)?;
    let sentence = "error: no pods of -l app=web in namespace \"no-pod\"";
    expect(
        unlabelled.stderr.starts_with(sentence),
        sentence,
        &unlabelled,
    )?;
    // One of two is there: the other one is still missing.
    namespace.apply("no-gate.yaml")?;
    let half = namespace.run("watch pod/web pod/other")?.ends_with(2)?;
    expect(
        half.stderr.contains("pods \"other\" not found"),
        "other is missing",
        &half,
    )
}

fn follow(namespace: &Namespace) -> Result<(), Failed> {
    namespace.apply("no-gate.yaml")?;
    namespace.run("watch pod/web --until ready")?.ends_with(0)?;
    // It is up: there is nothing to wait for.
    namespace.run("watch pod/web --timeout 60s")?.ends_with(0)?;
    let followed = namespace.start("watch pod/web --follow -o json")?;
    std::thread::sleep(Duration::from_secs(2));
    followed.interrupt()?;
    let told = Told::read(&followed.wait()?.ends_with(130)?.stdout)?;
    expect(told.summary()?["ready"] == true, "not ready", &told)
}

fn live_objects(namespace: &Namespace) -> Result<(), Failed> {
    namespace.apply("native.yaml")?;
    let clean = namespace.run("lint pod/web")?.ends_with(0)?;
    expect(clean.stdout.is_empty(), "nothing to find", &clean)?;
    let plan = namespace.run("explain pod/web")?.ends_with(0)?;
    let headline = format!(
        "pod/web · predicted for Kubernetes 1.{} ",
        lab::kubelet_minor()?
    );
    expect(plan.stdout.starts_with(&headline), &headline, &plan)?;
    expect(
        plan.stdout.contains("proxy's startupProbe has passed"),
        "what app waits for",
        &plan,
    )?;
    let missing = namespace.run("lint deploy/web")?.ends_with(2)?;
    let sentence = "Error from server (NotFound): deployments.apps \"web\" not found";
    expect(missing.stderr.starts_with(sentence), sentence, &missing)
}
