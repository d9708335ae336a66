//! The selection of changes in a history, and its errors.

use std::path::PathBuf;

use twincell_driver::options::PathRules;
use twincell_repo::RepoError;

/// Which changes are wanted. Merges are always left out. Only functions count that both versions of their file have and
/// whose trees differ, apart from comments, docstrings, decorators and annotations.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Where the walk begins. HEAD if absent.
    pub revision: Option<String>,
    /// Seconds since 1970, by the committer's date, both inclusive.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// A line of the message must match one of these, ignoring case.
    pub grep: Vec<String>,
    /// The commit modifies exactly one function and neither adds nor removes any.
    pub single_function: bool,
    /// Include functions and files with `test` in their name.
    pub tests: bool,
    /// Leave out the texts of the files that contain the functions.
    pub no_modules: bool,
    /// The maximum number of changes.
    pub limit: Option<usize>,
    /// The files that the policy of the project leaves out.
    pub paths: PathRules,
}

/// Why nothing is read, in one line for people.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    #[error("{0} is a shallow clone, its history is cut off: fetch the rest with git fetch --unshallow")]
    Shallow(String),
    #[error("{pattern} is not a regular expression: {reason}")]
    Pattern { pattern: String, reason: String },
    #[error("{} has no commit yet, so there is nothing to mine", .0.display())]
    NoCommit(PathBuf),
    #[error(transparent)]
    Repo(RepoError),
}

impl From<RepoError> for MineError {
    fn from(error: RepoError) -> Self {
        match error {
            // Nothing is compared here.
            RepoError::NoCommit(repository) => MineError::NoCommit(repository),
            other => MineError::Repo(other),
        }
    }
}
