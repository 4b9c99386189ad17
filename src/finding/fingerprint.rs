//! A name for a finding that stays when the manifest around it changes.

use super::Finding;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Sixteen hex digits (FNV-1a) of rule, workload, container, dependent and the field's path without
/// list positions. Neither texts nor lines take part, so that rewording a rule or adding a line
/// above keeps baselines and code-scanning results.
pub fn fingerprint(finding: &Finding) -> String {
    let path = finding.primary.at.without_indices();
    let object = &finding.object;
    let parts = [
        Some(finding.rule),
        Some(&*object.kind),
        object.namespace.as_deref(),
        Some(&*object.name),
        finding.container.as_deref(),
        finding.dependent.as_deref(),
        Some(&*path),
    ];
    let mut hash = FNV_OFFSET;
    for part in parts {
        // No text holds the bytes that end a part, so that parts cannot run into each other.
        let end = if part.is_some() { 0xff } else { 0xfe };
        let bytes = part.unwrap_or_default().bytes();
        for byte in bytes.chain(std::iter::once(end)) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }
    format!("{hash:016x}")
}
