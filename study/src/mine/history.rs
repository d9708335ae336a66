//! The selected commits of a history, newest first.

use git2::{Commit, Object, Oid, Repository};
use regex::RegexSet;

use super::report::Report;
use super::selection::MineError;

/// What a commit must fulfil before its files are read.
pub struct Walk {
    pub start: Oid,
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub patterns: Option<RegexSet>,
}

/// The commit at which a walk begins.
pub fn start(repository: &Repository, revision: Option<&str>, name: &str) -> Result<Oid, MineError> {
    let Some(revision) = revision else {
        let head = repository.head().and_then(|head| head.peel_to_commit());
        return head.map(|commit| commit.id()).map_err(|error| match error.code() {
            git2::ErrorCode::UnbornBranch | git2::ErrorCode::NotFound => MineError::Empty(name.to_owned()),
            _ => error.into(),
        });
    };
    object(repository, revision)
        .and_then(|object| object.peel_to_commit().map_err(|error| error.message().to_owned()))
        .map(|commit| commit.id())
        .map_err(|reason| MineError::Revision { revision: revision.to_owned(), reason })
}

/// What a revision names. The error says why it names nothing.
pub fn object<'repository>(repository: &'repository Repository, revision: &str) -> Result<Object<'repository>, String> {
    if revision.starts_with('-') {
        // Other programs take it for an option, and git allows no such name.
        return Err("it begins with -".to_owned());
    }
    repository.revparse_single(revision).map_err(|error| error.message().to_owned())
}

impl Walk {
    /// Calls `take` with every selected commit and the counts since the last one, then with none and the counts at the
    /// end. `take` returns whether to continue.
    pub fn run(
        &self,
        repository: &Repository,
        take: &mut dyn FnMut(Option<Oid>, Report) -> bool,
    ) -> Result<(), git2::Error> {
        // Without a sort order libgit2 walks newest first and incrementally. With one it reads the whole history before
        // it gives the first commit.
        let mut walk = repository.revwalk()?;
        walk.push(self.start)?;
        let mut passed = Report::default();
        for id in walk {
            let commit = repository.find_commit(id?)?;
            passed.commits += 1;
            passed.merges += usize::from(commit.parent_count() > 1);
            if self.wants(&commit) && !take(Some(commit.id()), std::mem::take(&mut passed)) {
                return Ok(());
            }
        }
        take(None, passed);
        Ok(())
    }

    fn wants(&self, commit: &Commit<'_>) -> bool {
        let time = commit.time().seconds();
        // A commit without a parent adds everything that it holds.
        commit.parent_count() == 1
            && self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time <= until)
            && self
                .patterns
                .as_ref()
                .is_none_or(|patterns| patterns.is_match(&String::from_utf8_lossy(commit.message_bytes())))
    }
}
