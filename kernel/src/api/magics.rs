//! The magics' entry points: lines and cells in, comparisons out. What they mean is decided in [`crate::magics`].

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::prelude::*;
use twincell_core::compare::Source;

use super::comparison::PyComparison;
use super::{raised, run};
use crate::magics::{self, MagicError, Request};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compare_cell, module)?)?;
    module.add_function(wrap_pyfunction!(compare_stored, module)?)?;
    module.add_function(wrap_pyfunction!(version_name, module)?)?;
    module.add_function(wrap_pyfunction!(magic_flags, module)?)
}

/// `%%compare LINE` over a cell. `last` is what the same notebook cell held when it last ran.
///
/// Returns the comparison, the code to run afterwards, and what to print; each may be `None`.
#[pyfunction]
#[pyo3(signature = (line, cell, last = None))]
fn compare_cell(
    py: Python<'_>,
    line: &str,
    cell: &str,
    last: Option<&str>,
) -> PyResult<(Option<PyComparison>, Option<String>, Option<String>)> {
    let request = match magics::read_compare_cell(line).map_err(raised)? {
        Request::Do(request) => request,
        Request::Help(help) => return Ok((None, None, Some(help))),
    };
    let (old, new) = if request.with_last {
        if cell.trim().is_empty() {
            return Err(raised(MagicError::EmptyCell));
        }
        // The magic is line 1 of the cell.
        let new = format!("\n{cell}");
        let Some(last) = last else {
            return Ok((None, request.run.then_some(new), Some(magics::FIRST_RUN.to_owned())));
        };
        (magics::code_of(last), new)
    } else {
        magics::split(cell).map_err(raised)?
    };
    let source = |text: &String, label: &str| Source { text: text.clone(), module: None, label: label.to_owned() };
    let old = source(&old, if request.with_last { "what the cell held before" } else { "the old version" });
    let new = source(&new, "the new version");
    let comparison = run(py, &old, &new, &request.options)?;
    let written = write_reproducer(&comparison, request.reproducer.as_deref())?;
    Ok((Some(comparison), request.run.then_some(new.text), written))
}

/// `%compare LINE` over the stored versions. Returns the comparison, and what to print; each may be `None`.
#[pyfunction]
fn compare_stored(
    py: Python<'_>,
    line: &str,
    versions: BTreeMap<String, String>,
) -> PyResult<(Option<PyComparison>, Option<String>)> {
    let request = match magics::read_compare_stored(line).map_err(raised)? {
        Request::Do(request) => request,
        Request::Help(help) => return Ok((None, Some(help))),
    };
    let source = |name: &String| match versions.get(name) {
        Some(text) => Ok(Source { text: text.clone(), module: None, label: format!("the version {name}") }),
        None => {
            let names: Vec<_> = versions.keys().map(String::as_str).collect();
            let known = match names.as_slice() {
                [] => format!("store it with %%version {name} at the top of a cell"),
                names => format!("there are: {}", names.join(", ")),
            };
            Err(raised(MagicError::UnknownVersion { name: name.clone(), known }))
        }
    };
    let comparison = run(py, &source(&request.old)?, &source(&request.new)?, &request.options)?;
    let written = write_reproducer(&comparison, request.reproducer.as_deref())?;
    Ok((Some(comparison), written))
}

/// Writes the reproducer where the user asked for it; gives what to print about that.
fn write_reproducer(comparison: &PyComparison, path: Option<&Path>) -> PyResult<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let lines = crate::reproducers::write(comparison.report(), path).map_err(raised)?;
    Ok(Some(lines.join("\n")))
}

/// `%%version LINE`: the name to store the cell under, or help to print.
#[pyfunction]
fn version_name(line: &str, cell: &str) -> PyResult<(Option<String>, Option<String>)> {
    match magics::read_version_cell(line).map_err(raised)? {
        Request::Do(_) if cell.trim().is_empty() => Err(raised(MagicError::EmptyCell)),
        Request::Do(name) => Ok((Some(name), None)),
        Request::Help(help) => Ok((None, Some(help))),
    }
}

/// The flags of `%%compare` (or, for `False`, of `%compare`).
#[pyfunction]
fn magic_flags(cell: bool) -> Vec<String> {
    magics::flags(cell)
}
