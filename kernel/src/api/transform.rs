//! `twincell.transform`: what a command makes of the functions in a folder as an iterator of dictionaries.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use twincell_driver::files;
use twincell_study::change::{Changes, Reopen, Row};
use twincell_study::job;

use super::errors::raised;
use super::plain::plain;

/// The changes that a command makes to functions. They are found on demand.
#[pyclass(frozen, name = "Transform", module = "twincell")]
pub struct PyTransform {
    changes: Arc<Mutex<Box<dyn Changes>>>,
    /// For people.
    pub name: String,
    folder: PathBuf,
    command: String,
    /// The files without a result: name and reason.
    failed: Mutex<Vec<(Value, String)>>,
}

/// Applies a command to the Python files of a folder, or to one file, and yields every function whose text it changed.
/// Returns an iterator of dictionaries for `study`.
///
/// `{}` in the command stands for the files; without it they go to the end: `ruff check --fix -q {}`. The command works
/// on copies, on many files at once, and runs without a sandbox and without a shell. Files on which it fails are in
/// `failed`, and are rows of a study that is given the iterator itself. Raises `TwincellError` if the command or the
/// folder cannot be used.
#[pyfunction]
pub fn transform(py: Python<'_>, folder: PathBuf, command: &str) -> PyResult<PyTransform> {
    let (changes, name) = py.detach(|| job::transformed(&folder, command)).map_err(raised)?;
    let (changes, command) = (Arc::new(Mutex::new(changes)), command.to_owned());
    Ok(PyTransform { changes, name, folder, command, failed: Mutex::default() })
}

impl PyTransform {
    /// The remaining changes, for a study.
    pub fn rest(&self) -> Box<dyn Changes> {
        Box::new(Rest(self.changes.clone()))
    }

    /// Yields the changes once more, by running the command again.
    pub fn again(&self) -> Reopen {
        let (folder, command) = (self.folder.clone(), self.command.clone());
        Box::new(move || Ok(job::transformed(&folder, &command)?.0))
    }
}

struct Rest(Arc<Mutex<Box<dyn Changes>>>);

impl Changes for Rest {
    fn next(&mut self) -> Option<io::Result<Row>> {
        held(&self.0).next()
    }

    fn total(&self) -> Option<u64> {
        held(&self.0).total()
    }

    fn warnings(&self) -> Vec<String> {
        held(&self.0).warnings()
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PyTransform {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            match py.detach(|| held(&self.changes).next()) {
                None => return Ok(None),
                Some(Ok(Ok(change))) => return plain(py, &change.fields()).map(Some),
                Some(Ok(Err(none))) => held(&self.failed).push((none.id.clone(), none.reason())),
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => py.check_signals()?,
                Some(Err(error)) => return Err(raised(files::reason(&error))),
            }
        }
    }

    /// The files on which the command failed so far: dictionaries with `id`, the name of a file, and `reason`.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let failed = held(&self.failed).clone();
        let rows = failed.into_iter().map(|(id, reason)| {
            let row = PyDict::new(py);
            row.set_item("id", plain(py, &id)?)?;
            row.set_item("reason", reason)?;
            Ok(row)
        });
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }
}
