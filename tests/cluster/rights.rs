//! What a user sees who may not do everything.

use crate::lab::{self, Namespace, Outcome};
use crate::told::{Told, expect};
use crate::trial;
use libtest_mimic::{Failed, Trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("no-rights", no_rights),
        trial("no-right-to-watch", no_right_to_watch),
        trial("rights-on-pods-only", rights_on_pods_only),
    ]
}

/// Runs the binary as the user `viewer`, who may do what the namespace grants.
fn as_viewer(namespace: &Namespace, arguments: &str) -> Result<Outcome, Failed> {
    let config = lab::folder()?.join("viewer.kubeconfig");
    namespace.start_as(arguments, Some(&config))?.wait()
}

fn grant(namespace: &Namespace, verbs: &str) -> Result<(), Failed> {
    let role = format!("--verb={verbs}");
    namespace.kubectl(&["create", "role", "some", &role, "--resource=pods"])?;
    namespace.kubectl(&[
        "create",
        "rolebinding",
        "some",
        "--role=some",
        "--user=viewer",
    ])?;
    Ok(())
}

fn no_rights(namespace: &Namespace) -> Result<(), Failed> {
    let refused = as_viewer(namespace, "watch pod/web --until ready")?.ends_with(2)?;
    expect(
        refused.stderr.contains("Error from server (Forbidden): ")
            && refused.stderr.contains("cannot list resource \"pods\"")
            && refused
                .stderr
                .contains("hint: watch needs get, list and watch on pods"),
        "the missing right is not named",
        &refused,
    )
}

fn no_right_to_watch(namespace: &Namespace) -> Result<(), Failed> {
    grant(namespace, "get,list")?;
    let refused = as_viewer(namespace, "watch pod/web --until ready")?.ends_with(2)?;
    expect(
        refused.stderr.contains("cannot watch resource \"pods\""),
        "the missing verb is not named",
        &refused,
    )
}

fn rights_on_pods_only(namespace: &Namespace) -> Result<(), Failed> {
    grant(namespace, "get,list,watch")?;
    namespace.apply("native.yaml")?;
    let seen = as_viewer(namespace, "watch pod/web --until ready -o json")?.ends_with(0)?;
    expect(
        seen.stderr.contains("warning: no right to watch events: ")
            && seen.stderr.contains("warning: no right to get nodes: "),
        "it does not say what it cannot see",
        &seen,
    )?;
    let told = Told::read(&seen.stdout)?;
    told.is_in_order(&[("proxy", "started"), ("app", "started"), ("", "ready")])?;
    // Without events the probe's end and the start may lie in one second.
    let (verdict, basis) = told.verdict("proxy", "app")?;
    let is_true = matches!(verdict, "held" | "undetermined") && basis == "enforced";
    expect(is_true, "the order of the start", &told)?;
    // By the server's version, since the node's may not be read.
    let picture = as_viewer(namespace, "watch pod/web -o text")?.ends_with(0)?;
    expect(picture.stdout.contains(" · v1."), "no version", &picture)
}
