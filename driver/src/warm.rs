//! State that stays warm between comparisons of one process: worker pools and loaded predictors, by their options.
//! `comparing` has what an [`Engine`] does with projects and notebooks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use twincell_compare::report::Comparison;
use twincell_compare::{
    Again, CompareOptions, Continue, PredictionRequest, Progress, Replayed, Source, compare, replay, requests,
};
use twincell_engine::{PoolOptions, Stop, WorkerInfo, WorkerPool, interpreter};
use twincell_models::ModelOptions;
use twincell_values::predicted::Predicted;
use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};

use crate::failure::{Failure, caught};
use crate::libraries::Libraries;
use crate::options::{Cache, Device, Options};

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

/// A worker pool and a predictor, ready to compare. Threads share it.
#[derive(Clone)]
pub struct Engine {
    pub(crate) pool: Arc<WorkerPool>,
    pub(crate) predictor: Arc<dyn Predictor>,
    /// The folders of the packages that workers can import.
    packages: Arc<[PathBuf]>,
    /// Where missing libraries are installed, if they are to be, and what makes workers that look there.
    pub(crate) libraries: Option<(Arc<Libraries>, MakePool)>,
    /// What ends the work of this engine.
    pub(crate) stop: Option<Stop>,
}

/// Makes workers whose imports look in some folders last.
pub(crate) type MakePool = Arc<dyn Fn(Vec<PathBuf>) -> Arc<WorkerPool> + Send + Sync>;

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

    /// The same engine with other workers.
    pub(crate) fn with_workers(&self, pool: Arc<WorkerPool>) -> Self {
        Self { pool, ..self.clone() }
    }

    /// The same engine, whose work for this clone ends soon after `stop` is asked to.
    pub fn stopped_by(&self, stop: &Stop) -> Self {
        Self { pool: Arc::new(self.pool.stopped_by(stop)), stop: Some(stop.clone()), ..self.clone() }
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

    /// The options with what is installed beside the workers.
    pub(crate) fn beside(&self, options: &CompareOptions) -> CompareOptions {
        CompareOptions { packages: self.packages.to_vec(), ..options.clone() }
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
