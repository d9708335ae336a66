//! The Jupyter kernel's side of Rust: sockets, signatures, ordering, interrupts.
//!
//! [`wire`] knows the format, [`service`] owns the sockets, [`iopub`] the broadcasts, [`queue`] what waits for Python,
//! [`process`] signals and the parent, [`python`] is all that Python sees. Cells do not run here: Python's main thread
//! takes requests from the queue and runs them in IPython.

mod iopub;
mod process;
mod python;
mod queue;
mod service;
mod wire;

use pyo3::prelude::*;

/// Adds the kernel's classes to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<python::Connection>()?;
    module.add_class::<python::Request>()
}

/// Writes a line to the terminal that the kernel was started from.
fn log(line: &str) {
    use std::io::Write;
    // Nobody is left to be told when stderr is closed.
    let _ = writeln!(std::io::stderr(), "twincell kernel: {line}");
}
