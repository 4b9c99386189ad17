//! Fixes of a manifest for findings about what a server makes of it.

use crate::finding::{Finding, Fix, Outcome, of_document};
use crate::pod::PodTemplate;

/// Both are sorted by their documents. Of the findings about the templates only those keep their fix that are findings about the
/// answered pods, too: what the server has settled needs no patch.
pub(super) fn keep_shared(own: &mut [Finding], answered: &[Finding]) {
    for finding in own {
        let is_shared = |other: &Finding| {
            other.identity() == finding.identity() || asks_for_gate(finding, other)
        };
        if !of_document(answered, finding.place()).iter().any(is_shared) {
            finding.fix = None;
        }
    }
}

/// The fix of the template's own finding. One that only the server brings has none, but for an
/// annotation that makes the injector hold the app back.
pub(super) fn carry(own: &[Finding], finding: &mut Finding, asked: Option<&PodTemplate>) {
    let own = of_document(own, finding.place());
    let same = own
        .iter()
        .find(|other| other.identity() == finding.identity());
    let gate = || own.iter().find(|other| asks_for_gate(other, finding));
    finding.fix = match same.or_else(gate) {
        Some(own) => own.fix.clone(),
        None => finding.fix.take().map(|fix| no_patch(fix, finding, asked)),
    };
}

/// Whether a finding about a template tells of the injection of the very container that a finding
/// about the answered pod is about. Such a finding names the container first.
fn asks_for_gate(own: &Finding, answered: &Finding) -> bool {
    let injected = answered
        .container
        .as_deref()
        .map(|name| format!("`{name}`"));
    own.rule == "ungated-injected-proxy"
        && own.place() == answered.place()
        && own.object == answered.object
        && injected.is_some_and(|name| own.message.starts_with(&name))
}

fn no_patch(fix: Fix, finding: &Finding, asked: Option<&PodTemplate>) -> Fix {
    let named = finding.container.as_deref();
    let is_asked = |name: &str| asked.is_none_or(|asked| asked.container(name).is_some());
    let added = named.filter(|name| !is_asked(name));
    let reason = match added {
        Some(name) => format!("the server adds `{name}`: who adds it decides how it starts"),
        None => "what the server adds brings it, which no patch of this manifest ends".to_owned(),
    };
    Fix {
        operations: Vec::new(),
        outcome: Outcome::Refused(reason),
        ..fix
    }
}
