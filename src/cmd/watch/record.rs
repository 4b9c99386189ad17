//! `--record`: what the API server sent, written as it comes, and the words that may be kept.

use crate::catalog::Catalog;
use crate::cli::WatchArgs;
use crate::error::Failure;
use crate::judge;
use crate::plan::waits;
use crate::plan::{Hook, Target, read_hook};
use crate::pod::{Action, KubeVersion};
use crate::shell::Surroundings;
use crate::timeline::allow::Allow;
use crate::timeline::plan_line::PlanLine;
use crate::timeline::{Change, Header, Keep, Line, Stream, Timeline, Writer};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

/// Annotations that say something about start order.
const ANNOTATIONS: &[&str] = &[
    "apps.kruise.io/container-launch-priority",
    "kubectl.kubernetes.io/default-container",
    "linkerd.io/inject",
    "proxy.istio.io/config",
    "sidecar.istio.io/inject",
    "sidecar.istio.io/nativeSidecar",
    "vault.hashicorp.com/agent-inject",
];

/// A recording that is being written.
pub struct Recorder {
    file: Option<File>,
    writer: Option<Writer<'static, BufWriter<File>>>,
    is_full: bool,
    /// Lines that came before the header could be written.
    held: Vec<Line>,
    planned: BTreeSet<String>,
    catalog: Arc<Catalog>,
}

impl Recorder {
    /// Opens the file that `--record` names; none without the flag.
    pub fn open(args: &WatchArgs, catalog: Arc<Catalog>) -> Result<Option<Recorder>, Failure> {
        let Some(path) = &args.record else {
            return Ok(None);
        };
        let told = |error: io::Error| Failure::new(format!("{}: {error}", path.display()));
        let file = File::create(path).map_err(told)?;
        Ok(Some(Recorder {
            file: Some(file),
            writer: None,
            is_full: args.record_full,
            held: Vec::new(),
            planned: BTreeSet::new(),
            catalog,
        }))
    }

    /// Writes the first line, and what was held back for it.
    pub fn begin(&mut self, header: &Header, timeline: &Timeline) -> io::Result<()> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let keep = match self.is_full {
            true => Keep::Full,
            false => Keep::Allowed(Allow {
                annotations: ANNOTATIONS,
                words: &kept_words,
            }),
        };
        self.writer = Some(Writer::new(BufWriter::new(file), keep, header)?);
        let held = std::mem::take(&mut self.held);
        held.iter().try_for_each(|line| self.write(line, timeline))
    }

    /// Writes a line, and behind a pod's first one the constraints of its spec.
    pub fn write(&mut self, line: &Line, timeline: &Timeline) -> io::Result<()> {
        let Some(writer) = &mut self.writer else {
            self.held.push(line.clone());
            return Ok(());
        };
        writer.write(line)?;
        let Some(uid) = pod_of(line).filter(|uid| !self.planned.contains(*uid)) else {
            return Ok(());
        };
        self.planned.insert(uid.to_owned());
        let plan = plan_of(uid, line.at, timeline, &self.catalog);
        plan.map_or(Ok(()), |plan| writer.write(&plan))
    }
}

/// The UID of the pod that a line tells of.
fn pod_of(line: &Line) -> Option<&str> {
    match &line.change {
        Change::Object {
            stream: Stream::Pods,
            object,
            ..
        } => object["metadata"]["uid"].as_str(),
        Change::Object { .. } | Change::Relist(_) | Change::Plan(_) => None,
    }
}

fn plan_of(uid: &str, at: Timestamp, timeline: &Timeline, catalog: &Catalog) -> Option<Line> {
    let pods = timeline.pods();
    let pod = pods.iter().find(|pod| pod.uid == uid)?;
    let version = pod.version.unwrap_or(KubeVersion::NEWEST);
    let plan = PlanLine {
        uid: pod.uid.clone(),
        constraints: judge::plan(&pod.workload, version, catalog).constraints(pod.template()),
    };
    let change = Change::Plan(plan);
    Some(Line { at, change })
}

/// Of a command what was read as a wait, in words that read the same again; nothing else.
fn kept_words(command: &[String]) -> Vec<String> {
    let around = Surroundings {
        env: &|_| None,
        may_be_set: &|_| false,
        file: &|_| None,
    };
    let reading = waits::read(command, around);
    let loops: Vec<String> = reading.waits.iter().filter_map(wait_loop).collect();
    if !loops.is_empty() {
        return vec!["sh".to_owned(), "-c".to_owned(), loops.join("; ")];
    }
    let action = Action::Exec {
        command: command.to_vec(),
    };
    match read_hook(&action, around) {
        Hook::MayWait { .. } => command
            .iter()
            .filter(|word| says_wait(word))
            .cloned()
            .collect(),
        _ => Vec::new(),
    }
}

fn wait_loop(wait: &waits::Wait) -> Option<String> {
    let check = match &wait.target {
        Target::Address(address) => {
            format!("nc -z {} {}", address.host, address.port_or_default()?)
        }
        Target::Dns { name } => format!("nslookup {name}"),
        Target::File { path } => format!("test -e {path}"),
        Target::Kubernetes { .. } | Target::Opaque => return None,
    };
    Some(format!("until {check}; do sleep 1; done"))
}

/// The binary and the words that say what it does; never a value.
fn says_wait(word: &str) -> bool {
    let is_plain = word
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || matches!(char, '/' | '-' | '_' | '.'));
    is_plain && word.len() <= 64
}
