//! What is asked for in vain, and what may be meant instead.

use std::path::{Component, Path, PathBuf};

use git2::{Repository, Tree};
use twincell_driver::policy::BaseError;
use twincell_project::{CopyError, Range};
use twincell_study::mine;

use super::{NewSide, entry_in_index, inside, parsed, plain, staged_index};

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("there is no git repository in {0} or above it")]
    NoRepository(String),
    #[error("{0} is not a range of revisions: write OLD..NEW, e.g. HEAD~1..HEAD, or OLD for the changes since then")]
    Range(String),
    #[error("{0} ends in a revision, but --staged compares with the index: write OLD alone, e.g. HEAD")]
    Staged(String),
    #[error("{old} and {new} have no commit in common: write {old}..{new}")]
    NoBase { old: String, new: String },
    #[error("{revision} is not a revision of this repository: {reason}")]
    Revision { revision: String, reason: String },
    #[error(
        "the configuration of the repository (core.worktree) says that its files are in {work_tree}, which does not hold \
         {start}: remove this setting, or start in that folder"
    )]
    Elsewhere { work_tree: String, start: String },
    #[error("{0} has no commit yet, so there is nothing to compare with: commit the old version first")]
    NoCommit(String),
    #[error("{0} is outside the repository")]
    Outside(String),
    #[error("{revision} is not a revision of this repository: {}", ancestors(.from, *.count, *.is_shallow))]
    NoAncestor { revision: String, from: String, count: usize, is_shallow: bool },
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
    #[error("cannot read the repository: {0}")]
    Read(String),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Base(#[from] BaseError),
}

impl From<git2::Error> for GitError {
    fn from(error: git2::Error) -> Self {
        GitError::Read(error.message().to_owned())
    }
}

/// How far the commits before one go back.
pub(super) fn ancestors(from: &str, count: usize, is_shallow: bool) -> String {
    let there_are = match count {
        0 => format!("no commit is before {from}"),
        1 => format!("1 commit is before {from}, {from}~1"),
        many => format!("{many} commits are before {from}, the first one is {from}~{many}"),
    };
    // Services that run checks copy only the last commits.
    let more = if is_shallow { "; `git fetch --unshallow` gets those that this clone lacks" } else { "" };
    there_are + more
}

/// Why a revision is none. Where it goes back too far, the number of commits that there are says more than git's reason.
pub(super) fn no_revision(repository: &Repository, revision: &str, reason: String) -> GitError {
    let revision = revision.to_owned();
    match before(repository, &revision) {
        Some((from, count)) => {
            let from = from.to_owned();
            GitError::NoAncestor { revision, from, count, is_shallow: repository.is_shallow() }
        }
        None => GitError::Revision { revision, reason },
    }
}

/// Of a revision like `HEAD~50` or `main^^` that goes back too far, the commit where it starts, and how many are before that,
/// each the first parent of the next one.
fn before<'a>(repository: &Repository, revision: &'a str) -> Option<(&'a str, usize)> {
    let (from, steps) = revision.split_at(revision.find(['~', '^'])?);
    let is_number = steps.strip_prefix('~').is_some_and(|number| number.bytes().all(|one| one.is_ascii_digit()));
    // `^2` and `^{tree}` do not only go back.
    if !is_number && !steps.bytes().all(|one| matches!(one, b'~' | b'^')) {
        return None;
    }
    let start = mine::object(repository, from).ok()?.peel_to_commit().ok()?;
    Some((from, std::iter::successors(start.parent(0).ok(), |commit| commit.parent(0).ok()).count()))
}

/// What is compared, and the folder from which paths are seen.
pub(super) struct Sides<'a> {
    pub start: &'a Path,
    pub range: &'a str,
    pub old: &'a Tree<'a>,
    pub new: &'a NewSide<'a>,
}

/// Why a path is in neither version, and what may be meant instead.
pub(super) fn nowhere(repository: &Repository, sides: &Sides<'_>, path: &Path, given: &Path) -> GitError {
    let (range, shown) = (sides.range.to_owned(), given.display().to_string());
    let from_root = plain(given);
    if given.is_relative()
        && from_root != path
        && sides.new.entry(repository, sides.old, &from_root).is_some()
        && let Ok(here) = inside(repository, sides.start, Path::new(""))
    {
        let meant = seen_from(&here, &from_root).display().to_string();
        return GitError::FromRoot { path: shown, range, meant };
    }
    let is_on_disk = repository.workdir().is_some_and(|root| root.join(path).exists());
    if is_on_disk && staged_index(repository).is_ok_and(|index| entry_in_index(&index, path).is_none()) {
        return GitError::Untracked { path: shown, range };
    }
    // What is staged has no other revision.
    if matches!(sides.new, NewSide::Files)
        && let Ok(Range { old, .. }) = parsed(sides.range)
        && mine::object(repository, &shown).is_ok()
    {
        return GitError::RevisionAsPath { path: shown, old: old.to_owned() };
    }
    GitError::Nowhere { path: shown, range }
}

/// A path of the repository as one writes it in this folder of it.
fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let common = folder.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}
