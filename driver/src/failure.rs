//! Why the driver has no result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use twincell_blame::BlameError;
use twincell_compare::CompareError;
use twincell_engine::EngineError;
use twincell_models::{EndpointError, panic_message};
use twincell_prefix::PrefixError;
use twincell_slice::SliceError;
use twincell_testing::TestError;

use crate::notebook::NotebookError;

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

/// A bug in the analysis becomes an error.
pub(crate) fn caught<T, E: Into<Failure>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(Into::into),
        Err(panic) => Err(Failure::Internal(panic_message(panic.as_ref()))),
    }
}
