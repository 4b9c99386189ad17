//! Lists and mappings in flow style, JSON among them.

use super::Refused;
use super::emit::Flow;
use super::target::{Target, is_flow};
use super::text::{Splice, Text};
use crate::manifest::Node;
use serde_json::Value;
use std::ops::Range;

/// A flow list or mapping: the places of its items or entries, and how they are set.
pub(super) struct Brackets<'t, 'd> {
    text: &'t Text<'d>,
    /// From the opening bracket to behind the closing one.
    span: Range<usize>,
    /// The items or entries, commas left out.
    slots: Vec<Range<usize>>,
    flow: Flow,
}

impl<'t, 'd> Brackets<'t, 'd> {
    pub fn of(text: &'t Text<'d>, node: Node<'_>) -> Brackets<'t, 'd> {
        let items = node.items().map(|item| text.full_span(item));
        let entries = node.own_entries().map(|(key, value)| {
            let (key, value) = (text.full_span(key), text.full_span(value));
            key.start..key.end.max(value.end)
        });
        let slots = items.chain(entries).collect();
        Brackets {
            text,
            span: text.span(node),
            slots,
            flow: flow_of(text, node).unwrap_or(Flow::YAML),
        }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The text of an item or entry.
    pub fn slot(&self, index: usize) -> &'t str {
        self.slots
            .get(index)
            .map_or("", |slot| self.text.slice(slot.clone()))
    }

    pub fn slot_start(&self, index: usize) -> usize {
        self.slots
            .get(index)
            .map_or(self.span.start, |slot| slot.start)
    }

    /// Whether each item or entry begins a line.
    pub fn is_tall(&self) -> bool {
        let mut starts = self.slots.iter().map(|slot| slot.start);
        !self.slots.is_empty() && starts.all(|start| self.text.is_first_in_line(start))
    }

    /// A new entry in the style of those that are there.
    pub fn entry(&self, key: &str, value: &Value) -> String {
        if !self.is_tall() {
            return self.flow.entry(key, value);
        }
        let margin = self.text.indent(self.slot_start(0));
        let unit = margin.strip_prefix(self.text.indent(self.span.start));
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or("  ");
        let entry = self.flow.tall_entry(key, value, margin, unit);
        entry.replace('\n', self.text.line_break(self.span.start))
    }

    /// The changes that put a new item or entry in place `index`.
    pub fn insert(&self, index: usize, item: &str) -> Vec<Splice> {
        if self.slots.is_empty() {
            return vec![Splice::replace(
                self.span.start + 1..self.span.end - 1,
                item,
            )];
        }
        if !self.is_tall() {
            let comma = self.flow.comma();
            return vec![match self.slots.get(index) {
                Some(next) => Splice::insert(next.start, format!("{item}{comma}")),
                None => Splice::insert(self.last_end(), format!("{comma}{item}")),
            }];
        }
        let margin = self.text.indent(self.slot_start(0));
        let line_break = self.text.line_break(self.span.start);
        if index == 0 {
            let text = format!("{item},{line_break}{margin}");
            return vec![Splice::insert(self.slot_start(0), text)];
        }
        let before = self.slots[index.min(self.len()) - 1].end;
        let tail = self.text.slice(before..self.text.line_end(before)).trim();
        let has_comment = tail.contains('#');
        match self.slots.get(index) {
            // A comment behind the entry before it stays there.
            Some(_) if has_comment => {
                let line = format!("{margin}{item},{line_break}");
                vec![Splice::insert(self.text.line_end(before), line)]
            }
            None if has_comment => {
                let line = format!("{margin}{item}{line_break}");
                let comma = if tail.starts_with(',') { "" } else { "," };
                vec![
                    Splice::insert(before, comma),
                    Splice::insert(self.text.line_end(before), line),
                ]
            }
            _ => vec![Splice::insert(
                before,
                format!(",{line_break}{margin}{item}"),
            )],
        }
    }

    fn last_end(&self) -> usize {
        self.slots
            .last()
            .map_or(self.span.start + 1, |slot| slot.end)
    }

    /// The change that takes an item or entry out, with its comma.
    pub fn remove(&self, index: usize) -> Splice {
        let slot = self.slots[index].clone();
        match (self.slots.get(index + 1), index.checked_sub(1)) {
            (Some(next), _) => Splice::delete(slot.start..next.start),
            (None, Some(before)) => Splice::delete(self.slots[before].end..slot.end),
            (None, None) => Splice::delete(self.span.start + 1..self.span.end - 1),
        }
    }

    /// The changes that move an item to another place: the items change places, what stands
    /// between them stays.
    pub fn rotate(&self, from: usize, to: usize) -> Vec<Splice> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let moved = order.remove(from);
        order.insert(to.min(order.len()), moved);
        let places = self.slots.iter().zip(&order).enumerate();
        places
            .filter(|(place, (_, item))| place != *item)
            .map(|(_, (slot, item))| Splice::replace(slot.clone(), self.slot(*item)))
            .collect()
    }

    /// `[item]` with the blanks that stand inside the brackets here.
    pub fn around(&self, item: &str) -> String {
        let (first, last) = (self.slot_start(0), self.last_end());
        let open = blank(self.text.slice(self.span.start + 1..first));
        let close = self.text.slice(last..self.span.end - 1);
        let close = blank(close.trim_start_matches(','));
        format!("[{open}{item}{close}]")
    }
}

/// Blanks and line breaks, or nothing if there is something else.
fn blank(text: &str) -> &str {
    if text.trim().is_empty() { text } else { "" }
}

/// The place of an entry among a mapping's own ones.
pub(super) fn position(mapping: Node<'_>, key: &str) -> Option<usize> {
    let entries: Vec<_> = mapping.own_entries().collect();
    entries
        .iter()
        .rposition(|(name, _)| name.text() == Some(key))
}

/// How flow style is set at a place: as the innermost flow mapping around it that has an entry.
pub(super) fn surroundings(text: &Text<'_>, target: &Target<'_>) -> Flow {
    let around = target.above.iter().rev().chain([&target.value]);
    let mut found = around.filter_map(|node| flow_of(text, *node));
    found.next().unwrap_or(Flow::YAML)
}

/// How a flow mapping (or the first one in a flow list) is set.
pub(super) fn flow_of(text: &Text<'_>, node: Node<'_>) -> Option<Flow> {
    if !is_flow(node) {
        return None;
    }
    let Some((key, value)) = node.own_entries().next() else {
        return node.items().find_map(|item| flow_of(text, item));
    };
    let (key, value) = (text.full_span(key), text.full_span(value));
    Some(Flow {
        json: text.slice(key.clone()).starts_with('"'),
        compact: text.slice(key.end..value.start) == ":",
    })
}

/// Gives an empty list or mapping, `null`, or a value that is left out its content.
pub(super) fn fill(
    text: &Text<'_>,
    target: &Target<'_>,
    content: &str,
) -> Result<Vec<Splice>, Refused> {
    let span = text.span(target.value);
    if !span.is_empty() {
        return Ok(vec![Splice::replace(span, content)]);
    }
    let key = target.key.ok_or_else(Refused::layout)?;
    let slot = text.value_slot(key).ok_or_else(Refused::layout)?;
    Ok(vec![Splice::insert(slot, format!(" {content}"))])
}
