//! All tests of a version: run in parallel, kept in the store, repeated to find flaky ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::process::enforced;
use crate::store::Collection;
use crate::{
    Checkout, CollectionError, Environment, Outcome, Request, Session, Store, SuiteReport, Test, TestError, TestLimits,
    TestRecord, WatchedFunction,
};

#[derive(Debug, Clone)]
pub struct SuiteOptions {
    /// Whether the lines that each test runs are recorded.
    pub coverage: bool,
    /// The files whose lines are recorded, relative to the root. Empty: all files of the repository.
    pub covered: Vec<String>,
    /// The functions whose values are recorded when they begin and end.
    pub watched: Vec<WatchedFunction>,
    /// How many children run tests at once.
    pub workers: usize,
    /// How often each test runs. A test whose outcomes differ is flaky.
    pub runs: u32,
}

impl Default for SuiteOptions {
    fn default() -> Self {
        Self { coverage: false, covered: Vec::new(), watched: Vec::new(), workers: 1, runs: 1 }
    }
}

/// All tests of a version with their results.
#[derive(Debug, Clone, Serialize)]
pub struct SuiteRun {
    pub tests: Vec<SuiteTest>,
    pub errors: Vec<CollectionError>,
    /// How many tests ran now; the results of the others were in the store.
    pub ran: usize,
    /// The files of the checkout that were opened while tests were collected or ran, relative to it, with `/`. `None` where nobody
    /// knows.
    pub opened: Option<BTreeSet<String>>,
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

/// A child runs about so many tests, so that starting it costs little, and at most so many of one file.
const FEW: usize = 25;
const MANY: usize = 400;

/// Runs all tests of a version, except those whose results the store has. Repetitions run in another order and with another
/// seed of hashes. `progress` gets the number of results and of those that there will be.
pub fn run_suite(
    checkout: &Checkout,
    environment: &Environment,
    store: &mut Store,
    limits: &TestLimits,
    options: &SuiteOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<SuiteRun, TestError> {
    let sandbox = enforced(checkout, environment, limits)?;
    let key = key(checkout, environment, limits, options, &sandbox);
    let start = |limits: &TestLimits| {
        let session = Session::start(checkout, environment, limits)?;
        let is_same = session.sandbox().is_some_and(|own| own.kind() == sandbox.kind());
        if is_same { Ok(session) } else { Err(TestError::OtherSandbox) }
    };
    let mut first = None;
    let collection = match store.collection(&key)? {
        Some(collection) => collection,
        None => {
            let session = start(limits)?;
            let (tests, errors) = (session.tests().to_vec(), session.errors().to_vec());
            let collection = Collection { tests, errors, opened: session.opened().cloned() };
            store.put_collection(&key, &collection)?;
            first = Some(session);
            collection
        }
    };
    let runs = options.runs.max(1);
    let total = collection.tests.len() * runs as usize;
    let (mut ran, mut done) = (0, 0);
    let mut all: Vec<HashMap<String, TestRecord>> = Vec::new();
    for run in 0..runs {
        let mut records = store.records(&key, run)?;
        done += records.len();
        progress(done, total);
        let mut missing: Vec<&Test> = collection.tests.iter().filter(|test| !records.contains_key(&test.id)).collect();
        if !missing.is_empty() {
            let seed = limits.hash_seed.wrapping_add(run);
            let mut session = match first.take() {
                Some(session) if run == 0 => session,
                _ => start(&TestLimits { hash_seed: seed, ..limits.clone() })?,
            };
            if run % 2 == 1 {
                missing.reverse();
            }
            let requests = requests(&missing, options);
            // What is done is kept at once: a killed run goes on here. It runs those again that ended late or with their
            // process, as any later run does: nobody can tell a test that always hangs from one slow moment, and a wrong
            // result for ever is worse than to wait again. What they did now counts once, in this run.
            for some in requests.chunks(options.workers.max(1) * 4) {
                let found = session.run_all(some, options.workers)?.concat();
                store.put(&key, run, &found)?;
                ran += found.len();
                done += found.len();
                progress(done, total);
                records.extend(found.into_iter().map(|record| (record.id.clone(), record)));
            }
        }
        all.push(records);
    }
    let mut outcomes = BTreeMap::new();
    let mut opened = collection.opened;
    let mut tests = Vec::with_capacity(collection.tests.len());
    for test in collection.tests {
        let of_runs: Vec<Outcome> = all.iter().filter_map(|run| Some(run.get(&test.id)?.outcome)).collect();
        let Some(record) = all[0].remove(&test.id) else { continue };
        opened = opened.zip(record.opened.as_ref()).map(|(mut all, own)| {
            all.extend(own.iter().cloned());
            all
        });
        *outcomes.entry(record.outcome).or_default() += 1;
        let is_flaky = of_runs.iter().any(|outcome| *outcome != record.outcome);
        tests.push(SuiteTest { test, record, flaky: if is_flaky { of_runs } else { Vec::new() } });
    }
    Ok(SuiteRun { tests, errors: collection.errors, ran, opened, outcomes })
}

/// What results depend on, apart from the test and the number of the run.
pub(super) fn key(
    checkout: &Checkout,
    environment: &Environment,
    limits: &TestLimits,
    options: &SuiteOptions,
    sandbox: &SuiteReport,
) -> String {
    let covered = options.coverage.then_some(&options.covered);
    let mut parts = serde_json::json!([
        env!("CARGO_PKG_VERSION"),
        checkout.tree,
        environment.fingerprint,
        environment.python,
        limits.arguments,
        limits.hash_seed,
        limits.test_seconds,
        limits.memory_bytes,
        limits.file_bytes,
        limits.network,
        limits.pass_env,
        sandbox.kind(),
        covered,
    ]);
    if let (Some(parts), false) = (parts.as_array_mut(), options.watched.is_empty()) {
        parts.push(serde_json::json!(options.watched));
    }
    Sha256::digest(parts.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Tests of one file stay together, since they may share what is set up for their module.
fn requests(tests: &[&Test], options: &SuiteOptions) -> Vec<Request> {
    let mut chunks: Vec<Vec<String>> = Vec::new();
    let mut file = "";
    for test in tests {
        let own = test.id.split("::").next().unwrap_or_default();
        let is_full = chunks.last().is_none_or(|chunk| chunk.len() >= if own == file { MANY } else { FEW });
        if is_full {
            chunks.push(Vec::new());
        }
        file = own;
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(test.id.clone());
        }
    }
    let request = |tests| Request {
        tests,
        coverage: options.coverage,
        covered: options.covered.clone(),
        watched: options.watched.clone(),
        ..Request::default()
    };
    chunks.into_iter().map(request).collect()
}
