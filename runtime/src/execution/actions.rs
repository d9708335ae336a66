//! The actions of the code on one object, in order.

use std::hash::Hash;

use xxhash_rust::xxh3::Xxh3Default;

use twincell_engine::observed::Observed;

/// The maximum number of actions that are kept by name.
const MOST_ACTIONS: usize = 12;

/// The actions on one object so far.
#[derive(Default)]
pub(crate) struct Actions {
    names: Vec<String>,
    /// Of the names that are not kept.
    further: Xxh3Default,
    count: usize,
}

impl Actions {
    pub fn add(&mut self, name: &str) {
        self.count += 1;
        if self.names.len() < MOST_ACTIONS {
            self.names.push(name.to_owned());
        } else {
            name.hash(&mut self.further);
        }
    }

    pub fn observed(&self) -> Observed {
        let mut all: Vec<Observed> = self.names.iter().cloned().map(Observed::Str).collect();
        if self.count > self.names.len() {
            all.push(Observed::Str(format!("... [{} calls, {:016x}]", self.count, self.further.digest())));
        }
        Observed::List(all)
    }
}
