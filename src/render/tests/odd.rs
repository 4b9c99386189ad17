//! Texts and spans that no parser would make.

use super::samples::{finding, fix, report};
use super::*;
use crate::finding::{FixSafety, Label, Outcome};
use crate::manifest::{FieldPath, Mark};
use proptest::prelude::*;

fn at(span: (u32, u32), text: &str) -> Label {
    Label {
        at: FieldPath::root(),
        mark: Mark::Value,
        text: text.to_owned(),
        span: Some(Span {
            start: span.0,
            end: span.1,
        }),
    }
}

proptest! {
    /// Whatever the text and wherever the spans: no panic, no control character.
    #[test]
    fn spans_and_texts_never_panic(
        text in "[a\\-:日é\u{301}\t\r\n \u{1b}\u{202e}\u{feff}]{0,60}",
        new in "[ab\\-\r\n ]{0,30}",
        spans in prop::collection::vec((0u32..80, 0u32..80), 1..5),
        width in 0usize..200,
        source in 0usize..2,
    ) {
        let mut report = report();
        report.sources.push(Input {
            source: Arc::new(Source::new("a\u{1b}.yaml", text.as_str())),
            documents: BTreeMap::from([(0, Span { start: spans[0].0, end: spans[0].1 })]),
        });
        let odd = Finding {
            source,
            related: spans.iter().map(|span| at(*span, &text)).collect(),
            fix: Some(fix(FixSafety::Safe, &text, Outcome::Proven(new))),
            ..finding(&report, "r", &text, at(spans[0], &text))
        };
        report.findings = vec![odd.clone(), odd];
        report.not_linted.push(NotLinted {
            skipped: Skipped { file: text.clone(), position: None, reason: text.clone() },
            broken: Some(Broken {
                source: Arc::clone(&report.sources[0].source),
                at: Span { start: spans[0].1, end: spans[0].0 },
                opened: Some(Span { start: spans[0].0, end: spans[0].1 }),
            }),
        });
        for format in [LintFormat::Text, LintFormat::Wide, LintFormat::Line, LintFormat::Json] {
            let shown = shown(&report, &Options { width, ..options(format) });
            let is_odd = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            if format != LintFormat::Json {
                prop_assert!(!shown.contains(is_odd), "{shown:?}");
            }
        }
    }
}
