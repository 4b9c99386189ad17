//! Recordings: what the API server told a watcher, one JSON object a line.

pub use super::allow::Allow;
use super::plan_line::PlanLine;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u64 = 1;

const FORMAT: &str = "startorder-recording";

/// The first line of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The kubelet's version on the first pod's node, as it reports it.
    pub kubernetes: Option<String>,
    /// The server's version, where it differs.
    pub server: Option<String>,
    /// When the recording began.
    pub recorded: Option<Timestamp>,
    /// The namespace that was watched.
    pub namespace: Option<String>,
    /// What was asked for, such as `deploy/web`, where it was more than one pod.
    pub watched: Option<String>,
    /// Whether values, arguments and messages were kept (`--record-full`).
    pub is_full: bool,
}

/// Which watch a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Pods.
    Pods,
    /// Events of core/v1.
    Events,
}

impl Stream {
    fn word(self) -> &'static str {
        match self {
            Stream::Pods => "pods",
            Stream::Events => "events",
        }
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It is new, or it was there when the watch began.
    Added,
    /// It changed.
    Modified,
    /// It is gone.
    Deleted,
}

impl ChangeKind {
    fn word(self) -> &'static str {
        match self {
            ChangeKind::Added => "ADDED",
            ChangeKind::Modified => "MODIFIED",
            ChangeKind::Deleted => "DELETED",
        }
    }
}

/// What one line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An object as the API server sent it.
    Object {
        /// Which watch it came from.
        stream: Stream,
        /// What happened to it.
        kind: ChangeKind,
        /// The object.
        object: Value,
    },
    /// The watch had to begin anew: what happened since the line before may be lost.
    Relist(Stream),
    /// The constraints of a pod, computed when it was first seen.
    Plan(PlanLine),
}

/// A line after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When it reached the watcher, on the watcher's clock.
    pub at: Timestamp,
    /// What it says.
    pub change: Change,
}

/// Why a recording cannot be read; shown with its place: `start.jsonl:1: …`.
#[derive(Debug, thiserror::Error)]
#[error("{name}:{line}: {problem}")]
pub struct ReadError {
    /// The recording's name.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The input ended or broke.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Not JSON.
    #[error("not JSON from column {} on", .0.column())]
    Json(#[from] serde_json::Error),
    /// Nothing at all.
    #[error("the file is empty, not a recording")]
    Empty,
    /// JSON, but not the first line of a recording.
    #[error("not a recording: the first line has no \"format\": \"startorder-recording\"")]
    NotARecording,
    /// A later format.
    #[error("recording format {0}; this version reads {VERSION}")]
    Version(String),
    /// A field that a line cannot do without.
    #[error("{0:?} is missing or has a value that is not known")]
    Field(&'static str),
}

/// Reads a recording line by line.
#[derive(Debug)]
pub struct Reader<R> {
    name: String,
    input: R,
    line: usize,
    buffer: Vec<u8>,
    /// The first line.
    pub header: Header,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line. `name` is what errors call the recording.
    pub fn new(name: impl Into<String>, input: R) -> Result<Reader<R>, ReadError> {
        let mut reader = Reader {
            name: name.into(),
            input,
            line: 0,
            buffer: Vec::new(),
            header: Header::default(),
        };
        let header = match reader.next_text() {
            Ok(None) => Err(Problem::Empty),
            Ok(Some(value)) => read_header(&value),
            Err(problem) => Err(problem),
        };
        match header {
            Ok(header) => reader.header = header,
            Err(problem) => return Err(reader.error(problem)),
        }
        Ok(reader)
    }

    /// The next line that is not blank, as JSON.
    fn next_text(&mut self) -> Result<Option<Value>, Problem> {
        loop {
            self.buffer.clear();
            self.line += 1;
            if self.input.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            if !self.buffer.trim_ascii().is_empty() {
                return Ok(Some(serde_json::from_slice(&self.buffer)?));
            }
        }
    }

    fn error(&self, problem: Problem) -> ReadError {
        ReadError {
            name: self.name.clone(),
            line: self.line,
            problem,
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Line, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.next_text() {
            Ok(value) => read_line(value?),
            Err(problem) => Err(problem),
        };
        Some(line.map_err(|problem| self.error(problem)))
    }
}

fn read_header(value: &Value) -> Result<Header, Problem> {
    if value["format"] != FORMAT {
        return Err(Problem::NotARecording);
    }
    if value["version"] != VERSION {
        let version = &value["version"];
        return Err(Problem::Version(match version.as_str() {
            Some(text) => text.to_owned(),
            None => version.to_string(),
        }));
    }
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Ok(Header {
        kubernetes: text("kubernetes"),
        server: text("server"),
        recorded: time(&value["recorded"]),
        namespace: text("namespace"),
        watched: text("watched"),
        is_full: value["full"] == true,
    })
}

impl Line {
    /// Reads a line that a live watch gave; none when it is not one.
    pub fn read(value: Value) -> Option<Line> {
        read_line(value).ok()
    }
}

fn read_line(mut value: Value) -> Result<Line, Problem> {
    let at = time(&value["at"]).ok_or(Problem::Field("at"))?;
    let change = if value["plan"].is_object() {
        Change::Plan(PlanLine::read(&value["plan"]).ok_or(Problem::Field("plan"))?)
    } else {
        let stream = match value["watch"].as_str() {
            Some("pods") => Stream::Pods,
            Some("events") => Stream::Events,
            _ => return Err(Problem::Field("watch")),
        };
        let kind = match value["type"].as_str() {
            Some("ADDED") => ChangeKind::Added,
            Some("MODIFIED") => ChangeKind::Modified,
            Some("DELETED") => ChangeKind::Deleted,
            Some("RELIST") => {
                let change = Change::Relist(stream);
                return Ok(Line { at, change });
            }
            _ => return Err(Problem::Field("type")),
        };
        let object = value["object"].take();
        if !object.is_object() {
            return Err(Problem::Field("object"));
        }
        Change::Object {
            stream,
            kind,
            object,
        }
    };
    Ok(Line { at, change })
}

/// A timestamp of an API object or a line.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// What of an object is written.
#[derive(Clone, Debug)]
pub enum Keep<'a> {
    /// The allow list.
    Allowed(Allow<'a>),
    /// Everything, values of variables included.
    Full,
}

/// Writes a recording line by line; every line is flushed, so that an interrupted recording is whole.
#[derive(Debug)]
pub struct Writer<'a, W> {
    output: W,
    keep: Keep<'a>,
}

impl<'a, W: Write> Writer<'a, W> {
    /// Writes the first line. `header.is_full` is taken from `keep`.
    pub fn new(mut output: W, keep: Keep<'a>, header: &Header) -> io::Result<Writer<'a, W>> {
        let mut value = json!({"format": FORMAT, "version": VERSION});
        let fields = [
            ("kubernetes", header.kubernetes.clone()),
            ("server", header.server.clone()),
            ("recorded", header.recorded.map(|at| format!("{at:.6}"))),
            ("namespace", header.namespace.clone()),
            ("watched", header.watched.clone()),
        ];
        for (key, text) in fields {
            if let Some(text) = text {
                value[key] = text.into();
            }
        }
        if matches!(keep, Keep::Full) {
            value["full"] = true.into();
        }
        writeln!(output, "{value}")?;
        output.flush()?;
        Ok(Writer { output, keep })
    }

    /// Writes one line.
    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        let at = format!("{:.6}", line.at);
        let value = match &line.change {
            Change::Object {
                stream,
                kind,
                object,
            } => {
                let object = match &self.keep {
                    Keep::Full => object.clone(),
                    Keep::Allowed(allow) => allow.object(*stream, object),
                };
                json!({"at": at, "watch": stream.word(), "type": kind.word(), "object": object})
            }
            Change::Relist(stream) => json!({"at": at, "watch": stream.word(), "type": "RELIST"}),
            Change::Plan(plan) => json!({"at": at, "plan": plan.to_json()}),
        };
        writeln!(self.output, "{value}")?;
        self.output.flush()
    }
}
