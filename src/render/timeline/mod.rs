//! `watch` for people: the picture of a start, live and at its end, and plain log lines.

mod advice;
mod axis;
mod back_off;
mod block;
mod command;
mod container;
mod glyphs;
mod instants;
mod lanes;
mod line;
mod lines;
mod notes;
mod now;
mod picture;
mod redraw;
mod result;
mod rows;
mod scene;
mod seconds;
mod stop;
mod strip;
mod table;
mod unguarded;
mod unseen;
mod verdicts;
mod waiting;
mod words;

#[cfg(test)]
mod tests;

pub use lines::Lines;
pub use picture::View;
pub use redraw::Redraw;
pub use scene::{Scene, SeenService, Shown, Stage};

/// What a pod waits for, in one sentence; none when nothing holds it back.
pub fn waiting_sentence(shown: &Shown, now: jiff::Timestamp) -> Option<String> {
    let waiting = waiting::waiting(shown)?;
    Some(now::sentence(&waiting, now))
}

/// The same behind a colon, where the time is over: `app waits: proxy's postStart, running for 9.8 s`.
pub fn timed_out_sentence(shown: &Shown, now: jiff::Timestamp) -> Option<String> {
    let waiting = waiting::waiting(shown)?;
    Some(now::at_timeout(&waiting, now))
}

/// The Service whose name the init container that holds the pod back polls, as namespace and name;
/// none when nothing does, or when the name is not one of the cluster's own.
pub fn polled_service(shown: &Shown) -> Option<(String, String)> {
    let waiting = waiting::waiting(shown)?;
    let wait = command::own_wait(waiting.declared(shown)?)?;
    matches!(waiting.cause, waiting::Cause::Run(..))
        .then(|| command::service(&wait, &shown.pod.namespace))?
}

/// The picture of a scene, line by line, without line breaks.
pub fn picture(scene: &Scene, view: &View) -> Vec<String> {
    match scene.pods.as_slice() {
        [] => Vec::new(),
        [only] => picture::single(scene, only, view),
        // A header, an axis, and the line of the cursor.
        several => match view.rows {
            Some(rows) if several.len() + 3 > rows => table::table(scene, view, rows),
            Some(_) | None => lanes::lanes(scene, view),
        },
    }
}
