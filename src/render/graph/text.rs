//! The waits as a list, workload by workload.

use super::{Picture, patience};
use crate::graph::{Edge, Goal};
use crate::render::{Role, Style};
use std::io::{self, Write};

/// Prints the waits, then the circles.
pub fn to_text(picture: &Picture<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let edges = &picture.graph.edges;
    if edges.is_empty() {
        let count = picture.graph.nodes.len();
        let noun = if count == 1 { "workload" } else { "workloads" };
        return writeln!(out, "{count} {noun}: none waits for a Service");
    }
    let rows: Vec<[String; 3]> = edges.iter().map(|edge| row(picture, edge)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [width(0).unwrap_or(0), width(1).unwrap_or(0)];
    let mut last = None;
    for (edge, row) in edges.iter().zip(&rows) {
        if last != Some(edge.from) {
            heading(picture, edge.from, style, last.is_some(), out)?;
            last = Some(edge.from);
        }
        let line = format!(
            "  {:3$}  {:4$}  {}",
            row[0], row[1], row[2], widths[0], widths[1]
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    circles(picture, style, out)
}

fn heading(
    picture: &Picture<'_>,
    node: usize,
    style: Style,
    is_later: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if is_later {
        writeln!(out)?;
    }
    let line = picture.place(node).map_or(1, |place| place.line);
    let place = format!("{}:{line}", picture.file(node));
    let title = style.paint(Role::Headline, &picture.title(node));
    writeln!(out, "{title}  {}", style.paint(Role::Quiet, &place))
}

/// Who waits, for what, and what is known of it.
fn row(picture: &Picture<'_>, edge: &Edge<'_>) -> [String; 3] {
    let who = format!(
        "{} ({})",
        picture.container(edge),
        edge.waiting.stage.word()
    );
    let mut told = Vec::new();
    if let Goal::Service { behind, .. } = &edge.goal {
        let names: Vec<String> = behind.iter().map(|node| picture.title(*node)).collect();
        told.extend((!names.is_empty()).then(|| names.join(", ")));
    }
    told.push(patience(edge));
    let remark = picture.remark(edge);
    told.extend((!remark.is_empty()).then(|| remark.to_owned()));
    [who, picture.goal(edge), told.join("; ")]
}

fn circles(picture: &Picture<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let (cycles, members) = picture.cycles();
    for cycle in &cycles {
        let names = cycle.iter().chain(cycle.first());
        let names: Vec<String> = names.map(|node| picture.title(*node)).collect();
        let word = style.paint(Role::Error, "circle");
        let (first, rest) = names.split_at(1);
        let rest = rest.join(", which waits for ");
        writeln!(out, "\n{word}: {} waits for {rest}", first.concat())?;
    }
    let stuck = picture.graph.stuck();
    let behind: Vec<String> = stuck
        .iter()
        .filter(|node| !members.contains(node))
        .map(|node| picture.title(*node))
        .collect();
    if behind.is_empty() {
        return Ok(());
    }
    let word = style.paint(Role::Error, "never starts");
    writeln!(out, "\n{word}: {}", behind.join(", "))
}
