//! What a user sees while a study or a search runs, and the user's reaction: a signal, an exception of the function that is
//! told, or its answer.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use twincell_engine::Continue;
use twincell_study::pace::Progress;
use twincell_widgets::ProgressLine;

use super::errors::raised;
use super::signals::SIGNAL_INTERVAL;

/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

pub struct Display {
    /// Called with the number of things done, their total, a line, and the stage of work that has several.
    shown: Option<Py<PyAny>>,
    /// Whether that is our bar, which also takes what the interactive view shows.
    is_bar: bool,
    last: ProgressLine,
    /// What the interactive view shows, as JSON, where it is not the line.
    state: Option<String>,
    last_shown: Instant,
    asked: Instant,
    /// The exception that a signal or the callback raised.
    raised: Option<PyErr>,
    /// Whether the callback asked for the end.
    stops: bool,
}

impl Display {
    /// `progress` is a function, `False` for nothing, and otherwise a bar.
    pub fn new(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let is_own = |progress: &&Bound<'_, PyAny>| progress.is_instance_of::<PyBool>();
        let is_bar = progress.as_ref().is_none_or(is_own);
        let shown = match progress {
            Some(progress) if is_own(&progress) && !progress.is_truthy()? => None,
            Some(progress) if !is_own(&progress) => {
                if !progress.is_callable() {
                    return Err(raised("progress cannot be called: give a function, or False"));
                }
                Some(progress.clone().unbind())
            }
            _ => Some(py.import("twincell._bar")?.call_method0("StudyBar")?.unbind()),
        };
        let now = Instant::now();
        let last = ProgressLine::default();
        Ok(Self { shown, is_bar, last, state: None, last_shown: now, asked: now, raised: None, stops: false })
    }

    /// Tells the progress now and then, without Python's lock. Says whether the work goes on: until an exception, or until
    /// the callback answers with `True`.
    pub fn watch(&mut self, progress: ProgressLine) -> Continue {
        self.watch_with(progress, None)
    }

    /// The same with the state of the interactive view.
    pub fn watch_with(&mut self, progress: ProgressLine, state: Option<String>) -> Continue {
        (self.last, self.state) = (progress, state);
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
                    let ProgressLine { done, total, text, stage } = &self.last;
                    let answer = match stage {
                        _ if self.is_bar => shown.bind(py).call1((done, total, text, &self.state))?,
                        Some(stage) => shown.bind(py).call1((done, total, text, stage))?,
                        None => shown.bind(py).call1((done, total, text))?,
                    };
                    self.stops |= answer.is_instance_of::<PyBool>() && answer.is_truthy()?;
                    Ok(())
                }
                _ => Ok(()),
            });
            self.raised = looked.err();
        }
        if self.raised.is_some() || self.stops { Continue::Stop } else { Continue::Yes }
    }

    /// Removes the display. Returns the exception that ended the work, if one did.
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

/// The content of the bar of a study of some things.
pub fn study_line(now: &Progress, things: &str) -> ProgressLine {
    ProgressLine { done: now.done, total: now.total, text: now.text_of(things), stage: None }
}

/// The same for searches in histories.
pub fn go_on(answer: Continue) -> ControlFlow<()> {
    match answer {
        Continue::Yes => ControlFlow::Continue(()),
        Continue::Stop => ControlFlow::Break(()),
    }
}

/// A result of the library where an exception may have ended the work: an interrupt leaves what was found, and another exception is
/// one of the callback.
pub fn ends_with_a_result<T>(py: Python<'_>, found: T, raised: Option<PyErr>) -> PyResult<T> {
    match raised {
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        _ => Ok(found),
    }
}
