//! A clock of the worker's own: it gives the same readings in every run, and waiting takes no time.
//!
//! The functions of `time` are replaced once for each process. Each run starts at the same moment, and every reading is
//! later than the one before. When a version is repeated in one execution, the clock starts elsewhere and runs faster,
//! so that a dependence on time shows as nondeterminism. An event loop that waits moves the clock instead. Real waiting
//! happens only for threads of the code, and not for long. `datetime.now` and similar functions are methods of a
//! builtin class and cannot be replaced. Instrumented code that calls them gets this clock's time.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple, PyType};

const SOURCE: &std::ffi::CStr = cr"
import _thread, asyncio, concurrent.futures.thread, selectors, sys, time

_EPOCH = 1_700_000_000.0
_elapsed = 0.0
_step = 0.001
_gmtime, _localtime, _ctime, _strftime, _asctime = time.gmtime, time.localtime, time.ctime, time.strftime, time.asctime

def reset(again):
    global _elapsed, _step
    _elapsed = 4321.0 * again
    _step = 0.001 * (1 + again)

def _tick():
    global _elapsed
    _elapsed += _step
    return _elapsed

def now():
    return _EPOCH + _tick()

_started, _own, _frames = _thread._count, _thread.get_ident, sys._current_frames
_real, _pause = time.perf_counter, _thread.allocate_lock()
_pause.acquire()
_waits_for_work = concurrent.futures.thread._worker.__code__

def wait_for_threads(limit, known=()):
    begun = _real()
    while _started() and _real() - begun < limit:
        frames = _frames()
        if all(n in known or n == _own() or f.f_code is _waits_for_work for n, f in frames.items()):
            break
        _pause.acquire(True, 0.0005)
    return _real() - begun

def sleep(seconds, /):
    global _elapsed
    if seconds < 0:
        raise ValueError('sleep length must be non-negative')
    if _started():
        wait_for_threads(min(seconds, 0.02))
    _elapsed += float(seconds)

def _nanoseconds(clock):
    return lambda: int(clock() * 1_000_000_000)

time.time, time.time_ns = now, _nanoseconds(now)
for _name in ('monotonic', 'perf_counter', 'process_time', 'thread_time'):
    setattr(time, _name, _tick)
    setattr(time, _name + '_ns', _nanoseconds(_tick))
time.sleep = sleep
time.gmtime = lambda seconds=None, /: _gmtime(now() if seconds is None else seconds)
time.localtime = lambda seconds=None, /: _localtime(now() if seconds is None else seconds)
time.ctime = lambda seconds=None, /: _ctime(now() if seconds is None else seconds)
time.asctime = lambda moment=None, /: _asctime(time.localtime() if moment is None else moment)
time.strftime = lambda form, moment=None, /: _strftime(form, time.localtime() if moment is None else moment)

class _Selector(selectors.DefaultSelector):
    def select(self, timeout=None):
        events = super().select(0)
        if not events and timeout != 0 and _started():
            events = super().select(0.02)
            if not events and wait_for_threads(0.5) < 0.5:
                events = super().select(0.02)
        if not events:
            if timeout is None:
                raise RuntimeError('the event loop waits for an event that nothing here brings')
            if timeout > 0:
                sleep(timeout)
        return events

def new_loop():
    return asyncio.SelectorEventLoop(_Selector())

# `asyncio.run` and its like wait on this clock as well.
asyncio.new_event_loop = asyncio.events.new_event_loop = new_loop
";

static CLOCK: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Replaces the clock, once for each process, before foreign code runs.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    module(py).map(|_| ())
}

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    Ok(CLOCK
        .get_or_try_init(py, || {
            PyModule::from_code(py, SOURCE, c"twincell_clock.py", c"twincell_clock").map(Bound::unbind)
        })?
        .bind(py))
}

/// Begins a run. `again` counts the earlier runs of the same version in one execution.
pub(crate) fn reset(py: Python<'_>, again: usize) -> PyResult<()> {
    module(py)?.getattr("reset")?.call1((again,)).map(|_| ())
}

/// `datetime.now(zone)`, `datetime.utcnow()`, `datetime.today()`, `date.today()` by this clock. `None` for any other
/// callee.
pub(crate) fn moment<'py>(
    callee: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = callee.py();
    let Ok(owner) = callee.getattr("__self__") else { return Ok(None) };
    let Ok(class) = owner.cast::<PyType>() else { return Ok(None) };
    if class.module().is_ok_and(|module| module != "datetime") {
        return Ok(None);
    }
    let name: String = callee.getattr("__name__")?.extract()?;
    let now = |method: &str, zone: Option<Bound<'py, PyAny>>| -> PyResult<Option<Bound<'py, PyAny>>> {
        let seconds = module(py)?.getattr("now")?.call0()?;
        match zone {
            Some(zone) => class.call_method1(method, (seconds, zone)).map(Some),
            None => class.call_method1(method, (seconds,)).map(Some),
        }
    };
    match name.as_str() {
        "now" => {
            let named = keywords.map(|keywords| keywords.get_item("tz")).transpose()?.flatten();
            now("fromtimestamp", arguments.get_item(0).ok().or(named))
        }
        "today" => now("fromtimestamp", None),
        "utcnow" => now("utcfromtimestamp", None),
        _ => Ok(None),
    }
}
