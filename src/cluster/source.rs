//! One list and its watch, kept alive: pods or events, of one selector.

use super::api::{Api, Selector, text};
use super::desk::Message;
use super::error::{Error, Trouble};
use super::owner::Owner;
use futures_util::TryStreamExt;
use jiff::Timestamp;
use kube::core::WatchEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

/// What a watch is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    Pods,
    Events,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Added,
    Modified,
    Deleted,
    Relist,
}

/// Follows one collection and tells every change of it.
pub(super) struct Source {
    pub api: Api,
    pub watch: Watch,
    pub collection: String,
    pub selector: Selector,
    /// Whose pods count; without one, all that the selector selects.
    pub owner: Option<Owner>,
    pub clock: fn() -> Timestamp,
    pub out: Sender<Message>,
    pub memory: Memory,
}

/// What a source has told so far.
#[derive(Default)]
pub(super) struct Memory {
    /// The last form of each object, by UID.
    known: BTreeMap<String, Value>,
    has_listed: bool,
    has_watched: bool,
    is_lost: bool,
    /// Refusals one after another.
    refusals: usize,
}

/// Nobody reads the changes any more.
struct Closed;

/// Why a list and its watch came to an end.
enum End {
    /// The version is too old: list again.
    Expired,
    Closed,
    Failed(Error),
}

impl From<Closed> for End {
    fn from(_: Closed) -> End {
        End::Closed
    }
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        match error.trouble() {
            Trouble::Gone => End::Expired,
            Trouble::Usage
            | Trouble::Unreachable
            | Trouble::Unauthorized
            | Trouble::Forbidden
            | Trouble::NotFound
            | Trouble::Refused => End::Failed(error),
        }
    }
}

const SHORTEST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How often it may refuse: a server that has just come up will allow a moment later.
const REFUSALS: usize = 6;

/// The server ends each watch before this; a stream that lives longer is a dead one.
const LONGEST_WATCH: Duration = Duration::from_secs(310);

impl Source {
    /// Follows the collection until nobody listens any more.
    ///
    /// # Errors
    /// There was no way in from the start, or the server goes on refusing.
    pub async fn run(&mut self) -> Result<(), Error> {
        let mut wait = SHORTEST_WAIT;
        loop {
            let error = match self.list_and_watch(&mut wait).await {
                End::Closed => return Ok(()),
                End::Expired => {
                    tokio::time::sleep(SHORTEST_WAIT).await;
                    continue;
                }
                End::Failed(error) => error,
            };
            if self.gives_up(&error) {
                if self.memory.is_lost {
                    // Whoever listens may stop waiting for this one.
                    let _ = self.tell(Message::Back).await;
                }
                return Err(error);
            }
            if !self.memory.is_lost {
                self.memory.is_lost = true;
                if self.tell(Message::Lost(error.to_string())).await.is_err() {
                    return Ok(());
                }
            }
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    fn gives_up(&mut self, error: &Error) -> bool {
        match error.trouble() {
            Trouble::Unreachable | Trouble::Gone => !self.memory.has_watched,
            Trouble::Usage | Trouble::NotFound | Trouble::Unauthorized | Trouble::Forbidden
                if !self.memory.has_watched =>
            {
                true
            }
            Trouble::Usage
            | Trouble::NotFound
            | Trouble::Unauthorized
            | Trouble::Forbidden
            | Trouble::Refused => {
                self.memory.refusals += 1;
                self.memory.refusals > REFUSALS
            }
        }
    }

    /// Whether its first list has been told.
    pub fn has_listed(&self) -> bool {
        self.memory.has_listed
    }

    async fn list_and_watch(&mut self, wait: &mut Duration) -> End {
        let mut version = match self.list().await {
            Ok(version) => version,
            Err(end) => return end,
        };
        *wait = SHORTEST_WAIT;
        loop {
            let began = Instant::now();
            match self.watch_from(&mut version).await {
                Ok(()) => {}
                Err(end) => return end,
            }
            if began.elapsed() < Duration::from_secs(1) {
                tokio::time::sleep(SHORTEST_WAIT).await;
            }
        }
    }

    /// Lists, and tells what is new since the last time; returns the list's version.
    async fn list(&mut self) -> Result<String, End> {
        let list = self.api.list(&self.collection, &self.selector).await?;
        let at = (self.clock)();
        if self.memory.is_lost {
            self.memory.is_lost = false;
            self.tell(Message::Back).await?;
        }
        self.memory.refusals = 0;
        if self.memory.has_listed {
            let mark = json!({"metadata": {"resourceVersion": &list.version}});
            self.change(Change::Relist, at, mark).await?;
        }
        let before = std::mem::take(&mut self.memory.known);
        for object in list.items {
            if !self.is_wanted(&object, &before, false).await? {
                continue;
            }
            let uid = text(&object, "/metadata/uid").to_owned();
            self.memory
                .known
                .insert(uid.clone(), self.remembered(&object));
            match before.get(&uid) {
                Some(old) if version_of(old) == version_of(&object) => {}
                Some(_) => self.change(Change::Modified, at, object).await?,
                None => self.change(Change::Added, at, object).await?,
            }
        }
        for (uid, object) in before {
            // Events come and go by age; only the end of a pod means something.
            if self.watch == Watch::Pods && !self.memory.known.contains_key(&uid) {
                self.change(Change::Deleted, at, object).await?;
            }
        }
        if !self.memory.has_listed {
            self.memory.has_listed = true;
            self.tell(Message::Listed).await?;
        }
        Ok(list.version)
    }

    /// Tells the changes since a version; returns when the server ends the watch.
    async fn watch_from(&mut self, version: &mut String) -> Result<(), End> {
        let changes = self.api.watch(&self.collection, &self.selector, version);
        let mut changes = changes.await?;
        self.memory.has_watched = true;
        let end = Instant::now() + LONGEST_WATCH;
        while let Ok(change) = tokio::time::timeout_at(end, changes.try_next()).await {
            let at = (self.clock)();
            let (change, object) = match change? {
                None => break,
                Some(WatchEvent::Added(object)) => (Change::Added, object),
                Some(WatchEvent::Modified(object)) => (Change::Modified, object),
                Some(WatchEvent::Deleted(object)) => (Change::Deleted, object),
                Some(WatchEvent::Bookmark(bookmark)) => {
                    *version = bookmark.metadata.resource_version;
                    continue;
                }
                Some(WatchEvent::Error(status)) => return Err(Error::status(&status).into()),
            };
            *version = version_of(&object).to_owned();
            self.changed(change, at, object).await?;
        }
        Ok(())
    }

    async fn changed(&mut self, change: Change, at: Timestamp, object: Value) -> Result<(), End> {
        let object = super::api::without_managed_fields(object);
        let known = std::mem::take(&mut self.memory.known);
        let is_new = change == Change::Added;
        let is_wanted = self.is_wanted(&object, &known, is_new).await;
        self.memory.known = known;
        if !is_wanted? {
            return Ok(());
        }
        let uid = text(&object, "/metadata/uid").to_owned();
        match change {
            Change::Deleted => self.memory.known.remove(&uid),
            Change::Added | Change::Modified | Change::Relist => {
                let remembered = self.remembered(&object);
                self.memory.known.insert(uid, remembered)
            }
        };
        Ok(self.change(change, at, object).await?)
    }

    /// A pod that was told once is told to its end, of whatever revision it is by then.
    async fn is_wanted(
        &mut self,
        object: &Value,
        known: &BTreeMap<String, Value>,
        is_new: bool,
    ) -> Result<bool, Error> {
        match &mut self.owner {
            Some(owner) if !known.contains_key(text(object, "/metadata/uid")) => {
                owner.owns(object, is_new).await
            }
            Some(_) | None => Ok(true),
        }
    }

    /// Of an event only the version counts later on; of a pod all, for a deletion that was missed.
    fn remembered(&self, object: &Value) -> Value {
        match self.watch {
            Watch::Pods => object.clone(),
            Watch::Events => json!({"metadata": {"resourceVersion": version_of(object)}}),
        }
    }

    async fn change(&self, change: Change, at: Timestamp, object: Value) -> Result<(), Closed> {
        let watch = self.watch;
        self.tell(Message::Change {
            watch,
            change,
            at,
            object,
        })
        .await
    }

    async fn tell(&self, message: Message) -> Result<(), Closed> {
        self.out.send(message).await.map_err(|_| Closed)
    }
}

fn version_of(object: &Value) -> &str {
    text(object, "/metadata/resourceVersion")
}
