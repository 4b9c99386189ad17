//! Edits of generated manifests in many layouts: each is refused, or changes what it says and no more.

use proptest::prelude::*;
use serde_json::{Value, json};
use startorder::manifest::edit::{Operation, apply};
use startorder::manifest::{Document, FieldPath, parse};

/// How a list of containers is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// In lines, the dashes so many columns right of the key.
    Lines(usize),
    /// One item a line: `- {name: a}`.
    FlowItems,
    /// `[{name: a}, {name: b}]`.
    OneLine,
    /// Brackets with an item a line.
    Tall,
    /// JSON with everything on its own line.
    TallJson,
    /// JSON without blanks.
    CompactJson,
}

/// What stands under `initContainers`.
#[derive(Clone, Copy, Debug)]
enum Inits {
    Missing,
    Null,
    Empty,
    Filled,
}

#[derive(Clone, Debug)]
struct Layout {
    style: Style,
    inits: Inits,
    containers: usize,
    comments: bool,
    gaps: bool,
    crlf: bool,
    final_newline: bool,
    /// An anchor in the first container that a later field uses.
    anchor: bool,
}

fn layouts() -> impl Strategy<Value = Layout> {
    let style = prop_oneof![
        4 => (0usize..5).prop_map(Style::Lines),
        1 => Just(Style::FlowItems),
        1 => Just(Style::OneLine),
        1 => Just(Style::Tall),
        1 => Just(Style::TallJson),
        1 => Just(Style::CompactJson),
    ];
    let inits = prop_oneof![
        Just(Inits::Missing),
        Just(Inits::Null),
        Just(Inits::Empty),
        Just(Inits::Filled)
    ];
    let flags = any::<(bool, bool, bool, bool, bool)>();
    (style, inits, 1usize..4, flags).prop_map(|(style, inits, containers, flags)| Layout {
        style,
        inits,
        containers,
        comments: flags.0,
        gaps: flags.1,
        crlf: flags.2,
        final_newline: flags.3,
        anchor: flags.4 && matches!(style, Style::Lines(_)),
    })
}

impl Layout {
    fn text(&self) -> String {
        let json = matches!(self.style, Style::TallJson | Style::CompactJson);
        let mut text = if json { self.json() } else { self.yaml() };
        if !self.final_newline {
            text.truncate(text.trim_end().len());
        }
        if self.crlf {
            text = text.replace('\n', "\r\n");
        }
        text
    }

    fn json(&self) -> String {
        let mut spec = serde_json::Map::new();
        spec.insert("nodeName".into(), "n".into());
        match self.inits {
            Inits::Missing => {}
            Inits::Null => drop(spec.insert("initContainers".into(), Value::Null)),
            Inits::Empty => drop(spec.insert("initContainers".into(), json!([]))),
            Inits::Filled => drop(spec.insert("initContainers".into(), json!([flow_item("i0")]))),
        }
        let items: Vec<_> = (0..self.containers)
            .map(|n| flow_item(&format!("c{n}")))
            .collect();
        spec.insert("containers".into(), items.into());
        let value = json!({"kind": "Pod", "spec": spec});
        if self.style == Style::TallJson {
            format!("{value:#}\n")
        } else {
            format!("{value}\n")
        }
    }

    fn yaml(&self) -> String {
        let mut text = String::from("kind: Pod\nspec:\n  nodeName: n\n");
        match self.inits {
            Inits::Missing => {}
            Inits::Null => text += "  initContainers:\n",
            Inits::Empty => text += "  initContainers: []\n",
            Inits::Filled => self.list(&mut text, "initContainers", &["i0".to_owned()]),
        }
        if self.comments {
            text += "  # of the list\n";
        }
        let names: Vec<_> = (0..self.containers).map(|n| format!("c{n}")).collect();
        self.list(&mut text, "containers", &names);
        if self.anchor {
            text += "  hostname: *c0\n";
        }
        text
    }

    fn list(&self, text: &mut String, key: &str, names: &[String]) {
        let items: Vec<_> = names.iter().map(|name| self.item(name)).collect();
        match self.style {
            Style::Lines(_) | Style::FlowItems => {
                let gap = if self.gaps { "\n" } else { "" };
                *text += &format!("  {key}:\n{}", items.join(gap));
            }
            Style::OneLine => *text += &format!("  {key}: [{}]\n", items.join(", ")),
            Style::Tall | Style::TallJson | Style::CompactJson => {
                *text += &format!("  {key}: [\n    {}\n  ]\n", items.join(",\n    "));
            }
        }
    }

    fn item(&self, name: &str) -> String {
        let Style::Lines(dash) = self.style else {
            let item = format!("{{name: {name}, args: [{name}.a, '{name}, b']}}");
            return if self.style == Style::FlowItems {
                format!("  - {item}\n")
            } else {
                item
            };
        };
        let comment = |words: &str| {
            if self.comments {
                format!("# {words} {name}")
            } else {
                String::new()
            }
        };
        let comment_below = |words: &str| match self.comments {
            true => format!("  {}", comment(words)),
            false => String::new(),
        };
        let anchor = if self.anchor && name == "c0" {
            "&c0 "
        } else {
            ""
        };
        let lines = [
            comment("above"),
            format!("- name: {anchor}{name} {}", comment("behind")),
            format!("  image: {name}:1"),
            "  args:".to_owned(),
            "  - |".to_owned(),
            format!("    run {name}"),
            String::new(),
            format!("      # no comment {name}"),
            comment_below("within"),
            format!(
                "  env: [{{name: K, value: {name}}}] {}",
                comment("at the end")
            ),
            comment_below("below"),
        ];
        let margin = " ".repeat(2 + dash);
        let is_empty = |line: &String| line.is_empty() && !self.comments;
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            // The empty line of the script stays, a comment that is not wanted does not.
            if line.is_empty() && number == 6 {
                text += "\n";
            } else if !is_empty(line) {
                text += &format!("{margin}{line}\n");
            }
        }
        text
    }
}

fn flow_item(name: &str) -> Value {
    json!({"name": name, "args": [format!("{name}.a"), "b, c"]})
}

/// An operation on containers; places are taken modulo what is there.
#[derive(Clone, Debug)]
enum Step {
    Move(usize, usize),
    ToInit(usize, usize),
    FromInit(usize, usize),
    Insert(usize, bool),
    Remove(usize, usize),
    RemoveItem(usize),
    Replace(usize),
    Rename(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<(usize, usize)>().prop_map(|(from, to)| Step::Move(from, to)),
        any::<(usize, usize)>().prop_map(|(from, to)| Step::ToInit(from, to)),
        any::<(usize, usize)>().prop_map(|(from, to)| Step::FromInit(from, to)),
        any::<(usize, bool)>().prop_map(|(at, last)| Step::Insert(at, last)),
        any::<(usize, usize)>().prop_map(|(at, key)| Step::Remove(at, key)),
        any::<usize>().prop_map(Step::RemoveItem),
        any::<usize>().prop_map(Step::Replace),
        any::<usize>().prop_map(Step::Rename),
    ];
    proptest::collection::vec(step, 1..4)
}

/// What a step does to the data as it is; none when there is nothing to do it to.
fn operation(step: &Step, data: &Value) -> Option<Operation> {
    let count = |key: &str| data["spec"][key].as_array().map_or(0, Vec::len);
    let (apps, inits) = (count("containers"), count("initContainers"));
    let app = |at: usize| list("containers").index(at.checked_rem(apps).unwrap_or(0));
    let is_there = match step {
        Step::FromInit(..) => inits > 0 && apps > 0,
        Step::Move(..) | Step::ToInit(..) | Step::Insert(..) | Step::Remove(..) => apps > 0,
        Step::RemoveItem(_) | Step::Replace(_) | Step::Rename(_) => apps > 0,
    };
    is_there.then(|| match *step {
        Step::Move(from, to) => Operation::Move {
            from: app(from),
            to: app(to),
        },
        Step::ToInit(from, to) => Operation::Move {
            from: app(from),
            to: list("initContainers").index(to % (inits + 1)),
        },
        Step::FromInit(from, to) => Operation::Move {
            from: list("initContainers").index(from % inits),
            to: list("containers").index(to % (apps + 1)),
        },
        Step::Insert(at, last) => Operation::Insert {
            at: app(at),
            key: "startupProbe".into(),
            value: json!({"exec": {"command": ["sh", "-c", "a; 'b': \"c\""]}, "periodSeconds": 1}),
            after: (!last).then(|| "name".to_owned()),
        },
        Step::Remove(at, key) => Operation::Remove {
            at: app(at).key(["name", "image", "args", "env"][key % 4]),
        },
        Step::RemoveItem(at) => Operation::Remove { at: app(at) },
        Step::Replace(at) => Operation::Replace {
            at: app(at).key("name"),
            value: "0x10".into(),
        },
        Step::Rename(at) => Operation::Rename {
            at: app(at).key("args"),
            key: "on".into(),
        },
    })
}

fn list(key: &'static str) -> FieldPath {
    FieldPath::root().key("spec").key(key)
}

fn only_document(text: &str) -> Document {
    let mut parsed = parse::parse("x.yaml", text);
    assert_eq!(parsed.errors, [], "{text}");
    parsed.documents.pop().expect("a document")
}

fn data(text: &str) -> Value {
    only_document(text)
        .root()
        .and_then(|root| root.to_json())
        .expect("small data")
}

/// Lines that speak of a container that no operation touched: they stay as they are, in order.
fn lines_of<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(name)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_is_refused_or_does_what_it_says(layout in layouts(), steps in steps()) {
        let text = layout.text();
        let mut want = data(&text);
        let mut operations = Vec::new();
        for step in &steps {
            let Some(operation) = operation(step, &want) else { continue };
            let before = want.clone();
            match operation.apply_to(&mut want) {
                Ok(()) => operations.push(operation),
                Err(_) => want = before,
            }
        }
        let document = only_document(&text);
        let edited = match apply(&document, &operations) {
            Ok(edited) => edited.within(&text),
            Err(refused) => {
                // Nothing else in these layouts gives a reason.
                prop_assert!(layout.anchor, "{}\n{text}\n{operations:?}", refused.reason);
                return Ok(());
            }
        };
        let read: Value = serde_saphyr::from_str(&edited).expect("another parser takes it, too");
        prop_assert_eq!(read, want, "{}", &edited);
        for comment in ["above", "behind", "within", "at the end", "below"] {
            let count = |text: &str| text.matches(&format!("# {comment} ")).count();
            prop_assert!(count(&edited) >= count(&text), "{text}\n{edited}");
        }
        // A script that has come to stand last keeps its line break.
        let ends_in_script = edited.lines().last().is_some_and(|line| line.contains("# no comment"));
        prop_assert_eq!(edited.ends_with('\n'), text.ends_with('\n') || ends_in_script);
        prop_assert!(!layout.crlf || !edited.replace("\r\n", "").contains('\n'), "{edited:?}");
        prop_assert!(layout.crlf || !edited.contains('\r'));
    }

    #[test]
    fn no_operation_leaves_every_byte(layout in layouts()) {
        let text = layout.text();
        let edited = apply(&only_document(&text), &[]).expect("nothing to refuse");
        prop_assert_eq!(edited.within(&text), text);
    }

    #[test]
    fn a_move_leaves_the_other_containers_alone(layout in layouts(), step in any::<(usize, usize)>()) {
        let text = layout.text();
        let from = step.0 % layout.containers;
        let operation = Operation::Move {
            from: list("containers").index(from),
            to: list("initContainers").index(0),
        };
        let Ok(edited) = apply(&only_document(&text), &[operation]) else { return Ok(()) };
        if layout.style == Style::CompactJson || layout.style == Style::OneLine {
            return Ok(());
        }
        let after = edited.within(&text);
        for other in (0..layout.containers).filter(|other| *other != from) {
            let name = format!("c{other}");
            // A comma may come or go with the neighbour.
            let trimmed = |text| -> Vec<String> {
                lines_of(text, &name).iter().map(|line| line.trim_end_matches(',').to_owned()).collect()
            };
            prop_assert_eq!(trimmed(&text), trimmed(&after));
        }
    }
}
