//! From the places of an answer to those of the manifest that was asked about.

use crate::manifest::path::Segment;
use crate::manifest::{Document, FieldPath, Node};
use crate::pod::{Container, OddField, PodTemplate};

/// The pod that was asked about and the answer, side by side.
pub(super) struct Places<'a> {
    pub asked: &'a PodTemplate,
    pub pod: &'a Document,
    pub manifest: &'a Document,
}

/// A place in the manifest.
pub(super) struct Place {
    pub at: FieldPath,
    /// What the server has added there, if the field is of its making.
    pub added: Option<String>,
}

/// What a step of a path leads to, in the manifest and in the answer.
type Pair<'d> = (Option<Node<'d>>, Option<Node<'d>>);

impl Places<'_> {
    /// Where a field of the answer stands in the manifest. A field that only the server has stands
    /// where it would be: at the list of a container, at the name of the container of a field.
    pub fn find(&self, path: &FieldPath) -> Place {
        let unchanged = Place {
            at: path.clone(),
            added: None,
        };
        let (base, answer) = if path.is_below(&self.asked.spec_at) {
            (&self.asked.spec_at, "spec")
        } else if path.is_below(&self.asked.at) {
            (&self.asked.at, "")
        } else {
            return unchanged;
        };
        let root = self.pod.root();
        let answer = match answer {
            "" => root,
            key => root.and_then(|root| root.get(key)),
        };
        let steps = &path.segments()[base.segments().len()..];
        self.walk(base, (self.manifest.node_at(base), answer), steps)
    }

    fn walk(&self, base: &FieldPath, start: Pair<'_>, steps: &[Segment]) -> Place {
        let (mut at, mut pair) = (base.clone(), start);
        for (number, step) in steps.iter().enumerate() {
            let (next, step) = match step {
                Segment::Key(key) => (
                    (
                        pair.0.and_then(|node| node.get(key)),
                        pair.1.and_then(|node| node.get(key)),
                    ),
                    step.clone(),
                ),
                Segment::Index(index) => {
                    let theirs = pair.1.and_then(|list| list.item(*index));
                    let own = theirs.map_or(Some(*index), |item| counterpart(pair.0, item, *index));
                    let own_item = own.and_then(|own| pair.0?.item(own));
                    let step = Segment::Index(own.unwrap_or(*index));
                    ((own_item, theirs), step)
                }
            };
            if next.0.is_none() && next.1.is_some() {
                return self.added(&at, next.1, &steps[number..]);
            }
            at = at.below(std::iter::once(step));
            pair = next;
        }
        Place { at, added: None }
    }

    /// The place for what only the server has: `steps` begin with the first that the manifest lacks.
    fn added(&self, at: &FieldPath, node: Option<Node<'_>>, steps: &[Segment]) -> Place {
        let spec = &self.asked.spec_at;
        let list = |key: &'static str| *at == spec.key(key);
        let name = |node: Option<Node<'_>>| {
            let name = node.and_then(|node| node.get("name")?.string());
            name.map(|name| format!("`{name}`"))
        };
        let is_missing_list = *at == *spec
            && matches!(steps.first(), Some(Segment::Key(key)) if key == "initContainers");
        if is_missing_list {
            let item = steps.get(1).and_then(|step| match step {
                Segment::Index(index) => node?.item(*index),
                Segment::Key(_) => None,
            });
            return Place {
                at: spec.key("containers"),
                added: Some(name(item).unwrap_or_else(|| "init containers".to_owned())),
            };
        }
        if list("initContainers") || list("containers") {
            return Place {
                at: at.clone(),
                added: Some(name(node).unwrap_or_else(|| "a container".to_owned())),
            };
        }
        let keys = steps.iter().filter_map(|step| match step {
            Segment::Key(key) => Some(&**key),
            Segment::Index(_) => None,
        });
        let field = keys.take(2).collect::<Vec<_>>().join(".");
        let mut containers = self.asked.containers.iter();
        let own = containers.find(|container| at.is_below(&container.at));
        Place {
            at: own.map_or_else(|| at.clone(), |container| container.at.key("name")),
            added: Some(format!("`{field}`")),
        }
    }
}

/// The position in the manifest's list of an item of the answer's: items with a name, a path or a
/// port are the same where these are, others where they are equal.
fn counterpart(list: Option<Node<'_>>, item: Node<'_>, index: usize) -> Option<usize> {
    let list = list?;
    let keys = ["name", "mountPath", "containerPort"];
    if let Some((key, want)) = keys
        .into_iter()
        .find_map(|key| Some((key, item.get(key)?.text()?)))
    {
        let is_same = |own: Node<'_>| own.get(key).and_then(Node::text) == Some(want);
        return list.items().position(is_same);
    }
    let is_equal =
        |own: Node<'_>| own.text() == item.text() && own.is_mapping() == item.is_mapping();
    if list.item(index).is_some_and(is_equal) {
        return Some(index);
    }
    list.items().position(is_equal)
}

/// The odd fields of the asked template, with the places of its containers in the answer: the server
/// drops such fields, and they still say nothing.
pub(super) fn odd_fields(asked: &PodTemplate, answered: &PodTemplate) -> Vec<OddField> {
    let moved = |path: &FieldPath| {
        let own = asked.containers.iter().find(|own| path.is_below(&own.at));
        let pair = own.and_then(|own| Some((own, same(answered, own)?)));
        pair.map_or_else(
            || path.clone(),
            |(own, theirs)| {
                let rest = &path.segments()[own.at.segments().len()..];
                theirs.at.below(rest.iter().cloned())
            },
        )
    };
    let fields = asked.odd_fields.iter().cloned().map(|mut odd| {
        odd.at = moved(&odd.at);
        odd.container = odd.container.as_ref().map(&moved);
        if let Some(home) = &mut odd.home {
            home.at = moved(&home.at);
        }
        odd
    });
    fields.collect()
}

fn same<'a>(answered: &'a PodTemplate, own: &Container) -> Option<&'a Container> {
    answered
        .container(&own.name)
        .map(|(_, container)| container)
}
