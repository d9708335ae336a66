//! Missing conversions between text and bytes, whose names say what they return.
//!
//! Projects have their own helpers for this (`ensure_text`, `force_str`, `toBytes`). The promise of such a name is
//! taken at its word, so that converting before or after joining texts is the same.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use twincell_syntax::python::{Conversion, conversion};
use twincell_values::path::AccessPath;

use crate::execution::object::MockObject;

/// Ways to decode bytes that are no text without failing.
const LENIENT: [&str; 3] = ["replace", "ignore", "surrogateescape"];

/// The result of a missing conversion. `None` for any other call.
pub(crate) fn converted<'py>(
    callee: AccessPath<'_>,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> Option<Bound<'py, PyAny>> {
    let target = conversion(callee.last_name())?;
    let value = arguments.get_item(0).ok()?;
    let option = |position: usize, name: &str| {
        let named = keywords.and_then(|keywords| keywords.get_item(name).ok().flatten());
        arguments.get_item(position).ok().or(named).and_then(|option| option.extract::<String>().ok())
    };
    let (encoding, errors) = (option(1, "encoding"), option(2, "errors"));
    let encoding = encoding.as_deref().unwrap_or("utf-8");
    // Whatever a helper does with bytes that are no text, it does something else where it is told what to do.
    let lenient = errors.as_deref().filter(|errors| LENIENT.contains(errors)).unwrap_or("backslashreplace");
    let py = value.py();
    let text = value.cast::<MockObject>().ok().map(|object| PyString::new(py, object.get().path().as_str()).into_any());
    let value = text.unwrap_or(value);
    let is_text = value.cast_exact::<PyString>().is_ok() || value.cast_exact::<PyBytes>().is_ok();
    // Any other value is converted by way of its text, as `'%s' % value` does.
    let value = if is_text { value } else { value.str().ok()?.into_any() };
    let decode = || {
        let by = |encoding: &str| value.call_method1("decode", (encoding, lenient)).ok();
        by(encoding).or_else(|| by("utf-8"))
    };
    match target {
        Conversion::Text if value.cast_exact::<PyString>().is_ok() => Some(value),
        Conversion::Text if value.cast_exact::<PyBytes>().is_ok() => decode(),
        Conversion::Bytes if value.cast_exact::<PyBytes>().is_ok() => Some(value),
        Conversion::Bytes if value.cast_exact::<PyString>().is_ok() => encoded(&value, encoding),
        _ => None,
    }
}

/// The text as bytes, character by character, so that it does not matter when texts are joined. It is unknown what the
/// helper does with a character that its encoding cannot represent. Such a character is written in UTF-8, whatever
/// encoding was named.
fn encoded<'py>(text: &Bound<'py, PyAny>, encoding: &str) -> Option<Bound<'py, PyAny>> {
    let encode = |text: &Bound<'py, PyAny>, encoding: &str, errors: &str| {
        text.call_method1("encode", (encoding, errors)).ok()?.cast_into::<PyBytes>().ok()
    };
    if let Some(bytes) = encode(text, encoding, "strict") {
        return Some(bytes.into_any());
    }
    let mut bytes = Vec::new();
    for character in text.try_iter().ok()?.filter_map(Result::ok) {
        let own = encode(&character, encoding, "strict");
        bytes.extend_from_slice(own.or_else(|| encode(&character, "utf-8", "backslashreplace"))?.as_bytes());
    }
    Some(PyBytes::new(text.py(), &bytes).into_any())
}
