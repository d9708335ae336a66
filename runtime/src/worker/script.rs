//! Runs the tests of a file that twincell wrote, unchanged and without hooks, in the sandbox.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use twincell_engine::protocol::Tested;

use crate::observe::console::Console;
use crate::observe::effects::{Effects, Seen};
use crate::restore::{clock, world};

const SOURCE: &std::ffi::CStr = cr"
import os, sys, types

class Raises:
    def __init__(self, kind):
        self.kind = kind

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if value is None:
            raise AssertionError(f'did not raise {self.kind.__name__}')
        self.value = value
        return isinstance(value, self.kind)

class Patch:
    def __init__(self):
        self.undo = []
        self.environment = dict(os.environ._data)

    @classmethod
    def context(cls):
        return cls()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for undo, *arguments in reversed(self.undo):
            undo(*arguments)
        os.environ._data.clear()
        os.environ._data.update(self.environment)

    def found(self, target):
        module, _, name = target.rpartition('.')
        holder = __import__(module, fromlist=['x'])
        self.undo.append((setattr, holder, name, getattr(holder, name)))
        return holder, name

    def delattr(self, target):
        delattr(*self.found(target))

    # Only Python's own mapping: the variables of the process are outside of it.
    def setenv(self, name, value):
        os.environ._data[os.environ.encodekey(name)] = os.environ.encodevalue(value)

    def delenv(self, name, raising=True):
        os.environ._data.pop(os.environ.encodekey(name), None)

    # As pytest's: a dotted name and a value, or an object, a name and a value.
    def setattr(self, holder, *rest):
        if isinstance(holder, str):
            holder, rest = self.found(holder)[0], (holder.rpartition('.')[2], *rest)
        else:
            self.undo.append((setattr, holder, rest[0], getattr(holder, rest[0])))
        setattr(holder, *rest)

    def chdir(self, path):
        self.undo.append((os.chdir, os.getcwd()))
        os.chdir(path)

    def setitem(self, holder, name, value):
        self.undo.append((holder.__setitem__, name, holder[name]) if name in holder else (holder.pop, name, None))
        holder[name] = value

class Mark:
    # The rows of a test, each a set of values by name.
    @staticmethod
    def parametrize(names, rows):
        if 'request' in names:
            raise ValueError('pytest keeps the name request for itself')
        def marked(test):
            test.rows = [dict(zip(names, row)) for row in rows]
            return test
        return marked

def param(*values, id=None):
    return values

def describe(error):
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    line = f' (line {last.tb_lineno} of {last.tb_frame.f_code.co_filename})' if last is not None else ''
    said = f': {str(error)[:300]}' if str(error) else ''
    return f'{type(error).__name__}{said}{line}'

def prepare(subject):
    os.environ['TWINCELL_SUBJECT'] = subject
    pytest = types.ModuleType('pytest')
    pytest.raises = Raises
    pytest.MonkeyPatch = Patch
    pytest.mark = Mark
    pytest.param = param
    known = sys.modules.get('pytest')
    sys.modules['pytest'] = pytest
    return known

# The code of a file, or why it has none.
def compiled(source):
    try:
        return compile(source, 'test_reproducer.py', 'exec', 0, True)
    except BaseException as error:
        return describe(error)

# Why a test fails: on the new version only if each of its rows does, since each is to show the change.
def failure(test):
    failed = None
    for row in getattr(test, 'rows', [{}]):
        try:
            test(**row)
        except BaseException as error:
            failed = failed or error
            if os.environ.get('TWINCELL_SUBJECT') != 'new':
                break
        else:
            if os.environ.get('TWINCELL_SUBJECT') == 'new':
                return None
    return failed

# The name that a file does not have, if this is why it fails.
def lacking(error):
    name = error.name if type(error) is NameError else None
    return name if type(name) is str else None

def run(code):
    if type(code) is str:
        return code, None
    module = types.ModuleType('test_reproducer')
    # Dataclasses look in their module what annotations mean.
    sys.modules[module.__name__] = module
    try:
        exec(code, vars(module))
        for name, test in list(vars(module).items()):
            if name.startswith('test_') and (failed := failure(test)) is not None:
                return describe(failed), lacking(failed)
    except BaseException as error:
        return describe(error), lacking(error)
    finally:
        sys.modules.pop(module.__name__, None)
    return None, None

def finish(known):
    if known is None:
        sys.modules.pop('pytest', None)
    else:
        sys.modules['pytest'] = known
    os.environ.pop('TWINCELL_SUBJECT', None)
";

static HELPERS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
/// The last file and its code: each file runs on both versions, one after the other.
static COMPILED: Mutex<Option<(String, Py<PyAny>)>> = Mutex::new(None);

fn helpers(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let made = HELPERS.get_or_try_init(py, || {
        PyModule::from_code(py, SOURCE, c"twincell_script.py", c"twincell_script").map(Bound::unbind)
    });
    Ok(made?.bind(py))
}

/// Imports what such files import, once for all forks of this process.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    py.import("unittest.mock")?;
    helpers(py).map(drop)
}

/// What the tests of a file do with `subject`.
pub(crate) fn test(py: Python<'_>, source: &str, subject: &str) -> PyResult<Tested> {
    let helpers = helpers(py)?;
    let known = helpers.getattr("prepare")?.call1((subject,))?;
    let console = Console::catch(py)?;
    let effects = Effects::watch();
    let failure = compiled(py, source).and_then(|code| helpers.getattr("run")?.call1((code,)));
    let Seen { effects, unread } = effects.seen();
    let waited = clock::waited(py)?;
    console.release()?;
    helpers.getattr("finish")?.call1((known,))?;
    world::restore(py);
    let (failure, lacking) = failure?.extract()?;
    Ok(Tested { failure, lacking, effects, unread, waited })
}

fn compiled<'py>(py: Python<'py>, source: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut last = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, code)) = &*last
        && known == source
    {
        return Ok(code.bind(py).clone());
    }
    let code = helpers(py)?.getattr("compiled")?.call1((source,))?;
    *last = Some((source.to_owned(), code.clone().unbind()));
    Ok(code)
}
