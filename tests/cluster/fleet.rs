//! `lint -l` and `lint -A`: many objects, each workload judged once; and what became of a template.

use crate::lab::{self, Namespace, Outcome};
use crate::told::expect;
use crate::trial;
use crate::webhook::{self, Webhook};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("by-labels", by_labels),
        trial("all-namespaces", all_namespaces),
        trial("with-few-rights", with_few_rights),
        trial("order-field-lost", order_field_lost),
    ]
}

/// Rule and workload of each warning and error in a namespace, sorted.
fn found(namespace: &Namespace, outcome: &Outcome) -> Result<Vec<String>, Failed> {
    let run: Value = serde_json::from_str(&outcome.stdout)?;
    let findings = run["findings"].as_array().ok_or("no findings")?;
    let loud = findings
        .iter()
        .filter(|it| it["severity"] != "info" && it["workload"]["namespace"] == namespace.name);
    let told = loud.map(|it| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text(&it["workload"]["kind"]), text(&it["workload"]["name"]));
        // The end of a pod's name is the server's choice.
        let name = name.split('-').next().unwrap_or_default();
        format!(
            "{} {kind}/{name} {}",
            text(&it["rule"]),
            text(&it["message"])
        )
    });
    let mut told: Vec<String> = told.collect();
    told.sort();
    Ok(told)
}

const WEB: &str = "ungated-sidecar Deployment/web `app` can start before `proxy` serves";
const LONE: &str = "ungated-sidecar Pod/lone `app` can start before `proxy` serves";

/// Applies the manifest and waits for the pods of each workload.
fn fleet(namespace: &Namespace) -> Result<(), Failed> {
    namespace.apply("fleet.yaml")?;
    lab::until("the pods", || {
        let pods = namespace.kubectl(&["get", "pods", "-o", "name"])?;
        Ok(pods.lines().count() == 4)
    })
}

fn by_labels(namespace: &Namespace) -> Result<(), Failed> {
    fleet(namespace)?;
    let web = namespace.run("lint -l app=web -o json")?.ends_with(1)?;
    // Two pods, a ReplicaSet and a Deployment: one finding.
    expect(found(namespace, &web)? == [WEB], "one finding", &web)?;
    let both = namespace.run("lint -l app -o json")?.ends_with(1)?;
    expect(
        found(namespace, &both)? == [WEB, LONE],
        "two findings",
        &both,
    )?;
    let none = namespace.run("lint -l app=nobody")?.ends_with(2)?;
    let sentence = "error: no workloads of -l app=nobody in namespace \"by-labels\"";
    expect(none.stderr.starts_with(sentence), sentence, &none)
}

fn all_namespaces(namespace: &Namespace) -> Result<(), Failed> {
    fleet(namespace)?;
    let all = namespace.run("lint -A -o json")?.ends_with(1)?;
    expect(found(namespace, &all)? == [WEB, LONE], "two findings", &all)?;
    let file = "all-namespaces/deployments.apps/web";
    expect(all.stdout.contains(file), file, &all)
}

/// Who may read pods only sees the pods of one owner as one.
fn with_few_rights(namespace: &Namespace) -> Result<(), Failed> {
    fleet(namespace)?;
    let list = "--verb=list";
    namespace.kubectl(&["create", "role", "some", list, "--resource=pods"])?;
    let user = "--user=viewer";
    namespace.kubectl(&["create", "rolebinding", "some", "--role=some", user])?;
    let config = lab::folder()?.join("viewer.kubeconfig");
    let lint = "lint -l app=web -o json";
    let few = namespace
        .start_as(lint, Some(&config))?
        .wait()?
        .ends_with(1)?;
    let pod = "ungated-sidecar Pod/web `app` can start before `proxy` serves";
    expect(found(namespace, &few)? == [pod], "one finding", &few)?;
    let run: Value = serde_json::from_str(&few.stdout)?;
    let notes = run["notes"].to_string();
    let words = "cannot list resource \\\"deployments\\\"";
    expect(notes.contains(words), "what is not looked at", &few)
}

fn order_field_lost(namespace: &Namespace) -> Result<(), Failed> {
    let _webhook = Webhook::start(namespace, webhook::old_client)?;
    fleet(namespace)?;
    let lost = [
        "order-field-lost Pod/old `app` has lost its place in the order",
        "order-field-lost Pod/old `proxy` has lost its startupProbe",
        "order-field-lost Pod/old `proxy` has lost restartPolicy: Always",
    ];
    // By its name, and by a label that its pods do not have.
    for what in ["deploy/old", "-l app=old"] {
        let old = namespace
            .run(&format!("lint {what} -o json"))?
            .ends_with(1)?;
        expect(found(namespace, &old)? == lost, what, &old)?;
    }
    let told = namespace.run("lint deploy/old")?.ends_with(1)?;
    for words in [
        "which Deployment old",
        "the pod was written by kube-controller-manager",
        "pods.webhook.test",
    ] {
        expect(told.stdout.contains(words), words, &told)?;
    }
    // Before it is applied, too: there at the fields of the template.
    let file = format!("{}/testdata/cluster/fleet.yaml", env!("CARGO_MANIFEST_DIR"));
    let asked = namespace.run(&format!("lint -f {file} --via-server -o line"))?;
    let asked = asked.ends_with(1)?;
    for words in [
        ":59:9: error[order-field-lost]: `proxy` has lost restartPolicy: Always",
        ":60:9: error[order-field-lost]: `proxy` has lost its startupProbe",
    ] {
        expect(asked.stdout.contains(words), words, &asked)?;
    }
    Ok(())
}
