//! How long a person waits: from the start to the first checkpoints on the screen, and from a key to the picture that answers it.
//!
//! Written into the file that `GIT_CHECKPOINT_BROWSE_TIMES` names, for whoever measures.

use std::time::{Duration, Instant};

use crate::sys::env;

/// The times of one run.
pub(super) struct Times {
    began: Instant,
    opened: Option<Duration>,
    /// When the keys arrived that are not answered yet.
    waiting: Vec<Instant>,
    answered: Vec<Duration>,
}

impl Times {
    pub(super) fn new(began: Instant) -> Times {
        Times { began, opened: None, waiting: Vec::new(), answered: Vec::new() }
    }

    /// A key arrived.
    pub(super) fn arrived(&mut self, at: Instant) {
        self.waiting.push(at);
    }

    /// A picture was drawn.
    pub(super) fn drawn(&mut self, has_checkpoints: bool) {
        if has_checkpoints && self.opened.is_none() {
            self.opened = Some(self.began.elapsed());
        }
        self.answered.extend(self.waiting.drain(..).map(|at| at.elapsed()));
    }

    /// Writes them where somebody asked for them. It is no failure of the screen if that does not work.
    pub(super) fn write(&self) {
        let Some(file) = env::browse_times() else { return };
        let millis = |time: &Duration| time.as_secs_f64() * 1000.0;
        let mut sorted: Vec<f64> = self.answered.iter().map(millis).collect();
        sorted.sort_by(f64::total_cmp);
        let document = serde_json::json!({
            "opened_ms": self.opened.as_ref().map(millis),
            "keys": sorted.len(),
            "median_key_ms": sorted.get(sorted.len() / 2),
            "slowest_key_ms": sorted.last(),
        });
        let _ = std::fs::write(file, format!("{document}\n"));
    }
}
