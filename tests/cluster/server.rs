//! `--via-server`: what a webhook of the cluster makes of a manifest.

use crate::lab::{self, Namespace, Outcome};
use crate::told::expect;
use crate::trial;
use crate::webhook::{self, Webhook};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("via-server", via_server),
        trial("via-server-explain", explained),
        trial("via-server-unanswered", unanswered),
    ]
}

/// A manifest of a folder besides those that are applied.
fn manifest(name: &str) -> String {
    format!("{}/testdata/cluster/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn via_server(namespace: &Namespace) -> Result<(), Failed> {
    let _webhook = Webhook::start(namespace, webhook::mesh)?;
    let file = manifest("mesh.yaml");
    let own = lab::startorder(&format!("lint -f {file} -o json"))?.ends_with(0)?;
    expect(count(&own)? == 0, "the manifest alone is fine", &own)?;
    let found = namespace.run(&format!("lint -f {file} --via-server -o json"))?;
    let found = found.ends_with(1)?;
    let run: Value = serde_json::from_str(&found.stdout)?;
    expect(run["target"]["shape"] == "server", "the shape", &found)?;
    let findings = run["findings"].as_array().ok_or("no findings")?;
    let loud: Vec<&Value> = findings
        .iter()
        .filter(|it| it["severity"] != "info")
        .collect();
    expect(loud.len() == 1, "one finding, of the bare proxy", &found)?;
    let finding = loud[0];
    expect(finding["workload"]["name"] == "bare", "of bare", &found)?;
    expect(finding["rule"] == "ungated-sidecar", "ungated", &found)?;
    expect(finding["container"] == "proxy", "of proxy", &found)?;
    expect(finding["fix"].is_null(), "no patch of the manifest", &found)?;
    let line = finding["line"].as_u64().ok_or("no line")?;
    let text = std::fs::read_to_string(&file)?;
    let marked = text.lines().nth(usize::try_from(line)? - 1);
    expect(marked == Some("      containers:"), "at the list", &found)?;
    let notes = run["notes"].to_string();
    for words in [
        "Deployment/bare is linted as the server makes its pod: it adds init container `proxy-init`",
        "Deployment/native is linted as the server makes its pod",
        "Deployment/refused is linted as it stands, the server refuses its pod",
        "denied the request: pods need a team",
    ] {
        expect(notes.contains(words), words, &found)?;
    }
    expect(
        !notes.contains("Deployment/plain"),
        "nothing changes plain",
        &found,
    )
}

fn explained(namespace: &Namespace) -> Result<(), Failed> {
    let _webhook = Webhook::start(namespace, webhook::mesh)?;
    let file = manifest("mesh.yaml");
    let told = namespace
        .run(&format!("explain -f {file} --via-server"))?
        .ends_with(0)?;
    for words in ["as the server makes it", "proxy's startupProbe has passed"] {
        expect(told.stdout.contains(words), words, &told)?;
    }
    expect(
        told.stderr.contains("adds init container `proxy-init`"),
        "the note",
        &told,
    )
}

fn unanswered(namespace: &Namespace) -> Result<(), Failed> {
    let file = manifest("mesh.yaml");
    let lint = format!("lint -f {file} --via-server -o line");
    {
        let _webhook = Webhook::down(namespace)?;
        let told = namespace.run(&lint)?.ends_with(2)?;
        expect(
            told.stderr.contains("failed calling webhook"),
            "no webhook",
            &told,
        )?;
        let exit = "exit 2: the server gave no answer about 5 workloads";
        expect(told.stderr.contains(exit), exit, &told)?;
    }
    let config = lab::folder()?.join("viewer.kubeconfig");
    let told = namespace
        .start_as(&lint, Some(&config))?
        .wait()?
        .ends_with(2)?;
    let words = "User \"viewer\" cannot create resource \"pods\"";
    expect(told.stderr.contains(words), words, &told)?;
    let told = lab::startorder_at(&format!("{lint} -n nowhere"))?.ends_with(2)?;
    let words = "namespaces \"nowhere\" not found";
    expect(told.stderr.contains(words), words, &told)
}

fn count(outcome: &Outcome) -> Result<usize, Failed> {
    let run: Value = serde_json::from_str(&outcome.stdout)?;
    let findings = run["findings"].as_array().ok_or("no findings")?;
    Ok(findings
        .iter()
        .filter(|it| it["severity"] != "info")
        .count())
}
