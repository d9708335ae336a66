//! Checkouts: a version's files in a folder of ours, as git would write them.

use std::path::{Path, PathBuf};

use super::TestError;

/// A version of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// A commit, by any name that git understands.
    Commit(String),
    /// What is staged.
    Staged,
    /// The files of the working tree that git tracks, and new ones that it does not ignore.
    Files,
}

/// The folder where checkouts and results are kept between runs.
#[derive(Debug, Clone)]
pub struct Cache {
    pub folder: PathBuf,
}

/// A version of a repository in a folder of our own, which nobody else uses as long as this value lives. Tests may change
/// the files; the next checkout puts them right.
#[derive(Debug)]
pub struct Checkout {
    pub root: PathBuf,
    /// The git hash of the version's tree, or a hash of the contents of its files.
    pub tree: String,
    /// The user's own checkout, from which nothing may be imported.
    pub repository: PathBuf,
}

/// Puts a version's files into a folder of the cache.
pub fn checkout(repository: &Path, revision: &Revision, cache: &Cache) -> Result<Checkout, TestError> {
    let _ = (repository, revision, cache);
    unimplemented!()
}
