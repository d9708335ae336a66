//! `twincell.amplify`: tests that show a change, as a Python object.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_amplify::{Amplification, AmplifiedTest};
use twincell_compare::notice::Notice;
use twincell_driver::amplify::{Amplified, amplify_options, amplify_repository, rerun_test, revisions, write_test};
use twincell_driver::files;
use twincell_driver::options::{GivenOption, Job, Options};
use twincell_repo::Revision;
use twincell_syntax::{PerSide, Side};
use twincell_widgets::{
    Notices, amplification_fragment, amplification_markdown, amplification_page, amplification_state,
    amplification_text, notice_rows,
};

use super::comparison::show;
use super::environment;
use super::errors::raised;
use super::options::{given, print_old_spellings, warn_of_old_spellings};
use super::plain::{json, plain};
use super::signals::Signals;
use crate::magics::{self, MagicLine};

/// Tests that pass before a change and fail after it.
#[pyclass(frozen, name = "Amplification", module = "twincell")]
pub struct PyAmplification {
    found: Amplification,
    /// What is to say of the policy.
    notices: Vec<Notice>,
    asked: AmplifyRequest,
}

/// What was amplified, so that a test can run again.
struct AmplifyRequest {
    /// Absolute: a notebook may go to another folder.
    work_tree: PathBuf,
    versions: PerSide<Revision>,
    options: Options,
}

/// Makes tests that show what a change of a repository does, from the project's own tests. `repository` is any folder of it;
/// `change` is a commit, two of them as `OLD..NEW`, or `None` for what is not committed yet. With `staged`, the change is
/// what is staged.
///
/// The tests run by pytest in the project's own Python. A signal ends the search, and then the result has what was found.
/// Raises `TwincellError` if the tests cannot run or an option is wrong.
#[pyfunction]
#[pyo3(signature = (repository, change = None, *, staged = false, **options))]
pub fn amplify(
    py: Python<'_>,
    repository: PathBuf,
    change: Option<String>,
    staged: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyAmplification> {
    let (given, _) = given(py, options, Job::Amplify)?;
    Ok(amplified(py, &repository, change.as_deref(), staged, &given, warn_of_old_spellings)?.0)
}

/// What `%amplify` is to do: show the result, print a text, raise the interrupt that stopped the search. All may be absent.
#[pyclass(frozen, get_all, module = "twincell._twincell")]
#[derive(Default)]
pub struct AmplifyOutcome {
    amplification: Option<Py<PyAmplification>>,
    text: Option<String>,
    interrupt: Option<Py<PyAny>>,
}

/// `%amplify LINE`.
#[pyfunction]
pub fn amplify_magic(py: Python<'_>, line: &str) -> PyResult<AmplifyOutcome> {
    let request = match magics::read_amplify(line).map_err(raised)? {
        MagicLine::Help(text) => return Ok(AmplifyOutcome { text: Some(text), ..AmplifyOutcome::default() }),
        MagicLine::Run(request) => request,
    };
    let change = request.change.as_deref();
    let (found, interrupt) =
        amplified(py, &request.repository, change, request.staged, &request.given, print_old_spellings)?;
    if let Some(file) = &request.patch {
        files::write_text(file, &found.found.patches.new, files::TextKind::Verbatim).map_err(raised)?;
    }
    if let Some(file) = &request.html {
        files::write_text(file, &found.to_html("Amplified tests"), files::TextKind::Markup).map_err(raised)?;
    }
    let interrupt = interrupt.map(|error| error.into_value(py).into_any());
    Ok(AmplifyOutcome { amplification: Some(Py::new(py, found)?), interrupt, text: None })
}

/// The tests, and the exception of the signal that ended the search. `tell` says what is old in the options.
fn amplified(
    py: Python<'_>,
    repository: &Path,
    change: Option<&str>,
    staged: bool,
    given: &[GivenOption],
    tell: impl FnOnce(Python<'_>, &Options) -> PyResult<()>,
) -> PyResult<(PyAmplification, Option<PyErr>)> {
    let environment = environment::find(py)?;
    let versions = revisions(change, staged).map_err(raised)?;
    let (options, notices) = amplify_options(repository, &versions, given).map_err(raised)?;
    tell(py, &options)?;
    let (found, signal) = py.detach(|| {
        let mut signals = Signals::new();
        let mut progress = |_| if signals.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let found = amplify_repository(repository, &versions, &options, &environment, &mut progress);
        (found, signals.raised)
    });
    // An interrupt is what the caller has asked for, whatever it broke off.
    let (Amplified { found, work_tree }, signal) = match (found, signal) {
        (Err(_), Some(signal)) => return Err(signal),
        (found, signal) => (found.map_err(raised)?, signal),
    };
    let asked = AmplifyRequest { work_tree, versions, options };
    Ok((PyAmplification { found, notices, asked }, signal))
}

impl PyAmplification {
    fn notices(&self) -> Notices<'_> {
        Notices { all: &self.notices, allows_changes: self.asked.options.allow_policy_change }
    }

    /// All of the result, with what is to say beside it.
    fn data(&self) -> PyResult<serde_json::Value> {
        let mut data = serde_json::to_value(&self.found).map_err(raised)?;
        data["notices"] = serde_json::to_value(notice_rows(self.notices())).map_err(raised)?;
        Ok(data)
    }

    fn test(&self, number: usize) -> PyResult<&AmplifiedTest> {
        let count = self.found.tests.len();
        self.found
            .tests
            .get(number)
            .ok_or_else(|| raised(format!("there is no test {number}: there are {count}, from 0 on")))
    }
}

fn side(old: bool) -> Side {
    if old { Side::Old } else { Side::New }
}

#[pymethods]
impl PyAmplification {
    /// `found`, `nothing_found`, `not_reached` or `no_code`.
    #[getter]
    fn status(&self) -> PyResult<String> {
        let status = serde_json::to_value(self.found.status).map_err(raised)?;
        Ok(status.as_str().unwrap_or_default().to_owned())
    }

    /// The tests, the best first, each as a dictionary.
    #[getter]
    fn tests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.tests)
    }

    /// All of the result as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.data()?)
    }

    /// The same as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.data()?)
    }

    /// A patch that adds the tests: in the form that passes after the change, or in the one that passes before it.
    #[pyo3(signature = (*, old = false))]
    fn patch(&self, old: bool) -> &str {
        if old { &self.found.patches.old } else { &self.found.patches.new }
    }

    /// Runs a test once more, in a new process of pytest for each version, and returns its outcomes before and after the
    /// change: `passed`, `failed`. `old` is the form that passes before the change. Raises `TwincellError` if the test has no
    /// such form or cannot run.
    #[pyo3(signature = (test, *, old = false))]
    fn run_test<'py>(&self, py: Python<'py>, test: usize, old: bool) -> PyResult<Bound<'py, PyAny>> {
        let (test, environment) = (self.test(test)?, environment::find(py)?);
        let AmplifyRequest { work_tree, versions, options } = &self.asked;
        let (ran, signal) = py.detach(|| {
            let mut signals = Signals::new();
            let mut progress = |_| if signals.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            let ran = rerun_test(work_tree, versions, options, &environment, test, side(old), &mut progress);
            (ran, signals.raised)
        });
        if let Some(signal) = signal {
            return Err(signal);
        }
        match ran.map_err(raised)? {
            Some(outcomes) => plain(py, &outcomes),
            None => Err(raised("the test has no such form, or its module is not there any more")),
        }
    }

    /// Adds a test to its file in the repository, and returns the path of the file. `old` is the form that passes before the
    /// change. Raises `TwincellError` if the test has no such form, if the file has changed so that it has no place, or if
    /// the file is not UTF-8 or lies elsewhere behind a link.
    #[pyo3(signature = (test, *, old = false))]
    fn write_test(&self, test: usize, old: bool) -> PyResult<String> {
        write_test(&self.asked.work_tree, self.test(test)?, side(old)).map_err(raised)
    }

    /// What the interactive view shows, as JSON.
    fn _state(&self) -> PyResult<String> {
        serde_json::to_string(&amplification_state(&self.found)).map_err(raised)
    }

    /// Shows the interactive view where there is a front end for it. Elsewhere IPython uses the MIME bundle.
    fn _ipython_display_(slf: &Bound<'_, Self>) -> PyResult<()> {
        show(slf)
    }

    /// The same for a pull request.
    fn to_markdown(&self) -> String {
        amplification_markdown(&self.found, self.notices())
    }

    /// The same as a page of its own.
    #[pyo3(signature = (title = "Amplified tests"))]
    fn to_html(&self, title: &str) -> String {
        amplification_page(&self.found, self.notices(), title)
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
        plain(
            py,
            &serde_json::json!({ "text/plain": self.__repr__(), "text/html": amplification_fragment(&self.found, self.notices()) }),
        )
    }

    fn __repr__(&self) -> String {
        amplification_text(&self.found, self.notices())
    }
}
