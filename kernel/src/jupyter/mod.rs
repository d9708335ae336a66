//! The Jupyter kernel's side of Rust: sockets, signatures, ordering, interrupts.
//!
//! [`zmtp`] moves frames, [`wire`] knows the format of messages, [`service`] owns the sockets, [`iopub`] the broadcasts,
//! [`queue`] what waits for Python, [`capture`] what is written to file descriptors, [`process`] signals and the parent.
//! [`python`] and [`stream`] are all that Python sees, [`json`] turns its values into messages. Cells do not run here:
//! Python's main thread takes requests from the queue and runs them in IPython.

mod capture;
mod iopub;
mod json;
mod process;
mod python;
mod queue;
mod service;
mod stream;
mod wire;
mod zmtp;

use pyo3::prelude::*;

/// Adds the kernel's classes to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<python::Connection>()?;
    module.add_class::<python::Request>()?;
    module.add_class::<python::Requests>()?;
    module.add_class::<stream::StreamWriter>()
}

/// Writes a line to the terminal that the kernel was started from.
fn log(line: &str) {
    let line = format!("twincell kernel: {line}\n");
    // SAFETY: a buffer of its own and its length. Nobody is left to be told when the terminal is closed.
    unsafe {
        libc::write(capture::terminal(), line.as_ptr().cast(), line.len());
    }
}
