//! Who needs whom before it starts, from evidence in the manifest.
//!
//! A container's name never proves a need. What does, firmest first: a loopback address with a port
//! that the other one serves, a socket or file below a volume that both mount, and what the
//! catalogue knows of an image.

use super::addresses::Target;
use super::dials::Dialled;
use super::front::stands_before;
use super::gate::{Gap, Hold};
use super::hooks::{EarlyReturn, Hook};
use super::paths::{NamedPath, Usage};
use super::predict::role_at;
use super::profile::Profile;
use super::serves::ServedBy;
use super::volumes;
use crate::catalog::{Class, Covers};
use crate::finding::{Evidence, EvidenceKind};
use crate::pod::{Action, Container, KubeVersion, PodTemplate, RestartPolicy, Role};

/// What evidence rests on, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Firmness {
    /// An image that the catalogue knows.
    #[default]
    Image,
    /// Flags, variables and scripts of the manifest, or elimination.
    Manifest,
    /// A declared port, or a socket that the manifest names on both sides.
    Declared,
}

/// One container needs another before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Who needs, by its place in [`PodTemplate::containers`].
    pub dependent: usize,
    /// Who is needed.
    pub provider: usize,
    /// Why that is believed; never empty.
    pub evidence: Vec<Evidence>,
    /// What holds the dependent until the provider serves.
    pub hold: Hold,
    /// The port that is dialled, when there is one.
    pub port: Option<u16>,
    /// The path of the URL that is dialled.
    pub url_path: Option<String>,
    /// What the firmest evidence rests on.
    pub firmness: Firmness,
    /// The provider looks like the main container: the most is info.
    pub is_main_provider: bool,
    /// The dependent's own command waits for the provider.
    pub has_own_wait: bool,
    /// What names the provider says that it may be missing: the most is info.
    pub is_optional: bool,
    /// The provider is told to open the port on loopback only, where no probe of the kubelet comes.
    pub is_on_loopback: bool,
}

impl Need {
    /// Whether nothing holds the dependent.
    pub fn is_open(&self) -> bool {
        matches!(self.hold, Hold::Nothing(_))
    }

    /// Why nothing holds it.
    pub fn gap(&self) -> Option<Gap> {
        match self.hold {
            Hold::Nothing(gap) => Some(gap),
            Hold::Exit
            | Hold::StartupProbe
            | Hold::PostStart { .. }
            | Hold::InitTwin(_)
            | Hold::Mount
            | Hold::OwnWait
            | Hold::LaunchOrder => None,
        }
    }
}

/// Finds the needs between the containers of one pod, given their profiles; `owner` is the
/// workload's name.
pub fn find(
    template: &PodTemplate,
    owner: &str,
    version: KubeVersion,
    profiles: &[Profile<'_>],
) -> Vec<Need> {
    let pod = Pod {
        template,
        owner,
        version,
        profiles,
    };
    if profiles.len() < 2 {
        Vec::new()
    } else {
        pod.needs()
    }
}

struct Pod<'p> {
    template: &'p PodTemplate,
    owner: &'p str,
    version: KubeVersion,
    profiles: &'p [Profile<'p>],
}

/// Evidence for one pair, with what a fix wants to know of it.
#[derive(Default)]
struct Case {
    evidence: Vec<Evidence>,
    ports: Vec<u16>,
    /// Those of them that are known by elimination.
    guessed: Vec<u16>,
    url_path: Option<String>,
    firmness: Firmness,
    /// Something in it does not say that the provider may be missing.
    is_certain: bool,
}

impl Case {
    /// A port that somebody is known to serve tells more than one by elimination, which then is
    /// rather another server's.
    fn drop_guesses(&mut self) {
        let is_known = |one: &Evidence| one.kind == EvidenceKind::Loopback;
        if !self.evidence.iter().any(is_known) {
            return;
        }
        self.evidence.retain(is_known);
        let guessed = std::mem::take(&mut self.guessed);
        self.ports.retain(|port| !guessed.contains(port));
    }
}

impl Pod<'_> {
    fn needs(&self) -> Vec<Need> {
        let pairs =
            || (0..self.profiles.len()).flat_map(|a| (0..self.profiles.len()).map(move |b| (a, b)));
        let may_need = |a: usize, b: usize| {
            let (dependent, provider) = (&self.profiles[a], &self.profiles[b]);
            let in_plan = |profile: &Profile<'_>| profile.container.role != Role::Ephemeral;
            a != b
                && in_plan(dependent)
                && in_plan(provider)
                && !dependent.is_no_provider()
                && !provider.is_no_provider()
                && !self.is_before(a, b)
                && !self.is_before(b, a)
        };
        let cases: Vec<(usize, usize, Case)> = pairs()
            .filter(|(a, b)| may_need(*a, *b))
            .map(|(a, b)| (a, b, self.manifest_case(a, b)))
            .collect();
        let dials = |a: usize, b: usize| {
            cases
                .iter()
                .any(|(x, y, case)| *x == a && *y == b && !case.evidence.is_empty())
        };
        let both_ways = |a: usize, b: usize| dials(a, b) && dials(b, a);
        let mut needs = Vec::new();
        for (a, b, case) in &cases {
            let is_mesh = |at: usize| {
                self.profiles[at]
                    .entry
                    .is_some_and(|entry| entry.covers == Covers::All)
            };
            if both_ways(*a, *b) && !is_mesh(*b) {
                continue;
            }
            // A mesh proxy dials the app behind it by nature, and goes on until it is there.
            if is_mesh(*a) && self.profiles[*b].class != Some(Class::Needed) {
                continue;
            }
            needs.extend(self.need(*a, *b, case, dials));
        }
        needs
    }

    /// Whether a container passes requests on to another one, and so cannot need it, nor be needed
    /// by it. A known sidecar in between, such as a database proxy, is needed all the same.
    fn is_before(&self, front: usize, behind: usize) -> bool {
        let (front, behind) = (&self.profiles[front], &self.profiles[behind]);
        behind.class != Some(Class::Needed) && stands_before(front, behind, self.profiles)
    }

    fn need(
        &self,
        a: usize,
        b: usize,
        case: &Case,
        dials: impl Fn(usize, usize) -> bool,
    ) -> Option<Need> {
        let (dependent, provider) = (&self.profiles[a], &self.profiles[b]);
        let mut evidence = case.evidence.clone();
        if evidence.is_empty() {
            let anyone = (0..self.profiles.len()).any(|other| dials(other, b));
            evidence.push(self.catalog_evidence(a, b, anyone)?);
        }
        let by_address = evidence.iter().any(|one| {
            matches!(
                one.kind,
                EvidenceKind::Loopback | EvidenceKind::Elimination | EvidenceKind::Socket
            )
        });
        let is_silenced =
            |profile: &Profile<'_>| profile.has_helper_name && profile.entry.is_none();
        if !by_address && (is_silenced(dependent) || is_silenced(provider)) {
            return None;
        }
        let waits = |one: &Profile<'_>| {
            one.polls(provider)
                || one.awaits_by_name(&provider.container.name)
                || polls_what_proves(one, case)
        };
        let has_own_wait = waits(dependent) || dependent.retries_its_work();
        // Whoever has its turn before waits for it, and only then ends.
        let mut before = self.profiles.iter();
        let is_waited_before = before.any(|one| waits_by_controller(dependent, one) && waits(one));
        let hold = match self.hold(a, b, has_own_wait) {
            Hold::Nothing(_) if is_waited_before => Hold::LaunchOrder,
            hold => hold,
        };
        Some(Need {
            dependent: a,
            provider: b,
            hold,
            evidence,
            port: case.ports.first().copied(),
            url_path: case.url_path.clone(),
            firmness: case.firmness,
            is_main_provider: self.looks_like_main(b, a),
            has_own_wait,
            is_optional: !case.evidence.is_empty() && !case.is_certain,
            is_on_loopback: case
                .ports
                .first()
                .is_some_and(|port| provider.is_on_loopback(*port)),
        })
    }

    /// What the manifest itself says about the pair.
    fn manifest_case(&self, a: usize, b: usize) -> Case {
        let mut case = Case::default();
        let (dependent, provider) = (&self.profiles[a], &self.profiles[b]);
        let passed_on = dependent.front.servers.iter();
        let passed_on = passed_on.filter(|_| provider.class == Some(Class::Needed));
        let dials = dependent.dials.iter();
        let dials = dials.filter(|_| dependent.calls_what_it_names());
        for dialled in dials.chain(passed_on) {
            let Some((kind, firmness)) = self.dial_kind(a, b, dialled) else {
                continue;
            };
            let who = dialled.setting.as_deref().unwrap_or("the command");
            let usual = || {
                provider
                    .database_port()
                    .filter(|_| provider.entry.is_none())
            };
            case.ports.extend(dialled.port.or_else(usual));
            let is_guess = kind == EvidenceKind::Elimination;
            case.guessed.extend(dialled.port.filter(|_| is_guess));
            case.url_path = case.url_path.take().or_else(|| dialled.path.clone());
            case.firmness = case.firmness.max(firmness);
            case.is_certain |= !dialled.is_optional;
            case.evidence.push(Evidence {
                kind,
                detail: detail(who, dialled),
                words: dialled.words.clone(),
                at: dialled.at.clone(),
                span: None,
                elsewhere: dialled.elsewhere.clone(),
            });
        }
        case.drop_guesses();
        self.file_evidence(dependent, provider, &mut case);
        case
    }

    /// Whether an address that `a` dials is `b`'s, and whether the manifest itself says so.
    fn dial_kind(&self, a: usize, b: usize, dialled: &Dialled) -> Option<(EvidenceKind, Firmness)> {
        let provider = &self.profiles[b];
        let Some(port) = dialled.port else {
            let is_database = provider.entry.is_some_and(|entry| entry.kind == "database");
            let is_only_one = || self.only_database(a, dialled) == Some(b);
            return (is_database || is_only_one())
                .then_some((EvidenceKind::Loopback, Firmness::Image));
        };
        if provider.container.role == Role::Init {
            return None;
        }
        if let Some(served) = provider.served(port) {
            // A port that several containers could mean by the catalogue belongs to who declares it.
            let is_declared = |profile: &Profile<'_>| {
                profile
                    .served(port)
                    .is_some_and(|it| it.by == ServedBy::Declared)
            };
            let elsewhere = self
                .profiles
                .iter()
                .enumerate()
                .any(|(at, profile)| at != a && at != b && is_declared(profile));
            if served.by == ServedBy::Catalog && elsewhere {
                return None;
            }
            let firmness = match served.by {
                ServedBy::Declared => Firmness::Declared,
                ServedBy::Setting | ServedBy::Probe => Firmness::Manifest,
                ServedBy::Catalog => Firmness::Image,
            };
            return Some((EvidenceKind::Loopback, firmness));
        }
        (!dialled.is_loose && self.only_possible_server(a, port) == Some(b))
            .then_some((EvidenceKind::Elimination, Firmness::Manifest))
    }

    /// The only other container with a database's port, for `DB_HOST=localhost` without a port.
    fn only_database(&self, a: usize, dialled: &Dialled) -> Option<usize> {
        let name = dialled
            .setting
            .as_deref()
            .unwrap_or_default()
            .to_lowercase();
        let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        if !words.any(|word| matches!(word, "db" | "database" | "sql" | "datasource")) {
            return None;
        }
        let is_database = |profile: &Profile<'_>| profile.database_port().is_some();
        let others = self.profiles.iter().enumerate().filter(|(at, _)| *at != a);
        let mut databases = others.filter(|(_, profile)| is_database(profile));
        let (first, _) = databases.next()?;
        databases.next().is_none().then_some(first)
    }

    /// The only container that could serve a port which nobody declares: by elimination.
    fn only_possible_server(&self, a: usize, port: u16) -> Option<usize> {
        // On the node's network anybody on the node may serve the port.
        if self.template.host_network {
            return None;
        }
        if self
            .profiles
            .iter()
            .any(|profile| profile.served(port).is_some())
        {
            return None;
        }
        let dials_itself = |profile: &Profile<'_>| {
            profile
                .dials
                .iter()
                .any(|dialled| dialled.port == Some(port))
        };
        let could = |(at, profile): &(usize, &Profile<'_>)| {
            let runs_beside = matches!(
                role_at(profile.container, self.version),
                Role::App | Role::Sidecar
            );
            *at != a
                && runs_beside
                && !profile.is_offline()
                && !dials_itself(profile)
                && !self.is_kept_apart(a, *at)
        };
        let mut all = self
            .profiles
            .iter()
            .enumerate()
            .filter(could)
            .map(|(at, _)| at);
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }

    /// Sockets and files below a volume that both mount.
    fn file_evidence(&self, dependent: &Profile<'_>, provider: &Profile<'_>, case: &mut Case) {
        // Who makes a file itself does not wait for another one to make it.
        let makes = |path: &str| {
            let mut own = dependent.paths.iter();
            own.any(|own| own.usage == Usage::Makes && own.path == path)
        };
        for named in dependent.paths.iter().filter(|named| !makes(&named.path)) {
            let Some(shared) = volumes::shared(self.template, dependent, provider, named) else {
                continue;
            };
            case.firmness = case.firmness.max(shared.firmness);
            case.is_certain = true;
            case.evidence.push(Evidence {
                kind: shared.kind,
                detail: file_detail(named, shared.volume, provider),
                words: shown(named),
                at: named.at.clone(),
                span: None,
                elsewhere: named.elsewhere.clone(),
            });
        }
    }

    /// What the catalogue says about a pair that the manifest says nothing of.
    fn catalog_evidence(&self, a: usize, b: usize, anyone_dials: bool) -> Option<Evidence> {
        let (dependent, provider) = (&self.profiles[a], &self.profiles[b]);
        let entry = provider
            .entry
            .filter(|_| provider.class == Some(Class::Needed))?;
        let is_app = dependent.container.role == Role::App;
        let shares_volume = || {
            let mounts = |volume: &str| {
                provider
                    .container
                    .mounts
                    .iter()
                    .any(|mount| mount.volume == volume && !mount.read_only)
            };
            let is_empty = |volume: &str| {
                self.template.volume(volume).is_none_or(|volume| {
                    volume.source == crate::pod::template::VolumeSource::EmptyDir
                })
            };
            dependent
                .container
                .mounts
                .iter()
                .any(|mount| mounts(&mount.volume) && is_empty(&mount.volume))
        };
        let is_covered = match entry.covers {
            Covers::All => is_app || self.is_client_sidecar(a),
            Covers::Apps => is_app,
            Covers::Loopback => is_app && !anyone_dials && !dependent.is_offline(),
            Covers::Callers => false,
            Covers::Volume => {
                is_app && shares_volume() && !dependent.is_offline() && !looks_again(dependent)
            }
        };
        let is_peer = dependent.class == Some(Class::Needed) && entry.covers != Covers::All;
        if !is_covered || is_peer || provider.container.role == Role::Init {
            return None;
        }
        Some(Evidence {
            kind: EvidenceKind::Catalog,
            detail: format!(
                "{} is {}",
                provider.container.image.as_deref().unwrap_or_default(),
                entry.name
            ),
            words: String::new(),
            at: provider.container.at.key("image"),
            span: None,
            elsewhere: None,
        })
    }

    /// Whether a native sidecar is known to call other hosts at its start.
    fn is_client_sidecar(&self, at: usize) -> bool {
        let profile = &self.profiles[at];
        let kind = profile.entry.map_or("", |entry| entry.kind.as_str());
        let calls = matches!(kind, "mesh" | "database" | "secrets" | "storage");
        let is_proxy = profile
            .entry
            .is_some_and(|entry| entry.covers == Covers::All);
        role_at(profile.container, self.version) == Role::Sidecar
            && profile.class == Some(Class::Needed)
            && calls
            && !is_proxy
    }

    /// Nobody wants the database moved to `initContainers`: a provider that the workload is named
    /// for, or that comes first while the dependent is named like a helper. A dependent that does
    /// its work and ends is the main container itself.
    fn looks_like_main(&self, provider: usize, dependent: usize) -> bool {
        let (profile, client) = (&self.profiles[provider], &self.profiles[dependent]);
        let keeps_running = self.template.restart_policy == RestartPolicy::Always
            || client.has_helper_name
            || client.reading.runs_forever();
        let is_sidecar = profile.class == Some(Class::Needed);
        if profile.container.role != Role::App || is_sidecar || !keeps_running {
            return false;
        }
        let name = &profile.container.name;
        let is_named_for = name == self.owner
            || self
                .owner
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.starts_with('-'))
            || name
                .strip_prefix(self.owner)
                .is_some_and(|rest| rest.starts_with('-'));
        let is_first = self
            .template
            .containers
            .iter()
            .position(|one| one.role == Role::App)
            == Some(provider);
        is_named_for || (is_first && client.has_helper_name)
    }

    /// What holds `a` until `b` serves; its own wait when nothing firmer does.
    fn hold(&self, a: usize, b: usize, has_own_wait: bool) -> Hold {
        match self.gate(a, b) {
            Hold::Nothing(Gap::LaterThanInit) => Hold::Nothing(Gap::LaterThanInit),
            Hold::Nothing(_) if has_own_wait => Hold::OwnWait,
            held => held,
        }
    }

    fn gate(&self, a: usize, b: usize) -> Hold {
        let (dependent, provider) = (&self.profiles[a], &self.profiles[b]);
        let role = |profile: &Profile<'_>| role_at(profile.container, self.version);
        if b > a && role(dependent) == Role::Init {
            return Hold::Nothing(Gap::LaterThanInit);
        }
        if let Some(twin) = self.init_twin(a, b) {
            return Hold::InitTwin(twin);
        }
        if self.is_launched_in_order(a, b) || waits_by_controller(dependent, provider) {
            return Hold::LaunchOrder;
        }
        let is_native = role(provider) == Role::Sidecar;
        match role(provider) {
            Role::Sidecar if b > a && provider.container.startup.is_some() => {
                return Hold::Nothing(Gap::GateAfterDependent);
            }
            Role::Init if b < a => return Hold::Exit,
            Role::Sidecar if b < a && provider.container.startup.is_some() => {
                return Hold::StartupProbe;
            }
            Role::Init | Role::Sidecar | Role::App | Role::Ephemeral => {}
        }
        match &provider.hook {
            None => Hold::Nothing(Gap::NoGate),
            Some(hook) if self.waits_elsewhere(hook, b) => Hold::Nothing(Gap::UnreadHook),
            Some(hook) => hold_by_hook(hook, self.knows_wait(provider), b < a, is_native),
        }
    }

    /// Whether a waiting hook has nothing to do with its own container: it waits for another host, or
    /// for a port that a neighbour serves.
    fn waits_elsewhere(&self, hook: &Hook, own: usize) -> bool {
        let waits = hook.asks();
        if waits.is_empty() {
            return false;
        }
        let by_neighbour = |port: u16| {
            let mut others = self
                .profiles
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != own);
            self.profiles[own].served(port).is_none()
                && others.any(|(_, other)| other.served(port).is_some())
        };
        waits.iter().all(|wait| match &wait.target {
            Target::Address(address) => {
                !address.is_loopback() || address.port_or_default().is_some_and(by_neighbour)
            }
            Target::Dns { .. } | Target::Kubernetes { .. } => true,
            Target::File { .. } | Target::Opaque => false,
        })
    }

    /// Whether a hook that cannot be read is the vendor's own wait.
    fn knows_wait(&self, provider: &Profile<'_>) -> bool {
        let Some(Action::Exec { command }) = &provider.container.post_start else {
            return false;
        };
        let Some(wait) = provider.entry.and_then(|entry| entry.wait.as_ref()) else {
            return false;
        };
        let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let verbs = wait
            .command
            .iter()
            .skip(1)
            .filter(|word| !word.contains('=') && !word.contains("://"));
        let names_binary = command.first().is_some_and(|word| {
            wait.command
                .first()
                .is_some_and(|own| base(own) == base(word))
        });
        names_binary && verbs.into_iter().all(|verb| command.contains(verb))
    }

    /// An init container of the same image that fills a volume of both before the dependent starts.
    fn init_twin(&self, a: usize, b: usize) -> Option<usize> {
        let provider = &self.profiles[b];
        let path = |image: &Option<String>| {
            image.as_deref().map(|image| {
                image
                    .split([':', '@'])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
        };
        let shares = |twin: &Profile<'_>| {
            twin.container.mounts.iter().any(|mount| {
                provider
                    .container
                    .mounts
                    .iter()
                    .any(|own| own.volume == mount.volume)
            })
        };
        self.profiles[..a]
            .iter()
            .enumerate()
            .position(|(at, twin)| {
                let same_kind = path(&twin.container.image) == path(&provider.container.image)
                    || twin.entry.is_some_and(|entry| {
                        provider.entry.is_some_and(|own| own.name == entry.name)
                    });
                at != b && twin.container.role == Role::Init && same_kind && shares(twin)
            })
    }

    /// Whether a controller lets one of the two work only when it is done with the other.
    fn is_kept_apart(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.profiles[a], &self.profiles[b]);
        waits_by_controller(one, other) || waits_by_controller(other, one)
    }

    /// OpenKruise starts containers one after the other when asked to: in the order of the list, or
    /// those of a higher priority first. Each waits until those before it are ready.
    fn is_launched_in_order(&self, a: usize, b: usize) -> bool {
        let mut annotations = self.template.annotations.iter();
        let is_ordered = annotations.any(|(key, value)| {
            key == "apps.kruise.io/container-launch-priority" && value == "Ordered"
        });
        let priority = |at: usize| launch_priority(self.profiles[at].container);
        (is_ordered && b < a) || priority(b) > priority(a)
    }
}

/// The launch priority of a container, by its variable or by the barrier that OpenKruise made of it.
fn launch_priority(container: &Container) -> i64 {
    let mut env = container.env.iter();
    let priority = env.find_map(|var| match var.name.as_str() {
        "KRUISE_CONTAINER_PRIORITY" => var.value.as_deref()?.trim().parse().ok(),
        "KRUISE_CONTAINER_BARRIER" => {
            let key = var.from.as_ref()?.key.strip_prefix("p_")?;
            key.parse().ok()
        }
        _ => None,
    });
    priority.unwrap_or(0)
}

/// What an address says: `DATABASE_URL names 127.0.0.1:5432`. Of a Secret the key and no value.
fn detail(who: &str, dialled: &Dialled) -> String {
    match &dialled.elsewhere {
        Some(place) if place.is_secret => {
            format!("{who} of {} names a loopback address", place.object)
        }
        Some(_) | None => format!("{who} names {}", dialled.words),
    }
}

/// The path that a piece of evidence may show; nothing of a Secret.
fn shown(named: &NamedPath) -> String {
    let is_secret = named
        .elsewhere
        .as_ref()
        .is_some_and(|place| place.is_secret);
    if is_secret {
        String::new()
    } else {
        named.path.clone()
    }
}

fn file_detail(named: &NamedPath, volume: &str, provider: &Profile<'_>) -> String {
    let what = match &named.elsewhere {
        Some(place) if place.is_secret => format!("a path that {} names", place.object),
        Some(_) | None => named.path.clone(),
    };
    format!(
        "{what} lies on volume {volume}, which {} fills",
        provider.container.name
    )
}

/// Whether the command looks at the same thing again and again: what comes late is seen, too.
fn looks_again(profile: &Profile<'_>) -> bool {
    let first = profile.container.words().next().unwrap_or_default();
    first.rsplit('/').next() == Some("watch")
}

/// Whether the controller holds a container back until another one is ready or has ended.
fn waits_by_controller(dependent: &Profile<'_>, provider: &Profile<'_>) -> bool {
    dependent
        .container
        .started_after
        .contains(&provider.container.name)
}

fn hold_by_hook(hook: &Hook, is_known_wait: bool, is_before: bool, is_native: bool) -> Hold {
    let (waits, gap) = match hook {
        Hook::Waits { .. } | Hook::NeverEnds { .. } => (Some(false), Gap::NoGate),
        Hook::MayWait { .. } => (Some(!is_known_wait), Gap::NoGate),
        // With the hook's own output the runtime waits for the background command all the same (07).
        Hook::ReturnsEarly {
            reason: EarlyReturn::BackgroundBare,
            ..
        } => (Some(false), Gap::ReturnsEarly),
        Hook::ReturnsEarly { .. }
        | Hook::SingleTry { .. }
        | Hook::Fails { .. }
        | Hook::TcpSocket { .. } => (None, Gap::ReturnsEarly),
        Hook::SleepsOnly { .. } => (None, Gap::Sleep),
        Hook::HttpGet { .. } => (None, Gap::HttpHook),
        Hook::NotUnderstood { .. } | Hook::NotAWait => (None, Gap::UnreadHook),
    };
    let waits = waits.or(is_known_wait.then_some(false));
    match (waits, is_before) {
        (Some(is_assumed), true) => Hold::PostStart {
            is_assumed,
            is_native,
        },
        (Some(_), false) => Hold::Nothing(Gap::GateAfterDependent),
        (None, _) => Hold::Nothing(gap),
    }
}

/// Whether the container waits for the very address or file that proves the need.
fn polls_what_proves(dependent: &Profile<'_>, case: &Case) -> bool {
    dependent.waits().any(|wait| match &wait.target {
        Target::Address(address) => {
            let port = address.port_or_default();
            address.is_loopback()
                && port.is_some()
                && case.ports.iter().any(|own| Some(*own) == port)
        }
        Target::File { path } => case.evidence.iter().any(|one| one.words == *path),
        Target::Dns { .. } | Target::Kubernetes { .. } | Target::Opaque => false,
    })
}
