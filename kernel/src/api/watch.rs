//! A comparison that Python watches: signals stop it, and it reports progress while it runs.
//!
//! The comparison runs on its own thread, without Python. Meanwhile the calling thread handles signals and progress.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use twincell_compare::{Continue, Progress, Source};
use twincell_driver::failure::Failure;
use twincell_driver::given::GivenValues;
use twincell_driver::options::Options;
use twincell_driver::waiting::{INTERVAL, STACK};
use twincell_driver::warm::Engine;
use twincell_engine::Stop;

use super::comparison::PyComparison;
use super::environment;
use super::errors::raised;
use super::replay::Origin;

/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// How long a stopped comparison may take to report what it found. It takes a few milliseconds, but the machine may be
/// busy. Only a second interrupt ends the wait earlier.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// A comparison, and the exception that a signal raised while it ran.
pub struct Watched {
    pub comparison: PyComparison,
    pub interrupt: Option<PyErr>,
}

/// Compares two texts. `progress` is called with a [`Progress`] as `(pair, pairs, executions, budget, coverage)`, pairs
/// counted from zero. If it returns `True`, the comparison ends with what was found, or with `KeyboardInterrupt` if
/// nothing was. An interrupt also ends the comparison. It is returned with what was found so far, or is the error if
/// nothing was.
pub fn watch(
    py: Python<'_>,
    old: Source,
    new: Source,
    options: &Options,
    given: GivenValues,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Watched> {
    let environment = environment::find(py)?;
    let (stop, latest) = (Stop::default(), Arc::new(Mutex::new(None::<Progress>)));
    let (sender, receiver) = mpsc::channel();
    // Shared with nobody: this is what lets Python go while waiting.
    let receiver = Mutex::new(receiver);
    let work = {
        let (options, stop, latest) = (options.clone(), stop.clone(), latest.clone());
        let (old, new, given) = (old.clone(), new.clone(), given.clone());
        move || -> Result<_, Failure> {
            let engine = Engine::warm(&options, &environment)?.stopped_by(&stop);
            let mut options = options.for_core();
            let _files = given.hand_over(&engine, &mut options)?;
            engine.compare(&old, &new, &options, &mut |now| {
                *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                if stop.is_asked() { Continue::Stop } else { Continue::Yes }
            })
        }
    };
    let thread = std::thread::Builder::new().name("twincell-compare".into()).stack_size(STACK);
    thread
        .spawn(move || {
            // Nobody listens any more when the caller did not want to wait.
            let _ = sender.send(work());
        })
        .map_err(|error| raised(format!("a thread cannot be started: {error}")))?;

    let mut interrupt: Option<(PyErr, Instant)> = None;
    let mut last_shown = Instant::now();
    let result = loop {
        match py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(INTERVAL)) {
            Ok(result) => break result,
            Err(RecvTimeoutError::Disconnected) => break Err(Failure::Internal("the comparison ended".into())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match &interrupt {
            Some((_, since)) if since.elapsed() > STOP_GRACE || py.check_signals().is_err() => {
                break Err(Failure::Stopped);
            }
            Some(_) => {}
            None => {
                let mut signal = py.check_signals();
                if signal.is_ok() && last_shown.elapsed() >= PROGRESS_INTERVAL {
                    last_shown = Instant::now();
                    signal = tell(&latest, progress).map(|stops| {
                        if stops {
                            stop.ask()
                        }
                    });
                }
                if let Err(signal) = signal {
                    stop.ask();
                    interrupt = Some((signal, Instant::now()));
                }
            }
        }
    };
    let interrupt = interrupt.map(|(signal, _)| signal).or_else(|| py.check_signals().err());
    match (result, interrupt) {
        (Ok(report), interrupt) => {
            let origin = Origin { old, new, options: options.clone(), given };
            Ok(Watched { comparison: PyComparison::new(report, origin), interrupt })
        }
        (Err(_), Some(interrupt)) => Err(interrupt),
        (Err(Failure::Stopped), None) => Err(PyKeyboardInterrupt::new_err("stopped")),
        (Err(failure), None) => Err(raised(failure)),
    }
}

/// Whether the comparison shall stop.
fn tell(latest: &Mutex<Option<Progress>>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    let now = *latest.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(now), Some(progress)) = (now, progress) else { return Ok(false) };
    let answer = progress.call1((now.pair, now.pairs, now.executions, now.budget, now.coverage))?;
    answer.is_truthy()
}
