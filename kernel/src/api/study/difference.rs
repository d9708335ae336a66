//! `study.diff(other)` as a Python object.

use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::json;
use twincell_widgets::{Differences, differences_fragment, differences_text};

use super::plot::PyPlot;
use crate::api::plain::plain;

/// The differences between two studies. A notebook shows them as a table.
#[pyclass(frozen, name = "StudyDifference", module = "twincell")]
pub struct PyDifference {
    found: Differences,
}

impl PyDifference {
    pub fn new(found: Differences) -> Self {
        Self { found }
    }
}

#[pymethods]
impl PyDifference {
    /// Rows that differ.
    fn __len__(&self) -> usize {
        self.found.rows.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.rows(py)?.try_iter()
    }

    /// One dictionary for each change that differs: `id`, and `verdict`, `reason` and `evidence` of both, as lists of
    /// two.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.rows)
    }

    /// How many there are: `both` (changes that both studies have), `verdict`, `evidence` (only the evidence differs),
    /// `only_first`, `only_second`, and `moves`, a list of (first verdict, second verdict, count).
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let verdict = self.found.verdicts();
        let [first, second] = &self.found.only;
        plain(
            py,
            &json!({
                "both": self.found.both,
                "verdict": verdict,
                "evidence": self.found.rows.len() - verdict,
                "only_first": first.len(),
                "only_second": second.len(),
                "moves": self.found.moves(),
            }),
        )
    }

    /// The ids of the changes that only one of the two studies has: a list for each.
    #[getter]
    fn only<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.found.only)
    }

    /// How many changes each study knew to differ after so many executions. `names` are those of the two studies.
    #[pyo3(signature = (names = ["first".to_owned(), "second".to_owned()]))]
    fn plot(&self, names: [String; 2]) -> PyPlot {
        PyPlot::of(self.found.plot(names.each_ref().map(String::as_str)))
    }

    fn _repr_html_(&self) -> String {
        differences_fragment(&self.found)
    }

    fn __repr__(&self) -> String {
        differences_text(&self.found).trim_end().to_owned()
    }
}
