//! `twincell.slice`: the commits of a range that given tests need, as a Python object.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use twincell_driver::options::{Job, Options};
use twincell_driver::slice::{SliceRequest, slice_options, slice_repository, write_patches};
use twincell_slice::{Slice, Timeline};
use twincell_widgets::{
    SliceProgress, SliceState, slice_branch_text, slice_explanation, slice_fragment, slice_markdown, slice_page,
    slice_rows, slice_text,
};

use super::comparison::show;
use super::display::{Display, ends_with_a_result, go_on};
use super::environment;
use super::errors::raised;
use super::options::given;
use super::plain::{json, plain};
use super::source;

/// A minimal part of a range of commits that keeps tests passing, or that makes them fail.
#[pyclass(frozen, name = "Slice", module = "twincell")]
pub struct PySlice {
    found: Slice,
    timeline: Timeline,
}

/// The title of a page.
const TITLE: &str = "Slice of a history";

/// Finds a minimal set of commits of a range that keeps given tests passing. `repository` is any folder of it, and `range` is
/// `OLD..NEW`: the commits after OLD, up to NEW. `tests` are files and folders with tests, or single tests as pytest names them: a
/// text with spaces between them, or a list.
///
/// The tests run by pytest in the project's own Python. `progress` is called with what is done of a stage, the total (`None` if
/// unknown), a line for people and the stage: `reading`, `criterion` (counts tests), `comparing` or `refining` (counts runs). It stops
/// the search if it returns `True`; `False` shows nothing. A signal ends the search, and then the result is the best so far. Raises
/// `TwincellError` if the tests cannot run or an option is wrong.
#[pyfunction]
#[pyo3(signature = (repository, range, tests, *, progress = None, **options))]
pub fn slice(
    py: Python<'_>,
    repository: PathBuf,
    range: String,
    tests: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PySlice> {
    let (given, _) = given(py, options, Job::Slice)?;
    let options = slice_options(&given).map_err(raised)?;
    let request = SliceRequest { repository, range, tests: selection(tests)? };
    let (found, interrupt) = sliced(py, request, &options, progress)?;
    ends_with_a_result(py, found, interrupt)
}

/// The tests that a text or a list names.
fn selection(tests: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let one = |item: &Bound<'_, PyAny>| match (item.cast::<PyString>(), source::path(item)?) {
        (Ok(text), _) => text.extract(),
        (Err(_), Some(path)) => Ok(path.to_string_lossy().into_owned()),
        (Err(_), None) => Err(raised("tests are texts or paths: give one text, or a list")),
    };
    match tests.cast::<PyString>() {
        Ok(text) => Ok(text.extract::<String>()?.split_whitespace().map(str::to_owned).collect()),
        Err(_) if source::path(tests)?.is_some() => Ok(vec![one(tests)?]),
        Err(_) => match tests.try_iter() {
            Ok(items) => items.map(|item| one(&item?)).collect(),
            Err(_) => Ok(vec![one(tests)?]),
        },
    }
}

/// The slice, and the exception that ended the search.
pub fn sliced(
    py: Python<'_>,
    request: SliceRequest,
    options: &Options,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PySlice, Option<PyErr>)> {
    if request.tests.is_empty() {
        return Err(raised("no tests are given: name files, folders or single tests"));
    }
    let environment = environment::find(py)?;
    // A notebook may go to another folder, and the slice writes patches later.
    let repository = std::path::absolute(&request.repository).unwrap_or(request.repository);
    let request = SliceRequest { repository, ..request };
    let mut display = Display::new(py, progress)?;
    let found = py.detach(|| {
        let (began, mut done) = (Instant::now(), SliceProgress::default());
        let mut tell = |now| {
            done.update(now, began.elapsed());
            go_on(display.watch_with(done.line(), serde_json::to_string(&done).ok()))
        };
        slice_repository(&request, options, &environment, &mut tell)
    });
    let interrupt = display.end(py, found.is_ok());
    match (found, interrupt) {
        (Err(_), Some(interrupt)) => Err(interrupt),
        (found, interrupt) => {
            let (found, timeline) = found.map_err(raised)?;
            Ok((PySlice { found, timeline }, interrupt))
        }
    }
}

impl PySlice {
    /// Writes the slice as patches, and returns their files.
    pub fn patches(&self, folder: &Path) -> PyResult<Vec<PathBuf>> {
        write_patches(&self.found, &self.timeline, folder).map_err(raised)
    }

    pub fn explanation(&self, commit: &str) -> PyResult<String> {
        slice_explanation(&self.found, commit, commit).map_err(raised)
    }

    /// What to say of a branch of these commits.
    pub fn branch_text(&self, name: &str, commits: &[String]) -> String {
        slice_branch_text(&self.found, name, commits)
    }

    pub fn branch(&self, name: &str) -> PyResult<Vec<String>> {
        let commits = self.timeline.branch(&self.found.selection(), name).map_err(raised)?;
        Ok(commits.iter().map(ToString::to_string).collect())
    }

    fn state(&self) -> SliceState {
        SliceState::new(&self.found, &self.timeline)
    }

    pub fn page(&self, title: Option<&str>) -> String {
        slice_page(&self.state(), title.unwrap_or(TITLE))
    }
}

#[pymethods]
impl PySlice {
    /// The commit that the range begins after.
    #[getter]
    fn base(&self) -> &str {
        &self.found.base
    }

    /// The commits that stay, oldest first.
    #[getter]
    fn commits(&self) -> Vec<&str> {
        let staying = self.found.units.iter().filter(|unit| unit.state.stays());
        let mut commits: Vec<&str> = staying.map(|unit| unit.commit.as_str()).collect();
        commits.dedup();
        commits
    }

    /// All commits of the range, or parts of them, oldest first, each as a dictionary.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &slice_rows(&self.found))
    }

    /// The tests that decide, and those that cannot: `deciding`, `flaky`, `failing`; with `bisect` also `failures`, how they fail, and
    /// `reproduced`, those that fail so with the slice alone.
    #[getter]
    fn tests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.tests)
    }

    /// The runs of the tests that counted, in their order, each as a dictionary.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.steps)
    }

    /// Whether no single unit that stays can go with what needs its text: the tests then fail, or with `bisect` do not fail any more.
    #[getter]
    fn is_minimal(&self) -> bool {
        self.found.is_minimal
    }

    /// Why the search ended: `minimal`, `budget`, `deadline` or `interrupted`.
    #[getter]
    fn ended<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.ended)
    }

    /// Why a commit stays or goes. The beginning of its hash is enough. Raises `TwincellError` if the range has none, or several.
    fn explain(&self, commit: &str) -> PyResult<String> {
        self.explanation(commit)
    }

    /// Writes the slice as patches for `git am --keep-cr --keep-non-patch`, and returns their paths in this order.
    fn write_patches(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        py.detach(|| self.patches(&folder))
    }

    /// Writes the slice as a new branch that begins where the range does, or with `onto` at its last commit, and returns its commits,
    /// oldest first. Your working tree stays as it is. Raises `TwincellError` if there is such a branch, and if a commit does not
    /// apply.
    fn make_branch(&self, py: Python<'_>, name: &str) -> PyResult<Vec<String>> {
        py.detach(|| self.branch(name))
    }

    /// All of the result as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found)
    }

    /// The same as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.found)
    }

    /// The same for a pull request.
    fn to_markdown(&self) -> String {
        slice_markdown(&self.found)
    }

    /// The same as a page of its own, with the interactive view.
    #[pyo3(signature = (title = None))]
    fn to_html(&self, py: Python<'_>, title: Option<&str>) -> String {
        py.detach(|| self.page(title))
    }

    /// What the interactive view shows, as JSON.
    fn _state(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&py.detach(|| self.state())).map_err(raised)
    }

    /// Shows the interactive view where there is a front end for it. Elsewhere IPython uses the MIME bundle.
    fn _ipython_display_(slf: &Bound<'_, Self>) -> PyResult<()> {
        show(slf)
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
        let html = py.detach(|| slice_fragment(&self.state()));
        plain(py, &serde_json::json!({ "text/plain": self.__repr__(), "text/html": html }))
    }

    fn __repr__(&self) -> String {
        slice_text(&self.found)
    }
}
