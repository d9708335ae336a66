//! `twincell.blame`: since which commit a call gives its value, as a Python object.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_blame::{Answer, Blame, CommitInfo, Progress};
use twincell_driver::blame::{BlameRequest, blame_repository, file_and_function};
use twincell_driver::failure::Failure;
use twincell_driver::options::{Job, Options};
use twincell_driver::warm::Environment;
use twincell_widgets::{
    blame_before, blame_diff, blame_fragment, blame_markdown, blame_page, blame_progress, blame_text,
};

use super::display::{Display, ends_with_a_result, go_on};
use super::environment;
use super::errors::raised;
use super::options::read_options;
use super::plain::{json, plain};

/// Since which commit a call gives its value.
#[pyclass(frozen, name = "Blame", module = "twincell")]
pub struct PyBlame {
    found: Blame,
}

/// The title of a page.
const TITLE: &str = "Since when";

/// Finds the commit since which a call gives the value that it gives now. `place` is `FILE:FUNCTION`, `call` a call of the
/// function with literal arguments, as its module would write it, and `range` is `OLD..NEW`. Without a range, the search begins at
/// HEAD and goes as far back as it has to. The file is seen from `repository`, which is any folder of it; an absolute path needs
/// none.
///
/// The call runs in the sandbox, on the files of each commit. `progress` is called with the number of commits done, `None` and a
/// line for people, and stops the search if it returns `True`; `False` shows nothing. A signal ends the search, and then the result
/// has what is known by then. Raises `TwincellError` if the call cannot run or an option is wrong.
#[pyfunction]
#[pyo3(signature = (place, call, range = None, *, repository = None, progress = None, **options))]
pub fn blame(
    py: Python<'_>,
    place: &str,
    call: String,
    range: Option<String>,
    repository: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyBlame> {
    let options = read_options(py, options, Job::Blame)?;
    let (file, function) = file_and_function(place).map_err(raised)?;
    let request = BlameRequest { folder: repository, file, function, call, range, text: None };
    let (found, interrupt) = blamed(py, &request, &options, progress)?;
    ends_with_a_result(py, found, interrupt)
}

/// The answer, and the exception that ended the search.
pub fn blamed(
    py: Python<'_>,
    request: &BlameRequest,
    options: &Options,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyBlame, Option<PyErr>)> {
    watched(py, progress, |environment, tell| blame_repository(request, options, environment, tell))
}

/// A search whose progress is shown, and the exception that ended it.
pub fn watched(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    search: impl FnOnce(&Environment, &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<Blame, Failure> + Send,
) -> PyResult<(PyBlame, Option<PyErr>)> {
    let environment = environment::find(py)?;
    let mut display = Display::new(py, progress)?;
    let found = py.detach(|| {
        let mut tell = |now| go_on(display.watch(blame_progress(now)));
        search(&environment, &mut tell)
    });
    let interrupt = display.end(py, found.is_ok());
    match (found, interrupt) {
        (Err(_), Some(interrupt)) => Err(interrupt),
        (found, interrupt) => Ok((PyBlame { found: found.map_err(raised)? }, interrupt)),
    }
}

impl PyBlame {
    fn culprit(&self) -> Option<&CommitInfo> {
        match &self.found.answer {
            Answer::Since(culprit) => Some(&culprit.commit),
            Answer::Among { .. } | Answer::Same { .. } => None,
        }
    }

    pub fn page(&self, title: Option<&str>) -> String {
        blame_page(&self.found, title.unwrap_or(TITLE))
    }
}

#[pymethods]
impl PyBlame {
    /// `since` one commit, `among` several of which one must be it, or the `same` at all.
    #[getter]
    fn answer(&self) -> &'static str {
        match &self.found.answer {
            Answer::Since(_) => "since",
            Answer::Among { .. } => "among",
            Answer::Same { .. } => "same",
        }
    }

    /// The hash of the commit. `None` if it is not known.
    #[getter]
    fn commit(&self) -> Option<&str> {
        self.culprit().map(|commit| commit.id.as_str())
    }

    /// The first line of its message.
    #[getter]
    fn message(&self) -> Option<&str> {
        self.culprit().map(|commit| commit.subject.as_str())
    }

    /// The hashes of the commits of which one must be it, newest first: one, if it is known.
    #[getter]
    fn candidates(&self) -> Vec<&str> {
        match &self.found.answer {
            Answer::Since(culprit) => vec![&culprit.commit.id],
            Answer::Among { commits, .. } => commits.iter().map(|commit| commit.id.as_str()).collect(),
            Answer::Same { .. } => vec![],
        }
    }

    /// What the call gave before, as text. `None` if it gave the same.
    #[getter]
    fn before(&self) -> Option<String> {
        blame_before(&self.found)
    }

    /// What the call gives now, as text.
    #[getter]
    fn after(&self) -> &str {
        &self.found.value.shown
    }

    /// What of the commit changed the value, as a diff, as far as the text tells.
    #[getter]
    fn hunk(&self) -> Option<String> {
        blame_diff(&self.found)
    }

    /// All commits at which the call was to run, and what it gave, each as a dictionary.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.steps)
    }

    /// All of the result as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found)
    }

    /// The same as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.found)
    }

    /// The same for a pull request or an issue.
    fn to_markdown(&self) -> String {
        blame_markdown(&self.found)
    }

    /// The same as a page of its own.
    #[pyo3(signature = (title = None))]
    fn to_html(&self, title: Option<&str>) -> String {
        self.page(title)
    }

    /// The MIME bundle that Jupyter shows.
    #[pyo3(signature = (include = None, exclude = None))]
    fn _repr_mimebundle_<'py>(
        &self,
        py: Python<'py>,
        include: Option<Bound<'py, PyAny>>,
        exclude: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Jupyter filters the bundle itself.
        let _ = (include, exclude);
        plain(py, &serde_json::json!({ "text/plain": self.__repr__(), "text/html": blame_fragment(&self.found) }))
    }

    fn __repr__(&self) -> String {
        blame_text(&self.found)
    }
}
