//! The Jupyter kernel's side of Rust: sockets, signatures, ordering, interrupts.
//!
//! [`zmtp`] moves frames, [`wire`] knows the format of messages, [`service`] owns the sockets, [`iopub`] the broadcasts,
//! [`queue`] what waits for Python, [`capture`] what is written to file descriptors, [`process`] signals and the parent,
//! [`terminal`] the terminal that the kernel was started from. [`connection`], [`requests`] and [`stream`] are all that
//! Python sees, [`recorded`] keeps what cells write for its history, [`json`] turns its values into messages. Cells do not
//! run here: Python's main thread takes requests from the queue and runs them in IPython.

mod buffers;
mod capture;
mod connection;
mod iopub;
mod json;
mod process;
mod queue;
mod recorded;
mod requests;
mod service;
mod stream;
mod terminal;
mod wire;
mod zmtp;

use pyo3::prelude::*;

/// Adds the kernel's classes to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PROTOCOL_VERSION", wire::PROTOCOL_VERSION)?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<requests::ShellRequest>()?;
    module.add_class::<requests::Requests>()?;
    module.add_class::<stream::StreamWriter>()
}
