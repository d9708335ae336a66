//! What is asked of a history, and what is wrong with the question.

/// Which changes are wanted. Without merges, always; and only of functions that are in both versions of their file, with
/// different trees without comments, docstrings, decorators and annotations.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Where the walk begins; HEAD when absent.
    pub revision: Option<String>,
    /// Seconds since 1970, of the committer, both inclusive.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// A line of the message must match one of these, in any case of letters.
    pub grep: Vec<String>,
    /// The commit modifies one function, and neither adds nor removes any.
    pub single_function: bool,
    /// Functions and files with `test` in their name, too.
    pub tests: bool,
    /// Without the texts of the files that hold the functions.
    pub no_modules: bool,
    /// This many changes at most.
    pub limit: Option<usize>,
}

/// Why nothing is read; one line for people.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MineError {
    #[error("{0} is not in a git repository")]
    NoRepository(String),
    #[error("{0} is a shallow clone, its history is cut off: fetch the rest with git fetch --unshallow")]
    Shallow(String),
    #[error("{0} has no commit yet")]
    Empty(String),
    #[error("{revision} is not a revision of this repository: {reason}")]
    Revision { revision: String, reason: String },
    #[error("{pattern} is not a regular expression: {reason}")]
    Pattern { pattern: String, reason: String },
    #[error("cannot read the repository: {0}")]
    Read(String),
}

impl From<git2::Error> for MineError {
    fn from(error: git2::Error) -> Self {
        MineError::Read(error.message().to_owned())
    }
}
