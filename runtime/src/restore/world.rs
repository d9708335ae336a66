//! State outside the globals of code that it can change: builtins, imported modules, the interpreter's settings.
//!
//! The common part of it is restored after each run ([`restore`]), so that executions do not see each other. Changes
//! that cannot be restored are detected when a program ends ([`is_tainted`]). Then the worker ends too, and the next
//! program gets a fresh one.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

use crate::observe::bindings::unchanged;
use crate::observe::console::Console;
use crate::observe::{self, effects};
use crate::restore::snapshot;

/// The recursion depth that code may use, which is CPython's own default.
const RECURSION_LIMIT: std::ffi::c_int = 1000;
/// The descriptors of a worker's socket and of Python's own files are below this number.
const HIGHEST_DESCRIPTOR: i32 = 256;
/// The number of descriptors that programs may leave open before the worker is replaced.
const LEAKED_DESCRIPTORS: usize = 40;

const SOURCE: &std::ffi::CStr = cr"
import _thread, abc, atexit, contextvars, decimal, gc, importlib.machinery, locale, logging, os, random, signal, site, sys, sysconfig, threading, uuid
from operator import is_ as _is
from twincell_clock import wait_for_threads as _wait_for_threads

_SIGNALS = sorted(signal.valid_signals())
_environment = dict(os.environ)
_locale = locale.setlocale(locale.LC_ALL)
_context = decimal.getcontext().copy()
_frames = sys._current_frames
_getsignal = signal.getsignal
_seed = random.seed
_settings = None

# What the system calls random is drawn from the same number as everything else.
_number, _stream = 0, None
_new_stream, _plain_seed = random.Random, random.Random.seed

def _bits(count):
    global _stream
    if _stream is None:
        _stream = _new_stream(_number)
    return _stream.getrandbits(count)

def _urandom(size, flags=0, /):
    if size < 0:
        raise ValueError('negative argument not allowed')
    return _bits(8 * size).to_bytes(size, 'little')

def _seed_again(self, a=None, version=2):
    _plain_seed(self, _bits(128) if a is None else a, version)

os.urandom = random._urandom = _urandom
if hasattr(os, 'getrandom'):
    os.getrandom = _urandom
random.Random.seed = _seed_again
random.seed = random._inst.seed

def _all_settings():
    return (
        sys.getswitchinterval(), gc.isenabled(), gc.get_threshold(), list(gc.callbacks), list(sys.meta_path),
        list(sys.path_hooks), list(sys.path), getattr(sys, 'get_int_max_str_digits', int)(), sys.gettrace(),
        sys.getprofile(), sys.excepthook, sys.unraisablehook, sys.displayhook, os.environ, sys.stdin,
        [_getsignal(number) for number in _SIGNALS],
    )

# Those of versions 6 and 7 are new in Python 3.14.
_UUID_COUNTERS = (
    ('_last_timestamp', None), ('_last_timestamp_v6', None), ('_last_timestamp_v7', None), ('_last_counter_v7', 0),
)

def _settle_uuid():
    # A generator in C that asks the system; without it `uuid1` asks this clock.
    uuid._generate_time_safe = None
    uuid._node = 0x01000000dec5
    for name, start in _UUID_COUNTERS:
        if hasattr(uuid, name):
            setattr(uuid, name, start)

def note():
    # What is so by now is not changed by executions.
    global _settings, _usual
    _settle_uuid()
    _settings, _context_variables[:] = _all_settings(), _variables()
    _usual = _state()
    _note_counts()

# The module search path, and what loggers are set to. Code commonly changes them.
_usual = None
_loggers = logging.root, logging.getLogger('twincell_module')

def _state():
    return list(sys.path), [_logger(logger.__dict__) for logger in _loggers]

def _logger(attributes):
    kept = [(name, attributes[name]) for name in ('level', 'disabled', 'propagate', 'handlers', 'filters')]
    return attributes, kept, [(items, list(items)) for _, items in kept[3:]]

def _is_now(path, loggers):
    return sys.path == path and all(_is_logger(*logger) for logger in loggers)

def _is_logger(attributes, kept, lists):
    return all(attributes.get(name) is value for name, value in kept) and all(
        len(items) == len(before) and all(map(_is, items, before)) for items, before in lists
    )

def put(state):
    path, loggers = state
    sys.path[:] = path
    for attributes, kept, lists in loggers:
        attributes.update(kept)
        for items, before in lists:
            items[:] = before
    logging.root.manager._clear_cache()

def left():
    # What a module set there, if anything.
    return None if _is_now(*_usual) else _state()

def _note_counts():
    # Of functions that run at the end, and of classes registered with abstract ones, which nobody can list.
    global _counts
    _counts = atexit._ncallbacks(), abc.get_cache_token()

_context_variables = []

def _variables():
    # The one of decimal is put back.
    return [(var, value) for var, value in contextvars.copy_context().items() if var.name != 'decimal_context']

def _installations():
    paths = sysconfig.get_paths()
    found = [paths[name] for name in ('stdlib', 'platstdlib', 'purelib', 'platlib') if name in paths]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    found += [path for path in sys.path if os.path.basename(path) == 'site-packages']
    return [os.path.realpath(path) + os.sep for path in found]

_INSTALLED = _installations()

def _is_installed(spec):
    if spec.origin in ('built-in', 'frozen'):
        return True
    where = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    where = [os.path.realpath(path) for path in where if path]
    return bool(where) and all(any(map(path.startswith, _INSTALLED)) for path in where)

def _module(dotted):
    # The longest part of a dotted path that names an installed module, found without importing anything.
    found, path = None, None
    parts = dotted.split('.')
    for length in range(1, len(parts) + 1):
        name = '.'.join(parts[:length])
        try:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
        except Exception:
            break
        if spec is None and length == 1 and name in sys.builtin_module_names:
            return name
        if spec is None or not _is_installed(spec):
            break
        found, path = name, spec.submodule_search_locations
        if path is None:
            break
    return found

def installed(names):
    found = {_module(name) for name in names}
    return sorted(name for name in found if name is not None and name not in sys.modules)

def settle():
    # What exists by now is in memory once for all forks, since the collector does not touch it any more.
    gc.collect()
    gc.freeze()
    note()
    return len(_frames()) == 1 and _count_threads() == 1

def _count_threads():
    # Those of the system; libraries start some that Python does not know.
    try:
        return len(os.listdir('/proc/self/task'))
    except OSError:
        return 1

def begin_process():
    global _environment, _environment_data
    _environment, _environment_data = dict(os.environ), dict(os.environ._data)

def begin():
    settle()
    return dict(sys.modules)

def reseed(number):
    global _number, _stream
    _number, _stream = number, None
    _seed(number)
    _settle_uuid()
    numpy = sys.modules.get('numpy.random')
    if numpy is not None:
        numpy.seed(number & 0xffffffff)

def restore():
    if os.environ._data != _environment_data:
        os.environ.clear()
        os.environ.update(_environment)
    if not _is_now(*_usual):
        put(_usual)

_environment_data = dict(os.environ._data)

_started, _own = _thread._count, _thread.get_ident
_known = ()
_patience = 0.0

def begin_program():
    global _patience
    _patience = 2.0

def _works_for_code(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith('<twincell'):
            return True
        frame = frame.f_back
    return False

def begin_run():
    global _known
    _known = ()
    if not _started():
        return ()
    frames = _frames()
    _known = set(frames)
    return [number for number, frame in frames.items() if number != _own() and _works_for_code(frame)]

def end_run():
    global _patience
    if not _started():
        return
    _patience -= _wait_for_threads(min(0.25, _patience), _known)

def seems_tainted():
    if len(_frames()) > 1 or _all_settings() != _settings:
        return True
    # Nothing says that their values can be compared.
    now = _variables()
    if len(now) != len(_context_variables) or any(
        value is not before for (_, value), (_, before) in zip(now, _context_variables)
    ):
        return True
    locale.setlocale(locale.LC_ALL, _locale)
    decimal.setcontext(_context.copy())
    return False

def has_counted():
    return (atexit._ncallbacks(), abc.get_cache_token()) != _counts
";

struct World {
    builtins: Py<PyDict>,
    modules: Py<PyDict>,
    /// `builtins.__dict__` and `sys.modules` as they should be.
    builtins_before: Py<PyDict>,
    modules_before: Py<PyDict>,
    reseed: Py<PyAny>,
    restore: Py<PyAny>,
    left: Py<PyAny>,
    put: Py<PyAny>,
    has_counted: Py<PyAny>,
    seems_tainted: Py<PyAny>,
    note: Py<PyAny>,
    installed: Py<PyAny>,
    settle: Py<PyAny>,
    freeze: Py<PyAny>,
    begin_process: Py<PyAny>,
    begin_program: Py<PyAny>,
    begin_run: Py<PyAny>,
    end_run: Py<PyAny>,
    /// `sys.settrace` and `sys.setprofile`.
    tracing: [Py<PyAny>; 2],
}

static WORLD: PyOnceLock<World> = PyOnceLock::new();
/// The descriptors that are open when the first program arrives.
static OPEN_AT_START: OnceLock<Vec<i32>> = OnceLock::new();
/// Records the present state of the interpreter, once for each process, after the imports that the runtime needs.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    WORLD.get_or_try_init(py, || -> PyResult<World> {
        let helpers = PyModule::from_code(py, SOURCE, c"twincell_world.py", c"twincell_world")?;
        let builtins = py.import("builtins")?.getattr("__dict__")?.cast_into::<PyDict>()?;
        let modules_before = helpers.getattr("begin")?.call0()?.cast_into::<PyDict>()?;
        let sys = py.import("sys")?;
        let modules = sys.getattr("modules")?.cast_into::<PyDict>()?;
        let function = |name: &str| helpers.getattr(name).map(Bound::unbind);
        Ok(World {
            builtins_before: builtins.copy()?.unbind(),
            builtins: builtins.unbind(),
            modules: modules.unbind(),
            modules_before: modules_before.unbind(),
            reseed: function("reseed")?,
            restore: function("restore")?,
            left: function("left")?,
            put: function("put")?,
            has_counted: function("has_counted")?,
            seems_tainted: function("seems_tainted")?,
            note: function("note")?,
            installed: function("installed")?,
            settle: function("settle")?,
            freeze: py.import("gc")?.getattr("freeze")?.unbind(),
            begin_process: function("begin_process")?,
            begin_program: function("begin_program")?,
            begin_run: function("begin_run")?,
            end_run: function("end_run")?,
            tracing: [sys.getattr("settrace")?.unbind(), sys.getattr("setprofile")?.unbind()],
        })
    })?;
    snapshot::note(py)
}

/// Prepares for loading a program.
pub(crate) fn begin_program(py: Python<'_>) {
    OPEN_AT_START.get_or_init(open_descriptors);
    if let Some(world) = WORLD.get(py) {
        let _ = world.begin_program.call0(py);
    }
}

/// Hides what is in memory from code that lists the objects of this process, and from the collector.
pub(crate) fn freeze(py: Python<'_>) {
    if let Some(world) = WORLD.get(py) {
        let _ = world.freeze.call0(py);
    }
}

/// Seeds random numbers, also those of the system. They are the same for both versions, and differ when a version is
/// repeated, so that a dependence on them shows.
pub(crate) fn reseed(py: Python<'_>, number: u64) {
    if let Some(world) = WORLD.get(py) {
        let _ = world.reseed.call1(py, (number,));
    }
}

/// Makes what a program's modules left behind when they were evaluated part of the world from now on. Wherever a program
/// runs, its modules were evaluated before.
pub(crate) fn note(py: Python<'_>) -> PyResult<()> {
    WORLD.get(py).map_or(Ok(()), |world| world.note.call0(py).map(drop))?;
    snapshot::note(py)
}

/// What a module that was just evaluated set of that which [`restore`] puts back: the search path and loggers. `None` if it
/// set nothing, or nothing that can be set again.
pub(crate) fn left(py: Python<'_>) -> Option<Py<PyAny>> {
    let left = WORLD.get(py).and_then(|world| world.left.call0(py).ok());
    left.filter(|left| !left.is_none(py))
}

/// Sets it again, for a run of code that this module holds.
pub(crate) fn put(py: Python<'_>, left: &Py<PyAny>) -> PyResult<()> {
    WORLD.get(py).map_or(Ok(()), |world| world.put.call1(py, (left,)).map(drop))
}

/// Remembers what executions left behind so far, before modules are evaluated once more.
pub(crate) fn note_taint(py: Python<'_>) {
    if is_tainted(py) {
        effects::taint();
    }
}

/// The content of `sys.modules`, in its order.
pub(crate) fn module_names(py: Python<'_>) -> Vec<String> {
    let names = WORLD.get(py).map(|world| world.modules.bind(py).keys());
    names.iter().flatten().filter_map(|name| name.extract().ok()).collect()
}

/// The installed modules that some dotted paths name or begin with, each once, without those that are imported.
pub(crate) fn installed(py: Python<'_>, names: Vec<String>) -> Vec<String> {
    let found = WORLD.get(py).and_then(|world| world.installed.call1(py, (names,)).ok()?.extract(py).ok());
    found.unwrap_or_default()
}

/// Makes the environment of this process, which was just forked, the one that executions find.
pub(crate) fn begin_process(py: Python<'_>) -> PyResult<()> {
    WORLD.get(py).map_or(Ok(()), |world| world.begin_process.call0(py).map(drop))
}

/// Imports modules that are not there yet, where this works. Whether this process has one thread only.
pub(crate) fn import(py: Python<'_>, names: Vec<String>) -> bool {
    let Some(world) = WORLD.get(py) else { return false };
    if let (Ok(console), false) = (Console::catch(py), names.is_empty()) {
        for name in names {
            if !world.modules.bind(py).contains(&name).unwrap_or(true) {
                // A module that cannot be imported here is imported by the code, or does not belong to the system.
                let _ = py.import(name.as_str());
            }
        }
        restore(py);
        let _ = console.release();
    }
    // From now on, the classes of libraries are what they are called.
    observe::note_libraries(py);
    let has_one_thread = is_true(py, &world.settle);
    snapshot::note(py).is_ok() && has_one_thread
}

/// Begins a run. Threads that still work for an earlier one are told to exit. Returns their numbers, as in
/// `threading.get_ident`.
pub(crate) fn begin_run(py: Python<'_>) -> Vec<u64> {
    observe::statements::forget(py);
    let found = WORLD.get(py).and_then(|world| world.begin_run.call0(py).ok()?.extract(py).ok());
    let strangers: Vec<u64> = found.unwrap_or_default();
    for &number in &strangers {
        // SAFETY: this thread holds the interpreter (`py`). Python ignores the number of a thread that has ended, and prints
        // nothing when a thread exits in this way.
        unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(number as _, pyo3::ffi::PyExc_SystemExit) };
    }
    strangers
}

/// The code has returned. The threads that it started get a moment to end, since their work belongs to the behavior.
pub(crate) fn end_run(py: Python<'_>) {
    if let Some(world) = WORLD.get(py) {
        let _ = world.end_run.call0(py);
    }
}

/// Restores the state that code commonly changes.
pub(crate) fn restore(py: Python<'_>) {
    let Some(world) = WORLD.get(py) else { return };
    stop_timers();
    // Nobody receives what a signal handler of the code raises.
    let _ = py.check_signals();
    for stop in &world.tracing {
        let _ = stop.call1(py, (py.None(),));
    }
    // SAFETY: this thread holds the interpreter (`py`).
    unsafe { pyo3::ffi::Py_SetRecursionLimit(RECURSION_LIMIT) };
    let builtins = world.builtins.bind(py);
    let before = world.builtins_before.bind(py);
    if unchanged(builtins, before) != before.len() || builtins.len() != before.len() {
        builtins.clear();
        let _ = builtins.update(before.as_mapping());
    }
    let (modules, before) = (world.modules.bind(py), world.modules_before.bind(py));
    if unchanged(modules, before) != before.len() {
        for (name, module) in before.iter() {
            if !modules.get_item(&name).ok().flatten().is_some_and(|now| now.is(&module)) {
                let _ = modules.set_item(name, module);
            }
        }
    }
    if world.restore.call0(py).is_err() {
        effects::taint();
    }
}

/// Whether this process is no longer as a program may expect it, as far as a glance tells. Open files and the functions
/// of all modules are not looked at, which would take longer than many executions.
pub(crate) fn seems_tainted(py: Python<'_>) -> bool {
    restore(py);
    let Some(world) = WORLD.get(py) else { return false };
    effects::is_tainted() || is_true(py, &world.seems_tainted)
}

/// Whether this process is no longer as a program may expect it.
pub(crate) fn is_tainted(py: Python<'_>) -> bool {
    restore(py);
    let Some(world) = WORLD.get(py) else { return false };
    let now = open_descriptors();
    let before = OPEN_AT_START.get().map_or(&[][..], Vec::as_slice);
    effects::is_tainted()
        || before.iter().any(|descriptor| !now.contains(descriptor))
        || now.len() > before.len() + LEAKED_DESCRIPTORS
        || is_true(py, &world.has_counted)
        || is_true(py, &world.seems_tainted)
        || !snapshot::is_unchanged(py)
}

/// Whether a question is answered by yes, or not at all.
fn is_true(py: Python<'_>, question: &Py<PyAny>) -> bool {
    question.call0(py).and_then(|answer| answer.is_truthy(py)).unwrap_or(true)
}

fn stop_timers() {
    let none = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
    };
    for timer in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
        // SAFETY: this only reads `none`. The old value is not requested.
        unsafe { libc::setitimer(timer, &none, std::ptr::null_mut()) };
    }
}

fn open_descriptors() -> Vec<i32> {
    // SAFETY: this asks for a flag. A number that is not open gives an error and has no other effect.
    let is_open = |number: &i32| unsafe { libc::fcntl(*number, libc::F_GETFD) } >= 0;
    (0..HIGHEST_DESCRIPTOR).filter(is_open).collect()
}
