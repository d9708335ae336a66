//! What is asked for in vain, and what may be meant instead.

use std::path::{Component, Path, PathBuf};

use twincell_driver::policy::BaseError;
use twincell_repo::{CopyError, RepoError, Revision};
use twincell_syntax::PerSide;

use super::{Versions, entry};

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{0} is not a range of revisions: write OLD..NEW, e.g. HEAD~1..HEAD, or OLD for the changes since then")]
    Range(String),
    #[error("{0} ends in a revision, but --staged compares with the index: write OLD alone, e.g. HEAD")]
    Staged(String),
    #[error("{path} is in neither version of {range}: give a file or folder of the repository, as seen from here")]
    Nowhere { path: String, range: String },
    #[error("{path} is in neither version of {range}, as seen from here: did you mean {meant}?")]
    FromRoot { path: String, range: String, meant: String },
    #[error("{path} is a revision, and no file or folder of the repository: did you mean --git {old}..{path}?")]
    RevisionAsPath { path: String, old: String },
    #[error(
        "{path} is in neither version of {range}, since git does not track it: compare two files, OLD.py and NEW.py"
    )]
    Untracked { path: String, range: String },
    #[error("{0} is neither a Python file nor a notebook: give files that end in .py or .ipynb, or folders")]
    NoPython(String),
    #[error(transparent)]
    Repo(#[from] RepoError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Base(#[from] BaseError),
}

/// Why a path is in neither version, and what may be meant instead. `path` is the one that was `given`, as the repository's trees
/// name it.
pub(super) fn nowhere(versions: &Versions, start: &Path, range: &str, path: &Path, given: &Path) -> GitError {
    let Versions { repo, revisions } = versions;
    let (range, shown) = (range.to_owned(), given.display().to_string());
    let is_there = |path: &Path| versions.snapshots().is_ok_and(|sides| entry(&sides, path).is_some());
    let from_root = repo.root().and_then(|root| repo.inside(root, given).ok()).filter(|from_root| from_root != path);
    if let Some(from_root) = from_root.filter(|from_root| given.is_relative() && is_there(from_root))
        && let Ok(here) = repo.inside(start, Path::new(""))
    {
        let meant = seen_from(&here, &from_root).display().to_string();
        return GitError::FromRoot { path: shown, range, meant };
    }
    if repo.root().is_some_and(|root| root.join(path).exists()) && !repo.is_tracked(path) {
        return GitError::Untracked { path: shown, range };
    }
    // What is staged has no other revision.
    if let PerSide { old: Revision::Commit(old), new: Revision::Files } = revisions
        && repo.knows(&shown)
    {
        return GitError::RevisionAsPath { path: shown, old: old.clone() };
    }
    GitError::Nowhere { path: shown, range }
}

/// A path of the repository as one writes it in this folder of it.
fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let common = folder.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}
