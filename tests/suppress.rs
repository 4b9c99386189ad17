//! A comment that ignores a finding goes where its item goes: no proven fix of another finding
//! brings an ignored one back.

use rayon::prelude::*;
use startorder::catalog::Catalog;
use startorder::config::{Config, Levels};
use startorder::finding::{Finding, Outcome};
use startorder::fix;
use startorder::judge::{self, Target};
use startorder::manifest::Mark;
use startorder::pod::KubeVersion;
use startorder::rules::Preference;
use startorder::run::Run;
use startorder::suppress::Suppressor;
use std::fs;
use std::path::{Path, PathBuf};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn manifests(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .flat_map(|path| match path.is_dir() {
            true => manifests(&path),
            false => vec![path],
        })
        .collect();
    paths.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".yaml") && !name.ends_with(".fixed.yaml")
    });
    paths.sort();
    paths
}

fn target(levels: &Levels) -> Target<'_> {
    Target {
        version: KubeVersion::NEWEST,
        preference: Preference::PerRule,
        mesh: None,
        catalog: Catalog::built_in(),
        levels,
    }
}

/// The findings of a text, marked, their fixes untried.
fn marked(text: &str) -> (Run, Vec<Finding>) {
    let run = Run::of_texts([("x.yaml".to_owned(), text.to_owned())]);
    let levels = Levels::default();
    let mut findings = judge::findings(&run, target(&levels));
    let suppressor = Suppressor {
        levels: &levels,
        config: &Config::default(),
        paths: &[],
    };
    suppressor.mark(&run, &mut findings);
    judge::sort(&mut findings);
    (run, findings)
}

/// How many findings about the same containers nothing hides.
fn loud(findings: &[Finding], victim: &Finding) -> usize {
    let identity = |finding: &Finding| {
        let containers = (finding.container.clone(), finding.dependent.clone());
        (finding.rule, finding.object.clone(), containers)
    };
    let own = findings
        .iter()
        .filter(|one| identity(one) == identity(victim));
    own.filter(|one| one.suppressed.is_none()).count()
}

/// The text with a comment above a line, as far to the right as that.
fn with_ignore(text: &str, line: usize, rule: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let below = &lines[line - 1];
    let indent = &below[..below.len() - below.trim_start().len()];
    let comment = format!("{indent}# startorder: ignore[{rule}] decided\n");
    lines.insert(line - 1, comment);
    lines.concat()
}

/// The lines at which a comment can ignore a finding: its own, and those of its containers.
fn lines(run: &Run, finding: &Finding) -> Vec<usize> {
    let Some(read) = run.document(finding.source, finding.document) else {
        return Vec::new();
    };
    let names = [&finding.container, &finding.dependent];
    let at = &finding.primary.at;
    let workloads = read
        .workloads()
        .filter(|one| one.object == finding.object && at.is_below(&one.template.at));
    let containers = workloads.flat_map(|workload| &workload.template.containers);
    let concerned = containers.filter(|one| {
        let mut names = names.iter();
        names.any(|name| name.as_deref() == Some(one.name.as_str()))
    });
    let items = concerned.filter_map(|one| read.document.span_at(&one.at, &Mark::Key));
    let source = &run.files[finding.source].source;
    let mut lines: Vec<usize> = items
        .chain(finding.primary.span)
        .map(|span| source.position(span.start).line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Whether the comment is one: inside of a text of several lines `#` begins none.
fn is_comment(run: &Run, victim: &Finding) -> bool {
    let read = run.document(victim.source, victim.document);
    read.is_some_and(|read| {
        let source = &run.files[victim.source].source;
        let mut comments = read.document.comments.iter();
        comments.any(|span| source.slice(*span).ends_with("] decided"))
    })
}

#[test]
fn a_comment_hides_its_finding_after_every_fix_of_another() {
    let paths = manifests(Path::new(TESTDATA));
    let counts = paths.par_iter().map(|path| check(path));
    let (hidden, fixed) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(hidden > 100 && fixed > 30, "{hidden} hidden, {fixed} fixed");
}

/// How many comments were tried in a file, and how many fixes beside them.
fn check(path: &Path) -> (usize, usize) {
    let levels = Levels::default();
    let (mut hidden, mut fixed) = (0, 0);
    let text = fs::read_to_string(path).unwrap_or_default();
    let (run, findings) = marked(&text);
    let victims = findings.iter().filter(|one| one.suppressed.is_none());
    // An ignore has no item to go with.
    for victim in victims.filter(|one| one.rule != "unused-ignore") {
        for line in lines(&run, victim) {
            let place = format!("{}:{line} {}", path.display(), victim.rule);
            let (run, mut ignored) = marked(&with_ignore(&text, line, victim.rule));
            if !is_comment(&run, victim) {
                continue;
            }
            let others = loud(&ignored, victim);
            assert!(others < loud(&findings, victim), "{place}");
            hidden += 1;
            fix::prove(&run, target(&levels), &mut ignored, &fix::Scope::All);
            for other in &ignored {
                let fix = other.fix.as_ref().map(|fix| &fix.outcome);
                if let Some(Outcome::Proven(part)) = fix {
                    fixed += 1;
                    let (_, after) = marked(part);
                    let is_back = loud(&after, victim) > others;
                    assert!(!is_back, "{place}: back after {}:\n{part}", other.rule);
                }
            }
        }
    }
    (hidden, fixed)
}
