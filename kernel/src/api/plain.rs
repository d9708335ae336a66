//! Plain data as Python's values, and back, by way of JSON.

use pyo3::prelude::*;
use pyo3::types::PyBool;
use serde::Serialize;
use serde_json::Value;
use twincell_widgets::plain_json;

use super::errors::raised;

/// Plain data as Python dictionaries, lists, strings and numbers.
pub fn plain<'py>(py: Python<'py>, data: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(data).map_err(raised)?;
    py.import("json")?.call_method1("loads", (json,))
}

/// The text of a JSON document that can be printed: no character of a string in it changes a terminal.
pub fn json(data: &impl Serialize) -> PyResult<String> {
    Ok(plain_json(&serde_json::to_string(data).map_err(raised)?))
}

/// An id given in Python.
pub fn id(id: &Bound<'_, PyAny>) -> PyResult<Value> {
    // An integer of others, such as NumPy's, is one of JSON's.
    let number = if id.is_instance_of::<PyBool>() { None } else { id.call_method0("__index__").ok() };
    let id = number.as_ref().unwrap_or(id);
    let text: String = id
        .py()
        .import("json")?
        .call_method1("dumps", (id,))
        .and_then(|text| text.extract())
        .map_err(|_| raised("an id must be a JSON value, such as a text or a number"))?;
    serde_json::from_str(&text).map_err(raised)
}
