//! Live objects for `lint` and `explain`: fetched, and read like a manifest of their own.

use super::input::{Gathered, Scope};
use crate::cli::ConnectionArgs;
use crate::cluster::{self, Connection, Environment, Error, Named, Origin, Version};
use crate::error::Failure;
use crate::finding::{Finding, Skipped};
use crate::pod::template::VolumeSource;
use crate::pod::{KubeVersion, PodTemplate};
use crate::render::TargetSource;
use crate::run::Run;
use serde_json::Value;
use std::collections::BTreeSet;

/// The most ConfigMaps that are asked for; each is a request.
const CONFIG_MAPS: usize = 50;

/// A way to the server that the flags name.
pub fn connect(args: &ConnectionArgs) -> Result<Connection, Failure> {
    let environment = Environment::read(|name| std::env::var_os(name));
    Connection::open(args, &environment).map_err(failure)
}

/// Gets `TYPE/NAME` arguments. With `wants_relatives` also the pods that they made, to be compared.
pub fn read(
    args: &ConnectionArgs,
    targets: &[String],
    wants_relatives: bool,
) -> Result<Gathered, Failure> {
    let connection = connect(args)?;
    let targets = cluster::parse_targets(targets, None).map_err(failure)?;
    let live = connection.objects(&targets).map_err(failure)?;
    let version = live
        .iter()
        .filter_map(|live| version_of(live.version.as_ref()?))
        .min_by_key(|(version, _)| *version);
    let of_interest = live.iter().filter(|_| wants_relatives);
    let relatives = of_interest.flat_map(|live| connection.relatives(&live.object));
    let beside: Vec<Named> = relatives.collect();
    let found = live.into_iter().map(|live| Named {
        name: live.name,
        object: live.object,
    });
    let mut run = run(found.collect(), beside)?;
    if wants_relatives {
        add_surroundings(&connection, &mut run)?;
    }
    Ok(gathered(run, version))
}

/// Lists workloads by labels or by namespace.
pub fn list(args: &ConnectionArgs, scope: &Scope<'_>) -> Result<Gathered, Failure> {
    let connection = connect(args)?;
    let wanted = cluster::Scope {
        all_namespaces: scope.all_namespaces,
        labels: scope.selector.map(str::to_owned),
    };
    let inventory = connection.inventory(&wanted).map_err(failure)?;
    if inventory.found.is_empty() {
        return Err(nothing(&connection, scope, &inventory.refused));
    }
    let version = inventory.version.as_ref().and_then(version_of);
    let beside = [inventory.made, inventory.around].concat();
    let mut run = run(inventory.found, beside)?;
    if !scope.all_namespaces {
        add_surroundings(&connection, &mut run)?;
    }
    let refused = inventory.refused.into_iter();
    let notes = refused.map(|(resource, words)| Skipped {
        file: resource,
        position: None,
        reason: format!("not looked at: {words}"),
    });
    Ok(Gathered {
        notes: notes.collect(),
        ..gathered(run, version)
    })
}

fn nothing(connection: &Connection, scope: &Scope<'_>, refused: &[(String, String)]) -> Failure {
    let space = match scope.all_namespaces {
        true => "any namespace".to_owned(),
        false => format!("namespace {:?}", connection.namespace()),
    };
    let labels = scope.selector.map(|labels| format!(" of -l {labels}"));
    let labels = labels.unwrap_or_default();
    let failure = Failure::new(format!("no workloads{labels} in {space}"));
    match refused.first() {
        Some((_, words)) => failure.hint(words.clone()),
        None if scope.all_namespaces => failure,
        None => failure.hint("-n names another namespace, -A means all of them"),
    }
}

fn gathered(run: Run, version: Option<(KubeVersion, TargetSource)>) -> Gathered {
    let (version, source) = version.unwrap_or((KubeVersion::NEWEST, TargetSource::Default));
    Gathered {
        run,
        version,
        source,
        notes: Vec::new(),
    }
}

/// The objects to judge, then those that stand beside them.
fn run(found: Vec<Named>, beside: Vec<Named>) -> Result<Run, Failure> {
    let judged = found.len();
    let texts = found.into_iter().chain(beside);
    let texts = texts.map(|named| Ok((named.name, yaml(&named.object)?)));
    let texts: Vec<(String, String)> = texts.collect::<Result<_, Failure>>()?;
    let mut run = Run::of_texts(texts);
    for file in run.files.iter_mut().skip(judged) {
        file.is_beside = true;
    }
    Ok(run)
}

/// Adds the Namespace, whose labels ask for injection, and the ConfigMaps that the pods read. What
/// may not be read is left out: then less is known, and nothing is claimed.
fn add_surroundings(connection: &Connection, run: &mut Run) -> Result<(), Failure> {
    let mut maps = BTreeSet::new();
    for (_, _, workload) in run.workloads() {
        maps.extend(config_maps(&workload.template));
    }
    let mut names = vec![("namespaces", connection.namespace().to_owned())];
    let maps = maps.into_iter().take(CONFIG_MAPS);
    names.extend(maps.map(|name| ("configmaps", name)));
    let texts = connection.surroundings(&names).into_iter();
    let texts: Vec<(String, String)> = texts
        .map(|named| Ok((named.name, yaml(&named.object)?)))
        .collect::<Result<_, Failure>>()?;
    for mut file in Run::of_texts(texts).files {
        file.is_beside = true;
        run.files.push(file);
    }
    Ok(())
}

fn config_maps(template: &PodTemplate) -> BTreeSet<String> {
    let of_volumes = template
        .volumes
        .iter()
        .filter_map(|volume| match &volume.source {
            VolumeSource::ConfigMap(name) => Some(name),
            VolumeSource::EmptyDir
            | VolumeSource::HostPath(_)
            | VolumeSource::Claim(_)
            | VolumeSource::Secret(_)
            | VolumeSource::Csi(_)
            | VolumeSource::Other(_) => None,
        });
    let containers = template.containers.iter();
    let of_env = containers.flat_map(|container| {
        let single = container.env.iter().filter_map(|entry| entry.from.as_ref());
        let all = single.chain(&container.env_from);
        all.filter(|key| !key.secret).map(|key| &key.name)
    });
    of_volumes.chain(of_env).cloned().collect()
}

/// Adds to findings about lost fields who changes pods in the cluster, as far as that may be read.
pub fn name_suspects(args: &ConnectionArgs, findings: &mut [Finding]) {
    let mut lost = findings
        .iter_mut()
        .filter(|finding| finding.rule == "order-field-lost")
        .peekable();
    if lost.peek().is_none() {
        return;
    }
    let Ok(connection) = connect(args) else {
        return;
    };
    let suspects = connection.changes_pods();
    if suspects.is_empty() {
        return;
    }
    let note = format!("pods are changed by {}", suspects.join(", "));
    lost.for_each(|finding| finding.notes.push(note.clone()));
}

/// What the cluster client says, passed on.
pub fn failure(error: Error) -> Failure {
    let failure = Failure::passed(error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// A version that a cluster reports, and who said so.
pub fn version_of(version: &Version) -> Option<(KubeVersion, TargetSource)> {
    let source = match version.origin {
        Origin::Node(_) | Origin::OldestNode(_) => TargetSource::Kubelet,
        Origin::Server => TargetSource::Server,
    };
    Some((KubeVersion::reported(&version.text)?, source))
}

/// The object as people see it with `kubectl get -o yaml`, without its status.
fn yaml(object: &Value) -> Result<String, Failure> {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    serde_saphyr::to_string(&object).map_err(|error| Failure::new(error.to_string()))
}
