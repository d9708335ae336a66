//! `twincell.mine`: the changes of a repository's history as an iterator of dictionaries.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use twincell_driver::policy::path_rules;
use twincell_study::mine::{Mine, Selection, default_jobs, now, seconds};

use super::errors::raised;
use super::plain::plain;

/// The changes in a history, newest first. They are found on demand.
#[pyclass(frozen, name = "Mine", module = "twincell")]
pub struct PyMine {
    mine: Mutex<Mine>,
}

/// Finds the functions that the commits of a git repository modified. Returns an iterator of dictionaries for `study`.
///
/// It finds functions that both versions of a Python file have and whose syntax trees differ, apart from comments,
/// docstrings, decorators and annotations. Newest commits come first; merges are left out. `single_function` selects
/// only commits that modify exactly one function and neither add nor remove any, as the ChangeGuard paper does. `grep`
/// is one regular expression or several, one of which must match the message. `since` and `until` are dates, or texts
/// like `2024-05-17` or `3 weeks ago`. Files that the policy of the repository leaves out are left out; `policy` names
/// another one, or `none`. Raises `TwincellError` if one of these is wrong.
#[pyfunction]
#[pyo3(signature = (repository, *, since = None, until = None, grep = None, single_function = false, tests = false,
                    modules = true, revision = None, limit = None, jobs = None, policy = None))]
#[allow(clippy::too_many_arguments)]
pub fn mine(
    py: Python<'_>,
    repository: PathBuf,
    since: Option<&Bound<'_, PyAny>>,
    until: Option<&Bound<'_, PyAny>>,
    grep: Option<&Bound<'_, PyAny>>,
    single_function: bool,
    tests: bool,
    modules: bool,
    revision: Option<String>,
    limit: Option<usize>,
    jobs: Option<usize>,
    policy: Option<PathBuf>,
) -> PyResult<PyMine> {
    let grep = match grep {
        None => Vec::new(),
        Some(one) if one.is_instance_of::<PyString>() => vec![one.extract()?],
        Some(several) => {
            several.extract().map_err(|_| raised("grep is not a text: give a regular expression, or a list"))?
        }
    };
    let (since, until) = (date("since", since, false)?, date("until", until, true)?);
    let no_modules = !modules;
    let paths = path_rules(&repository, policy.as_deref()).map_err(raised)?;
    let selection = Selection { revision, since, until, grep, single_function, tests, no_modules, limit, paths };
    let mine = py.detach(|| Mine::start(&repository, selection, jobs.unwrap_or_else(default_jobs))).map_err(raised)?;
    Ok(PyMine { mine: Mutex::new(mine) })
}

/// A text, or a Python date or time.
fn date(name: &str, given: Option<&Bound<'_, PyAny>>, end: bool) -> PyResult<Option<i64>> {
    let Some(given) = given else { return Ok(None) };
    let text: String = if given.hasattr("isoformat")? {
        given.call_method0("isoformat")?.extract()?
    } else {
        given.str()?.extract()?
    };
    seconds(&text, end, now()).map(Some).map_err(|error| raised(format!("{name}: {error}")))
}

#[pymethods]
impl PyMine {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            let next = py.detach(|| self.mine.lock().unwrap_or_else(PoisonError::into_inner).next_change());
            match next {
                None => return Ok(None),
                Some(Ok(change)) => {
                    return plain(py, &change.fields()).map(Some);
                }
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => py.check_signals()?,
                Some(Err(error)) => return Err(raised(format!("cannot read the rest of the repository: {error}"))),
            }
        }
    }

    /// Counts so far: `changes`, `commits`, `merges`, `unreadable` files and `examples` of them.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = self.mine.lock().unwrap_or_else(PoisonError::into_inner).report().clone();
        let row = PyDict::new(py);
        row.set_item("changes", report.changes)?;
        row.set_item("commits", report.commits)?;
        row.set_item("merges", report.merges)?;
        row.set_item("unreadable", report.unreadable)?;
        row.set_item("examples", report.examples)?;
        Ok(row)
    }
}
