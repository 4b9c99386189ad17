//! What `lint` and `explain` read: files, or live objects; and the Kubernetes to judge by.

use super::likely;
use crate::cli::{ConnectionArgs, InputArgs};
use crate::config;
use crate::error::Failure;
use crate::finding::Skipped;
use crate::manifest::load::{self, LoadError};
use crate::pod::KubeVersion;
use crate::pod::version::UnknownVersion;
use crate::render::TargetSource;
use crate::run::{FileRead, Run};
use std::path::{Path, PathBuf};

/// What a command works on.
pub struct Gathered {
    /// The inputs, read.
    pub run: Run,
    /// The version to judge by when no flag names one.
    pub version: KubeVersion,
    /// Who says so.
    pub source: TargetSource,
    /// What could not be looked at, for people.
    pub notes: Vec<Skipped>,
}

/// Which live objects are meant besides those that are named, and what else is wanted of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// `-l`: those with these labels.
    pub selector: Option<&'a str>,
    /// `-A`: those of every namespace.
    pub all_namespaces: bool,
    /// Also the pods that they have made, and what stands around them.
    pub wants_relatives: bool,
}

/// Reads the files or the live objects that are named; `command` is for hints.
pub fn gather(
    input: &InputArgs,
    connection: &ConnectionArgs,
    stdin_name: &str,
    (command, scope): (&str, Scope<'_>),
) -> Result<Gathered, Failure> {
    let has_scope = scope.selector.is_some() || scope.all_namespaces;
    if has_scope && !(input.targets.is_empty() && input.filename.is_empty()) {
        let error = "-l and -A select live objects, and go with no file and no name";
        return Err(Failure::new(error).hint("kubectl startorder lint -l app=web"));
    }
    if has_scope {
        return list(connection, &scope);
    }
    if !input.targets.is_empty() {
        return live(connection, &input.targets, scope.wants_relatives);
    }
    if input.filename.is_empty() {
        return Err(no_input(command));
    }
    let inputs = load::inputs(&input.filename, input.recursive);
    let mut inputs = inputs.map_err(|error| missing(error, &input.filename))?;
    // A configuration found among manifests is no manifest.
    inputs.retain(|input| input.is_named || !input.path.ends_with(config::FILE));
    let mut run = Run::read(&inputs, stdin_name);
    run.namespace = connection.namespace.clone().unwrap_or_default();
    let is_unread = |file: &FileRead| {
        file.failure.is_some() || !file.errors.is_empty() || (file.is_named && !file.is_kubernetes)
    };
    if run.workloads().next().is_none() && !run.files.iter().any(is_unread) {
        return Err(nothing_found(input, &run, command));
    }
    Ok(Gathered {
        run,
        version: KubeVersion::NEWEST,
        source: TargetSource::Default,
        notes: Vec::new(),
    })
}

/// What a command that is told of no input says: what it could be told of here.
fn no_input(command: &str) -> Failure {
    let mut hints = likely::commands(Path::new("."), command);
    if hints.is_empty() {
        hints.push(format!("kubectl startorder {command} -f deploy.yaml"));
    }
    Failure::new("must specify one of -f or TYPE/NAME").hint(hints.join("\nhint: "))
}

#[cfg(feature = "cluster")]
use super::live::{list, read as live};

#[cfg(not(feature = "cluster"))]
fn live(_: &ConnectionArgs, targets: &[String], _: bool) -> Result<Gathered, Failure> {
    let hint = format!("kubectl get {} -o yaml, then -f", targets.join(" "));
    Err(Failure::new("this build has no cluster client").hint(hint))
}

#[cfg(not(feature = "cluster"))]
fn list(_: &ConnectionArgs, _: &Scope<'_>) -> Result<Gathered, Failure> {
    let hint = "kubectl get deployments,pods -o yaml, then -f -";
    Err(Failure::new("this build has no cluster client").hint(hint))
}

/// The version that a flag names.
pub fn version(text: &str) -> Result<KubeVersion, Failure> {
    text.parse()
        .map_err(|error: UnknownVersion| Failure::new(error.to_string()))
}

/// A path that is not there, with a look around for what could be meant.
pub fn missing(error: LoadError, paths: &[PathBuf]) -> Failure {
    let failure = Failure::new(error.to_string());
    let absent = paths
        .iter()
        .find(|path| !path.exists() && path.as_os_str() != "-");
    match absent.and_then(|path| sibling(path)) {
        Some(near) => failure.hint(format!("there is a {near:?}")),
        None => failure,
    }
}

/// A file beside the missing one with the same stem.
fn sibling(path: &Path) -> Option<String> {
    let endings = ["yaml", "yml", "json"].iter();
    let near = endings
        .map(|ending| path.with_extension(ending))
        .find(|near| near.exists());
    near.map(|near| near.display().to_string())
}

fn nothing_found(input: &InputArgs, run: &Run, command: &str) -> Failure {
    let quoted = |path: &PathBuf| format!("{:?}", path.display().to_string());
    let names: Vec<String> = input.filename.iter().map(quoted).collect();
    let count = crate::render::counted(run.files.len(), "file");
    let failure = Failure::new(format!(
        "no pod template in {} ({count} read)",
        names.join(", ")
    ));
    if run.files.iter().any(|file| file.is_template) {
        return failure.hint(format!(
            "templates are not manifests: helm template chart | kubectl startorder {command} -f -"
        ));
    }
    match input.filename.iter().any(|path| path.is_dir()) && !input.recursive {
        true => failure.hint("folders below are read with -R"),
        false => failure,
    }
}
