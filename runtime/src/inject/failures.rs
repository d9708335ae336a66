//! Failures of operators on injected objects. Any operation in a `try` body, not only a call, may raise an exception
//! that an `except` clause names. Whether it fails is a decision of the operation, so it fails in every version, also
//! in one without the handler.

use pyo3::prelude::*;
use pyo3::types::PyModule;

use twincell_values::path::{Question, bounded};
use twincell_values::value::Decision;

use crate::execution::state;
use crate::inject::resolve;

/// A module may lack a name on another machine. If some version is prepared for that, the look-up may fail, in every
/// version.
pub(crate) fn may_lack(py: Python<'_>, object: &Bound<'_, PyAny>, site: u32) -> PyResult<()> {
    if !object.is_exact_instance_of::<PyModule>() {
        return Ok(());
    }
    let decision = state::with(|execution| {
        if execution.loading {
            return None;
        }
        let index = execution.index.clone();
        let path = index.part_that_may_lack(execution.version, site)?;
        Some(execution.draw.failure(&Question::Raise(path).to_string(), &["AttributeError".to_owned()]))
    });
    match decision.flatten() {
        Some(Decision::Raise(name)) => Err(resolve::raise(py, &name)),
        _ => Ok(()),
    }
}

/// Raises the exception that was decided for an operation. `operation` is its name in access paths.
pub(crate) fn may(py: Python<'_>, operation: impl FnOnce() -> String) -> PyResult<()> {
    may_by(py, operation, |_| true)
}

/// Like [`may`], for the failures for which `fails` holds.
pub(crate) fn may_by(py: Python<'_>, operation: impl FnOnce() -> String, fails: impl Fn(&str) -> bool) -> PyResult<()> {
    if state::with(|execution| !execution.loading && execution.index.guards_anything()) != Some(true) {
        return Ok(());
    }
    let path = bounded(Question::Raise(&operation()).to_string());
    let decision = state::with(|execution| {
        let index = execution.index.clone();
        let caught = index.catches_at(execution.version, execution.run.line);
        if caught.iter().all(|name| fails(name)) {
            return execution.draw.failure(&path, caught);
        }
        let caught: Vec<String> = caught.iter().filter(|name| fails(name)).cloned().collect();
        execution.draw.failure(&path, &caught)
    });
    match decision {
        Some(Decision::Raise(name)) => Err(resolve::raise(py, &name)),
        _ => Ok(()),
    }
}
