//! Failures of operators on injected objects. Any operation in a `try` body, not only a call, may raise an exception
//! that an `except` clause names. Whether it fails is a decision of the operation, so it fails in every version, also
//! in one without the handler.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyModule, PySet, PyString, PyTuple};

use twincell_syntax::python::is_builtin_exception;
use twincell_values::path::{AccessPath, Question, bounded};
use twincell_values::value::Decision;

use crate::execution::{state, steps};
use crate::inject::exceptions;
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
        Some(execution.draw.failure(&Question::Raise(path.as_str()).to_string(), &["AttributeError".to_owned()]))
    });
    match decision.flatten() {
        Some(Decision::Raise(name)) => Err(resolve::raise(py, &name)),
        _ => Ok(()),
    }
}

/// A value is invented where Python would have failed: a synthesized result. On a plain value it fails as in Python if that
/// was decided, as for a witness that is to show what really happens.
pub(crate) fn synthesized(of: &Bound<'_, PyAny>, path: AccessPath<'_>, error: PyErr) -> PyResult<()> {
    let fails = is_of_builtin_class(of).then(|| fails(path)).flatten();
    if fails == Some(true) {
        exceptions::mark_intended(error.value(of.py()).as_any());
        return Err(error);
    }
    state::synthesized(path.as_str());
    steps::invented()
}

fn fails(path: AccessPath<'_>) -> Option<bool> {
    state::with(|execution| {
        let question = bounded(Question::Succeeds(path).to_string());
        execution.draw.given(&question).is_some() && !execution.draw.truth(&question, 1.0)
    })
}

/// Whether a value is of a builtin class of values. What the code's own objects lack is often only not there yet.
fn is_of_builtin_class(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PySet>()
}

/// The exception with which what is awaited fails, where no handler names one.
const OF_AWAITED: &str = "RuntimeError";

/// Raises the decided exception of awaiting something, at this path, if a version collects failures
/// (`gather(..., return_exceptions=True)`).
pub(crate) fn await_may_fail(py: Python<'_>, path: AccessPath<'_>) -> PyResult<()> {
    let decision = state::with(|execution| {
        let is_possible = !execution.loading && execution.index.collects_failures;
        let question = is_possible.then(|| bounded(Question::Raise(path.as_str()).to_string()))?;
        Some(execution.draw.failure(&question, &[OF_AWAITED.to_owned()]))
    });
    match decision.flatten() {
        Some(Decision::Raise(name)) => Err(resolve::raise(py, &name)),
        _ => Ok(()),
    }
}

/// What converting an object to a number (`int(x)`, `float(x)`) can raise.
const OF_NUMBERS: [&str; 6] =
    ["TypeError", "ValueError", "OverflowError", "ArithmeticError", "Exception", "BaseException"];
/// What the text of an object (`str(x)`) can raise.
const OF_TEXTS: [&str; 5] = ["UnicodeError", "UnicodeEncodeError", "UnicodeDecodeError", "Exception", "BaseException"];
/// What an operator such as `+` can raise, besides exceptions of libraries.
const OF_OPERATORS: [&str; 3] = ["ZeroDivisionError", "FloatingPointError", "MemoryError"];

/// Whether `int(x)` or `float(x)` can raise the exception with this name.
pub(crate) fn of_number(name: &str) -> bool {
    OF_NUMBERS.contains(&AccessPath::new(name).last_name())
}

/// Whether `str(x)` or `repr(x)` can raise the exception with this name.
pub(crate) fn of_text(name: &str) -> bool {
    OF_TEXTS.contains(&AccessPath::new(name).last_name())
}

/// Whether `x + y` can raise the exception with this name.
pub(crate) fn of_operator(name: &str) -> bool {
    let name = AccessPath::new(name).last_name();
    OF_NUMBERS.contains(&name) || OF_OPERATORS.contains(&name) || !is_builtin_exception(name)
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
