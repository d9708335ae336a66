//! Python's signals while work of ours goes on: Ctrl-C stops it.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use twincell_driver::failure::Failure;
use twincell_driver::waiting;
use twincell_engine::Stop;

use super::errors::raised;

/// How often Python is asked whether a signal has come.
pub const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Does work on its own thread. A signal stops it and becomes the error.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let mut signal = None;
    let mut interrupted = || {
        signal = Python::attach(|py| py.check_signals()).err();
        signal.is_some()
    };
    let done = py.detach(|| waiting::interruptible(work, &mut interrupted));
    match signal {
        Some(signal) => Err(signal),
        None => done.map_err(raised),
    }
}

/// Asks Python for signals now and then, and keeps the exception that they raised.
pub struct Signals {
    last: Instant,
    pub raised: Option<PyErr>,
}

impl Signals {
    pub fn new() -> Self {
        Self { last: Instant::now(), raised: None }
    }

    /// Whether the work should stop.
    pub fn stop(&mut self) -> bool {
        if self.raised.is_none() && self.last.elapsed() >= SIGNAL_INTERVAL {
            self.last = Instant::now();
            self.raised = Python::attach(|py| py.check_signals()).err();
        }
        self.raised.is_some()
    }
}
