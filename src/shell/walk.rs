//! The walk through the tree of a script.

use super::condition::fits;
use super::outputs::is_output_redirected;
use super::rehearsal::{Flow, Rehearsal};
use super::script::{Assignment, Command, Connector, Form, List, Part, Pipeline, Script, Word};
use super::trace::Background;
use super::value::{Status, Value};
use std::mem;
use std::sync::Arc;

/// How many of the commands that read an output are looked at.
const PIPED_COMMANDS: usize = 4;

impl Rehearsal<'_> {
    pub(super) fn script(&mut self, script: &Script) -> Flow {
        for list in &script.lists {
            let flow = if list.is_background {
                self.background(list)
            } else {
                self.list(list)
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    /// Walks through commands whose variables end with them.
    pub(super) fn subshell(&mut self, script: &Script) -> Flow {
        let variables = Arc::clone(&self.variables);
        let exits_on_error = self.exits_on_error;
        let flow = self.script(script);
        self.variables = variables;
        self.exits_on_error = exits_on_error;
        if flow.passes_subshell() {
            flow
        } else {
            Flow::Next
        }
    }

    fn background(&mut self, list: &List) -> Flow {
        let is_redirected = list.first.commands.iter().all(is_output_redirected);
        let place = self.place.clone();
        let started = self.clock;
        self.place.background = if is_redirected {
            Background::Redirected
        } else {
            Background::Bare
        };
        let deadlines = mem::take(&mut self.deadlines);
        let variables = Arc::clone(&self.variables);
        let flow = self.list(list);
        self.variables = variables;
        self.deadlines = deadlines;
        self.jobs = match flow {
            Flow::Stuck => None,
            Flow::TooLong => return flow,
            Flow::Next
            | Flow::Break(_)
            | Flow::Continue(_)
            | Flow::Return
            | Flow::Exit
            | Flow::TimedOut(_) => self.jobs.map(|end| end.max(self.clock)),
        };
        self.place = place;
        self.clock = started;
        self.status = Status::OK;
        Flow::Next
    }

    fn list(&mut self, list: &List) -> Flow {
        let mut remaining = list.rest.len();
        let compared = self.numbers_compared;
        let mut flow = self.joined(&list.first, remaining > 0);
        for (connector, pipeline) in &list.rest {
            if self.numbers_compared != compared && pipeline.leaves() {
                self.note_number_test(compared);
            }
            if flow != Flow::Next {
                return flow;
            }
            remaining -= 1;
            let runs = match (connector, self.status.succeeds()) {
                (Connector::And, Some(true)) | (Connector::Or, Some(false)) => true,
                (Connector::And, Some(false)) | (Connector::Or, Some(true)) => false,
                (_, None) if pipeline.leaves() => {
                    self.note_unsure();
                    self.status = Status::OK;
                    false
                }
                (_, None) => true,
            };
            if runs {
                flow = self.joined(pipeline, remaining > 0);
            }
        }
        flow
    }

    /// Walks through a pipeline; a failure of one that others follow does not end the script.
    fn joined(&mut self, pipeline: &Pipeline, is_followed: bool) -> Flow {
        let is_condition = is_followed || pipeline.is_negated;
        self.conditions += usize::from(is_condition);
        let flow = self.pipeline(pipeline);
        self.conditions -= usize::from(is_condition);
        let fails = self.status.succeeds() == Some(false);
        if flow == Flow::Next
            && fails
            && self.exits_on_error
            && self.conditions == 0
            && !is_condition
        {
            return Flow::Exit;
        }
        flow
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Flow {
        let flow = match pipeline.commands.as_slice() {
            [command] => self.command_at(command),
            commands => self.piped(commands),
        };
        if pipeline.is_negated
            && let Some(succeeds) = self.status.succeeds()
        {
            self.status = Status::of(Some(!succeeds));
        }
        flow
    }

    fn piped(&mut self, commands: &[Command]) -> Flow {
        let outer_input = self.input.take();
        let mut has_failed = false;
        let mut flow = Flow::Next;
        for (index, command) in commands.iter().enumerate() {
            let is_last = index + 1 == commands.len();
            if is_last {
                flow = self.command_at(command);
                break;
            }
            let piped_into = mem::replace(
                &mut self.place.piped_into,
                text_of(commands.iter().skip(index + 1).take(PIPED_COMMANDS)),
            );
            self.captures.push(Value::known(""));
            flow = self.command_at(command);
            self.input = self.captures.pop();
            self.place.piped_into = piped_into;
            has_failed |= self.status.succeeds() == Some(false);
            if flow.passes_subshell() {
                break;
            }
        }
        self.input = outer_input;
        if self.pipe_fails && has_failed {
            self.status = Status::FAILED;
        }
        if flow.passes_subshell() || flow == Flow::Exit {
            return flow;
        }
        Flow::Next
    }

    pub(super) fn command_at(&mut self, command: &Command) -> Flow {
        if !self.step() {
            return Flow::TooLong;
        }
        if self.is_too_deep() {
            self.status = Status::Unknown;
            return Flow::Next;
        }
        self.depth += 1;
        let flow = self.redirected(command);
        self.depth -= 1;
        self.pending.take().unwrap_or(flow)
    }

    fn redirected(&mut self, command: &Command) -> Flow {
        let outer_input = self.input.clone();
        let outputs = self.redirect(&command.redirections);
        if outputs.flow != Flow::Next {
            return outputs.flow;
        }
        if outputs.is_refused {
            self.status = Status::FAILED;
            self.input = outer_input;
            return Flow::Next;
        }
        if outputs.is_silent {
            self.captures.push(Value::known(""));
        }
        let flow = self.form(command);
        if outputs.is_silent {
            self.captures.pop();
        }
        self.input = outer_input;
        flow
    }

    fn form(&mut self, command: &Command) -> Flow {
        match &command.form {
            Form::Simple { assignments, words } => self.simple(assignments, words),
            Form::Group(script) => self.script(script),
            Form::Subshell(script) => self.subshell(script),
            Form::If {
                branches,
                otherwise,
            } => self.conditional(branches, otherwise),
            Form::Loop {
                is_until,
                condition,
                body,
            } => self.repetition(command.at, *is_until, condition, body),
            Form::For {
                variable,
                words,
                body,
            } => self.for_each(command.at, variable, words.as_deref(), body),
            Form::Count {
                start,
                condition,
                step,
                body,
            } => {
                self.calculate(start);
                self.count(command.at, condition, step, body)
            }
            Form::Case { subject, arms } => self.case(subject, arms),
            Form::Function { name, body } => {
                self.functions.insert(name.clone(), body.clone());
                self.status = Status::OK;
                Flow::Next
            }
            Form::Arithmetic(text) => {
                let value = self.calculate(text);
                self.numbers_compared += 1;
                self.status = Status::of(value.map(|value| value != 0));
                Flow::Next
            }
            Form::Opaque(_) => {
                self.status = Status::Unknown;
                Flow::Next
            }
        }
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word]) -> Flow {
        let before = self.status;
        if words.is_empty() {
            self.status = Status::OK;
            for assignment in assignments {
                // Without a command the status is that of the last `$(…)`.
                self.assign(assignment, before);
            }
            return Flow::Next;
        }
        if assignments.is_empty() && self.is_unheard(words) {
            self.status = Status::OK;
            return if self.step() {
                Flow::Next
            } else {
                Flow::TooLong
            };
        }
        let args = self.args(words);
        if self.pending.is_some() {
            return Flow::Next;
        }
        let mut saved = Vec::new();
        for assignment in assignments {
            saved.push((
                assignment.name.as_str(),
                self.variables.get(&assignment.name).cloned(),
            ));
            self.assign(assignment, before);
        }
        self.status = before;
        let flow = self.call(&args);
        for (name, value) in saved {
            let variables = Arc::make_mut(&mut self.variables);
            match value {
                Some(value) => variables.insert(name.to_owned(), value),
                None => variables.remove(name),
            };
        }
        flow
    }

    /// Whether a command only prints what nobody here reads, as most commands of most scripts do: its
    /// words need no values then.
    fn is_unheard(&self, words: &[Word]) -> bool {
        const TALK: [&str; 2] = ["echo", "printf"];
        let is_quiet = |part: &Part| match part {
            Part::Literal { .. } | Part::Opaque(_) => true,
            Part::Variable { name, operator, .. } => operator.is_none() && name != "SECONDS",
            Part::Command { .. } | Part::Arithmetic(_) => false,
        };
        let Some(first) = words.first() else {
            return false;
        };
        let is_talk = match first.parts.as_slice() {
            [Part::Literal { text, .. }] => {
                TALK.contains(&text.as_str()) && !self.functions.contains_key(text)
            }
            _ => false,
        };
        is_talk
            && self.captures.is_empty()
            && words.iter().all(|word| word.parts.iter().all(is_quiet))
            && !self.is_too_deep()
    }

    fn assign(&mut self, assignment: &Assignment, before: Status) {
        // `$?` in the value is the status of the command before.
        let has_command = assignment
            .value
            .parts
            .iter()
            .any(|part| matches!(part, Part::Command { .. }));
        let status = mem::replace(&mut self.status, before);
        let mut value = self.value(&assignment.value);
        if !has_command {
            self.status = status;
        }
        if assignment.appends {
            let mut whole = self
                .variables
                .get(&assignment.name)
                .cloned()
                .unwrap_or_else(|| Value::known(""));
            whole.push(&value);
            value = whole;
        }
        self.set(&assignment.name, value);
    }

    pub(super) fn condition(&mut self, script: &Script) -> Flow {
        self.conditions += 1;
        let flow = self.script(script);
        self.conditions -= 1;
        flow
    }

    fn conditional(&mut self, branches: &[(Script, Script)], otherwise: &Script) -> Flow {
        for (condition, then) in branches {
            let compared = self.numbers_compared;
            let flow = self.condition(condition);
            if flow != Flow::Next {
                return flow;
            }
            if self.numbers_compared != compared && (then.leaves() || otherwise.leaves()) {
                self.note_number_test(compared);
            }
            match self.status.succeeds() {
                Some(true) => return self.branch(then),
                Some(false) => {}
                None if then.leaves() => self.note_unsure(),
                None => {
                    // Nobody knows which way it goes: both are walked.
                    let flow = self.branch(then);
                    if flow != Flow::Next {
                        return flow;
                    }
                }
            }
        }
        self.status = Status::OK;
        self.branch(otherwise)
    }

    fn branch(&mut self, script: &Script) -> Flow {
        self.status = Status::OK;
        self.script(script)
    }

    fn case(&mut self, subject: &Word, arms: &[(Vec<Word>, Script)]) -> Flow {
        let subject = self.value(subject);
        for (patterns, then) in arms {
            let fit = subject.as_known().map(|text| {
                let mut patterns = patterns.iter();
                patterns.any(|pattern| fits(text, &self.value(pattern).text))
            });
            match fit {
                Some(true) => return self.branch(then),
                Some(false) => {}
                None if then.leaves() => self.note_unsure(),
                None => {
                    let flow = self.branch(then);
                    if flow != Flow::Next {
                        return flow;
                    }
                }
            }
        }
        Flow::Next
    }
}

/// The words of commands as they are written.
fn text_of<'c>(commands: impl Iterator<Item = &'c Command>) -> String {
    let mut text = String::new();
    for command in commands {
        if let Form::Simple { words, .. } = &command.form {
            for word in words {
                text.push_str(&word.source);
                text.push(' ');
            }
        }
    }
    text
}
