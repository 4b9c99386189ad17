//! New values as text: block style with small flow mappings inside, flow style, JSON.

use crate::manifest::scalar::{self, Scalar};
use serde_json::{Map, Value};

/// The widest line that a mapping or list is put on.
const WIDTH: usize = 80;

/// How the file at hand indents block style.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indents {
    /// From a key to the keys below it.
    pub mapping: usize,
    /// From a key to the dashes below it.
    pub dash: usize,
}

/// How the surroundings write flow style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// Every key and string in double quotes.
    pub json: bool,
    /// No blanks after `:` and `,`.
    pub compact: bool,
}

impl Flow {
    /// Flow style inside block style.
    pub const YAML: Flow = Flow {
        json: false,
        compact: false,
    };

    pub fn colon(self) -> &'static str {
        if self.compact { ":" } else { ": " }
    }

    pub fn comma(self) -> &'static str {
        if self.compact { "," } else { ", " }
    }

    pub fn string(self, text: &str) -> String {
        if self.json {
            double_quoted(text)
        } else {
            plain_or_quoted(text, true)
        }
    }

    /// A value on one line.
    pub fn value(self, value: &Value) -> String {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.value(item)).collect();
                format!("[{}]", items.join(self.comma()))
            }
            Value::Object(mapping) => {
                let entries = mapping.iter();
                let entries: Vec<_> = entries.map(|(key, value)| self.entry(key, value)).collect();
                format!("{{{}}}", entries.join(self.comma()))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        }
    }

    /// `key: value` on one line.
    pub fn entry(self, key: &str, value: &Value) -> String {
        format!("{}{}{}", self.string(key), self.colon(), self.value(value))
    }

    /// `key: value`; JSON with one entry a line, the lines after the first behind `margin`.
    pub fn tall_entry(self, key: &str, value: &Value, margin: &str, unit: &str) -> String {
        let value = if self.json {
            self.tall_value(value, margin, unit)
        } else {
            self.value(value)
        };
        format!("{}{}{value}", self.string(key), self.colon())
    }

    fn tall_value(self, value: &Value, margin: &str, unit: &str) -> String {
        let inner = format!("{margin}{unit}");
        let lines = match value {
            Value::Array(items) => {
                let items = items.iter();
                items
                    .map(|item| self.tall_value(item, &inner, unit))
                    .collect()
            }
            Value::Object(mapping) => {
                let entries = mapping.iter();
                entries
                    .map(|(key, value)| self.tall_entry(key, value, &inner, unit))
                    .collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        };
        if lines.is_empty() {
            return self.value(value);
        }
        let (open, close) = if value.is_array() {
            ('[', ']')
        } else {
            ('{', '}')
        };
        let lines = lines.join(&format!(",\n{inner}"));
        format!("{open}\n{inner}{lines}\n{margin}{close}")
    }
}

/// Whether the value given to an insertion may itself stand on its key's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outermost {
    /// As block style, like its neighbours.
    Block,
    /// In flow style when it is small, like its neighbours.
    Flow,
}

/// `key: value` in block style as lines, the first one without its indentation.
pub(super) fn block_entry(
    key: &str,
    value: &Value,
    column: usize,
    indents: Indents,
    outermost: Outermost,
) -> String {
    let mut out = String::new();
    let writer = Writer { indents };
    writer.entry(&mut out, key, value, column, outermost);
    out
}

/// `value` as it stands behind an item's dash in `column`, with its line break.
pub(super) fn block_item(value: &Value, column: usize, indents: Indents) -> String {
    let mut out = String::new();
    Writer { indents }.item(&mut out, value, column);
    out.split_off(2)
}

struct Writer {
    indents: Indents,
}

impl Writer {
    fn entry(&self, out: &mut String, key: &str, value: &Value, column: usize, outer: Outermost) {
        out.push_str(&key_text(key));
        out.push(':');
        let used = column + key.len() + 2;
        let may_be_small = value.is_array() || outer == Outermost::Flow || is_empty(value);
        if let Some(small) = small(value, used).filter(|_| may_be_small) {
            out.push(' ');
            out.push_str(&small);
            out.push('\n');
            return;
        }
        match value {
            Value::Object(mapping) => {
                out.push('\n');
                let column = column + self.indents.mapping;
                self.mapping(out, mapping, column);
            }
            Value::Array(items) => {
                out.push('\n');
                let column = column + self.indents.dash;
                for item in items {
                    margin(out, column);
                    self.item(out, item, column);
                }
            }
            _ => {
                out.push(' ');
                self.scalar(out, value, column + self.indents.mapping);
            }
        }
    }

    fn mapping(&self, out: &mut String, mapping: &Map<String, Value>, column: usize) {
        for (key, value) in mapping {
            margin(out, column);
            self.entry(out, key, value, column, Outermost::Flow);
        }
    }

    fn item(&self, out: &mut String, item: &Value, column: usize) {
        out.push_str("- ");
        match item {
            Value::Object(mapping) if !mapping.is_empty() => {
                let mut entries = mapping.iter();
                if let Some((key, value)) = entries.next() {
                    self.entry(out, key, value, column + 2, Outermost::Flow);
                }
                for (key, value) in entries {
                    margin(out, column + 2);
                    self.entry(out, key, value, column + 2, Outermost::Flow);
                }
            }
            Value::Object(_) | Value::Array(_) => {
                out.push_str(&Flow::YAML.value(item));
                out.push('\n');
            }
            _ => self.scalar(out, item, column + 2),
        }
    }

    /// A scalar and its line break; text of several lines as `|` with its lines in `column`.
    fn scalar(&self, out: &mut String, value: &Value, column: usize) {
        match value {
            Value::String(text) if is_literal(text) => {
                out.push_str(if text.ends_with('\n') { "|\n" } else { "|-\n" });
                for line in text.lines() {
                    if !line.is_empty() {
                        margin(out, column);
                    }
                    out.push_str(line);
                    out.push('\n');
                }
            }
            Value::String(text) => {
                out.push_str(&plain_or_quoted(text, false));
                out.push('\n');
            }
            _ => {
                out.push_str(&value.to_string());
                out.push('\n');
            }
        }
    }
}

fn margin(out: &mut String, column: usize) {
    out.extend(std::iter::repeat_n(' ', column));
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(mapping) => mapping.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A mapping of scalars and lists of scalars, or such a list, if it fits in the rest of the line.
fn small(value: &Value, used: usize) -> Option<String> {
    let is_line = |value: &Value| match value {
        Value::String(text) => !text.contains('\n'),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    };
    let is_list = |value: &Value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(is_line))
    };
    let is_small = match value {
        Value::Object(mapping) => mapping
            .values()
            .all(|value| is_line(value) || is_list(value)),
        _ => is_list(value),
    };
    let text = Some(Flow::YAML.value(value)).filter(|_| is_small)?;
    (used + text.chars().count() <= WIDTH).then_some(text)
}

/// Whether text can stand below a `|`: several lines, and nothing that block style cannot hold.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\n', '\t'])
        && body.chars().all(|char| char == '\n' || is_printable(char))
}

fn is_printable(char: char) -> bool {
    char == '\t'
        || !(char.is_control()
            || matches!(
                char,
                '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
            ))
}

/// A key of block style.
pub(super) fn key_text(key: &str) -> String {
    plain_or_quoted(key, false)
}

/// Text as a scalar that reads as that text again: plain, or in the quotes that it needs least
/// escapes in.
pub(super) fn plain_or_quoted(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) {
        text.to_owned()
    } else if text.contains(['"', '\\'])
        && text.chars().all(|char| char != '\t' && is_printable(char))
    {
        single_quoted(text)
    } else {
        double_quoted(text)
    }
}

/// Text in single quotes; it must hold nothing that needs an escape.
fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Text in double quotes, as JSON writes it; that is YAML, too.
pub(super) fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for char in Value::from(text).to_string().chars() {
        if is_printable(char) {
            out.push(char);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(char)));
        }
    }
    out
}

/// Text in the quotes that stood there before, as far as they can hold it.
pub(super) fn quoted_like(old: &str, text: &str, in_flow: bool) -> String {
    match old.as_bytes().first() {
        Some(b'"') => double_quoted(text),
        Some(b'\'') if text.chars().all(|char| char != '\t' && is_printable(char)) => {
            single_quoted(text)
        }
        _ => plain_or_quoted(text, in_flow),
    }
}

fn is_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    // `-x`, `?x` and `:x` are plain, but only the first is a common sight.
    let second_is_blank = text[first.len_utf8()..]
        .chars()
        .next()
        .is_none_or(char::is_whitespace);
    if matches!(
        first,
        ',' | '['
            | ']'
            | '{'
            | '}'
            | '#'
            | '&'
            | '*'
            | '!'
            | '|'
            | '>'
            | '\''
            | '"'
            | '%'
            | '@'
            | '`'
            | '?'
            | ':'
            | '='
            | '<'
    ) || (first == '-' && second_is_blank)
        || text.starts_with("---")
        || text.starts_with("...")
    {
        return false;
    }
    let has_marks = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    let has_brackets = in_flow && text.contains([',', '[', ']', '{', '}']);
    let is_trimmed = text.trim() == text;
    is_trimmed
        && !has_marks
        && !has_brackets
        && !text.contains('\t')
        && text.chars().all(is_printable)
        && matches!(scalar::resolve(text), Scalar::String(_))
        && !looks_like_a_time(text)
}

/// `2024-05-01` and `12:30`: YAML 1.1 readers other than kubectl's take them for dates and numbers.
fn looks_like_a_time(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.contains(['-', ':'])
        && text.bytes().all(|byte| {
            byte.is_ascii_digit()
                || matches!(
                    byte,
                    b'-' | b':' | b'.' | b'T' | b't' | b'Z' | b' ' | b'+' | b'_'
                )
        })
}
