//! Moves an item of a list in brackets.

use super::Refused;
use super::brackets::{self, Brackets};
use super::lists::Move;
use super::remove;
use super::target::{Target, is_flow};
use super::text::{Splice, shifted};
use crate::manifest::Node;

impl Move<'_, '_> {
    /// Moves the item within its list.
    pub fn rotation(&self) -> Vec<Splice> {
        self.brackets().rotate(self.route.from, self.route.to)
    }

    /// Moves the item to a list in brackets that has items.
    pub fn flow_to_flow(&self, target: Node<'_>) -> Result<Vec<Splice>, Refused> {
        let into = Brackets::of(self.text, target);
        let there = self.text.indent(into.slot_start(0)).len();
        let mut splices = into.insert(self.route.to, &self.item_behind(there));
        splices.push(self.removal()?);
        Ok(splices)
    }

    /// Moves the item to a list that has none.
    pub fn flow_to_empty(&self, target: &Target<'_>) -> Result<Vec<Splice>, Refused> {
        let mut splices = brackets::fill(self.text, target, &self.new_list())?;
        splices.push(self.removal()?);
        Ok(splices)
    }

    /// Makes the list before the one that the item comes from.
    pub fn flow_to_new(&self) -> Result<Vec<Splice>, Refused> {
        let colon = self.text.full_span(self.key).end..self.text.full_span(self.list).start;
        let colon = self.text.slice(colon);
        let entry = format!("{}{colon}{}", self.new_key(), self.new_list());
        let removal = self.removal()?;
        if !is_flow(self.mapping) {
            let line = format!("{entry}{}", self.line_break());
            return Ok(vec![self.above_list(&line), removal]);
        }
        let place = brackets::position(self.mapping, self.route.source);
        let around = Brackets::of(self.text, self.mapping);
        let mut splices = around.insert(place.unwrap_or(0), &entry);
        splices.push(removal);
        Ok(splices)
    }

    fn brackets(&self) -> Brackets<'_, '_> {
        Brackets::of(self.text, self.list)
    }

    /// The item alone in a list that is set like the one that it comes from.
    fn new_list(&self) -> String {
        let from = self.brackets();
        from.around(from.slot(self.route.from))
    }

    /// The change that takes the item out; the list goes when nothing is left.
    fn removal(&self) -> Result<Splice, Refused> {
        let from = self.brackets();
        if from.len() > 1 {
            return Ok(from.remove(self.route.from));
        }
        let mut splices = remove::splices(self.text, self.document, &self.source_at)?;
        splices.pop().ok_or_else(Refused::layout)
    }

    /// The item's text as it stands among items that are indented so far.
    fn item_behind(&self, indent: usize) -> String {
        let from = self.brackets();
        let here = self.text.indent(from.slot_start(self.route.from)).len();
        let item = from.slot(self.route.from);
        match item.split_once('\n') {
            None => item.to_owned(),
            Some((first, rest)) => {
                let columns = indent as isize - here as isize;
                format!("{first}\n{}", shifted(rest, columns))
            }
        }
    }
}
