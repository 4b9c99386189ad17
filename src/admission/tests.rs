use super::*;
use crate::catalog::Catalog;
use crate::config::Levels;
use crate::finding::{Outcome, Severity};
use crate::fix;
use crate::pod::KubeVersion;
use crate::rules::Preference;
use serde_json::json;
use std::sync::LazyLock;

const MANIFEST: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: app
        image: app:1
        env:
        - name: PROXY
          value: http://127.0.0.1:4000
      - name: helper
        image: helper:1
        lifecycle:
          poststart:
            exec:
              command: [\"true\"]
";

fn target() -> Target<'static> {
    static LEVELS: LazyLock<Levels> = LazyLock::new(Levels::default);
    Target {
        version: KubeVersion::NEWEST,
        preference: Preference::PerRule,
        mesh: None,
        catalog: Catalog::built_in(),
        levels: &LEVELS,
    }
}

/// The pod of the manifest, changed as a webhook would.
fn answer(change: impl Fn(&mut Value)) -> (Run, Answers, Option<String>) {
    let run = Run::of_texts([("web.yaml".to_owned(), MANIFEST.to_owned())]);
    let question = questions(&run).remove(0);
    let mut pod = question.pod.clone().unwrap();
    change(&mut pod);
    let mut answers = Answers::default();
    let said = answers.take(&run, &question, &pod);
    (run, answers, said)
}

/// Rule, line and label of each finding about the answer.
fn found(run: &mut Run, answers: &mut Answers) -> Vec<(&'static str, usize, String)> {
    let mut own = judge::findings(run, target());
    let findings = answers.findings(run, target(), &mut own);
    let loud = findings
        .into_iter()
        .filter(|it| it.severity >= Severity::Warning);
    let told = loud.map(|it| {
        let line = it
            .primary
            .span
            .map_or(0, |span| run.files[0].source.position(span.start).line);
        (it.rule, line, it.primary.text)
    });
    told.collect()
}

fn proxy() -> Value {
    json!({"name": "proxy", "image": "proxy:1", "ports": [{"containerPort": 4000}]})
}

#[test]
fn a_question_is_the_pod_of_the_template() {
    let run = Run::of_texts([("web.yaml".to_owned(), MANIFEST.to_owned())]);
    let question = questions(&run).remove(0);
    assert_eq!(question.namespace, "default");
    let pod = question.pod.unwrap();
    assert_eq!(pod["metadata"]["generateName"], "web-");
    assert_eq!(pod["metadata"]["labels"], json!({"app": "web"}));
    assert_eq!(pod["spec"]["containers"][0]["env"][0]["name"], "PROXY");
}

#[test]
fn the_claims_of_a_stateful_set_are_volumes_of_its_pods() {
    let text = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  template:\n    \
                spec:\n      containers: [{name: db, image: db:1}]\n  volumeClaimTemplates:\n  - \
                metadata: {name: data}\n";
    let run = Run::of_texts([("db.yaml".to_owned(), text.to_owned())]);
    let pod = questions(&run).remove(0).pod.unwrap();
    let claim = json!({"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}});
    assert_eq!(pod["spec"]["volumes"], json!([claim]));
}

#[test]
fn what_is_no_whole_pod_is_not_asked_about() {
    let task = "apiVersion: tekton.dev/v1\nkind: Task\nmetadata: {name: build}\nspec:\n  steps:\n  - \
                {name: one, image: a:1}\n";
    let live = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: a-1}\nspec:\n  containers: \
                [{name: app, image: a:1}]\n";
    let run = Run::of_texts([
        ("task.yaml".to_owned(), task.to_owned()),
        ("live.yaml".to_owned(), live.to_owned()),
    ]);
    let questions = questions(&run);
    assert_eq!(questions.len(), 1, "a live pod is an answer already");
    assert!(questions[0].pod.is_err());
}

#[test]
fn an_injected_container_is_found_at_the_list_of_containers() {
    let (mut run, mut answers, said) = answer(|pod| {
        let list = pod["spec"]["containers"].as_array_mut().unwrap();
        list.insert(0, proxy());
    });
    assert_eq!(said.unwrap(), "adds container `proxy` (first)");
    let found = found(&mut run, &mut answers);
    let (rule, line, text) = found
        .iter()
        .find(|(rule, _, _)| *rule == "ungated-sidecar")
        .unwrap();
    assert_eq!((*rule, *line), ("ungated-sidecar", 11));
    assert!(text.starts_with("the server adds `proxy`: "), "{text}");
}

#[test]
fn a_misspelt_field_is_found_in_its_line_although_the_server_drops_it() {
    let (mut run, mut answers, _) = answer(|pod| {
        let list = pod["spec"]["containers"].as_array_mut().unwrap();
        list[1].as_object_mut().unwrap().remove("lifecycle");
        list.insert(0, json!({"name": "first", "image": "first:1"}));
    });
    let found = found(&mut run, &mut answers);
    let misspelt = found
        .iter()
        .find(|(rule, _, _)| *rule == "unknown-order-field");
    assert_eq!(misspelt.map(|(_, line, _)| *line), Some(20), "{found:?}");
}

#[test]
fn a_gate_of_the_server_needs_no_patch_and_an_injected_container_has_none() {
    let (mut run, mut answers, said) = answer(|pod| {
        pod["spec"]["containers"][0]["lifecycle"] =
            json!({"postStart": {"exec": {"command": ["true"]}}});
        pod["metadata"]["annotations"]["mesh.test/status"] = json!("done");
        pod["spec"]["containers"]
            .as_array_mut()
            .unwrap()
            .push(proxy());
    });
    let said = said.unwrap();
    assert_eq!(
        said,
        "adds container `proxy` (last), a postStart hook to `app` and annotation `mesh.test/status`"
    );
    let mut own = judge::findings(&run, target());
    let mut findings = answers.findings(&mut run, target(), &mut own);
    fix::prove(&run, target(), &mut own, &fix::Scope::All);
    answers.carry_fixes(&own, &mut findings);
    let of = |rule: &str| findings.iter().find(|it| it.rule == rule).unwrap();
    let bare = of("ungated-sidecar").fix.as_ref().map(|fix| &fix.outcome);
    assert!(matches!(bare, Some(Outcome::Refused(why)) if why.contains("`proxy`")));
    let misspelt = of("unknown-order-field").fix.as_ref();
    let misspelt = misspelt.map(|fix| &fix.outcome);
    assert!(matches!(misspelt, Some(Outcome::Proven(_))), "{misspelt:?}");
}

#[test]
fn what_the_server_drops_is_found_at_the_template() {
    let (mut run, mut answers, _) = answer(|pod| {
        pod["spec"]["containers"].as_array_mut().unwrap().reverse();
    });
    let found = found(&mut run, &mut answers);
    let lost: Vec<_> = found
        .iter()
        .filter(|(rule, _, _)| *rule == "order-field-lost")
        .collect();
    let text = "comes earlier in the server's pod".to_owned();
    assert_eq!(lost, [&("order-field-lost", 17, text)], "{found:?}");
}

#[test]
fn defaults_change_nothing() {
    let (mut run, mut answers, said) = answer(|pod| {
        pod["spec"]["restartPolicy"] = json!("Always");
        pod["spec"]["terminationGracePeriodSeconds"] = json!(30);
        for container in pod["spec"]["containers"].as_array_mut().unwrap() {
            container["terminationMessagePath"] = json!("/dev/termination-log");
            container["imagePullPolicy"] = json!("IfNotPresent");
        }
    });
    assert_eq!(said, None);
    let before: Vec<_> = judge::findings(&run, target());
    let after = answers.findings(&mut run, target(), &mut before.clone());
    assert_eq!(before.len(), after.len());
}
