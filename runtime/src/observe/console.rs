//! The surroundings of a run: console output, warnings, and exceptions that nobody catches.

use pyo3::exceptions::{
    PyDeprecationWarning, PyFutureWarning, PyPendingDeprecationWarning, PyRuntimeWarning, PySystemExit,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::execution::code::{FILE_NAME, FUNCTION_FILE_NAME};
use crate::execution::steps::StopExecution;
use crate::observe::kinds::is_module_of_tables;
use crate::observe::{self, messages};

/// The maximum number of characters of console output kept from one run.
const MAX_OUTPUT: usize = 20_000;

/// The classes that streams are made of, looked up once so that foreign code cannot replace them.
struct Streams {
    sys: Py<PyAny>,
    bytes: Py<PyAny>,
    text: Py<PyAny>,
    keywords: Py<PyDict>,
}

static STREAMS: PyOnceLock<Streams> = PyOnceLock::new();

impl Streams {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        STREAMS.get_or_try_init(py, || {
            let io = py.import("io")?;
            let keywords = PyDict::new(py);
            keywords.set_item("encoding", "utf-8")?;
            keywords.set_item("errors", "backslashreplace")?;
            keywords.set_item("write_through", true)?;
            keywords.set_item("newline", "\n")?;
            Ok(Self {
                sys: py.import("sys")?.into_any().unbind(),
                bytes: io.getattr("BytesIO")?.unbind(),
                text: io.getattr("TextIOWrapper")?.unbind(),
                keywords: keywords.unbind(),
            })
        })
    }
}

/// The standard streams of one run, captured in memory.
pub(crate) struct Console<'py> {
    sys: Bound<'py, PyAny>,
    before: (Bound<'py, PyAny>, Bound<'py, PyAny>),
    caught: (Bound<'py, PyAny>, Bound<'py, PyAny>),
}

impl<'py> Console<'py> {
    pub fn catch(py: Python<'py>) -> PyResult<Self> {
        let Streams { sys, bytes, text, keywords } = Streams::get(py)?;
        let sys = sys.bind(py).clone();
        let stream = || -> PyResult<Bound<'py, PyAny>> {
            text.bind(py).call((bytes.bind(py).call0()?,), Some(keywords.bind(py)))
        };
        let before = (sys.getattr("stdout")?, sys.getattr("stderr")?);
        let caught = (stream()?, stream()?);
        sys.setattr("stdout", &caught.0)?;
        sys.setattr("stderr", &caught.1)?;
        Ok(Self { sys, before, caught })
    }

    /// Restores the streams and returns the output.
    pub fn release(self) -> PyResult<(String, String)> {
        self.sys.setattr("stdout", &self.before.0)?;
        self.sys.setattr("stderr", &self.before.1)?;
        let text = |stream: &Bound<'py, PyAny>| -> String {
            let bytes = stream.getattr("buffer").and_then(|buffer| buffer.call_method0("getvalue"));
            match bytes.as_ref().map(|bytes| bytes.cast::<PyBytes>()) {
                Ok(Ok(bytes)) => {
                    let text = observe::without_addresses(String::from_utf8_lossy(bytes.as_bytes()).into_owned());
                    match text.char_indices().nth(MAX_OUTPUT) {
                        None => text,
                        // The rest counts through its hash.
                        Some((cut, _)) => format!(
                            "{}... [{} bytes, {:016x}]",
                            &text[..cut],
                            text.len(),
                            xxhash_rust::xxh3::xxh3_64(text.as_bytes())
                        ),
                    }
                }
                _ => String::new(),
            }
        };
        Ok((text(&self.caught.0), text(&self.caught.1)))
    }
}

/// Warnings in the form in which `warnings` shows them.
#[pyfunction]
#[pyo3(signature = (message, category, *_place, **_more))]
fn show_warning(
    message: &Bound<'_, PyAny>,
    category: &Bound<'_, PyAny>,
    _place: &Bound<'_, PyTuple>,
    _more: Option<&Bound<'_, PyDict>>,
) {
    if !is_of_others(category) {
        messages::warned(message, Some(category));
    }
}

/// Whether a library says that it will change, or that a calculation with tables has no result. The first is for those
/// who maintain the code, the second says no more than the result; neither is meant as behavior.
fn is_of_others(category: &Bound<'_, PyAny>) -> bool {
    let Ok(class) = category.cast::<PyType>() else { return false };
    let about_future = class.is_subclass_of::<PyDeprecationWarning>().unwrap_or(false)
        || class.is_subclass_of::<PyPendingDeprecationWarning>().unwrap_or(false)
        || class.is_subclass_of::<PyFutureWarning>().unwrap_or(false);
    let about_numbers = class.is_subclass_of::<PyRuntimeWarning>().unwrap_or(false);
    if !about_future && !about_numbers {
        return false;
    }
    let Ok((file, module)) = emitter(category.py()) else { return false };
    let is_own = matches!(file.as_str(), FILE_NAME | FUNCTION_FILE_NAME);
    !is_own && (about_future || is_module_of_tables(&module))
}

/// The file and the module of the code that warns.
fn emitter(py: Python<'_>) -> PyResult<(String, String)> {
    let mut frame = py.import("sys")?.getattr("_getframe")?.call1((0,))?;
    loop {
        let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
        if !file.ends_with("warnings.py") {
            let module = frame.getattr("f_globals")?.get_item("__name__")?.extract()?;
            return Ok((file, module));
        }
        frame = frame.getattr("f_back")?;
    }
}

/// The exception that ended a thread, without places in the code, which differ between versions.
#[pyfunction]
fn thread_ended(py: Python<'_>, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    report_exception(py, "Exception in a thread", arguments)
}

/// An exception that nobody can catch, such as one of `__del__`, without addresses and places.
#[pyfunction]
fn unraisable(py: Python<'_>, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    report_exception(py, "Exception ignored", arguments)
}

fn report_exception(py: Python<'_>, what: &str, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = arguments.getattr("exc_type")?.cast_into::<PyType>()?;
    if class.is_subclass_of::<StopExecution>()? || class.is(py.get_type::<PySystemExit>()) {
        return Ok(());
    }
    let value = arguments.getattr("exc_value")?;
    let text = if value.is_none() { String::new() } else { format!(": {}", value.str()?.to_string_lossy()) };
    let line = format!("{what}: {}{text}\n", class.name()?);
    py.import("sys")?.getattr("stderr")?.call_method1("write", (line,))?;
    Ok(())
}

static LISTENING: PyOnceLock<()> = PyOnceLock::new();

/// Once for each process: listens to warnings and to exceptions that nobody catches.
pub(super) fn listen(py: Python<'_>) -> PyResult<()> {
    LISTENING.get_or_try_init(py, || -> PyResult<()> {
        let warnings = py.import("warnings")?;
        warnings.call_method1("simplefilter", ("always",))?;
        warnings.setattr("showwarning", wrap_pyfunction!(show_warning, py)?)?;
        let sys = py.import("sys")?;
        sys.setattr("unraisablehook", wrap_pyfunction!(unraisable, py)?)?;
        py.import("threading")?.setattr("excepthook", wrap_pyfunction!(thread_ended, py)?)?;
        Ok(())
    })?;
    Ok(())
}
