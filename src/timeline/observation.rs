//! What one line of a watch says, and what is concluded from all of them.

use super::instant::Instant;
use super::recording::time;
use super::tekton;
use crate::plan::Milestone;
use jiff::Timestamp;
use serde_json::Value;

/// A milestone that was reached: which try, in which initialization of the pod, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What happened, to whom.
    pub milestone: Milestone,
    /// The container's start that it belongs to, from 1; 1 for the pod's own.
    pub attempt: u32,
    /// The pod's initialization that it belongs to, from 1: a new sandbox or RestartAllContainers
    /// begins another, and gates hold anew in each (S12).
    pub initialization: u32,
    /// When.
    pub when: Instant,
    /// The exit, for `Event::Exited`.
    pub exit: Option<ExitStatus>,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitStatus {
    /// Its exit code, where the API told it.
    pub code: Option<i64>,
    /// The runtime's or the kubelet's word for it: `Completed`, `Error`, `OOMKilled`.
    pub reason: Option<String>,
}

/// Which probe an event speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeKind {
    Startup,
    Readiness,
    Liveness,
}

/// What an event says, by its reason; the message only where the reason says too little (S21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Scheduled,
    SandboxChanged,
    Pulling,
    Pulled,
    Created,
    Started,
    PostStartFailed,
    KillingAfterHook,
    Killing,
    Unhealthy(ProbeKind),
    BackOffRestart,
    BackOffPull,
    Failed,
    Other,
}

impl Word {
    fn read(object: &Value) -> Word {
        let message = object["message"].as_str().unwrap_or_default();
        let is_warning = object["type"] == "Warning";
        match object["reason"].as_str().unwrap_or_default() {
            "Scheduled" => Word::Scheduled,
            "SandboxChanged" => Word::SandboxChanged,
            "Pulling" => Word::Pulling,
            "Pulled" => Word::Pulled,
            "Created" => Word::Created,
            "Started" => Word::Started,
            "FailedPostStartHook" => Word::PostStartFailed,
            "Killing" if message == "FailedPostStartHook" => Word::KillingAfterHook,
            "Killing" => Word::Killing,
            "Unhealthy" if message.starts_with("Startup") => Word::Unhealthy(ProbeKind::Startup),
            "Unhealthy" if message.starts_with("Readiness") => {
                Word::Unhealthy(ProbeKind::Readiness)
            }
            "Unhealthy" => Word::Unhealthy(ProbeKind::Liveness),
            "BackOff" if is_warning => Word::BackOffRestart,
            "BackOff" => Word::BackOffPull,
            "Failed" => Word::Failed,
            _ => Word::Other,
        }
    }

    /// Whether the pod's own worker emits it: then no hook of that worker runs at that moment
    /// (S1), and no container of the pod is being started. Probes have workers of their own.
    pub(super) fn is_of_the_worker(self) -> bool {
        match self {
            Word::Pulling
            | Word::Pulled
            | Word::Created
            | Word::Started
            | Word::PostStartFailed
            | Word::KillingAfterHook
            | Word::Killing
            | Word::SandboxChanged
            | Word::BackOffRestart
            | Word::BackOffPull
            | Word::Failed => true,
            Word::Scheduled | Word::Unhealthy(_) | Word::Other => false,
        }
    }
}

/// Which occurrence of an event a line tells of, and what it says about its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// The first, with the nanoseconds of its name or its `eventTime`.
    Exact(Timestamp),
    /// One of which only the second is known: `lastTimestamp`.
    Second(Timestamp),
}

/// One occurrence of an event of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventSeen {
    /// When it reached the watcher.
    pub(super) at: Timestamp,
    /// The container, from `involvedObject.fieldPath`.
    pub(super) container: Option<String>,
    pub(super) word: Word,
    pub(super) occurrence: Occurrence,
    /// Which occurrence of its event it is, from 1.
    pub(super) ordinal: u64,
    /// Whether a kubelet made it.
    pub(super) is_of_kubelet: bool,
    /// Its place among the occurrences of all events: one goroutine posts a node's events in the
    /// order in which they were made (S21), and the API server numbers what is posted. None for a
    /// first occurrence that a repeat has overwritten.
    pub(super) place: Option<u64>,
    /// The time of the occurrence was read from `eventTime` rather than the name.
    pub(super) is_event_time: bool,
}

/// An event object as one line shows it.
#[derive(Clone, Debug)]
pub(super) struct EventObject {
    /// `metadata.name`: the key under which repeats are counted.
    pub(super) name: String,
    /// `involvedObject.uid`.
    pub(super) pod: String,
    /// How often it has occurred.
    pub(super) count: u64,
    /// `metadata.resourceVersion`, where it is a number.
    version: Option<u64>,
    first: Occurrence,
    last: Option<Timestamp>,
    container: Option<String>,
    word: Word,
    is_of_kubelet: bool,
    is_event_time: bool,
    /// Its later occurrences may be those of other containers (S21, aggregation).
    is_combined: bool,
}

impl EventObject {
    /// Reads an event of a pod; none for other objects' events and for what has no time at all.
    pub(super) fn read(object: &Value) -> Option<EventObject> {
        let involved = &object["involvedObject"];
        if involved["kind"] != "Pod" {
            return None;
        }
        let name = object["metadata"]["name"].as_str()?;
        let event_time = time(&object["eventTime"]);
        let first_second = time(&object["firstTimestamp"]);
        let last = time(&object["lastTimestamp"]);
        let named = nanoseconds(name, first_second.or(event_time));
        let first = named
            .or(event_time)
            .map(Occurrence::Exact)
            .or(first_second.or(last).map(Occurrence::Second))?;
        let component = object["reportingComponent"].as_str();
        let component = component.filter(|component| !component.is_empty());
        let component = component.or(object["source"]["component"].as_str());
        let series = object["series"]["count"].as_u64();
        Some(EventObject {
            name: name.to_owned(),
            pod: involved["uid"].as_str()?.to_owned(),
            version: object["metadata"]["resourceVersion"]
                .as_str()
                .and_then(|version| version.parse().ok()),
            count: object["count"].as_u64().or(series).unwrap_or(1).max(1),
            first,
            last,
            container: involved["fieldPath"].as_str().and_then(container_of),
            word: Word::read(object),
            is_of_kubelet: component == Some("kubelet"),
            is_event_time: named.is_none() && event_time.is_some(),
            is_combined: object["message"]
                .as_str()
                .is_some_and(|message| message.starts_with("(combined from similar events)")),
        })
    }

    /// The occurrences that this line is the first to tell of, when `known` were told before.
    pub(super) fn occurrences(&self, known: u64, line: usize, at: Timestamp) -> Vec<EventSeen> {
        let place = self.version.or(u64::try_from(line).ok());
        let mut found = Vec::new();
        let seen = |occurrence, ordinal, place| EventSeen {
            at,
            container: self.container.clone(),
            word: self.word,
            occurrence,
            ordinal,
            is_of_kubelet: self.is_of_kubelet,
            place,
            is_event_time: self.is_event_time,
        };
        if known == 0 {
            found.push(seen(self.first, 1, place.filter(|_| self.count == 1)));
        }
        if self.count > known.max(1)
            && !self.is_combined
            && let Some(last) = self.last
        {
            found.push(seen(Occurrence::Second(last), self.count, place));
        }
        found
    }
}

/// The nanoseconds in an event's name: hexadecimal after the last dot (S21). A UUID, or a number
/// that contradicts the second in the object, is none.
fn nanoseconds(name: &str, second: Option<Timestamp>) -> Option<Timestamp> {
    let (_, suffix) = name.rsplit_once('.')?;
    let nanoseconds = i128::from(u64::from_str_radix(suffix, 16).ok()?);
    let at = Timestamp::from_nanosecond(nanoseconds).ok()?;
    (at.as_second() - second?.as_second())
        .abs()
        .le(&1)
        .then_some(at)
}

/// `app` of `spec.containers{app}`.
fn container_of(field_path: &str) -> Option<String> {
    let (_, rest) = field_path.split_once('{')?;
    Some(rest.strip_suffix('}')?.to_owned())
}

/// How one instance of a container ended, as a status tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) id: Option<String>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Option<Timestamp>,
    /// When the command of a Tekton step began.
    pub(super) turn: Option<Timestamp>,
    pub(super) status: ExitStatus,
}

impl Ended {
    fn read(value: &Value, fallback_id: Option<&str>) -> Ended {
        let id = value["containerID"].as_str().or(fallback_id);
        // A process that never ran has the epoch, or nothing, for its start.
        let real = |at: &Timestamp| at.as_second() > 0;
        Ended {
            id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            started_at: time(&value["startedAt"]).filter(real),
            finished_at: time(&value["finishedAt"]).filter(real),
            turn: value["message"].as_str().and_then(tekton::began),
            status: ExitStatus {
                code: value["exitCode"].as_i64(),
                reason: value["reason"].as_str().map(str::to_owned),
            },
        }
    }

    /// The runtime made the container and could not start its process.
    pub(super) fn never_ran(&self) -> bool {
        let reason = self.status.reason.as_deref();
        matches!(reason, Some("StartError" | "ContainerCannotRun"))
    }
}

/// The state of a container in a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting {
        reason: Option<String>,
        message: Option<String>,
    },
    Running {
        started_at: Option<Timestamp>,
    },
    Terminated(Ended),
}

/// A container in a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContainerSeen {
    pub(super) name: String,
    pub(super) restarts: u32,
    pub(super) id: Option<String>,
    pub(super) state: State,
    pub(super) last: Option<Ended>,
    pub(super) is_started: bool,
    pub(super) is_ready: bool,
}

impl ContainerSeen {
    fn read(value: &Value) -> Option<ContainerSeen> {
        let id = value["containerID"].as_str().filter(|id| !id.is_empty());
        let (state, last) = (&value["state"], &value["lastState"]["terminated"]);
        let text = |key: &str| state["waiting"][key].as_str().map(str::to_owned);
        let state = if state["running"].is_object() {
            State::Running {
                started_at: time(&state["running"]["startedAt"]),
            }
        } else if state["terminated"].is_object() {
            State::Terminated(Ended::read(&state["terminated"], None))
        } else {
            State::Waiting {
                reason: text("reason"),
                message: text("message"),
            }
        };
        let restarts = value["restartCount"].as_u64().unwrap_or(0);
        Some(ContainerSeen {
            name: value["name"].as_str()?.to_owned(),
            restarts: u32::try_from(restarts).unwrap_or(u32::MAX),
            id: id.map(str::to_owned),
            state,
            last: last.is_object().then(|| Ended::read(last, None)),
            is_started: value["started"] == true,
            is_ready: value["ready"] == true,
        })
    }
}

/// A condition of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) kind: String,
    pub(super) is_true: bool,
    pub(super) since: Option<Timestamp>,
    pub(super) reason: Option<String>,
}

/// A pod's status as one line shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodSeen {
    pub(super) line: usize,
    pub(super) at: Timestamp,
    pub(super) is_deleted: bool,
    pub(super) phase: Option<String>,
    pub(super) start_time: Option<Timestamp>,
    /// When the grace period ends, on the API server's clock, and how long it is in seconds.
    pub(super) deletion: Option<(Timestamp, i64)>,
    pub(super) conditions: Vec<Condition>,
    pub(super) containers: Vec<ContainerSeen>,
}

impl PodSeen {
    pub(super) fn read(object: &Value, line: usize, at: Timestamp, is_deleted: bool) -> PodSeen {
        let (metadata, status) = (&object["metadata"], &object["status"]);
        let items = |key: &str| status[key].as_array().into_iter().flatten();
        let conditions = items("conditions").filter_map(|condition| {
            Some(Condition {
                kind: condition["type"].as_str()?.to_owned(),
                is_true: condition["status"] == "True",
                since: time(&condition["lastTransitionTime"]),
                reason: condition["reason"].as_str().map(str::to_owned),
            })
        });
        let containers = items("initContainerStatuses")
            .chain(items("containerStatuses"))
            .chain(items("ephemeralContainerStatuses"));
        let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
        PodSeen {
            line,
            at,
            is_deleted,
            phase: status["phase"].as_str().map(str::to_owned),
            start_time: time(&status["startTime"]),
            deletion: time(&metadata["deletionTimestamp"]).map(|end| (end, grace)),
            conditions: conditions.collect(),
            containers: containers.filter_map(ContainerSeen::read).collect(),
        }
    }

    /// A condition by its type.
    pub(super) fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions
            .iter()
            .find(|condition| condition.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(name: &str, count: u64) -> EventObject {
        let object = json!({
            "metadata": {"name": name},
            "involvedObject": {"kind": "Pod", "uid": "u", "fieldPath": "spec.initContainers{a}"},
            "reason": "Started", "count": count, "reportingComponent": "kubelet",
            "firstTimestamp": "2026-11-30T16:30:37Z", "lastTimestamp": "2026-11-30T16:30:41Z",
        });
        EventObject::read(&object).expect("an event of a pod")
    }

    #[test]
    fn the_name_times_the_first_occurrence_only() {
        let arrival = "2026-11-30T16:30:41.5Z".parse().expect("a time");
        let found = event("pod.18ecdfa1e18b199a", 3).occurrences(0, 0, arrival);
        let exact = "2026-11-30T16:30:37.780703642Z".parse().expect("a time");
        let last = "2026-11-30T16:30:41Z".parse().expect("a time");
        let occurrences: Vec<_> = found.iter().map(|seen| seen.occurrence).collect();
        assert_eq!(
            occurrences,
            [Occurrence::Exact(exact), Occurrence::Second(last)]
        );
        assert_eq!(found[0].container.as_deref(), Some("a"));
        let again = event("pod.18ecdfa1e18b199a", 3).occurrences(3, 0, arrival);
        assert_eq!(again, [], "told once by a list, once by the watch");
    }

    #[test]
    fn a_name_that_is_no_time_leaves_the_second() {
        for name in [
            "pod.0198f1c2-7b3e-7a55-9c1d-2f0c8e6b4a11",
            "pod.18",
            "pod",
            "pod.zz",
        ] {
            let arrival = "2026-11-30T16:30:37.9Z".parse().expect("a time");
            let found = event(name, 1).occurrences(0, 0, arrival);
            let second = "2026-11-30T16:30:37Z".parse().expect("a time");
            assert_eq!(found[0].occurrence, Occurrence::Second(second), "{name}");
        }
    }
}
