//! Python objects as changes: paths, Arrow frames, and any iterables.

use std::io;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::exceptions::{PyKeyboardInterrupt, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Value};
use twincell_study::change::{Changes, Row};
use twincell_study::read::{self, Batches, RowPlace, from_fields, is_known};

use super::errors::raised;
use super::transform::PyTransform;
use super::{plain, source};

const EXPECTED: &str = "give a path, a data frame, or an iterable of dictionaries or of pairs (old, new)";

/// The reader for the changes in an object: a path (of any supported format, or a folder), anything with
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
    if object.hasattr("collect_schema")? && object.hasattr("collect")? {
        return Err(raised(format!("changes are {}: collect() it first", with_article(&kind()))));
    }
    if object.is_instance_of::<PyDict>() {
        return Err(raised(format!("changes are a single dict: {EXPECTED}")));
    }
    let total = object.len().ok().map(|count| count as u64);
    let iterator =
        object.try_iter().map_err(|_| raised(format!("changes are {}: {EXPECTED}", with_article(&kind()))))?;
    Ok(Box::new(Objects { iterator: iterator.into_any().unbind(), total, number: 0, is_stopped: false }))
}

/// Batches through Arrow's C interface. No value is copied before its row is requested.
fn arrow(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Changes>> {
    let reader = stream_of(object)?;
    let schema = reader.schema();
    let total = object.len().ok().map(|count| count as u64);
    let wrong = |what: String| raised(format!("the frame cannot be read: {what}"));
    Ok(Box::new(Batches::new(reader, &schema, total).map_err(wrong)?))
}

/// What an object with `__arrow_c_stream__` gives.
pub(super) fn stream_of(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| raised("__arrow_c_stream__ gives no capsule"))?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the capsule holds a stream, by its name. `from_raw` takes it over and leaves a released one in the capsule.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    RecordBatchStreamReader::try_new(stream).map_err(raised)
}

/// The items of an iterable.
struct Objects {
    iterator: Py<PyAny>,
    total: Option<u64>,
    number: usize,
    /// A signal came during reading. The study shall end, and nothing more is read.
    is_stopped: bool,
}

impl Changes for Objects {
    fn next(&mut self) -> Option<io::Result<Row>> {
        if self.is_stopped {
            return Some(Err(io::ErrorKind::WouldBlock.into()));
        }
        Python::attach(|py| {
            let item = match self.iterator.bind(py).call_method0("__next__") {
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => return None,
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    // Whoever watches the study hears of it again, and ends it as it ends elsewhere.
                    self.is_stopped = true;
                    // SAFETY: this thread holds the interpreter (`py`).
                    unsafe { pyo3::ffi::PyErr_SetInterrupt() };
                    return Some(Err(io::ErrorKind::WouldBlock.into()));
                }
                item => item,
            };
            self.number += 1;
            // The exception of a generator ends the study, and is its own.
            Some(item.map(|item| row(&item, RowPlace { unit: "item", number: self.number })).map_err(io::Error::other))
        })
    }

    fn total(&self) -> Option<u64> {
        self.total
    }

    fn is_read_by_caller(&self) -> bool {
        true
    }

    fn unit(&self) -> &'static str {
        "item"
    }
}

/// A dictionary, or a pair.
fn row(item: &Bound<'_, PyAny>, place: RowPlace) -> Row {
    let mut fields = Map::new();
    // Of functions, which know where they stand; as for a single comparison.
    let mut modules = Vec::new();
    let mut add = |name: &str, given: &Bound<'_, PyAny>| -> Result<(), String> {
        let value = if matches!(name, "old" | "new") && is_source(given) {
            let source = source::read(given, name).map_err(|error| error.value(given.py()).to_string())?;
            modules.extend(source.module.map(|module| (format!("{name}_module"), Value::from(module))));
            source.text.into()
        } else {
            value(name, given)?
        };
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
        let count = item.len().map_or_else(|_| String::new(), |count| format!(" of {count}"));
        let count = if item.is_instance_of::<PyString>() { String::new() } else { count };
        Err(format!("it is {}{count}; give a dictionary, or a pair (old, new)", with_article(&kind.to_string())))
    };
    match read() {
        Ok(()) => {
            if modules.len() == 2 {
                for (name, module) in modules {
                    fields.entry(name).or_insert(module);
                }
            }
            from_fields(fields, place)
        }
        Err(reason) => Err(place.wrong(fields.get("id"), &reason)),
    }
}

/// `a list`, `an int`.
fn with_article(name: &str) -> String {
    let vowel = name.starts_with(|c: char| "aeiou".contains(c.to_ascii_lowercase()));
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// A version, as `compare` takes it.
fn is_source(given: &Bound<'_, PyAny>) -> bool {
    given.is_instance_of::<PyString>() || given.is_callable() || given.hasattr("__fspath__").unwrap_or_default()
}

/// A value as JSON.
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
    // Numbers of others, such as NumPy's.
    if let Ok(number) = given.call_method0("__index__") {
        return value(name, &number);
    }
    if given.is_instance_of::<PyFloat>() {
        // NaN, which pandas has for what is not there, becomes null.
        return Ok(given.extract::<f64>().unwrap_or(f64::NAN).into());
    }
    if name == "id" {
        // Whatever JSON has a form for; anything else as its text.
        let text = || given.str().map_or(Value::Null, |text| text.to_string().into());
        return Ok(plain::id(given).unwrap_or_else(|_| text()));
    }
    let is_list = given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>();
    Ok(if is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) })
}
