//! `twincell.impact`: which statements beyond the changed ones may see other values, as a Python object.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use twincell_driver::failure::Failure;
use twincell_driver::impact::{ImpactError, ImpactVersions, impact_of};
use twincell_driver::options::{Job, Options};
use twincell_driver::selection::{self, SelectionRequest};
use twincell_syntax::PerSide;
use twincell_widgets::{
    ImpactReport, ImpactState, impact_explanation, impact_fragment, impact_markdown, impact_page, impact_place,
    impact_rows, impact_sarif, impact_text, selection_report,
};

use super::comparison::show;
use super::display::ends_with_a_result;
use super::errors::raised;
use super::options::read_options;
use super::plain::{json, plain};
use super::signals::Signals;
use super::source;

/// The statements that a change has impact on.
#[pyclass(frozen, name = "Impact", module = "twincell")]
pub struct PyImpact {
    report: ImpactReport,
}

/// The title of a page.
const TITLE: &str = "Impact of a change";

/// Finds the statements beyond the changed ones that may see other values. `old` and `new` are paths (`os.PathLike`) of two files or
/// two folders, or texts or functions. With `git`, they are two versions of the repository around the folder `repository`: `OLD..NEW`,
/// or `OLD` for the files in the working tree, or with `staged` for what is staged; `paths` are the files and folders to analyze.
///
/// Nothing runs. An interrupt ends the levels, and then the result is that of the last whole one. Raises `TwincellError` if a version
/// cannot be read or an option is wrong.
#[pyfunction]
#[pyo3(signature = (old = None, new = None, *, git = None, staged = false, repository = None, paths = None, **options))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub fn impact(
    py: Python<'_>,
    old: Option<&Bound<'_, PyAny>>,
    new: Option<&Bound<'_, PyAny>>,
    git: Option<String>,
    staged: bool,
    repository: Option<PathBuf>,
    paths: Option<Vec<PathBuf>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyImpact> {
    let options = read_options(py, options, Job::Impact)?;
    let versions = match (old, new, git) {
        (None, None, Some(range)) => {
            let start = repository.unwrap_or_else(|| PathBuf::from("."));
            ImpactVersions::Git { start, range, staged, paths: paths.unwrap_or_default() }
        }
        (Some(old), Some(new), None) if !staged && repository.is_none() && paths.is_none() => {
            match (source::path(old)?, source::path(new)?) {
                (Some(old), Some(new)) => ImpactVersions::Paths(PerSide::new(old, new)),
                _ => ImpactVersions::Texts(PerSide::new(named(old, "old")?, named(new, "new")?)),
            }
        }
        _ => {
            return Err(raised(
                "give two versions, old and new, or git=\"OLD..NEW\" with repository, staged and paths",
            ));
        }
    };
    let (found, interrupt) = impacted(py, &versions, &options)?;
    ends_with_a_result(py, found, interrupt)
}

/// Selects the tests of a repository that may see a change. `range` is `OLD..NEW`, or `OLD` for the files in the working tree, or with
/// `staged` for what is staged; `paths` are the files and folders whose tests count. The patterns are those of pytest: `python_files`,
/// `python_functions` and `python_classes`; those of the project's `pyproject.toml` count where they are left out.
///
/// A dictionary: `root` is the folder that paths start at; `tests` has a row for each test, with its name as pytest has it, whether it
/// `runs`, the `reason` as text and the chain as data; `doubts` is what makes the selection unsure, and `run_all` says whether one of
/// them concerns every test. Nothing runs. Raises `TwincellError` if a version cannot be read.
#[pyfunction]
#[pyo3(signature = (range, repository = None, *, staged = false, paths = None, test_files = None, test_functions = None, test_classes = None))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub fn select_tests<'py>(
    py: Python<'py>,
    range: String,
    repository: Option<PathBuf>,
    staged: bool,
    paths: Option<Vec<PathBuf>>,
    test_files: Option<Vec<String>>,
    test_functions: Option<Vec<String>>,
    test_classes: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyAny>> {
    let request = SelectionRequest {
        start: repository.unwrap_or_else(|| PathBuf::from(".")),
        range,
        staged,
        paths: paths.unwrap_or_default(),
        test_files: test_files.unwrap_or_default(),
        test_functions: test_functions.unwrap_or_default(),
        test_classes: test_classes.unwrap_or_default(),
    };
    let (found, signal) = py.detach(|| {
        let mut signals = Signals::new();
        let found = selection::select_tests(&request, &mut || signals.stop());
        (found, signals.raised)
    });
    if let Some(signal) = signal {
        return Err(signal);
    }
    let found = found.map_err(raised)?;
    let report = plain(py, &selection_report(&found.selection))?;
    report.set_item("root", found.root)?;
    Ok(report)
}

/// What an object is called, and the text that it stands for.
fn named(object: &Bound<'_, PyAny>, label: &str) -> PyResult<(String, String)> {
    if let Ok(text) = object.cast::<PyString>().map_err(PyErr::from).and_then(|text| text.extract::<PathBuf>())
        && text.is_dir()
    {
        return Err(raised(format!(
            "{label} is the text {text:?}, not code: for a folder give its path, pathlib.Path({text:?})"
        )));
    }
    let source = source::read(object, label)?;
    Ok((source.label, source.text))
}

/// The impact, and the exception that ended the levels. Raises it where not one level was whole.
pub fn impacted(py: Python<'_>, versions: &ImpactVersions, options: &Options) -> PyResult<(PyImpact, Option<PyErr>)> {
    let (found, signal) = py.detach(|| {
        let mut signals = Signals::new();
        let mut watch = |_: &[_]| if signals.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let found = impact_of(versions, options, &mut watch);
        (found, signals.raised)
    });
    match (found, signal) {
        (Err(ImpactError::Ended(Failure::Stopped)), Some(signal)) => Err(signal),
        (found, signal) => Ok((PyImpact { report: found.map_err(raised)? }, signal)),
    }
}

impl PyImpact {
    fn state(&self) -> ImpactState {
        ImpactState::new(&self.report)
    }

    pub fn page(&self, title: Option<&str>) -> String {
        impact_page(&self.state(), title.unwrap_or(TITLE))
    }
}

#[pymethods]
impl PyImpact {
    /// All statements of the new version, by path and line, each as a dictionary.
    #[getter]
    fn statements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &impact_rows(&self.report))
    }

    /// The statements that only the old version has, each as a dictionary.
    #[getter]
    fn removed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.impact.removed)
    }

    /// The functions, classes and bodies of modules of the new version with the number of their statements in each state.
    #[getter]
    fn functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.impact.functions)
    }

    /// The number of statements that changed.
    #[getter]
    fn changed(&self) -> usize {
        self.report.counts().0
    }

    /// The number of other statements that may see other values.
    #[getter]
    fn impacted(&self) -> usize {
        self.report.counts().1
    }

    /// The levels of the analysis, DCIA first: `k` (`None` for DCIA), `impacted`, `procedures`, `steps` and `milliseconds` of each.
    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.impact.levels)
    }

    /// What ended the levels before the last one: `time` or `interrupt`. `None` if nothing did.
    #[getter]
    fn stopped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.stopped)
    }

    /// What the analysis does not follow: `path`, `line` and `kind` of each place.
    #[getter]
    fn unsound<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.impact.unsound)
    }

    /// Files that are not part of the analysis: `path`, `side` and `reason` of each.
    #[getter]
    fn left_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.left_out)
    }

    /// Why the statement at a line of the new version may see other values: each link of the shortest chain from a change. Or what showed
    /// that it sees the same. `file` may be left out where one file alone has a statement there. Raises `TwincellError` if there is no such statement, or if there are several.
    #[pyo3(signature = (line, file = None))]
    fn why(&self, line: &Bound<'_, PyAny>, file: Option<&str>) -> PyResult<String> {
        match line.extract::<String>() {
            Ok(text) => {
                let (path, line) = impact_place(&text).map_err(raised)?;
                impact_explanation(&self.report, path.or(file), line).map_err(raised)
            }
            Err(_) => impact_explanation(&self.report, file, line.extract()?).map_err(raised),
        }
    }

    /// All of the result as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report)
    }

    /// The same as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.report)
    }

    /// The same for a pull request.
    fn to_markdown(&self) -> String {
        impact_markdown(&self.report)
    }

    /// The impacted statements as SARIF, for code scanning.
    fn to_sarif(&self) -> String {
        impact_sarif(&self.report, env!("CARGO_PKG_VERSION"))
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
        let html = py.detach(|| impact_fragment(&self.state()));
        plain(py, &serde_json::json!({ "text/plain": self.__repr__(), "text/html": html }))
    }

    fn __repr__(&self) -> String {
        impact_text(&self.report)
    }
}
