//! Python objects as texts to compare: source text, paths, functions and classes.

use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use twincell_compare::Source;
use twincell_driver::files;

use super::errors::raised;

/// The text that an object stands for. Errors call a plain text `label`.
pub fn read(object: &Bound<'_, PyAny>, label: &str) -> PyResult<Source> {
    if object.is_instance_of::<PyString>() {
        let text: String = object.extract().map_err(|_| {
            raised(format!("{label} holds a lone surrogate, which no Python file can: write it as \\ud800"))
        })?;
        if text.trim_end().ends_with(".py") && !text.trim().contains('\n') {
            return Err(raised(format!(
                "{label} is the text {text:?}, not code: for a file give its path, pathlib.Path({text:?})"
            )));
        }
        return Ok(Source { text, label: label.to_owned(), ..Source::default() });
    }
    if let Some(path) = path(object)? {
        return files::read_version(&path).map_err(raised);
    }
    from_object(object, label)
}

/// The path that an object is (`os.PathLike`), if it is one.
pub fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.hasattr("__fspath__")? { object.extract().map(Some) } else { Ok(None) }
}

/// The text of a function, method or class, with its module if that has a file.
fn from_object(object: &Bound<'_, PyAny>, label: &str) -> PyResult<Source> {
    let py = object.py();
    let inspect = py.import("inspect")?;
    let text: String = match py.import("twincell._source")?.call_method1("source", (object,)) {
        Ok(text) => text.extract()?,
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            let given = object.get_type().name()?;
            return Err(raised(format!("{label} is of class {given}: give source text, a path or a function")));
        }
        Err(error) if error.is_instance_of::<PyOSError>(py) => {
            return Err(raised(format!("the source of {label} is not available: give its text instead")));
        }
        Err(error) => return Err(error),
    };
    let module =
        inspect.call_method1("getmodule", (object,)).and_then(|module| inspect.call_method1("getsource", (module,)));
    let module = module.and_then(|text| text.extract()).ok();
    let name = object.getattr("__qualname__").and_then(|name| name.extract()).unwrap_or_else(|_| label.to_owned());
    Ok(Source { text, module, label: name, ..Source::default() })
}
