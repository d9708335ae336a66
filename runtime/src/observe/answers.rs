//! Responses of servers -> plain data: status, headers, content. What their classes keep beside these says only what was asked
//! of them before.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule};

use super::kinds::{self, Kind};

static READER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = c"
import sys

# How headers are held, by the class that holds them.
HEADERS = {}
_get = object.__getattribute__


def classes():
    found = []
    for name, holder, attribute in (('requests', 'structures.CaseInsensitiveDict', '_store'), ('httpx', 'Headers', '_list')):
        module = sys.modules.get(name)
        if hasattr(module, 'Response'):
            found.append(module.Response)
            for part in holder.split('.'):
                module = getattr(module, part, None)
            HEADERS[module] = attribute
    return found


def read(value):
    # What lies in the object itself, since code may have put its own objects there.
    own = _get(value, '__dict__')
    headers = own.get('headers')
    if type(headers) in HEADERS:
        headers = _get(headers, '__dict__').get(HEADERS[type(headers)])
    names = ('status_code', 'reason', 'url', '_content')
    return {**{name.strip('_'): own[name] for name in names if name in own}, 'headers': headers}
";

/// Notes the classes of the libraries that are imported by now. Foreign code must not have run since.
pub(crate) fn note(py: Python<'_>) -> PyResult<()> {
    let modules = py.import("sys")?.getattr("modules")?;
    if !modules.contains("requests")? && !modules.contains("httpx")? {
        return Ok(());
    }
    let reader = READER.get_or_try_init(py, || {
        PyModule::from_code(py, SOURCE, c"twincell_answers.py", c"twincell_answers").map(Bound::unbind)
    })?;
    let found = reader.bind(py).getattr("classes")?.call0()?.cast_into::<PyList>()?;
    kinds::add(Kind::Answer, &found)
}

/// The parts of a response, by name. `None` if it cannot be read.
pub(super) fn parts<'py>(value: &Bound<'py, PyAny>) -> Option<Vec<(String, Bound<'py, PyAny>)>> {
    let reader = READER.get(value.py())?.bind(value.py());
    let found = reader.getattr("read").and_then(|read| read.call1((value,))).ok()?.cast_into::<PyDict>().ok()?;
    found.iter().map(|(name, part)| Some((name.extract().ok()?, part))).collect()
}
