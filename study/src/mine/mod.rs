//! Changes from the history of a git repository, read from its objects. Nothing is checked out, and nothing is run.
//!
//! One thread walks the commits, newest first, and others read what each changed. [`Mine`] gives the changes in the
//! order of the walk, one at a time, so that memory does not grow with the history.

mod dates;
mod functions;
mod history;
mod report;
mod selection;
mod threads;

use std::io;
use std::path::Path;

use regex::{RegexSet, RegexSetBuilder};

use twincell_repo::Repo;

use crate::change::{Change, Changes, Row};

pub use dates::seconds;
pub use functions::Module;
pub use report::Report;
pub use selection::{MineError, Selection};

/// A walk through a history that gives changes.
pub struct Mine {
    commits: threads::Commits,
    /// The remaining changes of the latest commit.
    current: Option<(threads::Mined, usize)>,
    selection: Selection,
    project: String,
    report: Report,
    ended: bool,
}

impl Mine {
    /// Begins a walk with some threads beside this one. Every error in the selection is found here.
    pub fn start(repository: &Path, selection: Selection, jobs: usize) -> Result<Self, MineError> {
        twincell_repo::bound_memory();
        let repo = Repo::around(repository)?;
        if repo.is_shallow() {
            return Err(MineError::Shallow(repository.display().to_string()));
        }
        let patterns = patterns(&selection.grep)?;
        let start = repo.commit_id(selection.revision.as_deref())?;
        let walk = history::Walk { start, since: selection.since, until: selection.until, patterns };
        Ok(Self {
            commits: threads::Commits::start(repo.path(), walk, &selection, jobs),
            current: None,
            project: repo.name().unwrap_or_else(|| "repository".to_owned()),
            selection,
            report: Report::default(),
            ended: false,
        })
    }

    /// The counts so far. After the last change, those of the whole history.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// As [`Changes::next`].
    pub fn next_change(&mut self) -> Option<io::Result<Change>> {
        if self.ended || self.selection.limit.is_some_and(|limit| self.report.changes >= limit) {
            return None;
        }
        loop {
            if let Some((mined, given)) = &mut self.current {
                if let Some(change) = mined.change(*given, &self.project, !self.selection.no_modules) {
                    *given += 1;
                    self.report.changes += 1;
                    return Some(Ok(Change { number: self.report.changes, ..change }));
                }
                self.current = None;
            }
            match self.commits.next() {
                Ok(Some(mut mined)) => {
                    self.report.add(std::mem::take(&mut mined.report));
                    self.current = Some((mined, 0));
                }
                Ok(None) => {
                    self.ended = true;
                    return None;
                }
                Err(error) => {
                    self.ended = error.kind() != io::ErrorKind::WouldBlock;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl Changes for Mine {
    fn next(&mut self) -> Option<io::Result<Row>> {
        self.next_change().map(|change| change.map(Ok))
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX))
}

/// One thread for each processor.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// One set for all patterns. The error names the wrong one.
fn patterns(patterns: &[String]) -> Result<Option<RegexSet>, MineError> {
    let build = |patterns: &[String]| RegexSetBuilder::new(patterns).case_insensitive(true).multi_line(true).build();
    for pattern in patterns {
        build(std::slice::from_ref(pattern)).map_err(|error| {
            // The last line says what is wrong; the earlier ones show where.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            MineError::Pattern { pattern: pattern.clone(), reason }
        })?;
    }
    if patterns.is_empty() {
        return Ok(None);
    }
    build(patterns).map(Some).map_err(|error| MineError::Pattern {
        pattern: patterns.join(" or "),
        reason: error.to_string().lines().last().unwrap_or_default().to_owned(),
    })
}
