//! The comparisons that one execution keeps for the engine to learn from, bounded for each place and in total.
//! `observe::comparisons` makes them.

use rustc_hash::FxHashMap;

use twincell_engine::protocol::{Observation, ObservationPoint};

/// The maximum number of different observations kept for one place, and for all places.
const OF_ONE_PLACE: u32 = 4;
const OF_ALL: usize = 64;

/// The observations of one execution, over both versions.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    found: Vec<Observation>,
    counts: FxHashMap<(u8, ObservationPoint), u32>,
}

impl Observations {
    pub fn into_vec(self) -> Vec<Observation> {
        self.found
    }

    pub fn wants(&self, version: u8, place: ObservationPoint) -> bool {
        self.found.len() < OF_ALL && self.counts.get(&(version, place)).is_none_or(|count| *count < OF_ONE_PLACE)
    }

    pub fn add(&mut self, observation: Observation) {
        if self.found.contains(&observation) {
            return;
        }
        *self.counts.entry((observation.version, observation.place)).or_insert(0) += 1;
        self.found.push(observation);
    }
}
