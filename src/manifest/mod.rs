//! Reads YAML and JSON with the place of every value. Knows nothing of Kubernetes.

pub mod edit;
pub mod load;
pub mod node;
pub mod parse;
pub mod path;
pub mod scalar;
pub mod source;

pub use node::{Document, Node};
pub use path::{FieldPath, Mark};
pub use source::{Position, Source, Span};
