//! Changes from the history of a git repository, read from its objects. Nothing is checked out, and nothing is run.
//!
//! One thread walks the commits, newest first, and others read what each changed. [`Mine`] gives the changes in the
//! order of the walk, one at a time, so that memory does not grow with the history.

mod dates;
mod files;
mod functions;
mod history;
mod report;
mod selection;
mod threads;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

use git2::{ErrorCode, Repository};
use regex::{RegexSet, RegexSetBuilder};

use crate::change::{Change, Changes, Row};

pub use dates::seconds;
pub use functions::Module;
pub use history::object;
pub use report::Report;
pub use selection::{MineError, Selection};

/// The size in bytes of read objects that libgit2 caches, and of packed ones that it maps, for all repositories of this
/// process. Its own defaults are a quarter GiB and eight GiB.
const OBJECTS: isize = 32 << 20;
const WINDOW: usize = 32 << 20;
const MAPPED: usize = 256 << 20;

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
        bound_memory();
        let name = repository.display().to_string();
        let path = repository;
        let repository = Repository::discover(path).map_err(|error| match error.code() {
            ErrorCode::NotFound => MineError::NoRepository(name.clone()),
            _ => error.into(),
        })?;
        if repository.is_shallow() {
            return Err(MineError::Shallow(name));
        }
        let patterns = patterns(&selection.grep)?;
        let start = history::start(&repository, selection.revision.as_deref(), &name)?;
        let walk = history::Walk { start, since: selection.since, until: selection.until, patterns };
        Ok(Self {
            commits: threads::Commits::start(repository.path(), walk, &selection, jobs),
            current: None,
            project: project(&repository, path),
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

/// This keeps memory from growing with the history.
fn bound_memory() {
    static ONCE: Once = Once::new();
    // A number that cannot be set stays.
    // SAFETY: these are plain numbers of libgit2, which its threads read. Ours have not begun.
    ONCE.call_once(|| unsafe {
        let _ = git2::opts::set_cache_max_size(OBJECTS);
        let _ = git2::opts::set_mwindow_size(WINDOW);
        let _ = git2::opts::set_mwindow_mapped_limit(MAPPED);
    });
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

/// The name of a repository: from its clone address, or else from its folder.
fn project(repository: &Repository, given: &Path) -> String {
    let last = |text: &str| {
        let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        Some(name.strip_suffix(".git").unwrap_or(name).to_owned()).filter(|name| !name.is_empty())
    };
    let origin = repository.find_remote("origin").ok();
    let folder = repository.workdir().map_or_else(|| PathBuf::from(given), Path::to_owned);
    let folder = folder.canonicalize().unwrap_or(folder);
    let from_folder = folder.file_name().and_then(|name| last(&name.to_string_lossy()));
    origin
        .and_then(|origin| origin.url().ok().and_then(last))
        .or(from_folder)
        .unwrap_or_else(|| "repository".to_owned())
}
