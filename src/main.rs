//! `kubectl-startorder`: parse the command line, run the command, map the outcome to an exit code.

use clap::Parser;
use startorder::cli::{Cli, Command, StyleArgs};
use startorder::cmd::{self, terminal};
use startorder::error::Failure;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut err = BufWriter::new(io::stderr().lock());
    let done = run(&cli.command, &mut out, &mut err).and_then(|code| {
        out.flush()?;
        err.flush()?;
        Ok(code)
    });
    match done {
        Ok(code) => ExitCode::from(code),
        // Whoever reads the output has seen enough.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // Nothing is left to be done when standard error is closed, too.
            let _ = out.flush();
            let style = terminal::style(&StyleArgs::default());
            let _ = failure.print(style, &mut err).and_then(|()| err.flush());
            ExitCode::from(failure.code())
        }
    }
}

fn run(command: &Command, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    match command {
        Command::Lint(args) => cmd::lint::run(args, out, err),
        Command::Graph(args) => cmd::graph::run(args, out, err),
        Command::Rules(args) => cmd::rules::run(args, terminal::width(), out).map(|()| 0),
        Command::Config(args) => cmd::config::run(args, out, err).map(|()| 0),
        Command::Version(_) => Ok(cmd::version::run(out).map(|()| 0)?),
        Command::Explain(args) => cmd::explain::run(args, out, err),
        Command::Watch(args) => cmd::watch::run(args, out, err),
    }
}
