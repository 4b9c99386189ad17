//! What a rule about the whole run is given.

use crate::plan::StartPlan;
use crate::plan::profile::Profile;
use crate::pod::Workload;
use crate::run::Run;

/// One workload of the run with all that is known of it.
#[derive(Debug)]
pub struct Subject<'r> {
    /// Which source of the run.
    pub source: usize,
    /// Which document of the source.
    pub document: usize,
    /// The workload.
    pub workload: &'r Workload,
    /// What the kubelet will do with it.
    pub plan: StartPlan,
    /// What each container says of itself; empty for a lone container without a hook.
    pub profiles: Vec<Profile<'r>>,
}

/// All workloads and other objects of the run.
#[derive(Clone, Copy)]
pub struct Together<'r> {
    /// What was read.
    pub run: &'r Run,
    /// Every workload, in the order of files and documents.
    pub subjects: &'r [Subject<'r>],
}
