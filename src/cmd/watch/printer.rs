//! What a watch prints as it goes, and at its end; the same for a cluster and a recording.

use crate::catalog::Catalog;
use crate::cli::{WatchArgs, WatchFormat};
use crate::cmd::terminal;
use crate::judge;
use crate::pod::KubeVersion;
use crate::render::timeline::{Lines, Redraw, Scene, Shown, Stage, View, picture};
use crate::render::timeline_json;
use crate::timeline::{PodTimeline, Timeline};
use jiff::Timestamp;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

/// Prints in the format that was asked for.
pub struct Printer {
    format: WatchFormat,
    style: crate::render::Style,
    screen: Redraw,
    lines: Lines,
    /// What was asked for, such as `deploy/web`, when it is more than one pod.
    pub title: Option<String>,
    /// The kubelet's version as it reports it.
    pub kubernetes: Option<String>,
    catalog: Arc<Catalog>,
}

impl Printer {
    /// A picture on a terminal, lines in a pipe, unless a format is asked for.
    pub fn new(args: &WatchArgs, catalog: Arc<Catalog>) -> Printer {
        let is_terminal = io::stdout().is_terminal();
        let default = if is_terminal {
            WatchFormat::Text
        } else {
            WatchFormat::Lines
        };
        let view = View {
            width: terminal::width(),
            rows: None,
            style: terminal::style(&args.style),
            has_keys: false,
        };
        Printer {
            format: args.output.unwrap_or(default),
            style: terminal::style(&args.style),
            screen: Redraw::default(),
            lines: Lines::new(view),
            title: None,
            kubernetes: None,
            catalog,
        }
    }

    /// Whether it redraws in place.
    pub fn is_live_picture(&self) -> bool {
        self.format == WatchFormat::Text && io::stdout().is_terminal()
    }

    /// The pods with their plans and verdicts at a moment.
    pub fn scene(&self, timeline: &Timeline, now: Timestamp, stage: Stage) -> Scene {
        Scene {
            pods: self.shown(timeline),
            title: self.title.clone(),
            kubernetes: self.kubernetes.clone(),
            now,
            stage,
        }
    }

    /// The pods with their plans.
    fn shown(&self, timeline: &Timeline) -> Vec<Shown> {
        let pods = timeline.pods().into_iter();
        pods.map(|pod| shown(pod, &self.catalog)).collect()
    }

    /// Prints what has become certain, as lines; other formats wait.
    pub fn update(
        &mut self,
        timeline: &Timeline,
        now: Timestamp,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.format != WatchFormat::Lines {
            return Ok(());
        }
        let scene = self.scene(timeline, now, Stage::Live);
        let lines = self.lines.update(&scene);
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        if lines.is_empty() {
            Ok(())
        } else {
            out.flush()
        }
    }

    /// The moment from which on there is something to print even if nothing more arrives.
    pub fn due(&self) -> Option<Timestamp> {
        let is_lines = self.format == WatchFormat::Lines;
        self.lines.due().filter(|_| is_lines)
    }

    /// Draws the picture of now in place of the one before.
    #[cfg(feature = "cluster")]
    pub fn draw(&mut self, scene: &Scene, out: &mut dyn Write) -> io::Result<()> {
        let lines = picture(scene, &self.view(terminal::rows()));
        self.place(lines, out)
    }

    /// Puts lines in the place of the picture before.
    #[cfg(feature = "cluster")]
    pub fn place(&mut self, lines: Vec<String>, out: &mut dyn Write) -> io::Result<()> {
        let rows = terminal::rows().unwrap_or(usize::MAX);
        let frame = self.screen.frame(lines, terminal::width(), rows);
        out.write_all(frame.as_bytes())?;
        out.flush()
    }

    /// Makes room for a sentence on standard error, which may be the same terminal.
    #[cfg(feature = "cluster")]
    pub fn make_room(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.place(Vec::new(), out)
    }

    /// Prints what stands at the end.
    pub fn end(&mut self, scene: &Scene, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            WatchFormat::Text if self.is_live_picture() => {
                let view = self.view(None);
                let lines = picture(scene, &view);
                let frame = self.screen.frame(lines, view.width, usize::MAX);
                out.write_all(frame.as_bytes())
            }
            WatchFormat::Text => {
                let lines = picture(scene, &self.view(None));
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))
            }
            WatchFormat::Lines => {
                let lines = self.lines.finish(scene);
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))
            }
            WatchFormat::Json => scene
                .pods
                .iter()
                .try_for_each(|shown| timeline_json::write_pod(&shown.pod, &shown.judgements, out)),
        }
    }

    /// The exit code: 1 when a verdict is violated.
    pub fn code(scene: &Scene) -> u8 {
        u8::from(scene.pods.iter().any(Shown::is_violated))
    }

    fn view(&self, rows: Option<usize>) -> View {
        View {
            width: terminal::width(),
            rows,
            style: self.style,
            has_keys: false,
        }
    }
}

/// A pod with its plan, by the kubelet's own version where it is known.
pub fn shown(pod: PodTimeline, catalog: &Catalog) -> Shown {
    let version = pod.version.unwrap_or(KubeVersion::NEWEST);
    let plan = judge::plan(&pod.workload, version, catalog);
    Shown::new(pod, plan)
}
