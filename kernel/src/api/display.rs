//! What a user sees while a study runs, and the user's reaction: a signal, an exception of the function that is told, or
//! its answer.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyBool;
use twincell_engine::Continue;
use twincell_study::pace::Progress;

use super::errors::raised;
use super::signals::SIGNAL_INTERVAL;

/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

pub struct Display {
    /// Called with the number of things done, their total, and a line.
    shown: Option<Py<PyAny>>,
    /// What is counted.
    things: &'static str,
    last: Progress,
    last_shown: Instant,
    asked: Instant,
    /// The exception that a signal or the callback raised.
    raised: Option<PyErr>,
    /// Whether the callback asked for the end.
    stops: bool,
}

impl Display {
    /// `progress` is a function of three arguments, `False` for nothing, and otherwise a bar.
    pub fn new(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, things: &'static str) -> PyResult<Self> {
        let shown = match progress {
            Some(progress) if progress.is_instance_of::<PyBool>() && !progress.is_truthy()? => None,
            Some(progress) if !progress.is_instance_of::<PyBool>() => {
                if !progress.is_callable() {
                    return Err(raised("progress cannot be called: give a function of three arguments, or False"));
                }
                Some(progress.clone().unbind())
            }
            _ => Some(py.import("twincell._bar")?.call_method0("StudyBar")?.unbind()),
        };
        let now = Instant::now();
        Ok(Self { shown, things, last: Progress::default(), last_shown: now, asked: now, raised: None, stops: false })
    }

    /// Tells the progress now and then, without Python's lock. Says whether the study goes on: until an exception, or until
    /// the callback answers with `True`.
    pub fn watch(&mut self, progress: &Progress) -> Continue {
        self.last = *progress;
        if self.asked.elapsed() < SIGNAL_INTERVAL {
            return Continue::Yes;
        }
        self.asked = Instant::now();
        let tell = self.last_shown.elapsed() >= PROGRESS_INTERVAL;
        if tell {
            self.last_shown = Instant::now();
        }
        Python::attach(|py| self.look(py, tell))
    }

    fn look(&mut self, py: Python<'_>, tell: bool) -> Continue {
        if self.raised.is_none() {
            let looked = py.check_signals().and_then(|()| match &self.shown {
                Some(shown) if tell => {
                    let text = self.last.text_of(self.things);
                    let answer = shown.bind(py).call1((self.last.done, self.last.total, text))?;
                    self.stops |= answer.is_instance_of::<PyBool>() && answer.is_truthy()?;
                    Ok(())
                }
                _ => Ok(()),
            });
            self.raised = looked.err();
        }
        if self.raised.is_some() || self.stops { Continue::Stop } else { Continue::Yes }
    }

    /// Removes the display. Returns the exception that ended the study, if one did.
    pub fn end(mut self, py: Python<'_>, is_done: bool) -> Option<PyErr> {
        if is_done {
            // Those who draw bars want to see their end.
            self.look(py, true);
        }
        let removed = self.shown.as_ref().map_or(Ok(()), |shown| {
            let shown = shown.bind(py);
            if shown.hasattr("end")? { shown.call_method0("end").map(drop) } else { Ok(()) }
        });
        self.raised.or(removed.err())
    }
}
