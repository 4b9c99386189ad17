//! What the kubelet will do with a pod, and who needs whom.

pub mod addresses;
pub mod binds;
pub mod bounds;
pub mod config;
pub mod constraint;
pub mod dials;
pub mod ends;
mod entrypoint;
mod files;
pub mod front;
pub mod gate;
mod given;
pub mod hooks;
mod memory;
pub mod needs;
mod offline;
pub mod paths;
pub mod predict;
pub mod profile;
pub mod serves;
pub mod settings;
mod speech;
mod told;
mod tools;
mod undialled;
mod variables;
pub mod volumes;
pub mod waits;
mod worlds;

pub use addresses::{Address, Mention, Target, mentions};
pub use bounds::{AtBound, Bound};
pub use constraint::{Basis, Constraint, Event, Milestone};
pub use hooks::{EarlyReturn, Hook, read_hook};
pub use predict::{Prior, StartPlan, Step, predict};
pub use waits::{Purpose, Reading, Wait};
