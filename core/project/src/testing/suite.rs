//! All tests of a version: run in parallel, kept in the store, repeated to find flaky ones.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Checkout, CollectionError, Environment, Outcome, Store, Test, TestError, TestLimits, TestRecord};

#[derive(Debug, Clone)]
pub struct SuiteOptions {
    /// Whether the lines that each test runs are recorded.
    pub coverage: bool,
    /// The files whose lines are recorded, relative to the root. Empty: all files of the repository.
    pub covered: Vec<String>,
    /// How many children run tests at once.
    pub workers: usize,
    /// How often each test runs. A test whose outcomes differ is flaky.
    pub runs: u32,
}

impl Default for SuiteOptions {
    fn default() -> Self {
        Self { coverage: false, covered: Vec::new(), workers: 1, runs: 1 }
    }
}

/// All tests of a version with their results.
#[derive(Debug, Clone, Serialize)]
pub struct SuiteRun {
    pub tests: Vec<SuiteTest>,
    pub errors: Vec<CollectionError>,
    /// How many tests ran now; the results of the others were in the store.
    pub ran: usize,
    /// The number of tests by outcome.
    pub outcomes: BTreeMap<Outcome, usize>,
}

/// A test with the result of its first run.
#[derive(Debug, Clone, Serialize)]
pub struct SuiteTest {
    pub test: Test,
    pub record: TestRecord,
    /// The outcomes of all runs, where they are not the same.
    pub flaky: Vec<Outcome>,
}

/// Runs all tests of a version, except those whose results the store has.
pub fn run_suite(
    checkout: &Checkout,
    environment: &Environment,
    store: &Store,
    limits: &TestLimits,
    options: &SuiteOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<SuiteRun, TestError> {
    let _ = (checkout, environment, store, limits, options, progress);
    unimplemented!()
}
