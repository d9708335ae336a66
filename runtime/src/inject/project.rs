//! The modules of the project, as the running version has them.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::execution::state;

/// What a name in another module of the project stands for, as the running version imports it.
pub(super) fn in_project<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = project_module(py, module, name)?;
    name.split('.').try_fold(module, |found, part| found.getattr(part))
}

/// Another module of the project, as the running version imports a name from it.
pub(super) fn project_module<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let globals = state::with(|execution| Some(execution.globals.as_ref()?.clone_ref(py))).flatten();
    let builtins = globals.and_then(|globals| globals.bind(py).get_item("__builtins__").ok().flatten());
    let import = match builtins {
        Some(builtins) => builtins.get_item("__import__")?,
        None => py.import("builtins")?.getattr("__import__")?,
    };
    let parts = PyTuple::new(py, [name.split('.').next().unwrap_or(name)])?;
    import.call1((module, py.None(), py.None(), parts))
}
