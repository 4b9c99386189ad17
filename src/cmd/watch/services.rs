//! Whether the Services are there that init containers poll: asked while they wait, and told as long
//! as the answer is fresh.

use crate::cluster::Asked;
use crate::render::timeline::{Scene, SeenService, polled_service};
use std::time::{Duration, Instant};

/// How often the server is asked.
const EVERY: Duration = Duration::from_secs(2);
/// After this an answer is no longer one of `just now`.
const FRESH: Duration = Duration::from_secs(5);

/// What was asked, and what came back.
#[derive(Default)]
pub struct Services {
    asked: Option<Instant>,
    answers: Vec<(SeenService, Instant)>,
}

impl Services {
    /// Whether it is time to ask again.
    pub fn is_due(&self) -> bool {
        self.asked.is_none_or(|asked| asked.elapsed() >= EVERY)
    }

    /// Asks about every Service that a pod of the scene waits for.
    pub fn ask(&mut self, scene: &Scene, asked: &mut Asked) {
        let mut wanted: Vec<_> = scene.pods.iter().filter_map(polled_service).collect();
        wanted.sort();
        wanted.dedup();
        if !wanted.is_empty() {
            self.asked = Some(Instant::now());
        }
        for (namespace, name) in wanted {
            asked.service(&namespace, &name);
        }
    }

    /// Takes an answer in.
    pub fn answer(&mut self, seen: SeenService) {
        let is_same = |old: &SeenService| old.namespace == seen.namespace && old.name == seen.name;
        self.answers.retain(|(old, _)| !is_same(old));
        self.answers.push((seen, Instant::now()));
    }

    /// Puts the answers that are fresh into a scene.
    pub fn tell(&self, scene: &mut Scene) {
        let fresh = self.answers.iter().filter(|(_, at)| at.elapsed() < FRESH);
        let fresh: Vec<SeenService> = fresh.map(|(seen, _)| seen.clone()).collect();
        for shown in &mut scene.pods {
            shown.services.clone_from(&fresh);
        }
    }
}
