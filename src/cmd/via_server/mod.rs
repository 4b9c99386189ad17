//! `--via-server`: the pods of the manifests as the API server would make them.

#[cfg(feature = "cluster")]
mod ask;

use super::input::Gathered;
use crate::admission::Answers;
use crate::cli::ConnectionArgs;
use crate::error::Failure;
use crate::finding::Skipped;
use crate::pod::KubeVersion;
use crate::render::TargetSource;
use crate::run::Run;

/// What the server said about the pods of a run.
#[derive(Default)]
pub struct ViaServer {
    /// The pods that it would make.
    pub answers: Answers,
    /// What it changes, and the templates that stay as they are, for people.
    pub notes: Vec<Skipped>,
    /// The templates about which it could say nothing.
    pub unanswered: Vec<Skipped>,
    /// How many workloads these are.
    pub unanswered_count: usize,
    /// The oldest of its kubelets.
    pub version: Option<(KubeVersion, TargetSource)>,
}

/// Creates the pod of each template for trial; nothing is kept. Objects without a namespace land in
/// the connection's from then on.
#[cfg(feature = "cluster")]
pub fn ask(args: &ConnectionArgs, run: &mut Run) -> Result<ViaServer, Failure> {
    ask::ask(&super::live::connect(args)?, run)
}

/// Says that nobody can be asked.
#[cfg(not(feature = "cluster"))]
pub fn ask(_: &ConnectionArgs, _: &mut Run) -> Result<ViaServer, Failure> {
    let hint = "kubectl create --dry-run=server -o yaml, then -f";
    Err(Failure::new("this build has no cluster client").hint(hint))
}

/// Asks about what a command works on; the version of the server's kubelets is the one to judge by.
pub fn ask_about(args: &ConnectionArgs, gathered: &mut Gathered) -> Result<ViaServer, Failure> {
    let via = ask(args, &mut gathered.run)?;
    if let Some((version, source)) = via.version {
        (gathered.version, gathered.source) = (version, source);
    }
    Ok(via)
}
