//! Every file below `testdata/` with its expected outcome beside it, one named test a file.
//!
//! `SNAPSHOTS=overwrite cargo test` rewrites the expected files.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn main() {
    let mut trials = Vec::new();
    for (file, name) in files("rules/*/bad", "yaml").filter(|(file, _)| !is_fixed(file)) {
        trials.push(Trial::test(name, move || bad(&file)));
    }
    for (file, name) in files("rules/*/good", "yaml") {
        trials.push(Trial::test(name, move || good(&file)));
    }
    for (file, name) in files("yaml", "*") {
        trials.push(Trial::test(name, move || yaml(&file)));
    }
    for (file, name) in files("plans/*", "yaml") {
        trials.push(Trial::test(name, move || explain(&file)));
    }
    for (file, name) in files("articles", "yaml") {
        trials.push(Trial::test(name, move || article(&file)));
    }
    for (file, name) in files("recordings/*", "jsonl").filter(|(file, _)| !is_truth(file)) {
        for format in ["text", "lines"] {
            let file = file.clone();
            trials.push(Trial::test(format!("{name} {format}"), move || {
                replay(&file, format)
            }));
        }
    }
    for folder in children(&Path::new(TESTDATA).join("graph")) {
        for format in ["text", "dot", "mermaid", "json"] {
            let folder = folder.clone();
            let name = format!("{}/{format}", relative(&folder).display());
            trials.push(Trial::test(name, move || graph(&folder, format)));
        }
    }
    for screen in SCREENS {
        trials.push(Trial::test(format!("screens/{}", screen.expected), || {
            screen.compare()
        }));
    }
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials).exit();
}

/// A whole command in `testdata/screens/`, and the file that holds what it prints.
struct Screen {
    arguments: &'static str,
    columns: &'static str,
    expected: &'static str,
    /// The file holds the beginning only.
    is_cut: bool,
}

const SCREENS: &[Screen] = &[
    Screen {
        arguments: "lint -f 01-no-gate/manifest.yaml",
        columns: "80",
        expected: "lint-01.out",
        is_cut: false,
    },
    Screen {
        arguments: "lint -f 03-gate-last/manifest.yaml -f 05-gate-http/manifest.yaml -f 09-native-bare/manifest.yaml \
                    -f 10-native-readiness/manifest.yaml -f 39-init-needs-app/manifest.yaml",
        columns: "80",
        expected: "lint-five-files.out",
        is_cut: false,
    },
    Screen {
        arguments: "lint -f 01-no-gate/manifest.yaml",
        columns: "60",
        expected: "lint-60.out",
        is_cut: true,
    },
    Screen {
        arguments: "lint --ascii -f 01-no-gate/manifest.yaml",
        columns: "80",
        expected: "lint-ascii.out",
        is_cut: true,
    },
    Screen {
        arguments: "lint -f config/deploy.yaml -f config/settings.yaml",
        columns: "80",
        expected: "lint-config.out",
        is_cut: false,
    },
    Screen {
        arguments: "lint -o wide -f config/deploy.yaml -f config/settings.yaml",
        columns: "80",
        expected: "lint-config-wide.out",
        is_cut: false,
    },
    Screen {
        arguments: "lint -o json -f config/deploy.yaml -f config/settings.yaml",
        columns: "80",
        expected: "lint-config-json.out",
        is_cut: false,
    },
    Screen {
        // Of the pod of `testdata/cluster/steps.yaml`, which has Tekton's shape.
        arguments: "watch -o text --replay steps/recording.jsonl",
        columns: "80",
        expected: "watch-steps.out",
        is_cut: false,
    },
    Screen {
        // Earlier: the second step still waits for its turn.
        arguments: "watch -o text --replay steps/waits.jsonl",
        columns: "80",
        expected: "watch-steps-wait.out",
        is_cut: false,
    },
];

impl Screen {
    fn compare(&self) -> Result<(), Failed> {
        let folder = Path::new(TESTDATA).join("screens");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-startorder"));
        command
            .current_dir(&folder)
            .env_clear()
            .env("COLUMNS", self.columns);
        let output = command.args(self.arguments.split_whitespace()).output()?;
        let mut actual = told(&output);
        if self.is_cut {
            let wanted = fs::read_to_string(folder.join(self.expected))?
                .lines()
                .count();
            actual = actual
                .lines()
                .take(wanted)
                .map(|line| format!("{line}\n"))
                .collect();
        }
        expect(&folder.join(self.expected), &actual)
    }
}

/// The files of a folder (`*` stands for any one folder) that end in `ending`, with test names.
fn files(folder: &str, ending: &'static str) -> impl Iterator<Item = (PathBuf, String)> {
    let mut folders = vec![PathBuf::from(TESTDATA)];
    for segment in folder.split('/') {
        folders = folders
            .iter()
            .flat_map(|above| match segment {
                "*" => children(above)
                    .into_iter()
                    .filter(|path| path.is_dir())
                    .collect(),
                name => vec![above.join(name)],
            })
            .collect();
    }
    let is_meant = move |path: &PathBuf| {
        let own = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        path.is_file() && (own == ending || (ending == "*" && own != "out"))
    };
    folders
        .into_iter()
        .flat_map(|folder| children(&folder))
        .filter(is_meant)
        .map(|path| {
            let name = relative(&path).display().to_string();
            (path, name)
        })
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    all.sort();
    all
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix(TESTDATA).expect("below testdata")
}

/// What the container runtime itself told beside a recording.
fn is_truth(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".truth.jsonl")
}

/// A recording as its final picture, or as it was told line by line.
fn replay(file: &Path, format: &str) -> Result<(), Failed> {
    let output = startorder(&["watch", "-o", format, "--replay"], file);
    let actual = told(&output);
    let is_of_watch = output.status.code().is_some_and(|code| code < 2);
    if !is_of_watch {
        return Err(format!("exit {:?}: {actual}", output.status.code()).into());
    }
    let wide = actual.lines().find(|line| line.chars().count() > 80);
    if let (Some(wide), "text") = (wide, format) {
        return Err(format!("wider than 80 columns: {wide}").into());
    }
    expect(&file.with_extension(format!("{format}.out")), &actual)
}

fn is_fixed(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".fixed.yaml")
}

/// The flags that a first line `# args: …` of a manifest asks for.
fn flags(file: &Path) -> Vec<String> {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default();
    let flags = first.strip_prefix("# args:").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// Runs the binary in `testdata/`, as a user would in a pipe.
fn startorder(arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-startorder"));
    command
        .current_dir(TESTDATA)
        .env_clear()
        .args(arguments)
        .arg(relative(file))
        .args(flags(file));
    command.output().expect("the binary runs")
}

fn told(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Compares with the file beside, or rewrites it.
fn expect(path: &Path, actual: &str) -> Result<(), Failed> {
    let expected = snapbox::Data::read_from(path, None);
    let assert = snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false);
    Ok(assert.try_eq(
        Some(&relative(path).display()),
        snapbox::Data::text(actual),
        expected,
    )?)
}

fn rule_of(path: &Path) -> String {
    let folder = path.ancestors().nth(2).and_then(Path::file_name);
    folder
        .expect("rules/ID/bad/FILE")
        .to_string_lossy()
        .into_owned()
}

/// The findings of a file that nothing hides, as `rule severity`.
fn findings(file: &Path) -> Result<Vec<(String, String)>, Failed> {
    let output = startorder(&["lint", "-o", "json", "-f"], file);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", told(&output)))?;
    let all = value["findings"].as_array().cloned().unwrap_or_default();
    let word = |finding: &serde_json::Value, key: &str| {
        finding[key].as_str().unwrap_or_default().to_owned()
    };
    Ok(all
        .iter()
        .filter(|finding| finding["suppressed"] == false)
        .map(|finding| (word(finding, "rule"), word(finding, "severity")))
        .collect())
}

/// A bad manifest fires, says what it says, and is mended by its fix where there is one.
fn bad(file: &Path) -> Result<(), Failed> {
    let rule = rule_of(file);
    if !findings(file)?.iter().any(|(found, _)| *found == rule) {
        return Err(format!("{rule} does not fire").into());
    }
    expect(
        &file.with_extension("out"),
        &told(&startorder(&["lint", "-f"], file)),
    )?;
    let diff = startorder(&["lint", "--diff", "-f"], file);
    let Some(fixed) = patched(file, &String::from_utf8_lossy(&diff.stdout))? else {
        return Ok(());
    };
    let path = file.with_extension("fixed.yaml");
    expect(&path, &fixed)?;
    if is_mended(file, &rule)? && findings(&path)?.iter().any(|(found, _)| *found == rule) {
        return Err(format!("{rule} still fires after its fix").into());
    }
    Ok(())
}

/// Whether the rule itself offers a fix here; other rules' fixes leave its finding.
fn is_mended(file: &Path, rule: &str) -> Result<bool, Failed> {
    let output = startorder(&["lint", "-o", "json", "-f"], file);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let all = value["findings"].as_array().into_iter().flatten();
    let own: Vec<_> = all.filter(|finding| finding["rule"] == rule).collect();
    Ok(own.iter().all(|finding| !finding["fix"].is_null()))
}

/// A good manifest has nothing to warn of.
fn good(file: &Path) -> Result<(), Failed> {
    let rule = rule_of(file);
    let loud = findings(file)?
        .into_iter()
        .find(|(found, severity)| *found == rule || severity != "info");
    match loud {
        Some((found, severity)) => Err(format!("{severity}: {found} fires").into()),
        None => Ok(()),
    }
}

/// What is said about an awkward text.
fn yaml(file: &Path) -> Result<(), Failed> {
    expect(
        &beside(file, "out"),
        &told(&startorder(&["lint", "-f"], file)),
    )
}

fn explain(file: &Path) -> Result<(), Failed> {
    expect(
        &file.with_file_name("explain.out"),
        &told(&startorder(&["explain", "-f"], file)),
    )
}

/// The waits of a folder.
fn graph(folder: &Path, format: &str) -> Result<(), Failed> {
    let output = startorder(&["graph", "-o", format, "-f"], folder);
    expect(&folder.join(format!("{format}.out")), &told(&output))
}

fn article(file: &Path) -> Result<(), Failed> {
    expect(
        &beside(file, "lint.out"),
        &told(&startorder(&["lint", "-f"], file)),
    )?;
    expect(
        &beside(file, "explain.out"),
        &told(&startorder(&["explain", "-f"], file)),
    )
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let name = file.file_name().expect("a file").to_string_lossy();
    file.with_file_name(format!("{name}.{ending}"))
}

/// Applies a unified diff of one file; none when it is empty.
fn patched(file: &Path, diff: &str) -> Result<Option<String>, Failed> {
    if diff.is_empty() {
        return Ok(None);
    }
    let text = fs::read_to_string(file)?;
    let before: Vec<&str> = text.split_inclusive('\n').collect();
    let mut after = String::new();
    let mut at = 0;
    for line in diff.split_inclusive('\n').skip(2) {
        match line.split_at(1) {
            ("@", _) => {
                let start = line
                    .split(['-', ',', ' '])
                    .nth(2)
                    .and_then(|start| start.parse::<usize>().ok());
                let start = start.ok_or_else(|| format!("no line number in {line}"))? - 1;
                before[at..start]
                    .iter()
                    .for_each(|line| after.push_str(line));
                at = start;
            }
            ("+", added) => after.push_str(added),
            (sign, kept) => {
                if before.get(at) != Some(&kept) {
                    return Err(format!("the patch does not fit line {}: {kept}", at + 1).into());
                }
                at += 1;
                if sign == " " {
                    after.push_str(kept);
                }
            }
        }
    }
    before[at..].iter().for_each(|line| after.push_str(line));
    Ok(Some(after))
}
