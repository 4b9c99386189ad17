//! An API version that current clusters have no more.

use super::{Check, Context, Rule};
use crate::finding::{Finding, Severity};
use crate::manifest::Mark;

pub(super) static RULE: Rule = Rule {
    id: "removed-api-version",
    summary: "the API version is gone; the pod template is linted all the same",
    severity: Severity::Info,
    since: "0.1.0",
    fix: None,
    why: "The group versions `extensions/v1beta1`, `apps/v1beta1` and `apps/v1beta2` left in 1.16, `batch/v2alpha1` in \
          1.21 and `batch/v1beta1` in 1.25. The API server answers `no matches for kind`, so nothing of the object \
          takes effect. What the kubelet would do with its pods is told nevertheless.",
    facts: &["S1"],
    cure: "`apps/v1` or `batch/v1`. `apps/v1` asks for a `selector` that older versions filled in.",
    silent: "The version is served, or belongs to a group of its own such as `argoproj.io`.",
    example: include_str!("../../testdata/rules/removed-api-version/bad/minimal.yaml"),
    check: Check::PerWorkload(check),
};

/// Group versions with the release that removed them and what took their place.
const REMOVED: [(&str, &str, &str); 5] = [
    ("extensions/v1beta1", "1.16", "apps/v1"),
    ("apps/v1beta1", "1.16", "apps/v1"),
    ("apps/v1beta2", "1.16", "apps/v1"),
    ("batch/v2alpha1", "1.21", "batch/v1"),
    ("batch/v1beta1", "1.25", "batch/v1"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let object = &context.workload.object;
    let removed = REMOVED
        .iter()
        .find(|(version, _, _)| *version == object.api_version);
    let Some((version, since, now)) = removed else {
        return;
    };
    let message = format!("{version} {} is gone since Kubernetes {since}", object.kind);
    let place = context.workload.at.key("apiVersion");
    let mut finding = context.finding(&RULE, message, place, Mark::Value, format!("now {now}"));
    finding.because =
        "an API server that does not serve the version takes nothing of the object".to_owned();
    finding.help = Some(format!("apiVersion: {now}"));
    findings.push(finding);
}
