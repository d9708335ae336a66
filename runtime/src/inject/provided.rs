//! Values that a project declares for its classes: expressions, evaluated in the module of the class, and what functions
//! of the project make.

use std::cell::RefCell;
use std::collections::HashMap;

use pyo3::exceptions::{PyImportError, PyNameError};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};

use twincell_values::value::{Makes, NOTEBOOK, Provided, within_module};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::{builtins, project};

/// The number of compiled expressions that are kept.
const KEPT: usize = 1000;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Py<PyCode>>> = RefCell::default();
}

/// A separate value for the running version. An error if what it needs is missing.
pub(crate) fn make<'py>(py: Python<'py>, provided: &Provided) -> PyResult<Py<PyAny>> {
    let value = match &provided.by.makes {
        Makes::Expressions(all) => match all.get(provided.number as usize) {
            Some(text) => evaluate(py, text, &provided.by.class)?,
            None => return Err(PyNameError::new_err("there is no such value")),
        },
        Makes::Function(name) => {
            let (module, name) = within_module(name);
            let module = module.unwrap_or_default();
            let function = match module {
                NOTEBOOK => own_globals(py)?.get_item(name)?,
                _ => project::in_project(py, module, name)?,
            };
            if function.is_instance_of::<MockObject>() {
                return Err(not_there(module, name));
            }
            let random = py.import("random")?.getattr("Random")?.call1((provided.number,))?;
            function.call1((random,))?
        }
    };
    if value.is_instance_of::<MockObject>() {
        return Err(PyNameError::new_err("something that it uses is missing"));
    }
    Ok(value.unbind())
}

/// Whether the running version has the class, if it is one of the code's own module.
pub(crate) fn is_in_reach(py: Python<'_>, provided: &Provided) -> PyResult<bool> {
    match within_module(&provided.by.class) {
        (None, name) => own_globals(py)?.contains(name.split('.').next().unwrap_or(name)),
        _ => Ok(true),
    }
}

/// An expression in the module of a class. Nothing that it assigns stays.
fn evaluate<'py>(py: Python<'py>, text: &str, class: &str) -> PyResult<Bound<'py, PyAny>> {
    let globals = match within_module(class) {
        (Some(module), name) => {
            let found = project::project_module(py, module, name)?;
            if found.is_instance_of::<MockObject>() {
                return Err(not_there(module, name));
            }
            found.getattr("__dict__")?
        }
        (None, _) => own_globals(py)?,
    };
    builtins::plain_builtin(py, "eval")?.call1((compiled(py, text)?, globals, PyDict::new(py)))
}

/// The globals of the running version.
fn own_globals(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let own = state::with(|execution| execution.globals.as_ref().map(|own| own.clone_ref(py))).flatten();
    Ok(own.ok_or_else(|| PyNameError::new_err("no module is loaded"))?.into_bound(py).into_any())
}

fn compiled<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyCode>> {
    if let Some(known) = COMPILED.with_borrow(|all| all.get(text).map(|code| code.clone_ref(py))) {
        return Ok(known.into_bound(py));
    }
    let code =
        builtins::plain_builtin(py, "compile")?.call1((text.trim(), "<value>", "eval"))?.cast_into::<PyCode>()?;
    COMPILED.with_borrow_mut(|all| {
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(text.to_owned(), code.clone().unbind());
    });
    Ok(code)
}

fn not_there(module: &str, name: &str) -> PyErr {
    PyImportError::new_err(format!("cannot import '{name}' from '{module}'"))
}
