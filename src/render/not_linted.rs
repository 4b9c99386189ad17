//! What was not linted, and why: broken inputs, templates, and notes.

use super::excerpt;
use super::frame::{Frame, PROSE, Remark};
use super::style::Role;
use super::wrap::{glued, on_one_line, wrap};
use super::{Broken, NotLinted, Options, Report, Templates, headline};
use crate::finding::Skipped;
use crate::manifest::parse::ParseError;
use crate::manifest::{Source, Span};
use miette::LabeledSpan;
use std::io::{self, Write};
use std::sync::Arc;

impl NotLinted {
    /// A document that could not be parsed. A bracket that nothing closes is noticed somewhere in
    /// the first line that does not belong to it; the place is then that line's first word.
    pub fn unparsed(source: &Arc<Source>, error: &ParseError) -> NotLinted {
        let at = match error.opened {
            Some(opened) => first_word(source, opened, error.at),
            None => error.at,
        };
        let position = source.position(at.start);
        NotLinted {
            skipped: Skipped {
                file: source.name().to_owned(),
                position: Some((position.line, position.column)),
                reason: error.message.clone(),
            },
            broken: Some(Broken {
                source: Arc::clone(source),
                at,
                opened: error.opened,
            }),
        }
    }
}

/// The first word of the line of `at`, unless the bracket itself is on that line.
fn first_word(source: &Source, opened: Span, at: Span) -> Span {
    let line = source.position(at.start).line;
    if line == source.position(opened.start).line {
        return at;
    }
    let span = source.line_span(line);
    let text = source.slice(span);
    let indent = text.len() - text.trim_start().len();
    let start = (span.start as usize + indent).min(at.start as usize);
    Span::new(start, start)
}

/// Draws everything; tells whether there was anything.
pub fn draw(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    notes(report, options, out)?;
    for not_linted in &report.not_linted {
        heading(options, not_linted, out)?;
        if let Some(broken) = &not_linted.broken {
            draw_broken(options, broken, out)?;
        }
    }
    for templates in &report.templates {
        draw_templates(options, templates, out)?;
    }
    let is_empty =
        report.notes.is_empty() && report.not_linted.is_empty() && report.templates.is_empty();
    Ok(!is_empty)
}

/// One line each, without excerpts.
pub fn lines(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    notes(report, options, out)?;
    for not_linted in &report.not_linted {
        let word = options.style.paint(Role::Error, "not linted");
        let skipped = &not_linted.skipped;
        writeln!(
            out,
            "{}: {word}: {}",
            place(skipped),
            on_one_line(&skipped.reason)
        )?;
    }
    for templates in &report.templates {
        writeln!(out, "{}", sentence(templates))?;
    }
    Ok(())
}

fn notes(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let word = options.style.paint(Role::Info, "note");
    for note in &report.notes {
        writeln!(
            out,
            "{}: {word}: {}",
            place(note),
            on_one_line(&note.reason)
        )?;
    }
    Ok(())
}

fn place(skipped: &Skipped) -> String {
    let file = on_one_line(&skipped.file);
    match skipped.position {
        Some((line, column)) => format!("{file}:{line}:{column}"),
        None => file,
    }
}

fn heading(options: &Options, not_linted: &NotLinted, out: &mut dyn Write) -> io::Result<()> {
    let skipped = &not_linted.skipped;
    let head = format!("{}: ", options.style.paint(Role::Error, "not linted"));
    let text = format!("{}: {}", place(skipped), skipped.reason);
    headline::sentence(options, "not linted: ".len(), &head, &text, out)
}

fn draw_broken(options: &Options, broken: &Broken, out: &mut dyn Write) -> io::Result<()> {
    let source = &*broken.source;
    let marks = marks(broken);
    let mut frame = Frame::new(options, excerpt::last_line(source, &marks), out);
    frame.open_bare()?;
    excerpt::draw(&mut frame, source, &marks, Role::Error)?;
    frame.close(&[])
}

fn marks(broken: &Broken) -> Vec<LabeledSpan> {
    let Some(opened) = broken.opened else {
        return vec![excerpt::mark(broken.at, "", true)];
    };
    let bracket = broken.source.slice(opened).chars().next();
    // The whole collection may be meant: the bracket alone is marked.
    let length = bracket.map_or(0, char::len_utf8) as u32;
    let opened = Span {
        end: opened.start.saturating_add(length),
        ..opened
    };
    let expected = match bracket {
        Some('{') => "expected `,` or `}`",
        Some('[') => "expected `,` or `]`",
        Some('"') => "expected `\"`",
        Some('\'') => "expected `'`",
        _ => "",
    };
    vec![
        excerpt::mark(broken.at, expected, true),
        excerpt::mark(opened, "opened here", false),
    ]
}

/// `12 templates under chart/ not linted: not manifests, render them first`.
fn sentence(templates: &Templates) -> String {
    let folder = on_one_line(templates.chart.trim_end_matches('/'));
    match templates.count {
        1 => format!("1 template under {folder}/ not linted: not a manifest, render it first"),
        count => format!(
            "{count} templates under {folder}/ not linted: not manifests, render them first"
        ),
    }
}

fn draw_templates(options: &Options, templates: &Templates, out: &mut dyn Write) -> io::Result<()> {
    let room = options.columns().min(PROSE);
    for (at, line) in wrap(&sentence(templates), room, room - 2)
        .iter()
        .enumerate()
    {
        writeln!(out, "{}{line}", if at == 0 { "" } else { "  " })?;
    }
    let chart = templates.chart.trim_end_matches('/');
    // In one piece, however long, so that it can be copied.
    let command = glued(&format!(
        "helm template {chart} | kubectl startorder lint -f -"
    ));
    Frame::new(options, 0, out).close(&[Remark::new("", command)])
}
