//! The changes that a command makes to the functions in a folder: `ruff check --fix`, `pyupgrade`, a script. The files
//! are copied into a temporary folder and changed there, many at once. Each function whose text changed is a change. So
//! are classes and the statements of a file, where a comparison of the whole files would look at them, and of classes
//! only those without a method that is itself a change. A function that only uses changed code is not a change.
//!
//! The command runs with the rights of whoever wrote it, without a sandbox.

mod command;
mod files;

use std::io;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use serde_json::Value;
use twincell_compare::units;
use twincell_driver::files::reason;
use twincell_syntax::CodeKind;

use crate::change::{Change, Changes, NoChange, Row};
use command::{Command, Ended, Running};
use files::{Batch, Named, batches, python_files};

/// A folder, or one file, on its way through a command.
pub struct Transform {
    root: PathBuf,
    project: String,
    command: Command,
    waiting: IntoIter<Vec<PathBuf>>,
    /// The files of a failed batch, one by one.
    alone: Vec<PathBuf>,
    running: Option<(Batch, Running)>,
    rows: IntoIter<Candidate>,
    number: usize,
    /// The numbers of files given to the command, of those that it changed, and of those among them with nothing to
    /// compare.
    files: usize,
    changed: usize,
    without: usize,
    /// The files that the command itself names.
    _named: Named,
    /// How the command ended when it last failed.
    failed: Option<String>,
    /// Its output when it last ended with status 1.
    complaint: Option<String>,
}

/// A row without its number.
enum Candidate {
    Change(Box<Change>),
    No { id: String, reason: String },
}

impl Transform {
    /// Everything that can be wrong before the command runs is found here. An error is one line.
    pub fn start(path: &Path, command: &str) -> Result<Self, String> {
        let unreadable = |error: io::Error| format!("cannot read {}: {}", path.display(), reason(&error));
        let path = path.canonicalize().map_err(unreadable)?;
        let (root, files) = if path.is_dir() {
            let files = python_files(&path).map_err(unreadable)?;
            (path, files)
        } else if path.extension().is_none_or(|ending| ending != "py") {
            return Err(format!("{} is not a Python file: give one that ends in .py, or a folder", path.display()));
        } else {
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            (path.parent().map(Path::to_owned).unwrap_or_default(), vec![name])
        };
        if files.is_empty() {
            return Err(format!("there are no Python files in {}", root.display()));
        }
        let named = Named::new().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let here = std::env::current_dir().map_err(|error| format!("the current folder cannot be read: {error}"))?;
        let is_one = |file: &Path| {
            let name = file.strip_prefix(&root).ok();
            name.is_some_and(|name| files.binary_search_by(|file| file.as_path().cmp(name)).is_ok())
        };
        let copied = |file: &Path| if is_one(file) { named.copy(&root, file) } else { None };
        let command = Command::read(command, &here, &copied)?;
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
            files: 0,
            changed: 0,
            without: 0,
            _named: named,
            failed: None,
            complaint: None,
        })
    }

    /// Begins with the next files. False if there are no more.
    fn begin(&mut self) -> io::Result<bool> {
        let Some(files) = self.alone.pop().map(|file| vec![file]).or_else(|| self.waiting.next()) else {
            return Ok(false);
        };
        let (batch, unreadable) = Batch::copy(&self.root, files)?;
        let unreadable = unreadable.into_iter().map(|(file, reason)| {
            let id = file.display().to_string();
            Candidate::No { reason: format!("{id} cannot be read: {reason}"), id }
        });
        self.rows = unreadable.collect::<Vec<_>>().into_iter();
        if !batch.names().is_empty() {
            let running = self.command.run(batch.folder(), &batch.names())?;
            self.running = Some((batch, running));
        }
        Ok(true)
    }

    /// Collects the results of a batch.
    fn finish(&mut self, batch: &Batch, ended: Ended) {
        let mut found = Vec::new();
        let changed = batch.changed();
        self.complaint = ended.complaint().map(str::to_owned).or(self.complaint.take());
        if let Some(failure) = ended.failure() {
            if changed.is_empty() && batch.names().len() > 1 {
                // One file on which the command fails must not cost the others.
                self.alone = batch.names();
                self.alone.reverse();
                return;
            }
            for name in batch.names().iter().filter(|name| !changed.contains(name)) {
                let reason = format!("{}: {failure}", name.display());
                found.push(Candidate::No { id: name.display().to_string(), reason });
            }
            self.failed = Some(failure);
        }
        self.files += batch.names().len();
        self.changed += changed.len();
        for name in changed {
            let before = found.len();
            self.compare(batch, &name, &mut found);
            self.without += usize::from(found.len() == before);
        }
        self.rows = found.into_iter();
    }

    fn compare(&self, batch: &Batch, name: &Path, found: &mut Vec<Candidate>) {
        let file = name.display().to_string();
        let (old, new) = match batch.modules(name) {
            Ok(both) => both,
            Err(reason) => return found.push(Candidate::No { id: file, reason }),
        };
        let mut compared = Vec::new();
        let mut before: Vec<_> = old.functions.iter().map(Some).collect();
        for function in &new.functions {
            let was = before.iter_mut().find(|was| was.is_some_and(|was| was.qualname == function.qualname));
            let Some(was) = was.and_then(Option::take) else { continue };
            let texts = (old.whole(was), new.whole(function));
            if texts.0 != texts.1 {
                compared.push(function.qualname.clone());
                let modules = Some((old.text.clone(), new.text.clone()));
                found.push(self.change(&file, &function.qualname, texts, modules));
            }
        }
        for gone in before.into_iter().flatten() {
            let id = format!("{file}:{}", gone.qualname);
            found.push(Candidate::No { reason: format!("the command removed {id}"), id });
        }
        // These show a function of the same text that uses a changed constant or class.
        for unit in units(&old.text, &new.text) {
            // A class does not show again what its methods show.
            let inside = format!("{}.", unit.qualname);
            if unit.kind == CodeKind::Class && compared.iter().any(|name| name.starts_with(&inside)) {
                continue;
            }
            found.push(self.change(&file, &unit.qualname, (old.text.clone(), new.text.clone()), None));
        }
    }

    fn change(
        &self,
        file: &str,
        function: &str,
        texts: (String, String),
        modules: Option<(String, String)>,
    ) -> Candidate {
        let (old_module, new_module) = modules.unzip();
        Candidate::Change(Box::new(Change {
            id: Value::from(format!("{file}:{function}")),
            old: texts.0,
            new: texts.1,
            old_module,
            new_module,
            function: Some(function.to_owned()),
            project: Some(self.project.clone()),
            file: Some(file.to_owned()),
            ..Change::default()
        }))
    }
}

impl Changes for Transform {
    fn next(&mut self) -> Option<io::Result<Row>> {
        loop {
            if let Some(found) = self.rows.next() {
                self.number += 1;
                let number = self.number;
                return Some(Ok(match found {
                    Candidate::Change(change) => Ok(Change { number, ..*change }),
                    Candidate::No { id, reason } => {
                        Err(NoChange { number, id: Value::from(id), unit: None, what: reason })
                    }
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
                    // If it failed everywhere, the command is wrong.
                    let failed = self.failed.take().filter(|_| self.changed == 0)?;
                    return Some(Err(io::Error::other(format!(
                        "{failed} (it ran on copies in a temporary folder and changed none)"
                    ))));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn warnings(&self) -> Vec<String> {
        // A linter ends like this if it cannot mend its findings, and a script if it failed.
        let warn = |said: &String| format!("the command changed nothing and ended with status 1: {said}");
        self.complaint.iter().filter(|_| self.changed == 0).map(warn).collect()
    }

    fn notes(&self) -> Vec<String> {
        let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let mut line = match self.changed {
            0 => format!("the command was given {} and changed none", files(self.files)),
            changed => format!("the command was given {} and changed {changed}", files(self.files)),
        };
        if self.without > 0 {
            line.push_str(&format!(", {} of them only where nothing is compared (imports, comments)", self.without));
        }
        vec![line]
    }

    fn explains_itself(&self) -> bool {
        true
    }
}
