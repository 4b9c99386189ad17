//! Constraints across workloads: who waits for which Service before it starts, which workloads stand
//! behind that, and who waits in a circle.

mod condition;
pub mod hosts;
mod stuck;

pub use hosts::{Asker, Found, Host, Missing, PodName};

use crate::manifest::{FieldPath, Mark};
use crate::plan::profile::Profile;
use crate::plan::settings::{self, Word};
use crate::plan::{AtBound, Bound, Hook, Target, Wait};
use crate::pod::workload::Service;
use crate::pod::{Action, Container, PodTemplate, Role, Workload};
use crate::run::Run;
use crate::shell::Background;

/// Where in the start of a pod a wait stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// In an init container: nothing later starts before it ends.
    Init,
    /// In a postStart hook: the pod is not ready before it returns.
    Hook,
    /// In the command of a container that goes on running.
    Command,
}

impl Stage {
    /// Where the command of a container stands.
    pub fn of(role: Role) -> Stage {
        match role {
            Role::Init => Stage::Init,
            Role::Sidecar | Role::App | Role::Ephemeral => Stage::Command,
        }
    }

    /// The word of every output format.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Init => "init",
            Stage::Hook => "hook",
            Stage::Command => "command",
        }
    }
}

/// A wait or a single try of one container.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// The container, by its place in the template.
    pub container: usize,
    /// Where it stands.
    pub stage: Stage,
    /// What is waited for.
    pub wait: &'a Wait,
}

/// Every wait of a pod, and the single tries of its init containers and hooks.
pub fn waits<'a>(profiles: &'a [Profile<'a>]) -> Vec<Waiting<'a>> {
    let mut found = Vec::new();
    for (container, profile) in profiles.iter().enumerate() {
        let mut add = |stage: Stage, wait: &'a Wait| {
            found.push(Waiting {
                container,
                stage,
                wait,
            });
        };
        let reading = &profile.reading;
        match profile.container.role {
            Role::Init => {
                let all = reading.waits.iter().chain(&reading.tries);
                all.for_each(|wait| add(Stage::Init, wait));
            }
            Role::Sidecar | Role::App => {
                reading
                    .waits
                    .iter()
                    .for_each(|wait| add(Stage::Command, wait));
            }
            Role::Ephemeral => {}
        }
        match &profile.hook {
            Some(Hook::Waits { waits, .. }) => waits.iter().for_each(|wait| add(Stage::Hook, wait)),
            Some(Hook::SingleTry { tries, .. }) => {
                tries.iter().for_each(|wait| add(Stage::Hook, wait));
            }
            Some(
                Hook::SleepsOnly { .. }
                | Hook::ReturnsEarly { .. }
                | Hook::Fails { .. }
                | Hook::NeverEnds { .. }
                | Hook::HttpGet { .. }
                | Hook::TcpSocket { .. }
                | Hook::MayWait { .. }
                | Hook::NotUnderstood { .. }
                | Hook::NotAWait,
            )
            | None => {}
        }
    }
    found
}

impl Waiting<'_> {
    /// The host that is dialled or looked up.
    pub fn host(&self) -> Option<&str> {
        match &self.wait.target {
            Target::Address(address) => Some(&address.host),
            Target::Dns { name } => Some(name),
            Target::File { .. } | Target::Kubernetes { .. } | Target::Opaque => None,
        }
    }

    /// The port that is dialled.
    pub fn port(&self) -> Option<u16> {
        match &self.wait.target {
            Target::Address(address) => address.port_or_default(),
            Target::Dns { .. }
            | Target::File { .. }
            | Target::Kubernetes { .. }
            | Target::Opaque => None,
        }
    }

    /// The field that holds the wait, and what to mark in it.
    pub fn place(&self, template: &PodTemplate) -> (FieldPath, Mark) {
        let container = &template.containers[self.container];
        let words = self.words_of(container);
        let own = &self.wait.words;
        let holds = |word: &&Word| !own.is_empty() && word.text.contains(own.as_str());
        let holder = words.iter().find(holds);
        let script = words.iter().find(|word| word.text.ends_with(".sh"));
        match (holder, script.or(words.first())) {
            (Some(word), _) => (word.at.clone(), Mark::Part(own.clone())),
            (None, Some(first)) => (first.at.clone(), Mark::Value),
            (None, None) => (container.at.key("name"), Mark::Value),
        }
    }

    /// Whether the script may not come to it: it stands behind a test that nobody can answer.
    pub fn is_conditional(&self, template: &PodTemplate) -> bool {
        let container = &template.containers[self.container];
        let words = self.words_of(container);
        let own = &self.wait.words;
        let mut holders = words.iter().filter(|word| word.text.contains(own.as_str()));
        holders.any(|word| {
            word.text.contains(char::is_whitespace) && condition::is_conditional(&word.text, own)
        })
    }

    fn words_of(&self, container: &Container) -> Vec<Word> {
        match self.stage {
            Stage::Init | Stage::Command => settings::words(container),
            Stage::Hook => hook_words(container),
        }
    }

    /// Whether a name is looked up and nothing more.
    pub fn is_lookup(&self) -> bool {
        matches!(self.wait.target, Target::Dns { .. })
    }

    /// Whether the command never gets beyond it while what it waits for is missing: it goes on for
    /// ever, or fails and is started again.
    pub fn holds(&self) -> bool {
        let wait = self.wait;
        wait.background == Background::No
            && !wait.has_alternative
            && match wait.bound {
                Bound::Unbounded => true,
                Bound::Bounded { then, .. } => then == AtBound::Fails,
                Bound::Unknown => false,
            }
    }
}

/// The words of a postStart hook's command.
fn hook_words(container: &Container) -> Vec<Word> {
    let command = exec_hook(container);
    let at = container
        .at
        .keys(&["lifecycle", "postStart", "exec", "command"]);
    let words = command.iter().enumerate().map(|(index, text)| Word {
        text: text.clone(),
        at: at.index(index),
    });
    words.collect()
}

fn exec_hook(container: &Container) -> &[String] {
    match &container.post_start {
        Some(Action::Exec { command }) => command,
        Some(
            Action::HttpGet { .. }
            | Action::TcpSocket { .. }
            | Action::Grpc { .. }
            | Action::Sleep { .. }
            | Action::Unreadable,
        )
        | None => &[],
    }
}

/// A workload with what its containers do.
#[derive(Clone, Copy, Debug)]
pub struct Node<'r> {
    /// Which source of the run it is from.
    pub source: usize,
    /// The workload.
    pub workload: &'r Workload,
    /// Its containers; empty when none of them waits.
    pub profiles: &'r [Profile<'r>],
}

/// What a wait leads to.
#[derive(Clone, Debug)]
pub enum Goal<'r> {
    /// A Service, and the nodes whose pods stand behind it.
    Service {
        /// The Service, and the pod that is singled out.
        found: Found<'r>,
        /// By their places in [`Graph::nodes`].
        behind: Vec<usize>,
    },
    /// A Service that is not in the run.
    Missing(Missing),
}

/// Somebody waits for somebody.
#[derive(Clone, Debug)]
pub struct Edge<'r> {
    /// Who waits, by its place in [`Graph::nodes`].
    pub from: usize,
    /// Which of its waits it is.
    pub waiting: Waiting<'r>,
    /// For what.
    pub goal: Goal<'r>,
}

impl<'r> Edge<'r> {
    /// The nodes without which the one that waits never starts: whoever stands behind the Service,
    /// when the wait needs one of them ready.
    pub fn needs_one_of(&self) -> Option<&[usize]> {
        let Goal::Service { found, behind } = &self.goal else {
            return None;
        };
        let needs_ready = match self.waiting.is_lookup() {
            true => found.service.is_headless,
            false => true,
        };
        let is_certain = self.waiting.holds()
            && needs_ready
            && !found.service.publishes_unready
            && !found.service.is_external
            && !behind.is_empty();
        is_certain.then_some(behind.as_slice())
    }

    /// The Service of the run, when there is one.
    pub fn service(&self) -> Option<&'r Service> {
        match &self.goal {
            Goal::Service { found, .. } => Some(found.service),
            Goal::Missing(_) => None,
        }
    }
}

/// Everything that the workloads of a run wait for in each other.
#[derive(Debug)]
pub struct Graph<'r> {
    /// The workloads, in the order of [`Run::workloads`].
    pub nodes: Vec<Node<'r>>,
    /// The waits that lead to Services, in the order of nodes and containers.
    pub edges: Vec<Edge<'r>>,
}

impl<'r> Graph<'r> {
    /// Builds the graph; `nodes` are all workloads of the run in its order.
    pub fn of(run: &'r Run, nodes: Vec<Node<'r>>) -> Graph<'r> {
        let mut edges = Vec::new();
        for (from, node) in nodes.iter().enumerate() {
            let asker = Asker {
                run,
                workload: node.workload,
                source: node.source,
            };
            for waiting in waits(node.profiles) {
                let Some(goal) = goal(&asker, &waiting) else {
                    continue;
                };
                edges.push(Edge {
                    from,
                    waiting,
                    goal,
                });
            }
        }
        Graph { nodes, edges }
    }

    /// Whether nobody can serve for this node's Services while the wait goes on.
    pub fn is_certain(&self, edge: &Edge<'_>) -> bool {
        let profiles = self.nodes[edge.from].profiles;
        let profile = &profiles[edge.waiting.container];
        let template = &self.nodes[edge.from].workload.template;
        if asks_for_own_name(profile) || edge.waiting.is_conditional(template) {
            return false;
        }
        match edge.waiting.stage {
            Stage::Init | Stage::Hook => true,
            Stage::Command => {
                let runs =
                    |one: &&Profile<'_>| matches!(one.container.role, Role::App | Role::Sidecar);
                let is_alone = profiles.iter().filter(runs).count() == 1;
                let holds_readiness = profile.container.readiness.is_some();
                (is_alone || holds_readiness) && !profile.reading.starts_something_beside()
            }
        }
    }
}

/// Whether a container's scripts look at the name of their own pod, as members of a StatefulSet do
/// to find out who is first: which of them wait is then not known.
pub fn asks_for_own_name(profile: &Profile<'_>) -> bool {
    const WORDS: [&str; 6] = [
        "hostname", "HOSTNAME", "POD_NAME", "PODNAME", "ordinal", "ORDINAL",
    ];
    let hook = exec_hook(profile.container);
    let own = profile.container.words();
    let mut words = own.chain(hook.iter().map(String::as_str));
    words.any(|text| WORDS.iter().any(|word| text.contains(word)))
}

fn goal<'r>(asker: &Asker<'r>, waiting: &Waiting<'_>) -> Option<Goal<'r>> {
    match asker.resolve(waiting.host()?) {
        Host::Service(found) => Some(Goal::Service {
            behind: asker.run.behind(found.service),
            found,
        }),
        Host::Missing(missing) => Some(Goal::Missing(missing)),
        Host::Elsewhere => None,
    }
}

#[cfg(test)]
mod tests;
