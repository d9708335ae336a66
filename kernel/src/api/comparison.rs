//! `twincell.Comparison`: a report as a Python object. Everything is read from the report. `replay` executes again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use twincell_compare::Then;
use twincell_compare::report::Comparison;
use twincell_driver::blame::{BlameRequest, WitnessOf, WitnessRequest, blame_witness, witness_request};
use twincell_driver::options::Job;
use twincell_driver::{files, reproducers};
use twincell_syntax::{PerSide, Side};
use twincell_widgets::{comparison_json, wording};

use super::blame::{PyBlame, blamed, watched};
use super::display::ends_with_a_result;
use super::errors::{call_python, raised};
use super::options::read_options;
use super::plain::{json, plain};
use super::replay::{self, Origin, Start};
use super::tables;

/// The result of a comparison.
#[pyclass(frozen, name = "Comparison", module = "twincell")]
pub struct PyComparison {
    report: Arc<Comparison>,
    origin: Origin,
    /// The folder from which files were named.
    folder: PathBuf,
}

impl PyComparison {
    pub fn new(report: Comparison, origin: Origin) -> Self {
        let folder = std::env::current_dir().unwrap_or_default();
        Self { report: Arc::new(report), origin, folder }
    }

    pub fn report(&self) -> &Comparison {
        &self.report
    }
}

#[pymethods]
impl PyComparison {
    /// `changing`, `likely_preserving`, `inconclusive` or `identical`: the worst verdict of the pairs.
    #[getter]
    fn verdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.verdict)
    }

    /// The result in one sentence.
    #[getter]
    fn sentence(&self) -> String {
        wording::comparison(&self.report)
    }

    /// The observed differences, as dictionaries: `channel`, `place`, `old`, `new`, `execution`.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.evidence().collect::<Vec<_>>())
    }

    /// One dictionary for each pair of functions.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &comparison_json(&self.report).pairs)
    }

    /// A pytest file that shows the first change without twincell, or None where none holds.
    #[getter]
    fn reproducer(&self) -> Option<&str> {
        reproducers::first(&self.report)
    }

    /// Executes both versions once more and returns all details as a dictionary: `execution` (its number, `None` with
    /// other values), `differs`, `valid`, `evidence`, `old` and `new` (`outcome`, `stdout`, `stderr`, `log`,
    /// `arguments` after the call, `hits` as (line, times)), `values` (`path`, `value`, `class`, `probability`, ...),
    /// `calls` side by side, and `reproducer`.
    ///
    /// `execution` is a `number` in `pairs[pair]["executions"]`; `None` means the execution that the report shows.
    /// `changes` are other values to inject, by access path, as Python literals: `{"limit": "0"}`. `then="shrink"`
    /// shrinks the values, and `then="reproduce"` adds a pytest file. Raises `TwincellError` if there is no such
    /// execution, if a value cannot be read, or if there is no difference to shrink or reproduce.
    #[pyo3(signature = (execution = None, changes = None, *, pair = 0, then = "show"))]
    fn replay<'py>(
        &self,
        py: Python<'py>,
        execution: Option<u32>,
        changes: Option<BTreeMap<String, String>>,
        pair: usize,
        then: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self._replay(py, execution, changes, pair, then, None).map(|(answer, _)| answer)
    }

    /// The same comparison with an execution on values of yours as its example: the sentence, the evidence, the values and
    /// the test of the pair tell of it. This comparison stays as it is.
    ///
    /// `changes` are values by access path, as Python literals, or `object()`: `{"self.shop.discount": "20"}`. A path may
    /// go on from one where an object was injected. `execution` has the other values; `None` means the execution that the
    /// report shows. Raises `TwincellError` if both versions do the same, or if what differs does not count.
    #[pyo3(signature = (changes = None, execution = None, *, pair = 0))]
    fn with_example(
        &self,
        py: Python<'_>,
        changes: Option<BTreeMap<String, String>>,
        execution: Option<u32>,
        pair: usize,
    ) -> PyResult<Self> {
        self._with_example(py, execution, changes, pair, None)
    }

    /// Finds the commit since which the newer version gives the value of the witness, or with `old` the older one. Both have to
    /// be files, one of them in a git repository, and the search begins at the newest commit with this very text. `range` is
    /// `OLD..NEW`, and `pair` the number of a pair; `None` means the first one that differs, one whose witness is a call with
    /// literals before others. `progress` and the options are those of `twincell.blame`.
    ///
    /// Other witnesses run on their values, as in the comparison: each commit's function beside that of the newer end. There, only what
    /// the witness shows counts: how the function ends, or what it changes, writes or calls.
    ///
    /// Raises `TwincellError` if no execution shows a difference, or if no commit has the version.
    #[pyo3(signature = (range = None, *, old = false, pair = None, progress = None, **options))]
    fn blame(
        &self,
        py: Python<'_>,
        range: Option<String>,
        old: bool,
        pair: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyBlame> {
        let options = read_options(py, options, Job::Blame)?;
        let side = if old { Side::Old } else { Side::New };
        let sources = PerSide::new(&self.origin.old, &self.origin.new);
        let asked = witness_request(&self.report, sources, &self.folder, side, pair).map_err(raised)?;
        let (found, interrupt) = match asked {
            WitnessRequest::Call(request) => blamed(py, &BlameRequest { range, ..request }, &options, progress)?,
            WitnessRequest::Values { request, pair } => {
                let origin = &self.origin;
                let pair = replay::of_number(&self.report, pair)?;
                let of = WitnessOf { pair, side, options: &origin.options, given: &origin.given };
                let request = BlameRequest { range, ..request };
                watched(py, progress, |environment, tell| blame_witness(&request, of, &options, environment, tell))?
            }
        };
        ends_with_a_result(py, found, interrupt)
    }

    /// Runs old, then new in the debugger of JupyterLab, on the values of an execution. The code runs in this kernel,
    /// outside of the sandbox. It stops at the first changed line that the execution runs in each version.
    ///
    /// `execution` and `changes` are as in `replay`. Raises `TwincellError`, and runs nothing, if the debugger is not
    /// turned on or not installed, if the kernel is another one, or if there is no test of the execution.
    #[pyo3(signature = (execution = None, changes = None, *, pair = 0))]
    fn debug(
        slf: &Bound<'_, Self>,
        execution: Option<u32>,
        changes: Option<BTreeMap<String, String>>,
        pair: usize,
    ) -> PyResult<()> {
        call_python(slf.py(), "twincell._debug_run", "debug", (slf, execution, changes, pair)).map(drop)
    }

    /// Like `with_example`, from the start that a replay gave.
    fn _with_example(
        &self,
        py: Python<'_>,
        execution: Option<u32>,
        changes: Option<BTreeMap<String, String>>,
        pair: usize,
        start: Option<Start>,
    ) -> PyResult<Self> {
        let changes = changes.unwrap_or_default();
        let request = replay::ReplayRequest { pair, execution, from: start, changes, then: Then::Headline };
        let report = replay::with_example(py, &self.report, &self.origin, request)?;
        Ok(Self { report: Arc::new(report), origin: self.origin.clone(), folder: self.folder.clone() })
    }

    /// Like `replay`, but also returns the start for a later call.
    fn _replay<'py>(
        &self,
        py: Python<'py>,
        execution: Option<u32>,
        changes: Option<BTreeMap<String, String>>,
        pair: usize,
        then: &str,
        start: Option<Start>,
    ) -> PyResult<(Bound<'py, PyAny>, Start)> {
        let (changes, then) = (changes.unwrap_or_default(), replay::then(then)?);
        let request = replay::ReplayRequest { pair, execution, from: start, changes, then };
        let (answer, start) = replay::replay(py, &self.report, &self.origin, request)?;
        Ok((plain(py, &answer)?, start))
    }

    /// The state of the interactive view, as JSON.
    fn _state(&self) -> PyResult<String> {
        serde_json::to_string(&twincell_widgets::state(&self.report)).map_err(raised)
    }

    /// The whole report as dictionaries, lists, strings and numbers.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &comparison_json(&self.report))
    }

    /// The executions that are kept, for whoever takes Arrow: `polars.DataFrame(comparison)`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        tables::stream_of_batches(py, vec![tables::executions(&self.report).map_err(raised)?])
    }

    /// The whole report as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&comparison_json(&self.report))
    }

    /// The report as a complete HTML page.
    fn to_html(&self) -> String {
        twincell_widgets::html_page(&self.report, "twincell")
    }

    /// Writes the report to a file. Its ending selects HTML, JSON or the reproducer.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let (text, kind) = match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => (self.to_html(), files::TextKind::Markup),
            Some("json") => (self.to_json()?, files::TextKind::Json),
            Some("py") => match self.reproducer() {
                Some(text) => (text.to_owned(), files::TextKind::Python),
                None => return Err(raised("there is no reproducer to save: no change has one")),
            },
            _ => {
                return Err(raised(format!(
                    "cannot save to {}: the name must end in .html, .json or .py",
                    path.display()
                )));
            }
        };
        files::write_text(&path, &text, kind).map_err(raised)
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
        plain(py, &twincell_widgets::mime_bundle(&self.report))
    }

    fn __repr__(&self) -> String {
        self.sentence()
    }
}

/// Shows the interactive view of a result. Returns whether that was possible.
pub(super) fn show(result: &Bound<'_, PyAny>) -> PyResult<()> {
    let shown = result.py().import("twincell._widget")?.call_method1("show", (result,))?;
    if shown.is_truthy()? { Ok(()) } else { Err(PyNotImplementedError::new_err("the MIME bundle will do")) }
}
