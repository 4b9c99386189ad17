use crate::manifest::parse::parse;
use crate::pod::workload::{Object, read};
use crate::pod::{PodTemplate, Role};

fn templates(text: &str) -> Vec<PodTemplate> {
    let parsed = parse("x", text);
    let objects = read(&parsed.documents[0]).objects;
    let workloads = objects.iter().filter_map(Object::workload);
    workloads
        .map(|workload| workload.template.clone())
        .collect()
}

fn names(template: &PodTemplate) -> Vec<(&str, Role)> {
    let containers = template.containers.iter();
    containers
        .map(|container| (container.name.as_str(), container.role))
        .collect()
}

#[test]
fn a_workflow_has_a_pod_for_each_template_that_runs_something() {
    let text = "\
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: nightly}
spec:
  workflowSpec:
    templates:
    - name: all
      dag: {tasks: [{name: one, template: one}]}
    - name: one
      script: {image: x, command: [sh], source: 'nc -z localhost 5432'}
      initContainers: [{name: prepare, image: x}]
      sidecars: [{name: db, image: y}]
    - name: set
      containerSet:
        containers:
        - {name: first, image: x}
        - {name: second, image: x, dependencies: [first]}
";
    let found = templates(text);
    assert_eq!(found.len(), 2);
    let expected = [
        ("prepare", Role::Init),
        ("main", Role::App),
        ("db", Role::App),
    ];
    assert_eq!(names(&found[0]), expected);
    assert!(found[0].ends_sidecars && !found[0].is_partial);
    assert_eq!(
        found[0].containers[1].command,
        ["sh", "-c", "nc -z localhost 5432"]
    );
    assert_eq!(found[1].containers[1].started_after, ["first"]);
}

#[test]
fn tekton_steps_wait_for_ready_sidecars_and_for_each_other() {
    let text = "\
apiVersion: tekton.dev/v1
kind: Pipeline
metadata: {name: checks}
spec:
  tasks:
  - name: test
    taskSpec:
      stepTemplate: {image: common}
      steps:
      - {name: build, script: make}
      - {name: run, image: x}
      sidecars:
      - {name: browser, image: y, readinessProbe: {tcpSocket: {port: 4444}}}
      - {name: agent, image: z}
";
    let found = templates(text);
    assert_eq!(found.len(), 1);
    let containers = &found[0].containers;
    assert_eq!(containers[0].started_after, ["browser"]);
    assert_eq!(containers[1].started_after, ["browser", "build"]);
    assert_eq!(containers[0].image.as_deref(), Some("common"));
    assert!(!found[0].is_partial);
}

#[test]
fn spark_settings_are_a_container_among_others() {
    let text = "\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: ScheduledSparkApplication
metadata: {name: rollup}
spec:
  template:
    image: spark
    driver:
      env: [{name: DB, value: 'localhost:5432'}]
      initContainers: [{name: fetch, image: x}]
      sidecars: [{name: proxy, image: y}]
    executor: {cores: 1}
";
    let found = templates(text);
    assert_eq!(found.len(), 1);
    let expected = [
        ("fetch", Role::Init),
        ("spark-kubernetes-driver", Role::App),
        ("proxy", Role::App),
    ];
    assert_eq!(names(&found[0]), expected);
    assert_eq!(found[0].containers[1].image.as_deref(), Some("spark"));
    assert_eq!(found[0].containers[1].env.len(), 1);
}

#[test]
fn other_families_are_read_by_what_their_controllers_do() {
    let runner = templates(
        "\
apiVersion: actions.summerwind.dev/v1alpha1
kind: RunnerDeployment
metadata: {name: builds}
spec:
  template:
    spec:
      repository: example/app
      sidecarContainers: [{name: cache, image: y}]
",
    );
    assert_eq!(
        names(&runner[0]),
        [("runner", Role::App), ("cache", Role::App)]
    );
    let ray = templates(
        "\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: batch}
spec:
  gcsFaultToleranceOptions: {redisAddress: 'redis://localhost:6379'}
  headGroupSpec:
    template:
      spec:
        containers: [{name: ray-head, image: x}, {name: redis, image: y}]
",
    );
    assert_eq!(
        ray[0].containers[0].env[0].value.as_deref(),
        Some("redis://localhost:6379")
    );
    let prometheus = templates(
        "\
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main}
spec:
  containers: [{name: auth, image: x}]
",
    );
    assert!(prometheus[0].is_partial);
}
