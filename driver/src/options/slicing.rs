//! What the options of `slice` set.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use twincell_slice::refine::Scheme;
use twincell_slice::{By, Goal, SliceOptions};

/// The values of the options that only `slice` has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slicing {
    /// Whether the commits are looked for that make the tests fail.
    pub bisect: bool,
    /// Whether functions are compared, to find commits that do the same as others.
    pub compare: bool,
    /// The branch that the slice is for.
    pub onto: Option<String>,
    /// How the next commits to leave out are chosen.
    pub scheme: Scheme,
    /// What is taken or left as a whole.
    pub by: By,
    /// How many candidates run at once.
    pub jobs: usize,
    /// How often each test runs at the end of the range.
    pub repeat: u32,
    /// The maximum number of runs of the tests. If absent, as many as it takes.
    pub budget: Option<usize>,
    /// The time for all, in seconds. If absent, as long as it takes.
    pub deadline: Option<f64>,
}

impl Default for Slicing {
    fn default() -> Self {
        Self {
            bisect: false,
            compare: false,
            onto: None,
            scheme: Scheme::default(),
            by: By::default(),
            jobs: 1,
            repeat: 1,
            budget: None,
            deadline: None,
        }
    }
}

impl Slicing {
    /// These options for [`twincell_slice::slice()`] of a range.
    pub fn of_range(&self, range: &str) -> SliceOptions {
        SliceOptions {
            range: range.to_owned(),
            goal: if self.bisect { Goal::Fail } else { Goal::Pass },
            onto: self.onto.clone(),
            scheme: self.scheme,
            by: self.by,
            jobs: self.jobs,
            runs: self.budget.unwrap_or(usize::MAX),
            deadline: self.deadline.map(Duration::from_secs_f64),
            watch: self.scheme != Scheme::Basic,
        }
    }
}
