//! Python's own builtins, without hooks.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::inject::questions;

static BUILTINS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// The builtins as they were at the start, since code may change those of the interpreter, with questions that know
/// injected objects.
pub(super) fn plain_builtins(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    Ok(BUILTINS
        .get_or_try_init(py, || -> PyResult<Py<PyDict>> {
            let builtins = py.import("builtins")?.getattr("__dict__")?.cast_into::<PyDict>()?.copy()?;
            questions::install(&builtins)?;
            Ok(builtins.unbind())
        })?
        .bind(py))
}

/// A builtin as it was at the start.
pub(crate) fn plain_builtin<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    plain_builtins(py)?.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_string()))
}
