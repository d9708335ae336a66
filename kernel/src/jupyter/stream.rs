//! `sys.stdout` and `sys.stderr` of cells: what `print` calls, and therefore as short a way as there is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jupyter_protocol::Stdio;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::capture;
use super::python::{Request, wait_while_congested};
use super::service::Service;

/// Bytes of a cell's output that are remembered.
const RECORD_LIMIT: usize = 1 << 20;

/// What a cell wrote, for IPython's history: it exports notebooks from there.
#[derive(Default)]
pub struct Record {
    is_on: AtomicBool,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    pieces: Vec<(&'static str, String)>,
    size: usize,
}

impl Record {
    /// Turns recording on or off. Returns whether it was on.
    pub fn switch(&self, on: bool) -> bool {
        self.is_on.swap(on, Ordering::Relaxed)
    }

    /// What was written since the last call, by stream.
    pub fn take(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut *self.lock()).pieces
    }

    fn add(&self, name: &Stdio, text: &str) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let mut written = self.lock();
        if written.size > RECORD_LIMIT {
            return;
        }
        written.size += text.len();
        let name = if matches!(name, Stdio::Stderr) { "stderr" } else { "stdout" };
        match written.pieces.last_mut() {
            Some((last, piece)) if *last == name => piece.push_str(text),
            _ => written.pieces.push((name, text.to_owned())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes to one of both streams.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct StreamWriter {
    service: Arc<Service>,
    name: Stdio,
    /// Returns the request that the running task or thread belongs to, or `None`.
    known: Py<PyAny>,
    /// As `known`, for a thread that has not written before.
    adopt: Py<PyAny>,
    /// Whether a line begins: only then is it worth looking for what C code wrote in between.
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
        match request.cast::<Request>() {
            Ok(request) => self.service.publisher.stream(self.name.clone(), text, request.get().message()),
            Err(_) => self.service.publisher.stream(self.name.clone(), text, None),
        }
        wait_while_congested(py, &self.service.publisher)
    }
}

#[pymethods]
impl StreamWriter {
    /// Appends a text and returns its length. What is no valid Unicode becomes question marks.
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
