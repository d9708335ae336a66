//! Missing conversions between text and bytes, whose names say what they return.
//!
//! Projects have their own helpers for this (`ensure_text`, `force_str`, `toBytes`). The promise of such a name is
//! taken at its word, so that converting before or after joining texts is the same.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use twincell_values::path::AccessPath;

use crate::execution::object::Versatile;

/// Words that promise a conversion, and words that may stand beside them.
const PROMISING: [&str; 7] = ["to", "as", "into", "force", "ensure", "smart", "coerce"];
const BESIDE: [&str; 3] = ["native", "safe", "unicode"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Text,
    Bytes,
}

/// The result of a missing conversion. `None` for any other call.
pub(crate) fn converted<'py>(
    callee: &str,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> Option<Bound<'py, PyAny>> {
    let target = target(AccessPath::new(callee).last_name())?;
    let value = arguments.get_item(0).ok()?;
    let named = keywords.and_then(|keywords| keywords.get_item("encoding").ok().flatten());
    let encoding = arguments.get_item(1).ok().or(named).and_then(|encoding| encoding.extract::<String>().ok());
    let encoding = encoding.as_deref().unwrap_or("utf-8");
    let py = value.py();
    let text = value.cast::<Versatile>().ok().map(|object| PyString::new(py, object.get().path()).into_any());
    let value = text.unwrap_or(value);
    let is_text = value.cast_exact::<PyString>().is_ok() || value.cast_exact::<PyBytes>().is_ok();
    // Any other value is converted by way of its text, as `'%s' % value` does.
    let value = if is_text { value } else { value.str().ok()?.into_any() };
    let decode = || {
        let by = |encoding: &str| value.call_method1("decode", (encoding, "backslashreplace")).ok();
        by(encoding).or_else(|| by("utf-8"))
    };
    match target {
        Target::Text if value.cast_exact::<PyString>().is_ok() => Some(value),
        Target::Text if value.cast_exact::<PyBytes>().is_ok() => decode(),
        Target::Bytes if value.cast_exact::<PyBytes>().is_ok() => Some(value),
        Target::Bytes if value.cast_exact::<PyString>().is_ok() => encoded(&value, encoding),
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

/// The promise of a name: `to_native_str` gives a text, `ensureBytes` gives bytes.
fn target(name: &str) -> Option<Target> {
    let mut words: Vec<String> = vec![String::new()];
    for character in name.chars() {
        if character == '_' || character.is_uppercase() {
            words.push(String::new());
        }
        if character != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    let (last, before) = words.split_last()?;
    let target = match last.as_str() {
        "str" | "string" | "text" | "unicode" => Target::Text,
        "bytes" | "binary" => Target::Bytes,
        _ => return None,
    };
    let promises = |word: &String| PROMISING.contains(&word.as_str());
    let fits = before.iter().all(|word| promises(word) || BESIDE.contains(&word.as_str()));
    (fits && before.iter().any(promises)).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_conversions_are_told_from_others() {
        for name in ["to_text", "ensure_str", "force_text", "smart_str", "toString", "to_native_str", "as_unicode"] {
            assert_eq!(target(name), Some(Target::Text), "{name}");
        }
        for name in ["ensureBytes", "force_bytes", "ensure_binary"] {
            assert_eq!(target(name), Some(Target::Bytes), "{name}");
        }
        for name in ["str", "text", "get_text", "to_list", "to_html_text", "ensure", "read_bytes", "native_str"] {
            assert_eq!(target(name), None, "{name}");
        }
    }
}
