//! The native half of `python -m twincell.worker`.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use twincell_runtime::worker::{PythonHost, Setup, serve};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_worker, module)?)
}

/// Locks this process and serves the engine until it says to exit. The interpreter is held throughout, so that threads
/// of foreign code stand still between executions.
#[pyfunction]
fn serve_worker(socket: i32, scratch: PathBuf, readable: Vec<PathBuf>, memory_bytes: u64) -> PyResult<()> {
    let python = Python::version_str().split_whitespace().next().unwrap_or_default().to_string();
    let setup = Setup { socket, scratch: scratch.clone(), readable, memory_bytes, python };
    let mut host = PythonHost::new(scratch).map_err(PyRuntimeError::new_err)?;
    serve(&setup, &mut host).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
