//! A study of prefixes: many snippets, one row each, as the evaluation of Treefix (ICSE 2025, Section IV) has them.
//!
//! [`run`] searches in threads and gives the rows to a file as they come ([`rows`]), so that a study that was killed goes
//! on. A row depends only on its snippet, the options, the model and the version, apart from its time. [`row`] says what of
//! a tree is kept, and [`summary`] has the tables.

mod frame;
mod row;
mod rows;
mod summary;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

use twincell_driver::failure::Failure;
use twincell_driver::files;
use twincell_driver::options::Options;
use twincell_driver::warm::{Engine, Environment};
use twincell_engine::Stop;
use twincell_prefix::{Continue, PrefixError, Subject};
use twincell_repo::is_inside;

use crate::key::Keys;
use crate::pace::Progress;
use crate::snippet::Snippet;
use crate::threads::INTERVAL;

pub use frame::batches;
pub use row::PrefixRow;
pub use rows::{read, write};
pub use summary::figures;

use rows::Rows;

/// What to search.
pub struct PrefixStudy {
    pub snippets: Vec<Snippet>,
    pub options: Options,
    /// Where the rows go as they come: `.jsonl`. Without it they are in the outcome alone.
    pub out: Option<PathBuf>,
    /// Discard the rows that are there.
    pub fresh: bool,
}

/// How a study ended.
#[derive(Debug, Default)]
pub struct PrefixOutcome {
    /// In the order of the input. Those that were found, if it was stopped.
    pub rows: Vec<PrefixRow>,
    /// The number of rows from an earlier run.
    pub resumed: u64,
    pub interrupted: bool,
}

/// Searches prefixes for every snippet. `watch` receives the progress and may stop it. An error is one line for people;
/// earlier rows are in the file.
pub fn run(
    study: PrefixStudy,
    environment: &Environment,
    watch: &mut dyn FnMut(&Progress) -> Continue,
) -> Result<PrefixOutcome, String> {
    let PrefixStudy { snippets, options, out, fresh } = study;
    let keys = Keys::new(&options, environment)?;
    let keys: Vec<String> = snippets.iter().map(|snippet| keys.of_snippet(snippet, &options)).collect();
    let stop = Stop::default();
    let jobs = options.worker_count();
    // A search has two programs at a time.
    let doubled = Options { jobs: Some(2 * jobs), ..options.clone() };
    let engine = Engine::warm(&doubled, environment).map_err(|error| error.to_string())?.stopped_by(&stop);
    engine.check_workers().map_err(|error| error.to_string())?;
    let mut rows = out.map(|out| Rows::open(&out, fresh)).transpose()?;
    let mut resume = |(snippet, key): (&Snippet, &String)| rows.as_mut().and_then(|rows| rows.resume(key, snippet));
    let mut found: Vec<Option<PrefixRow>> = snippets.iter().zip(&keys).map(&mut resume).collect();
    for (found, _) in found.iter_mut().zip(&snippets).filter(|(_, snippet)| snippet.problem.is_some()) {
        *found = None;
    }
    let waiting: Vec<usize> = (0..snippets.len()).filter(|number| found[*number].is_none()).collect();
    let resumed = (snippets.len() - waiting.len()) as u64;
    let started = Instant::now();
    let mut progress = Progress { done: resumed, resumed, total: Some(snippets.len() as u64), ..Progress::default() };
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let search = |number: usize| {
        let snippet = &snippets[number];
        if let Some(reason) = &snippet.problem {
            return PrefixRow::not_run(snippet, reason.clone(), 0.0);
        }
        let start = Instant::now();
        let mut go_on = |_| if is_over.load(Ordering::Relaxed) { Continue::Stop } else { Continue::Yes };
        let found = engine.prefixes(&Subject::from(snippet.text.clone()), &options.for_prefix(), &mut go_on);
        // In whole microseconds, so that what is read again is the same number.
        let milliseconds = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        match found {
            // What the deadline, a language model or an installer cut may be longer next time.
            Ok(prefixes) => {
                let is_done = !prefixes.stopped && prefixes.problem.is_none() && !prefixes.may_install_more();
                let key = is_done.then(|| keys[number].clone());
                PrefixRow { key, ..PrefixRow::new(snippet, &prefixes, milliseconds) }
            }
            Err(error) => {
                let is_snippet = matches!(&error, Failure::Prefix(PrefixError::Syntax { .. } | PrefixError::Text(_)));
                let key = is_snippet.then(|| keys[number].clone());
                PrefixRow { key, ..PrefixRow::not_run(snippet, error.to_string(), milliseconds) }
            }
        }
    };
    let ended = std::thread::scope(|scope| {
        let (sender, arrived) = mpsc::channel();
        for _ in 0..jobs.min(waiting.len()) {
            let (sender, next, is_over, waiting, search) = (sender.clone(), &next, &is_over, &waiting, &search);
            scope.spawn(move || {
                while let Some(&number) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = search(number);
                    // A search that was stopped in the middle is no result.
                    if is_over.load(Ordering::Relaxed) || sender.send((number, row)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            progress.elapsed = started.elapsed();
            if watch(&progress) == Continue::Stop {
                is_over.store(true, Ordering::Relaxed);
                stop.ask();
                return Ok(true);
            }
            match arrived.recv_timeout(INTERVAL) {
                Ok((number, row)) => {
                    progress.done += 1;
                    let added = rows.as_mut().map_or(Ok(()), |rows| rows.add(&row));
                    found[number] = Some(row);
                    if let Err(error) = added {
                        is_over.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
    });
    let interrupted = ended?;
    let found: Vec<PrefixRow> = found.into_iter().flatten().collect();
    if let (Some(rows), false) = (rows, interrupted) {
        rows.finish(&found)?;
    }
    Ok(PrefixOutcome { rows: found, resumed, interrupted })
}

/// The snippets of folders of `.py` files and of files, each once, in the order of their names. An error is one line for
/// people.
pub fn read_snippets(inputs: &[PathBuf]) -> Result<Vec<Snippet>, String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for input in inputs {
        let files = if input.is_dir() { python_files(input)? } else { vec![input.clone()] };
        if files.is_empty() {
            return Err(format!("there are no .py files in {}", input.display()));
        }
        let folder = if input.is_dir() { input } else { input.parent().unwrap_or(Path::new("")) };
        for file in files {
            if seen.insert(std::path::absolute(&file).unwrap_or_else(|_| file.clone())) {
                let (id, folder) = (file.display().to_string(), folder.display().to_string());
                let (text, problem) = match files::read_source(&file) {
                    Ok(text) => (text, None),
                    // Somebody named this one.
                    Err(reason) if file == *input => return Err(reason),
                    Err(reason) => (String::new(), Some(reason)),
                };
                found.push(Snippet { id, folder, text, problem });
            }
        }
    }
    Ok(found)
}

/// The Python files of a folder, without links that lead out of it.
fn python_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {}", folder.display(), files::reason(&error));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "py") && path.is_file() && is_inside(&path, folder) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
