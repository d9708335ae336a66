//! State that stays warm between comparisons of one process: worker pools and loaded predictors, by their options.
//!
//! Every comparison goes through [`Engine::compare`], where a bug in the analysis becomes an error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use twincell_blame::BlameError;
use twincell_compare::report::Comparison;
use twincell_compare::{
    Again, CompareError, CompareOptions, Continue, Executions, Inputs, PredictionRequest, Progress, Replayed, Source,
    compare, execute, replay, requests,
};
use twincell_engine::{EngineError, PoolOptions, Stop, WorkerInfo, WorkerPool, interpreter};
use twincell_models::{Endpoint, EndpointError, ModelOptions, panic_message};
use twincell_prefix::{Generators, Library, PrefixError, Prefixes, Subject, prefixes};
use twincell_slice::SliceError;
use twincell_testing::TestError;
use twincell_values::language_model::LanguageModel;
use twincell_values::predicted::Predicted;
use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};

use crate::libraries::Libraries;
use crate::local_imports::WithFiles;
use crate::notebook::{self, NotebookError, Notebooks};
use crate::options::{Cache, Device, Options};
use crate::project::Placed;

/// The process's findings about its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The Python that runs twincell.
    pub python: PathBuf,
    /// The folder of twincell's package there.
    pub package: Option<PathBuf>,
    /// The implementation and version of Python: `cpython 3.11`.
    pub version: String,
    /// ONNX Runtime's library inside the user's Python, if it has one.
    pub onnxruntime: Option<PathBuf>,
    /// The user's cache folder, if there is one.
    pub cache: Option<PathBuf>,
    /// The number of threads of one forward pass, if not the default.
    pub threads: Option<usize>,
    /// What is wrong with what libraries bring, a line each.
    pub problems: Vec<String>,
    /// The folders of the packages that are installed beside twincell.
    pub packages: Vec<PathBuf>,
}

/// Why there is no comparison, in one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Worker(#[from] EngineError),
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    #[error(transparent)]
    Blame(#[from] BlameError),
    #[error(transparent)]
    Tests(#[from] TestError),
    #[error(transparent)]
    Slice(#[from] SliceError),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Notebook(#[from] NotebookError),
    #[error("cannot load the predictor: {0}")]
    Model(String),
    #[error("there is no place to install libraries: {0}")]
    Libraries(String),
    #[error(
        "the given values cannot be put where workers read: {0}; is there space in the folder for temporary files?"
    )]
    Given(std::io::Error),
    #[error(
        "a worker process was forked from one that had compared before and whose threads it does not have: start \
         processes with multiprocessing's method 'spawn', as in \
         ProcessPoolExecutor(4, mp_context=multiprocessing.get_context('spawn'))"
    )]
    Forked,
    #[error("stopped before anything was found")]
    Stopped,
    #[error("this is a bug in twincell, please report it: {0}")]
    Internal(String),
}

/// A worker pool and a predictor, ready to compare. Threads share it.
#[derive(Clone)]
pub struct Engine {
    pool: Arc<WorkerPool>,
    predictor: Arc<dyn Predictor>,
    /// The folders of the packages that workers can import.
    packages: Arc<[PathBuf]>,
    /// Where missing libraries are installed, if they are to be, and what makes workers that look there.
    libraries: Option<(Arc<Libraries>, MakePool)>,
    /// What ends the work of this engine.
    stop: Option<Stop>,
}

/// Makes workers whose imports look in some folders last.
type MakePool = Arc<dyn Fn(Vec<PathBuf>) -> Arc<WorkerPool> + Send + Sync>;

/// The number of pools and predictors that are kept: the latest ones, so that a session that tries many options does
/// not pile up processes.
const KEPT: usize = 3;

/// The process that owns the pools and predictors; 0 before the first comparison. A forked child has neither their
/// threads nor the right to end the workers, so it touches nothing here, not even the locks.
static OWNER: AtomicU32 = AtomicU32::new(0);
static POOLS: Mutex<Vec<(PoolOptions, Arc<WorkerPool>)>> = Mutex::new(Vec::new());
static PREDICTORS: Mutex<Vec<(ModelOptions, Arc<dyn Predictor>)>> = Mutex::new(Vec::new());

impl Engine {
    /// The engine for some options. It reuses what an earlier comparison started.
    pub fn warm(options: &Options, environment: &Environment) -> Result<Self, Failure> {
        check_owner(&OWNER, std::process::id())?;
        let packages = packages(options, environment).into();
        let (pool, mut libraries) = (workers(options, environment, vec![]), None);
        if options.install {
            let python = options.python.as_ref().unwrap_or(&environment.python);
            let opened = Libraries::open(python, environment.cache.as_deref())?;
            let (options, environment) = (options.clone(), environment.clone());
            let make: MakePool = Arc::new(move |folders| workers(&options, &environment, folders));
            libraries = Some((Arc::new(opened), make));
        }
        Ok(Self { pool, predictor: predictor(options, environment)?, packages, libraries, stop: None })
    }

    /// The engine for a project's Python, or for that of twincell where the project's has no twincell, which workers need.
    pub fn for_project(
        python: &std::path::Path,
        options: &Options,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let with = |python: Option<PathBuf>| {
            let engine = Self::warm(&Options { python, ..options.clone() }, environment)?;
            engine.check_workers().map(|()| engine)
        };
        with(Some(python.to_owned())).or_else(|_| with(None))
    }

    /// Whether this process can compare at all.
    pub fn check_process() -> Result<(), Failure> {
        check_owner(&OWNER, std::process::id())
    }

    /// Starts a worker, to check that this is possible and that code may run there.
    pub fn check_workers(&self) -> Result<(), Failure> {
        Ok(self.pool.check()?)
    }

    /// A folder for copies of projects, which workers may read.
    pub fn projects(&self) -> Result<PathBuf, Failure> {
        Ok(self.pool.projects()?)
    }

    /// The same engine, whose work for this clone ends soon after `stop` is asked to.
    pub fn stopped_by(&self, stop: &Stop) -> Self {
        Self { pool: Arc::new(self.pool.stopped_by(stop)), stop: Some(stop.clone()), ..self.clone() }
    }

    /// Compares two texts or notebooks; see [`twincell_compare::compare`]. What files import from their projects is real.
    pub fn compare(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        progress: &mut dyn FnMut(Progress) -> Continue,
    ) -> Result<Comparison, Failure> {
        caught(|| {
            if let Some(notebooks) = Notebooks::of(old, new)? {
                return notebook::compare(self, &notebooks, (old, new), options, progress);
            }
            let placed = Placed::new(old, new, options, self)?;
            let mut comparison = self.compare_placed(&placed.sources.old, &placed.sources.new, options, progress)?;
            placed.note(&mut comparison);
            Ok(comparison)
        })
    }

    /// Compares two texts whose places are known.
    pub(crate) fn compare_placed(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        progress: &mut dyn FnMut(Progress) -> Continue,
    ) -> Result<Comparison, Failure> {
        let options = self.beside(options);
        Ok(compare(old, new, self.predictor.as_ref(), &self.pool, &options, progress)?)
    }

    /// Finds prefixes for a text or a function in one; see [`twincell_prefix::prefixes`]. What it imports and opens of its
    /// folder is real. The environment names the language
    /// model, if one is to be asked.
    pub fn prefixes(
        &self,
        subject: &Subject,
        options: &twincell_prefix::PrefixOptions,
        progress: &mut dyn FnMut(twincell_prefix::Progress) -> twincell_prefix::Continue,
    ) -> Result<Prefixes, Failure> {
        caught(|| {
            let model = match options.generators {
                Generators::Local => None,
                Generators::Llm | Generators::Both => Some(Endpoint::from_environment()?),
            };
            let model = model.as_ref().map(|model| model as &dyn LanguageModel);
            let (libraries, engine) = self.provide(subject, options.deadline, progress)?;
            let with = WithFiles::new(subject, &engine)?;
            let found = prefixes(&with.subject, options, &engine.pool, self.predictor.as_ref(), model, progress)?;
            let beside = found.beside.clone().or(with.refused);
            Ok::<_, Failure>(Prefixes { libraries, beside, ..found })
        })
    }

    /// Installs what a snippet imports, if that is wanted. Returns the engine whose workers find it.
    fn provide(
        &self,
        subject: &Subject,
        limit: Duration,
        progress: &mut dyn FnMut(twincell_prefix::Progress) -> Continue,
    ) -> Result<(Vec<Library>, Self), Failure> {
        let Some((libraries, make)) = &self.libraries else { return Ok((vec![], self.clone())) };
        let until = Instant::now() + limit;
        let mut go_on = || progress(twincell_prefix::Progress::default()) == Continue::Yes && Instant::now() < until;
        let with = |folders| match (make(folders), &self.stop) {
            (pool, Some(stop)) => Arc::new(pool.stopped_by(stop)),
            (pool, None) => pool,
        };
        let (libraries, pool) = libraries.provide(subject, &self.pool, &with, &mut go_on)?;
        Ok((libraries, Self { pool, ..self.clone() }))
    }

    /// How many comparisons are worth predicting ahead together; 0 for none.
    pub fn ahead(&self) -> usize {
        self.predictor.ahead()
    }

    /// Predicts for comparisons that will be made. The comparison itself will report errors.
    pub fn predict_ahead(&self, comparisons: &[(Source, Source, CompareOptions)]) {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let calls: Vec<Vec<PredictionRequest>> =
                comparisons.iter().flat_map(|(old, new, options)| requests(old, new, options)).collect();
            let calls: Vec<Vec<FunctionSites<'_>>> =
                calls.iter().map(|call| call.iter().map(PredictionRequest::sites).collect()).collect();
            self.predictor.predict_ahead(&calls)
        }));
    }

    /// Executes once more; see [`twincell_compare::replay`]. Projects are as they are now.
    pub fn replay(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        again: &Again<'_>,
        go_on: &mut dyn FnMut() -> Continue,
    ) -> Result<Replayed, Failure> {
        caught(|| {
            if let Some(notebooks) = Notebooks::of(old, new)? {
                return notebook::replay(self, &notebooks, (old, new), options, again, go_on);
            }
            let placed = Placed::new(old, new, options, self)?;
            self.replay_placed(&placed.sources.old, &placed.sources.new, options, again, go_on)
        })
    }

    /// Executes texts once more whose places are known.
    pub(crate) fn replay_placed(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        again: &Again<'_>,
        go_on: &mut dyn FnMut() -> Continue,
    ) -> Result<Replayed, Failure> {
        let options = self.beside(options);
        Ok(replay(old, new, self.predictor.as_ref(), &self.pool, &options, again, go_on)?)
    }

    /// Executes two texts on given decisions; see [`twincell_compare::execute`].
    pub fn execute(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        inputs: &[Inputs],
    ) -> Result<Executions, Failure> {
        caught(|| -> Result<_, Failure> {
            let placed = Placed::new(old, new, options, self)?;
            let (old, new, options) = (&placed.sources.old, &placed.sources.new, self.beside(options));
            Ok(execute(old, new, self.predictor.as_ref(), &self.pool, &options, inputs)?)
        })
    }

    /// The options with what is installed beside the workers.
    fn beside(&self, options: &CompareOptions) -> CompareOptions {
        CompareOptions { packages: self.packages.to_vec(), ..options.clone() }
    }
}

/// A bug in the analysis becomes an error.
fn caught<T, E: Into<Failure>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(Into::into),
        Err(panic) => Err(Failure::Internal(panic_message(panic.as_ref()))),
    }
}

/// Makes `process` the owner if there is none yet. An error for every other process.
fn check_owner(owner: &AtomicU32, process: u32) -> Result<(), Failure> {
    match owner.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        Err(known) if known == process => Ok(()),
        Err(_) => Err(Failure::Forked),
    }
}

/// Ends all kept workers, with their folders. Call this before the process ends.
pub fn end() {
    if OWNER.load(Ordering::Relaxed) == std::process::id() {
        let pools = std::mem::take(&mut *POOLS.lock().unwrap_or_else(PoisonError::into_inner));
        drop(pools);
    }
}

/// The predictor for these options.
fn predictor(options: &Options, environment: &Environment) -> Result<Arc<dyn Predictor>, Failure> {
    keep(&PREDICTORS, model_options(options, environment), |model| {
        twincell_models::load(model).map_err(|error| Failure::Model(error.to_string()))
    })
}

/// The predictions for a text with these options, unless it is stopped before.
pub fn predict(text: &str, options: &Options, environment: &Environment, stop: &Stop) -> Result<Predicted, Failure> {
    let predictor = predictor(options, environment)?;
    caught(|| {
        let predictor = UntilStopped { inner: predictor.as_ref(), stop };
        twincell_values::predicted::predict(text, &predictor).map_err(|error| match stop.is_asked() {
            true => Failure::Stopped,
            false => Failure::Model(error.to_string()),
        })
    })
}

/// A predictor that checks between two functions whether anybody still waits, if functions are predicted one by one.
struct UntilStopped<'a> {
    inner: &'a dyn Predictor,
    stop: &'a Stop,
}

impl Predictor for UntilStopped<'_> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        if self.inner.ahead() > 0 {
            return self.inner.predict(functions);
        }
        let mut predicted = Vec::with_capacity(functions.len());
        for function in functions.chunks(1) {
            if self.stop.is_asked() {
                return Err(PredictError("stopped".to_owned()));
            }
            predicted.extend(self.inner.predict(function)?);
        }
        Ok(predicted)
    }
}

/// The options that choose a predictor.
pub fn model_options(options: &Options, environment: &Environment) -> ModelOptions {
    ModelOptions {
        kind: options.predictor,
        model_dir: options.model.clone(),
        onnxruntime_library: environment.onnxruntime.clone(),
        allow_gpu: options.device == Device::Auto,
        cache: environment.cache.clone().filter(|_| options.cache == Cache::Disk),
        threads: environment.threads.unwrap_or(ModelOptions::default().threads),
        ..ModelOptions::default()
    }
}

/// What workers with these options report about themselves.
pub fn worker_info(options: &Options, environment: &Environment) -> Result<WorkerInfo, Failure> {
    Ok(workers(options, environment, vec![]).info()?)
}

/// The folders of the packages that workers can import. Another Python is taken to lie in an environment of its own.
fn packages(options: &Options, environment: &Environment) -> Vec<PathBuf> {
    let Some(python) = &options.python else { return environment.packages.clone() };
    let Some(prefix) = python.parent().and_then(|programs| programs.parent()) else { return vec![] };
    let versions = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("site-packages")).filter(|folder| folder.is_dir());
    let mut found: Vec<PathBuf> = folders.collect();
    found.sort();
    found
}

/// Workers whose imports look in some folders last.
pub(crate) fn workers(options: &Options, environment: &Environment, packages: Vec<PathBuf>) -> Arc<WorkerPool> {
    let python = options.python.as_ref().unwrap_or(&environment.python);
    let key = PoolOptions {
        workers: options.worker_count(),
        deadline: options.deadline(),
        memory_bytes: options.memory << 20,
        allow_incomplete: options.run_unsafe,
        packages,
        arguments: interpreter::worker(
            environment.package.as_deref(),
            *python == environment.python,
            options.run_unsafe,
        ),
        ..PoolOptions::new(python)
    };
    let made: Result<_, std::convert::Infallible> =
        keep(&POOLS, key, |options| Ok(Arc::new(WorkerPool::new(options.clone()))));
    match made {
        Ok(pool) => pool,
    }
}

/// The entry with this key, moved to the end. It is made if there is none, and then the oldest one is dropped.
fn keep<K: PartialEq, V: Clone, E>(
    kept: &Mutex<Vec<(K, V)>>,
    key: K,
    make: impl FnOnce(&K) -> Result<V, E>,
) -> Result<V, E> {
    let mut entries: MutexGuard<'_, Vec<(K, V)>> = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = match entries.iter().position(|(known, _)| *known == key) {
        Some(index) => entries.remove(index),
        None => {
            let value = make(&key)?;
            (key, value)
        }
    };
    let value = entry.1.clone();
    entries.push(entry);
    if entries.len() > KEPT {
        entries.remove(0);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_used_again_and_the_oldest_is_let_go() {
        let kept = Mutex::new(Vec::new());
        let mut made = 0;
        let mut get = |key: usize| {
            let result: Result<usize, ()> = keep(&kept, key, |key| {
                made += 1;
                Ok(key * 10)
            });
            assert_eq!(result, Ok(key * 10));
            made
        };
        assert_eq!((get(1), get(2), get(1)), (1, 2, 2));
        assert_eq!((get(3), get(4)), (3, 4));
        assert_eq!(get(1), 4, "1 was used after 2 and is kept");
        assert_eq!(get(2), 5, "2 was let go");
    }

    #[test]
    fn a_prediction_that_nobody_waits_for_ends_after_a_function() {
        let (stop, options, environment) = (Stop::default(), Options::default(), Environment::default());
        assert_eq!(predict("def f(a): a.b", &options, &environment, &stop).unwrap().sites.len(), 2);
        stop.ask();
        let stopped = predict("def f(a): a.b", &options, &environment, &stop);
        assert!(matches!(stopped, Err(Failure::Stopped)), "{stopped:?}");
    }

    #[test]
    fn the_limits_of_workers_are_the_engines_own_by_default() {
        let (options, engine) = (Options::default(), PoolOptions::new("python"));
        assert_eq!((options.deadline(), options.memory << 20), (engine.deadline, engine.memory_bytes));
    }

    #[test]
    fn only_the_process_that_compared_first_may_compare() {
        let owner = AtomicU32::new(0);
        assert!(check_owner(&owner, 7).is_ok() && check_owner(&owner, 7).is_ok());
        assert!(matches!(check_owner(&owner, 8), Err(Failure::Forked)));
    }

    #[test]
    fn a_failure_is_not_kept() {
        let kept = Mutex::new(Vec::<(u8, u8)>::new());
        assert_eq!(keep(&kept, 1, |_| Err("no")), Err("no"));
        assert_eq!(keep::<_, _, ()>(&kept, 1, |_| Ok(2)), Ok(2));
    }
}
