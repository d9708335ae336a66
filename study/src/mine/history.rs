//! The selected commits of a history, newest first.

use regex::RegexSet;
use twincell_repo::{Commit, CommitId, Repo, RepoError};

use super::report::Report;

/// What a commit must fulfil before its files are read.
pub struct Walk {
    pub start: CommitId,
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub patterns: Option<RegexSet>,
}

impl Walk {
    /// Calls `take` with every selected commit and the counts since the last one, then with none and the counts at the
    /// end. `take` returns whether to continue.
    pub fn run(&self, repo: &Repo, take: &mut dyn FnMut(Option<CommitId>, Report) -> bool) -> Result<(), RepoError> {
        let mut passed = Report::default();
        for commit in repo.history(self.start)? {
            let commit = commit?;
            passed.commits += 1;
            passed.merges += usize::from(commit.parents() > 1);
            if self.wants(&commit) && !take(Some(commit.id()), std::mem::take(&mut passed)) {
                return Ok(());
            }
        }
        take(None, passed);
        Ok(())
    }

    fn wants(&self, commit: &Commit<'_>) -> bool {
        let time = commit.seconds();
        // A commit without a parent adds everything that it holds.
        commit.parents() == 1
            && self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time <= until)
            && self.patterns.as_ref().is_none_or(|patterns| patterns.is_match(&commit.message()))
    }
}
