//! Values for names within the texts of queries: `df.query('price > @limit')` looks `limit` up among the names of the
//! code around it, without a hook.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use twincell_syntax::{EVALUATORS, names_in_query};

use crate::calls::SiteCall;
use crate::execution::code::callers_globals;
use crate::inject::names;
use crate::observe::kinds::{self, Kind};

/// Globals of the calling code for the time of a call.
pub(super) struct Supplied<'py> {
    globals: Bound<'py, PyDict>,
    names: Vec<String>,
}

impl Drop for Supplied<'_> {
    fn drop(&mut self) {
        for name in &self.names {
            // The query may have removed it.
            let _ = self.globals.del_item(name);
        }
    }
}

/// Gives the calling code the names that the text of a query reads and nothing defines.
pub(super) fn supply<'py>(call: &SiteCall<'_, 'py>) -> PyResult<Option<Supplied<'py>>> {
    let (Some(text), Some(globals)) = (text(call), callers_globals(call.py())) else { return Ok(None) };
    let text = text.to_string_lossy();
    let mut supplied = Supplied { globals, names: Vec::new() };
    for name in names_in_query(&text) {
        if supplied.globals.contains(name)? || is_local(call.py(), name) {
            continue;
        }
        supplied.globals.set_item(name, names::global(call.py(), name)?)?;
        supplied.names.push(name.to_owned());
    }
    Ok(Some(supplied))
}

/// The text that a call evaluates on a table.
fn text<'py>(call: &SiteCall<'_, 'py>) -> Option<Bound<'py, PyString>> {
    if kinds::of(call.callee) != Some(Kind::Function) || !kinds::is_of_tables(&call.callee.getattr("__self__").ok()?) {
        return None;
    }
    let name = call.callee.getattr("__name__").ok()?.extract::<String>().ok()?;
    let names_are_given = call.keywords.is_some_and(|keywords| {
        ["local_dict", "global_dict", "resolvers"].into_iter().any(|name| keywords.contains(name).unwrap_or(false))
    });
    if names_are_given {
        return None;
    }
    let first = EVALUATORS.contains(&name.as_str()).then(|| call.arguments.get_item(0).ok())??;
    first.cast_into_exact().ok()
}

/// Whether a local of the running code has this name.
fn is_local(py: Python<'_>, name: &str) -> bool {
    // SAFETY: this thread holds the interpreter. The reference is borrowed from the running frame, or null if none runs.
    let locals = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetLocals()) };
    if locals.is_none() {
        // Then an exception says that no frame runs.
        let _ = PyErr::take(py);
    }
    locals.is_some_and(|locals| locals.contains(name).unwrap_or(false))
}
