//! How near two names are.

/// The edit distance, in characters.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The nearest of the known names, if it is at most three edits away, and nearer than half of the
/// name's length.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let most = (name.chars().count() / 2).min(3);
    let near = known
        .into_iter()
        .map(|known| (distance(name, known), known));
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= most).then_some(known)
}
