//! `twincell.Comparison`: a report as a Python object. All of it is read from the report; what executes again is in
//! `replay`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use serde::Serialize;
use twincell_core::report::Comparison;

use super::raised;
use super::replay::{self, Origin, Start};

/// What a comparison found.
#[pyclass(frozen, name = "Comparison", module = "twincell")]
pub struct PyComparison {
    report: Arc<Comparison>,
    origin: Origin,
}

impl PyComparison {
    pub fn new(report: Comparison, origin: Origin) -> Self {
        Self { report: Arc::new(report), origin }
    }

    pub fn report(&self) -> &Comparison {
        &self.report
    }
}

#[pymethods]
impl PyComparison {
    /// `changing`, `likely_preserving`, `inconclusive` or `identical`: the worst of the pairs'.
    #[getter]
    fn verdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.verdict)
    }

    /// The result in one sentence.
    #[getter]
    fn sentence(&self) -> &str {
        &self.report.sentence
    }

    /// The observed differences, as dictionaries: `channel`, `place`, `old`, `new`, `execution`.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.evidence().collect::<Vec<_>>())
    }

    /// One dictionary for each pair of functions.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.report.pairs)
    }

    /// A pytest file that shows the first change without twincell; None where there is none that holds.
    #[getter]
    fn reproducer(&self) -> Option<&str> {
        crate::reproducers::first(&self.report)
    }

    /// Executes both versions once more and gives everything about it as a dictionary: `execution` (its number, `None` with
    /// other values), `differs`, `valid`, `evidence`, `old` and `new` (`outcome`, `stdout`, `stderr`, `log`, `arguments` after the
    /// call, `hits` as (line, times)), `values` (`path`, `value`, `class`, `probability`, ...), `calls` side by side, and
    /// `reproducer`.
    ///
    /// `execution` is its `number` in `pairs[pair]["executions"]`; `None` is the one that is shown. `changes` are values to
    /// inject instead, by access path, as Python literals: `{"limit": "0"}`. `then="shrink"` makes the values small,
    /// `then="reproduce"` adds a pytest file. Raises `TwincellError` when there is no such execution, a value cannot be read,
    /// or there is no difference to work on.
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

    /// As `replay`; gives what a later call goes on from as well.
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
        let asked = replay::Asked { pair, execution, from: start, changes, then };
        let (answer, start) = replay::replay(py, &self.report, &self.origin, asked)?;
        Ok((plain(py, &answer)?, start))
    }

    /// What the interactive view shows, as JSON.
    fn _state(&self) -> PyResult<String> {
        serde_json::to_string(&twincell_widgets::state(&self.report)).map_err(raised)
    }

    /// The whole report as dictionaries, lists, texts and numbers.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.report.as_ref())
    }

    /// The whole report as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(self.report.as_ref()).map_err(raised)
    }

    /// The report as an HTML page of its own.
    fn to_html(&self) -> String {
        twincell_widgets::html_page(&self.report, "twincell")
    }

    /// Writes the report to a file: HTML or JSON, or the reproducer, by the file's ending.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let text = match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => self.to_html(),
            Some("json") => self.to_json()?,
            Some("py") => match self.reproducer() {
                Some(text) => text.to_owned(),
                None => return Err(raised("there is no reproducer to save: no change was found that has one")),
            },
            _ => {
                return Err(raised(format!(
                    "cannot save to {}: the name must end in .html, .json or .py",
                    path.display()
                )));
            }
        };
        crate::files::write_text(&path, &text).map_err(raised)
    }

    /// Shows the interactive view where there is a front end for it; IPython takes the MIME bundle elsewhere.
    fn _ipython_display_(slf: &Bound<'_, Self>) -> PyResult<()> {
        show(slf)
    }

    /// What Jupyter shows.
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

    fn __repr__(&self) -> &str {
        &self.report.sentence
    }
}

/// Shows the interactive view of a result, or says that there can be none.
pub(super) fn show(result: &Bound<'_, PyAny>) -> PyResult<()> {
    let shown = result.py().import("twincell._widget")?.call_method1("show", (result,))?;
    if shown.is_truthy()? { Ok(()) } else { Err(PyNotImplementedError::new_err("the MIME bundle will do")) }
}

/// Plain data as Python's dictionaries, lists, texts and numbers.
pub(super) fn plain<'py>(py: Python<'py>, data: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(data).map_err(raised)?;
    py.import("json")?.call_method1("loads", (json,))
}
