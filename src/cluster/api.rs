//! Requests: JSON in, JSON out. No type of the API is written down here.

use super::error::{Error, Place};
use futures_util::StreamExt;
use kube::Client;
use kube::core::params::{GetParams, ListParams, PostParams, WatchParams};
use kube::core::{Request, WatchEvent};
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Sends requests; cheap to clone.
#[derive(Clone)]
pub(super) struct Api {
    client: Client,
    place: Arc<Place>,
    /// How long one request may take; a watch has no limit.
    timeout: Option<Duration>,
}

/// Which objects of a kind are meant; empty selectors mean all.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Selector {
    pub fields: Option<String>,
    pub labels: Option<String>,
}

/// A list, with the version from which a watch goes on.
pub(super) struct List {
    pub items: Vec<Value>,
    pub version: String,
}

/// What a watch sends.
pub(super) type Changes =
    Pin<Box<dyn futures_util::Stream<Item = Result<WatchEvent<Value>, Error>> + Send>>;

/// How many objects a list brings at a time, as with kubectl.
const PAGE: u32 = 500;

/// After which time the server ends a watch, in seconds; the library allows less than 295.
const WATCH_SECONDS: u32 = 290;

impl Api {
    pub fn new(client: Client, place: Arc<Place>, timeout: Option<Duration>) -> Api {
        Api {
            client,
            place,
            timeout,
        }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is at a path, such as `/version`.
    pub async fn get(&self, path: &str) -> Result<Value, Error> {
        let request = Request::new(path).list(&ListParams::default());
        let request = request.map_err(|error| Error::usage(error.to_string()))?;
        self.within(self.client.request(request)).await
    }

    /// One object of a collection.
    pub async fn object(&self, collection: &str, name: &str) -> Result<Value, Error> {
        let request = Request::new(collection).get(name, &GetParams::default());
        let request = request.map_err(|error| Error::usage(error.to_string()))?;
        let object = self.within(self.client.request(request)).await;
        object.map(without_managed_fields)
    }

    /// All objects that a selector selects, page by page. `apiVersion` and `kind` stand in each.
    pub async fn list(&self, collection: &str, selector: &Selector) -> Result<List, Error> {
        let mut items = Vec::new();
        let add = |object| items.push(without_managed_fields(object));
        let version = self.each(collection, selector, add).await?;
        Ok(List { items, version })
    }

    /// Hands each object that a selector selects to `take`, managed fields included, with one page
    /// in memory at a time; returns the version of the list.
    pub async fn each(
        &self,
        collection: &str,
        selector: &Selector,
        mut take: impl FnMut(Value),
    ) -> Result<String, Error> {
        let mut parameters = ListParams {
            field_selector: selector.fields.clone(),
            label_selector: selector.labels.clone(),
            limit: Some(PAGE),
            ..ListParams::default()
        };
        loop {
            let request = Request::new(collection).list(&parameters);
            let request = request.map_err(|error| Error::usage(error.to_string()))?;
            let mut page: Value = self.within(self.client.request(request)).await?;
            let text = |at: &str| page.pointer(at).and_then(Value::as_str).map(str::to_owned);
            let next = text("/metadata/continue").filter(|token| !token.is_empty());
            let version = text("/metadata/resourceVersion").unwrap_or_default();
            let kind = text("/kind").unwrap_or_default();
            let kind = kind.trim_end_matches("List").to_owned();
            let api_version = text("/apiVersion").unwrap_or_default();
            if let Some(Value::Array(found)) = page.get_mut("items").map(Value::take) {
                for item in found {
                    take(with_kind(item, &kind, &api_version));
                }
            }
            if next.is_none() {
                return Ok(version);
            }
            parameters.continue_token = next;
        }
    }

    /// What would become of an object if it were created: the server and its webhooks answer as if it
    /// were, and nothing is kept.
    pub async fn try_to_create(&self, collection: &str, object: &Value) -> Result<Value, Error> {
        let parameters = PostParams {
            dry_run: true,
            field_manager: Some("kubectl-startorder".to_owned()),
        };
        let body = object.to_string().into_bytes();
        let request = Request::new(collection).create(&parameters, body);
        let request = request.map_err(|error| Error::usage(error.to_string()))?;
        let made = self.within(self.client.request(request)).await;
        made.map(without_managed_fields)
    }

    /// The changes since a version, until the server ends the watch.
    pub async fn watch(
        &self,
        collection: &str,
        selector: &Selector,
        version: &str,
    ) -> Result<Changes, Error> {
        let parameters = WatchParams {
            field_selector: selector.fields.clone(),
            label_selector: selector.labels.clone(),
            timeout: Some(WATCH_SECONDS),
            bookmarks: true,
            ..WatchParams::default()
        };
        let request = Request::new(collection).watch(&parameters, version);
        let request = request.map_err(|error| Error::usage(error.to_string()))?;
        let changes = self.within(self.client.request_events(request)).await?;
        let place = Arc::clone(&self.place);
        let changes =
            changes.map(move |change| change.map_err(|error| Error::client(error, &place)));
        Ok(Box::pin(changes))
    }

    async fn within<T>(
        &self,
        answer: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, Error> {
        let answer = match self.timeout {
            Some(limit) => match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => return Err(Error::timed_out(limit, &self.place)),
            },
            None => answer.await,
        };
        answer.map_err(|error| Error::client(error, &self.place))
    }
}

/// Who set which field is of no use here, and a third of the text.
pub(super) fn without_managed_fields(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("managedFields");
    }
    object
}

/// The items of a list lack what the same object has in a watch.
fn with_kind(object: Value, kind: &str, api_version: &str) -> Value {
    let Value::Object(fields) = object else {
        return object;
    };
    let mut whole = Map::new();
    whole.insert("kind".to_owned(), kind.into());
    whole.insert("apiVersion".to_owned(), api_version.into());
    whole.extend(fields);
    Value::Object(whole)
}

/// A text of an object, such as `/metadata/uid`; empty when it is not there.
pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
