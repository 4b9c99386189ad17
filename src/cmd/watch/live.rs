//! A cluster: follows the pods, draws or prints as it goes, and knows when to stop.

use super::ending::{duration, has_reached, told};
use super::printer::Printer;
use super::record::Recorder;
use super::services::Services;
use crate::catalog::Catalog;
use crate::cli::{Until, WatchArgs};
use crate::cluster::{
    Asked, Connection, Environment, Flow, Incoming, Options, Target, parse_targets,
};
use crate::cmd::live::failure;
use crate::error::Failure;
use crate::pod::KubeVersion;
use crate::render::timeline::{Scene, SeenService, Stage, timed_out_sentence};
use crate::timeline::{Header, Line, Timeline};
use jiff::Timestamp;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the picture may change.
const TICK: Duration = Duration::from_millis(100);
/// Events come by a way of their own: those of the last start may be a little late.
const SETTLE: Duration = Duration::from_millis(400);

/// Runs `watch` on a cluster; the number is the exit code.
pub fn run(
    args: &WatchArgs,
    catalog: Arc<Catalog>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Failure> {
    let timeout = match &args.timeout {
        Some(text) => duration(text).map_err(Failure::new)?,
        None => None,
    };
    let targets = parse_targets(&args.targets, args.selector.as_deref()).map_err(failure)?;
    let environment = Environment::read(|name| std::env::var_os(name));
    let connection = Connection::open(&args.connection, &environment).map_err(failure)?;
    let recorder = Recorder::open(args, Arc::clone(&catalog))?;
    let printer = printer(args, catalog, &targets);
    let mut session = Session {
        waits_for_pods: io::stdout().is_terminal() || args.until.is_some() || timeout.is_some(),
        until: args.until.unwrap_or(Until::Ready),
        follows: args.follow,
        timeout,
        began: Instant::now(),
        header: Header {
            recorded: Some(Timestamp::now()),
            namespace: Some(connection.namespace().to_owned()),
            watched: printer.title.clone(),
            is_full: args.record_full,
            ..Header::default()
        },
        is_server_judge: false,
        lines: Vec::new(),
        timeline: Timeline::default(),
        printer,
        recorder,
        named: targets.iter().filter_map(Target::pod_name).collect(),
        services: Services::default(),
        is_listed: false,
        reached: None,
        end: None,
        out,
        err,
    };
    let options = Options {
        clock: Timestamp::now,
        tick: TICK,
    };
    let followed = connection.follow(&targets, options, |incoming, asked| {
        session.take(incoming, asked)
    });
    match (followed, &session.end) {
        (Ok(()), Some(End::NoPod)) => Err(match session.missing() {
            Some(name) => failure(connection.no_such_pod(name)),
            None => no_pods(&session.header),
        }),
        (Ok(()), _) => session.finish(),
        // What is known stands, although the server says no more.
        (Err(error), _) if session.is_listed => session.finish().and(Err(failure(error))),
        (Err(error), _) => Err(failure(error)),
    }
}

/// That an owner or a selector has no pods.
fn no_pods(header: &Header) -> Failure {
    let watched = header.watched.as_deref().unwrap_or_default();
    let namespace = header.namespace.as_deref().unwrap_or_default();
    Failure::new(format!("no pods of {watched} in namespace {namespace:?}"))
        .hint("--until ready waits for new ones")
}

fn printer(args: &WatchArgs, catalog: Arc<Catalog>, targets: &[Target]) -> Printer {
    let mut printer = Printer::new(args, catalog);
    let is_one_pod = matches!(targets, [only] if only.pod_name().is_some());
    if !is_one_pod {
        let selector = args
            .selector
            .iter()
            .map(|selector| format!("-l {selector}"));
        let named: Vec<String> = args.targets.iter().cloned().chain(selector).collect();
        printer.title = Some(named.join(" "));
    }
    printer
}

/// Why a watch stopped.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// Every pod has come as far as was asked.
    Reached,
    /// `--timeout`.
    TimedOut,
    /// Ctrl-C.
    Interrupted,
    /// There is no such pod, and nobody wants to wait for it.
    NoPod,
    /// Output could not be written.
    Broken(io::ErrorKind, String),
}

struct Session<'o> {
    waits_for_pods: bool,
    until: Until,
    follows: bool,
    timeout: Option<Duration>,
    began: Instant,
    header: Header,
    /// A node may not be read, so that the server's version stands for its kubelet's.
    is_server_judge: bool,
    /// All lines so far: the kubelet's version may come after the first of them, and all that is
    /// concluded from them depends on it.
    lines: Vec<Line>,
    timeline: Timeline,
    printer: Printer,
    recorder: Option<Recorder>,
    /// The pods that are asked for by name.
    named: Vec<&'o str>,
    services: Services,
    is_listed: bool,
    /// Since when every pod is as far as was asked.
    reached: Option<Instant>,
    end: Option<End>,
    out: &'o mut dyn Write,
    err: &'o mut dyn Write,
}

impl<'o> Session<'o> {
    fn take(&mut self, incoming: Incoming, asked: &mut Asked) -> Flow {
        let is_tick = incoming == Incoming::Tick;
        let handled = self.handle(incoming);
        if is_tick && self.is_listed && self.services.is_due() {
            let scene = self.scene(self.drawn_moment(), Stage::Live);
            self.services.ask(&scene, asked);
        }
        if let Err(error) = handled {
            self.end = Some(End::Broken(error.kind(), error.to_string()));
        }
        if self.end.is_some() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn handle(&mut self, incoming: Incoming) -> io::Result<()> {
        match incoming {
            Incoming::Line(value) => {
                if let Some(line) = Line::read(value) {
                    self.line(line)?;
                }
            }
            Incoming::Kubelet { version, .. } => self.kubelet(version)?,
            Incoming::Service {
                namespace,
                name,
                exists,
            } => self.services.answer(SeenService {
                namespace,
                name,
                exists,
            }),
            Incoming::Server(version) => self.server(version)?,
            Incoming::Listed => {
                self.is_listed = true;
                let is_there = self.missing().is_none() && !self.timeline.pods().is_empty();
                if !is_there && !self.waits_for_pods {
                    self.end = Some(End::NoPod);
                }
                self.look()?;
            }
            Incoming::Back => {
                self.tell("the server is back; what happened meanwhile may be lost")?
            }
            Incoming::Warning(warning) => self.tell(&format!("warning: {warning}"))?,
            Incoming::Lost(why) => self.tell(&format!("warning: {why}; trying again"))?,
            Incoming::Tick => self.look()?,
            Incoming::Interrupt => self.end = Some(End::Interrupted),
        }
        Ok(())
    }

    /// A sentence beside the picture.
    fn tell(&mut self, sentence: &str) -> io::Result<()> {
        self.printer.make_room(self.out)?;
        writeln!(self.err, "{sentence}")?;
        self.err.flush()
    }

    fn line(&mut self, line: Line) -> io::Result<()> {
        self.timeline.push(&line);
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&line, &self.timeline)?;
        }
        self.lines.push(line);
        Ok(())
    }

    /// A pod that was asked for by name and has not come.
    fn missing(&self) -> Option<&'o str> {
        let pods = self.timeline.pods();
        let is_here = |name: &&&str| pods.iter().any(|pod| pod.name == **name);
        self.named.iter().find(|name| !is_here(name)).copied()
    }

    /// The version of a node's kubelet; none where it may not be read.
    fn kubelet(&mut self, version: Option<String>) -> io::Result<()> {
        match version.or_else(|| self.header.server.clone()) {
            Some(version) => self.set_version(version),
            None => {
                self.is_server_judge = true;
                Ok(())
            }
        }
    }

    fn server(&mut self, version: String) -> io::Result<()> {
        self.header.server = Some(version.clone());
        match self.is_server_judge {
            true => self.set_version(version),
            false => Ok(()),
        }
    }

    /// The kubelet's version: the lines so far are read again by it.
    fn set_version(&mut self, version: String) -> io::Result<()> {
        if self.header.kubernetes.is_some() {
            return Ok(());
        }
        self.timeline = Timeline::new(KubeVersion::reported(&version));
        self.lines.iter().for_each(|line| self.timeline.push(line));
        self.printer.kubernetes = Some(version.clone());
        self.header.kubernetes = Some(version);
        self.begin_recording()
    }

    /// Writes the first line of the recording: all that follows is judged by the version in it.
    fn begin_recording(&mut self) -> io::Result<()> {
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        let mut header = self.header.clone();
        header.server = header
            .server
            .filter(|_| header.kubernetes != self.header.server);
        recorder.begin(&header, &self.timeline)
    }

    fn scene(&self, now: Timestamp, stage: Stage) -> Scene {
        let mut scene = self.printer.scene(&self.timeline, now, stage);
        self.services.tell(&mut scene);
        scene
    }

    /// Draws, and sees whether it is over.
    fn look(&mut self) -> io::Result<()> {
        if !self.is_listed {
            return Ok(());
        }
        if self.printer.is_live_picture() {
            self.draw()?;
        }
        let moment = self.timeline.last_line();
        let due = self.printer.due().filter(|due| *due <= Timestamp::now());
        if let Some(moment) = due.or(moment) {
            self.printer.update(&self.timeline, moment, self.out)?;
        }
        if self.is_over() {
            self.end = Some(End::Reached);
        } else if self
            .timeout
            .is_some_and(|timeout| self.began.elapsed() >= timeout)
        {
            self.end = Some(End::TimedOut);
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let scene = self.scene(self.drawn_moment(), Stage::Live);
        if !scene.pods.is_empty() {
            return self.printer.draw(&scene, self.out);
        }
        let namespace = self.header.namespace.as_deref().unwrap_or_default();
        let watched = self.header.watched.as_deref().unwrap_or_default();
        let nothing = match self.missing() {
            Some(name) => format!("pod/{name} does not exist yet in namespace {namespace}"),
            None => format!("no pods of {watched} yet in namespace {namespace}"),
        };
        self.printer.place(vec![nothing], self.out)
    }

    /// Durations are told once a second, so that a picture without news stands still.
    fn drawn_moment(&self) -> Timestamp {
        let now = Timestamp::now();
        let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
        self.timeline
            .last_line()
            .map_or(second, |line| line.max(second))
    }

    /// Whether every pod is there and as far as was asked.
    fn is_there(&self) -> bool {
        let pods = self.timeline.pods();
        !pods.is_empty()
            && self.missing().is_none()
            && pods.iter().all(|pod| has_reached(pod, self.until))
    }

    fn is_over(&mut self) -> bool {
        if self.follows || !self.is_there() {
            self.reached = None;
            return false;
        }
        let is_news = self
            .lines
            .last()
            .is_some_and(|line| Timestamp::now().duration_since(line.at).as_secs() < 2);
        let since = *self.reached.get_or_insert_with(Instant::now);
        !is_news || since.elapsed() >= SETTLE
    }

    fn finish(mut self) -> Result<u8, Failure> {
        if let Some(End::Broken(kind, text)) = &self.end {
            return Err(Failure::from(io::Error::new(*kind, text.clone())));
        }
        self.begin_recording()?;
        let is_there = self.is_there();
        let now = match is_there {
            true => self.timeline.last_line().unwrap_or_else(Timestamp::now),
            false => self.drawn_moment(),
        };
        let scene = self.scene(now, Stage::End);
        self.printer.end(&scene, self.out)?;
        self.out.flush()?;
        match self.end {
            Some(End::Interrupted) => Ok(130),
            Some(End::TimedOut) if !is_there => Err(self.timed_out(&scene)),
            _ => Ok(Printer::code(&scene)),
        }
    }

    fn timed_out(&self, scene: &Scene) -> Failure {
        let after = told(self.timeout.unwrap_or_default());
        let missing = self.missing().map(|name| format!("no pod {name} came"));
        Failure::timed_out(
            after,
            missing.unwrap_or_else(|| waited_for(scene, self.until)),
        )
    }
}

/// What a watch that ran out of time was waiting for.
fn waited_for(scene: &Scene, until: Until) -> String {
    let mut pods = scene.pods.iter();
    let Some(shown) = pods.find(|shown| !has_reached(&shown.pod, until)) else {
        return "no pod came".to_owned();
    };
    timed_out_sentence(shown, scene.now)
        .unwrap_or_else(|| format!("{} is {}", shown.pod.name, shown.pod.state_words()))
}
