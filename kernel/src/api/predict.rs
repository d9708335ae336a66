//! `twincell.predict`: the predictions for a text, as a Python object that notebooks can show.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_cli::listed;
use twincell_compare::Source;
use twincell_driver::options::{Job, Options};
use twincell_driver::warm;
use twincell_values::predicted::Predicted;
use twincell_widgets::{predictions_fragment, predictions_text};

use super::errors::raised;
use super::options::{print_old_spellings, read_options};
use super::plain::plain;
use super::signals::interruptible;
use super::{environment, source};
use crate::magics::{self, MagicError, MagicLine};

/// The predictions for every value site of a text.
#[pyclass(frozen, name = "Predictions", module = "twincell")]
pub struct PyPredictions {
    text: String,
    predicted: Predicted,
}

/// Predicts which values are expected where. `code` is source text, a path (`os.PathLike`), a function or a class.
/// Nothing is run.
///
/// The options are `predictor`, `model`, `device` and `cache`. Functions have predictions; code outside them has none.
/// Where part of the code is not Python, the rest has predictions, and the result's `errors` say what is wrong. Raises
/// `TwincellError` if no part of the code is Python or an option is wrong.
#[pyfunction]
#[pyo3(signature = (code, **options))]
pub fn predict(
    py: Python<'_>,
    code: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyPredictions> {
    predicted(py, source::read(code, "the code")?, &read_options(py, options, Job::Predict)?)
}

/// `%predict LINE` and `%%predict LINE`: the predictions, or help to print. `named` looks up a name of the notebook, or
/// returns it as a path.
#[pyfunction]
pub fn predict_magic(
    py: Python<'_>,
    line: &str,
    cell: Option<&str>,
    named: &Bound<'_, PyAny>,
) -> PyResult<(Option<PyPredictions>, Option<String>)> {
    let request = match magics::read_predict(line, cell.is_some()).map_err(raised)? {
        MagicLine::Run(request) => request,
        MagicLine::Help(help) => return Ok((None, Some(help))),
    };
    print_old_spellings(py, &request.options)?;
    let source = match (cell, request.code) {
        (Some(cell), _) if cell.trim().is_empty() => return Err(raised(MagicError::EmptyCell)),
        // The magic is line 1 of the cell.
        (Some(cell), _) => Source { text: format!("\n{cell}"), label: "the cell".to_owned(), ..Source::default() },
        (None, code) => source::read(&named.call1((code.unwrap_or_default(),))?, "the code")?,
    };
    Ok((Some(predicted(py, source, &request.options)?), None))
}

fn predicted(py: Python<'_>, source: Source, options: &Options) -> PyResult<PyPredictions> {
    let environment = environment::find(py)?;
    let Source { text, label, .. } = source;
    let (asked, options) = (text.clone(), options.clone());
    // A long file takes seconds.
    let predicted = interruptible(py, move |stop| warm::predict(&asked, &options, &environment, stop))?;
    if let (Some(error), true) = (predicted.errors.first(), predicted.sites.is_empty()) {
        return Err(raised(format!("{label} is not valid Python, line {}: {}", error.line, error.message)));
    }
    Ok(PyPredictions { text, predicted })
}

#[pymethods]
impl PyPredictions {
    fn __len__(&self) -> usize {
        self.predicted.sites.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py)?.call_method0("__iter__")
    }

    /// One dictionary for each value site: `function`, `start` and `end` in characters of the text, `kind`,
    /// `probabilities` of none, bool, int, float, str, list, tuple, dict, set, callable, resource and object.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &listed(&self.predicted))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py)?.get_item(index)
    }

    /// The places where the code is not Python: one dictionary for each, with `line` and `column` from 1, and
    /// `message`.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.predicted.errors)
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
            &serde_json::json!({
                "text/plain": self.__repr__(),
                "text/html": predictions_fragment(&self.text, &self.predicted),
            }),
        )
    }

    fn __repr__(&self) -> String {
        predictions_text(&self.predicted)
    }
}
