//! Trials: the tests of the end of the range, run for candidate histories in folders of ours.
//!
//! A candidate does what is wanted if all tests pass that pass at the end of the range. Where tests are to fail, one
//! of those has to fail in the same way that fail there and pass at the start of the range. The tests' own files are part of the question and not of
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
    CollectionError, Environment, Outcome, Point, Store, SuiteOptions, SuiteRun, TestError, TestLimits, Value,
    WatchedFunction, run_suite,
};

use crate::imports::Imports;
use crate::invariants::Invariants;
use crate::refine::{FailedTest, Lacking, Runner, Trial};
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
    /// The tests that decide: those that pass, or those that fail there and pass at the start.
    pub tests: Vec<String>,
    /// How each of these fails. Empty where they are to pass.
    pub failures: Vec<FailedTest>,
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
    pub fn is_free(&self, path: &Path) -> bool {
        let is_code = path.extension().is_some_and(|ending| ending == "py" || ending == "pyi");
        self.owns(path) || !is_code && self.leaves_closed(path)
    }

    /// Whether a file was there at the end of the range and nobody opened it.
    pub fn leaves_closed(&self, path: &Path) -> bool {
        let is_opened = |opened: &BTreeSet<String>| path.to_str().is_none_or(|path| opened.contains(path));
        self.tracked.contains(path) && self.opened.as_ref().is_some_and(|opened| !is_opened(opened))
    }

    fn judged(&self, done: Vec<Done>) -> Judged {
        let tests = |some: Vec<Done>| some.into_iter().map(|one| one.test).collect();
        if self.failures.is_empty() {
            let failed: Vec<_> = done.into_iter().filter(|one| one.test.outcome != Outcome::Passed).collect();
            let is_doubtful = !failed.is_empty() && !failed.iter().any(|one| one.is_sure);
            return Judged { failed: tests(failed), alike: Vec::new(), is_doubtful };
        }
        let alike: Vec<&Done> = done
            .iter()
            .zip(&self.failures)
            .filter(|(one, wanted)| fail_alike(&one.test, wanted))
            .map(|(one, _)| one)
            .collect();
        match alike.is_empty() {
            false => Judged {
                failed: Vec::new(),
                alike: alike.iter().map(|one| one.test.test.clone()).collect(),
                is_doubtful: !alike.iter().any(|one| one.is_sure),
            },
            // One that ended by time might have failed as wanted.
            true => {
                let is_doubtful = !done.iter().all(|one| one.is_sure);
                Judged { failed: tests(done), alike: Vec::new(), is_doubtful }
            }
        }
    }

    /// The files of the deciding tests that are Python code, and the files that somebody opens, if that is known.
    pub(crate) fn imported(&self) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
        let files = self.tests.iter().map(|test| file_of(test)).filter(|file| file.ends_with(".py"));
        Some((files.map(str::to_owned).collect(), self.opened.clone()?))
    }

    /// Whether a file is one of the tests' own, which every trial has as at the end of the range.
    pub fn owns(&self, path: &Path) -> bool {
        is_in(&self.own_files.places, path)
    }

    /// The folders and files of the tests' own that some files lack, or that are otherwise at the end of the range.
    pub(crate) fn differing(&self, files: &[MadeFile]) -> Vec<&Path> {
        let there: BTreeMap<&Path, _> = files.iter().map(|file| (&*file.path, (file.mode, file.id))).collect();
        let differs = |own: &&MadeFile| there.get(&*own.path) != Some(&(own.mode, own.id));
        let others: Vec<&Path> = self.own_files.files.iter().filter(differs).map(|own| &*own.path).collect();
        let places = self.own_files.places.iter().map(PathBuf::as_path);
        places.filter(|place| others.iter().any(|file| file.starts_with(place))).collect()
    }
}

/// What a deciding test did.
struct Done {
    test: FailedTest,
    /// Whether no slow or crowded moment can be to blame.
    is_sure: bool,
}

/// What the deciding tests did says of a candidate.
struct Judged {
    /// What was not as wanted.
    failed: Vec<FailedTest>,
    /// The tests that fail as they are to.
    alike: Vec<String>,
    /// Whether one slow or crowded moment may be to blame.
    is_doubtful: bool,
}

/// Whether two tests fail in the same way: by the same kind of outcome, with the same class of error.
fn fail_alike(one: &FailedTest, other: &FailedTest) -> bool {
    let class = |test: &FailedTest| test.failure.as_ref().map_or(String::new(), |failure| failure.exception.clone());
    one.outcome == other.outcome && class(one) == class(other)
}

/// The files of the tests.
#[derive(Debug, Clone)]
struct OwnFiles {
    places: BTreeSet<PathBuf>,
    files: Vec<MadeFile>,
}

impl OwnFiles {
    fn new<'t>(tests: impl IntoIterator<Item = &'t str>, end: &[MadeFile]) -> Self {
        let places: BTreeSet<PathBuf> = tests.into_iter().flat_map(|file| places(Path::new(file))).collect();
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

/// Finds the tests that decide, by running all at the end of the range, and with the files of its start there as well: then those
/// decide that fail at the end only. `progress` gets the number of results and of those that there will be.
///
/// # Errors
///
/// Where no test does each time what it would have to do to decide, or they cannot run.
pub fn criterion(
    setup: &Setup,
    end: &[MadeFile],
    start: Option<&[MadeFile]>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Criterion, SliceError> {
    let tracked: BTreeSet<PathBuf> = end.iter().map(|file| file.path.clone()).collect();
    let mut store = Store::open(&setup.cache.folder)?;
    let mut run = |files: &[MadeFile], coverage| {
        let checkout = checkout_made(&setup.repository, files, &tracked, &setup.cache)?;
        let options = SuiteOptions { coverage, runs: setup.repeat.max(1), ..SuiteOptions::default() };
        Ok::<_, SliceError>(run_suite(&checkout, &setup.environment, &mut store, &setup.limits, &options, progress)?)
    };
    let at_end = run(end, true)?;
    let is_failing = start.is_some();
    let uncollected = at_end.errors.iter().filter(|_| is_failing).map(|error| file_of(&error.id));
    let own_files = OwnFiles::new(at_end.tests.iter().map(|test| test.test.file.as_str()).chain(uncollected), end);
    let at_start = start.map(|start| run(&own_files.put_over(start.to_vec()), false)).transpose()?;
    let mut opened = at_end.opened;
    if let (Some(opened), Some(start)) = (&mut opened, &at_start) {
        opened.extend(start.opened.iter().flatten().cloned());
    }
    let (tests, failures, flaky, failing) = (vec![], vec![], vec![], vec![]);
    let (lines, functions) = (BTreeMap::new(), BTreeMap::new());
    let mut criterion = Criterion { tests, failures, flaky, failing, lines, opened, functions, own_files, tracked };
    let all = at_end.tests.len();
    let (passing, unsteady) = at_start.map(self::start).unwrap_or_default();
    let collected: BTreeSet<String> = at_end.tests.iter().map(|one| one.test.id.clone()).collect();
    for one in at_end.tests {
        let id = one.test.id;
        let outcome = one.record.outcome;
        let decides = match is_failing {
            false => outcome == Outcome::Passed,
            true => !outcome.is_good() && passing.contains(&id),
        };
        match outcome {
            _ if !one.flaky.is_empty() => criterion.flaky.push((id, one.flaky)),
            outcome if !outcome.is_good() && unsteady.contains_key(&id) => {
                criterion.flaky.extend(unsteady.get(&id).map(|outcomes| (id, outcomes.clone())));
            }
            outcome if decides => {
                for (file, lines) in one.record.lines {
                    criterion.lines.entry(file).or_default().extend(lines);
                }
                criterion.functions.entry(one.test.file).or_default().insert(one.test.function);
                if is_failing {
                    criterion.failures.push(FailedTest { test: id.clone(), outcome, failure: one.record.failure });
                }
                criterion.tests.push(id);
            }
            // Nobody asked for it to pass, nor does it fail.
            outcome if outcome.is_good() => {}
            outcome => criterion.failing.push(FailedTest { test: id, outcome, failure: one.record.failure }),
        }
    }
    // Tests that pass at the start stand in files that cannot be collected any more.
    for error in at_end.errors.iter().filter(|_| is_failing) {
        let is_gone = |test: &&String| {
            file_of(test) == file_of(&error.id) && !collected.contains(*test) && !criterion.tests.contains(test)
        };
        let gone = passing.iter().filter(is_gone);
        let gone: Vec<FailedTest> = gone.map(|test| not_collected(test, error)).collect();
        criterion.tests.extend(gone.iter().map(|one| one.test.clone()));
        criterion.failures.extend(gone);
    }
    if !criterion.tests.is_empty() {
        let left = at_end
            .errors
            .iter()
            .filter(|error| !is_failing || !criterion.tests.iter().any(|test| file_of(test) == file_of(&error.id)));
        criterion.failing.extend(left.map(|error| not_collected(&error.id, error)));
        return Ok(criterion);
    }
    let first = criterion.failing.into_iter().next();
    let first = first.or_else(|| {
        let error = at_end.errors.first().filter(|_| is_failing)?;
        Some(not_collected(&error.id, error))
    });
    match first {
        Some(FailedTest { test, .. }) if is_failing => Err(SliceError::FailsBefore { test }),
        Some(FailedTest { test, failure, .. }) => {
            // Some errors have a class and no message.
            let words = failure
                .map(|failure| [failure.message.lines().next().unwrap_or_default().to_owned(), failure.exception]);
            let reason =
                words.into_iter().flatten().find(|words| !words.is_empty()).unwrap_or_else(|| "it fails".to_owned());
            Err(SliceError::Failing { test, reason })
        }
        None if !criterion.flaky.is_empty() => Err(SliceError::AllFlaky(all)),
        None if is_failing && all > 0 => Err(SliceError::NothingFails(all)),
        None => Err(SliceError::NoTests(at_end.errors.into_iter().next().map(|error| error.message))),
    }
}

/// The tests that pass at the start of a range, and the outcomes of those that differ from run to run there.
type Start = (BTreeSet<String>, BTreeMap<String, Vec<Outcome>>);

fn start(run: SuiteRun) -> Start {
    let (flaky, steady): (Vec<_>, Vec<_>) = run.tests.into_iter().partition(|test| !test.flaky.is_empty());
    let passing = steady.into_iter().filter(|test| test.record.outcome == Outcome::Passed);
    (passing.map(|test| test.test.id).collect(), flaky.into_iter().map(|test| (test.test.id, test.flaky)).collect())
}

/// The file of a node id of pytest.
fn file_of(id: &str) -> &str {
    id.split("::").next().unwrap_or_default()
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
    imports: Option<Imports>,
}

/// What a run showed.
struct Seen {
    trial: Trial,
    /// The tests that fail as they are to.
    alike: Vec<String>,
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
        let running = RwLock::new(());
        Ok(Self { setup, criterion, files, influencing, watched, benches, running, abandoned, imports: None })
    }

    /// Reads what the imports of the tests lack in candidates. For all units of a history they lack nothing.
    ///
    /// # Errors
    ///
    /// Where the files of the whole history cannot be put together.
    pub fn foreseeing(mut self, mut imports: Imports, all: &Selection) -> Result<Self, SliceError> {
        imports.trust(&self.with_tests((self.files)(all)?));
        self.imports = Some(imports);
        Ok(self)
    }

    fn with_tests(&self, files: Vec<MadeFile>) -> Vec<MadeFile> {
        self.criterion.own_files.put_over(files)
    }

    fn seen(&self, found: &SuiteRun) -> Seen {
        let records: BTreeMap<&str, _> = found.tests.iter().map(|test| (test.test.id.as_str(), &test.record)).collect();
        let mut done = Vec::new();
        let mut values: BTreeMap<&Point, Vec<Value>> = BTreeMap::new();
        for test in &self.criterion.tests {
            let record = records.get(test.as_str());
            done.push(match record {
                Some(record) => {
                    let (outcome, failure) = (record.outcome, record.failure.clone());
                    Done { is_sure: outcome.is_lasting(), test: FailedTest { test: test.clone(), outcome, failure } }
                }
                // What is collected is kept.
                None => Done { is_sure: true, test: missing(test, found) },
            });
            for one in record.iter().flat_map(|record| &record.values) {
                values.entry(&one.point).or_default().extend(one.values.iter().cloned());
            }
        }
        let invariants = Invariants::inferred(values.iter().map(|(point, values)| (*point, values.as_slice())));
        let Judged { failed, alike, is_doubtful } = self.criterion.judged(done);
        Seen { is_doubtful, alike, trial: Trial { failed, invariants: invariants.into() } }
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
                let failed = self.criterion.tests.iter().map(|test| not_run(test, "", &message));
                let is_doubtful = !matches!(error, TestError::NotStarted(_) | TestError::OtherCopy { .. });
                let trial = Trial { failed: failed.collect(), ..Trial::default() };
                Ok(Seen { trial, alike: Vec::new(), is_doubtful })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A test that pytest did not collect, with what it says of the test's file.
fn missing(test: &str, found: &SuiteRun) -> FailedTest {
    let own = found.errors.iter().find(|error| file_of(&error.id) == file_of(test));
    match own.or(found.errors.first()) {
        Some(error) => not_collected(test, error),
        None => not_run(test, "", "pytest does not find it"),
    }
}

fn not_collected(test: &str, error: &CollectionError) -> FailedTest {
    not_run(test, &error.exception, &error.message)
}

fn not_run(test: &str, exception: &str, message: &str) -> FailedTest {
    let failure = twincell_testing::Failure {
        exception: exception.to_owned(),
        message: message.to_owned(),
        file: String::new(),
        line: 0,
        test_line: None,
        assertion: false,
    };
    FailedTest { test: test.to_owned(), outcome: Outcome::NotFound, failure: Some(failure) }
}

impl Trials<'_> {
    /// Runs the tests for any files, with those of the tests put over them.
    ///
    /// # Errors
    ///
    /// Where they cannot run.
    pub fn run_files(&self, worker: usize, files: Vec<MadeFile>) -> Result<Trial, SliceError> {
        Ok(self.twice_if_doubtful(worker, &self.with_tests(files))?.trial)
    }

    /// The tests that fail for a history as they are to.
    ///
    /// # Errors
    ///
    /// Where they cannot run.
    pub fn failing(&self, taken: &Selection) -> Result<Vec<String>, SliceError> {
        Ok(self.twice_if_doubtful(0, &self.with_tests((self.files)(taken)?))?.alike)
    }

    fn twice_if_doubtful(&self, worker: usize, files: &[MadeFile]) -> Result<Seen, SliceError> {
        let mut bench = self.benches[worker].lock().unwrap_or_else(PoisonError::into_inner);
        let seen = {
            let _others = self.running.read().unwrap_or_else(PoisonError::into_inner);
            self.once(&mut bench, files)?
        };
        if !seen.is_doubtful {
            return Ok(seen);
        }
        let _alone = self.running.write().unwrap_or_else(PoisonError::into_inner);
        self.once(&mut bench, files)
    }
}

impl Runner for Trials<'_> {
    type Error = SliceError;

    fn run(&self, worker: usize, taken: &Selection) -> Result<Trial, SliceError> {
        self.run_files(worker, (self.files)(taken)?)
    }

    fn lacking(&self, taken: &Selection) -> Vec<Lacking> {
        let Some(imports) = &self.imports else { return Vec::new() };
        // What cannot be put together cannot run, which says so.
        (self.files)(taken).map_or_else(|_| Vec::new(), |files| imports.lacking(&self.with_tests(files)))
    }

    fn influencing(&self, point: &Point) -> Selection {
        (self.influencing)(point)
    }

    fn abandon(&self) {
        self.abandoned.ask();
    }
}
