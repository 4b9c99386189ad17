//! A recording instead of a cluster.

use super::printer::Printer;
use crate::catalog::Catalog;
use crate::cli::WatchArgs;
use crate::error::Failure;
use crate::render::timeline::Stage;
use crate::timeline::{ReadError, Reader, Timeline};
use jiff::Timestamp;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::sync::Arc;

/// Prints what a live run would have printed: 0 when no verdict is violated, else 1.
pub fn run(
    args: &WatchArgs,
    catalog: Arc<Catalog>,
    file: &Path,
    out: &mut dyn Write,
) -> Result<u8, Failure> {
    let name = file.display().to_string();
    let input = File::open(file).map_err(|error| Failure::new(format!("{name}: {error}")))?;
    let mut reader = Reader::new(name, BufReader::new(input)).map_err(told)?;
    let mut timeline = Timeline::of_recording(&reader.header);
    let mut printer = Printer::new(args, catalog);
    printer.title = reader.header.watched.clone();
    printer.kubernetes = reader.header.kubernetes.clone();
    // What could be read is told before the failure of the rest.
    let outcome = loop {
        match reader.next() {
            None => break Ok(()),
            Some(Err(error)) => break Err(told(error)),
            Some(Ok(line)) => {
                while let Some(due) = printer.due().filter(|due| *due < line.at) {
                    printer.update(&timeline, due, out)?;
                }
                timeline.push(&line);
                printer.update(&timeline, line.at, out)?;
            }
        }
    };
    let now = timeline.last_line().unwrap_or(Timestamp::UNIX_EPOCH);
    let scene = printer.scene(&timeline, now, Stage::End);
    printer.end(&scene, out)?;
    outcome.map(|()| Printer::code(&scene))
}

fn told(error: ReadError) -> Failure {
    Failure::new(error.to_string())
}
