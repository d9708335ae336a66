//! Why tests cannot run, each in one line that says what to do.

use std::io;
use std::path::PathBuf;

use twincell_repo::RepoError;

#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error(transparent)]
    Repo(#[from] RepoError),
    #[error("{}: {reason}", .folder.display())]
    Folder { folder: PathBuf, reason: String },
    #[error("{} does not run: {reason}", .python.display())]
    NoPython { python: PathBuf, reason: String },
    /// What is wrong with the Python that stands in for one that is not used.
    #[error("{error}; {} is not used, since git tracks it: --python {}/bin/python uses it", .folder.display(), .folder.display())]
    Tracked { folder: PathBuf, error: Box<TestError> },
    #[error("{0} is an option of pytest: only files and folders with tests can be given")]
    Option(String),
    #[error("pytest is not installed for {python}: run {python} -m pip install pytest", python = .0.display())]
    NoPytest(PathBuf),
    #[error("the system does not enforce all of the sandbox for tests: {0}; --unsafe runs tests that you trust")]
    NoSandbox(String),
    #[error("the system enforces another sandbox for tests than for those before: try again")]
    OtherSandbox,
    #[error("pytest did not start: {0}")]
    NotStarted(String),
    /// Its process ended without a word while it collected, so that a crowded moment may be to blame.
    #[error("pytest did not start: {0}")]
    EndedEarly(String),
    #[error("pytest took more than {0} s to collect the tests: name fewer files with --tests, or give more time")]
    CollectingTookTooLong(f64),
    #[error("stopped before the tests had run")]
    Stopped,
    #[error("the tests import {module} from {}, and not from the version under test: {advice}", .found.display())]
    OtherCopy { module: String, found: PathBuf, advice: String },
    #[error("the process of pytest ended: {0}")]
    Ended(String),
    #[error("the store of results {}: {reason}", .file.display())]
    Store { file: PathBuf, reason: String },
    #[error(transparent)]
    System(#[from] io::Error),
}
