//! Findings written by hand, about the manifests in `testdata/screens`.

use super::read;
use crate::finding::{
    Evidence, EvidenceKind, Finding, Fix, FixSafety, Label, Outcome, Severity, Suppression,
};
use crate::manifest::parse::parse;
use crate::manifest::{FieldPath, Mark, Source, Span};
use crate::pod::version::KubeVersion;
use crate::pod::workload::ObjectRef;
use crate::render::{Exit, Input, NotLinted, Report, Target, TargetSource, Templates, Totals};
use std::sync::Arc;

const LATER: &str = "the kubelet starts the next container as soon as the start of this one has \
                     returned; it does not ask whether it serves yet";
const BY_ELIMINATION: &str = "`sidecar` serves 8080 (by elimination: no other container could)";
const ON_POD_ADDRESS: &str = "and answers /ready on the pod's address, too";
const COST: &str = "up to 1 s more at each start (with the default period up to 10 s)";
pub const ADDRESS: &str = "127.0.0.1:8080";

pub(super) fn report() -> Report {
    Report {
        sources: Vec::new(),
        findings: Vec::new(),
        not_linted: Vec::new(),
        templates: Vec::new(),
        notes: Vec::new(),
        totals: Totals::default(),
        target: Target {
            kubernetes: KubeVersion::NEWEST,
            source: TargetSource::Default,
            mesh: None,
            answered: None,
        },
        fail_on: Some(Severity::Warning),
        severity: Severity::Warning,
        exit: Exit::Success,
    }
}

impl Report {
    /// Adds an input with one document; totals follow.
    pub(super) fn read(&mut self, name: &str) -> Arc<Source> {
        self.add(name, &read(name))
    }

    pub(super) fn add(&mut self, name: &str, text: &str) -> Arc<Source> {
        let parsed = parse(name, text);
        let documents = parsed
            .documents
            .iter()
            .map(|document| (document.index, document.span));
        self.sources.push(Input {
            source: Arc::clone(&parsed.source),
            documents: documents.collect(),
        });
        self.totals.files += 1;
        self.totals.documents += parsed.documents.len();
        self.totals.workloads += 1;
        parsed.source
    }

    pub(super) fn judged(mut self) -> Report {
        self.exit = self.judge();
        self
    }
}

/// The place of some words in a line.
pub(super) fn span(source: &Source, line: usize, words: &str) -> Span {
    let line = source.line_span(line);
    let at = source.slice(line).find(words).expect(words) + line.start as usize;
    Span::new(at, at + words.len())
}

pub(super) fn label(source: &Source, line: usize, words: &str, text: &str) -> Label {
    Label {
        at: FieldPath::root(),
        mark: Mark::Value,
        text: text.to_owned(),
        span: Some(span(source, line, words)),
    }
}

pub(super) fn evidence(source: &Source, line: usize, words: &str) -> Evidence {
    Evidence {
        kind: EvidenceKind::Loopback,
        detail: format!("names {words}"),
        words: words.to_owned(),
        at: FieldPath::root().key("spec"),
        span: Some(span(source, line, words)),
        elsewhere: None,
    }
}

pub(super) fn object(kind: &str, name: &str) -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: None,
        name: name.to_owned(),
    }
}

/// A warning about `Pod/sample` in the report's last source.
pub(super) fn finding(
    report: &Report,
    rule: &'static str,
    message: &str,
    primary: Label,
) -> Finding {
    Finding {
        rule,
        severity: Severity::Warning,
        message: message.to_owned(),
        help: None,
        because: String::new(),
        object: object("Pod", "sample"),
        source: report.sources.len() - 1,
        document: 0,
        container: Some("sidecar".to_owned()),
        dependent: Some("app".to_owned()),
        primary,
        related: Vec::new(),
        evidence: Vec::new(),
        notes: Vec::new(),
        fix: None,
        suppressed: None,
    }
}

pub(super) fn fix(safety: FixSafety, title: &str, outcome: Outcome) -> Fix {
    Fix {
        safety,
        title: title.to_owned(),
        operations: Vec::new(),
        assumes: Vec::new(),
        costs: None,
        limit: None,
        outcome,
    }
}

pub(super) fn unsafe_fix(title: &str, fixed: &str) -> Fix {
    fix(FixSafety::Unsafe, title, Outcome::Proven(read(fixed)))
}

pub(super) fn words(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

pub(super) fn no_gate(report: &mut Report) {
    let source = report.read("01-no-gate/manifest.yaml");
    let text = "listed first, but nothing waits until it serves";
    report.findings.push(Finding {
        because: LATER.to_owned(),
        related: vec![label(&source, 17, ADDRESS, "`app` calls it")],
        fix: Some(Fix {
            assumes: words(&[BY_ELIMINATION, ON_POD_ADDRESS]),
            costs: Some(COST.to_owned()),
            ..unsafe_fix(
                "make `sidecar` a native sidecar with a startupProbe",
                "01-no-gate/fixed.yaml",
            )
        }),
        ..finding(
            report,
            "ungated-sidecar",
            "`app` can start before `sidecar` serves",
            label(&source, 12, "sidecar", text),
        )
    });
}

pub(super) fn gate_last(report: &mut Report) {
    let source = report.read("03-gate-last/manifest.yaml");
    let text = "holds back only what is listed below it: nothing";
    report.findings.push(Finding {
        because: "app containers start in list order; a postStart hook delays only the \
                  containers below its own"
            .to_owned(),
        related: vec![
            label(&source, 12, "app", "is listed first"),
            label(&source, 14, ADDRESS, "calls `sidecar`"),
        ],
        fix: Some(Fix {
            limit: Some(
                "attempted, not guaranteed: if the hook fails, `app` starts all the same \
                 (--prefer native writes a gate that the kubelet enforces)"
                    .to_owned(),
            ),
            ..unsafe_fix("move `sidecar` above `app`", "03-gate-last/fixed.yaml")
        }),
        ..finding(
            report,
            "gate-after-dependent",
            "`app` starts before `sidecar`'s gate is tried",
            label(&source, 19, "postStart", text),
        )
    });
}

pub(super) fn gate_http(report: &mut Report) {
    let source = report.read("05-gate-http/manifest.yaml");
    let text = "tried once, at once: `sidecar` may not listen yet";
    report.findings.push(Finding {
        because: "an httpGet hook has one try: refused means failed, and then the kubelet kills \
                  `sidecar` and starts `app`; even a 404 would pass"
            .to_owned(),
        related: vec![label(&source, 20, ADDRESS, "`app` calls it")],
        fix: Some(Fix {
            assumes: words(&["/ready answers 200 once `sidecar` serves (a hook passes with any)"]),
            costs: Some(COST.to_owned()),
            ..unsafe_fix(
                "the same request as startupProbe of a native sidecar",
                "05-gate-http/fixed.yaml",
            )
        }),
        ..finding(
            report,
            "http-hook-as-gate",
            "the httpGet hook of `sidecar` does not wait",
            label(&source, 17, "httpGet", text),
        )
    });
}

pub(super) fn native(
    report: &mut Report,
    name: &str,
    related: (usize, &str, &str),
    called: usize,
) -> Finding {
    let source = report.read(&format!("{name}/manifest.yaml"));
    let (line, marked, text) = related;
    Finding {
        related: vec![
            label(&source, line, marked, text),
            label(&source, called, ADDRESS, "`app` calls it"),
        ],
        ..finding(
            report,
            "ungated-native-sidecar",
            "`app` can start before `sidecar` serves",
            label(
                &source,
                12,
                "sidecar",
                "counts as started once its process runs",
            ),
        )
    }
}

pub(super) fn native_bare(report: &mut Report) {
    let always = (
        15,
        "restartPolicy: Always",
        "native sidecar, no startupProbe",
    );
    let found = native(report, "09-native-bare", always, 19);
    report.findings.push(Finding {
        because: "a native sidecar counts as started once its process runs; only a startupProbe \
                  or a waiting postStart makes the kubelet wait longer"
            .to_owned(),
        fix: Some(Fix {
            assumes: words(&[BY_ELIMINATION, ON_POD_ADDRESS]),
            costs: Some(COST.to_owned()),
            ..unsafe_fix("add a startupProbe", "09-native-bare/fixed.yaml")
        }),
        ..found
    });
}

pub(super) fn native_readiness(report: &mut Report) {
    let probe = (16, "readinessProbe", "holds no container back");
    let found = native(report, "10-native-readiness", probe, 22);
    let title = "add a startupProbe like the readinessProbe, which stays";
    let fixed = Outcome::Proven(read("10-native-readiness/fixed.yaml"));
    report.findings.push(Finding {
        because: "readiness decides about Ready and endpoints, never about order".to_owned(),
        fix: Some(Fix {
            costs: Some(COST.to_owned()),
            ..fix(FixSafety::Safe, title, fixed)
        }),
        ..found
    });
}

pub(super) fn init_needs_app(report: &mut Report) {
    let source = report.read("39-init-needs-app/manifest.yaml");
    report.findings.push(Finding {
        severity: Severity::Error,
        because: "`check` waits for `sidecar`; app containers start only after `check` has \
                  exited 0: the pod stays in Init:0/1 for ever"
            .to_owned(),
        related: vec![label(
            &source,
            16,
            "sidecar",
            "starts only after `check` has exited 0",
        )],
        fix: Some(Fix {
            assumes: words(&[
                "`sidecar` serves 8080 (by elimination: `app` calls it, too)",
                ON_POD_ADDRESS,
            ]),
            costs: Some(COST.to_owned()),
            ..unsafe_fix(
                "make `sidecar` a native sidecar, above `check`",
                "39-init-needs-app/fixed.yaml",
            )
        }),
        ..finding(
            report,
            "init-needs-later-container",
            "`check` waits for `sidecar`, which is later",
            label(&source, 14, ADDRESS, "loops until it answers"),
        )
    });
    let text = "listed first, but nothing waits until it serves";
    report.findings.push(Finding {
        because: LATER.to_owned(),
        related: vec![label(&source, 21, ADDRESS, "`app` calls it")],
        fix: Some(fix(FixSafety::Unsafe, "a native sidecar", Outcome::Settled)),
        ..finding(
            report,
            "ungated-sidecar",
            "`app` can start before `sidecar` serves",
            label(&source, 16, "sidecar", text),
        )
    });
}

pub(super) fn five_files() -> Report {
    let mut report = report();
    gate_last(&mut report);
    gate_http(&mut report);
    native_bare(&mut report);
    native_readiness(&mut report);
    init_needs_app(&mut report);
    report.judged()
}

pub(super) fn one_file() -> Report {
    let mut report = report();
    no_gate(&mut report);
    report.judged()
}

pub(super) fn import(report: &mut Report) {
    let source = report.read("deploy/import.yaml");
    let job = object("Job", "import");
    let title = "native sidecar with startupProbe tcp:6432";
    report.findings.push(Finding {
        object: job.clone(),
        because: "a Job's pod succeeds only when every app container has exited".to_owned(),
        fix: Some(unsafe_fix(title, "import.fixed.yaml")),
        ..finding(
            report,
            "job-never-completes",
            "`import` cannot complete while `pgbouncer` runs",
            label(&source, 16, "pgbouncer", "serves until it is killed"),
        )
    });
    let text = "nothing waits until it serves";
    report.findings.push(Finding {
        object: job,
        because: LATER.to_owned(),
        related: vec![label(&source, 15, "localhost:6432", "`import` calls it")],
        fix: Some(fix(FixSafety::Unsafe, "a native sidecar", Outcome::Settled)),
        ..finding(
            report,
            "ungated-sidecar",
            "`import` can start before `pgbouncer` serves",
            label(&source, 16, "pgbouncer", text),
        )
    });
}

/// One that is told in two lines, since its reason is not new.
pub(super) fn ungated(
    report: &mut Report,
    path: &str,
    object: ObjectRef,
    message: &str,
    primary: (usize, &str),
    called: (usize, &str),
) {
    let source = report.read(path);
    report.findings.push(Finding {
        object,
        because: LATER.to_owned(),
        related: vec![label(&source, called.0, called.1, "calls it")],
        evidence: vec![evidence(&source, called.0, called.1)],
        fix: Some(fix(
            FixSafety::Safe,
            "make it a native sidecar",
            Outcome::Proven(with_restart_policy(&source, primary.0)),
        )),
        ..finding(
            report,
            "ungated-sidecar",
            message,
            label(&source, primary.0, primary.1, ""),
        )
    });
}

/// The text with a line below line `line`, as deep as a list item's entries.
fn with_restart_policy(source: &Source, line: usize) -> String {
    let at = source.line_span(line).end as usize;
    let item = source.line(line);
    let indent = item.len() - item.trim_start().len() + 2;
    let (head, tail) = source.text().split_at(at);
    format!("{head}\n{:indent$}restartPolicy: Always{tail}", "")
}

pub(super) fn broken(report: &mut Report) {
    let name = "deploy/broken.yaml";
    let parsed = parse(name, read(name));
    let not_linted = NotLinted::unparsed(&parsed.source, &parsed.errors[0]);
    report.not_linted.push(not_linted);
}

pub(super) fn whole_folder() -> Report {
    let mut report = report();
    import(&mut report);
    ungated(
        &mut report,
        "deploy/ledger.yaml",
        object("StatefulSet", "ledger"),
        "`ledger` can start before `pgadapter` serves",
        (17, "pgadapter"),
        (29, "localhost:5432"),
    );
    ungated(
        &mut report,
        "deploy/orders-api.yaml",
        object("Deployment", "orders-api"),
        "`api` can start before `cloud-sql-proxy` serves",
        (28, "cloud-sql-proxy"),
        (25, "127.0.0.1"),
    );
    ungated(
        &mut report,
        "deploy/smoke.yaml",
        object("Pod", "smoke-check"),
        "`check` can start before `cache`, and has one try",
        (14, "cache"),
        (13, "localhost:6379"),
    );
    let smoke = Arc::clone(&report.sources[3].source);
    if let Some(last) = report.findings.last_mut() {
        last.severity = Severity::Error;
        last.related
            .push(label(&smoke, 9, "restartPolicy: Never", ""));
        last.fix.as_mut().expect("set above").safety = FixSafety::Unsafe;
    }
    for place in ["web.yaml", "mail.yaml"] {
        report.findings.push(Finding {
            suppressed: Some(Suppression {
                by: format!("baseline of 2026-10-02 ({place})"),
            }),
            ..report.findings[0].clone()
        });
    }
    broken(&mut report);
    report.templates.push(Templates {
        chart: "chart".to_owned(),
        count: 12,
    });
    report.totals = Totals {
        files: 61,
        documents: 300,
        workloads: 214,
    };
    report.judged()
}
