//! The time between two tries of a container.

use super::container::Start;
use super::scene::{Stage, begun};
use super::strip::Strip;
use crate::render::Role;
use crate::timeline::Attempt;
use jiff::{SignedDuration, Timestamp};

/// From this on, waiting for the next try is worth a bar of its own.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(5);

impl Start<'_> {
    /// The time until the next try, with a space before it.
    pub(super) fn back_off(
        &self,
        failed: Option<Timestamp>,
        column: Option<usize>,
        strip: &mut Strip,
    ) {
        let (Some(from), Some(first)) = (failed, column) else {
            return;
        };
        let is_waiting = self.next.is_none()
            && self
                .container
                .waiting
                .as_ref()
                .is_some_and(|(reason, _)| is_back_off(reason));
        let same = |next: &&Attempt| next.initialization == self.attempt.initialization;
        if self.next.is_some_and(|next| !same(&next)) {
            return;
        }
        let next = self.next.and_then(begun);
        let Some(until) = next.or(is_waiting.then_some(self.frame.now)) else {
            return;
        };
        let length = until.duration_since(from);
        let is_over = self.frame.stage == Stage::End || next.is_some();
        if length < BACK_OFF && is_over {
            return;
        }
        let Some((_, last)) = self.frame.axis.columns_of(from, until) else {
            return;
        };
        if first + 1 >= last {
            return;
        }
        strip.bar(first, first + 1, ' ', Role::Plain);
        strip.bar(first + 1, last, self.frame.bars().back_off, Role::Quiet);
        let labels = self.back_off_labels(length);
        strip.words(first + 1, last, Role::Quiet, &labels);
    }

    /// The kubelet waits 10 s before the third try and twice as long before each one after, 300 s at
    /// most, unless it was configured otherwise (S23).
    fn back_off_labels(&self, length: SignedDuration) -> Vec<String> {
        let tries = self.attempt.number.saturating_sub(2).min(5);
        let nominal = SignedDuration::from_secs((10 << tries).min(300));
        let fits = length.as_millis() * 10 >= nominal.as_millis() * 9
            && length.as_millis() <= nominal.as_millis() * 2;
        let mut labels = Vec::new();
        if self.attempt.started.is_some() && self.attempt.number >= 2 && fits {
            labels.push(format!("back-off {} s", nominal.as_secs()));
            labels.push(format!("{} s", nominal.as_secs()));
        }
        labels.push("back-off".to_owned());
        labels
    }
}

/// The kubelet's words for waiting before the next try.
fn is_back_off(reason: &str) -> bool {
    matches!(
        reason,
        "CrashLoopBackOff" | "ImagePullBackOff" | "ErrImagePull"
    )
}
