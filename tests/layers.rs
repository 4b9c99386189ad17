//! The architecture holds: who may use whom, and that no rule lacks a part.

use startorder::rules::RULES;
use std::fs;
use std::path::{Path, PathBuf};

fn in_repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Each layer with those that it may use, besides itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("manifest", &[]),
    ("shell", &[]),
    ("nearness", &[]),
    ("pod", &["manifest", "nearness"]),
    ("catalog", &["manifest", "pod", "nearness"]),
    ("finding", &["manifest", "pod"]),
    ("plan", &["manifest", "pod", "catalog", "shell", "finding"]),
    ("timeline", &["manifest", "pod", "catalog", "plan"]),
    ("run", &["manifest", "pod"]),
    ("inject", &["manifest", "pod", "run"]),
    ("graph", &["manifest", "pod", "run", "plan", "shell"]),
    (
        "cure",
        &[
            "manifest", "pod", "catalog", "shell", "finding", "plan", "run", "inject", "graph",
        ],
    ),
    (
        "rules",
        &[
            "manifest", "pod", "catalog", "shell", "finding", "plan", "cure", "run", "inject",
            "graph", "nearness",
        ],
    ),
    (
        "judge",
        &[
            "manifest", "pod", "catalog", "finding", "plan", "run", "inject", "config", "rules",
        ],
    ),
    (
        "config",
        &[
            "manifest", "pod", "catalog", "finding", "inject", "nearness",
        ],
    ),
    (
        "admission",
        &["manifest", "pod", "finding", "rules", "run", "judge"],
    ),
    (
        "suppress",
        &[
            "manifest", "pod", "finding", "run", "config", "rules", "nearness",
        ],
    ),
    ("baseline", &["manifest", "pod", "finding"]),
    ("fix", &["manifest", "pod", "finding", "run", "judge"]),
    (
        "render",
        &[
            "cli", "manifest", "pod", "finding", "plan", "timeline", "run", "graph",
        ],
    ),
    ("cluster", &["manifest", "timeline", "cli"]),
];

fn rust_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.flat_map(|path| rust_files(&path)).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    files
}

fn files_of(layer: &str) -> Vec<PathBuf> {
    let folder = in_repository(&format!("src/{layer}"));
    if folder.is_dir() {
        rust_files(&folder)
    } else {
        rust_files(&in_repository(&format!("src/{layer}.rs")))
    }
}

/// The modules of this crate that a text uses; what stands below `#[cfg(test)]` does not count.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let name = |rest: &str| {
        rest.chars()
            .take_while(|char| char.is_alphanumeric() || *char == '_')
            .collect::<String>()
    };
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.split("crate::").skip(1).map(name).collect::<Vec<_>>())
        .collect()
}

#[test]
fn each_layer_uses_only_those_below_it() {
    for (layer, allowed) in LAYERS {
        let files = files_of(layer);
        assert!(!files.is_empty(), "{layer} has no files");
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).expect("a source file");
            for name in used(&text) {
                assert!(
                    name == *layer || allowed.contains(&name.as_str()),
                    "{}: {layer} uses {name}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn only_the_cluster_folder_names_kube_and_tokio() {
    for file in rust_files(&in_repository("src")) {
        if file.starts_with(in_repository("src/cluster")) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        for name in ["kube::", "tokio::", "k8s_openapi::"] {
            assert!(!text.contains(name), "{} names {name}", file.display());
        }
    }
}

#[test]
fn every_rule_has_its_file_its_fixtures_and_facts() {
    let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    assert_eq!(ids, sorted, "RULES is sorted by id");
    let facts = fs::read_to_string(in_repository("docs/start-sequence.md")).expect("the facts");
    for rule in RULES {
        let id = rule.id;
        let file = format!("src/rules/{}.rs", id.replace('-', "_"));
        assert!(in_repository(&file).is_file(), "{file} is missing");
        for fixture in ["bad/minimal.yaml", "bad/minimal.out"] {
            let fixture = format!("testdata/rules/{id}/{fixture}");
            assert!(in_repository(&fixture).is_file(), "{fixture} is missing");
        }
        let good = in_repository(&format!("testdata/rules/{id}/good"));
        assert!(
            fs::read_dir(good).is_ok_and(|mut files| files.next().is_some()),
            "{id} has no good fixture"
        );
        assert!(!rule.facts.is_empty(), "{id} rests on no fact");
        for fact in rule.facts {
            assert!(
                facts.contains(&format!("**{fact}. ")),
                "{id} cites {fact}, which is no fact"
            );
        }
    }
    let listed = fs::read_dir(in_repository("src/rules"))
        .expect("the rules")
        .flatten()
        .filter(|entry| {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            text.contains("pub(super) static RULE: Rule")
        });
    assert_eq!(
        listed.count(),
        RULES.len(),
        "a rule file is missing from RULES"
    );
}

#[test]
fn every_fact_is_shown_by_a_case_or_a_recording() {
    let facts = fs::read_to_string(in_repository("docs/start-sequence.md")).expect("the facts");
    for fact in facts.split("\n**S").skip(1) {
        let number = fact.split('.').next().unwrap_or_default();
        let (claim, seen) = fact.split_once("Seen:").unwrap_or((fact, ""));
        let cases = claim.split_once("Case").map_or("", |(_, cases)| cases);
        let cases: Vec<&str> = cases.split('`').skip(1).step_by(2).collect();
        let seen = seen.split("\n\n").next().unwrap_or_default();
        let seen: Vec<&str> = seen
            .split(',')
            .map(|name| name.trim().trim_end_matches('.'))
            .collect();
        let seen: Vec<&&str> = seen.iter().filter(|name| !name.is_empty()).collect();
        for name in &cases {
            let case = in_repository(&format!("testdata/plans/{name}/pod.yaml"));
            assert!(
                case.is_file(),
                "S{number} names the case {name}, which does not exist"
            );
        }
        for name in &seen {
            let recording = in_repository(&format!("testdata/recordings/{name}"));
            assert!(
                recording.is_dir(),
                "S{number} names the recording {name}, which does not exist"
            );
        }
        let is_shown = !cases.is_empty() || !seen.is_empty();
        assert!(is_shown, "S{number} is shown by nothing");
    }
}
