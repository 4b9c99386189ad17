//! Fields that look like fields of the start order and are none: misspelt, misplaced, or with a
//! value in the wrong case. The API server drops or rejects them, so what they say does not exist.

use super::shape::Found;
use super::workload::ObjectRef;
use crate::manifest::{FieldPath, Node};
use crate::nearness::distance;

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// No field has this name here; this one is meant.
    Misspelt(&'static str),
    /// The field exists, but elsewhere: `below a container`.
    Misplaced(&'static str),
    /// The value is known in this spelling only.
    WrongCase(&'static str),
    /// `lifecycle.type: Sidecar`, which was proposed for 1.18 and never came.
    NeverLanded,
}

/// A field that does not do what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddField {
    /// The field.
    pub at: FieldPath,
    /// Its key as it is written.
    pub key: String,
    /// What is wrong with it.
    pub oddity: Oddity,
    /// The field of the start order that is missing because of it: `postStart`, `startupProbe`, …
    pub lost: &'static str,
    /// The container that it stands in, by its place there; none at the level of the pod.
    pub container: Option<FieldPath>,
    /// The entry that says the same where it belongs, when there is one place for it.
    pub home: Option<Home>,
}

/// An entry that is not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The mapping.
    pub at: FieldPath,
    /// The entry's key.
    pub key: &'static str,
    /// Its value.
    pub value: serde_json::Value,
}

/// The odd fields of a pod spec that was found by its shape.
pub(super) fn find(
    found: &Found<'_>,
    spec_at: &FieldPath,
    owner_at: &FieldPath,
    object: &ObjectRef,
) -> Vec<OddField> {
    let mut search = Search {
        found: Vec::new(),
        container: None,
    };
    search.pod_spec(found.spec, spec_at);
    if object.is_built_in() {
        if IN_SPEC.iter().any(|field| found.spec.get(field).is_some()) {
            let only = only_app(found.spec, spec_at);
            let home = only.as_ref().map(|(node, at)| (*node, at));
            search.misplaced((found.spec, spec_at), IN_SPEC, "below a container", home);
        }
        search.around(found, owner_at, spec_at);
    }
    for list in ["initContainers", "containers"] {
        let items = found.spec.get(list).into_iter().flat_map(Node::items);
        for (index, item) in items.enumerate() {
            let at = spec_at.item(list, index);
            search.container = Some(at.clone());
            search.container(item, &at);
            if object.is_built_in() {
                search.beside((item, &at), (found.spec, spec_at));
            }
        }
    }
    search.found
}

/// The odd fields of a container of a kind whose controller makes the pod spec.
pub(super) fn of_container(node: Node<'_>, at: &FieldPath) -> Vec<OddField> {
    let mut search = Search {
        found: Vec::new(),
        container: Some(at.clone()),
    };
    search.container(node, at);
    search.found
}

/// Fields of the pod spec that matter to the order.
const SPEC: &[&str] = &[
    "initContainers",
    "restartPolicy",
    "shareProcessNamespace",
    "terminationGracePeriodSeconds",
];
/// Fields of a container that people put beside the lists of containers.
const IN_SPEC: &[&str] = &["lifecycle", "postStart", "preStop", "startupProbe"];
/// Fields of a container that matter to the order.
const CONTAINER: &[&str] = &[
    "lifecycle",
    "restartPolicy",
    "restartPolicyRules",
    "startupProbe",
];
const LIFECYCLE: &[&str] = &["postStart", "preStop"];
const HANDLER: &[&str] = &["exec", "httpGet", "sleep", "tcpSocket"];
const PROBE: &[&str] = &[
    "exec",
    "failureThreshold",
    "grpc",
    "httpGet",
    "initialDelaySeconds",
    "periodSeconds",
    "tcpSocket",
    "timeoutSeconds",
];
/// Fields of a probe that people put into its handler.
const TIMES: &[&str] = &[
    "failureThreshold",
    "initialDelaySeconds",
    "periodSeconds",
    "successThreshold",
    "timeoutSeconds",
];
const POLICIES: &[&str] = &["Always", "OnFailure", "Never"];

/// A field of another level.
struct Stray<'d> {
    /// The mapping that it stands in.
    node: Node<'d>,
    at: &'d FieldPath,
    field: &'static str,
    belongs: &'static str,
    lost: &'static str,
    /// The mapping where it belongs.
    home: Option<(Node<'d>, &'d FieldPath)>,
    /// The key between that mapping and the field.
    below: Option<&'static str>,
}

/// The entry to add, unless something stands there already.
fn entry(
    home: Node<'_>,
    at: &FieldPath,
    below: Option<&'static str>,
    field: &'static str,
    value: serde_json::Value,
) -> Option<Home> {
    let Some(between) = below else {
        let home = home.get(field).is_none().then(|| at.clone())?;
        return Some(Home {
            at: home,
            key: field,
            value,
        });
    };
    match home.get(between) {
        None => Some(Home {
            at: at.clone(),
            key: between,
            value: serde_json::json!({field: value}),
        }),
        Some(there) => entry(there, &at.key(between), None, field, value),
    }
}

/// The pod's app container, if there is just one.
fn only_app<'d>(spec: Node<'d>, at: &FieldPath) -> Option<(Node<'d>, FieldPath)> {
    let mut apps = spec.get("containers").into_iter().flat_map(Node::items);
    let only = apps.next()?;
    let at = at.key("containers").index(0);
    apps.next().is_none().then_some((only, at))
}

struct Search {
    found: Vec<OddField>,
    container: Option<FieldPath>,
}

impl Search {
    fn add(&mut self, at: FieldPath, key: &str, oddity: Oddity, lost: &'static str) {
        self.found.push(OddField {
            at,
            key: key.to_owned(),
            oddity,
            lost,
            container: self.container.clone(),
            home: None,
        });
    }

    /// A misplaced field, with the entry that it is meant to be.
    fn stray(&mut self, stray: Stray<'_>) {
        let lost = match stray.field {
            "command" => stray.lost,
            field => lost_with(field),
        };
        let at = stray.at.key(stray.field);
        self.add(at, stray.field, Oddity::Misplaced(stray.belongs), lost);
        let home = stray.home.and_then(|(home, home_at)| {
            let value = stray.node.get(stray.field)?.to_json()?;
            entry(home, home_at, stray.below, stray.field, value)
        });
        if let Some(last) = self.found.last_mut() {
            last.home = home;
        }
    }

    /// Keys of a mapping that are nearly one of these fields.
    fn misspelt(&mut self, node: Node<'_>, at: &FieldPath, fields: &'static [&'static str]) {
        for key in node.keys() {
            if let Some(meant) = nearest(key, fields) {
                let lost = lost_with(meant);
                self.add(at.key(key.to_owned()), key, Oddity::Misspelt(meant), lost);
            }
        }
    }

    /// Fields of another level; `home` is the mapping where they belong, if it is certain, and the
    /// key below it that holds them.
    fn misplaced(
        &mut self,
        (node, at): (Node<'_>, &FieldPath),
        fields: &'static [&'static str],
        belongs: &'static str,
        home: Option<(Node<'_>, &FieldPath)>,
    ) {
        for field in fields.iter().filter(|field| node.get(field).is_some()) {
            let below = match *field {
                "postStart" | "preStop" => Some("lifecycle"),
                _ => None,
            };
            self.stray(Stray {
                node,
                at,
                field,
                belongs,
                lost: field,
                home,
                below,
            });
        }
    }

    fn pod_spec(&mut self, spec: Node<'_>, at: &FieldPath) {
        self.misspelt(spec, at, SPEC);
        self.policy(spec, at);
    }

    /// Beside `spec` in the template, and beside `template` in the workload.
    fn around(&mut self, found: &Found<'_>, owner_at: &FieldPath, spec_at: &FieldPath) {
        const OF_SPEC: &[&str] = &["initContainers"];
        const OF_CONTAINER: &[&str] = &["lifecycle", "startupProbe"];
        if owner_at == spec_at {
            return;
        }
        let above = owner_at.parent();
        let above = above.and_then(|at| Some((found.owner.document().node_at(&at)?, at)));
        let owner = Some((found.owner, owner_at.clone()));
        for (node, at) in [owner, above].into_iter().flatten() {
            let home = Some((found.spec, spec_at));
            self.misplaced((node, &at), OF_SPEC, "below the pod's spec", home);
            self.misplaced((node, &at), OF_CONTAINER, "below a container", None);
        }
    }

    /// Fields of the lifecycle and of the pod that stand in a container.
    fn beside(&mut self, own: (Node<'_>, &FieldPath), spec: (Node<'_>, &FieldPath)) {
        const OF_SPEC: &[&str] = &["initContainers", "terminationGracePeriodSeconds"];
        self.misplaced(own, LIFECYCLE, "below lifecycle", Some(own));
        self.misplaced(own, OF_SPEC, "below the pod's spec", Some(spec));
    }

    fn container(&mut self, node: Node<'_>, at: &FieldPath) {
        self.misspelt(node, at, CONTAINER);
        self.policy(node, at);
        if let Some(lifecycle) = node.get("lifecycle") {
            self.lifecycle(lifecycle, &at.key("lifecycle"));
        }
        if let Some(probe) = node.get("startupProbe") {
            let at = at.key("startupProbe");
            self.misspelt(probe, &at, PROBE);
            self.handler(probe, &at, "startupProbe");
            for kind in ["exec", "httpGet", "tcpSocket"] {
                if let Some(handler) = probe.get(kind) {
                    let home = Some((probe, &at));
                    self.misplaced((handler, &at.key(kind)), TIMES, "below startupProbe", home);
                }
            }
        }
    }

    fn lifecycle(&mut self, lifecycle: Node<'_>, at: &FieldPath) {
        self.misspelt(lifecycle, at, LIFECYCLE);
        self.misplaced((lifecycle, at), HANDLER, "below postStart or preStop", None);
        let kind = lifecycle.get("type").and_then(Node::string);
        if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("sidecar")) {
            let lost = "restartPolicy: Always";
            self.add(at.key("type"), "type", Oddity::NeverLanded, lost);
        }
        for hook in LIFECYCLE {
            if let Some(handler) = lifecycle.get(hook) {
                let at = at.key(*hook);
                self.misspelt(handler, &at, HANDLER);
                self.handler(handler, &at, hook);
            }
        }
    }

    /// A command without `exec` around it.
    fn handler(&mut self, node: Node<'_>, at: &FieldPath, lost: &'static str) {
        if node.get("command").is_some() && node.get("exec").is_none() {
            self.stray(Stray {
                node,
                at,
                field: "command",
                belongs: "below exec",
                lost,
                home: Some((node, at)),
                below: Some("exec"),
            });
        }
    }

    fn policy(&mut self, node: Node<'_>, at: &FieldPath) {
        let Some(word) = node.get("restartPolicy").and_then(Node::string) else {
            return;
        };
        let meant = POLICIES
            .iter()
            .find(|known| **known != word && known.eq_ignore_ascii_case(word));
        if let Some(meant) = meant {
            let oddity = Oddity::WrongCase(meant);
            self.add(
                at.key("restartPolicy"),
                "restartPolicy",
                oddity,
                "restartPolicy",
            );
        }
    }
}

/// What does not exist when a field of this name is dropped.
fn lost_with(field: &'static str) -> &'static str {
    match field {
        "exec" | "httpGet" | "sleep" | "tcpSocket" => "handler",
        field => field,
    }
}

/// The field that a key is nearly: the same but for case and dashes, or two letters off.
fn nearest(key: &str, fields: &'static [&'static str]) -> Option<&'static str> {
    if fields.contains(&key) {
        return None;
    }
    let own = Letters::of(key);
    let is_near = |field: &&&str| {
        // Three letters more or less are never a slip, and each slip brings or takes one letter:
        // nearly every key is told apart without a letter by letter comparison.
        if field.len().abs_diff(key.len()) > 3 {
            return false;
        }
        let off = slips(field);
        !own.differs_by_more(Letters::of(field), off) && distance(&plain(key), &plain(field)) <= off
    };
    let mut fields = fields.iter();
    fields.find(is_near).copied()
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace(['-', '_'], "")
}

/// How many letters of a field may be wrong.
fn slips(field: &str) -> usize {
    match field.len() {
        ..=5 => 0,
        6..=8 => 1,
        _ => 2,
    }
}

/// Which letters a name has, upper and lower case alike; none for a name that is not ASCII, of
/// which nothing is known.
#[derive(Clone, Copy)]
struct Letters(Option<u32>);

impl Letters {
    fn of(name: &str) -> Letters {
        let letters = name.bytes().filter(u8::is_ascii_alphabetic);
        let set = letters.fold(0, |set, letter| set | 1 << (letter & 0x1f));
        Letters(name.is_ascii().then_some(set))
    }

    /// Whether one of the names has more letters that the other lacks than this.
    fn differs_by_more(self, other: Letters, most: usize) -> bool {
        let (Some(own), Some(other)) = (self.0, other.0) else {
            return false;
        };
        let lacking = (own & !other).count_ones().max((other & !own).count_ones());
        lacking as usize > most
    }
}
