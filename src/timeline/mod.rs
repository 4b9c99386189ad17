//! What was observed of pods: recordings, the instants in them, and the verdicts on constraints.

pub mod allow;
mod attempts;
mod bounds;
mod clock;
pub mod fold;
pub mod instant;
pub mod observation;
pub mod path;
pub mod plan_line;
pub mod recording;
mod state;
mod tekton;
mod unseen;
pub mod verdict;

#[cfg(test)]
mod tests;

pub use clock::ClockOffset;
pub use fold::{Attempt, ContainerTimeline, Hook, PodTimeline, Timeline};
pub use instant::{Clock, Instant, Source};
pub use observation::{ExitStatus, Observation};
pub use recording::{Change, ChangeKind, Header, Keep, Line, ReadError, Reader, Stream, Writer};
