//! Start order of the containers of a pod: predicted from manifests, observed on live pods.

pub mod admission;
pub mod baseline;
pub mod catalog;
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod cmd;
pub mod config;
pub mod cure;
pub mod diff;
pub mod error;
pub mod finding;
pub mod fix;
pub mod graph;
pub mod inject;
pub mod judge;
pub mod manifest;
pub mod nearness;
pub mod plan;
pub mod pod;
pub mod render;
pub mod rules;
pub mod run;
pub mod shell;
pub mod suppress;
pub mod timeline;
