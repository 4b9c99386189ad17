//! What a user who names no input is likely to want: a look around the current folder, bounded.

use crate::manifest::load;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders are looked at down to this depth, and no more entries than these.
const DEPTH: usize = 3;
const ENTRIES: usize = 2_000;
/// So many files are opened, and so many bytes of each are read.
const FILES: usize = 40;
const BYTES: u64 = 16 * 1024;
/// Folders that hold other people's files, or built ones.
const FOREIGN: [&str; 5] = ["node_modules", "target", "vendor", "build", "dist"];
/// Folders that are named for manifests, the most telling first.
const NAMED: [&str; 7] = [
    "deploy",
    "k8s",
    "manifests",
    "kubernetes",
    "kube",
    "deployment",
    "deployments",
];

/// What lies below a folder, the shallowest first.
#[derive(Debug, Default)]
struct Seen {
    /// Folders with a `kustomization.yaml`.
    kustomizations: Vec<PathBuf>,
    /// Folders with a `Chart.yaml`.
    charts: Vec<PathBuf>,
    /// Files that look like manifests and belong to no chart.
    manifests: Vec<PathBuf>,
}

/// The commands that would lint what lies below a folder; `command` is `lint` or another one that
/// takes `-f`.
pub fn commands(folder: &Path, command: &str) -> Vec<String> {
    let seen = look(folder);
    let ours = format!("kubectl startorder {command} -f");
    let shown = |path: &PathBuf| match path.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => path.display().to_string(),
    };
    let plain = place(&seen.manifests).map(|place| format!("{ours} {place}"));
    let rendered = seen
        .kustomizations
        .iter()
        .min_by_key(|path| rank(path))
        .map(|path| format!("kubectl kustomize {} | {ours} -", shown(path)));
    let chart = seen.charts.first();
    let chart = chart.map(|path| format!("helm template {} | {ours} -", shown(path)));
    plain.into_iter().chain(rendered).chain(chart).collect()
}

/// Overlays are what is deployed; a base seldom is.
fn rank(kustomization: &Path) -> u8 {
    let has = |name: &str| kustomization.iter().any(|part| part == name);
    match (has("overlays"), has("base") || has("components")) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    }
}

/// What to name for these files: the folder that is named for manifests, else the one that holds
/// the most of them, else the only file.
fn place(manifests: &[PathBuf]) -> Option<String> {
    let first = |path: &PathBuf| path.iter().next().map(PathBuf::from);
    let named = NAMED.iter().find_map(|name| {
        let mut folders = manifests.iter().filter_map(|path| named_folder(path, name));
        folders.next()
    });
    if let Some(folder) = named {
        return Some(format!("{}/ -R", folder.display()));
    }
    let (files, deeper): (Vec<&PathBuf>, Vec<&PathBuf>) =
        manifests.iter().partition(|path| path.iter().count() == 1);
    match (files.as_slice(), deeper.as_slice()) {
        ([], []) => None,
        ([only], []) => Some(only.display().to_string()),
        (_, []) => Some(".".to_owned()),
        ([], [one, others @ ..]) => {
            let top = first(one)?;
            match others.iter().all(|other| other.starts_with(&top)) {
                true => Some(format!("{}/ -R", top.display())),
                false => Some(". -R".to_owned()),
            }
        }
        (_, _) => Some(". -R".to_owned()),
    }
}

/// The part of a file's path down to the folder of this name.
fn named_folder(path: &Path, name: &str) -> Option<PathBuf> {
    let mut above = path.ancestors().skip(1);
    let folder = above.find(|folder| folder.file_name().is_some_and(|own| own == name))?;
    Some(folder.to_path_buf())
}

fn look(root: &Path) -> Seen {
    let mut seen = Seen::default();
    let mut open: VecDeque<(PathBuf, usize)> = VecDeque::from([(PathBuf::new(), 0)]);
    let (mut entries, mut files) = (ENTRIES, FILES);
    while let Some((folder, depth)) = open.pop_front() {
        let mut names = children(&root.join(&folder), &mut entries);
        names.sort();
        let has = |name: &str| {
            names
                .iter()
                .any(|(own, is_folder)| own == name && !is_folder)
        };
        if has("Chart.yaml") {
            seen.charts.push(folder);
            continue;
        }
        if has("kustomization.yaml") || has("kustomization.yml") || has("Kustomization") {
            seen.kustomizations.push(folder.clone());
        }
        for (name, is_folder) in names {
            let path = folder.join(&name);
            if is_folder && depth < DEPTH && !FOREIGN.contains(&name.as_str()) {
                open.push_back((path, depth + 1));
            } else if !is_folder && files > 0 && load::has_manifest_ending(&path) {
                files -= 1;
                if is_manifest(&root.join(&path)) {
                    seen.manifests.push(path);
                }
            }
        }
    }
    seen
}

/// The names in a folder, each with whether it is a folder; hidden ones and links are left out.
fn children(folder: &Path, left: &mut usize) -> Vec<(String, bool)> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(fewer) = left.checked_sub(1) else {
            break;
        };
        *left = fewer;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type();
        if let Ok(kind) = kind
            && !name.starts_with('.')
            && !kind.is_symlink()
        {
            names.push((name, kind.is_dir()));
        }
    }
    names
}

/// Whether a file begins like an object of Kubernetes that is no kustomization.
fn is_manifest(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let is_before = |char: char| char.is_whitespace() || matches!(char, '{' | '"');
    let says = |key: &str| {
        let mut lines = text.lines().map(|line| line.trim_start_matches(is_before));
        lines.any(|line| line.starts_with(key))
    };
    read.is_ok()
        && says("kind")
        && says("apiVersion")
        && !text.contains("kustomize.config.k8s.io")
        && !text.contains("{{")
}
