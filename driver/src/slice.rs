//! Slices the history of a repository with what the command and the environment say.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use twincell_engine::Stop;
use twincell_repo::Repo;
use twincell_slice::{Behavior, Patch, Progress, Setup, Slice, SliceError, Timeline, slice};
use twincell_testing::{TestError, TestLimits, environment};

use crate::amplify::{checkouts, names};
use crate::behavior::Comparing;
use crate::files;
use crate::options::command_line::LineError;
use crate::options::{GivenOption, Job, Options};
use crate::policy::resolved;
use crate::waiting::watched;
use crate::warm::{Environment, Failure};

/// What a user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceRequest {
    /// Any folder of it.
    pub repository: PathBuf,
    pub range: String,
    /// Files and folders with tests, or single tests as pytest names them.
    pub tests: Vec<String>,
}

/// Writes a slice as patches into a folder, which is made where there is none, and returns the files in their order. An error is
/// one line for people.
pub fn write_patches(slice: &Slice, timeline: &Timeline, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let patches = timeline.series(&slice.selection()).map_err(|error| error.to_string())?;
    files::make_folder(folder)?;
    let write = |patch: Patch| {
        let file = folder.join(&patch.file_name);
        files::write_bytes(&file, &patch.text, files::TextKind::Verbatim)?;
        Ok(file)
    };
    patches.into_iter().map(write).collect()
}

/// Whether a slice can become a branch of this name. An error is one line for people.
pub fn check_branch(request: &SliceRequest, name: &str) -> Result<(), String> {
    let repo = Repo::around(&request.repository).map_err(|error| error.to_string())?;
    repo.check_new_branch(name).map_err(|error| error.to_string())
}

/// The options in force for a slice: given ones. No policy says anything of slices.
pub fn slice_options(given: &[GivenOption]) -> Result<Options, String> {
    resolved(Job::Slice, None, given).map_err(|error| LineError::from(error).to_string())
}

/// Finds a minimal part of a range that keeps tests passing, or that makes them fail. `progress` is told how far it is, again and
/// again, and may end it: then the result is the best so far, or an error if the tests had not yet run at the end of the range.
pub fn slice_repository(
    request: &SliceRequest,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Slice, Timeline), Failure> {
    let work = |stop: &Stop, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>| {
        let repo = Repo::around(&request.repository).map_err(TestError::Repo)?;
        let work_tree: &Path = repo.root().unwrap_or(&request.repository);
        let setup = Setup {
            repository: request.repository.clone(),
            cache: checkouts(surroundings).map_err(TestError::System)?,
            environment: environment(work_tree, options.python.as_deref(), &surroundings.python)?,
            limits: TestLimits {
                network: options.network,
                incomplete: options.run_unsafe,
                arguments: request.tests.clone(),
                pass_env: names(options.pass_env.as_deref()),
                stop: stop.clone(),
                ..TestLimits::default()
            },
            repeat: options.slicing.repeat,
        };
        let python = &setup.environment.python;
        let comparing = match options.slicing.compare {
            true => Some(Comparing::new(&request.repository, python, options, surroundings, stop)?),
            false => None,
        };
        let behavior = comparing.as_ref().map(|comparing| comparing as &dyn Behavior);
        slice(&setup, &options.slicing.of_range(&request.range), behavior, progress).map_err(|error| match error {
            SliceError::Interrupted | SliceError::Tests(TestError::Stopped) => Failure::Stopped,
            error => Failure::Slice(error),
        })
    };
    watched(Progress::Reading, work, progress)
}
