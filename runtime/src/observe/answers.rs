//! Responses of servers -> plain data: status, headers, content. What their classes keep beside these says only what was asked
//! of them before.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule};

use super::kinds::{self, Kind};

static READER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = c"
import sys


def classes():
    modules = [sys.modules.get(name) for name in ('requests', 'httpx')]
    return [module.Response for module in modules if hasattr(module, 'Response')]


def read(value):
    reason = value.reason if 'reason' in vars(value) else value.reason_phrase
    try:
        content = value.content
    except Exception:
        content = None
    headers = sorted(value.headers.items())
    return {'status_code': value.status_code, 'reason': reason, 'headers': headers, 'content': content}
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
