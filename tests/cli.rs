//! Whole sessions below `testdata/cli/`: a folder with its files, and `session.txt` with commands and
//! what they print. `SNAPSHOTS=overwrite cargo test` rewrites the sessions.
//!
//! A session runs in a copy of its folder, which counts as the root of a repository. A line that
//! begins with `$ ` is a command: `kubectl startorder …`, `cat FILE` or `cd FOLDER`, and
//! `kubectl startorder … < FILE`. What is printed stands below it, standard error last; the exit code
//! is told when it is not 0. Today's date reads `TODAY`.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/cli");

fn main() {
    let cases = children(Path::new(CASES)).into_iter().map(|case| {
        let name = format!("cli/{}", name_of(&case));
        Trial::test(name, move || session(&case))
    });
    let cases: Vec<Trial> = cases.collect();
    assert!(!cases.is_empty(), "no sessions in {CASES}");
    libtest_mimic::run(&Arguments::from_args(), cases).exit();
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn session(case: &Path) -> Result<(), Failed> {
    let file = case.join("session.txt");
    let expected = fs::read_to_string(&file)?;
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cli")
        .join(name_of(case));
    let _ = fs::remove_dir_all(&root);
    copy(case, &root)?;
    fs::create_dir_all(root.join(".git"))?;
    let mut folder = root;
    let mut actual = String::new();
    let mut is_head = true;
    for line in expected.lines() {
        let Some(command) = line.strip_prefix("$ ") else {
            // What stands above the first command says what the session is about.
            if is_head {
                actual += &format!("{line}\n");
            }
            continue;
        };
        is_head = false;
        actual += &format!("{line}\n{}", run(command, &mut folder)?);
    }
    let assert = snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false);
    let name = format!("cli/{}/session.txt", name_of(case));
    let expected = snapbox::Data::read_from(&file, None);
    Ok(assert.try_eq(Some(&name), snapbox::Data::text(actual), expected)?)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for path in children(from) {
        let target = to.join(name_of(&path));
        if path.is_dir() {
            copy(&path, &target)?;
        } else if name_of(&path) != "session.txt" {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn run(command: &str, folder: &mut PathBuf) -> Result<String, Failed> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["cd", to] => {
            folder.push(to);
            *folder = folder.canonicalize()?;
            Ok(String::new())
        }
        ["cat", file] => Ok(dated(&fs::read_to_string(folder.join(file))?)),
        ["kubectl", "startorder", arguments @ ..] => startorder(arguments, folder),
        _ => Err(format!("no command of a session: {command}").into()),
    }
}

fn startorder(arguments: &[&str], folder: &Path) -> Result<String, Failed> {
    let (arguments, input) = match arguments {
        [arguments @ .., "<", file] => (arguments, Stdio::from(fs::File::open(folder.join(file))?)),
        arguments => (arguments, Stdio::null()),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-startorder"))
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .stdin(input)
        .output()?;
    let mut told = String::from_utf8([output.stdout, output.stderr].concat())?;
    if output.status.code() != Some(0) {
        told += &format!("(exit code {})\n", output.status.code().unwrap_or(-1));
    }
    Ok(dated(&told))
}

fn dated(text: &str) -> String {
    let today = jiff::Timestamp::now().to_string();
    text.replace(&today[..10], "TODAY")
}
