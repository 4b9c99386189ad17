//! What a pod says about starting: the same model for a file, a live object and a recording.

mod kinds;
pub mod odd;
pub mod origin;
pub mod probe;
pub mod rbac;
mod shape;
pub mod template;
pub mod version;
pub mod workload;

pub use odd::{OddField, Oddity};
pub use probe::{Action, PortRef, Probe};
pub use template::{Container, PodTemplate, RestartPolicy, Role};
pub use version::KubeVersion;
pub use workload::{Object, Workload};
