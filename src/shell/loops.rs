//! The walk through loops.

use super::rehearsal::{Flow, Rehearsal};
use super::script::{Form, Part, Script, Word};
use super::trace::{Arg, LoopRun};
use super::value::{Status, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How often a loop is walked whose end nobody knows.
const UNSURE_ROUNDS: usize = 3;

/// After how many rounds a loop that looks at no number is taken to be endless.
const IDLE_ROUNDS: usize = 200;

/// What a loop does after its body.
enum Round {
    Again,
    Leave(Flow),
}

/// What a round of a loop may change.
struct Mark {
    /// Kept in the rounds 2, 4, 8 and so on only: copies cost more than a round.
    state: Option<State>,
    changes: usize,
    time_reads: usize,
    numbers_compared: usize,
    clock: Duration,
}

/// What a script knows at the beginning of a round. A value that is set and set back is no change,
/// and the next round is the same again.
#[derive(PartialEq, Eq)]
struct State {
    variables: Arc<BTreeMap<String, Value>>,
    arguments: Vec<Value>,
    input: Option<Value>,
    files: usize,
}

impl Rehearsal<'_> {
    fn enter_loop(&mut self, at: usize) -> usize {
        self.run.loops.push(LoopRun {
            key: (self.script, at),
            outer: self.current_loop,
            left: None,
            is_endless: false,
            is_unsure: false,
            has_number_test: false,
        });
        let number = self.run.loops.len() - 1;
        self.current_loop = Some(number);
        self.place.loops += 1;
        number
    }

    fn leave_loop(&mut self, number: usize, flow: Flow) -> Flow {
        self.place.loops -= 1;
        let clock = self.clock;
        if let Some(run) = self.run.loops.get_mut(number) {
            self.current_loop = run.outer;
            if flow != Flow::Stuck && flow != Flow::TooLong {
                run.left = Some(clock);
            }
        }
        match flow {
            Flow::Break(more) if more > 1 => Flow::Break(more - 1),
            Flow::Continue(more) if more > 1 => Flow::Continue(more - 1),
            Flow::Break(_) | Flow::Continue(_) => Flow::Next,
            flow => flow,
        }
    }

    fn body(&mut self, body: &Script) -> Round {
        match self.script(body) {
            Flow::Next | Flow::Continue(0 | 1) => Round::Again,
            flow => Round::Leave(flow),
        }
    }

    pub(super) fn repetition(
        &mut self,
        at: usize,
        is_until: bool,
        condition: &Script,
        body: &Script,
    ) -> Flow {
        let number = self.enter_loop(at);
        let mut unsure_rounds = 0;
        let mut rounds: usize = 0;
        let flow = loop {
            if !self.step() {
                break Flow::TooLong;
            }
            rounds += 1;
            let before = self.mark(rounds.is_power_of_two() && rounds > 1);
            let compared = self.numbers_compared;
            let flow = self.condition(condition);
            if flow != Flow::Next {
                break flow;
            }
            self.note_number_test(compared);
            match self.status.succeeds() {
                Some(holds) if holds == is_until => {
                    self.status = Status::OK;
                    break Flow::Next;
                }
                Some(_) => {}
                None if unsure_rounds == UNSURE_ROUNDS => {
                    self.note_unsure();
                    break Flow::Next;
                }
                None => unsure_rounds += 1,
            }
            if let Round::Leave(flow) = self.body(body) {
                break flow;
            }
            if unsure_rounds == 0
                && let Some(flow) = self.after_round(before, rounds)
            {
                break flow;
            }
        };
        self.leave_loop(number, flow)
    }

    /// Ends a loop whose rounds are all the same; lets time pass in one that only looks at the clock.
    fn after_round(&mut self, before: Mark, rounds: usize) -> Option<Flow> {
        let now = self.mark(before.state.is_some());
        let current = self.current_loop;
        let run = current.and_then(|number| self.run.loops.get_mut(number))?;
        // What changes in so many rounds without a look at a number, such as a counter or a time
        // that is only printed, ends nothing.
        let looks_at_none = now.numbers_compared == before.numbers_compared;
        let ends_as_it_began = before.state.is_some() && now.state == before.state;
        let is_idle = looks_at_none && (rounds >= IDLE_ROUNDS || ends_as_it_began);
        let is_same = (now.changes == before.changes || ends_as_it_began)
            && now.time_reads == before.time_reads;
        if is_same || is_idle {
            run.is_endless = true;
            return Some(self.forever());
        }
        if now.time_reads != before.time_reads && now.clock == before.clock {
            let flow = self.advance(Duration::from_secs(1));
            return (flow != Flow::Next).then_some(flow);
        }
        None
    }

    /// Where a walk stands; `with_state` for a round whose end is compared with its beginning.
    fn mark(&self, with_state: bool) -> Mark {
        let state = || State {
            variables: Arc::clone(&self.variables),
            arguments: self.arguments.clone(),
            input: self.input.clone(),
            files: self.written.len(),
        };
        Mark {
            state: with_state.then(state),
            changes: self.changes,
            time_reads: self.time_reads,
            numbers_compared: self.numbers_compared,
            clock: self.clock,
        }
    }

    pub(super) fn for_each(
        &mut self,
        at: usize,
        variable: &str,
        words: Option<&[Word]>,
        body: &Script,
    ) -> Flow {
        let rounds = self.rounds(words);
        let number = self.enter_loop(at);
        let flow = match rounds {
            Rounds::Unknown => {
                self.note_unsure();
                let value = Value::unknown(format!("${variable}"));
                let same = vec![value; UNSURE_ROUNDS];
                self.for_values(variable, same.into_iter(), body)
            }
            Rounds::Values(values) => self.for_values(variable, values.into_iter(), body),
            Rounds::Numbers { from, to, step } => {
                let mut next = Some(from);
                let numbers = std::iter::from_fn(|| {
                    let number = next.filter(|number| {
                        if step > 0 {
                            *number <= to
                        } else {
                            *number >= to
                        }
                    })?;
                    next = number.checked_add(step);
                    Some(Value::known(number.to_string()))
                });
                self.for_values(variable, numbers, body)
            }
        };
        if flow == Flow::TooLong {
            // A list has an end, however long it is.
            self.note_unsure();
        }
        self.leave_loop(number, flow)
    }

    fn for_values(
        &mut self,
        variable: &str,
        values: impl Iterator<Item = Value>,
        body: &Script,
    ) -> Flow {
        self.status = Status::OK;
        for value in values {
            if !self.step() {
                return Flow::TooLong;
            }
            self.set(variable, value);
            if let Round::Leave(flow) = self.body(body) {
                return flow;
            }
        }
        Flow::Next
    }

    pub(super) fn count(&mut self, at: usize, condition: &str, step: &str, body: &Script) -> Flow {
        let number = self.enter_loop(at);
        let mut unsure_rounds = 0;
        let flow = loop {
            if !self.step() {
                break Flow::TooLong;
            }
            let before = self.mark(false);
            let holds = if condition.is_empty() {
                Some(1)
            } else {
                let compared = self.numbers_compared;
                self.numbers_compared += 1;
                self.note_number_test(compared);
                self.calculate(condition)
            };
            match holds {
                Some(0) => break Flow::Next,
                Some(_) => {}
                None if unsure_rounds == UNSURE_ROUNDS => {
                    self.note_unsure();
                    break Flow::Next;
                }
                None => unsure_rounds += 1,
            }
            if let Round::Leave(flow) = self.body(body) {
                break flow;
            }
            self.calculate(step);
            if unsure_rounds == 0
                && let Some(flow) = self.after_round(before, 0)
            {
                break flow;
            }
        };
        self.leave_loop(number, flow)
    }

    /// What a `for` goes through.
    fn rounds(&mut self, words: Option<&[Word]>) -> Rounds {
        let Some(words) = words else {
            return match self.arguments.is_empty() {
                true => Rounds::Values(vec![Value::unknown("$1")]),
                false => Rounds::Values(self.arguments.clone()),
            };
        };
        if let [word] = words
            && let Some(rounds) = self.counted(word)
        {
            return rounds;
        }
        let mut values = Vec::new();
        for word in words {
            values.extend(self.fields(word));
        }
        Rounds::Values(values)
    }

    /// `$(seq …)` and `{1..9}`.
    fn counted(&mut self, word: &Word) -> Option<Rounds> {
        if let Some((from, rest)) = word
            .literal()
            .as_deref()
            .and_then(|text| text.strip_prefix('{')?.strip_suffix('}'))
            .and_then(|inner| inner.split_once(".."))
        {
            let (to, step) = rest.split_once("..").unwrap_or((rest, "1"));
            let (from, to) = (from.parse::<i64>().ok()?, to.parse::<i64>().ok()?);
            let step = step.parse::<i64>().ok()?.checked_abs()?.max(1);
            let step = if from <= to { step } else { -step };
            return Some(Rounds::Numbers { from, to, step });
        }
        let [Part::Command { script, .. }] = word.parts.as_slice() else {
            return None;
        };
        let [list] = script.lists.as_slice() else {
            return None;
        };
        let [command] = list.first.commands.as_slice() else {
            return None;
        };
        let Form::Simple { words, .. } = &command.form else {
            return None;
        };
        if !list.rest.is_empty() || words.first()?.literal()? != "seq" {
            return None;
        }
        let args = self.args(&words[1..]);
        Some(sequence(&args).unwrap_or(Rounds::Unknown))
    }
}

/// What a `for` goes through.
enum Rounds {
    Values(Vec<Value>),
    Numbers { from: i64, to: i64, step: i64 },
    Unknown,
}

/// The numbers that `seq` prints.
fn sequence(args: &[Arg]) -> Option<Rounds> {
    let words = args
        .iter()
        .filter(|arg| !arg.value.text.starts_with('-') || arg.value.number().is_some());
    let numbers: Vec<i64> = words
        .map(|arg| arg.value.number())
        .collect::<Option<Vec<_>>>()?;
    let (from, step, to) = match numbers.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] if *step != 0 => (*from, *step, *to),
        _ => return None,
    };
    Some(Rounds::Numbers { from, to, step })
}
