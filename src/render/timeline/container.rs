//! One container's row: it waits, is made, somebody waits for it, it runs, it ends.

use super::command;
use super::rows::Frame;
use super::scene::{begun, is_vague};
use super::stop;
use super::strip::{End, Strip};
use super::waiting::is_gated_by_probe;
use crate::plan::Event;
use crate::pod::{Container, Role as Kind};
use crate::render::Role;
use crate::timeline::{Attempt, ContainerTimeline, ExitStatus, Hook, Instant};
use jiff::Timestamp;

/// Paints everything that is known of a container.
pub(super) fn paint_container(frame: &Frame<'_>, container: &ContainerTimeline, strip: &mut Strip) {
    for initialization in 1..=frame.shown.current() {
        wait(frame, container, initialization, strip);
    }
    for (index, attempt) in container.attempts.iter().enumerate() {
        let next = container.attempts.get(index + 1);
        Start {
            frame,
            container,
            attempt,
            next,
        }
        .paint(strip);
    }
}

/// A container of the initialization waits from its beginning until its own first instant.
fn wait(frame: &Frame<'_>, container: &ContainerTimeline, initialization: u32, strip: &mut Strip) {
    if container.role == Kind::Ephemeral {
        return;
    }
    let Some(from) = beginning(frame, initialization) else {
        return;
    };
    let first = container.in_initialization(initialization).next();
    let is_current = initialization == frame.shown.current();
    let until = match first.and_then(begun) {
        Some(begun) => begun,
        None if is_current && !frame.shown.is_over() => frame.now,
        None => return,
    };
    let labels = waits_for(frame, container);
    if until <= from || labels.is_empty() {
        return;
    }
    if let Some((from, until)) = frame.axis.columns_of(from, until) {
        strip.bar(from, until, frame.bars().waits, Role::Quiet);
        strip.label(from, until, Role::Quiet, &labels);
    }
}

/// When the first container of an initialization could start.
fn beginning(frame: &Frame<'_>, initialization: u32) -> Option<Timestamp> {
    if initialization == 1 {
        let sandbox = frame.shown.pod.pod_event(Event::SandboxReady);
        return sandbox.and_then(Instant::best);
    }
    let containers = frame.shown.pod.containers.iter();
    let starts = containers.flat_map(|container| container.in_initialization(initialization));
    starts.filter_map(begun).min()
}

/// `waits for sidecar`: the nearest container before it that others wait for.
fn waits_for(frame: &Frame<'_>, container: &ContainerTimeline) -> Vec<String> {
    let gate = frame.shown.gate_before(container);
    let before = gate.and_then(|gate| frame.shown.pod.containers.get(gate.container()?));
    before
        .map(|before| vec![format!("waits for {}", before.name), "waits".to_owned()])
        .unwrap_or_default()
}

/// The Tekton step that comes before a step in its task.
pub(super) fn step_before<'a>(
    frame: &Frame<'a>,
    step: &ContainerTimeline,
) -> Option<&'a ContainerTimeline> {
    let containers = frame.shown.pod.containers.iter();
    let before = containers.take_while(|container| container.name != step.name);
    let is_step = |container: &&ContainerTimeline| {
        let mut attempts = container.attempts.iter();
        attempts.any(|attempt| attempt.entrypoint.is_some())
    };
    before.filter(is_step).last()
}

/// One start of a container.
pub(super) struct Start<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) container: &'a ContainerTimeline,
    pub(super) attempt: &'a Attempt,
    pub(super) next: Option<&'a Attempt>,
}

impl Start<'_> {
    fn paint(&self, strip: &mut Strip) {
        self.work(strip);
        let Some(started) = self.attempt.started else {
            self.failure(strip);
            return;
        };
        let from = match &self.attempt.entrypoint {
            Some(entrypoint) => self.turn(entrypoint, &started, strip),
            None => Some(self.doubtful_start(&started, strip)),
        };
        let Some(from) = from else { return };
        match self.container.role {
            Kind::Init => self.init(from, strip),
            Kind::Sidecar | Kind::App | Kind::Ephemeral => self.service(from, strip),
        }
        let exit = self.exited();
        let ended = exit.as_ref().map(|(when, _)| when);
        let column = |when: &Instant| Some(self.frame.axis.column(when.best()?));
        match &self.attempt.hook {
            // The mark of the failure is the last column of the bracket.
            Some(Hook::Failed { when, .. }) => {
                let bracket = self.attempt.started.as_ref().and_then(&column);
                let behind = column(when).max(bracket.map(|open| open + 1));
                self.back_off(when.best(), behind, strip);
            }
            Some(Hook::Returned { .. } | Hook::Running { .. }) | None => {
                let mark = ended.and_then(|when| match self.doubt(when) {
                    Some((_, until)) => Some(until),
                    None => column(when),
                });
                let behind = mark.map(|mark| mark + 1);
                self.back_off(ended.and_then(Instant::best), behind, strip);
            }
        }
    }

    /// The exit, where the row can show it: not before the start that the row shows.
    fn exited(&self) -> Option<(Instant, &ExitStatus)> {
        let (when, status) = self.attempt.exit.as_ref()?;
        let started = self.attempt.started.as_ref().and_then(Instant::best);
        Some((when.not_before(started), status))
    }

    fn declared(&self) -> Option<&Container> {
        self.frame.shown.declared(&self.container.name)
    }

    /// Pull, create, start.
    fn work(&self, strip: &mut Strip) {
        let Some(from) = begun(self.attempt) else {
            return;
        };
        let started = self.attempt.entrypoint.as_ref();
        let started = started.or(self.attempt.started.as_ref());
        let end = started.and_then(|started| started.not_before.filter(|_| !started.is_exact()));
        let best = started.and_then(Instant::best);
        let is_doubtful = started.is_some_and(|started| self.doubtful(started).is_some());
        let until = if is_doubtful { end.or(best) } else { best };
        let failed = self.attempt.failed.and(Some(from));
        let until = until.or(failed).unwrap_or(self.frame.now);
        if is_doubtful && until <= from {
            return;
        }
        self.bar(strip, from, until, self.frame.bars().works, Role::Plain);
    }

    /// The start failed before there was a process. The kubelet tells of it again with each try, so
    /// only the beginning is certain.
    fn failure(&self, strip: &mut Strip) {
        let failed = self.attempt.failed.as_ref().and_then(Instant::best);
        let Some(from) = failed.and(begun(self.attempt)) else {
            return;
        };
        let mark = self.frame.axis.column(from) + 1;
        strip.mark(mark, self.frame.bars().bad, Role::Error);
        self.back_off(Some(from), Some(mark + 1), strip);
    }

    /// Where the process may have started, and the column's moment from which it surely ran.
    fn doubtful_start(&self, started: &Instant, strip: &mut Strip) -> Timestamp {
        let best = started.best().unwrap_or(self.frame.now);
        let Some((from, until)) = self.doubtful(started) else {
            return best;
        };
        strip.bar(from, until, self.frame.bars().unknown, Role::Quiet);
        started.not_after.unwrap_or(best)
    }

    /// A Tekton step's process waits until the step before has ended; returns from when on its own
    /// command runs, as far as that is known; none while it still waits.
    fn turn(
        &self,
        entrypoint: &Instant,
        started: &Instant,
        strip: &mut Strip,
    ) -> Option<Timestamp> {
        let from = entrypoint.best().unwrap_or(self.frame.now);
        let before = step_before(self.frame, self.container);
        let exit = before.map(|before| {
            let (when, _) = before.attempts.last()?.exit.as_ref()?;
            when.best()
        });
        let begins = match exit {
            _ if started.not_after.is_some() => started.best(),
            Some(exit) => exit.map(|exit| exit.max(from)),
            None => Some(from),
        };
        let until = begins.unwrap_or_else(|| self.frame.going_on());
        if let Some((from, until)) = self.frame.axis.columns_of(from, until) {
            let waits = before.map(|before| format!("waits for {}", before.name));
            let labels: Vec<String> = waits.into_iter().chain(["waits".to_owned()]).collect();
            strip.bar(from, until, self.frame.bars().waits, Role::Quiet);
            strip.label(from, until, Role::Quiet, &labels);
        }
        begins
    }

    /// The columns of an instant that lies somewhere in three or more of them; in fewer the estimate
    /// is as good.
    fn doubt(&self, when: &Instant) -> Option<(usize, usize)> {
        let (from, until) = self
            .frame
            .axis
            .columns_of(when.not_before?, when.not_after?)?;
        (until >= from + 3).then_some((from, until))
    }

    /// The same for a start, which an event reports within milliseconds unless the event is lost.
    fn doubtful(&self, started: &Instant) -> Option<(usize, usize)> {
        self.doubt(started).filter(|_| is_vague(started))
    }

    /// An init container's run: the next one waits for its end.
    fn init(&self, from: Timestamp, strip: &mut Strip) {
        let labels = self.init_labels();
        let Some((exit, status)) = self.exited() else {
            self.gate(strip, from, self.frame.now, &labels, End::Open);
            return;
        };
        let bars = self.frame.bars();
        let is_good = status.code == Some(0);
        let (mark, role) = match is_good {
            true => (bars.good, Role::Held),
            false => (bars.bad, Role::Error),
        };
        let best = exit.best().unwrap_or(from);
        match self.doubt(&exit) {
            Some((unknown, until)) => {
                let until_known = exit.not_before.unwrap_or(best);
                if unknown > self.frame.axis.column(from) {
                    self.gate(strip, from, until_known, &labels, End::Unknown);
                }
                strip.bar(unknown, until, bars.unknown, Role::Quiet);
                strip.mark(until, mark, role);
            }
            None if is_good => {
                self.gate(strip, from, best, &labels, End::Closed);
                strip.mark(self.frame.axis.column(best), mark, role);
            }
            None => self.gate(strip, from, best, &labels, End::Failed),
        }
    }

    fn init_labels(&self) -> Vec<String> {
        let Some(declared) = self.declared() else {
            return Vec::new();
        };
        let words: Vec<String> = declared.words().map(str::to_owned).collect();
        let wait = command::own_wait(declared).map(|wait| command::polls(&wait));
        let script = (!words.is_empty()).then(|| command::short(&words));
        wait.into_iter()
            .chain(script)
            .chain(["runs".to_owned()])
            .collect()
    }

    /// A container that is to stay: hook, startupProbe, then it runs until it ends.
    fn service(&self, from: Timestamp, strip: &mut Strip) {
        let Some(from) = self.hook(from, strip) else {
            return;
        };
        let Some(from) = self.startup_probe(from, strip) else {
            return;
        };
        let killing = self.attempt.killing.as_ref().and_then(Instant::best);
        let exit = self.exited();
        let doubt = exit.as_ref().and_then(|(when, _)| self.doubt(when));
        let ended = exit.as_ref().and_then(|(when, _)| match doubt {
            Some(_) => when.not_before,
            None => when.best(),
        });
        let until = killing.or(ended);
        self.run(from, until, strip);
        if let Some(killing) = killing {
            let until = ended.unwrap_or(self.frame.now);
            self.stop(killing, until, exit.is_some(), strip);
        }
        self.exit(strip);
    }

    /// The hook's bracket; the moment when it returned, none when it did not.
    fn hook(&self, from: Timestamp, strip: &mut Strip) -> Option<Timestamp> {
        let Some(hook) = &self.attempt.hook else {
            return Some(from);
        };
        let action = self.declared().and_then(|own| own.post_start.as_ref());
        let what = action.and_then(command::action);
        let mut labels: Vec<String> = what
            .map(|what| format!("postStart: {what}"))
            .into_iter()
            .collect();
        labels.push("postStart".to_owned());
        let (until, end) = match hook {
            Hook::Running { .. } => (self.frame.now, End::Open),
            Hook::Returned { when, .. } => (when.best()?, End::Closed),
            Hook::Failed { when, .. } => (when.best()?, End::Failed),
        };
        self.gate(strip, from, until, &labels, end);
        (end == End::Closed).then_some(until)
    }

    /// The startupProbe's bracket, where the next container waits for it.
    fn startup_probe(&self, from: Timestamp, strip: &mut Strip) -> Option<Timestamp> {
        let labels = ["startupProbe".to_owned()];
        let is_first = self.attempt.is_startup_inferred || self.is_gate();
        let exit = self
            .exited()
            .and_then(|(when, _)| when.not_before.or(when.best()));
        let passed = self.attempt.startup_passed.as_ref().and_then(Instant::best);
        match passed {
            // It ended before the kubelet went on, so that was another try's probe.
            Some(passed) if is_first && exit.is_some_and(|exit| exit < passed) => {
                self.gate(strip, from, exit.unwrap_or(passed), &labels, End::Unknown);
                self.exit(strip);
                None
            }
            Some(passed) if is_first => {
                self.gate(strip, from, passed, &labels, End::Closed);
                Some(passed)
            }
            None if self.attempt.exit.is_none()
                && is_gated_by_probe(self.frame.shown, self.container, self.attempt) =>
            {
                self.gate(strip, from, self.frame.now, &labels, End::Open);
                None
            }
            Some(_) | None => Some(from),
        }
    }

    /// Whether the probe was passed before anything later began.
    fn is_gate(&self) -> bool {
        let passed = self.attempt.startup_passed.as_ref().and_then(Instant::best);
        let initialization = self.attempt.initialization;
        let mut later = self.frame.shown.later_than(&self.container.name);
        self.container.role == Kind::Sidecar
            && later.all(|container| {
                let mut starts = container.in_initialization(initialization);
                starts.all(|start| begun(start) >= passed)
            })
    }

    /// It runs, and nobody waits for it; bold while it is ready.
    fn run(&self, from: Timestamp, until: Option<Timestamp>, strip: &mut Strip) {
        let (axis, bars) = (self.frame.axis, self.frame.bars());
        let end = until.unwrap_or_else(|| self.frame.going_on());
        let Some((first, last)) = axis.columns_of(from, end) else {
            return;
        };
        strip.bar(first, last, bars.runs, Role::Plain);
        for (index, (is_ready, when)) in self.attempt.ready.iter().enumerate() {
            let next = self.attempt.ready.get(index + 1);
            let until = next
                .and_then(|(_, when)| when.best())
                .unwrap_or(end)
                .min(end);
            if let (true, Some(since)) = (is_ready, when.best())
                && let Some((from, until)) = axis.columns_of(since.max(from), until)
                && from < until
            {
                strip.bar(from, until, bars.runs, Role::Headline);
            }
        }
        strip.label(first, last, Role::Plain, &self.run_labels());
        if until.is_none() {
            let role = match self.attempt.ready.last() {
                Some((true, _)) => Role::Headline,
                Some((false, _)) | None => Role::Plain,
            };
            strip.mark(last.saturating_sub(1), bars.goes_on, role);
        }
    }

    fn run_labels(&self) -> Vec<String> {
        let shown = self.frame.shown;
        let name = &self.container.name;
        if let Some(judgement) = shown.violation(name)
            && let Some(before) = &judgement.constraint.before.container
        {
            return vec![format!("runs without {before}")];
        }
        let has_probe = self
            .declared()
            .is_some_and(|own| own.startup.is_some() || own.readiness.is_some());
        if shown.is_needed(name) && !has_probe {
            return vec!["no probe: cannot tell when it serves".to_owned()];
        }
        Vec::new()
    }

    fn stop(&self, from: Timestamp, until: Timestamp, has_ended: bool, strip: &mut Strip) {
        let frame = self.frame;
        let way = stop::way(frame.shown, self.container, from);
        let Some((first, last)) = frame.axis.columns_of(from, until) else {
            return;
        };
        let end = match has_ended {
            true => End::Unknown,
            false => End::Open,
        };
        if way.is_gate {
            strip.gate(first, last, &way.labels, end);
        } else {
            strip.bar(first, last, frame.bars().waits, Role::Quiet);
            strip.label(first, last, Role::Quiet, &way.labels);
        }
    }

    fn exit(&self, strip: &mut Strip) {
        let Some((when, status)) = self.exited() else {
            return;
        };
        let bars = self.frame.bars();
        let (mark, role) = match status.code {
            Some(0) => (bars.good, Role::Held),
            Some(_) | None => (bars.bad, Role::Error),
        };
        let doubt = self.doubt(&when);
        if let Some((from, until)) = doubt {
            strip.bar(from, until, bars.unknown, Role::Quiet);
        }
        let at = match doubt {
            Some((_, until)) => Some(until),
            None => when.best().map(|best| self.frame.axis.column(best)),
        };
        // A start that follows at once leaves the column before it.
        let next = self
            .next
            .and_then(begun)
            .map(|begun| self.frame.axis.column(begun));
        if let Some(at) = at {
            let at = next.map_or(at, |next| at.min(next.saturating_sub(1)));
            strip.mark(at, mark, role);
        }
    }

    fn bar(
        &self,
        strip: &mut Strip,
        from: Timestamp,
        until: Timestamp,
        character: char,
        role: Role,
    ) {
        if let Some((from, until)) = self.frame.axis.columns_of(from, until) {
            strip.bar(from, until, character, role);
        }
    }

    fn gate(
        &self,
        strip: &mut Strip,
        from: Timestamp,
        until: Timestamp,
        labels: &[String],
        end: End,
    ) {
        if let Some((from, until)) = self.frame.axis.columns_of(from, until) {
            strip.gate(from, until.max(from + 1), labels, end);
        }
    }
}
