//! How much more `lint` costs than reading the events of the same YAML, and how much memory it takes.
//!
//! `just bench FOLDER…` (or `cargo bench --no-default-features --bench lint -- FOLDER…`) runs in turn,
//! round by round, `lint -R -f FOLDER` and a bare loop over the parser's events, each in a process of
//! its own with as many threads, and prints the least CPU and wall time of both with their ratios.
//! It fails on no number: a busy machine decides nothing. The goal is a ratio of 1.8. Linux only,
//! since the CPU time is that of `/proc/self/task`.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use clap::Parser as _;
use granit_parser::Parser;
use rayon::prelude::*;
use startorder::cli::{Cli, Command};
use startorder::cmd;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Instant;

/// How often both are run.
const ROUNDS: usize = 9;

/// Something to measure on the files of a path.
type Work = fn(&Path);

/// What one process does, by the word that asks for it.
const WORK: [(&str, Work); 2] = [("--lint", lint), ("--events", events)];

fn main() {
    let args = std::env::args_os().skip(1);
    let args: Vec<OsString> = args.filter(|arg| arg != "--bench").collect();
    let (Some(first), rest) = (args.first(), args.get(1)) else {
        println!("usage: just bench FOLDER…");
        return;
    };
    let work = WORK.iter().find(|(word, _)| first == word);
    match (work, rest) {
        (Some((_, work)), Some(path)) => measured(*work, Path::new(path)),
        (Some(_) | None, _) => args.iter().for_each(|path| compare(path)),
    }
}

fn lint(path: &Path) {
    let words = ["kubectl-startorder", "lint", "-R", "-f"].map(OsStr::new);
    let cli = Cli::parse_from(words.into_iter().chain([path.as_os_str()]));
    if let Command::Lint(args) = &cli.command {
        let (mut out, mut err) = (io::sink(), io::sink());
        // Findings are no failure here.
        let _ = cmd::lint::run(args, &mut out, &mut err);
    }
}

/// Reads every event of every YAML or JSON file of a path, as many files at once as there are threads.
fn events(path: &Path) {
    let is_manifest = |path: &Path| {
        let ending = path.extension().unwrap_or_default();
        ["yaml", "yml", "json"].iter().any(|known| ending == *known)
    };
    let entries = walkdir::WalkDir::new(path)
        .follow_links(true)
        .sort_by_file_name();
    let files: Vec<PathBuf> = entries
        .into_iter()
        .filter_map(|entry| Some(entry.ok()?.into_path()))
        .filter(|path| is_manifest(path) && path.is_file())
        .collect();
    let texts = files
        .par_iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    std::hint::black_box(texts.map(|text| events_of(&text)).sum::<usize>());
}

/// A large text is read in parts, as `lint` does.
fn events_of(text: &str) -> usize {
    let count = |part: &str| {
        let events = Parser::new_from_str(part);
        events.take_while(Result::is_ok).count()
    };
    if text.len() < 256 * 1024 {
        return text.split("\n---").map(count).sum();
    }
    let parts: Vec<&str> = text.split("\n---").collect();
    parts.into_par_iter().map(count).sum()
}

/// Does some work, and prints its CPU and wall time in microseconds and the most memory in KiB.
fn measured(work: Work, path: &Path) {
    let start = Instant::now();
    work(path);
    let wall = start.elapsed().as_micros();
    println!("{} {wall} {}", cpu_micros(), peak_kib());
}

/// The CPU time of all threads so far. The pool's threads live on, so that none is missing.
fn cpu_micros() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanos = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    nanos.sum::<u64>() / 1000
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = peak.and_then(|line| line.split_whitespace().next());
    words.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// CPU and wall time in milliseconds, and memory in MiB.
type Cost = [f64; 3];

fn compare(path: &OsStr) {
    let least = |all: &[Cost], figure: usize| {
        let figures = all.iter().map(|cost| cost[figure]);
        figures.fold(f64::INFINITY, f64::min)
    };
    let rounds: Vec<(Cost, Cost)> = (0..ROUNDS)
        .filter_map(|_| Some((cost_of("--lint", path)?, cost_of("--events", path)?)))
        .collect();
    let (lint, events): (Vec<Cost>, Vec<Cost>) = rounds.into_iter().unzip();
    println!("{}", path.display());
    for (figure, name) in ["CPU ms", "wall ms", "MiB"].into_iter().enumerate() {
        let (one, other) = (least(&lint, figure), least(&events, figure));
        let ratio = one / other;
        println!("  {name:8} lint {one:8.1}  events {other:8.1}  ratio {ratio:.2}");
    }
}

/// Runs this program once more, as one of the two.
fn cost_of(work: &str, path: &OsStr) -> Option<Cost> {
    let own = std::env::current_exe().ok()?;
    let out = process::Command::new(own)
        .arg(work)
        .arg(path)
        .output()
        .ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let mut figures = text.split_whitespace().map(str::parse::<f64>);
    let mut next = |unit: f64| Some(figures.next()?.ok()? / unit);
    Some([next(1000.0)?, next(1000.0)?, next(1024.0)?])
}
