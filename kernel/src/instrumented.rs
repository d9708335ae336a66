//! Instrumented modules in an ordinary Python, with hooks that pass everything through. They show that instrumentation
//! does not change behavior (`tests/engine/transparency`).

use pyo3::exceptions::PySyntaxError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use twincell_runtime::hooks;
use twincell_syntax::instrument::instrument_module;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(instrumented, module)?)?;
    module.add_function(wrap_pyfunction!(install_hooks, module)?)
}

/// A module's text with every function instrumented, and the identifiers of its sites.
#[pyfunction]
fn instrumented(source: &str) -> PyResult<(String, Vec<String>)> {
    let result = instrument_module(source).map_err(|error| PySyntaxError::new_err(error.to_string()))?;
    Ok((result.code, result.sites.sites.into_iter().map(|site| site.identifier).collect()))
}

/// Gives instrumented code its hooks.
#[pyfunction]
fn install_hooks(globals: &Bound<'_, PyDict>, identifiers: Vec<Py<PyString>>) -> PyResult<()> {
    hooks::install(globals, identifiers)
}
