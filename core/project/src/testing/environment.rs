//! The Python that runs a project's tests.

use std::path::{Path, PathBuf};

use super::TestError;

/// A Python with what is installed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub python: PathBuf,
    /// A hash of its version and of the installed distributions.
    pub fingerprint: String,
    /// `3.11.7`.
    pub version: String,
}

/// Finds the Python of a project as other tools do: the given one, else that of `VIRTUAL_ENV`, else `.venv` or `venv` in the
/// repository, else `own`.
pub fn environment(repository: &Path, given: Option<&Path>, own: &Path) -> Result<Environment, TestError> {
    let _ = (repository, given, own);
    unimplemented!()
}
