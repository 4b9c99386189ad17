//! The waits for programs that draw them.

use super::Picture;
use crate::graph::{Edge, Goal};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// One arrow: from a node to a node, or to a Service that nobody stands behind.
struct Arrow {
    from: usize,
    to: End,
    label: String,
    is_in_circle: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Node(usize),
    Service(String),
}

fn arrows(picture: &Picture<'_>) -> Vec<Arrow> {
    let (cycles, _) = picture.cycles();
    let circle_of: BTreeMap<usize, usize> = cycles
        .iter()
        .enumerate()
        .flat_map(|(number, cycle)| cycle.iter().map(move |node| (*node, number)))
        .collect();
    let edges = picture.graph.edges.iter();
    let all = edges.flat_map(|edge| {
        let same_circle = |node: &usize| {
            let own = circle_of.get(&edge.from);
            own.is_some() && own == circle_of.get(node) && edge.needs_one_of().is_some()
        };
        ends(picture, edge).into_iter().map(move |to| Arrow {
            from: edge.from,
            is_in_circle: match &to {
                End::Node(node) => same_circle(node),
                End::Service(_) => false,
            },
            to,
            label: format!("{}: {}", picture.container(edge), picture.goal(edge)),
        })
    });
    all.collect()
}

fn ends(picture: &Picture<'_>, edge: &Edge<'_>) -> Vec<End> {
    match &edge.goal {
        Goal::Service { behind, .. } if !behind.is_empty() => {
            behind.iter().map(|node| End::Node(*node)).collect()
        }
        Goal::Service { .. } | Goal::Missing(_) => vec![End::Service(picture.goal(edge))],
    }
}

/// The ends of all arrows, each with a short name.
fn names(arrows: &[Arrow]) -> BTreeMap<End, String> {
    let from = arrows.iter().map(|arrow| End::Node(arrow.from));
    let to = arrows.iter().map(|arrow| arrow.to.clone());
    let all: BTreeSet<End> = from.chain(to).collect();
    let numbered = all.into_iter().enumerate();
    numbered
        .map(|(number, end)| (end, format!("n{number}")))
        .collect()
}

fn title(picture: &Picture<'_>, end: &End) -> String {
    match end {
        End::Node(node) => picture.title(*node),
        End::Service(name) => name.clone(),
    }
}

/// A digraph for Graphviz.
pub fn to_dot(picture: &Picture<'_>, out: &mut dyn Write) -> io::Result<()> {
    let arrows = arrows(picture);
    let names = names(&arrows);
    writeln!(out, "digraph waits {{\n  rankdir=LR;\n  node [shape=box];")?;
    for (end, name) in &names {
        let style = match end {
            End::Node(_) => "",
            End::Service(_) => ", style=dashed",
        };
        writeln!(
            out,
            "  {name} [label=\"{}\"{style}];",
            escaped(&title(picture, end))
        )?;
    }
    for arrow in &arrows {
        let color = if arrow.is_in_circle {
            ", color=red"
        } else {
            ""
        };
        let (from, to) = (&names[&End::Node(arrow.from)], &names[&arrow.to]);
        writeln!(
            out,
            "  {from} -> {to} [label=\"{}\"{color}];",
            escaped(&arrow.label)
        )?;
    }
    writeln!(out, "}}")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A flowchart for Mermaid.
pub fn to_mermaid(picture: &Picture<'_>, out: &mut dyn Write) -> io::Result<()> {
    let arrows = arrows(picture);
    let names = names(&arrows);
    writeln!(out, "flowchart LR")?;
    for (end, name) in &names {
        let (open, close) = match end {
            End::Node(_) => ("[", "]"),
            End::Service(_) => ("([", "])"),
        };
        writeln!(
            out,
            "  {name}{open}\"{}\"{close}",
            entities(&title(picture, end))
        )?;
    }
    for arrow in &arrows {
        let line = if arrow.is_in_circle { "==>" } else { "-->" };
        let (from, to) = (&names[&End::Node(arrow.from)], &names[&arrow.to]);
        writeln!(out, "  {from} {line}|\"{}\"| {to}", entities(&arrow.label))?;
    }
    Ok(())
}

/// Mermaid takes entities in quoted text.
fn entities(text: &str) -> String {
    text.replace('&', "#amp;").replace('"', "#quot;")
}
