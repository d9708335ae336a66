//! Candidates that need no run: they lack what the tests import, and another candidate that lacked it alone failed at just this
//! import. So texts say what may be missing, and a run that it is needed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use twincell_testing::Outcome;

use crate::refine::set::Set;
use crate::refine::{FailedTest, Lacking, MissingName, Runner};

/// What runs have shown about imports.
#[derive(Debug, Default)]
pub(super) struct Foresight {
    /// Without these the tests could not be imported. A text that does not parse stands there with its path.
    needed: HashSet<(Option<String>, MissingName)>,
    /// What candidates lack.
    lacking: HashMap<Set, Arc<[Lacking]>>,
}

impl Foresight {
    fn of<R: Runner>(&mut self, runner: &R, candidate: &Set) -> Arc<[Lacking]> {
        let read = || runner.lacking(&candidate.selection()).into();
        self.lacking.entry(candidate.clone()).or_insert_with(read).clone()
    }

    /// What a candidate lacks that a run has shown to be needed.
    pub fn fails<R: Runner>(&mut self, runner: &R, candidate: &Set) -> Option<Lacking> {
        if self.needed.is_empty() {
            return None;
        }
        let all = self.of(runner, candidate);
        all.iter().find(|lacking| self.needed.contains(&thing(lacking))).cloned()
    }

    /// A candidate failed in a run.
    pub fn learn<R: Runner>(&mut self, runner: &R, candidate: &Set, failed: &[FailedTest]) {
        // Of several things, nobody knows which it was.
        if failed.iter().any(|one| one.outcome == Outcome::NotFound)
            && let all = self.of(runner, candidate)
            && let Some(first) = all.first()
            && all.iter().all(|other| thing(other) == thing(first))
            && first.explains(failed)
        {
            self.needed.insert(thing(first));
        }
    }
}

/// What is missing, whoever imports it.
fn thing(lacking: &Lacking) -> (Option<String>, MissingName) {
    ((lacking.missing == MissingName::Text).then(|| lacking.path.clone()), lacking.missing.clone())
}
