//! `sys.stdout` and `sys.stderr` of cells, which `print` calls. The path is therefore as short as possible.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jupyter_protocol::Stdio;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::capture;
use super::iopub::Publisher;
use super::requests::ShellRequest;
use super::service::Service;

/// How long to wait for room or an answer before checking for signals.
pub const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Writes to one of the two streams.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct StreamWriter {
    service: Arc<Service>,
    name: Stdio,
    /// Returns the request to which the running task or thread belongs, or `None`.
    known: Py<PyAny>,
    /// Like `known`, for a thread that has not written before.
    adopt: Py<PyAny>,
    /// Whether a line begins. Only then is it worth checking for text that C code wrote in between.
    line_begins: AtomicBool,
}

impl StreamWriter {
    pub fn new(service: Arc<Service>, name: Stdio, known: Py<PyAny>, adopt: Py<PyAny>) -> Self {
        Self { service, name, known, adopt, line_begins: AtomicBool::new(true) }
    }

    fn append(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        if text.is_empty() {
            return Ok(());
        }
        if capture::is_forked() {
            return Ok(py.detach(|| capture::write_in_child(&self.name, text))?);
        }
        if self.line_begins.swap(text.ends_with('\n'), Ordering::Relaxed) {
            self.service.drain_capture();
        }
        self.service.record.add(&self.name, text);
        let mut request = self.known.bind(py).call0()?;
        if request.is_none() {
            request = self.adopt.bind(py).call0()?;
        }
        match request.cast::<ShellRequest>() {
            Ok(request) => self.service.publisher.stream(self.name.clone(), text, request.get().message()),
            Err(_) => self.service.publisher.stream(self.name.clone(), text, None),
        }
        wait_while_congested(py, &self.service.publisher)
    }
}

#[pymethods]
impl StreamWriter {
    /// Appends a text and returns its length. Invalid Unicode becomes question marks.
    fn write(&self, text: &Bound<'_, PyAny>) -> PyResult<usize> {
        let Ok(text) = text.cast::<PyString>() else {
            let kind = text.get_type().name()?;
            return Err(PyTypeError::new_err(format!("write() argument must be str, not {kind}")));
        };
        match text.to_str() {
            Ok(whole) => self.append(text.py(), whole)?,
            Err(_) => {
                let bytes: Vec<u8> = text.call_method1("encode", ("utf-8", "replace"))?.extract()?;
                self.append(text.py(), &String::from_utf8_lossy(&bytes))?;
            }
        }
        text.len()
    }
}

/// Waits until clients have taken most of the text on its way. An interrupt ends the wait.
pub fn wait_while_congested(py: Python<'_>, publisher: &Publisher) -> PyResult<()> {
    while publisher.is_congested() {
        py.detach(|| publisher.wait_for_room(SIGNAL_INTERVAL));
        py.check_signals()?;
    }
    Ok(())
}
