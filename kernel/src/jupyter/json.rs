//! Python values -> the JSON text of a message. Plain data is written here directly. The rest (bytes, dates, numbers
//! that are not finite, keys that are not text) goes to `twincell._json`, which never fails.

use bytes::Bytes;
use json_escape_simd::escape_into;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::buffers;

/// The maximum nesting of containers. Deeper ones, and those that contain themselves, are not written here.
const MAX_DEPTH: u32 = 50;
/// The number of bytes of a text that are escaped at once.
const PIECE: usize = 4 * 1024;

/// The JSON text of a value.
pub fn to_json(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let mut text = Vec::with_capacity(256);
    if write(value, &mut text, 0).is_some() {
        return Ok(buffers::freeze(text));
    }
    drop(buffers::freeze(text));
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
        write_text(value.to_str().ok()?, text);
        Some(())
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
            write_text(key.cast_exact::<PyString>().ok()?.to_str().ok()?, text);
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

/// Writes a text piece by piece, since each piece gets room for the longest form that it might have.
fn write_text(value: &str, text: &mut Vec<u8>) {
    if value.len() > buffers::SHORTEST {
        *text = buffers::grown(std::mem::take(text));
    }
    if value.len() > PIECE {
        text.reserve(value.len() + 8 * PIECE);
    }
    let (piece, mut rest) = value.split_at(value.floor_char_boundary(PIECE));
    escape_into(piece, text);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        // The quote that ended the text goes, and the one that begins the piece takes the place of the byte before it.
        let end = text.len() - 2;
        let last = text[end];
        text.truncate(end);
        escape_into(piece, text);
        text[end] = last;
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_all_lengths_are_as_serde_writes_them() {
        for unit in ["a", "\"", "\u{1}", "é\\", "\u{1f600}\n", "\u{7f}\u{2028}/<"] {
            for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
                let value = format!("{}{}", "b".repeat(length % 3), unit.repeat(length));
                let mut text = b"[".to_vec();
                write_text(&value, &mut text);
                assert!(text[1..] == *serde_json::to_vec(&value).unwrap(), "{length} times {unit:?}");
            }
        }
    }
}
