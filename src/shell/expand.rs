//! The values of words.

use super::arithmetic;
use super::condition::fits;
use super::cursor::{Cursor, is_name};
use super::rehearsal::Rehearsal;
use super::script::{Form, Operator, Part, Script, Word};
use super::trace::Arg;
use super::value::{Knowledge, Value};
use super::word::Ends;
use std::sync::Arc;

/// The most fields that one word may become.
const MAX_FIELDS: usize = 4096;

impl Rehearsal<'_> {
    /// The words of a command.
    pub(super) fn args(&mut self, words: &[Word]) -> Vec<Arg> {
        let mut args = Vec::with_capacity(words.len());
        let mut push = |word: &Word, value: Value| {
            args.push(Arg {
                value,
                source: Arc::clone(&word.source),
                at: Some(word.at),
            });
        };
        for word in words {
            match word.parts.as_slice() {
                [part] if !is_split(part) && !is_all_arguments(part) => {
                    push(word, self.part(part));
                }
                _ => {
                    for value in self.fields(word) {
                        push(word, value);
                    }
                }
            }
        }
        args
    }

    /// The value of a word that is not split.
    pub(super) fn value(&mut self, word: &Word) -> Value {
        if let [part] = word.parts.as_slice() {
            return self.part(part);
        }
        let mut value = Value::known("");
        for part in &word.parts {
            value.push(&self.part(part));
        }
        value
    }

    /// The values that a word becomes when it is split at blanks.
    pub(super) fn fields(&mut self, word: &Word) -> Vec<Value> {
        let mut fields = Vec::new();
        let mut current: Option<Value> = None;
        for part in &word.parts {
            if fields.len() >= MAX_FIELDS {
                break;
            }
            if is_all_arguments(part) {
                let mut arguments = self.arguments.clone().into_iter();
                if let Some(first) = arguments.next() {
                    current.get_or_insert_with(|| Value::known("")).push(&first);
                }
                for argument in arguments {
                    fields.extend(current.replace(argument));
                }
                continue;
            }
            let value = self.part(part);
            if is_split(part) && value.knowledge == Knowledge::Known {
                split(&value.text, &mut fields, &mut current);
            } else {
                match &mut current {
                    Some(before) => before.push(&value),
                    None => current = Some(value),
                }
            }
        }
        fields.extend(current);
        fields.truncate(MAX_FIELDS);
        fields
    }

    fn part(&mut self, part: &Part) -> Value {
        match part {
            Part::Literal { text, .. } => Value::known(text.as_str()),
            Part::Opaque(text) => Value::unknown(text.as_str()),
            Part::Arithmetic(text) => self.arithmetic(text),
            Part::Command { script, source, .. } => self.substitute(script, source),
            Part::Variable {
                name,
                operator,
                source,
                ..
            } => match operator {
                None => self.variable(name, source),
                Some((operator, word)) => self.operate(name, *operator, word, source),
            },
        }
    }

    /// The value of a variable.
    fn variable(&mut self, name: &str, source: &str) -> Value {
        self.lookup(name).unwrap_or_else(|| Value::unknown(source))
    }

    fn lookup(&mut self, name: &str) -> Option<Value> {
        if let Some(value) = self.variables.get(name) {
            return Some(value.clone());
        }
        if name == "0" {
            return self.script_name.clone();
        }
        if let Ok(number) = name.parse::<usize>() {
            return self.arguments.get(number.checked_sub(1)?).cloned();
        }
        match name {
            "?" => Some(match self.status {
                super::value::Status::Known(code) => Value::known(code.to_string()),
                super::value::Status::Unknown => Value::unknown("$?"),
            }),
            "#" => Some(Value::known(self.arguments.len().to_string())),
            "SECONDS" => {
                self.time_reads += 1;
                let seconds = self.clock.saturating_sub(self.seconds_from).as_secs();
                Some(Value::known(seconds.to_string()))
            }
            "@" | "*" => {
                let mut joined = Value::known("");
                for (index, argument) in self.arguments.iter().enumerate() {
                    if index > 0 {
                        joined.push(&Value::known(" "));
                    }
                    joined.push(argument);
                }
                (!self.arguments.is_empty()).then_some(joined)
            }
            _ => (self.surroundings.env)(name).map(Value::known),
        }
    }

    fn operate(&mut self, name: &str, operator: Operator, word: &Word, source: &str) -> Value {
        let found = self.lookup(name);
        let is_empty = found
            .as_ref()
            .is_none_or(|value| value.as_known() == Some(""));
        match operator {
            Operator::Default if is_empty => self.value(word),
            Operator::Assign if is_empty => {
                let value = self.value(word);
                self.set(name, value.clone());
                value
            }
            Operator::Alternative if is_empty => Value::unknown(source),
            Operator::Alternative => self.value(word),
            Operator::Default | Operator::Assign | Operator::Require => {
                found.unwrap_or_else(|| Value::unknown(source))
            }
            Operator::CutStart(longest) | Operator::CutEnd(longest) => {
                let pattern = self.value(word);
                match (found, pattern.as_known()) {
                    (Some(value), Some(pattern)) if is_short(&value) => {
                        let at_end = matches!(operator, Operator::CutEnd(_));
                        Value::known(cut(&value.text, pattern, at_end, longest))
                    }
                    _ => Value::unknown(source),
                }
            }
        }
    }

    /// The value of `$((…))`.
    pub(super) fn arithmetic(&mut self, text: &str) -> Value {
        let value = self.calculate(text);
        value.map_or_else(
            || Value::unknown(format!("$(({text}))")),
            |number| Value::known(number.to_string()),
        )
    }

    /// Evaluates an expression and sets the variables that it sets.
    pub(super) fn calculate(&mut self, text: &str) -> Option<i64> {
        let expanded;
        let text = if text.contains(['$', '`']) {
            let word = Cursor::new(text, self.depth.min(60)).word(Ends::Brace);
            let value = self.value(&word);
            expanded = value.as_known()?.to_owned();
            expanded.as_str()
        } else {
            text
        };
        if text.contains("SECONDS") {
            self.time_reads += 1;
        }
        let outcome = arithmetic::evaluate(text, &|name| self.number(name));
        for (name, value) in outcome.sets {
            let value = value.map_or_else(
                || Value::unknown(format!("${name}")),
                |number| Value::known(number.to_string()),
            );
            self.set(&name, value);
        }
        outcome.value
    }

    fn number(&self, name: &str) -> Option<i64> {
        if name == "SECONDS" {
            let seconds = self.clock.saturating_sub(self.seconds_from).as_secs();
            return i64::try_from(seconds).ok();
        }
        match self.variables.get(name) {
            Some(value) if value.as_known() == Some("") => Some(0),
            Some(value) => value.number(),
            None => match (self.surroundings.env)(name) {
                Some(value) => value.trim().parse().ok(),
                // Images set variables in capitals; one in small letters is the script's own, and
                // counts from zero.
                None => (!name.contains(|letter: char| letter.is_ascii_uppercase())).then_some(0),
            },
        }
    }

    /// What commands print, by `$(…)`.
    fn substitute(&mut self, script: &Script, source: &str) -> Value {
        if let Some(name) = lone_name(script)
            && !self.functions.contains_key(name)
            && let Some(value) = (self.surroundings.env)(name)
        {
            // What starts the shell may put values in for `$(NAME)` before the shell sees it.
            return Value::known(value);
        }
        if self.is_too_deep() {
            return Value::unknown(source);
        }
        self.captures.push(Value::known(""));
        let flow = self.subshell(script);
        let mut value = self.captures.pop().unwrap_or_else(|| Value::known(""));
        if flow.passes_subshell() {
            self.pending.get_or_insert(flow);
        }
        if value.knowledge == Knowledge::Known {
            value.text.truncate(value.text.trim_end_matches('\n').len());
        } else {
            source.clone_into(&mut value.text);
        }
        value
    }
}

/// Whether a value is known, and short enough to be cut at every place.
fn is_short(value: &Value) -> bool {
    value.knowledge == Knowledge::Known && value.text.len() <= 512
}

/// The name in `$(NAME)`.
fn lone_name(script: &Script) -> Option<&str> {
    let [list] = script.lists.as_slice() else {
        return None;
    };
    let [command] = list.first.commands.as_slice() else {
        return None;
    };
    let Form::Simple { assignments, words } = &command.form else {
        return None;
    };
    match words.as_slice() {
        [word] if assignments.is_empty() && list.rest.is_empty() && is_name(&word.source) => {
            Some(&word.source)
        }
        _ => None,
    }
}

fn is_all_arguments(part: &Part) -> bool {
    matches!(part, Part::Variable { name, operator: None, .. } if name == "@" || name == "*")
}

fn is_split(part: &Part) -> bool {
    match part {
        Part::Variable { is_quoted, .. } | Part::Command { is_quoted, .. } => !is_quoted,
        Part::Literal { .. } | Part::Arithmetic(_) | Part::Opaque(_) => false,
    }
}

fn split(text: &str, fields: &mut Vec<Value>, current: &mut Option<Value>) {
    if text.starts_with(char::is_whitespace) {
        fields.extend(current.take());
    }
    for (index, piece) in text.split_whitespace().take(MAX_FIELDS).enumerate() {
        if index > 0 {
            fields.extend(current.take());
        }
        current
            .get_or_insert_with(|| Value::known(""))
            .push(&Value::known(piece));
    }
    if text.ends_with(char::is_whitespace) {
        fields.extend(current.take());
    }
}

/// The text without the start or end that fits a pattern.
fn cut(text: &str, pattern: &str, at_end: bool, longest: bool) -> String {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.push(text.len());
    // The longest start ends last, the longest end begins first.
    if at_end != longest {
        places.reverse();
    }
    for place in places {
        let (start, end) = text.split_at(place);
        if at_end && fits(end, pattern) {
            return start.to_owned();
        }
        if !at_end && fits(start, pattern) {
            return end.to_owned();
        }
    }
    text.to_owned()
}
