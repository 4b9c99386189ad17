//! `watch`: draws the start of pods as it happens, or after the fact.

#[cfg(feature = "cluster")]
mod ending;
#[cfg(feature = "cluster")]
mod live;
mod printer;
#[cfg(feature = "cluster")]
mod record;
mod replay;
#[cfg(feature = "cluster")]
mod services;

pub use printer::{constraints, shown};

use crate::cli::WatchArgs;
use crate::error::Failure;
use std::io::Write;

/// Runs the command; the number is the exit code.
pub fn run(args: &WatchArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    match &args.replay {
        Some(file) => replay::run(args, file, out),
        None => live(args, out, err),
    }
}

#[cfg(feature = "cluster")]
fn live(args: &WatchArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    live::run(args, out, err)
}

#[cfg(not(feature = "cluster"))]
fn live(_: &WatchArgs, _: &mut dyn Write, _: &mut dyn Write) -> Result<u8, Failure> {
    Err(Failure::new("this build has no cluster client").hint("--replay FILE reads a recording"))
}
