//! Responses of servers -> plain data: status, headers, content, and what differs from a new response. What their classes keep
//! of what was asked of them before is left out.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule};

use super::kinds::{self, Kind};

static READER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = cr#"
import sys

# How headers are held, by the class that holds them.
HEADERS = {}
# The class that holds cookies.
JARS = set()
SHOWN = ('status_code', 'reason', 'url', '_content')
# What says how an answer came and what was asked of it before.
CACHES = {
    '_content_consumed', '_cookies', '_decoder', '_elapsed', '_encoding', '_next', '_num_bytes_downloaded', '_request',
    '_text', 'connection', 'elapsed', 'extensions', 'is_closed', 'is_stream_consumed', 'next_request', 'raw', 'request',
    'stream',
}
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
    cookies = getattr(sys.modules.get('requests'), 'cookies', None)
    if hasattr(cookies, 'RequestsCookieJar'):
        JARS.add(cookies.RequestsCookieJar)
    return found


def is_new(name, value):
    """Whether an attribute is as in a new answer."""
    if name == 'default_encoding':
        return type(value) is str and value == 'utf-8'
    return value is None or type(value) is list and not value


def baked(jar):
    """What lies in a jar of cookies: domain, path, name, and what the cookie holds."""
    found = {}
    for domain, paths in _get(jar, '__dict__')['_cookies'].items():
        for path, cookies in paths.items():
            for name, cookie in cookies.items():
                found[domain, path, name] = _get(cookie, '__dict__').get('value')
    return found or None


def read(value):
    # What lies in the object itself, since code may have put its own objects there.
    own = _get(value, '__dict__')
    headers = own.get('headers')
    if type(headers) in HEADERS:
        headers = _get(headers, '__dict__').get(HEADERS[type(headers)])
    found = {**{name.strip('_'): own[name] for name in SHOWN if name in own}, 'headers': headers}
    for name in sorted(name for name in own if type(name) is str):
        if name in CACHES or name in SHOWN or name in found:
            continue
        part = baked(own[name]) if type(own[name]) in JARS else own[name]
        if not is_new(name, part):
            found[name] = part
    return found
"#;

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
