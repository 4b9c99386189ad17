//! Names of Services as pods write them: `db`, `db.shop`, `db-0.db.shop.svc.cluster.local`.

use crate::plan::addresses::is_loopback;
use crate::pod::Workload;
use crate::pod::workload::Service;
use crate::run::Run;

/// What a host name means for a pod of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host<'r> {
    /// A Service of the run.
    Service(Found<'r>),
    /// A Service by its form, and the run holds none of this name.
    Missing(Missing),
    /// Loopback, an address, a host outside the cluster, or a name that cannot be read.
    Elsewhere,
}

/// A Service of the run that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'r> {
    /// The Service.
    pub service: &'r Service,
    /// The pod that the name singles out.
    pub pod: Option<PodName>,
}

/// The pod in front of a Service's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodName {
    /// Whoever asks.
    Own,
    /// This one.
    Named(String),
    /// One that depends on a variable.
    Unknown,
}

/// A Service that the run does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// The namespace in which it is looked for.
    pub namespace: String,
}

/// Who asks.
#[derive(Clone, Copy)]
pub struct Asker<'r> {
    /// The run.
    pub run: &'r Run,
    /// The workload whose pod asks.
    pub workload: &'r Workload,
    /// The source that it is from.
    pub source: usize,
}

impl<'r> Asker<'r> {
    /// What a host name means for this pod.
    pub fn resolve(&self, host: &str) -> Host<'r> {
        let host = host.trim().trim_end_matches('.');
        if host.is_empty() || is_loopback(host) || is_address(host) {
            return Host::Elsewhere;
        }
        let labels = labels(host);
        let own = self.namespace();
        let name = match labels.as_slice() {
            [name] => self.named(name, own, None),
            [name, space, "svc", ..] => self.in_space(name, space, None),
            [pod, name, space, "svc", ..] => self.in_space(name, space, Some(pod)),
            [first, second] => self.pair(first, second),
            [pod, name, space] => self.pod_of_headless(pod, name, space),
            _ => None,
        };
        name.unwrap_or(Host::Elsewhere)
    }

    /// The namespace of the pod that asks.
    pub fn namespace(&self) -> &'r str {
        self.run.namespace_of(&self.workload.object)
    }

    fn service(&self, name: &str, space: &str) -> Option<&'r Service> {
        self.run.service(space, name, self.source)
    }

    fn named(&self, name: &str, space: &str, pod: Option<&str>) -> Option<Host<'r>> {
        if !is_name(name) {
            return None;
        }
        let pod = pod.map(pod_name);
        Some(match self.service(name, space) {
            Some(service) => Host::Service(Found { service, pod }),
            None => Host::Missing(Missing {
                name: name.to_owned(),
                namespace: space.to_owned(),
            }),
        })
    }

    fn in_space(&self, name: &str, space: &str, pod: Option<&str>) -> Option<Host<'r>> {
        let own = self.namespace();
        if space.contains('$') {
            let is_own = space.to_ascii_lowercase().contains("namespace");
            return is_own.then(|| self.named(name, own, pod)).flatten();
        }
        // Manifests of which none names a namespace land together in whichever they are meant for.
        let is_open = self.workload.object.namespace.is_none() && self.run.namespace.is_empty();
        let is_meant = is_open && !self.is_known(space) && self.service(name, own).is_some();
        self.named(name, if is_meant { own } else { space }, pod)
    }

    fn is_known(&self, space: &str) -> bool {
        self.run.namespace(space, self.source).is_some() || self.run.service_names(space).len() > 0
    }

    /// `name.namespace`, or `pod.service` of a headless Service.
    fn pair(&self, first: &str, second: &str) -> Option<Host<'r>> {
        let own = self.namespace();
        let headless = self.service(second, own).filter(|one| one.is_headless);
        if headless.is_some() && self.service(first, second).is_none() {
            return self.named(second, own, Some(first));
        }
        let is_space = second == own || self.is_known(second);
        is_space.then(|| self.named(first, second, None)).flatten()
    }

    fn pod_of_headless(&self, pod: &str, name: &str, space: &str) -> Option<Host<'r>> {
        let service = self.service(name, space)?;
        service
            .is_headless
            .then(|| self.named(name, space, Some(pod)))
            .flatten()
    }
}

/// The labels of a name; `$(…)` and `${…}` stay whole.
fn labels(host: &str) -> Vec<&str> {
    let mut labels = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, letter) in host.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => {
                labels.push(&host[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    labels.push(&host[start..]);
    labels
}

fn pod_name(label: &str) -> PodName {
    if !label.contains('$') {
        return PodName::Named(label.to_owned());
    }
    let text = label.to_ascii_lowercase();
    let is_whole = label.starts_with('$') && (label.ends_with([')', '}']) || !label.contains('-'));
    let is_own = ["hostname", "pod_name", "podname", "my_name"];
    match is_whole && is_own.iter().any(|word| text.contains(word)) {
        true => PodName::Own,
        false => PodName::Unknown,
    }
}

fn is_name(text: &str) -> bool {
    let fits =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    text.starts_with(|letter: char| letter.is_ascii_lowercase()) && text.chars().all(fits)
}

fn is_address(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}
