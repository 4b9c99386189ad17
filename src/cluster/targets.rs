//! What a user names on the command line: `pod/x`, `deploy/x`, a custom kind, or a label selector.

use super::error::Error;

/// One thing to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `TYPE/NAME`.
    Named {
        /// The type.
        resource: Type,
        /// The object's name.
        name: String,
    },
    /// Pods with these labels (`-l`).
    Labels(String),
}

impl Target {
    /// The name of the pod that is meant, where exactly one is.
    pub fn pod_name(&self) -> Option<&str> {
        match self {
            Target::Named {
                resource: Type::BuiltIn(BuiltIn::Pod),
                name,
            } => Some(name),
            Target::Named { .. } | Target::Labels(_) => None,
        }
    }
}

/// A type as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One that is known without a question to the server.
    BuiltIn(BuiltIn),
    /// Any other, to be looked up in the server's discovery.
    Custom {
        /// Plural, singular, short name or kind, in lower case.
        name: String,
        /// The API group, or the version and the group, behind the first dot.
        group: Option<String>,
    },
}

/// The types that create pods or select them, and pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltIn {
    /// `pods`
    Pod,
    /// `deployments.apps`
    Deployment,
    /// `replicasets.apps`
    ReplicaSet,
    /// `statefulsets.apps`
    StatefulSet,
    /// `daemonsets.apps`
    DaemonSet,
    /// `jobs.batch`
    Job,
    /// `cronjobs.batch`
    CronJob,
    /// `replicationcontrollers`
    ReplicationController,
    /// `podtemplates`
    PodTemplate,
    /// `services`
    Service,
}

/// A type as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// The plural that stands in paths.
    pub plural: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub is_namespaced: bool,
}

impl Resource {
    /// The path of its objects in a namespace; of all of them without one.
    pub(super) fn collection(&self, namespace: Option<&str>) -> String {
        let (version, plural) = (&self.version, &self.plural);
        let root = match self.group.as_str() {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{plural}"),
        }
    }

    /// The name that server and kubectl use in messages: `deployments.apps`, `pods`.
    pub fn full_name(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }
}

impl BuiltIn {
    const ALL: [BuiltIn; 10] = [
        BuiltIn::Pod,
        BuiltIn::Deployment,
        BuiltIn::ReplicaSet,
        BuiltIn::StatefulSet,
        BuiltIn::DaemonSet,
        BuiltIn::Job,
        BuiltIn::CronJob,
        BuiltIn::ReplicationController,
        BuiltIn::PodTemplate,
        BuiltIn::Service,
    ];

    /// Its short name as kubectl has it, its group and its kind.
    fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            BuiltIn::Pod => ("po", "", "Pod"),
            BuiltIn::Deployment => ("deploy", "apps", "Deployment"),
            BuiltIn::ReplicaSet => ("rs", "apps", "ReplicaSet"),
            BuiltIn::StatefulSet => ("sts", "apps", "StatefulSet"),
            BuiltIn::DaemonSet => ("ds", "apps", "DaemonSet"),
            BuiltIn::Job => ("", "batch", "Job"),
            BuiltIn::CronJob => ("cj", "batch", "CronJob"),
            BuiltIn::ReplicationController => ("rc", "", "ReplicationController"),
            BuiltIn::PodTemplate => ("", "", "PodTemplate"),
            BuiltIn::Service => ("svc", "", "Service"),
        }
    }

    /// The type as the server knows it.
    pub fn resource(self) -> Resource {
        let (_, group, kind) = self.facts();
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
            kind: kind.to_owned(),
            is_namespaced: true,
        }
    }

    /// The type of a kind, when its group is the one that is known here.
    pub(super) fn of_kind(kind: &str, api_version: &str) -> Option<BuiltIn> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        BuiltIn::ALL.into_iter().find(|built_in| {
            let (_, own, name) = built_in.facts();
            name == kind && own == group
        })
    }

    /// The type that a word names: singular, plural or short.
    fn find(word: &str) -> Option<BuiltIn> {
        BuiltIn::ALL.into_iter().find(|built_in| {
            let (short, _, kind) = built_in.facts();
            let singular = kind.to_lowercase();
            word == singular
                || word.strip_suffix('s') == Some(&singular)
                || (word == short && !word.is_empty())
        })
    }
}

impl Type {
    /// Reads `deploy`, `Deployment`, `deployments.apps`, `deployments.v1.apps`, `rollouts.example.com`.
    fn parse(text: &str) -> Option<Type> {
        let lower = text.to_lowercase();
        let (word, group) = match lower.split_once('.') {
            Some((word, group)) => (word, Some(group)),
            None => (lower.as_str(), None),
        };
        if word.is_empty() || !group.is_none_or(is_name) || !is_name(word) {
            return None;
        }
        let fits = |built_in: &BuiltIn| {
            let (_, own, _) = built_in.facts();
            let group = group.map(|group| group.strip_prefix("v1.").unwrap_or(group));
            group.is_none_or(|group| group == own || (own.is_empty() && group == "v1"))
        };
        Some(match BuiltIn::find(word).filter(fits) {
            Some(built_in) => Type::BuiltIn(built_in),
            None => Type::Custom {
                name: word.to_owned(),
                group: group.map(str::to_owned),
            },
        })
    }
}

/// Reads the words of a command line; `labels` is the value of `-l`.
///
/// # Errors
/// Nothing is named at all, or a word is not `TYPE/NAME`.
pub fn parse(words: &[String], labels: Option<&str>) -> Result<Vec<Target>, Error> {
    let mut targets = words
        .iter()
        .map(|word| parse_word(word))
        .collect::<Result<Vec<_>, _>>()?;
    match labels.map(str::trim) {
        Some("") => return Err(Error::usage("-l selects by labels: -l app=web")),
        Some(labels) => targets.push(Target::Labels(labels.to_owned())),
        None => {}
    }
    match targets.is_empty() {
        true => Err(Error::usage("must specify one of TYPE/NAME or -l")),
        false => Ok(targets),
    }
}

fn parse_word(word: &str) -> Result<Target, Error> {
    let Some((kind, name)) = word.split_once('/') else {
        return Err(Error::usage(format!("{word:?} is not TYPE/NAME"))
            .with_hint(format!("a pod of that name is pod/{word}")));
    };
    let resource = Type::parse(kind)
        .ok_or_else(|| Error::usage(format!("the server has no type {kind:?}")))?;
    if !is_name(name) {
        return Err(Error::usage(format!("{name:?} is no name of an object")));
    }
    Ok(Target::Named {
        resource,
        name: name.to_owned(),
    })
}

/// Whether a word can stand in a path: Kubernetes allows more in few names, and none of these.
pub(super) fn is_name(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_');
    !word.is_empty() && word.chars().all(plain) && word.chars().any(|c| c != '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(word: &str) -> Result<Target, String> {
        let parsed = parse(&[word.to_owned()], None).map_err(|error| error.to_string());
        parsed.map(|mut targets| targets.remove(0))
    }

    #[test]
    fn types_are_named_as_for_kubectl() {
        let named = |word: &str| match one(word) {
            Ok(Target::Named {
                resource: Type::BuiltIn(built_in),
                name,
            }) => Some((built_in, name)),
            _ => None,
        };
        for word in ["po/x", "pod/x", "pods/x", "Pod/x", "pods.v1/x"] {
            assert_eq!(named(word), Some((BuiltIn::Pod, "x".into())), "{word}");
        }
        for word in [
            "deploy/x",
            "deployment/x",
            "deployments.apps/x",
            "deployments.v1.apps/x",
        ] {
            assert_eq!(
                named(word),
                Some((BuiltIn::Deployment, "x".into())),
                "{word}"
            );
        }
        for word in ["sts/x", "ds/x", "job/x", "cj/x", "rs/x", "rc/x", "svc/x"] {
            assert!(named(word).is_some(), "{word}");
        }
        let custom = Type::Custom {
            name: "deployments".into(),
            group: Some("example.com".into()),
        };
        let name = "x".to_owned();
        assert_eq!(
            one("deployments.example.com/x"),
            Ok(Target::Named {
                resource: custom,
                name
            })
        );
    }

    #[test]
    fn words_that_would_leave_their_path_are_refused() {
        for word in [
            "pod/../secrets",
            "pod/x?y",
            "pod/..",
            "pod/",
            "/x",
            "po d/x",
            "secrets%2f/x",
        ] {
            assert!(one(word).is_err(), "{word}");
        }
        assert_eq!(one("web"), Err("error: \"web\" is not TYPE/NAME".into()));
        assert!(parse(&[], None).is_err());
        assert_eq!(
            parse(&[], Some("app=web")).unwrap(),
            [Target::Labels("app=web".into())]
        );
    }

    #[test]
    fn paths_are_those_of_the_api() {
        let path = |built_in: BuiltIn| built_in.resource().collection(Some("shop"));
        assert_eq!(path(BuiltIn::Pod), "/api/v1/namespaces/shop/pods");
        assert_eq!(
            path(BuiltIn::CronJob),
            "/apis/batch/v1/namespaces/shop/cronjobs"
        );
    }
}
