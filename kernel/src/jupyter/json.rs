//! Python values -> the JSON text of a message. Plain data is written here directly. The rest (bytes, dates, numbers
//! that are not finite, keys that are not text) goes to `twincell._json`, which never fails.

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The maximum nesting of containers. Deeper ones, and those that contain themselves, are not written here.
const MAX_DEPTH: u32 = 50;

/// The JSON text of a value.
pub fn to_json(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let mut text = Vec::with_capacity(256);
    if write(value, &mut text, 0).is_some() {
        return Ok(text.into());
    }
    let dumps = value.py().import("twincell._json")?.getattr("dumps")?;
    let text: String = dumps.call1((value,))?.extract()?;
    Ok(text.into())
}

/// `None` if the value is more than plain data.
fn write(value: &Bound<'_, PyAny>, text: &mut Vec<u8>, depth: u32) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Ok(value) = value.cast_exact::<PyString>() {
        write_text(value.to_str().ok()?, text)
    } else if value.is_none() {
        text.extend_from_slice(b"null");
        Some(())
    } else if let Ok(value) = value.cast_exact::<PyBool>() {
        text.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
        Some(())
    } else if let Ok(value) = value.cast_exact::<PyInt>() {
        serde_json::to_writer(text, &value.extract::<i64>().ok()?).ok()
    } else if let Ok(value) = value.cast_exact::<PyFloat>() {
        let value = value.value();
        value.is_finite().then(|| serde_json::to_writer(text, &value).ok())?
    } else if let Ok(value) = value.cast_exact::<PyDict>() {
        text.push(b'{');
        for (index, (key, item)) in value.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            write_text(key.cast_exact::<PyString>().ok()?.to_str().ok()?, text)?;
            text.push(b':');
            write(&item, text, depth + 1)?;
        }
        text.push(b'}');
        Some(())
    } else if let Ok(value) = value.cast_exact::<PyList>() {
        write_items(value.iter(), text, depth)
    } else if let Ok(value) = value.cast_exact::<PyTuple>() {
        write_items(value.iter(), text, depth)
    } else {
        None
    }
}

fn write_items<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, text: &mut Vec<u8>, depth: u32) -> Option<()> {
    text.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write(&item, text, depth + 1)?;
    }
    text.push(b']');
    Some(())
}

fn write_text(value: &str, text: &mut Vec<u8>) -> Option<()> {
    text.reserve(value.len() + 2);
    serde_json::to_writer(text, value).ok()
}
