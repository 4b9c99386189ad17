//! What a picture is made of: the pods with what the kubelet was to do, and how each constraint fared.

use crate::plan::{Basis, Constraint, Event, Milestone, Prior, StartPlan};
use crate::pod::{Container, Role};
use crate::timeline::verdict::{Judgement, Verdict, judge};
use crate::timeline::{Attempt, ContainerTimeline, Instant, PodTimeline, Source};
use jiff::{SignedDuration, Timestamp};

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The watch goes on.
    Live,
    /// It is over: the verdicts are told, and bars that go on reach the end of the axis.
    End,
}

/// One pod with its plan and its verdicts.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What was seen.
    pub pod: PodTimeline,
    /// What the kubelet was to do.
    pub plan: StartPlan,
    /// The constraints, judged: those that a recording brought along, else those of the plan; those
    /// of the stop, once there is one.
    pub judgements: Vec<Judgement>,
    /// What was asked just now about Services that its init containers poll; nothing in a replay.
    pub services: Vec<SeenService>,
}

/// Whether a Service was there when the API server was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenService {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whether it was there.
    pub exists: bool,
}

/// Everything that one picture shows.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The pods, oldest first.
    pub pods: Vec<Shown>,
    /// What was asked for, such as `deploy/web`; none draws what the pods themselves say.
    pub title: Option<String>,
    /// The kubelet's version as it reports it.
    pub kubernetes: Option<String>,
    /// The moment of the picture, on the watcher's clock.
    pub now: Timestamp,
    /// Whether more is to come.
    pub stage: Stage,
}

impl Shown {
    /// Judges a pod by its plan, or by the constraints that its recording holds.
    pub fn new(pod: PodTimeline, plan: StartPlan) -> Shown {
        let mut constraints = match &pod.constraints {
            Some(recorded) => recorded.clone(),
            None => plan.constraints(pod.template()),
        };
        if pod.deletion.is_some() {
            constraints.extend(stop_constraints(&pod, &plan));
        }
        Shown {
            judgements: judge(&pod, &constraints),
            pod,
            plan,
            services: Vec::new(),
        }
    }

    /// Whether a verdict says that a constraint was broken.
    pub fn is_violated(&self) -> bool {
        let mut verdicts = self.judgements.iter().map(|judgement| judgement.verdict);
        verdicts.any(|verdict| verdict == Verdict::Violated)
    }

    /// 0 s: the scheduling, or the first that is known of the pod. The scheduler's clock may be
    /// ahead of the node's: then the kubelet's first instant is 0 s.
    pub(super) fn zero(&self, now: Timestamp) -> Timestamp {
        let scheduled = self.pod.pod_event(Event::Scheduled).and_then(Instant::best);
        let attempts = self.pod.containers.iter();
        let own = attempts.flat_map(|container| &container.attempts);
        let first = own.filter_map(begun).min();
        match (scheduled, first) {
            (Some(scheduled), Some(first)) => scheduled.min(first),
            (scheduled, first) => scheduled.or(first).unwrap_or(now),
        }
    }

    /// The initialization of the pod that goes on, or was the last.
    pub(super) fn current(&self) -> u32 {
        self.pod.initializations()
    }

    /// What the spec says of a container.
    pub(super) fn declared(&self, name: &str) -> Option<&Container> {
        let (_, container) = self.pod.template().container(name)?;
        Some(container)
    }

    /// The names of the containers in the kubelet's order, from the one after `name`.
    pub(super) fn later_than(&self, name: &str) -> impl Iterator<Item = &ContainerTimeline> {
        let position = self.pod.containers.iter().position(|own| own.name == name);
        let later = position.map_or(self.pod.containers.len(), |position| position + 1);
        let containers = self.pod.containers.iter().skip(later);
        containers.filter(|container| container.role != Role::Ephemeral)
    }

    /// The containers in the kubelet's order of starts; while the pod is stopped, in that of stops.
    pub(super) fn in_order(&self) -> Vec<&ContainerTimeline> {
        let containers = &self.pod.containers;
        if !self.is_stopping() {
            return containers.iter().collect();
        }
        let steps = self.plan.stop.iter();
        steps
            .filter_map(|step| containers.get(step.container))
            .collect()
    }

    /// The nearest gate before a container's start.
    pub(super) fn gate_before(&self, container: &ContainerTimeline) -> Option<Prior> {
        let steps = &self.plan.steps;
        let is_own = |at: usize| {
            let own = self.pod.containers.get(at);
            own.is_some_and(|own| own.name == container.name)
        };
        let own = steps.iter().position(|step| is_own(step.container))?;
        let up_to = steps[..=own].iter().rev();
        up_to.map(|step| step.after).find(|prior| prior.is_gate())
    }

    /// When the pod was first ready.
    pub(super) fn ready(&self) -> Option<&Instant> {
        self.pod.pod_event(Event::Ready)
    }

    /// Whether it has been deleted, or is being, after its start was over.
    pub(super) fn is_stopping(&self) -> bool {
        self.pod.deletion.is_some() && self.ready().is_some()
    }

    /// Whether nothing more is expected: gone, Succeeded or Failed.
    pub(super) fn is_over(&self) -> bool {
        self.pod.is_deleted || matches!(self.pod.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether the app started although what it waits for had failed or had not come.
    pub(super) fn violation(&self, dependent: &str) -> Option<&Judgement> {
        let mut violated = self
            .judgements
            .iter()
            .filter(|judgement| judgement.verdict == Verdict::Violated);
        violated.find(|judgement| {
            let after = &judgement.constraint.after;
            after.container.as_deref() == Some(dependent) && after.event == Event::Started
        })
    }

    /// Whether somebody needs this container and nothing holds them until it serves.
    pub(super) fn is_needed(&self, provider: &str) -> bool {
        self.judgements.iter().any(|judgement| {
            let constraint = &judgement.constraint;
            constraint.basis == Basis::Needed
                && constraint.before.container.as_deref() == Some(provider)
        })
    }
}

/// The first that is known of a start.
pub(super) fn begun(attempt: &Attempt) -> Option<Timestamp> {
    let known = [
        attempt.pulling,
        attempt.pulled,
        attempt.created,
        attempt.started,
        attempt.failed,
    ];
    known.iter().flatten().filter_map(Instant::best).min()
}

/// Whether an instant is known by its second only: its event is lost.
pub(super) fn is_vague(when: &Instant) -> bool {
    let width = when.width();
    let is_wide = width.is_none_or(|width| width > SignedDuration::from_millis(200));
    when.source == Source::Status && is_wide
}

/// The order of SIGTERM (S16), each container held against the one that it waits for last.
fn stop_constraints(pod: &PodTimeline, plan: &StartPlan) -> Vec<Constraint> {
    let containers = &pod.template().containers;
    let mut found = Vec::new();
    for step in &plan.stop {
        let is_sidecar = |at: &&usize| containers[**at].role == Role::Sidecar;
        // A later sidecar has itself waited for everything that comes before it.
        let nearest = step.after.iter().filter(is_sidecar).min();
        let apps = step.after.iter().filter(|_| nearest.is_none());
        for before in nearest.into_iter().chain(apps) {
            found.push(Constraint {
                before: Milestone::of(&containers[*before].name, Event::Exited),
                after: Milestone::of(&containers[step.container].name, Event::Exited),
                basis: Basis::Enforced,
                is_assumed: false,
                role: containers[*before].role,
            });
        }
    }
    found
}
