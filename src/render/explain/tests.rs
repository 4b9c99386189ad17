//! The screens of the design, drawn from plans of real manifests.

use super::*;
use crate::manifest::parse::parse;
use crate::pod::workload::{Contents, Object, Workload, read};
use crate::pod::{KubeVersion, Role as PodRole};
use crate::render::{Style, TargetSource};
use std::fs;
use std::path::{Path, PathBuf};

const PLAIN: Style = Style {
    color: false,
    ascii: false,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/screens")
}

/// A manifest with its only workload.
struct Manifest {
    name: String,
    document: Document,
    workload: Workload,
}

impl Manifest {
    fn read(name: &str) -> Manifest {
        let name = format!("{name}/manifest.yaml");
        let text = fs::read_to_string(folder().join(&name)).expect("a manifest");
        Manifest::of(&name, &text)
    }

    fn of(name: &str, text: &str) -> Manifest {
        let mut parsed = parse(name, text);
        let document = parsed.documents.remove(0);
        let Contents { objects, .. } = read(&document);
        let workload = objects.iter().find_map(Object::workload).cloned();
        Manifest {
            name: name.to_owned(),
            document,
            workload: workload.expect("a workload"),
        }
    }

    fn plan(&self, minor: u16) -> StartPlan {
        crate::judge::plan(
            &self.workload,
            KubeVersion::minor(minor),
            crate::catalog::Catalog::built_in(),
        )
    }

    fn prediction<'a>(&'a self, plan: &'a StartPlan) -> Prediction<'a> {
        Prediction {
            is_answered: false,
            object: &self.workload.object,
            template: &self.workload.template,
            plan,
            document: &self.document,
        }
    }

    fn named<'a>(&'a self, plan: &'a StartPlan) -> Named<'a> {
        Named {
            name: self.name.clone(),
            prediction: self.prediction(plan),
        }
    }
}

#[track_caller]
fn assert_screen(name: &str, shown: &str, width: usize) {
    for line in shown.lines() {
        assert!(crate::render::wrap::width(line) <= width, "{line}");
    }
    snapbox::assert_data_eq!(
        shown,
        snapbox::Data::read_from(&folder().join(name), None).raw()
    );
}

/// 01 beside 02.
fn gate_screen(width: usize, style: Style) -> String {
    let (bare, gated) = (Manifest::read("01-no-gate"), Manifest::read("02-gate"));
    let (reality, expected) = (bare.plan(37), gated.plan(37));
    let compared = Explanation::Compared {
        reality: bare.named(&reality),
        expected: gated.named(&expected),
    };
    to_text(&compared, width, style)
}

#[test]
fn a_gate_is_compared_side_by_side_where_there_is_room() {
    assert_screen("explain-side-by-side.out", &gate_screen(100, PLAIN), 100);
}

#[test]
fn a_gate_is_compared_below_each_other_in_a_pipe() {
    assert_screen("explain-stacked.out", &gate_screen(80, PLAIN), 80);
}

#[test]
fn plain_characters_and_a_narrow_terminal() {
    let style = Style {
        color: false,
        ascii: true,
    };
    let shown = gate_screen(60, style);
    assert!(shown.is_ascii());
    assert_screen("explain-ascii.out", &shown, 60);
}

#[test]
fn colour_changes_nothing_but_escapes() {
    let style = Style {
        color: true,
        ascii: false,
    };
    let colored = gate_screen(80, style);
    for part in [
        "\u{1b}[35m├─ postStart: wait ",
        "\u{1b}[32mguaranteed",
        "\u{1b}[33;1mnot ordered",
    ] {
        assert!(colored.contains(part), "{part:?} in {colored:?}");
    }
    let mut plain = String::new();
    for part in colored.split('\u{1b}') {
        let is_escape = part.starts_with('[');
        plain += match part.split_once('m') {
            Some((_, rest)) if is_escape => rest,
            _ => part,
        };
    }
    assert_eq!(plain, gate_screen(80, PLAIN));
}

#[test]
fn init_containers_native_sidecars_and_apps_in_one_picture() {
    let manifest = Manifest::read("12-native-two");
    let plan = manifest.plan(37);
    let shown = to_text(&Explanation::One(manifest.prediction(&plan)), 80, PLAIN);
    assert_screen("explain-natives.out", &shown, 80);
}

#[test]
fn a_native_sidecar_below_1_29_never_exits() {
    let manifest = Manifest::read("09-native-bare");
    let plan = manifest.plan(28);
    let shown = to_text(&Explanation::One(manifest.prediction(&plan)), 80, PLAIN);
    assert_screen("explain-below-1.29.out", &shown, 80);
}

#[test]
fn versions_with_the_same_prediction_stand_together() {
    let manifest = Manifest::read("09-native-bare");
    let plans = [28, 29, 35, 37].map(|minor| manifest.plan(minor));
    let predictions = plans.iter().map(|plan| manifest.prediction(plan)).collect();
    let shown = to_text(&Explanation::Versions(predictions), 80, PLAIN);
    assert_screen("explain-versions.out", &shown, 80);
}

#[test]
fn json_names_steps_needs_with_their_place_notes_and_stop() {
    let manifest = Manifest::read("02-gate");
    let plan = manifest.plan(37);
    let one = Explanation::One(manifest.prediction(&plan));
    let value = to_json(&one, TargetSource::Default);
    let text = serde_json::to_string_pretty(&value).expect("json") + "\n";
    assert_screen("explain-02.json.out", &text, usize::MAX);
}

#[test]
fn json_of_a_comparison_and_of_versions_holds_whole_objects() {
    let manifest = Manifest::read("09-native-bare");
    let plans = [28, 37].map(|minor| manifest.plan(minor));
    let compared = Explanation::Compared {
        reality: manifest.named(&plans[0]),
        expected: manifest.named(&plans[1]),
    };
    let value = to_json(&compared, TargetSource::Flag);
    assert_eq!(value["reality"]["steps"][0]["role"], "init");
    assert_eq!(value["expected"]["steps"][0]["role"], "sidecar");
    let predictions = plans.iter().map(|plan| manifest.prediction(plan)).collect();
    let value = to_json(&Explanation::Versions(predictions), TargetSource::Flag);
    assert_eq!(value["versions"][1]["target"]["kubernetes"], "1.37");
    assert_eq!(value["versions"][1]["stop"][1]["after"][0], "app");
}

/// A pod of this many containers of a list, each with a hook that waits.
fn crowd(list: &str, count: usize, name: &str) -> Manifest {
    let mut text = String::from("apiVersion: v1\nkind: Pod\nmetadata: {name: crowd}\nspec:\n");
    let item = |at: usize| {
        format!(
            "  - {{name: {name}-{at}, image: x, restartPolicy: Always, \
             lifecycle: {{postStart: {{exec: {{command: [/wait]}}}}}}}}\n"
        )
    };
    text += "  containers:\n  - {name: last, image: x}\n";
    if count > 0 {
        text += &format!("  {list}:\n");
        text.extend((0..count).map(item));
    }
    Manifest::of("crowd.yaml", &text)
}

#[test]
fn any_number_of_containers_fits_into_any_width() {
    for count in [0, 1, 9, 40] {
        for name in ["x", "a-name-that-is-much-longer-than-its-column"] {
            let manifest = crowd("initContainers", count, name);
            let plan = manifest.plan(37);
            assert_eq!(plan.steps.len(), count + 1);
            for width in [0, 60, 80, 100, 1000] {
                let shown = to_text(&Explanation::One(manifest.prediction(&plan)), width, PLAIN);
                let bars = shown.lines().filter(|line| line.contains('━'));
                let longest = bars.map(crate::render::wrap::width).max();
                assert!(longest <= Some(width.clamp(60, 100)), "{shown}");
            }
        }
    }
}

#[test]
fn a_container_without_a_name_is_called_by_its_place() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - image: x\n  - image: y\n";
    let manifest = Manifest::of("x.yaml", text);
    let plan = manifest.plan(37);
    let shown = to_text(&Explanation::One(manifest.prediction(&plan)), 80, PLAIN);
    assert!(
        shown.contains("the start of containers[0] has returned"),
        "{shown}"
    );
    assert_eq!(plan.steps[0].role, PodRole::App);
}
