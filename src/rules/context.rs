//! What a rule is given, and the words that several rules share.

use super::Rule;
use super::configs::OfRun;
use crate::catalog::{Catalog, Entry};
use crate::cure::{Patient, hook, native};
use crate::finding::{Evidence, EvidenceKind, Finding, Fix, FixSafety, Label, Outcome, Severity};
use crate::graph::{self, Asker, Waiting};
use crate::inject::Mesh;
use crate::manifest::{FieldPath, Mark};
use crate::plan::StartPlan;
use crate::plan::needs::Need;
use crate::plan::profile::Profile;
use crate::plan::settings::{self, Setting};
use crate::pod::{Container, KubeVersion, OddField, PodTemplate, Role, Workload};
use crate::run::Run;
use std::borrow::Cow;

/// Which kind of gate a fix is to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The one that the rule's fix names.
    #[default]
    PerRule,
    /// A native sidecar with a startupProbe.
    Native,
    /// A waiting postStart hook.
    Hook,
}

/// Everything that a rule may look at.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The other objects of the run.
    pub run: &'a Run,
    /// The workload.
    pub workload: &'a Workload,
    /// What the kubelet will do with it.
    pub plan: &'a StartPlan,
    /// What each container says of itself, in the order of the template's containers; empty for a
    /// lone container without a hook.
    pub profiles: &'a [Profile<'a>],
    /// Known sidecars.
    pub catalog: &'a Catalog,
    /// The kind of gate that fixes write.
    pub preference: Preference,
    /// The mesh that `--assume-mesh` names.
    pub mesh: Option<Mesh>,
    /// Which source of the run the workload is from.
    pub source: usize,
    /// Which document of the source.
    pub document: usize,
}

impl<'a> Context<'a> {
    /// A container by its place in the template.
    pub fn container(&self, at: usize) -> &'a Container {
        &self.workload.template.containers[at]
    }

    /// The flags and variables of a container by its place in the template.
    pub fn settings(&self, at: usize) -> Cow<'a, [Setting]> {
        match self.profiles.get(at) {
            Some(profile) => Cow::Borrowed(&profile.settings),
            None => Cow::Owned(settings::settings(self.container(at))),
        }
    }

    /// The variables of a container that ConfigMaps of the run hold, by its place in the template.
    /// What a Secret says is not among them.
    pub fn borrowed(&self, at: usize) -> Vec<Setting> {
        let configs = OfRun {
            run: self.run,
            namespace: self.run.namespace_of(&self.workload.object),
            source: self.source,
        };
        let mut borrowed = settings::borrowed(self.container(at), &configs);
        let is_open = |setting: &Setting| {
            let place = setting.elsewhere.as_ref();
            place.is_none_or(|place| !place.is_secret)
        };
        borrowed.retain(is_open);
        borrowed
    }

    /// What the catalogue knows of a container by its place in the template.
    pub fn entry(&self, at: usize) -> Option<&'a Entry> {
        match self.profiles.get(at) {
            Some(profile) => profile.entry,
            None => self.catalog.find(self.container(at)),
        }
    }

    /// The needs of the pod, unless it is a patch of which only a part is known. A pair whose gap
    /// is the consequence of a field that does not do what it says is left to the rule about that
    /// field.
    pub fn needs(&self) -> impl Iterator<Item = &'a Need> + use<'a> {
        let template = &self.workload.template;
        let version = self.plan.version;
        self.plan.needs.iter().filter(move |need| {
            let (provider, dependent) = (
                &template.containers[need.provider],
                &template.containers[need.dependent],
            );
            !template.is_partial
                && !is_told_by_field(template, provider)
                && !is_unsupported(provider, version)
                && !is_unsupported(dependent, version)
        })
    }

    /// A finding about one field.
    pub fn finding(
        &self,
        rule: &Rule,
        message: String,
        at: FieldPath,
        mark: Mark,
        text: impl Into<String>,
    ) -> Finding {
        let place = (self.source, self.document);
        let mut finding = finding(rule, self.workload, place, label(at, mark, text));
        finding.message = message;
        finding
    }

    /// Who asks for names: the pod.
    pub fn asker(&self) -> Asker<'a> {
        Asker {
            run: self.run,
            workload: self.workload,
            source: self.source,
        }
    }

    /// The waits of the pod, with the single tries of its init containers and hooks; none for a
    /// patch of which only a part is known.
    pub fn waits(&self) -> Vec<Waiting<'a>> {
        match self.workload.template.is_partial {
            true => Vec::new(),
            false => graph::waits(self.profiles),
        }
    }

    /// The name of the container that waits.
    pub fn waiting_name(&self, waiting: &Waiting<'_>) -> &'a str {
        &self.container(waiting.container).name
    }

    /// A finding about a wait.
    pub fn wait_finding(
        &self,
        rule: &Rule,
        waiting: &Waiting<'_>,
        message: String,
        text: impl Into<String>,
    ) -> Finding {
        let (at, mark) = waiting.place(&self.workload.template);
        let mut finding = self.finding(rule, message, at, mark, text);
        finding.container = Some(self.waiting_name(waiting).to_owned());
        let is_in_place = matches!(finding.primary.mark, Mark::Part(_));
        let line = self.script_line(waiting).filter(|_| !is_in_place);
        finding.evidence.extend(line.map(|line| {
            let file = line.file.as_deref().unwrap_or_default();
            Evidence {
                kind: EvidenceKind::Wait,
                detail: format!("{file} asks for {}", waiting.wait.words),
                words: waiting.wait.words.clone(),
                at: line.at.clone(),
                span: None,
                elsewhere: line.elsewhere.clone(),
            }
        }));
        finding
    }

    /// The line of a ConfigMap's script that waits.
    fn script_line(&self, waiting: &Waiting<'_>) -> Option<&'a Setting> {
        let words = waiting.wait.words.as_str();
        let profile = self.profiles.get(waiting.container)?;
        let mut lines = profile.script.iter();
        lines.find(|line| !words.is_empty() && line.value.contains(words))
    }

    /// A finding about a pair, with its evidence.
    pub fn pair(
        &self,
        rule: &Rule,
        need: &Need,
        message: String,
        at: FieldPath,
        mark: Mark,
        text: impl Into<String>,
    ) -> Finding {
        let mut finding = self.finding(rule, message, at, mark, text);
        finding.container = Some(self.container(need.provider).name.clone());
        finding.dependent = Some(self.container(need.dependent).name.clone());
        finding.evidence = need.evidence.clone();
        // Nobody wants the main container moved, whatever its neighbours dial.
        let is_main = need.is_main_provider && self.container(need.dependent).role == Role::App;
        if is_main || need.is_optional {
            finding.severity = Severity::Info;
        }
        finding
    }

    /// The label of the line that proves the need: `` `app` calls it ``; for a proof in another
    /// document, the field that reads it from there.
    pub fn evidence_label(&self, need: &Need, text: impl Into<String>) -> Option<Label> {
        let first = need.evidence.first()?;
        let mark = if first.elsewhere.is_some() {
            Mark::Entry
        } else if first.words.is_empty() {
            Mark::Value
        } else {
            Mark::Part(first.words.clone())
        };
        Some(Label {
            at: first.at.clone(),
            mark,
            text: match &first.elsewhere {
                Some(place) => format!("reads {}", place.object),
                None => text.into(),
            },
            span: None,
        })
    }

    /// What the dependent does with the provider: `calls`, `opens`, `reads`, `needs`.
    pub fn verb(&self, need: &Need) -> &'static str {
        match need.evidence.first().map(|one| one.kind) {
            Some(EvidenceKind::Loopback | EvidenceKind::Elimination | EvidenceKind::Wait) => {
                "calls"
            }
            Some(EvidenceKind::Socket) => "opens",
            Some(EvidenceKind::File) => "reads",
            Some(EvidenceKind::Catalog) | None => "needs",
        }
    }

    /// The gate that closes the gap: the preferred kind, else the other one.
    pub fn gate(&self, need: &Need) -> Fix {
        let patient = self.patient();
        let native = || native::make_native(patient, need);
        let hook = || hook::add_gate(patient, need);
        let fix = match self.preference {
            Preference::Hook => hook().or_else(|_| native()),
            Preference::Native | Preference::PerRule => {
                native().or_else(|reason| hook().map_err(|_| reason))
            }
        };
        fix.unwrap_or_else(refused)
    }

    /// What closes the gap where the provider stands: a startupProbe for a native sidecar, else a
    /// gate of the preferred kind.
    pub fn close(&self, need: &Need) -> Fix {
        match self.container(need.provider).role {
            Role::Sidecar => {
                native::add_startup_probe(self.patient(), need).unwrap_or_else(refused)
            }
            Role::Init | Role::App | Role::Ephemeral => self.gate(need),
        }
    }

    /// The pairs of a provider that nothing holds, as a note of the rule that tells them instead of
    /// their own: `` `app` can start before `proxy` serves ``.
    pub fn open_pairs(&self, provider: usize) -> Option<String> {
        let needs = self.plan.needs.iter();
        let open = needs.filter(|need| need.provider == provider && need.is_open());
        let names: Vec<String> = open
            .map(|need| format!("`{}`", self.container(need.dependent).name))
            .collect();
        let (name, names) = (&self.container(provider).name, names.join(" and "));
        (!names.is_empty()).then(|| format!("{names} can start before `{name}` serves"))
    }

    /// What cures look at.
    pub fn patient(&self) -> Patient<'a> {
        Patient {
            workload: self.workload,
            plan: self.plan,
            catalog: self.catalog,
        }
    }
}

/// Whether a rule about a field of the container, or of its pod, says that its gate does not exist.
fn is_told_by_field(template: &PodTemplate, container: &Container) -> bool {
    let is_meant = |odd: &OddField| match &odd.container {
        Some(at) => *at == container.at,
        None => matches!(odd.lost, "lifecycle" | "postStart" | "startupProbe"),
    };
    container.is_misplaced_sidecar() || template.odd_fields.iter().any(is_meant)
}

/// Whether a kubelet of this version takes a native sidecar for a plain init container.
fn is_unsupported(container: &Container, version: KubeVersion) -> bool {
    container.role == Role::Sidecar && !version.has_native_sidecars()
}

/// A finding about one field of a workload in this source and document.
pub(super) fn finding(
    rule: &Rule,
    workload: &Workload,
    (source, document): (usize, usize),
    primary: Label,
) -> Finding {
    Finding {
        rule: rule.id,
        severity: rule.severity,
        message: String::new(),
        help: None,
        because: String::new(),
        object: workload.object.clone(),
        source,
        document,
        container: None,
        dependent: None,
        primary,
        related: Vec::new(),
        evidence: Vec::new(),
        notes: Vec::new(),
        fix: None,
        suppressed: None,
    }
}

/// A fix that nobody can write, with the reason.
pub fn refused(reason: String) -> Fix {
    Fix {
        outcome: Outcome::Refused(reason),
        ..Fix::new(FixSafety::Unsafe, String::new(), Vec::new())
    }
}

/// A label on a field.
pub fn label(at: FieldPath, mark: Mark, text: impl Into<String>) -> Label {
    Label {
        at,
        mark,
        text: text.into(),
        span: None,
    }
}
