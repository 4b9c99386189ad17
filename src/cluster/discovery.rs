//! Finds custom types. Built-in ones are known and cost no request.

use super::api::{Api, text};
use super::error::Error;
use super::targets::{Resource, Type};
use futures_util::StreamExt;
use serde_json::Value;

/// How many groups are asked at the same time.
const AT_ONCE: usize = 8;

/// The type as the server knows it.
pub(super) async fn resolve(api: &Api, wanted: &Type) -> Result<Resource, Error> {
    match wanted {
        Type::BuiltIn(built_in) => Ok(built_in.resource()),
        Type::Custom { name, group } => find(api, name, group.as_deref()).await,
    }
}

async fn find(api: &Api, name: &str, group: Option<&str>) -> Result<Resource, Error> {
    let groups = api.get("/apis").await?;
    let groups = groups.get("groups").and_then(Value::as_array);
    let versions: Vec<String> = groups
        .into_iter()
        .flatten()
        .filter_map(|item| version_of(item, group))
        .collect();
    let mut answers = futures_util::stream::iter(versions)
        .map(|version| async move {
            let resources = api.get(&format!("/apis/{version}")).await;
            resources.map(|resources| pick(&resources, &version, name))
        })
        .buffered(AT_ONCE);
    // The server lists groups by priority: the first one that has the type is meant.
    while let Some(answer) = answers.next().await {
        // A group whose own server is down says nothing about the others.
        if let Ok(Some(found)) = answer {
            return Ok(found);
        }
    }
    let wanted = match group {
        Some(group) => format!("{name}.{group}"),
        None => name.to_owned(),
    };
    let error = format!("the server doesn't have a resource type {wanted:?}");
    Err(Error::usage(error).with_hint("kubectl api-resources lists them all"))
}

/// The version of a group to ask: the one in `wanted` (`v1.example.com`), else the preferred one.
fn version_of(group: &Value, wanted: Option<&str>) -> Option<String> {
    let preferred = text(group, "/preferredVersion/groupVersion");
    let name = text(group, "/name");
    match wanted {
        None => Some(preferred.to_owned()),
        Some(wanted) if wanted == name => Some(preferred.to_owned()),
        Some(wanted) => {
            let version = wanted.strip_suffix(name)?.strip_suffix('.')?;
            Some(format!("{name}/{version}"))
        }
    }
}

fn pick(resources: &Value, group_version: &str, name: &str) -> Option<Resource> {
    let (group, version) = group_version.split_once('/')?;
    let is_meant = |item: &&Value| {
        let short = item.get("shortNames").and_then(Value::as_array);
        let mut short = short.into_iter().flatten();
        text(item, "/name") == name
            || text(item, "/singularName") == name
            || text(item, "/kind").eq_ignore_ascii_case(name)
            || short.any(|short| short == name)
    };
    let list = resources.get("resources").and_then(Value::as_array)?;
    let found = list
        .iter()
        .filter(|item| !text(item, "/name").contains('/'))
        .find(is_meant)?;
    Some(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: text(found, "/name").to_owned(),
        kind: text(found, "/kind").to_owned(),
        is_namespaced: found.get("namespaced").and_then(Value::as_bool) == Some(true),
    })
}
