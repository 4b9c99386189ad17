//! More pods than rows: one table, those that wait longest on top.

use super::now::brief;
use super::picture::{View, cut};
use super::scene::{Scene, Shown};
use super::seconds::took;
use super::waiting::{Waiting, waiting};
use crate::render::Role;
use crate::render::wrap::width;

/// Columns between two columns of the table.
const GAP: &str = "  ";

/// The longest name that is drawn in full.
const NAME: usize = 40;

struct Entry<'a> {
    shown: &'a Shown,
    waiting: Option<Waiting<'a>>,
}

/// The table, as many lines as there are rows.
pub(super) fn table(scene: &Scene, view: &View, rows: usize) -> Vec<String> {
    let pods = scene.pods.iter();
    let mut entries: Vec<Entry<'_>> = pods
        .filter(|shown| !shown.pod.is_ready && !shown.is_over())
        .map(|shown| Entry {
            shown,
            waiting: waiting(shown),
        })
        .collect();
    entries.sort_by_key(|entry| {
        let since = entry.waiting.as_ref().map(|waiting| waiting.since);
        since.unwrap_or(scene.now)
    });
    let room = rows.saturating_sub(2).max(1);
    let hidden = scene.pods.len() - entries.len().min(room);
    let are_all_ready = entries.len() <= room;
    entries.truncate(room);
    let cells: Vec<[String; 4]> = entries
        .iter()
        .map(|entry| cells(scene, entry, view))
        .collect();
    let heads = ["POD", "PHASE", "NOW", "SINCE"].map(str::to_owned);
    let widest = |column: usize| {
        let all = cells.iter().chain([&heads]);
        all.map(|row| width(&row[column])).max().unwrap_or(0)
    };
    let widths = [widest(0), widest(1), widest(3)];
    let mut lines = vec![view.style.paint(Role::Quiet, &line(&heads, widths, view))];
    lines.extend(cells.iter().map(|row| line(row, widths, view)));
    let ellipsis = view.style.glyphs().ellipsis;
    match (hidden, are_all_ready) {
        (0, _) => {}
        (hidden, true) if scene.pods.iter().any(is_over) => {
            lines.push(format!("{ellipsis} and {hidden} more, all ready or over"));
        }
        (hidden, true) => lines.push(format!("{ellipsis} and {hidden} more, all ready")),
        (hidden, false) => lines.push(format!("{ellipsis} and {hidden} more")),
    }
    lines
}

fn is_over(shown: &Shown) -> bool {
    !shown.pod.is_ready && shown.is_over()
}

fn cells(scene: &Scene, entry: &Entry<'_>, view: &View) -> [String; 4] {
    let pod = &entry.shown.pod;
    let (now, since) = match &entry.waiting {
        Some(waiting) => {
            let age = scene.now.duration_since(waiting.since);
            let whole = jiff::SignedDuration::from_secs(age.as_secs());
            let age = took(whole, super::seconds::Round::Down);
            (
                brief(waiting),
                age.replace(".0 s", "s").replace(".00 s", "s"),
            )
        }
        None => ("starting".to_owned(), String::new()),
    };
    let name = cut(&pod.name, NAME, view.style.glyphs().ellipsis);
    [name, pod.state_words(), now, since]
}

/// One line; the last column stands at the right edge.
fn line(row: &[String; 4], [pod, phase, since]: [usize; 3], view: &View) -> String {
    let padded = |text: &str, columns: usize| {
        let gap = columns.saturating_sub(width(text));
        format!("{text}{}", " ".repeat(gap))
    };
    let room = view
        .columns()
        .saturating_sub(pod + phase + since + 3 * GAP.len());
    let now: String = row[2].chars().take(room).collect();
    let age = format!(
        "{}{}",
        " ".repeat(since.saturating_sub(width(&row[3]))),
        row[3]
    );
    [
        padded(&row[0], pod),
        padded(&row[1], phase),
        padded(&now, room),
        age,
    ]
    .join(GAP)
}
