//! Folds the lines of a watch into one timeline for each pod.

use super::attempts::{Draft, drafts, group, instances, numbers};
use super::bounds::{Bounds, initializations, pod_observations};
use super::clock::{ClockOffset, in_order};
use super::instant::Instant;
use super::observation::{EventObject, EventSeen, ExitStatus, Observation, PodSeen, State};
use super::recording::{Change, ChangeKind, Header, Line, Stream};
use super::unseen;
use crate::manifest::Document;
use crate::plan::{Constraint, Event, Milestone};
use crate::pod::{KubeVersion, Object, PodTemplate, Role, Workload, workload};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// All that was seen so far. Lines are pushed as they come; a picture may be asked for at any time.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    header: Header,
    version: Option<KubeVersion>,
    lines: usize,
    /// In the order in which they were first heard of.
    pods: Vec<PodLog>,
    gaps: Vec<Gap>,
    last_line: Option<Timestamp>,
}

/// A stretch of which nothing is known: the watch had to begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Which watch.
    pub stream: Stream,
    /// The last line before it, on the watcher's clock.
    pub from: Option<Timestamp>,
    /// When the list began that ends it, on the watcher's clock.
    pub until: Timestamp,
}

/// What was seen of one pod, line by line.
#[derive(Clone, Debug, Default)]
struct PodLog {
    uid: String,
    namespace: String,
    name: String,
    node: Option<String>,
    spec: Value,
    workload: Option<Workload>,
    constraints: Option<Vec<Constraint>>,
    statuses: Vec<PodSeen>,
    events: Vec<EventSeen>,
    /// Event objects by name, with the count that was last told.
    told: BTreeMap<String, u64>,
}

/// What is known of one pod.
#[derive(Clone, Debug)]
pub struct PodTimeline {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `spec.nodeName`, once it is scheduled.
    pub node: Option<String>,
    /// The pod as it was last seen: its spec, read.
    pub workload: Workload,
    /// The constraints that a recording brought along; none when they are to be computed.
    pub constraints: Option<Vec<Constraint>>,
    /// The kubelet's version, if it is known.
    pub version: Option<KubeVersion>,
    /// The containers in the kubelet's order, ephemeral ones last.
    pub containers: Vec<ContainerTimeline>,
    /// The pod's own milestones, by time.
    pub observations: Vec<Observation>,
    /// How the watcher's clock relates to the kubelet's.
    pub offset: ClockOffset,
    /// `status.phase`, as it was last told.
    pub phase: String,
    /// Whether the pod was last told to be Ready.
    pub is_ready: bool,
    /// When deletion was asked for, if it was.
    pub deletion: Option<Deletion>,
    /// Whether the pod is gone.
    pub is_deleted: bool,
    /// Occurrences of kubelet events that came; from 25 on some may have been dropped (S21).
    pub events: usize,
    /// Stretches in which something may have been missed.
    pub gaps: Vec<Gap>,
}

/// A deletion that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// When the API server took it; whole seconds, on its own clock.
    pub asked: Instant,
    /// `deletionGracePeriodSeconds`.
    pub grace_seconds: i64,
}

/// What is known of one container.
#[derive(Clone, Debug)]
pub struct ContainerTimeline {
    /// Its name.
    pub name: String,
    /// What the kubelet takes it for.
    pub role: Role,
    /// Its starts, in order; the last one may be a pull so far.
    pub attempts: Vec<Attempt>,
    /// Why it waits, as the last status tells: the kubelet's reason and its message.
    pub waiting: Option<(String, Option<String>)>,
}

impl ContainerTimeline {
    /// The tries of one initialization of the pod.
    pub fn in_initialization(&self, initialization: u32) -> impl Iterator<Item = &Attempt> {
        self.attempts
            .iter()
            .filter(move |attempt| attempt.initialization == initialization)
    }
}

/// One start of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// Which initialization of the pod it belongs to, from 1.
    pub initialization: u32,
    /// When the pull began, if there was one.
    pub pulling: Option<Instant>,
    /// When the image was there.
    pub pulled: Option<Instant>,
    /// When the container was made.
    pub created: Option<Instant>,
    /// When its process started; for a Tekton step, when its own command did.
    pub started: Option<Instant>,
    /// When the process started that waited for the step's turn.
    pub entrypoint: Option<Instant>,
    /// What is known of its postStart hook; none without a hook, or when nothing is known of it.
    pub hook: Option<Hook>,
    /// When its startupProbe passed.
    pub startup_passed: Option<Instant>,
    /// Whether that upper bound is the kubelet going on to the next container.
    pub is_startup_inferred: bool,
    /// Each change of `ready`.
    pub ready: Vec<(bool, Instant)>,
    /// When the kubelet began to stop it.
    pub killing: Option<Instant>,
    /// When its process ended, and how.
    pub exit: Option<(Instant, ExitStatus)>,
    /// Whether the exit's upper bound is the kubelet going on to the next container.
    pub is_exit_inferred: bool,
    /// When the last attempt of the start itself went wrong (image, configuration), if it did.
    pub failed: Option<Instant>,
}

/// A postStart hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// It has begun, and nothing tells of its end.
    Running {
        /// When it began: right after the process started (S3).
        since: Instant,
    },
    /// It returned without an error.
    Returned {
        /// When.
        when: Instant,
        /// The upper bound is the kubelet going on, not a status that was published.
        is_inferred: bool,
    },
    /// It failed, and the kubelet killed the container for it (S3).
    Failed {
        /// When.
        when: Instant,
        /// What the status said about it.
        message: Option<String>,
    },
}

impl Timeline {
    /// An empty timeline. `version` is the kubelet's; none when nobody knows it.
    pub fn new(version: Option<KubeVersion>) -> Timeline {
        Timeline {
            version,
            ..Timeline::default()
        }
    }

    /// An empty timeline for a recording.
    pub fn of_recording(header: &Header) -> Timeline {
        let version = header.kubernetes.as_deref().or(header.server.as_deref());
        Timeline {
            header: header.clone(),
            ..Timeline::new(version.and_then(KubeVersion::reported))
        }
    }

    /// The first line of the recording; empty when there is none.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Takes in one line.
    pub fn push(&mut self, line: &Line) {
        self.lines += 1;
        let before = self.last_line.replace(line.at);
        match &line.change {
            Change::Object {
                stream: Stream::Pods,
                kind,
                object,
            } => self.push_pod(*kind, object, line.at),
            // Events age out of the API; that says nothing about the pod.
            Change::Object {
                stream: Stream::Events,
                kind: ChangeKind::Deleted,
                ..
            } => {}
            Change::Object {
                stream: Stream::Events,
                kind: ChangeKind::Added | ChangeKind::Modified,
                object,
            } => self.push_event(object, line.at),
            Change::Relist(stream) => self.gaps.push(Gap {
                stream: *stream,
                from: before,
                until: line.at,
            }),
            Change::Plan(plan) => {
                self.log(&plan.uid).constraints = Some(plan.constraints.clone());
            }
        }
    }

    /// The latest line, on the watcher's clock: the `now` of a replay.
    pub fn last_line(&self) -> Option<Timestamp> {
        self.last_line
    }

    /// What is known now, one entry for each pod whose spec was seen, in the order of appearance.
    pub fn pods(&self) -> Vec<PodTimeline> {
        let logs = self.pods.iter();
        logs.filter_map(|log| log.fold(self.version, &self.gaps))
            .collect()
    }

    fn log(&mut self, uid: &str) -> &mut PodLog {
        let known = self.pods.iter().position(|log| log.uid == uid);
        let index = known.unwrap_or_else(|| {
            self.pods.push(PodLog {
                uid: uid.to_owned(),
                ..PodLog::default()
            });
            self.pods.len() - 1
        });
        &mut self.pods[index]
    }

    fn push_pod(&mut self, kind: ChangeKind, object: &Value, at: Timestamp) {
        let Some(uid) = object["metadata"]["uid"].as_str() else {
            return;
        };
        let line = self.lines;
        let log = self.log(uid);
        log.read_spec(object);
        let is_deleted = kind == ChangeKind::Deleted;
        log.statuses
            .push(PodSeen::read(object, line, at, is_deleted));
    }

    fn push_event(&mut self, object: &Value, at: Timestamp) {
        let Some(event) = EventObject::read(object) else {
            return;
        };
        let line = self.lines;
        let log = self.log(&event.pod);
        let known = log.told.get(&event.name).copied().unwrap_or(0);
        log.events.extend(event.occurrences(known, line, at));
        log.told.insert(event.name, event.count.max(known));
    }
}

impl PodLog {
    fn read_spec(&mut self, object: &Value) {
        let (metadata, spec) = (&object["metadata"], &object["spec"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.namespace = text(&metadata["namespace"]);
        self.name = text(&metadata["name"]);
        self.node = spec["nodeName"].as_str().map(str::to_owned);
        // It is read again when it changes: ephemeral containers and images may.
        if self.workload.is_some() && self.spec == *spec {
            return;
        }
        let document = Document::from_json(object);
        let objects = workload::read(&document).objects;
        self.workload = objects.iter().find_map(Object::workload).cloned();
        self.spec.clone_from(spec);
    }

    fn fold(&self, version: Option<KubeVersion>, gaps: &[Gap]) -> Option<PodTimeline> {
        let workload = self.workload.clone()?;
        let template = &workload.template;
        let offset = ClockOffset::of(&self.events);
        let events = in_order(&self.events, &offset);
        let names = template.containers.iter();
        let drafts: Vec<Vec<Draft>> = names
            .map(|container| {
                let groups = group(&events, &container.name);
                drafts(&events, groups, instances(&self.statuses, &container.name))
            })
            .collect();
        let initializations = initializations(template, &drafts, &events, &self.statuses, &offset);
        let bounds = Bounds {
            offset,
            events: &events,
            version,
            template,
            drafts: &drafts,
            initializations: &initializations,
        };
        let mut containers: Vec<ContainerTimeline> = (0..drafts.len())
            .map(|index| ContainerTimeline {
                name: template.containers[index].name.clone(),
                role: template.containers[index].role,
                attempts: bounds.attempts(index, &numbers(&drafts[index])),
                waiting: self.waiting(&template.containers[index].name),
            })
            .collect();
        unseen::estimate(&bounds, &mut containers);
        let last = self.statuses.last();
        let ready = last.and_then(|status| status.condition("Ready"));
        let first_line = self.statuses.first().map(|status| status.at);
        Some(PodTimeline {
            uid: self.uid.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            node: self.node.clone(),
            constraints: self.constraints.clone(),
            version,
            observations: pod_observations(&self.events, &events, &self.statuses, &offset),
            containers,
            offset,
            phase: last.and_then(|last| last.phase.clone()).unwrap_or_default(),
            is_ready: ready.is_some_and(|ready| ready.is_true),
            deletion: self.deletion(),
            is_deleted: last.is_some_and(|status| status.is_deleted),
            events: events.len(),
            gaps: gaps
                .iter()
                .filter(|gap| first_line.is_some_and(|first| first < gap.until))
                .copied()
                .collect(),
            workload,
        })
    }

    fn waiting(&self, container: &str) -> Option<(String, Option<String>)> {
        let status = self.statuses.last()?;
        let mut containers = status.containers.iter();
        match &containers.find(|seen| seen.name == container)?.state {
            State::Waiting { reason, message } => Some((reason.clone()?, message.clone())),
            State::Running { .. } | State::Terminated(_) => None,
        }
    }

    fn deletion(&self) -> Option<Deletion> {
        let (end, grace_seconds) = self.statuses.iter().find_map(|status| status.deletion)?;
        let first = self
            .statuses
            .iter()
            .find(|status| status.deletion.is_some())?;
        let grace = jiff::SignedDuration::from_secs(grace_seconds);
        let asked = super::instant::earlier(end, grace);
        let arrival = ClockOffset::NONE.arrival(first.at);
        Some(Deletion {
            asked: arrival.not_before(Some(asked)),
            grace_seconds,
        })
    }
}

impl PodTimeline {
    /// The pod's spec.
    pub fn template(&self) -> &PodTemplate {
        &self.workload.template
    }

    /// `namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// A container by its name.
    pub fn container(&self, name: &str) -> Option<&ContainerTimeline> {
        self.containers
            .iter()
            .find(|container| container.name == name)
    }

    /// How often the pod has been initialized: 1, unless its sandbox was made anew or all its
    /// containers were restarted.
    pub fn initializations(&self) -> u32 {
        let attempts = self
            .containers
            .iter()
            .flat_map(|container| &container.attempts);
        attempts
            .map(|attempt| attempt.initialization)
            .max()
            .unwrap_or(1)
    }

    /// When one of the pod's own events happened first.
    pub fn pod_event(&self, event: Event) -> Option<&Instant> {
        let mut own = self.observations.iter();
        own.find(|observation| observation.milestone.event == event)
            .map(|observation| &observation.when)
    }

    /// Every milestone of the pod and its containers, by time; what is of one moment in the
    /// kubelet's order.
    pub fn milestones(&self) -> Vec<Observation> {
        let mut all = self.observations.clone();
        for container in &self.containers {
            for attempt in &container.attempts {
                all.extend(attempt.observations(&container.name));
            }
        }
        all.sort_by_key(|observation| observation.when.best());
        all
    }
}

impl Attempt {
    /// When this start reached a milestone first.
    pub fn instant(&self, event: Event) -> Option<Instant> {
        let ready = |wanted: bool| {
            let mut changes = self.ready.iter();
            let change = changes.find(|(is_ready, _)| *is_ready == wanted);
            change.map(|(_, when)| *when)
        };
        match event {
            Event::Pulling => self.pulling,
            Event::Pulled => self.pulled,
            Event::Created => self.created,
            Event::Started => self.started,
            Event::PostStartReturned => match &self.hook {
                Some(Hook::Returned { when, .. }) => Some(*when),
                Some(Hook::Failed { .. } | Hook::Running { .. }) | None => None,
            },
            Event::PostStartFailed => match &self.hook {
                Some(Hook::Failed { when, .. }) => Some(*when),
                Some(Hook::Returned { .. } | Hook::Running { .. }) | None => None,
            },
            Event::StartupProbePassed => self.startup_passed,
            Event::Ready => ready(true),
            Event::NotReady => ready(false),
            Event::Exited => self.exit.as_ref().map(|(when, _)| *when),
            Event::Killing => self.killing,
            Event::Scheduled | Event::SandboxReady | Event::Deleted => None,
        }
    }

    fn observations(&self, container: &str) -> Vec<Observation> {
        let once = |events: &[Event]| -> Vec<(Event, Instant)> {
            let events = events.iter();
            events
                .filter_map(|event| Some((*event, self.instant(*event)?)))
                .collect()
        };
        let mut events = once(&[
            Event::Pulling,
            Event::Pulled,
            Event::Created,
            Event::Started,
            Event::PostStartReturned,
            Event::PostStartFailed,
            Event::StartupProbePassed,
        ]);
        events.extend(self.ready.iter().map(|(is_ready, when)| match is_ready {
            true => (Event::Ready, *when),
            false => (Event::NotReady, *when),
        }));
        events.extend(once(&[Event::Killing, Event::Exited]));
        let observation = |(event, when)| Observation {
            milestone: Milestone::of(container, event),
            attempt: self.number,
            initialization: self.initialization,
            when,
            exit: match event {
                Event::Exited => self.exit.as_ref().map(|(_, status)| status.clone()),
                _ => None,
            },
        };
        events.into_iter().map(observation).collect()
    }
}
