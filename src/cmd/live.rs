//! Live objects for `lint` and `explain`: fetched, and read like a manifest of their own.

use crate::cli::ConnectionArgs;
use crate::cluster::{Connection, Environment, Error, Origin, Version, parse_targets};
use crate::error::Failure;
use crate::pod::KubeVersion;
use crate::render::TargetSource;
use crate::run::Run;

/// Objects of a cluster, and the Kubernetes to judge them by.
pub struct LiveRun {
    /// Each object as YAML, the way it is printed.
    pub run: Run,
    /// The oldest version that one of their kubelets has, and who said so.
    pub version: Option<(KubeVersion, TargetSource)>,
}

/// Gets `TYPE/NAME` arguments.
pub fn read(args: &ConnectionArgs, targets: &[String]) -> Result<LiveRun, Failure> {
    let environment = Environment::read(|name| std::env::var_os(name));
    let connection = Connection::open(args, &environment).map_err(failure)?;
    let targets = parse_targets(targets, None).map_err(failure)?;
    let live = connection.objects(&targets).map_err(failure)?;
    let version = live
        .iter()
        .filter_map(|live| version_of(live.version.as_ref()?))
        .min_by_key(|(version, _)| *version);
    let texts = live
        .into_iter()
        .map(|live| Ok((live.name, yaml(&live.object)?)));
    let texts: Vec<(String, String)> = texts.collect::<Result<_, Failure>>()?;
    Ok(LiveRun {
        run: Run::of_texts(texts),
        version,
    })
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
fn yaml(object: &serde_json::Value) -> Result<String, Failure> {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    serde_saphyr::to_string(&object).map_err(|error| Failure::new(error.to_string()))
}
