//! The exception of the library.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(twincell, TwincellError, PyValueError, "What was wrong and what to do, in one line.");

/// One of our errors as a Python exception.
pub fn raised(error: impl std::fmt::Display) -> PyErr {
    TwincellError::new_err(error.to_string())
}
