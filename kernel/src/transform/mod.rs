//! What a command makes of the functions in a folder: `ruff check --fix`, `pyupgrade`, a script. The files are copied into
//! a temporary folder and changed there, many at once; each function whose text is another one then is a change.
//!
//! The command runs as whoever wrote it would run it, without a sandbox.

mod command;
mod files;

use std::io;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use serde_json::Value;

use crate::mine::Module;
use crate::study::change::{Change, Changes, NoChange, Row};
use command::{Command, Ended, Running};
use files::{Batch, batches, python_files};

/// A folder, or one file, on its way through a command.
pub struct Transform {
    root: PathBuf,
    project: String,
    command: Command,
    waiting: IntoIter<Vec<PathBuf>>,
    /// Files of a batch that failed, one by one.
    alone: Vec<PathBuf>,
    running: Option<(Batch, Running)>,
    rows: IntoIter<Found>,
    number: usize,
    changed: usize,
    /// How the command ended where it failed, the last time.
    failed: Option<String>,
    /// What it said the last time that it ended with status 1.
    complaint: Option<String>,
}

/// A row without its number.
enum Found {
    Change(Box<Change>),
    No { id: String, reason: String },
}

impl Transform {
    /// Everything that can be wrong before the command runs is found out here; an error is one line.
    pub fn start(path: &Path, command: &str) -> Result<Self, String> {
        let command = Command::read(command)?;
        let unreadable = |error: io::Error| format!("cannot read {}: {}", path.display(), crate::files::reason(&error));
        let path = path.canonicalize().map_err(unreadable)?;
        let (root, files) = if path.is_dir() {
            let files = python_files(&path).map_err(unreadable)?;
            (path, files)
        } else if path.extension().is_none_or(|ending| ending != "py") {
            return Err(format!("{} is no Python file: give one that ends in .py, or a folder", path.display()));
        } else {
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            (path.parent().map(Path::to_owned).unwrap_or_default(), vec![name])
        };
        if files.is_empty() {
            return Err(format!("there are no Python files in {}", root.display()));
        }
        let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let batches = batches(&root, files, command.takes_several());
        Ok(Self {
            root,
            project,
            command,
            waiting: batches.into_iter(),
            alone: Vec::new(),
            running: None,
            rows: Vec::new().into_iter(),
            number: 0,
            changed: 0,
            failed: None,
            complaint: None,
        })
    }

    /// Begins with the next files; false when there are no more.
    fn begin(&mut self) -> io::Result<bool> {
        let Some(files) = self.alone.pop().map(|file| vec![file]).or_else(|| self.waiting.next()) else {
            return Ok(false);
        };
        let (batch, unreadable) = Batch::copy(&self.root, files)?;
        let unreadable = unreadable.into_iter().map(|(file, reason)| {
            let id = file.display().to_string();
            Found::No { reason: format!("{id} cannot be read: {reason}"), id }
        });
        self.rows = unreadable.collect::<Vec<_>>().into_iter();
        if !batch.names().is_empty() {
            let running = self.command.run(batch.folder(), &batch.names())?;
            self.running = Some((batch, running));
        }
        Ok(true)
    }

    /// What became of a batch.
    fn finish(&mut self, batch: &Batch, ended: Ended) {
        let mut found = Vec::new();
        let changed = batch.changed();
        self.complaint = ended.complaint().map(str::to_owned).or(self.complaint.take());
        if let Some(failure) = ended.failure() {
            if changed.is_empty() && batch.names().len() > 1 {
                // One file that the command cannot take is not to cost the others.
                self.alone = batch.names();
                self.alone.reverse();
                return;
            }
            for name in batch.names().iter().filter(|name| !changed.contains(name)) {
                let reason = format!("{}: {failure}", name.display());
                found.push(Found::No { id: name.display().to_string(), reason });
            }
            self.failed = Some(failure);
        }
        self.changed += changed.len();
        for name in changed {
            self.compare(batch, &name, &mut found);
        }
        self.rows = found.into_iter();
    }

    fn compare(&self, batch: &Batch, name: &Path, found: &mut Vec<Found>) {
        let file = name.display().to_string();
        let (old, new) = match batch.modules(name) {
            Ok(both) => both,
            Err(reason) => return found.push(Found::No { id: file, reason }),
        };
        if rest(&old) != rest(&new) {
            // Constants, classes, imports: the files as a whole, as they would be compared by themselves.
            let whole = Change {
                id: Value::from(file.clone()),
                old: old.text.clone(),
                new: new.text.clone(),
                project: Some(self.project.clone()),
                file: Some(file.clone()),
                ..Change::default()
            };
            found.push(Found::Change(Box::new(whole)));
        }
        let mut before: Vec<_> = old.functions.iter().map(Some).collect();
        for function in &new.functions {
            let was = before.iter_mut().find(|was| was.is_some_and(|was| was.qualname == function.qualname));
            let Some(was) = was.and_then(Option::take) else { continue };
            let texts = (old.whole(was), new.whole(function));
            if texts.0 != texts.1 {
                found.push(Found::Change(Box::new(self.change(&file, &function.qualname, texts, (&old, &new)))));
            }
        }
        for gone in before.into_iter().flatten() {
            let id = format!("{file}:{}", gone.qualname);
            found.push(Found::No { reason: format!("{id} is gone after the command"), id });
        }
    }

    fn change(&self, file: &str, function: &str, texts: (String, String), modules: (&Module, &Module)) -> Change {
        Change {
            id: Value::from(format!("{file}:{function}")),
            old: texts.0,
            new: texts.1,
            old_module: Some(modules.0.text.clone()),
            new_module: Some(modules.1.text.clone()),
            function: Some(function.to_owned()),
            project: Some(self.project.clone()),
            file: Some(file.to_owned()),
            ..Change::default()
        }
    }
}

/// What stands outside of functions, without blank lines and comments.
fn rest(module: &Module) -> Vec<&str> {
    let mut lines: Vec<&str> = module.text.lines().map(str::trim_end).collect();
    for function in &module.functions {
        let first = function.first_line.saturating_sub(1) as usize;
        let count = function.text.lines().count();
        lines.iter_mut().skip(first).take(count).for_each(|line| *line = "");
    }
    lines.retain(|line| !line.is_empty() && !line.trim_start().starts_with('#'));
    lines
}

impl Changes for Transform {
    fn next(&mut self) -> Option<io::Result<Row>> {
        loop {
            if let Some(found) = self.rows.next() {
                self.number += 1;
                let number = self.number;
                return Some(Ok(match found {
                    Found::Change(change) => Ok(Change { number, ..*change }),
                    Found::No { id, reason } => Err(NoChange { number, id: Value::from(id), reason }),
                }));
            }
            if let Some((batch, mut running)) = self.running.take() {
                match running.wait() {
                    Ok(Some(ended)) => self.finish(&batch, ended),
                    Ok(None) => {
                        self.running = Some((batch, running));
                        return Some(Err(io::ErrorKind::WouldBlock.into()));
                    }
                    Err(error) => return Some(Err(error)),
                }
                continue;
            }
            match self.begin() {
                Ok(true) => {}
                Ok(false) => {
                    // Where it failed everywhere, it is the command that is wrong.
                    let failed = self.failed.take().filter(|_| self.changed == 0)?;
                    return Some(Err(io::Error::other(format!("the command changed nothing: {failed}"))));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn total(&self) -> Option<u64> {
        None
    }

    fn warnings(&self) -> Vec<String> {
        // A linter ends so when it cannot mend what it found, a script when it failed.
        let warn = |said: &String| format!("the command changed nothing, and ended with status 1: {said}");
        self.complaint.iter().filter(|_| self.changed == 0).map(warn).collect()
    }
}
