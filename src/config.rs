//! What the user has settled for every run: which rules count, and how much.

mod levels;

pub use levels::{Level, Levels};
