//! What `explain` prints: the order in which a kubelet starts and stops the containers of a pod.
//!
//! A prediction has an order, not a clock: the drawing has no axis, and the words beside it say how
//! firmly each thing comes before the next.

mod bars;
mod chain;
mod column;
mod gates;
mod json;
mod layout;
mod line;
mod names;
mod needs;
mod obstacles;
mod panel;
mod placing;
mod steps;
mod stop;
mod strokes;
mod text;
mod timing;
mod turns;
mod versions;

#[cfg(test)]
mod tests;

pub use json::to_json;
pub use strokes::{ASCII, Strokes, UNICODE};
pub use text::to_text;

use crate::manifest::Document;
use crate::plan::StartPlan;
use crate::pod::PodTemplate;
use crate::pod::workload::ObjectRef;

/// One pod as a kubelet of one version starts it.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The object that creates the pod.
    pub object: &'a ObjectRef,
    /// The pod.
    pub template: &'a PodTemplate,
    /// What the kubelet does with it; made from this template.
    pub plan: &'a StartPlan,
    /// The document that the template was read from.
    pub document: &'a Document,
    /// The pod is as the API server makes it, not as the manifest has it.
    pub is_answered: bool,
}

/// A prediction with the name of its manifest, as people know it.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    /// The path as the user gave it.
    pub name: String,
    /// What happens with it.
    pub prediction: Prediction<'a>,
}

/// What is told of one workload.
#[derive(Clone, Debug)]
pub enum Explanation<'a> {
    /// One prediction.
    One(Prediction<'a>),
    /// What happens now, and what would happen.
    Compared {
        /// The manifest as it is.
        reality: Named<'a>,
        /// Another one, or the same with its fixes.
        expected: Named<'a>,
    },
    /// The same pod under several versions, the oldest first; never empty.
    Versions(Vec<Prediction<'a>>),
}
