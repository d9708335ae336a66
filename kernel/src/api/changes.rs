//! Python objects as changes: paths, frames of Arrow, and whatever can be iterated over.

use std::io;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Value};

use super::transform::PyTransform;
use super::{raised, source};
use crate::study::change::{Changes, Row};
use crate::study::read::{self, Batches, Place, from_fields, is_known};

const EXPECTED: &str = "give a path, a data frame, or an iterable of dictionaries or of pairs (old, new)";

/// What gives the changes that an object holds: a path (of any format that is read, or a folder), anything with
/// `__arrow_c_stream__` (frames of pandas and polars, tables of pyarrow), or an iterable of dictionaries or pairs.
pub fn changes_of(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Changes>> {
    if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
        let path: std::path::PathBuf = object.extract()?;
        return object.py().detach(|| read::open(&path)).map_err(raised);
    }
    if let Ok(transform) = object.cast::<PyTransform>() {
        // With what the command could not take, which its dictionaries leave out.
        return Ok(transform.get().rest());
    }
    if object.hasattr("__arrow_c_stream__")? {
        return arrow(object);
    }
    let kind = || object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    if object.is_instance_of::<PyDict>() {
        return Err(raised(format!("changes are one dict: {EXPECTED}")));
    }
    let total = object.len().ok().map(|count| count as u64);
    let iterator = object.try_iter().map_err(|_| raised(format!("changes are a {}: {EXPECTED}", kind())))?;
    Ok(Box::new(Objects { iterator: iterator.into_any().unbind(), total, number: 0 }))
}

/// Batches through Arrow's C interface: no value is copied before its row is asked for.
fn arrow(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Changes>> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| raised("__arrow_c_stream__ gives no capsule"))?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // The capsule holds a stream, by its name; it is taken over, and what is left in the capsule says so.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = RecordBatchStreamReader::try_new(stream).map_err(raised)?;
    let schema = reader.schema();
    let total = object.len().ok().map(|count| count as u64);
    let wrong = |what: String| raised(format!("the frame cannot be read: {what}"));
    Ok(Box::new(Batches::new(reader, &schema, total).map_err(wrong)?))
}

/// The items of an iterable.
struct Objects {
    iterator: Py<PyAny>,
    total: Option<u64>,
    number: usize,
}

impl Changes for Objects {
    fn next(&mut self) -> Option<io::Result<Row>> {
        Python::attach(|py| {
            let item = match self.iterator.bind(py).try_iter().map(|mut items| items.next()) {
                Ok(item) => item?,
                Err(error) => Err(error),
            };
            self.number += 1;
            // The exception of a generator ends the study, and is its own.
            Some(item.map(|item| row(&item, Place { unit: "item", number: self.number })).map_err(io::Error::other))
        })
    }

    fn total(&self) -> Option<u64> {
        self.total
    }

    fn unit(&self) -> &'static str {
        "item"
    }
}

/// A dictionary, or a pair.
fn row(item: &Bound<'_, PyAny>, place: Place) -> Row {
    let mut fields = Map::new();
    let mut add = |name: &str, given: &Bound<'_, PyAny>| -> Result<(), String> {
        let value = value(name, given)?;
        fields.insert(name.to_owned(), value);
        Ok(())
    };
    let mut read = || -> Result<(), String> {
        if let Ok(mapping) = item.cast::<PyMapping>() {
            let items = mapping.items().map_err(|error| error.to_string())?;
            for item in items {
                let (name, given) =
                    item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().map_err(|error| error.to_string())?;
                if let Ok(name) = name.extract::<String>()
                    && is_known(&name)
                {
                    add(&name, &given)?;
                }
            }
            return Ok(());
        }
        if (item.is_instance_of::<PyTuple>() || item.is_instance_of::<PyList>())
            && let Ok([old, new]) = item.extract::<[Bound<'_, PyAny>; 2]>()
        {
            add("old", &old)?;
            return add("new", &new);
        }
        let kind = item.get_type().name().map_err(|error| error.to_string())?;
        Err(format!("it is a {kind}; give a dictionary, or a pair (old, new)"))
    };
    match read() {
        Ok(()) => from_fields(fields, place),
        Err(reason) => Err(place.wrong(fields.get("id"), &reason)),
    }
}

/// A value as JSON has it; paths and functions are read as `compare` reads them.
fn value(name: &str, given: &Bound<'_, PyAny>) -> Result<Value, String> {
    if given.is_none() {
        return Ok(Value::Null);
    }
    if given.is_instance_of::<PyString>() {
        let text = given.extract::<String>();
        return text.map(Value::from).map_err(|_| format!("the field `{name}` holds a lone surrogate: drop it"));
    }
    if given.is_instance_of::<PyBool>() {
        return Ok(given.is_truthy().unwrap_or_default().into());
    }
    if given.is_instance_of::<PyInt>() {
        let number = given.extract::<i64>().map(Value::from);
        return Ok(number.unwrap_or_else(|_| given.str().map_or(Value::Null, |text| text.to_string().into())));
    }
    if given.is_instance_of::<PyFloat>() {
        // NaN, which pandas has for what is not there, becomes null.
        return Ok(given.extract::<f64>().unwrap_or(f64::NAN).into());
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        return Ok(Value::Array(Vec::new()));
    }
    let is_path = given.hasattr("__fspath__").unwrap_or_default();
    if matches!(name, "old" | "new") && (given.is_callable() || is_path) {
        return source::read(given, name).map(|source| source.text.into()).map_err(|error| error.to_string());
    }
    match (name, given.str()) {
        ("id", Ok(text)) => Ok(text.to_string().into()),
        _ => Ok(Value::Object(Map::new())),
    }
}
