//! Calls of library functions that read a file which is not there: its content is a value of the real class, with the columns
//! that the code uses, and the function reads it with the options that the code gives. Each call gives a new object.

use pyo3::exceptions::{PyImportError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCFunction, PyDict, PyFunction, PyInt, PyList, PyString, PyTuple};

use twincell_engine::observed::Observed;
use twincell_syntax::site::SiteKind;
use twincell_values::path::AccessPath;
use twincell_values::value::{AbstractValue, Declared, library};

use crate::calls::SiteCall;
use crate::execution::code;
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::resolve::{self, ValueRequest};
use crate::observe::{self, kinds::Kind};

/// Functions that read the text of a table, each with the separator that it expects.
const OF_TEXT: [(&str, &str); 2] = [("read_csv", ","), ("read_table", "\t")];
/// Names of the parameter that names the file.
const FILE: [&str; 4] = ["filepath_or_buffer", "io", "path", "source"];
/// Options that say how the bytes of a file are got. A text in memory has none.
const OF_BYTES: [&str; 3] = ["compression", "memory_map", "storage_options"];

/// Whether a real call failed since the file that it reads is not there, or is injected.
pub(super) fn is_missing(call: &SiteCall<'_, '_>, error: &PyErr) -> bool {
    let py = call.py();
    reader(call.callee).is_some_and(|(given, _)| !matches!(given, library::Given::Answer(_)))
        && (error.is_instance_of::<PyOSError>(py)
            || error.is_instance_of::<PyImportError>(py)
            || file(call).is_some_and(|file| file.is_instance_of::<MockObject>()) && is_possible(call))
}

/// Whether the function takes these arguments.
fn is_possible(call: &SiteCall<'_, '_>) -> bool {
    let signature = call.py().import("inspect").and_then(|inspect| inspect.call_method1("signature", (call.callee,)));
    signature.map_or(true, |signature| signature.call_method("bind", call.arguments, call.keywords).is_ok())
}

/// What the function gives for a file that is made up, or the exception with which it refuses its options. The same file
/// has the same content, whatever else is passed.
pub(super) fn read(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let Some(name) =
        reader(call.callee).map(|(_, name)| name).filter(|name| OF_TEXT.iter().any(|(own, _)| own == name))
    else {
        return Ok(None);
    };
    let Some(file) = file(call) else { return Ok(None) };
    let named: Vec<Observed> = vec![observe::value(&file)];
    let path = AccessPath::from(&name).call(observe::arguments_text(&named, &[])).bounded();
    let callee = state::with(|execution| execution.index.path(execution.version, call.site).before_brackets().to_buf());
    let callee = callee.unwrap_or_default();
    let request = ValueRequest {
        site: Some(call.site),
        kind: SiteKind::Call,
        identifier: &name,
        callee: callee.as_path(),
        declared: given(call.callee),
        ..ValueRequest::default()
    };
    let content = resolve::value(call.py(), path.as_path(), &request)?;
    let content = content.into_bound(call.py());
    // A text without columns cannot be read, and what made-up options do, nobody knows.
    // The options of polars are not tried.
    let is_readable = given_frame(call.callee) == Some(library::FRAME)
        && observe::kinds::of(&content) == Some(Kind::Frame)
        && content.getattr("columns")?.len()? > 0;
    if !is_readable || has_mock_option(call) {
        return copied(content).map(Some);
    }
    reread(call, &name, &content).map(|content| Some(content.unbind()))
}

/// A new object for a table, an array or a list of them. Other values stay as they are.
pub(super) fn copied(content: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if let Ok(items) = content.cast_exact::<PyList>() {
        let items = items.iter().map(copied).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(content.py(), items)?.into_any().unbind());
    }
    match observe::kinds::of(&content) {
        Some(Kind::Frame | Kind::Series | Kind::Array) => {
            let copy = if content.hasattr("copy")? { "copy" } else { "clone" };
            content.call_method0(copy).map(Bound::unbind)
        }
        _ => Ok(content.unbind()),
    }
}

fn has_mock_option(call: &SiteCall<'_, '_>) -> bool {
    let is_option = |(name, value): &(Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        value.is_instance_of::<MockObject>()
            && !name.extract::<String>().is_ok_and(|name| FILE.contains(&name.as_str()))
    };
    call.arguments.iter().skip(1).any(|value| value.is_instance_of::<MockObject>())
        || call.keywords.is_some_and(|keywords| keywords.iter().any(|option| is_option(&option)))
}

/// The content written as text, and read again with the options of the call.
fn reread<'py>(call: &SiteCall<'_, 'py>, name: &str, content: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = call.py();
    let option = |option: &str| call.keywords.and_then(|keywords| keywords.get_item(option).ok().flatten());
    let usual = OF_TEXT.iter().find(|(own, _)| *own == name).map_or(",", |(_, separator)| *separator);
    let given = option("sep").or_else(|| option("delimiter")).and_then(|given| given.extract::<String>().ok());
    let separator = given.filter(|given| given.chars().count() == 1).unwrap_or_else(|| usual.to_owned());
    let writing = PyDict::new(py);
    // A position among the columns of the file means that the labels of the rows stand first.
    let is_position = |given: &Bound<'_, PyAny>| given.is_instance_of::<PyInt>() && !given.is_instance_of::<PyBool>();
    writing.set_item("index", option("index_col").is_some_and(|given| is_position(&given)))?;
    writing.set_item("sep", separator)?;
    let text = content.call_method("to_csv", (), Some(&writing))?;
    let buffer = py.import("io")?.getattr("StringIO")?.call1((text,))?;
    let (first, rest) = match call.arguments.len() {
        0 => (None, vec![]),
        _ => (Some(buffer.clone()), call.arguments.iter().skip(1).collect()),
    };
    let is_named = first.is_none();
    let arguments = PyTuple::new(py, first.into_iter().chain(rest).collect::<Vec<_>>())?;
    let keywords = PyDict::new(py);
    for (key, value) in call.keywords.into_iter().flat_map(|keywords| keywords.iter()) {
        let name = key.extract::<String>()?;
        let is_file = is_named && FILE.contains(&name.as_str());
        if !OF_BYTES.contains(&name.as_str()) {
            keywords.set_item(key, if is_file { buffer.clone() } else { value })?;
        }
    }
    call.callee.call(arguments, Some(&keywords))
}

/// The argument that names the file.
fn file<'py>(call: &SiteCall<'_, 'py>) -> Option<Bound<'py, PyAny>> {
    let named = |name: &&str| call.keywords.and_then(|keywords| keywords.get_item(name).ok().flatten());
    let file = call.arguments.iter().next().or_else(|| FILE.iter().find_map(named))?;
    let is_name = file.is_instance_of::<MockObject>()
        || file.is_instance_of::<PyString>()
        || file.hasattr("__fspath__").unwrap_or(false);
    is_name.then_some(file)
}

/// Whether a function reads files whose content is made up as a whole.
pub(super) fn reads(callee: &Bound<'_, PyAny>) -> bool {
    reader(callee).is_some_and(|(given, _)| !matches!(given, library::Given::Answer(_)))
}

/// What a function gives that reads files, and its name.
fn reader(callee: &Bound<'_, PyAny>) -> Option<(library::Given, String)> {
    // What no library defines is not asked: it may run code.
    let is_plain = observe::kinds::of(callee) == Some(Kind::Function);
    let own = if is_plain { callee.getattr("__func__").ok() } else { None };
    let function = own.unwrap_or_else(|| callee.clone());
    if !function.is_instance_of::<PyFunction>() && !function.is_instance_of::<PyCFunction>() {
        return None;
    }
    if code::gives_later(&function) {
        return None;
    }
    let module: String = callee.getattr("__module__").ok()?.extract().ok()?;
    let name: String = callee.getattr("__name__").ok()?.extract().ok()?;
    let qualified: String = callee.getattr("__qualname__").ok()?.extract().ok()?;
    let given = library::given_at(&module, &qualified)?;
    Some((given, name))
}

/// The class of the frame that a function gives.
fn given_frame(callee: &Bound<'_, PyAny>) -> Option<&'static str> {
    match reader(callee)?.0 {
        library::Given::Frame(class) => Some(class),
        library::Given::Frames | library::Given::Array | library::Given::Answer(_) => None,
    }
}

/// The type of what a function gives that reads files or asks servers, if this is a frame, a list of some or a response.
pub(super) fn given(callee: &Bound<'_, PyAny>) -> Option<Declared> {
    let of_class = |class: &str| Declared { library: vec![class.to_owned()], ..Declared::of(&[AbstractValue::Object]) };
    match reader(callee)?.0 {
        library::Given::Frame(class) => Some(of_class(class)),
        library::Given::Frames => {
            Some(Declared { items: Some(Box::new(of_class(library::FRAME))), ..Declared::of(&[AbstractValue::List]) })
        }
        library::Given::Answer(class) => Some(of_class(class)),
        library::Given::Array => None,
    }
}
