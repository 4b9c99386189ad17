//! How pods start and stop, by what the kubelet does.

use crate::lab::{self, Namespace};
use crate::told::{Told, expect};
use crate::trial;
use jiff::SignedDuration;
use libtest_mimic::{Failed, Trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("no-gate", no_gate),
        trial("gate", gate),
        trial("gate-fails", gate_fails),
        trial("native", native),
        trial("init-waits", init_waits),
        trial("hook-hangs", hook_hangs),
        trial("rollout", rollout),
        trial("shutdown", shutdown),
    ]
}

/// Watches the pod from before it exists until it is ready.
fn started(namespace: &Namespace, manifest: &str) -> Result<Told, Failed> {
    let watch = namespace.start("watch pod/web --until ready -o json")?;
    namespace.apply(manifest)?;
    Told::read(&watch.wait()?.ends_with(0)?.stdout)
}

fn no_gate(namespace: &Namespace) -> Result<(), Failed> {
    let told = started(namespace, "no-gate.yaml")?;
    told.is_in_order(&[
        ("", "scheduled"),
        ("proxy", "started"),
        ("app", "started"),
        ("", "ready"),
    ])?;
    let verdict = told.verdict("proxy", "app")?;
    expect(verdict == ("unguarded", "needed"), "not unguarded", &told)?;
    let lint = namespace.run("lint pod/web -o json")?.ends_with(1)?;
    let lint: serde_json::Value = serde_json::from_str(&lint.stdout)?;
    let target = &lint["target"];
    let version = format!("1.{}", lab::kubelet_minor()?);
    expect(
        target["kubernetes"] == version && target["source"] == "kubelet",
        "not judged by the kubelet's version",
        target,
    )?;
    expect(
        lint["findings"][0]["rule"] == "ungated-sidecar",
        "not found by lint",
        &lint,
    )
}

fn gate(namespace: &Namespace) -> Result<(), Failed> {
    let told = started(namespace, "gate.yaml")?;
    let verdict = told.verdict("proxy", "app")?;
    expect(verdict == ("held", "attempted"), "not held", &told)?;
    told.is_in_order(&[
        ("", "scheduled"),
        ("", "sandboxReady"),
        ("proxy", "pulled"),
        ("proxy", "created"),
        ("proxy", "started"),
        ("proxy", "postStartReturned"),
        ("app", "pulled"),
        ("app", "started"),
        ("", "ready"),
    ])?;
    told.is_certainly_before(("proxy", "postStartReturned"), ("app", "started"))?;
    let (start, end) = (
        told.instant("proxy", "started")?,
        told.instant("proxy", "postStartReturned")?,
    );
    let at_most = start
        .not_before
        .zip(end.not_after)
        .map(|(start, end)| end.duration_since(start));
    expect(
        at_most >= Some(SignedDuration::from_secs(3)),
        "the hook waits for three seconds",
        &told,
    )?;
    let summary = told.summary()?;
    let leg = &summary["criticalPath"][0];
    expect(
        summary["ready"] == true && leg["container"] == "proxy" && leg["what"] == "postStart",
        "the hook is not the critical path",
        summary,
    )
}

fn gate_fails(namespace: &Namespace) -> Result<(), Failed> {
    let watch = namespace.start("watch pod/web --until started -o json")?;
    namespace.apply("gate-fails.yaml")?;
    let told = Told::read(&watch.wait()?.ends_with(1)?.stdout)?;
    let verdict = told.verdict("proxy", "app")?;
    expect(verdict == ("violated", "attempted"), "not violated", &told)?;
    told.is_certainly_before(("proxy", "postStartFailed"), ("app", "started"))?;
    // The violation outweighs the time that is over.
    let picture = namespace
        .run("watch pod/web -o text --timeout 1s")?
        .ends_with(1)?;
    expect(
        picture.stdout.contains("✗ violated") && picture.stderr.starts_with("timed out after 1s: "),
        "the picture does not tell it",
        &picture,
    )
}

fn native(namespace: &Namespace) -> Result<(), Failed> {
    let told = started(namespace, "native.yaml")?;
    let verdict = told.verdict("proxy", "app")?;
    expect(verdict == ("held", "enforced"), "not held", &told)?;
    told.is_certainly_before(("proxy", "startupProbePassed"), ("app", "started"))
}

fn init_waits(namespace: &Namespace) -> Result<(), Failed> {
    let watch = namespace.start("watch pod/web --until ready -o json")?;
    namespace.apply("init-waits.yaml")?;
    let picture = namespace.run("watch pod/web -o text --until ready --timeout 6s")?;
    let picture = picture.ends_with(1)?;
    let missing = "Service init-waits/store does not exist (asked just now)";
    expect(picture.stdout.contains(missing), missing, &picture)?;
    namespace.apply("services.yaml")?;
    let told = Told::read(&watch.wait()?.ends_with(0)?.stdout)?;
    for (before, after) in [
        ("wait-for-store", "wait-for-queue"),
        ("wait-for-queue", "app"),
    ] {
        let verdict = told.verdict(before, after)?;
        expect(verdict == ("held", "enforced"), "not held", &told)?;
        told.is_certainly_before((before, "exited"), (after, "started"))?;
    }
    Ok(())
}

fn hook_hangs(namespace: &Namespace) -> Result<(), Failed> {
    namespace.apply("hook-hangs.yaml")?;
    let before = namespace
        .run("watch pod/web -o text --timeout 8s")?
        .ends_with(1)?;
    expect(
        before
            .stdout
            .contains("app waits: proxy's postStart has been running for "),
        "who waits is not told",
        &before,
    )?;
    let sentence = "timed out after 8s: app waits: proxy's postStart, running for ";
    expect(before.stderr.starts_with(sentence), sentence, &before)?;
    namespace.kubectl(&["delete", "pod", "web", "--wait=false"])?;
    let after = namespace.run("watch pod/web -o text --until deleted --timeout 5s")?;
    let after = after.ends_with(1)?;
    expect(
        after.stdout.contains("deletion waits: asked at ")
            && after.stdout.contains("until proxy's postStart returns"),
        "why it is not deleted is not told",
        &after,
    )?;
    let watch = namespace.start("watch pod/web --until deleted -o json")?;
    let kill = "kill -9 $(ps | awk '/[w]hile true/ {print $1}')";
    // The container may be gone before its shell has answered.
    let _ = namespace.kubectl(&["exec", "web", "-c", "proxy", "--", "sh", "-c", kill]);
    let told = Told::read(&watch.wait()?.stdout)?;
    told.is_in_order(&[("proxy", "started"), ("", "deleted")])
}

fn rollout(namespace: &Namespace) -> Result<(), Failed> {
    namespace.apply("rollout.yaml")?;
    let watch = namespace.start("watch deploy/web --until ready -o json")?;
    let told = Told::read(&watch.wait()?.ends_with(0)?.stdout)?;
    are_three_held(&told)?;
    // Who comes late sees the same pods, by their labels, too.
    let late = namespace.run("watch -l app=web -o json")?.ends_with(0)?;
    are_three_held(&Told::read(&late.stdout)?)?;
    namespace.run("lint deploy/web")?.ends_with(0)?;
    Ok(())
}

fn are_three_held(told: &Told) -> Result<(), Failed> {
    let summaries = told.summaries();
    let are_ready = summaries.iter().all(|summary| summary["ready"] == true);
    expect(
        summaries.len() == 3 && are_ready,
        "not three ready pods",
        told,
    )?;
    expect(told.verdicts() == ["held"; 3], "not held three times", told)
}

fn shutdown(namespace: &Namespace) -> Result<(), Failed> {
    namespace.apply("shutdown.yaml")?;
    namespace.kubectl(&["wait", "--for=condition=Ready", "pod/web", "--timeout=60s"])?;
    let watch = namespace.start("watch pod/web --until deleted -o json")?;
    std::thread::sleep(std::time::Duration::from_secs(1));
    namespace.kubectl(&["delete", "pod", "web", "--wait=false"])?;
    let told = Told::read(&watch.wait()?.ends_with(0)?.stdout)?;
    let names = ["app", "proxy", "logs"];
    for name in names {
        expect(told.count(name, "exited") == 1, "not one exit", &told)?;
        told.is_in_order(&[(name, "killing"), (name, "exited"), ("", "deleted")])?;
    }
    for pair in names.windows(2) {
        let (verdict, basis) = told.verdict(pair[0], pair[1])?;
        // Exits are known to the second only.
        let is_true = matches!(verdict, "held" | "undetermined") && basis == "enforced";
        expect(is_true, "the order of the stop", &told)?;
    }
    Ok(())
}
