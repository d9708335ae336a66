//! The native half of `twincell.worker`.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use twincell_engine::projects_beside;
use twincell_runtime::worker::{PythonHost, Setup, serve};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_worker, module)?)
}

/// Locks this process in, calls `finish`, and forks workers for the engine until it closes the connection. The interpreter is
/// held throughout, so that threads of foreign code in a worker stand still between executions.
#[pyfunction]
fn serve_worker(
    socket: i32,
    folder: PathBuf,
    mut readable: Vec<PathBuf>,
    listable: Vec<PathBuf>,
    finish: Py<PyAny>,
    incomplete: bool,
) -> PyResult<()> {
    readable.extend(projects_beside(&folder));
    let python = Python::version_str().split_whitespace().next().unwrap_or_default().to_string();
    let setup = Setup { socket, folder: folder.clone(), readable, listable, python, incomplete };
    serve(&setup, &mut PythonHost::new(folder, finish)).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
