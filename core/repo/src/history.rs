//! The commits of a history, newest first, and the Python files that each changed.

use std::borrow::Cow;

use git2::{ErrorCode, Oid, Repository, Revwalk, Tree};

use crate::error::{CopyError, RepoError};
use crate::repository::Repo;
use crate::tree::{FileId, Item, changes_with_renames};

/// A Python file that a commit changed. It is absent on one side if it was added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path in the new version, if it is there.
    pub path: String,
    pub old: Option<FileId>,
    pub new: Option<FileId>,
}

/// What git calls a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitId(pub(crate) Oid);

impl std::fmt::Display for CommitId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

/// A commit of a history.
pub struct Commit<'r>(pub(crate) git2::Commit<'r>);

impl Commit<'_> {
    pub fn id(&self) -> CommitId {
        CommitId(self.0.id())
    }

    pub fn parents(&self) -> usize {
        self.0.parent_count()
    }

    /// When it was committed, in seconds since 1970.
    pub fn seconds(&self) -> i64 {
        self.0.time().seconds()
    }

    pub fn message(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.0.message_bytes())
    }
}

/// The commits from one on, newest first.
pub struct History<'r> {
    repo: &'r Repo,
    walk: Revwalk<'r>,
}

impl<'r> Iterator for History<'r> {
    type Item = Result<Commit<'r>, RepoError>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.walk.next()?;
        Some(id.and_then(|id| self.repo.git.find_commit(id)).map(Commit).map_err(RepoError::from))
    }
}

impl Repo {
    /// The commit that a revision names; without one, that of the current branch.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn commit_id(&self, revision: Option<&str>) -> Result<CommitId, RepoError> {
        if let Some(revision) = revision {
            return Ok(CommitId(self.commit(revision)?.id()));
        }
        let head = self.git.head().and_then(|head| head.peel_to_commit());
        head.map(|commit| CommitId(commit.id())).map_err(|error| match error.code() {
            ErrorCode::UnbornBranch | ErrorCode::NotFound => self.no_commit(),
            _ => error.into(),
        })
    }

    /// The history that ends in a commit.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn history(&self, last: CommitId) -> Result<History<'_>, RepoError> {
        // Without a sort order libgit2 walks newest first and incrementally. With one it reads the whole history before
        // it gives the first commit.
        let mut walk = self.git.revwalk()?;
        walk.push(last.0)?;
        Ok(History { repo: self, walk })
    }

    /// A commit of the repository.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn find(&self, id: CommitId) -> Result<Commit<'_>, RepoError> {
        Ok(Commit(self.git.find_commit(id.0)?))
    }

    /// The Python files that differ between a commit and its first parent, by path. Files of at most `most` bytes are looked
    /// into to recognise renamed ones.
    ///
    /// # Errors
    ///
    /// Where git cannot read them, or there is no parent.
    pub fn python_changes(&self, commit: &Commit<'_>, most: usize) -> Result<Vec<FileChange>, RepoError> {
        changes(&self.git, &commit.0.parent(0)?.tree()?, &commit.0.tree()?, most)
            .map_err(|error| RepoError::Files { revision: commit.id().to_string(), error })
    }

    /// The content of a file. `None` if it has more than `most` bytes.
    ///
    /// # Errors
    ///
    /// Where it is not in this clone.
    pub fn bytes(&self, id: FileId, most: usize) -> Result<Option<Vec<u8>>, RepoError> {
        let objects = self.git.odb()?;
        // A header says the size; a small object may become gigabytes when it is read.
        if objects.read_header(id.0)?.0 > most {
            return Ok(None);
        }
        Ok(Some(objects.read(id.0)?.data().to_vec()))
    }
}

/// The Python files that differ between two trees, by path.
fn changes(repository: &Repository, old: &Tree<'_>, new: &Tree<'_>, most: usize) -> Result<Vec<FileChange>, CopyError> {
    let found = changes_with_renames(repository, Some(old), new, &|path| path.ends_with(b".py"), most)?;
    let file =
        |item: Option<Item>| item.filter(|item| !matches!(item.mode, Item::LINK | Item::SUBMODULE)).map(|item| item.id);
    let changes = found.into_iter().map(|change| FileChange {
        path: String::from_utf8_lossy(&change.path).into_owned(),
        old: file(change.old),
        new: file(change.new),
    });
    Ok(changes.filter(|change| change.old != change.new).collect())
}
