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

pub use printer::shown;

use super::settings::Settings;
use crate::catalog::Catalog;
use crate::cli::WatchArgs;
use crate::error::Failure;
use std::io::Write;
use std::sync::Arc;

/// Runs the command; the number is the exit code.
pub fn run(args: &WatchArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    let settings = Settings::read(&args.configuration)?;
    let catalog = Arc::new(settings.catalog.into_owned());
    match &args.replay {
        Some(file) => replay::run(args, catalog, file, out),
        None => live(args, catalog, out, err),
    }
}

#[cfg(feature = "cluster")]
fn live(
    args: &WatchArgs,
    catalog: Arc<Catalog>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Failure> {
    live::run(args, catalog, out, err)
}

#[cfg(not(feature = "cluster"))]
fn live(
    _: &WatchArgs,
    _: Arc<Catalog>,
    _: &mut dyn Write,
    _: &mut dyn Write,
) -> Result<u8, Failure> {
    Err(Failure::new("this build has no cluster client").hint("--replay FILE reads a recording"))
}
