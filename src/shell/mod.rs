//! A small reader of POSIX shell scripts, with the parts of bash that people use in manifests.
//!
//! It is our own because the maintained readers are under the GPL or model the whole of bash, while
//! a linter needs few constructs, a tree for any text however broken, and bounded work.
//!
//! A script is read into a tree ([`parse`]) and can then be rehearsed ([`rehearsal`]): walked through
//! with a clock of its own, where the caller answers what each command would do.

mod arithmetic;
mod builtin;
mod compound;
mod condition;
mod cursor;
mod expand;
mod loops;
mod outputs;
mod parser;
mod redirect;
pub mod rehearsal;
pub mod script;
mod trace;
mod value;
mod walk;
mod word;
mod wrapper;

pub use parser::parse;
pub use rehearsal::{Library, Rehearsal, Surroundings};
pub use script::{RedirectionKind, Script};
pub use trace::{Arg, Asked, Background, End, LoopRun, Place, Reply, Request, Run, Scope};
pub use value::{Knowledge, Status, Value};
pub use wrapper::duration;
