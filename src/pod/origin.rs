//! What a live object says of where it comes from.

use crate::manifest::Node;

/// The controller that made an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty when it is not written.
    pub uid: String,
}

/// Who an object is to the API server, who made it, and who has changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// `metadata.uid`: live objects only.
    pub uid: Option<String>,
    /// The owner that controls it, else the first one.
    pub owner: Option<Owner>,
    /// `metadata.managedFields[].manager`, each once, without those who wrote the status only.
    pub managers: Vec<String>,
    /// A pod that webhooks and policies have seen: it is what they make of it.
    pub is_admitted: bool,
}

impl Origin {
    pub(super) fn read(root: Node<'_>) -> Origin {
        let text = |node: Node<'_>, key: &str| {
            let text = node.get(key).and_then(Node::string);
            text.unwrap_or_default().to_owned()
        };
        let list = |key: &str| {
            let list = root.find(&["metadata", key]);
            list.into_iter().flat_map(Node::items)
        };
        let controls = |owner: &Node<'_>| {
            let flag = owner.get("controller").and_then(Node::bool);
            flag == Some(true)
        };
        let owner = list("ownerReferences")
            .find(controls)
            .or_else(|| list("ownerReferences").next());
        let mut managers: Vec<String> = Vec::new();
        let of_spec = list("managedFields").filter(|entry| text(*entry, "subresource") != "status");
        for manager in of_spec.map(|entry| text(entry, "manager")) {
            if !manager.is_empty() && !managers.contains(&manager) {
                managers.push(manager);
            }
        }
        let uid = root.find(&["metadata", "uid"]).and_then(Node::string);
        let kind = root.get("kind").and_then(Node::string);
        Origin {
            uid: uid.map(str::to_owned),
            is_admitted: uid.is_some() && kind == Some("Pod"),
            owner: owner.map(|owner| Owner {
                kind: text(owner, "kind"),
                name: text(owner, "name"),
                uid: text(owner, "uid"),
            }),
            managers,
        }
    }
}
