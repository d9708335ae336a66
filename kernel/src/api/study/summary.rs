//! `study.summary()` as a Python object.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use twincell_study::finding::Finding;
use twincell_study::summary::Summary;

use crate::api::errors::raised;
use crate::api::plain::plain;

/// The figures of a study. They print as the command prints them, and read like a dictionary.
#[pyclass(frozen, mapping, name = "StudySummary", module = "twincell")]
pub struct PySummary {
    text: String,
    figures: serde_json::Map<String, serde_json::Value>,
}

impl PySummary {
    pub fn new(findings: &[Finding]) -> PyResult<Self> {
        let summary = Summary::of(findings);
        let figures = match serde_json::to_value(&summary).map_err(raised)? {
            serde_json::Value::Object(figures) => figures,
            _ => Default::default(),
        };
        Ok(Self { text: summary.text().trim_end().to_owned(), figures })
    }
}

#[pymethods]
impl PySummary {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.figures.get(name) {
            Some(figure) => plain(py, figure),
            None => {
                Err(PyKeyError::new_err(format!("there is no figure {name}; there are {}", self.keys().join(", "))))
            }
        }
    }

    fn keys(&self) -> Vec<String> {
        self.figures.keys().cloned().collect()
    }

    fn __len__(&self) -> usize {
        self.figures.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
        self.keys().into_pyobject(py)?.try_iter()
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.figures)
    }

    fn __repr__(&self) -> &str {
        &self.text
    }
}
