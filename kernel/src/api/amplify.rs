//! `twincell.amplify`: tests that show a change, as a Python object.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_amplify::Amplification;
use twincell_driver::amplify::{amplify_repository, revisions};
use twincell_driver::options::Job;
use twincell_widgets::{amplification_markdown, amplification_text};

use super::environment;
use super::errors::raised;
use super::options::read_options;
use super::plain::plain;

/// Tests that pass before a change and fail after it.
#[pyclass(frozen, name = "Amplification", module = "twincell")]
pub struct PyAmplification(Amplification);

/// Makes tests that show what a change of a repository does, from the project's own tests. `repository` is a folder;
/// `change` is a commit, two of them as `OLD..NEW`, or `None` for what is not committed yet. With `staged`, the change is
/// what is staged.
///
/// The tests run by pytest in the project's own Python. Raises `TwincellError` if they cannot run or an option is wrong.
#[pyfunction]
#[pyo3(signature = (repository, change = None, *, staged = false, **options))]
pub fn amplify(
    py: Python<'_>,
    repository: PathBuf,
    change: Option<String>,
    staged: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyAmplification> {
    let options = read_options(py, options, Job::Amplify)?;
    let environment = environment::find(py)?;
    let versions = revisions(change.as_deref(), staged);
    let found = py.detach(|| amplify_repository(&repository, &versions, &options, &environment, &mut |_| {}));
    Ok(PyAmplification(found.map_err(raised)?))
}

#[pymethods]
impl PyAmplification {
    /// `found`, `nothing_found`, `not_reached` or `no_code`.
    #[getter]
    fn status(&self) -> PyResult<String> {
        let status = serde_json::to_value(self.0.status).map_err(raised)?;
        Ok(status.as_str().unwrap_or_default().to_owned())
    }

    /// The tests, the best first, each as a dictionary.
    #[getter]
    fn tests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.0.tests)
    }

    /// All of the result as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.0)
    }

    /// The same as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(raised)
    }

    /// A patch that adds the tests: in the form that passes after the change, or in the one that passes before it.
    #[pyo3(signature = (*, old = false))]
    fn patch(&self, old: bool) -> &str {
        if old { &self.0.patches.old } else { &self.0.patches.new }
    }

    /// The same for a pull request.
    fn to_markdown(&self) -> String {
        amplification_markdown(&self.0)
    }

    fn __repr__(&self) -> String {
        amplification_text(&self.0)
    }
}
