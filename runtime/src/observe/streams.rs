//! Generators over given items and queues of them, which no call of a class makes, and how many items are left in what
//! gives them once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use twincell_values::value::library;

use super::kinds::Kind;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = c"
from asyncio import Queue


def generator(source):
    for item in source:
        yield item


async def stream(source):
    for item in source:
        yield item


def queue(source):
    filled = Queue()
    for item in source:
        filled.put_nowait(item)
    return filled


LIST = type(iter([]))
CODES = {generator.__code__: 'gi_frame', stream.__code__: 'ag_frame'}


def left(value, code):
    if type(value) is LIST:
        return value.__length_hint__()
    if code not in CODES:
        return None
    frame = getattr(value, CODES[code])
    if frame is None:
        return 0
    # Code may run ours on a source of its own.
    source = frame.f_locals.get('source')
    return source.__length_hint__() if type(source) is LIST else None
";

/// Makes them with the classes from before foreign code ran.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    module(py).map(|_| ())
}

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let module = MODULE.get_or_try_init(py, || {
        PyModule::from_code(py, SOURCE, c"twincell/streams.py", c"twincell_streams").map(Bound::unbind)
    })?;
    Ok(module.bind(py))
}

/// What makes a generator over items, or a queue of them.
pub(crate) struct Maker(&'static str);

/// `None` if this makes something else.
pub(crate) fn maker(class: &str) -> Option<Maker> {
    match class {
        library::GENERATOR => Some(Maker("generator")),
        library::ASYNC_GENERATOR => Some(Maker("stream")),
        library::QUEUE => Some(Maker("queue")),
        _ => None,
    }
}

impl Maker {
    pub(crate) fn over<'py>(&self, items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let source = items.try_iter()?;
        module(items.py())?.getattr(self.0)?.call1((source,))
    }
}

/// How many items are left in an iterator over a list, or in a generator that was made here. `None` for others.
pub(super) fn left(value: &Bound<'_, PyAny>, kind: Kind) -> Option<usize> {
    let py = value.py();
    let code = match kind {
        Kind::Iterator => None,
        Kind::Generator => Some("gi_code"),
        Kind::AsyncGenerator => Some("ag_code"),
        _ => return None,
    };
    // Asking a builtin class runs no other code.
    let code = code.map_or_else(|| Ok(py.None().into_bound(py)), |code| value.getattr(code)).ok()?;
    module(py).ok()?.getattr("left").ok()?.call1((value, code)).ok()?.extract().ok()?
}
