//! What the kubelet will do with a pod, and who needs whom.

pub mod addresses;
pub mod binds;
pub mod bounds;
pub mod constraint;
pub mod ends;
mod entrypoint;
mod files;
pub mod gate;
pub mod hooks;
mod memory;
pub mod needs;
mod offline;
pub mod predict;
pub mod profile;
pub mod serves;
pub mod settings;
mod tools;
pub mod waits;
mod worlds;

pub use addresses::{Address, Mention, Target, mentions};
pub use bounds::{AtBound, Bound};
pub use constraint::{Basis, Constraint, Event, Milestone};
pub use hooks::{EarlyReturn, Hook, read_hook};
pub use predict::{Prior, StartPlan, Step, predict};
pub use waits::{Purpose, Reading, Wait};
