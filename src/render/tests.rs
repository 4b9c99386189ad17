//! The screens of the design, drawn from hand-written findings about real manifests.

mod odd;
mod samples;

use super::*;
use crate::finding::fingerprint;
use crate::finding::{Evidence, FixSafety, Label, Outcome};
use crate::manifest::FieldPath;
use samples::{
    ADDRESS, broken, evidence, finding, five_files, fix, label, no_gate, one_file, report,
    whole_folder, words,
};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/screens")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect(name)
}

fn options(format: LintFormat) -> Options {
    Options {
        format,
        style: Style {
            color: false,
            ascii: false,
        },
        width: 80,
        quiet: false,
        show_suppressed: false,
    }
}

/// What a terminal shows: both streams.
fn shown(report: &Report, options: &Options) -> String {
    let mut out = Vec::new();
    findings(report, options, &mut out).expect("memory");
    summary(report, options, &mut out).expect("memory");
    String::from_utf8(out).expect("text")
}

#[track_caller]
fn assert_screen(name: &str, shown: &str) {
    let path = folder().join(name);
    snapbox::assert_data_eq!(shown, snapbox::Data::read_from(&path, None).raw());
}

#[test]
fn one_finding_has_place_reason_fix_and_cost() {
    assert_screen(
        "lint-01.out",
        &shown(&one_file(), &options(LintFormat::Text)),
    );
}

#[test]
fn several_findings_tell_each_cost_once() {
    assert_screen(
        "lint-five-files.out",
        &shown(&five_files(), &options(LintFormat::Text)),
    );
}

#[test]
fn a_folder_lists_known_reasons_and_what_was_not_linted() {
    assert_screen(
        "lint-folder.out",
        &shown(&whole_folder(), &options(LintFormat::Text)),
    );
}

/// The findings alone.
fn listed(report: &Report, options: &Options) -> String {
    let mut out = Vec::new();
    findings(report, options, &mut out).expect("memory");
    String::from_utf8(out).expect("text")
}

/// The summary alone.
fn summed_up(report: &Report, options: &Options) -> String {
    let mut out = Vec::new();
    summary(report, options, &mut out).expect("memory");
    String::from_utf8(out).expect("text")
}

/// The beginning of a text, up to and without its line `end`.
fn until<'t>(text: &'t str, end: &str) -> &'t str {
    text.split_once(end).map_or(text, |(head, _)| head)
}

#[test]
fn sixty_columns_put_labels_below_their_marks() {
    let narrow = Options {
        width: 60,
        ..options(LintFormat::Text)
    };
    let shown = listed(&one_file(), &narrow);
    assert_screen("lint-60.out", until(&shown, "11 -"));
    let narrower = Options {
        width: 20,
        ..narrow
    };
    assert_eq!(listed(&one_file(), &narrower), shown);
}

#[test]
fn ascii_draws_the_same_rows_in_plain_characters() {
    let plain = Options {
        style: Style {
            color: false,
            ascii: true,
        },
        ..options(LintFormat::Text)
    };
    let shown = listed(&one_file(), &plain);
    assert_screen("lint-ascii.out", until(&shown, "   ,- fix"));
    assert!(listed(&whole_folder(), &plain).is_ascii());
}

#[test]
fn colour_changes_nothing_but_the_escapes() {
    let coloured = Options {
        style: Style {
            color: true,
            ascii: false,
        },
        ..options(LintFormat::Text)
    };
    let shown = shown(&five_files(), &coloured);
    assert_eq!(
        shown.lines().next(),
        Some(
            "\u{1b}[33;1mwarning\u{1b}[0m[\u{1b}[36mgate-after-dependent\u{1b}[0m]: \
             \u{1b}[1m`app` starts before `sidecar`'s gate is tried\u{1b}[0m"
        )
    );
    let bare = shown
        .split('\u{1b}')
        .enumerate()
        .map(|(at, part)| match at {
            0 => part,
            _ => part.split_once('m').map_or("", |(_, text)| text),
        });
    assert_screen("lint-five-files.out", &bare.collect::<String>());
}

#[test]
fn wide_tells_every_finding_and_diff_in_full() {
    let shown = shown(&whole_folder(), &options(LintFormat::Wide));
    assert_screen("lint-wide.out", &shown);
}

#[test]
fn line_and_quiet_leave_the_pictures_out() {
    let report = whole_folder();
    let last = "deploy/smoke.yaml:14:13: error[ungated-sidecar]: \
                `check` can start before `cache`, and has one try\n";
    let lines = listed(&report, &options(LintFormat::Line));
    assert_eq!(lines.lines().count(), 5);
    assert!(lines.ends_with(last), "{lines}");
    let not_linted = "deploy/broken.yaml:7:3: not linted: \
                      the mapping opened on line 6 is not closed\n\
                      12 templates under chart/ not linted: not manifests, render them first\n";
    assert!(summed_up(&report, &options(LintFormat::Line)).starts_with(not_linted));
    let quiet = Options {
        quiet: true,
        ..options(LintFormat::Text)
    };
    assert_eq!(listed(&report, &quiet), "");
    assert!(summed_up(&report, &quiet).starts_with("5 findings in 4 of 61 files"));
}

#[test]
fn a_clean_run_says_so_unless_it_is_quiet() {
    let mut report = report();
    report.totals = Totals {
        files: 61,
        documents: 300,
        workloads: 214,
    };
    let text = options(LintFormat::Text);
    assert_eq!(
        shown(&report, &text),
        "no findings: 61 files, 214 workloads, Kubernetes 1.37\n"
    );
    assert_eq!(
        shown(
            &report,
            &Options {
                quiet: true,
                ..text
            }
        ),
        ""
    );
    no_gate(&mut report);
    report.findings[0].severity = Severity::Info;
    report.totals.files = 1;
    assert_eq!(
        shown(&report.judged(), &text),
        "no findings: 1 file, 215 workloads, Kubernetes 1.37, 1 info not listed\n"
    );
}

#[test]
fn findings_below_fail_on_end_without_an_exit_line() {
    let mut report = one_file();
    report.fail_on = Some(Severity::Error);
    let report = report.judged();
    assert_eq!(
        summed_up(&report, &options(LintFormat::Text)),
        "\n1 finding: 1 warning, fixable with --fix=unsafe (1 file, Kubernetes 1.37)\n"
    );
    assert_eq!(report.exit.code(), 0);
}

#[test]
fn suppressed_findings_are_listed_on_request() {
    let mut report = whole_folder();
    report
        .findings
        .retain(|finding| finding.suppressed.is_some());
    let shown = listed(
        &report,
        &Options {
            show_suppressed: true,
            ..options(LintFormat::Text)
        },
    );
    assert_eq!(
        shown.lines().take(2).collect::<Vec<_>>(),
        [
            "suppressed[job-never-completes]: `import` cannot complete while `pgbouncer` runs",
            "   ╰─ deploy/import.yaml:16:17  Job/import · baseline of 2026-10-02 (web.yaml)",
        ]
    );
    assert_eq!(shown.lines().count(), 4);
}

#[test]
fn a_refused_fix_and_a_note_stand_below_the_reason() {
    let mut report = one_file();
    let finding = &mut report.findings[0];
    finding.notes = words(&["the hook `sync` was not understood"]);
    finding.help = Some("add a startupProbe".to_owned());
    let reason = "the anchor &env is used on line 40, too".to_owned();
    finding.fix.as_mut().expect("set above").outcome = Outcome::Refused(reason);
    let shown = listed(&report, &options(LintFormat::Text));
    let end = "               this one has returned; it does not ask whether it serves yet\n      \
               note: the hook `sync` was not understood\n      \
               no fix written: the anchor &env is used on line 40, too\n      \
               help: add a startupProbe\n";
    assert!(shown.ends_with(end), "{shown}");
}

/// A list of containers, each `lines` lines long.
fn containers(names: &[(&str, usize)]) -> String {
    let container = |(name, lines): &(&str, usize)| {
        let rest: String = (1..*lines)
            .map(|at| format!("    {name}{at}: x\n"))
            .collect();
        format!("  - name: {name}\n{rest}")
    };
    format!(
        "containers:\n{}",
        names.iter().map(container).collect::<String>()
    )
}

fn moved(old: &[(&str, usize)], new: &[(&str, usize)], format: LintFormat) -> String {
    let mut report = report();
    let source = report.add("x.yaml", &containers(old));
    let fixed = Outcome::Proven(containers(new));
    report.findings.push(Finding {
        fix: Some(fix(FixSafety::Safe, "move it", fixed)),
        ..finding(&report, "r", "m", label(&source, 1, "containers", ""))
    });
    let shown = listed(&report, &options(format));
    until(&shown, "move it\n").to_owned() + shown.rsplit("move it\n").next().unwrap_or("")
}

#[test]
fn a_long_block_that_moves_is_one_line() {
    let (old, new) = ([("a", 20), ("b", 14)], [("b", 14), ("a", 20)]);
    let up = moved(&old, &new, LintFormat::Text);
    let rows = " 1   containers:\n   + lines 22–35 move up to line 2\n 2     - name: a\n   ╰─\n";
    assert!(up.ends_with(rows), "{up}");
    let (old, new) = ([("b", 14), ("a", 20)], [("a", 20), ("b", 14)]);
    let down = moved(&old, &new, LintFormat::Text);
    let rows = "35       a19: x\n   + lines 2–15 move down to line 35\n   ╰─\n";
    assert!(down.ends_with(rows), "{down}");
    let wide = moved(&old, &new, LintFormat::Wide);
    assert_eq!(
        wide.lines().filter(|row| row.contains("   + ")).count(),
        14,
        "{wide}"
    );
}

#[test]
fn a_rewritten_long_line_is_shown_where_it_changes() {
    let mut report = report();
    let line = |probe: &str| format!("{{{}{probe}}}\n", "\"a\": 1, ".repeat(20));
    let source = report.add("x.json", &line("\"periodSeconds\": 10"));
    let fixed = Outcome::Proven(line("\"periodSeconds\": 1"));
    report.findings.push(Finding {
        fix: Some(fix(FixSafety::Safe, "lower it", fixed)),
        ..finding(&report, "r", "m", label(&source, 1, "periodSeconds", ""))
    });
    let shown = listed(&report, &options(LintFormat::Text));
    let rows: Vec<&str> = shown
        .lines()
        .filter(|row| row.contains("\"a\": 1"))
        .collect();
    assert!(rows[1].ends_with("\"periodSeconds\": 10}"), "{shown}");
    assert!(rows[2].ends_with("\"periodSeconds\": 1}"), "{shown}");
}

#[test]
fn json_has_places_in_characters_and_edits_for_the_fix() {
    let mut report = one_file();
    broken(&mut report);
    let source = Arc::clone(&report.sources[0].source);
    let containers = FieldPath::root().key("spec").key("containers");
    let finding = &mut report.findings[0];
    finding.primary.at = containers.index(0).key("name");
    finding.evidence = vec![Evidence {
        at: containers.index(1).key("command").index(2),
        ..evidence(&source, 17, ADDRESS)
    }];
    assert_screen(
        "lint-json.out",
        &listed(&report, &options(LintFormat::Json)),
    );
}

#[test]
fn fingerprints_outlive_new_lines_and_new_words() {
    let report = one_file();
    let first = &report.findings[0];
    let path = FieldPath::root().key("spec").key("containers");
    let at = |index: usize| Finding {
        primary: Label {
            at: path.index(index).key("name"),
            ..first.primary.clone()
        },
        message: format!("message {index}"),
        ..first.clone()
    };
    assert_eq!(fingerprint(&at(0)), fingerprint(&at(1)));
    assert_eq!(fingerprint(&at(0)), "48d306a0ac0e05c8");
    let other = Finding {
        container: None,
        ..at(0)
    };
    assert_ne!(fingerprint(&at(0)), fingerprint(&other));
}
