//! Trials: the tests of the end of the range, run for candidate histories in folders of ours.
//!
//! A candidate passes if all tests pass that pass at the end of the range. The tests' own files are part of the question and not of
//! the answer: every trial has them as at the end of the range, with what stands in the same folder of tests (`tests`, `test`,
//! `testing`), such as `conftest.py` and data. A test file outside of such a folder comes alone, with the `conftest.py`
//! beside it. A run that ended by time or with its process is believed once it did so a second time, with no other beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use twincell_engine::Stop;
use twincell_repo::{Cache, Checkout, MadeFile, checkout_made};
use twincell_testing::{
    Environment, Outcome, Point, Store, SuiteOptions, SuiteRun, TestError, TestLimits, Value, WatchedFunction,
    run_suite,
};

use crate::invariants::Invariants;
use crate::refine::{FailedTest, Runner, Trial};
use crate::{Selection, SliceError};

/// Names of folders with tests. Packages have the last one for what helps to test, too, so that the first two say more.
const TEST_FOLDERS: [&[&str]; 2] = [&["tests", "test"], &["testing"]];

/// Where and how tests run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The user's repository, which is only read.
    pub repository: PathBuf,
    pub cache: Cache,
    pub environment: Environment,
    pub limits: TestLimits,
    /// How often each test runs at the end of the range, to find flaky ones.
    pub repeat: u32,
}

/// The tests that decide, as they are at the end of the range.
#[derive(Debug, Clone)]
pub struct Criterion {
    /// The tests that pass.
    pub tests: Vec<String>,
    /// Tests whose outcomes differ from run to run, with their outcomes. They decide nothing.
    pub flaky: Vec<(String, Vec<Outcome>)>,
    /// Tests that do not pass, and files that pytest cannot collect. They decide nothing.
    pub failing: Vec<FailedTest>,
    /// The lines that the tests run, by file. Lines that run when modules are imported are not among them.
    pub lines: BTreeMap<String, BTreeSet<u32>>,
    /// The files that pytest and the tests opened, modules among them. `None` where nobody knows.
    opened: Option<BTreeSet<String>>,
    /// The names of the tests that pass in their files, by file.
    pub functions: BTreeMap<String, BTreeSet<String>>,
    own_files: OwnFiles,
    /// The paths of all files at the end of the range.
    tracked: BTreeSet<PathBuf>,
}

impl Criterion {
    /// Whether what a file holds cannot be missing in a trial: it is one of the tests' own, or nobody opened it and it is no code.
    pub fn is_given(&self, path: &Path) -> bool {
        let is_code = path.extension().is_some_and(|ending| ending == "py" || ending == "pyi");
        self.owns(path) || !is_code && self.leaves_closed(path)
    }

    /// Whether a file was there at the end of the range and nobody opened it.
    pub fn leaves_closed(&self, path: &Path) -> bool {
        let is_opened = |opened: &BTreeSet<String>| path.to_str().is_none_or(|path| opened.contains(path));
        self.tracked.contains(path) && self.opened.as_ref().is_some_and(|opened| !is_opened(opened))
    }

    /// Whether a file is one of the tests' own, which every trial has as at the end of the range.
    pub fn owns(&self, path: &Path) -> bool {
        is_in(&self.own_files.places, path)
    }
}

/// The files of the tests.
#[derive(Debug, Clone)]
struct OwnFiles {
    places: BTreeSet<PathBuf>,
    files: Vec<MadeFile>,
}

impl OwnFiles {
    fn new<'t>(tests: impl Iterator<Item = &'t str>, end: &[MadeFile]) -> Self {
        let places: BTreeSet<PathBuf> = tests.flat_map(|file| places(Path::new(file))).collect();
        let files = end.iter().filter(|file| is_in(&places, &file.path)).cloned().collect();
        Self { places, files }
    }

    fn put_over(&self, mut files: Vec<MadeFile>) -> Vec<MadeFile> {
        let folders: BTreeSet<&Path> = self.files.iter().flat_map(|own| own.path.ancestors().skip(1)).collect();
        files.retain(|file| !is_in(&self.places, &file.path) && !folders.contains(file.path.as_path()));
        files.extend(self.files.iter().cloned());
        files
    }
}

fn is_in(places: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|place| places.contains(place))
}

/// The outermost folder of tests around a file, else the file and the `conftest.py` beside it.
fn places(file: &Path) -> Vec<PathBuf> {
    let outermost = |names: &&[&str]| {
        let is_named =
            |folder: &&Path| folder.file_name().and_then(OsStr::to_str).is_some_and(|name| names.contains(&name));
        file.ancestors().skip(1).filter(is_named).last()
    };
    match TEST_FOLDERS.iter().find_map(outermost) {
        Some(folder) => vec![folder.to_owned()],
        None => vec![file.to_owned(), file.with_file_name("conftest.py")],
    }
}

/// Makes the files of a candidate history.
pub type Files<'a> = dyn Fn(&Selection) -> Result<Vec<MadeFile>, SliceError> + Sync + 'a;

/// Runs the tests at the end of the range. `progress` gets the number of results and of those that there will be.
///
/// # Errors
///
/// Where no test passes there each time, or they cannot run.
pub fn criterion(
    setup: &Setup,
    end: &[MadeFile],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Criterion, SliceError> {
    let tracked: BTreeSet<PathBuf> = end.iter().map(|file| file.path.clone()).collect();
    let checkout = checkout_made(&setup.repository, end, &tracked, &setup.cache)?;
    let mut store = Store::open(&setup.cache.folder)?;
    let options = SuiteOptions { coverage: true, runs: setup.repeat.max(1), ..SuiteOptions::default() };
    let found = run_suite(&checkout, &setup.environment, &mut store, &setup.limits, &options, progress)?;
    let own_files = OwnFiles::new(found.tests.iter().map(|test| test.test.file.as_str()), end);
    let (tests, flaky, failing, lines, functions) = (vec![], vec![], vec![], BTreeMap::new(), BTreeMap::new());
    let opened = found.opened;
    let mut criterion = Criterion { tests, flaky, failing, lines, opened, functions, own_files, tracked };
    let all = found.tests.len();
    for one in found.tests {
        match one.record.outcome {
            _ if !one.flaky.is_empty() => criterion.flaky.push((one.test.id, one.flaky)),
            Outcome::Passed => {
                for (file, lines) in one.record.lines {
                    criterion.lines.entry(file).or_default().extend(lines);
                }
                criterion.functions.entry(one.test.file).or_default().insert(one.test.function);
                criterion.tests.push(one.test.id);
            }
            // Nobody asked for it to pass.
            Outcome::Skipped | Outcome::XFailed | Outcome::XPassed => {}
            outcome => {
                criterion.failing.push(FailedTest { test: one.test.id, outcome, failure: one.record.failure });
            }
        }
    }
    if !criterion.tests.is_empty() {
        criterion.failing.extend(found.errors.iter().map(|error| not_run(&error.id, &error.message)));
        return Ok(criterion);
    }
    match criterion.failing.into_iter().next() {
        Some(FailedTest { test, failure, .. }) => {
            let reason = failure.map(|failure| failure.message).unwrap_or_default();
            let reason = reason.lines().next().unwrap_or("it fails").to_owned();
            Err(SliceError::Failing { test, reason })
        }
        None if !criterion.flaky.is_empty() => Err(SliceError::AllFlaky(all)),
        None => Err(SliceError::NoTests(found.errors.into_iter().next().map(|error| error.message))),
    }
}

/// What one worker runs trials with.
#[derive(Debug)]
struct Bench {
    checkout: Option<Checkout>,
    store: Store,
}

/// Runs the tests of a criterion for candidate histories.
pub struct Trials<'a> {
    setup: Setup,
    criterion: &'a Criterion,
    files: &'a Files<'a>,
    influencing: &'a (dyn Fn(&Point) -> Selection + Sync),
    watched: Vec<WatchedFunction>,
    benches: Vec<Mutex<Bench>>,
    /// Held by each run, and by one that runs alone for itself.
    running: RwLock<()>,
    abandoned: Stop,
}

/// What a run showed.
struct Seen {
    trial: Trial,
    /// One slow or crowded moment may be to blame for all that failed.
    is_doubtful: bool,
}

impl<'a> Trials<'a> {
    /// `watched` are the functions whose values say what a candidate changes.
    ///
    /// # Errors
    ///
    /// Where the store of results cannot be opened.
    pub fn new(
        setup: &Setup,
        criterion: &'a Criterion,
        files: &'a Files<'a>,
        watched: Vec<WatchedFunction>,
        influencing: &'a (dyn Fn(&Point) -> Selection + Sync),
        jobs: usize,
    ) -> Result<Self, SliceError> {
        let bench = |_| Ok(Mutex::new(Bench { checkout: None, store: Store::open(&setup.cache.folder)? }));
        let benches = (0..jobs.max(1)).map(bench).collect::<Result<_, TestError>>()?;
        let abandoned = setup.limits.stop.clone();
        let setup = setup.clone();
        Ok(Self { setup, criterion, files, influencing, watched, benches, running: RwLock::new(()), abandoned })
    }

    fn seen(&self, found: &SuiteRun) -> Seen {
        let records: BTreeMap<&str, _> = found.tests.iter().map(|test| (test.test.id.as_str(), &test.record)).collect();
        let mut failed = Vec::new();
        let mut is_doubtful = true;
        let mut values: BTreeMap<&Point, Vec<Value>> = BTreeMap::new();
        for test in &self.criterion.tests {
            match records.get(test.as_str()) {
                Some(record) if record.outcome == Outcome::Passed => {}
                Some(record) => {
                    let (outcome, failure) = (record.outcome, record.failure.clone());
                    is_doubtful &= !outcome.is_lasting();
                    failed.push(FailedTest { test: test.clone(), outcome, failure });
                }
                // What is collected is kept.
                None => {
                    is_doubtful = false;
                    failed.push(missing(test, found));
                }
            }
            for one in records.get(test.as_str()).iter().flat_map(|record| &record.values) {
                values.entry(&one.point).or_default().extend(one.values.iter().cloned());
            }
        }
        let invariants = Invariants::inferred(values.iter().map(|(point, values)| (*point, values.as_slice())));
        Seen { is_doubtful: is_doubtful && !failed.is_empty(), trial: Trial { failed, invariants: invariants.into() } }
    }

    /// Runs the tests once.
    fn once(&self, bench: &mut Bench, files: &[MadeFile]) -> Result<Seen, SliceError> {
        let tracked = &self.criterion.tracked;
        let checkout = match bench.checkout.take() {
            Some(checkout) => checkout.with_made(files, tracked)?,
            None => checkout_made(&self.setup.repository, files, tracked, &self.setup.cache)?,
        };
        let options = SuiteOptions { watched: self.watched.clone(), ..SuiteOptions::default() };
        let Setup { environment, limits, .. } = &self.setup;
        let found = run_suite(&checkout, environment, &mut bench.store, limits, &options, &mut |_, _| {});
        bench.checkout = Some(checkout);
        match found {
            Ok(found) => Ok(self.seen(&found)),
            // The candidate is to blame: its configuration, its `conftest.py`, or what they import.
            Err(
                error @ (TestError::NotStarted(_)
                | TestError::EndedEarly(_)
                | TestError::Ended(_)
                | TestError::CollectingTookTooLong(_)
                | TestError::OtherCopy { .. }),
            ) => {
                let message = error.to_string();
                let failed = self.criterion.tests.iter().map(|test| not_run(test, &message));
                let is_doubtful = !matches!(error, TestError::NotStarted(_) | TestError::OtherCopy { .. });
                Ok(Seen { trial: Trial { failed: failed.collect(), ..Trial::default() }, is_doubtful })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A test that pytest did not collect, with what it says of the test's file.
fn missing(test: &str, found: &SuiteRun) -> FailedTest {
    let file = test.split("::").next().unwrap_or_default();
    let own = found.errors.iter().find(|error| error.id.split("::").next() == Some(file));
    let message = own.or(found.errors.first()).map_or("pytest does not find it", |error| &error.message);
    not_run(test, message)
}

fn not_run(test: &str, message: &str) -> FailedTest {
    let failure = twincell_testing::Failure {
        exception: String::new(),
        message: message.to_owned(),
        file: String::new(),
        line: 0,
        test_line: None,
        assertion: false,
    };
    FailedTest { test: test.to_owned(), outcome: Outcome::NotFound, failure: Some(failure) }
}

impl Runner for Trials<'_> {
    type Error = SliceError;

    fn run(&self, worker: usize, taken: &Selection) -> Result<Trial, SliceError> {
        let files = self.criterion.own_files.put_over((self.files)(taken)?);
        let mut bench = self.benches[worker].lock().unwrap_or_else(PoisonError::into_inner);
        let seen = {
            let _others = self.running.read().unwrap_or_else(PoisonError::into_inner);
            self.once(&mut bench, &files)?
        };
        if !seen.is_doubtful {
            return Ok(seen.trial);
        }
        let _alone = self.running.write().unwrap_or_else(PoisonError::into_inner);
        Ok(self.once(&mut bench, &files)?.trial)
    }

    fn influencing(&self, point: &Point) -> Selection {
        (self.influencing)(point)
    }

    fn abandon(&self) {
        self.abandoned.ask();
    }
}
