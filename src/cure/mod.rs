//! How a gap in the start order can be closed, as operations on the manifest.
//!
//! A cure is proposed here and proven in [`crate::fix`], before anything is shown as a fix.

pub mod annotation;
pub mod bind;
pub mod bound;
pub mod check;
pub mod hook;
pub mod limit;
pub mod lookup;
pub mod mesh;
pub mod native;
pub mod odd;
pub mod probe;
pub mod retry;
pub mod script;

use crate::catalog::Catalog;
use crate::plan::StartPlan;
use crate::pod::{Container, Workload};

/// What a cure may look at.
#[derive(Clone, Copy)]
pub struct Patient<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// What the kubelet will do with it.
    pub plan: &'a StartPlan,
    /// Known sidecars.
    pub catalog: &'a Catalog,
}

impl<'a> Patient<'a> {
    /// A container by its place in the template.
    pub fn container(&self, at: usize) -> &'a Container {
        &self.workload.template.containers[at]
    }

    /// The place of a container within its own list, as its path says.
    pub fn list_index(&self, at: usize) -> usize {
        match self.container(at).at.last() {
            Some(crate::manifest::path::Segment::Index(index)) => *index,
            _ => 0,
        }
    }
}
