//! What tells one worker from another: its folder, the numbers of its process, and counters that go on from program to
//! program. Code sees the same names and numbers in every worker.
//!
//! Each worker has its own folder, whose real name is random. Code sees it under a name that leads every process to its
//! own: the path of an open descriptor. Counters that Python keeps for the names of threads and of temporary files begin
//! anew with each run.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use twincell_engine::protocol::OWN_FOLDER;

/// The descriptor of the worker's folder, away from the numbers that code opens and closes.
const FOLDER: libc::c_int = 210;

const SOURCE: &std::ffi::CStr = cr"
import itertools, os, posixpath, random, sys, tempfile, threading

_PROCESS = 4711
_HOMES = ('HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'MPLCONFIGDIR')
_DEEPEST = 10_000

_number = _PROCESS
_real = _seen = None
_started = 0
_getcwd, _realpath, _readlink, _kill, _getpid = os.getcwd, posixpath.realpath, os.readlink, os.kill, os.getpid
_ident, _main = threading.get_ident, threading.main_thread()
_natives = {}
_limit_recursion = sys.setrecursionlimit
_Names, _Random = tempfile._RandomNameSequence, random.Random

def _like(original):
    def named(function):
        function.__name__ = function.__qualname__ = original.__name__
        function.__module__ = original.__module__
        return function
    return named

def _shown(path):
    if isinstance(path, bytes):
        return os.fsencode(_shown(os.fsdecode(path)))
    own = f'/proc/{_getpid()}'
    for name, shown in ((_real, _seen), (own, '/proc/self')):
        if path == name or path.startswith(name + '/'):
            return shown + path[len(name):]
    return path

@_like(os.getpid)
def getpid():
    return _number

@_like(os.getppid)
def getppid():
    return _number - 1

@_like(os.getpgrp)
def getpgrp():
    return _number

@_like(os.getpgid)
def getpgid(pid, /):
    return _number

@_like(os.getsid)
def getsid(pid, /):
    return _number

@_like(os.kill)
def kill(pid, signal, /):
    return _kill(_getpid() if pid == _number else pid, signal)

@_like(threading.get_native_id)
def get_native_id():
    return _number + _natives.setdefault(_ident(), len(_natives))

@_like(os.getcwd)
def getcwd():
    return _shown(_getcwd())

@_like(os.getcwdb)
def getcwdb():
    return os.fsencode(getcwd())

@_like(posixpath.realpath)
def realpath(filename, **options):
    return _shown(_realpath(filename, **options))

@_like(os.readlink)
def readlink(path, *, dir_fd=None):
    return _shown(_readlink(path, dir_fd=dir_fd))

@_like(sys.setrecursionlimit)
def setrecursionlimit(limit, /):
    _limit_recursion(min(limit, _DEEPEST) if isinstance(limit, int) else limit)

class _RandomNameSequence(_Names):
    # Seeded only when a name is asked for, since few executions ask.
    def __init__(self, seed):
        self._seed, self._own = seed, None

    @property
    def rng(self):
        if self._own is None:
            self._own = _Random(self._seed)
        return self._own

def _count_thread():
    global _started
    _started += 1
    return _started

def adopt(real, seen):
    global _real, _seen
    _real, _seen = real, seen
    if tempfile.tempdir != seen:
        for name in _HOMES:
            os.environ[name] = seen
        tempfile.tempdir = seen

def prepare(real, seen):
    adopt(real, seen)
    for function in (getpid, getppid, getpgrp, getpgid, getsid, kill, getcwd, getcwdb, readlink):
        setattr(os, function.__name__, function)
    posixpath.realpath = realpath
    threading.get_native_id = get_native_id
    sys.setrecursionlimit = setrecursionlimit
    if hasattr(threading, '_counter'):
        threading._counter = _count_thread
    # Only the main thread may use as much of the stack as it has.
    threading.stack_size(16 << 20)
    begin(0, 0)

def begin(process, names):
    global _number, _started
    _number, _started = _PROCESS + process, 0
    _natives.clear()
    _natives[_main.ident] = 0
    _main._native_id = _number
    if tempfile.tempdir != _seen:
        tempfile.tempdir = _seen
    tempfile._name_sequence = _RandomNameSequence(names)
    pools = sys.modules.get('concurrent.futures.thread')
    if pools is not None:
        pools.ThreadPoolExecutor._counter = itertools.count().__next__
    processes = sys.modules.get('multiprocessing.process')
    if processes is not None:
        processes._process_counter = itertools.count(1)
";

static IDENTITY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Gives this process its fixed names, once, for all processes that are forked from it. `folder` is where those have
/// their folders.
pub(crate) fn prepare(py: Python<'_>, folder: &Path) -> PyResult<()> {
    IDENTITY.get_or_try_init(py, || {
        let module = PyModule::from_code(py, SOURCE, c"twincell_identity.py", c"twincell_identity")?;
        module.getattr("prepare")?.call1(names(folder))?;
        Ok::<_, PyErr>(module.unbind())
    })?;
    Ok(())
}

/// Makes a folder this process's own, before foreign code runs. Returns the path by which code sees it.
pub(crate) fn adopt(py: Python<'_>, folder: &Path) -> PyResult<PathBuf> {
    let (real, seen) = names(folder);
    if let Some(module) = IDENTITY.get(py) {
        module.bind(py).getattr("adopt")?.call1((real, &seen))?;
    }
    Ok(seen.into())
}

/// The path of a folder, and the one by which code sees it from now on.
fn names(folder: &Path) -> (String, String) {
    let real = folder.to_string_lossy().into_owned();
    let seen = fixed_name(folder).unwrap_or_else(|| real.clone());
    (real, seen)
}

/// Begins a run. `process` and `names` differ if the numbers of the process, or the names of temporary files, are to be
/// other ones than in the first run.
pub(crate) fn begin(py: Python<'_>, process: usize, names: u64) -> PyResult<()> {
    match IDENTITY.get(py) {
        Some(module) => module.bind(py).getattr("begin")?.call1((process, names)).map(|_| ()),
        None => Ok(()),
    }
}

/// A path by which every process reaches its own folder. `None` where the system has none: then code sees the real one.
fn fixed_name(folder: &Path) -> Option<String> {
    let opened = File::open(folder).ok()?;
    // SAFETY: this number belongs to the folder of the process that this one was forked from, if to any. Duplicating an
    // open descriptor makes a copy that stays open for the life of the process.
    let copy = unsafe {
        libc::close(FOLDER);
        libc::fcntl(opened.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FOLDER)
    };
    let name = OWN_FOLDER.to_owned();
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    (copy == FOLDER && identity(Path::new(&name)).is_some() && identity(Path::new(&name)) == identity(folder))
        .then_some(name)
}
