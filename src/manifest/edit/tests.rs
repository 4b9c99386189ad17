use super::*;
use crate::manifest::parse::parse;
use serde_json::json;

fn path(text: &str) -> FieldPath {
    let steps = text.split('.').filter(|step| !step.is_empty());
    steps.fold(FieldPath::root(), |path, step| match step.parse() {
        Ok(index) => path.index(index),
        Err(_) => path.key(step.to_owned()),
    })
}

fn relocate(from: &str, to: &str) -> Operation {
    Operation::Move {
        from: path(from),
        to: path(to),
    }
}

fn insert(at: &str, key: &str, value: Value, after: Option<&str>) -> Operation {
    Operation::Insert {
        at: path(at),
        key: key.to_owned(),
        value,
        after: after.map(str::to_owned),
    }
}

fn remove(at: &str) -> Operation {
    Operation::Remove { at: path(at) }
}

fn startup_probe() -> Value {
    json!({"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1, "failureThreshold": 60})
}

fn edited(text: &str, operations: &[Operation]) -> Result<String, String> {
    let parsed = parse("x.yaml", text);
    let document = parsed.documents.first().expect("a document");
    let edited = apply(document, operations).map_err(|refused| refused.reason)?;
    Ok(edited.within(text))
}

#[track_caller]
fn assert_edit(text: &str, operations: &[Operation], want: &str) {
    assert_eq!(edited(text, operations).as_deref(), Ok(want));
}

#[test]
fn a_sidecar_becomes_native_in_a_list_made_for_it() {
    assert_edit(
        "spec:\n  dns: x\n  # all of them\n  containers:\n  # first\n  - name: sidecar # why\n    image: s:1\n    env: [{name: DELAY, value: '5'}]\n    # its end\n  # second\n  - name: app\n    image: a:1\n",
        &[
            relocate("spec.containers.0", "spec.initContainers.0"),
            insert(
                "spec.initContainers.0",
                "restartPolicy",
                json!("Always"),
                Some("env"),
            ),
            insert(
                "spec.initContainers.0",
                "startupProbe",
                startup_probe(),
                Some("restartPolicy"),
            ),
        ],
        "spec:\n  dns: x\n  initContainers:\n  # first\n  - name: sidecar # why\n    image: s:1\n    env: [{name: DELAY, value: '5'}]\n    # its end\n    restartPolicy: Always\n    startupProbe:\n      httpGet: {path: /ready, port: 8080}\n      periodSeconds: 1\n      failureThreshold: 60\n  # all of them\n  containers:\n  # second\n  - name: app\n    image: a:1\n",
    );
}

#[test]
fn a_hook_gives_way_to_a_probe_and_its_comments_stay() {
    assert_edit(
        "containers:\n  - name: a\n    lifecycle:\n      postStart: # too weak\n        httpGet: {path: /ready, port: 8080}\n  - name: b\n",
        &[
            relocate("containers.0", "initContainers.0"),
            remove("initContainers.0.lifecycle"),
            insert("initContainers.0", "restartPolicy", json!("Always"), None),
        ],
        "initContainers:\n  - name: a\n    # too weak\n    restartPolicy: Always\ncontainers:\n  - name: b\n",
    );
}

#[test]
fn items_change_places_with_their_comments_and_the_gap_between_them() {
    let text = "list:\n- a\n\n# two\n- b\n  # of two\nx: 1";
    assert_edit(
        text,
        &[relocate("list.1", "list.0")],
        "list:\n# two\n- b\n  # of two\n\n- a\nx: 1",
    );
    assert_edit(
        text,
        &[relocate("list.0", "list.1")],
        "list:\n# two\n- b\n  # of two\n\n- a\nx: 1",
    );
}

#[test]
fn an_item_is_indented_as_the_list_that_it_goes_to() {
    assert_edit(
        "a:\n- s: |2\n      x\n\n     y\n  t: 1\n- k: 2\nb:\n    - z: 1\n",
        &[relocate("a.0", "b.1")],
        "a:\n- k: 2\nb:\n    - z: 1\n    - s: |2\n          x\n\n         y\n      t: 1\n",
    );
}

#[test]
fn an_empty_list_is_filled_and_an_emptied_one_is_taken_away() {
    for empty in ["", " []", " null", " ~"] {
        let text = format!("b:{empty} # none yet\r\na: # one\r\n  - k: 1\r\n");
        assert_edit(
            &text,
            &[relocate("a.0", "b.0")],
            "b: # none yet\r\n  - k: 1\r\n# one\r\n",
        );
    }
}

#[test]
fn json_keeps_its_shape() {
    let tall = "{\n  \"spec\": {\n    \"containers\": [\n      {\n        \"name\": \"a\"\n      },\n      {\n        \"name\": \"b\"\n      }\n    ]\n  }\n}\n";
    let operations = [
        relocate("spec.containers.1", "spec.initContainers.0"),
        insert(
            "spec.initContainers.0",
            "restartPolicy",
            json!("Always"),
            None,
        ),
        insert(
            "spec.initContainers.0",
            "startupProbe",
            json!({"tcpSocket": {"port": 80}}),
            None,
        ),
    ];
    assert_edit(
        tall,
        &operations,
        "{\n  \"spec\": {\n    \"initContainers\": [\n      {\n        \"name\": \"b\",\n        \"restartPolicy\": \"Always\",\n        \"startupProbe\": {\n          \"tcpSocket\": {\n            \"port\": 80\n          }\n        }\n      }\n    ],\n    \"containers\": [\n      {\n        \"name\": \"a\"\n      }\n    ]\n  }\n}\n",
    );
    assert_edit(
        "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
        &operations,
        "{\"spec\":{\"initContainers\":[{\"name\":\"b\",\"restartPolicy\":\"Always\",\"startupProbe\":{\"tcpSocket\":{\"port\":80}}}],\"containers\":[{\"name\":\"a\"}]}}",
    );
    assert_edit(
        "spec:\n  containers: [{name: a}, {name: b}]\n",
        &operations,
        "spec:\n  initContainers: [{name: b, restartPolicy: Always, startupProbe: {tcpSocket: {port: 80}}}]\n  containers: [{name: a}]\n",
    );
}

#[test]
fn what_is_written_elsewhere_too_is_refused() {
    let refused = |text: &str, operation: Operation| {
        edited(text, &[operation]).expect_err("shared values are left alone")
    };
    let add = |at: &str| insert(at, "k", json!(1), None);
    assert_eq!(
        refused("a: &x {b: 1}\nc: *x\n", add("a")),
        "the anchor &x is used on line 2, too"
    );
    assert_eq!(
        refused("a: &x {b: 1}\nc: *x\n", add("c")),
        "*x stands for a value that is written elsewhere"
    );
    assert_eq!(
        refused("a: &x\n  l: {b: 1}\nc:\n  <<: *x\n", add("c.l")),
        "`l` comes from a merge (`<<`)"
    );
    assert_eq!(
        refused("l:\n- &x {b: 1}\n- *x\n", relocate("l.1", "l.0")),
        "no anchor &x stands before this alias"
    );
    assert_eq!(
        refused("a: '{{ x }}'\n", add("")),
        "the document is a template (`{{`)"
    );
}

#[test]
fn a_text_that_would_change_with_its_place_is_refused() {
    let text = "l:\n- a\n- |\n  last";
    assert_eq!(
        edited(text, &[relocate("l.1", "l.0")]),
        Err("the last line would read differently with a line break behind it".to_owned())
    );
}

#[test]
fn values_take_the_place_and_the_quotes_of_old_ones() {
    let replace = |at: &str, value: Value| Operation::Replace {
        at: path(at),
        value,
    };
    assert_edit(
        "a: '1' # one\nb:\n  - |-\n    x\n    y\nc:\nd: [2, x]\n",
        &[
            replace("a", json!("2")),
            replace("b.0", json!("x\nz\n")),
            replace("c", json!("on")),
            replace("d.1", json!("y, z")),
            Operation::Rename {
                at: path("d"),
                key: "e".to_owned(),
            },
        ],
        "a: '2' # one\nb:\n  - |\n    x\n    z\nc: \"on\"\ne: [2, \"y, z\"]\n",
    );
}

#[test]
fn only_the_part_of_the_document_is_replaced() {
    let text = "\u{feff}a: [\n---\n\u{feff}containers:\n- name: b\n---\nc: 1\n";
    let parsed = parse("x.yaml", text);
    let document = &parsed.documents[0];
    let operation = relocate("containers.0", "initContainers.0");
    let edited = apply(document, &[operation]).expect("a plain list");
    assert_eq!(edited.document.index, document.index);
    assert_eq!(
        edited.within(text),
        "\u{feff}a: [\n---\n\u{feff}initContainers:\n- name: b\n---\nc: 1\n"
    );
}

#[test]
fn an_item_loses_the_entry_behind_its_dash() {
    assert_edit(
        "l:\n- a: 1 # one\n  # two\n  b: 2\n- c: 3\n",
        &[remove("l.0.a"), remove("l.1.c")],
        "l:\n- # one\n  # two\n  b: 2\n- {}\n",
    );
}

#[test]
fn a_list_is_made_behind_the_dash_of_its_mapping() {
    assert_edit(
        "l:\n  - containers:\n    - a\n    # b\n    - b\n    x: 1\n",
        &[relocate("l.0.containers.1", "l.0.initContainers.0")],
        "l:\n  - initContainers:\n    # b\n    - b\n    containers:\n    - a\n    x: 1\n",
    );
}

#[test]
fn comments_in_brackets_stay_with_their_lines() {
    assert_edit(
        "a: {\n  b: 1, # one\n  c: 2 # two\n}\n",
        &[
            insert("a", "d", json!("x, y"), Some("b")),
            insert("a", "e", json!([]), None),
        ],
        "a: {\n  b: 1, # one\n  d: \"x, y\",\n  c: 2, # two\n  e: []\n}\n",
    );
    assert_eq!(
        edited("a: [x, # one\n  y]\n", &[remove("a.0")]),
        Err("the comment `# one` would be lost".to_owned())
    );
}

#[test]
fn an_entry_goes_below_the_text_and_the_comments_of_the_one_before() {
    let script = "c:\n  - n: |\n      x\n\n      y\n\n    m: |+\n      z\n\n";
    assert_edit(
        script,
        &[
            insert("c.0", "k", json!({"e": {"f": "a\nb"}}), Some("n")),
            insert("c.0", "l", json!("08"), Some("m")),
        ],
        "c:\n  - n: |\n      x\n\n      y\n    k:\n      e:\n        f: |-\n          a\n          b\n\n    m: |+\n      z\n\n    l: \"08\"\n",
    );
    assert_edit(
        "a:\n    b:\n      - 1\n      # - 2\n    c: 3",
        &[insert(
            "a",
            "d",
            json!({"x": {}, "v": [{"z": 1, "w": ["-c"]}]}),
            Some("b"),
        )],
        "a:\n    b:\n      - 1\n      # - 2\n    d:\n        x: {}\n        v:\n          - z: 1\n            w: [-c]\n    c: 3",
    );
}

#[test]
fn a_text_that_comes_to_stand_last_keeps_its_line_break() {
    assert_edit("a: |\n  x\nb: 1", &[remove("b")], "a: |\n  x\n");
    assert_edit("a: |-\n  x\nb: 1", &[remove("b")], "a: |-\n  x");
}
