//! A clock of the worker's own: it gives the same readings in every run, and waiting takes no time.
//!
//! The functions of `time` are replaced once for each process. Each run starts at the same moment, and every reading is
//! later than the one before. There are two clocks, the time of day and a timer. When a version is repeated in one
//! execution, either may start elsewhere and run faster, so that a dependence on it shows. An event loop that waits
//! moves the clocks instead. Threads of the code are waited for until all of them stand still, which the system tells,
//! so a busy machine takes longer and nothing else. `datetime.now` and similar functions are methods of a builtin class
//! and cannot be replaced. Instrumented code that calls them gets this clock's time.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple, PyType};
use twincell_engine::sources::{Source, Sources};

const SOURCE: &std::ffi::CStr = cr"
import _thread, asyncio, concurrent.futures.thread, itertools, os, selectors, sys, time

_EPOCH = 1_700_000_000.0
_OFFSET = 100_003.0
_elapsed = _timed = 0.0
_step = _timer_step = 0.001
_gmtime, _localtime, _ctime, _strftime, _asctime = time.gmtime, time.localtime, time.ctime, time.strftime, time.asctime

def reset(day, timer):
    global _elapsed, _timed, _step, _timer_step, _tasks, waited
    _elapsed, _timed, waited = _OFFSET * day, _OFFSET * timer, 0.0
    _step, _timer_step = 0.001 * (1 + day), 0.001 * (1 + timer)
    _tasks = itertools.count(1)

def _pass(of_day, of_timer):
    global _elapsed, _timed
    _elapsed += of_day
    _timed += of_timer

def now():
    _pass(_step, 0.001)
    return _EPOCH + _elapsed

def _tick():
    _pass(0.001, _timer_step)
    return _timed

_started, _own, _frames = _thread._count, _thread.get_ident, sys._current_frames
_spent = time.process_time
_waits_for_work = concurrent.futures.thread._worker.__code__

def wait_for_threads(limit, known=()):
    # The limit is processor time of this process.
    begun = _spent()
    while _started() and _spent() - begun < limit:
        frames = _frames()
        if all(n in known or n == _own() or f.f_code is _waits_for_work for n, f in frames.items()):
            break
        if stand_still():
            break
    return _spent() - begun

def sleep(seconds, /):
    global waited
    if seconds < 0:
        raise ValueError('sleep length must be non-negative')
    if _started():
        wait_for_threads(0.1)
    waited += seconds
    advance(float(seconds))

def advance(seconds):
    _pass(seconds, seconds)

def _nanoseconds(clock):
    return lambda *_: int(clock() * 1_000_000_000)

time.time, time.time_ns = now, _nanoseconds(now)
for _name in ('monotonic', 'perf_counter', 'process_time', 'thread_time'):
    setattr(time, _name, _tick)
    setattr(time, _name + '_ns', _nanoseconds(_tick))
time.sleep = sleep
if hasattr(time, 'clock_gettime'):
    _of_day = time.CLOCK_REALTIME
    time.clock_gettime = lambda clock, /: now() if clock == _of_day else _tick()
    time.clock_gettime_ns = lambda clock, /: int(time.clock_gettime(clock) * 1_000_000_000)
time.gmtime = lambda seconds=None, /: _gmtime(now() if seconds is None else seconds)
time.localtime = lambda seconds=None, /: _localtime(now() if seconds is None else seconds)
time.ctime = lambda seconds=None, /: _ctime(now() if seconds is None else seconds)
time.asctime = lambda moment=None, /: _asctime(time.localtime() if moment is None else moment)
time.strftime = lambda form, moment=None, /: _strftime(form, time.localtime() if moment is None else moment)
os.times = lambda: os.times_result((_tick(), 0.0, 0.0, 0.0, _tick()))
os.getloadavg = lambda: (0.5, 0.5, 0.5)

# The last error of an event loop that would wait for ever.
standstill = None

class _Selector(selectors.DefaultSelector):
    def select(self, timeout=None):
        events = super().select(0)
        if not events and timeout != 0 and _started():
            wait_for_threads(0.5)
            events = super().select(0)
        if not events:
            if timeout is None:
                global standstill
                standstill = RuntimeError('the event loop waits for an event that nothing here brings')
                raise standstill
            if timeout > 0:
                sleep(timeout)
        return events

class _Loop(asyncio.SelectorEventLoop):
    # Python itself counts tasks over the whole life of a process.
    def create_task(self, coro, **options):
        if options.get('name') is None:
            options['name'] = f'Task-{next(_tasks)}'
        return super().create_task(coro, **options)

def new_loop():
    return _Loop(_Selector())

# `asyncio.run` and its like wait on this clock as well.
asyncio.new_event_loop = asyncio.events.new_event_loop = new_loop
reset(0, 0)
";

static CLOCK: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Replaces the clock, once for each process, before foreign code runs.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    module(py).map(|_| ())
}

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    Ok(CLOCK
        .get_or_try_init(py, || {
            let clock = PyModule::from_code(py, SOURCE, c"twincell_clock.py", c"twincell_clock")?;
            clock.add_function(wrap_pyfunction!(stand_still, &clock)?)?;
            Ok::<_, PyErr>(clock.unbind())
        })?
        .bind(py))
}

/// Begins a run: the repetition with this number of a version, in which these sources vary.
pub(crate) fn reset(py: Python<'_>, repetition: usize, varied: Sources) -> PyResult<()> {
    let number = |source| if varied.contains(source) { repetition } else { 0 };
    module(py)?.getattr("reset")?.call1((number(Source::Time), number(Source::Timer))).map(|_| ())
}

/// Moves the clocks, as if nothing happened for a while.
pub(crate) fn advance(py: Python<'_>, seconds: f64) -> PyResult<()> {
    module(py)?.getattr("advance")?.call1((seconds,)).map(drop)
}

/// The number of seconds for which the run has waited.
pub(crate) fn waited(py: Python<'_>) -> PyResult<f64> {
    module(py)?.getattr("waited")?.extract()
}

/// How long a wait lasts before Python looks again.
const SLICE: Duration = Duration::from_millis(5);
/// The time that threads get where the system does not tell what they do.
const MOMENT: Duration = Duration::from_millis(20);
/// How often the states of threads are read while a wait lasts.
const GLANCE: Duration = Duration::from_micros(100);

/// Lets other threads run for a moment. Returns whether all of them have come to stand still: none works or waits for a
/// processor. Meanwhile nobody holds the interpreter, so a thread that waits for it works.
#[pyfunction]
fn stand_still(py: Python<'_>) -> bool {
    py.detach(|| {
        let begun = Instant::now();
        let mut still = 0;
        while begun.elapsed() < SLICE {
            std::thread::sleep(GLANCE);
            match others_work() {
                Some(false) => still += 1,
                Some(true) => still = 0,
                // Where the system does not tell, threads get a fixed time.
                None => {
                    std::thread::sleep(MOMENT);
                    return true;
                }
            }
            if still >= 2 {
                return true;
            }
        }
        false
    })
}

/// Whether another thread of this process works or waits for a processor. `None` if the system does not tell.
#[cfg(target_os = "linux")]
fn others_work() -> Option<bool> {
    let own = rustix::thread::gettid().as_raw_nonzero().get().to_string();
    for entry in std::fs::read_dir("/proc/self/task").ok()? {
        let entry = entry.ok()?;
        if entry.file_name().to_string_lossy() == own {
            continue;
        }
        // A thread that ends meanwhile does not work.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // Its name stands in parentheses before its state and may hold anything.
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        if matches!(state, Some('R' | 'D')) {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(not(target_os = "linux"))]
fn others_work() -> Option<bool> {
    None
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
