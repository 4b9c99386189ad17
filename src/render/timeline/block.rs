//! Lays out the last block: marks and words in a column of their own, texts wrapped beside them.

use super::glyphs::bars;
use super::line::{Line, Tag};
use super::verdicts::mark;
use crate::render::wrap::{width, wrap};
use crate::render::{Role, Style};

/// Below this many columns everything moves closer together.
pub(super) const NARROW: usize = 72;

/// The column of texts beside verdicts.
const WIDE: usize = 13;

/// The column of texts beside `now` alone.
const NOW: usize = 5;

/// The lines as text.
pub(super) fn lay_out(lines: &[Line], columns: usize, style: Style) -> Vec<String> {
    let has_verdict = lines.iter().any(|line| matches!(line.tag, Tag::Verdict(_)));
    let wide = match columns < NARROW {
        true => widest(lines) + 2,
        false => WIDE.max(widest(lines) + 1),
    };
    let now = if has_verdict { wide } else { NOW };
    let mut indent = 0;
    let mut out = Vec::new();
    for line in lines {
        indent = match line.tag {
            Tag::Now => now,
            Tag::Verdict(_) | Tag::Word(_) | Tag::Under => wide,
            Tag::More => indent,
            Tag::None => 0,
        };
        out.extend(laid_out(line, indent, columns, style));
    }
    out
}

fn widest(lines: &[Line]) -> usize {
    let words = lines.iter().map(|line| match line.tag {
        Tag::Now => "now".len(),
        Tag::Verdict(verdict) => {
            let share = line
                .share
                .map_or(0, |(count, all)| format!(" {count}/{all}").len());
            verdict.word().len() + 2 + share
        }
        Tag::Word(word) => word.len(),
        Tag::More | Tag::Under | Tag::None => 0,
    });
    words.max().unwrap_or(0)
}

fn laid_out(line: &Line, indent: usize, columns: usize, style: Style) -> Vec<String> {
    let room = columns.min(100).saturating_sub(indent);
    let text = match line.mark {
        Some((mark, _)) => format!("{}  {mark}", line.text),
        None => line.text.clone(),
    };
    let mut texts = wrap(&text, room, room);
    let (head, head_width) = head(line, style);
    let last = texts.last().map_or(0, |last| width(last));
    let mut aside = None;
    if let Some((words, role)) = line.aside {
        let used = indent + last + 2 + words.len();
        if used <= columns {
            aside = Some((columns - indent - last - words.len(), words, role));
        } else {
            texts.push(words.to_owned());
        }
    }
    let mut out: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let text = colored(line, text, style);
            match index {
                0 => format!(
                    "{head}{}{text}",
                    " ".repeat(indent.saturating_sub(head_width))
                ),
                _ => format!("{}{text}", " ".repeat(indent)),
            }
        })
        .collect();
    if let (Some((gap, words, role)), Some(last)) = (aside, out.last_mut()) {
        last.push_str(&" ".repeat(gap));
        last.push_str(&style.paint(role, words.trim_end()));
    }
    out
}

/// A mark that stands out from its sentence.
fn colored(line: &Line, text: &str, style: Style) -> String {
    match line.mark {
        Some((mark, role)) if text.ends_with(mark) => {
            let before = text.len() - mark.len();
            format!("{}{}", &text[..before], style.paint(role, mark))
        }
        Some(_) | None => text.to_owned(),
    }
}

/// What stands before the text, and its columns.
fn head(line: &Line, style: Style) -> (String, usize) {
    match line.tag {
        Tag::Now => (style.paint(Role::Headline, "now"), 3),
        Tag::Verdict(verdict) => {
            let (mark, role) = mark(verdict, bars(style.ascii));
            let share = line.share.map(|(count, all)| format!(" {count}/{all}"));
            let word = format!("{mark} {}{}", verdict.word(), share.unwrap_or_default());
            (style.paint(role, &word), width(&word))
        }
        Tag::Word(word) => (style.paint(Role::Info, word), word.len()),
        Tag::More | Tag::Under | Tag::None => (String::new(), 0),
    }
}
