//! The live side: a Kubernetes client that speaks of trouble as kubectl does.
//!
//! [`Connection`] blocks and owns its runtime; nothing else of this program is asynchronous.

mod api;
mod client;
mod config;
mod desk;
mod discovery;
mod dry_run;
mod environment;
mod error;
#[cfg(test)]
mod fake;
mod inventory;
mod kin;
mod objects;
mod owner;
mod source;
mod stream;
mod targets;
mod tasks;

pub use client::Connection;
pub use dry_run::Trial;
pub use environment::Environment;
pub use error::{Error, Trouble};
pub use inventory::{Inventory, Named, Scope};
pub use objects::{Live, Origin, Version};
pub use stream::{Asked, Flow, Incoming, Options, Warning};
pub use targets::{Resource, Target, Type, parse as parse_targets};
