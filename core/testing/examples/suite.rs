//! Runs a repository's own tests at a commit and prints what they did, as JSON.
//!
//! ```text
//! cargo run --release -p twincell-testing --example suite -- REPOSITORY COMMIT PYTHON CACHE WORKERS [--coverage] [ARGUMENT...]
//! ```
//!
//! CACHE is the folder for checkouts and results, and each ARGUMENT one of pytest. `tests/measure/suites.py` compares this
//! with plain pytest.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use twincell_repo::{Cache, Revision, checkout};
use twincell_testing::{Outcome, Store, SuiteOptions, TestLimits, environment, run_suite};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("REPOSITORY COMMIT PYTHON CACHE WORKERS are needed");
    let (repository, commit) = (PathBuf::from(next()?), next()?);
    let (python, cache, workers) = (PathBuf::from(next()?), PathBuf::from(next()?), next()?.parse()?);
    let (flags, more): (Vec<String>, Vec<String>) = arguments.partition(|argument| argument == "--coverage");
    let cache = Cache::new(cache);
    let checkout = checkout(&repository, &Revision::Commit(commit), &cache)?;
    let python = environment(&repository, Some(&python), &python)?;
    let limits = TestLimits { arguments: more, ..TestLimits::default() };
    let options = SuiteOptions { coverage: !flags.is_empty(), workers, ..SuiteOptions::default() };
    let mut store = Store::open(&cache.folder)?;
    let run = run_suite(&checkout, &python, &mut store, &limits, &options, &mut |_, _| {})?;
    let tests: BTreeMap<&str, Outcome> =
        run.tests.iter().map(|one| (one.test.id.as_str(), one.record.outcome)).collect();
    let why: BTreeMap<&str, &str> = run
        .tests
        .iter()
        .filter_map(|one| Some((one.test.id.as_str(), one.record.failure.as_ref()?.message.as_str())))
        .collect();
    println!("{}", serde_json::json!({ "ran": run.ran, "tests": tests, "errors": run.errors, "why": why }));
    Ok(())
}
