use super::*;
use crate::manifest::parse::parse;

/// Reads entries as a user's; an error as `line:column: message; hint`.
fn read_text(text: &str) -> Result<Catalog, String> {
    let parsed = parse("x", text.to_owned());
    let list = parsed.documents[0].root().expect("a list");
    read(list, Origin::User).map_err(|error| {
        let source = parsed.documents[0].source().expect("a text");
        let at = source.position(error.at.expect("a place").start);
        let hint = error.hint.map(|hint| format!("; {hint}"));
        format!(
            "{}:{}: {}{}",
            at.line,
            at.column,
            error.message,
            hint.unwrap_or_default()
        )
    })
}

#[test]
fn a_user_s_entry_needs_a_name_a_class_and_images_only() {
    let read = read_text("- name: own\n  class: reverse\n  images: [team/own]\n");
    let read = read.expect("an entry");
    assert_eq!(read.entries()[0].class, Class::Reverse);
    assert_eq!(read_text("[]"), Ok(Catalog::default()));
}

#[test]
fn what_is_missing_is_said_at_the_entry() {
    let cases = [
        ("- class: needed", "1:3: an entry needs the field name"),
        (
            "- name: own\n  class: needed",
            "1:3: entry \"own\" needs the field images",
        ),
        (
            "- name: own\n  images: [own]",
            "1:3: entry \"own\" needs the field class",
        ),
        (
            "- name: own\n  class: needed\n  images: []",
            "3:11: images is empty",
        ),
        (
            "- name: own\n  class: needed\n  images: [a, \"*\"]",
            "3:15: a pattern needs letters in the last segment of the image",
        ),
        ("- own", "1:3: an entry needs fields"),
        ("own: {}", "1:1: the catalogue needs a list of entries"),
    ];
    for (text, message) in cases {
        assert_eq!(read_text(text), Err(message.to_owned()), "{text}");
    }
}

/// Asserts the error of each field.
fn assert_refused(cases: &[(&str, &str)]) {
    for (field, message) in cases {
        let text = format!("- name: own\n  images: [own]\n  {field}\n  class: needed\n");
        assert_eq!(read_text(&text), Err((*message).to_owned()), "{field}");
    }
}

#[test]
fn a_field_that_cannot_be_read_is_said_at_its_place() {
    assert_refused(&[
        ("helth: {}", "3:3: unknown field \"helth\"; \"health\"?"),
        (
            "covers: one",
            "3:11: unknown covers \"one\": all, apps, loopback, callers, volume are known",
        ),
        ("serves: 8080", "3:11: serves needs a list of port numbers"),
        (
            "serves: [80, 70000]",
            "3:16: port 70000 is not between 1 and 65535",
        ),
        ("serves: [http]", "3:12: serves needs a port number"),
        (
            "sockets: /run/x.sock",
            "3:12: sockets needs a list of texts",
        ),
        ("sockets: [{a: b}]", "3:13: sockets needs a text"),
        ("files: maybe", "3:10: files needs true or false"),
        (
            "exit: later",
            "3:9: exit needs never, self, or the field quit",
        ),
        (
            "checked: August",
            "3:12: checked needs a month such as 2026-08",
        ),
        (
            "sources: [example.com]",
            "3:13: sources needs addresses that begin with https://",
        ),
    ]);
}

#[test]
fn a_field_within_a_field_is_said_at_its_place() {
    assert_refused(&[
        ("health: 8080", "3:11: health needs fields"),
        (
            "health: {prot: 80}",
            "3:12: unknown field \"prot\"; \"port\"?",
        ),
        (
            "health: {path: /ready}",
            "3:11: health needs the field port, or port_by",
        ),
        (
            "health: {port: 80, path: x}",
            "3:28: path needs a path that begins with /",
        ),
        (
            "health: {port: 80, env: [A]}",
            "3:27: each variable of env stands for one of args: there are more",
        ),
        (
            "probe: {exec: []}",
            "3:17: exec needs the words of a command",
        ),
        (
            "wait: {command: [x], bound_seconds: soon}",
            "3:39: bound_seconds needs a number of seconds",
        ),
        (
            "exit: {quit: {path: /quit}}",
            "3:16: quit needs the field port",
        ),
        (
            "variants: [{shell: none}]",
            "3:14: a variant needs one of since, until, only_when, not_when",
        ),
        (
            "variants: [{since: 1.30}]",
            "3:22: since needs quotes: \"1.30\"",
        ),
        (
            "variants: [{since: new}]",
            "3:22: since needs a version such as \"2.8.0\"",
        ),
        (
            "variants: [{since: \"1\", shel: none}]",
            "3:27: unknown field \"shel\"; \"shell\"?",
        ),
    ]);
}

#[test]
fn a_name_is_given_once() {
    let text =
        "- {name: own, class: needed, images: [a]}\n- {name: own, class: needed, images: [b]}\n";
    let message = "2:10: two entries have the name \"own\"";
    assert_eq!(read_text(text), Err(message.to_owned()));
}

#[test]
fn built_in_entries_need_a_source() {
    let parsed = parse(
        "x",
        "- {name: own, class: needed, images: [a], checked: 2026-08}\n".to_owned(),
    );
    let list = parsed.documents[0].root().expect("a list");
    let error = read(list, Origin::BuiltIn).expect_err("no source");
    assert_eq!(error.message, "entry \"own\" needs the field sources");
}

#[test]
fn an_own_entry_stands_in_the_place_of_one_with_its_name_and_is_tried_first() {
    let built_in = read_text(
        "- {name: a, class: needed, images: [a], serves: [80]}\n- {name: b, class: reverse, images: [b]}\n",
    );
    let own = read_text(
        "- {name: own, class: useful, images: [team/b]}\n- {name: a, class: irrelevant, images: [other]}\n",
    );
    let all = built_in.expect("entries").extended(own.expect("entries"));
    let names: Vec<&str> = all
        .entries()
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(names, ["own", "a", "b"]);
    assert_eq!(all.entries()[1].images, ["other"]);
    assert!(all.entries()[1].serves.is_empty());
}

/// The page that tells users how an entry is written.
const PAGE: &str = include_str!("../../../docs/catalog.md");

#[test]
fn the_page_s_example_can_be_read() {
    let example = PAGE
        .split("```")
        .find_map(|block| block.strip_prefix("yaml\n"));
    let read = read_text(example.expect("an example")).expect("an entry");
    let entry = &read.entries()[0];
    assert_eq!(entry.variants[0].entry.class, Class::Reverse);
    assert!(entry.variants[1].entry.health.is_empty());
    assert!(matches!(entry.exit, Some(Exit::Quit(_))));
}

#[test]
fn the_page_tells_every_field() {
    let all = OWN.iter().chain(&CONDITIONS).chain(&FACTS);
    let lacking: Vec<_> = all
        .filter(|field| !PAGE.contains(&format!("`{field}`")))
        .collect();
    assert_eq!(lacking, [&""; 0], "fields that docs/catalog.md lacks");
}
