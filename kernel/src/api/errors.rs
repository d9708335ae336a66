//! The exception of the library, and how it is shown.

use pyo3::call::PyCallArgs;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use twincell_widgets::plain_sentence;

create_exception!(twincell, TwincellError, PyValueError, "What was wrong and what to do, in one line.");

/// One of our errors as a Python exception.
pub fn raised(error: impl std::fmt::Display) -> PyErr {
    // What tests and files say is in some of them.
    TwincellError::new_err(plain_sentence(&error.to_string()))
}

/// Calls a function of twincell's Python code. A `TwincellError` that it raises is shown without the frames of that code.
pub fn call_python<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let outcome = py.import(module)?.call_method1(function, arguments);
    outcome.inspect_err(|error| {
        if error.is_instance_of::<TwincellError>(py) {
            error.set_traceback(py, None);
        }
    })
}
