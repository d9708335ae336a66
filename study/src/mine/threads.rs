//! The threads of a walk: one goes through the commits, and others read them. Their results come in the order of the
//! walk. They hold a bounded number of commits, and end when nobody listens any more.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use twincell_repo::{CommitId, FileId, Repo, RepoError};

use twincell_syntax::Function;

use super::dates::written;
use super::functions::{MOST_BYTES, Module, Modules, became};
use super::history::Walk;
use super::report::Report;
use super::selection::Selection;
use crate::change::Change;

/// The maximum number of commits that are read ahead.
const AHEAD: usize = 64;
/// How often a wait checks whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// The size of a thread's stack. The parser asks for more where it needs it.
const STACK: usize = 8 << 20;

/// The results of a commit.
#[derive(Default)]
pub struct Mined {
    commit: String,
    /// When it was committed, in UTC.
    date: Option<String>,
    files: Vec<MinedFile>,
    pub report: Report,
}

struct MinedFile {
    path: String,
    old: Arc<Module>,
    new: Arc<Module>,
    modified: Vec<(usize, usize)>,
}

impl Mined {
    /// The change at this position. None after the last one.
    pub fn change(&self, mut at: usize, project: &str, modules: bool) -> Option<Change> {
        for file in &self.files {
            let Some((was, is)) = file.modified.get(at) else {
                at -= file.modified.len();
                continue;
            };
            let (old, new) = (file.old.functions.get(*was)?, file.new.functions.get(*is)?);
            let short: String = self.commit.chars().take(10).collect();
            return Some(Change {
                number: 0,
                id: Value::from(format!("{project}-{short}:{}:{}", file.path, new.qualname)),
                old: file.old.whole(old),
                new: file.new.whole(new),
                old_module: modules.then(|| file.old.text.clone()),
                new_module: modules.then(|| file.new.text.clone()),
                function: Some(new.qualname.clone()),
                label: None,
                project: Some(project.to_owned()),
                commit: Some(self.commit.clone()),
                date: self.date.clone(),
                file: Some(file.path.clone()),
                kind: None,
                budget: None,
            });
        }
        None
    }
}

/// A commit to read, or the end, with the count of commits skipped before it.
struct Task {
    index: usize,
    commit: Option<CommitId>,
    passed: Report,
}

/// The index of a commit in the walk, and what was read of it.
type ReadCommit = (usize, Result<Option<Mined>, String>);

/// The state that all threads share.
struct Shared {
    stop: AtomicBool,
    modules: Modules,
    selection: Selection,
    /// How many commits were taken by the caller, and a signal when one more is.
    given: Mutex<usize>,
    moved: Condvar,
}

/// The commits of a walk as they come.
pub struct Commits {
    shared: Arc<Shared>,
    found: Mutex<Receiver<ReadCommit>>,
    waiting: BTreeMap<usize, Result<Option<Mined>, String>>,
    next: usize,
}

impl Commits {
    pub fn start(repository: &Path, walk: Walk, selection: &Selection, jobs: usize) -> Self {
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            modules: Modules::default(),
            selection: selection.clone(),
            given: Mutex::new(0),
            moved: Condvar::new(),
        });
        let (to_read, tasks) = mpsc::sync_channel::<Task>(AHEAD);
        let (sender, found) = mpsc::sync_channel(AHEAD);
        let tasks = Arc::new(Mutex::new(tasks));
        let named = || std::thread::Builder::new().name("twincell-mine".into()).stack_size(STACK);
        let mut started = {
            let (path, sender) = (repository.to_owned(), sender.clone());
            named().spawn(move || walk_on(&path, &walk, &to_read, &sender)).map(|_| ())
        };
        for _ in 0..jobs.max(1) {
            let (path, shared) = (repository.to_owned(), shared.clone());
            let (tasks, results) = (tasks.clone(), sender.clone());
            let work = move || {
                if let Err(error) = work(&path, &shared, &tasks, &results) {
                    let _ = results.send((usize::MAX, Err(error.to_string())));
                }
            };
            started = started.and(named().spawn(work).map(|_| ()));
        }
        if let Err(error) = started {
            let _ = sender.try_send((usize::MAX, Err(format!("a thread cannot be started: {error}"))));
        }
        Self { shared, found: Mutex::new(found), waiting: BTreeMap::new(), next: 0 }
    }

    /// The next commit, or none at the end. An error of kind `WouldBlock` says that it takes a moment.
    pub fn next(&mut self) -> io::Result<Option<Mined>> {
        loop {
            if let Some(found) = self.waiting.remove(&self.next) {
                self.next += 1;
                *self.shared.given.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                self.shared.moved.notify_all();
                return found.map_err(io::Error::other);
            }
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE);
            match found {
                // A thread that cannot work ends the walk, whatever the others still find.
                Ok((usize::MAX, found)) => return found.map_err(io::Error::other),
                Ok((index, found)) => {
                    self.waiting.insert(index, found);
                }
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the threads that read it ended")),
            }
        }
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.moved.notify_all();
    }
}

fn walk_on(repository: &Path, walk: &Walk, to_read: &SyncSender<Task>, results: &SyncSender<ReadCommit>) {
    let mut index = 0;
    let walked = Repo::open_again(repository).and_then(|repo| {
        walk.run(&repo, &mut |commit, passed| {
            index += 1;
            to_read.send(Task { index: index - 1, commit, passed }).is_ok()
        })
    });
    if let Err(error) = walked {
        let _ = results.send((index, Err(error.to_string())));
    }
}

fn work(
    repository: &Path,
    shared: &Shared,
    tasks: &Mutex<Receiver<Task>>,
    results: &SyncSender<ReadCommit>,
) -> Result<(), RepoError> {
    let repo = Repo::open_again(repository)?;
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Task { index, commit, passed }) = task else { return Ok(()) };
        let mut given = shared.given.lock().unwrap_or_else(PoisonError::into_inner);
        while index > *given + AHEAD && !shared.stop.load(Ordering::Relaxed) {
            given = shared.moved.wait_timeout(given, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(given);
        if shared.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut mined = Mined { report: passed, ..Mined::default() };
        let found = match commit {
            Some(commit) => match read(&repo, commit, shared, &mut mined) {
                Ok(()) => vec![(index, Ok(Some(mined)))],
                Err(error) => vec![(index, Err(error.to_string()))],
            },
            // The commits skipped at the end, and the end itself.
            None => vec![(index, Ok(Some(mined))), (index + 1, Ok(None))],
        };
        for found in found {
            if results.send(found).is_err() {
                return Ok(());
            }
        }
    }
}

/// What a commit did to functions.
fn read(repo: &Repo, commit: CommitId, shared: &Shared, mined: &mut Mined) -> Result<(), RepoError> {
    let selection = &shared.selection;
    let commit = repo.find(commit)?;
    mined.commit = commit.id().to_string();
    mined.date = written(commit.seconds());
    let wanted_name = |name: &str| selection.tests || !name.to_lowercase().contains("test");
    let wanted = |function: &Function| wanted_name(&function.qualname);
    let mut others = 0;
    for touched in repo.python_changes(&commit, MOST_BYTES)? {
        if selection.paths.excluded(Path::new(&touched.path)).is_some() {
            continue;
        }
        if !wanted_name(&touched.path) || (touched.old.is_none() || touched.new.is_none()) && !selection.single_function
        {
            continue;
        }
        let module = |id: Option<FileId>| id.map(|id| shared.modules.read(repo, id)).transpose();
        match (module(touched.old), module(touched.new)) {
            (Ok(Some(old)), Ok(Some(new))) => {
                let became = became(&old, &new, &wanted);
                others += became.added_or_removed;
                if !became.modified.is_empty() {
                    mined.files.push(MinedFile { path: touched.path, old, new, modified: became.modified });
                }
            }
            (Ok(old), Ok(new)) => {
                let functions = old.iter().chain(&new).flat_map(|module| &module.functions);
                others += functions.filter(|function| wanted(function)).count();
            }
            (Err(reason), _) | (_, Err(reason)) => {
                let short: String = mined.commit.chars().take(10).collect();
                mined.report.unreadable(format!("{} at {short} {reason}", touched.path));
                // What changed in this file is unknown.
                others += 1;
            }
        }
        if selection.single_function && others > 0 {
            break;
        }
    }
    let modified: usize = mined.files.iter().map(|file| file.modified.len()).sum();
    if selection.single_function && (modified != 1 || others > 0) {
        mined.files.clear();
    }
    Ok(())
}
