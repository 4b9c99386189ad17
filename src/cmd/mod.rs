//! One file a command: reads its flags, wires the layers together, prints.

pub mod baseline;
pub mod config;
pub mod explain;
pub mod graph;
pub mod input;
pub mod likely;
pub mod lint;
#[cfg(feature = "cluster")]
pub mod live;
pub mod paths;
pub mod rules;
pub mod settings;
pub mod terminal;
pub mod version;
pub mod via_server;
pub mod watch;
