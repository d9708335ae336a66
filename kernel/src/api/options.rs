//! Keyword arguments of Python as the options of the table.

use std::ffi::CString;

use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use twincell_driver::examples::given_as_text;
use twincell_driver::options::{GivenOption, Job, Kind, Options, Spelling, Value, add_given, find_for};
use twincell_driver::policy::in_force;
use twincell_widgets::plain_sentence;

use super::errors::raised;
use super::source;

/// Keyword arguments as options of a job, on top of the policy; `None` leaves what it would be without them.
pub fn read_options(py: Python<'_>, keywords: Option<&Bound<'_, PyDict>>, job: Job) -> PyResult<Options> {
    let (given, calls) = given(py, keywords, job)?;
    let mut options = in_force(job, &given).map_err(raised)?;
    warn_of_old_spellings(py, &options)?;
    if let Some(calls) = calls {
        let written: String = calls.py().import("twincell._examples")?.call_method1("written", (calls,))?.extract()?;
        options.add_examples(given_as_text(&written).map_err(raised)?);
    }
    Ok(options)
}

/// Keyword arguments as options of a job, and examples that are given as they are.
pub fn given<'py>(
    py: Python<'py>,
    keywords: Option<&Bound<'py, PyDict>>,
    job: Job,
) -> PyResult<(Vec<GivenOption>, Option<Bound<'py, PyAny>>)> {
    super::providers::of_libraries(py)?;
    let mut given = Vec::new();
    let mut calls = None;
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        let option = find_for(job, &name).map_err(raised)?;
        if name == "examples" && is_collection(&value) {
            calls = Some(value);
        } else if !value.is_none() {
            let one = option.check(option_value(&value, option.kind())?).map_err(raised)?;
            add_given(&mut given, one).map_err(raised)?;
        }
    }
    Ok((given, calls))
}

/// Warns a caller of the library of old spellings, each with what to write instead.
pub fn warn_of_old_spellings(py: Python<'_>, options: &Options) -> PyResult<()> {
    for deprecation in &options.deprecations {
        let line = CString::new(deprecation.line(Spelling::Python)).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &line, 1)?;
    }
    Ok(())
}

/// Says to the user of a magic what to write in place of old spellings, in one line each on standard error.
pub fn print_old_spellings(py: Python<'_>, options: &Options) -> PyResult<()> {
    for deprecation in &options.deprecations {
        let line = format!("{}\n", plain_sentence(&deprecation.line(Spelling::CommandLine)));
        py.import("sys")?.getattr("stderr")?.call_method1("write", (line,))?;
    }
    Ok(())
}

/// Whether examples are given as they are, and not as the path of their file.
fn is_collection(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyDict>()
}

/// A value as the table takes it; the table says what is wrong with it.
fn option_value(value: &Bound<'_, PyAny>, kind: Kind) -> PyResult<Value> {
    if kind.is_list() && (value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) {
        return Ok(value.extract::<Vec<String>>().map_or(Value::Text(value.repr()?.to_string()), Value::listed));
    }
    if value.is_instance_of::<PyBool>() {
        // A bool is an int to Python; as a number it is a mistake.
        return Ok(Value::Text(value.str()?.to_string()));
    }
    if value.is_instance_of::<PyInt>() {
        // What does not fit is out of range for every option.
        return Ok(Value::Integer(value.extract::<i128>().unwrap_or(i128::MAX)));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Number(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::Text(value.extract()?));
    }
    match source::path(value)? {
        Some(path) => Ok(Value::Path(path)),
        None => Ok(Value::Text(value.repr()?.to_string())),
    }
}
