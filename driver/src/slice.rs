//! Slices the history of a repository with what the command and the environment say.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use twincell_engine::Stop;
use twincell_repo::Repo;
use twincell_slice::refine::Scheme;
use twincell_slice::{By, Progress, Setup, Slice, SliceError, SliceOptions, Timeline, slice};
use twincell_testing::{TestError, TestLimits, environment};

use crate::amplify::{checkouts, names};
use crate::waiting::watched;
use crate::warm::{Environment, Failure};

/// What a user asks for.
#[derive(Debug, Clone)]
pub struct SliceRequest {
    /// Any folder of it.
    pub repository: PathBuf,
    pub range: String,
    /// Files and folders with tests, or single tests as pytest names them.
    pub tests: Vec<String>,
    pub scheme: Scheme,
    pub by: By,
    pub jobs: usize,
    pub repeat: u32,
    pub budget: Option<usize>,
    /// In seconds, for all.
    pub deadline: Option<f64>,
    pub python: Option<PathBuf>,
    pub network: bool,
    /// Names of variables, separated by commas.
    pub pass_env: Option<String>,
    pub run_unsafe: bool,
}

/// Finds the smallest part of a range that keeps tests passing. `progress` is told how far it is, again and again, and may end it:
/// then the result is the best so far, or an error if the tests had not yet run at the end of the range.
pub fn slice_repository(
    request: &SliceRequest,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Slice, Timeline), Failure> {
    let work = |stop: &Stop, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>| {
        let repo = Repo::around(&request.repository).map_err(TestError::Repo)?;
        let work_tree: &Path = repo.root().unwrap_or(&request.repository);
        let setup = Setup {
            repository: request.repository.clone(),
            cache: checkouts(surroundings).map_err(TestError::System)?,
            environment: environment(work_tree, request.python.as_deref(), &surroundings.python)?,
            limits: TestLimits {
                network: request.network,
                incomplete: request.run_unsafe,
                arguments: request.tests.clone(),
                pass_env: names(request.pass_env.as_deref()),
                stop: stop.clone(),
                ..TestLimits::default()
            },
            repeat: request.repeat,
        };
        let options = SliceOptions {
            range: request.range.clone(),
            scheme: request.scheme,
            by: request.by,
            jobs: request.jobs,
            runs: request.budget.unwrap_or(usize::MAX),
            deadline: request.deadline.map(Duration::from_secs_f64),
            watch: request.scheme != Scheme::Basic,
        };
        slice(&setup, &options, progress).map_err(|error| match error {
            SliceError::Interrupted | SliceError::Tests(TestError::Stopped) => Failure::Stopped,
            error => Failure::Slice(error),
        })
    };
    watched(Progress::Reading, work, progress)
}
