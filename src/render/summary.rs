//! The last lines of a run: how many findings, what can be fixed, what was read, why it fails.

use super::exit::counted;
use super::frame::PROSE;
use super::style::{Role, Style};
use super::wrap::{glued, wrap};
use super::{Exit, Options, Report, TargetSource};
use crate::finding::{Finding, FixSafety, Outcome, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// From this many findings on there are counts by rule.
const RULE_COUNTS: usize = 4;

/// `exit 1: 6 findings at or above --fail-on=warning`, for runs that fail.
pub fn exit_line(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    match &report.exit {
        Exit::Success => Ok(()),
        Exit::Failure { code, reason } => writeln!(out, "exit {code}: {reason}"),
    }
}

/// The counts, then the exit line.
pub fn counts(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let listed: Vec<&Finding> = report.listed().collect();
    if listed.is_empty() {
        no_findings(report, options, out)?;
    } else {
        some_findings(report, options, &listed, out)?;
    }
    exit_line(report, out)
}

/// `no findings: 61 files, 214 workloads, Kubernetes 1.37`.
fn no_findings(report: &Report, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let is_clean = matches!(report.exit, Exit::Success);
    if options.quiet && is_clean {
        return Ok(());
    }
    let files = counted(report.totals.files, "file");
    let parts = [vec![files], scope(report), hidden(report)].concat();
    write_wrapped(options, &format!("no findings: {}", parts.join(", ")), out)
}

fn some_findings(
    report: &Report,
    options: &Options,
    listed: &[&Finding],
    out: &mut dyn Write,
) -> io::Result<()> {
    let fixable = Fixable::of(listed);
    let is_brief = report.totals.files == 1 && listed.len() < RULE_COUNTS;
    let mut line = format!(
        "{}: {}",
        headcount(report, listed, is_brief),
        severities(listed)
    );
    if let Some(text) = fixable.aside(listed.len()) {
        line = format!("{line}, {text}");
    }
    if is_brief {
        let run = [vec!["1 file".to_owned()], target(report)].concat();
        line = format!("{line} ({})", run.join(", "));
    }
    let line = [vec![line], hidden(report)].concat().join(", ");
    write_wrapped(options, &line, out)?;
    if let Some(line) = fixable.own_line() {
        write_wrapped(options, &line, out)?;
    }
    if listed.len() >= RULE_COUNTS {
        by_rule(options, listed, out)?;
    }
    if is_brief {
        return Ok(());
    }
    write_wrapped(options, &scope(report).join(", "), out)
}

/// `5 findings in 4 of 61 files`.
fn headcount(report: &Report, listed: &[&Finding], is_brief: bool) -> String {
    let count = counted(listed.len(), "finding");
    let files: BTreeSet<usize> = listed.iter().map(|finding| finding.source).collect();
    let (with, all) = (files.len(), report.totals.files);
    if is_brief {
        count
    } else if with >= all {
        format!("{count} in {}", counted(with, "file"))
    } else {
        format!("{count} in {with} of {}", counted(all, "file"))
    }
}

/// `1 error, 5 warnings`.
fn severities(findings: &[&Finding]) -> String {
    let all = [Severity::Error, Severity::Warning, Severity::Info];
    let texts = all.into_iter().filter_map(|severity| {
        let count = findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count();
        (count > 0).then(|| severity_count(count, severity))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn severity_count(count: usize, severity: Severity) -> String {
    match severity {
        Severity::Info => format!("{count} info"),
        Severity::Warning | Severity::Error => counted(count, severity.word()),
    }
}

/// `1 info not listed`.
fn hidden(report: &Report) -> Vec<String> {
    let hidden: Vec<&Finding> = report
        .active()
        .filter(|finding| finding.severity < report.severity)
        .collect();
    if hidden.is_empty() {
        return Vec::new();
    }
    vec![format!("{} not listed", severities(&hidden))]
}

/// What was read and what it was judged by.
fn scope(report: &Report) -> Vec<String> {
    let workloads = counted(report.totals.workloads, "workload");
    [vec![workloads], target(report)].concat()
}

/// The target, and how many findings are suppressed.
fn target(report: &Report) -> Vec<String> {
    let target = &report.target;
    let said_by = match target.source {
        TargetSource::Default
        | TargetSource::Flag
        | TargetSource::Config
        | TargetSource::Kubelet => "",
        TargetSource::Server => " (the server's)",
    };
    let mut parts = vec![format!("Kubernetes {}{said_by}", target.kubernetes)];
    parts.extend(target.mesh.as_ref().map(|mesh| format!("mesh {mesh}")));
    parts.extend(target.answered.map(|count| match count {
        1 => "1 pod as the server makes it".to_owned(),
        count => format!("{count} pods as the server makes them"),
    }));
    let suppressed = report.findings.len() - report.active().count();
    if suppressed > 0 {
        parts.push(format!("{suppressed} suppressed"));
    }
    parts
}

/// How many findings a proven fix would end, by what it takes to write it.
struct Fixable {
    safe: usize,
    all: usize,
    /// Findings whose fix was not tried: a large run proves what it shows and the first hundred.
    untried: usize,
}

impl Fixable {
    fn of(findings: &[&Finding]) -> Fixable {
        let safety = findings.iter().filter_map(|finding| {
            let fix = finding.fix.as_ref()?;
            match fix.outcome {
                Outcome::Proven(_) | Outcome::Settled => Some(fix.safety),
                Outcome::Untried | Outcome::Refused(_) => None,
            }
        });
        let all: Vec<FixSafety> = safety.collect();
        Fixable {
            safe: all
                .iter()
                .filter(|safety| **safety == FixSafety::Safe)
                .count(),
            all: all.len(),
            untried: findings
                .iter()
                .filter(|finding| finding.is_untried())
                .count(),
        }
    }

    /// With fixes of both kinds: `1 fixable with --fix, 6 with --fix=unsafe`. With untried ones,
    /// too: `…, 1380 fixes not tried (--diff tries all)`.
    fn own_line(&self) -> Option<String> {
        let is_mixed = self.safe > 0 && self.safe < self.all;
        let proven = || {
            format!(
                "{} fixable with --fix, {} with --fix=unsafe",
                self.safe, self.all
            )
        };
        let untried = || {
            let fixes = counted_fixes(self.untried);
            format!("{fixes} not tried (--diff tries all)")
        };
        match (is_mixed, self.untried) {
            (false, 0) => None,
            (true, 0) => Some(proven()),
            (false, _) => Some(untried()),
            (true, _) => Some(format!("{}, {}", proven(), untried())),
        }
    }

    /// With fixes of one kind: `fixable with --fix`, with their number unless there is but one
    /// finding.
    fn aside(&self, findings: usize) -> Option<String> {
        let flag = match (self.safe, self.all) {
            (_, 0) => return None,
            (0, _) => "--fix=unsafe",
            (safe, all) if safe == all => "--fix",
            _ => return None,
        };
        match findings {
            1 => Some(format!("fixable with {flag}")),
            _ => Some(format!("{} fixable with {flag}", self.all)),
        }
    }
}

fn counted_fixes(count: usize) -> String {
    match count {
        1 => "1 fix".to_owned(),
        _ => format!("{count} fixes"),
    }
}

/// `  ungated-sidecar 4, job-never-completes 1`, most first, and where to read about the first.
fn by_rule(options: &Options, listed: &[&Finding], out: &mut dyn Write) -> io::Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in listed {
        *counts.entry(finding.rule).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
    let texts: Vec<String> = counts
        .iter()
        .map(|(rule, count)| glued(&format!("{rule} {count}")))
        .collect();
    let room = options.columns().min(PROSE) - 2;
    for line in wrap(&texts.join(", "), room, room) {
        writeln!(out, "  {line}")?;
    }
    let Some((most, _)) = counts.first() else {
        return Ok(());
    };
    let why = format!("why: kubectl startorder rules {most}");
    writeln!(out, "  {}", options.style.paint(Role::Quiet, &why))
}

fn write_wrapped(options: &Options, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let room = options.columns().min(PROSE);
    for (at, line) in wrap(text, room, room - 2).iter().enumerate() {
        let indent = if at == 0 { "" } else { "  " };
        writeln!(out, "{indent}{}", colored(options.style, line))?;
    }
    Ok(())
}

/// The counts of errors and warnings in their colours.
fn colored(style: Style, line: &str) -> String {
    let parts = line.split(", ").map(|part| {
        let (head, count) = part
            .rsplit_once(": ")
            .map_or(("", part), |(head, count)| (head, count));
        let head = if head.is_empty() {
            String::new()
        } else {
            format!("{head}: ")
        };
        let role = match count.split_once(' ').map(|(_, noun)| noun) {
            Some("error" | "errors") => Role::Error,
            Some("warning" | "warnings") => Role::Warning,
            _ => Role::Plain,
        };
        format!("{head}{}", style.paint(role, count))
    });
    parts.collect::<Vec<_>>().join(", ")
}
