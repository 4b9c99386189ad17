//! The kubelet's sequence: which container starts when what has happened.
//!
//! The facts (`Sn`) are those of `docs/start-sequence.md`.

use super::constraint::{Basis, Constraint, Event, Milestone};
use super::gate::Hold;
use super::needs::Need;
use crate::pod::{Container, KubeVersion, PodTemplate, Role};

/// What must have happened before a container's start is tried. Containers by their place in
/// [`PodTemplate::containers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// Sandbox and volumes are ready.
    SandboxReady,
    /// An init container has exited with 0.
    Exited(usize),
    /// A native sidecar's startupProbe has passed.
    StartupProbePassed(usize),
    /// A container's postStart hook has returned.
    PostStartReturned(usize),
    /// A native sidecar's process runs.
    Runs(usize),
    /// The start of an app container has returned.
    StartReturned(usize),
}

impl Prior {
    /// The container that is waited for.
    pub fn container(self) -> Option<usize> {
        match self {
            Prior::SandboxReady => None,
            Prior::Exited(container)
            | Prior::StartupProbePassed(container)
            | Prior::PostStartReturned(container)
            | Prior::Runs(container)
            | Prior::StartReturned(container) => Some(container),
        }
    }

    /// The event that is waited for.
    pub fn event(self) -> Event {
        match self {
            Prior::SandboxReady => Event::SandboxReady,
            Prior::Exited(_) => Event::Exited,
            Prior::StartupProbePassed(_) => Event::StartupProbePassed,
            Prior::PostStartReturned(_) => Event::PostStartReturned,
            Prior::Runs(_) | Prior::StartReturned(_) => Event::Started,
        }
    }

    /// Whether it takes more than the start of a process.
    pub fn is_gate(self) -> bool {
        matches!(
            self,
            Prior::Exited(_) | Prior::StartupProbePassed(_) | Prior::PostStartReturned(_)
        )
    }
}

/// One container's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The container, by its place in [`PodTemplate::containers`].
    pub container: usize,
    /// What a kubelet of this version takes it for.
    pub role: Role,
    /// What must have happened before.
    pub after: Prior,
    /// How firmly.
    pub basis: Basis,
}

/// One container's end, when the whole pod is stopped (S16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopStep {
    /// The container.
    pub container: usize,
    /// The containers that have to be gone before it is sent SIGTERM.
    pub after: Vec<usize>,
}

/// What the kubelet will do with a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartPlan {
    /// The kubelet's version.
    pub version: KubeVersion,
    /// The containers in the order in which they are started.
    pub steps: Vec<Step>,
    /// Who needs whom, and what holds it.
    pub needs: Vec<Need>,
    /// The order of SIGTERM.
    pub stop: Vec<StopStep>,
    /// An init container that never ends, so that nothing after it starts: a native sidecar below
    /// 1.29, where its restart policy is dropped.
    pub never_ends: Option<usize>,
}

/// What a kubelet of this version takes a container for: below 1.29 a native sidecar is a plain
/// init container (feature gate `SidecarContainers`, S11).
pub fn role_at(container: &Container, version: KubeVersion) -> Role {
    match container.role {
        Role::Sidecar if !version.has_native_sidecars() => Role::Init,
        role => role,
    }
}

/// Predicts the start and the stop of a pod; `needs` are those of [`super::needs::find`].
pub fn predict(template: &PodTemplate, version: KubeVersion, needs: Vec<Need>) -> StartPlan {
    let roles: Vec<Role> = template
        .containers
        .iter()
        .map(|container| role_at(container, version))
        .collect();
    let mut steps: Vec<Step> = Vec::new();
    for (container, role) in roles
        .iter()
        .enumerate()
        .filter(|(_, role)| **role != Role::Ephemeral)
    {
        let (after, basis) = match steps.last() {
            None => (Prior::SandboxReady, Basis::Enforced),
            Some(before) => prior(
                before.container,
                &template.containers[before.container],
                before.role,
            ),
        };
        steps.push(Step {
            container,
            role: *role,
            after,
            basis,
        });
    }
    let dropped = |step: &&Step| {
        template.containers[step.container].role == Role::Sidecar && step.role == Role::Init
    };
    StartPlan {
        version,
        never_ends: steps.iter().find(dropped).map(|step| step.container),
        stop: stop(&roles),
        steps,
        needs,
    }
}

/// What the container after this one waits for.
fn prior(at: usize, container: &Container, role: Role) -> (Prior, Basis) {
    let has_hook = container.post_start.is_some();
    match role {
        // S4: the next init container needs exit code 0.
        Role::Init => (Prior::Exited(at), Basis::Enforced),
        // S6: running, and the startupProbe's success if it has one; the hook has returned by then.
        Role::Sidecar if container.startup.is_some() => {
            (Prior::StartupProbePassed(at), Basis::Enforced)
        }
        Role::Sidecar if has_hook => (Prior::PostStartReturned(at), Basis::Enforced),
        Role::Sidecar => (Prior::Runs(at), Basis::Enforced),
        // S1: the loop waits for each start and ignores its error.
        Role::App | Role::Ephemeral if has_hook => (Prior::PostStartReturned(at), Basis::Attempted),
        Role::App | Role::Ephemeral => (Prior::StartReturned(at), Basis::Attempted),
    }
}

/// S16: a native sidecar waits for all app containers and for every later sidecar; an app
/// container waits for nobody.
fn stop(roles: &[Role]) -> Vec<StopStep> {
    let at_stop = |role: &Role| matches!(role, Role::App | Role::Sidecar);
    let mut order: Vec<usize> = (0..roles.len())
        .filter(|at| roles[*at] == Role::App)
        .collect();
    order.extend(
        (0..roles.len())
            .rev()
            .filter(|at| roles[*at] == Role::Sidecar),
    );
    let after = |at: usize| match roles[at] {
        Role::Sidecar => (at + 1..roles.len())
            .filter(|later| at_stop(&roles[*later]))
            .collect(),
        Role::Init | Role::App | Role::Ephemeral => Vec::new(),
    };
    order
        .into_iter()
        .map(|at| StopStep {
            container: at,
            after: after(at),
        })
        .collect()
}

impl StartPlan {
    /// The step that starts a container.
    pub fn step(&self, container: usize) -> Option<&Step> {
        self.steps.iter().find(|step| step.container == container)
    }

    /// What an observer can hold against what happened: each gate of the sequence, and each need
    /// that nothing holds.
    pub fn constraints(&self, template: &PodTemplate) -> Vec<Constraint> {
        let name = |container: usize| template.containers[container].name.as_str();
        let gates = self
            .steps
            .iter()
            .filter(|step| step.after.is_gate())
            .filter_map(|step| {
                let before = step.after.container()?;
                Some(Constraint {
                    before: Milestone::of(name(before), step.after.event()),
                    after: Milestone::of(name(step.container), Event::Started),
                    basis: step.basis,
                    is_assumed: self.needs.iter().any(|need| {
                        need.provider == before
                            && matches!(
                                need.hold,
                                Hold::PostStart {
                                    is_assumed: true,
                                    ..
                                }
                            )
                    }),
                    role: self.step(before)?.role,
                })
            });
        let open = self
            .needs
            .iter()
            .filter(|need| need.is_open())
            .filter_map(|need| {
                Some(Constraint {
                    before: Milestone::of(name(need.provider), Event::Started),
                    after: Milestone::of(name(need.dependent), Event::Started),
                    basis: Basis::Needed,
                    is_assumed: false,
                    role: self.step(need.provider)?.role,
                })
            });
        gates.chain(open).collect()
    }
}
