//! `graph`: reads, resolves who waits for whom, prints.

use super::input::{self, Scope};
use super::settings::Settings;
use super::{explain, terminal};
use crate::cli::{GraphArgs, GraphFormat};
use crate::config::Levels;
use crate::error::Failure;
use crate::graph::{Graph, Node};
use crate::judge::{self, Target};
use crate::render::graph::{Picture, to_dot, to_json, to_mermaid, to_text};
use crate::rules::Preference;
use std::io::Write;

/// Runs the command; the number is the exit code.
pub fn run(args: &GraphArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    let settings = Settings::read(&args.configuration)?;
    let gathered = input::gather(
        &args.input,
        &args.connection,
        "-",
        ("graph", Scope::default()),
    )?;
    let levels = Levels::default();
    let target = Target {
        version: settings.version(&gathered).0,
        preference: Preference::PerRule,
        mesh: None,
        catalog: &settings.catalog,
        levels: &levels,
    };
    let run = gathered.run;
    let subjects = judge::all_subjects(&run, target);
    let nodes = subjects.iter().map(|subject| Node {
        source: subject.source,
        workload: subject.workload,
        profiles: &subject.profiles,
    });
    let graph = Graph::of(&run, nodes.collect());
    let documents = subjects
        .iter()
        .map(|subject| run.document(subject.source, subject.document));
    let picture = Picture {
        run: &run,
        graph: &graph,
        documents: documents.collect(),
    };
    match args.output {
        GraphFormat::Text => to_text(&picture, terminal::style(&args.style), out)?,
        GraphFormat::Dot => to_dot(&picture, out)?,
        GraphFormat::Mermaid => to_mermaid(&picture, out)?,
        GraphFormat::Json => to_json(&picture, out)?,
    }
    out.flush()?;
    Ok(explain::print_unread(&run, err)?)
}
