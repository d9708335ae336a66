//! Exceptions that the runtime makes: the stop signal, and stand-ins for missing exception classes.

use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use twincell_syntax::python::aliased_exception;

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::builtins;

/// The class that stands for a missing exception type: `argparse.ArgumentTypeError`. There is one for each name and
/// run, since code can change it. A builtin one that has another name as well is itself.
pub(crate) fn missing_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    if let Some(builtin) = aliased_exception(name) {
        return Ok(builtins::plain_builtin(py, builtin)?.cast_into::<PyType>()?);
    }
    let known = state::with(|execution| execution.run.missing_classes.get(name).map(|class| class.clone_ref(py)));
    if let Some(class) = known.flatten() {
        return Ok(class.into_bound(py));
    }
    let namespace = PyDict::new(py);
    namespace.set_item("__module__", "builtins")?;
    let bases = PyTuple::new(py, [py.get_type::<PyException>()])?;
    let class = py.get_type::<PyType>().call1((name, bases, namespace))?.cast_into::<PyType>()?;
    let kept = class.clone().unbind();
    state::with(|execution| execution.run.missing_classes.insert(name.to_string(), kept));
    Ok(class)
}

/// Records that an exception is raised intentionally.
pub(crate) fn mark_intended(exception: &Bound<'_, PyAny>) {
    let kept = exception.clone().unbind();
    let identity = exception.as_ptr() as usize;
    state::with(|execution| {
        execution.run.intended_ids.insert(identity);
        execution.run.intended.push(kept);
    });
}

/// The exception that `raise value` raises: classes are instantiated, and mock objects become an instance of a
/// stand-in class.
pub(crate) fn raisable<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let raised = if let Ok(mock) = value.cast::<MockObject>() {
        let (class, arguments) = mock.get().exception_form(py);
        missing_class(py, class.as_str())?.call1(arguments.into_bound(py))?
    } else if value.cast::<PyType>().is_ok_and(|class| class.is_subclass_of::<PyBaseException>().unwrap_or(false)) {
        value.call0()?
    } else {
        value.clone()
    };
    mark_intended(&raised);
    Ok(raised)
}

/// The class that `except value:` can catch: mock objects become their stand-in class.
pub(crate) fn catchable<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(mock) = value.cast::<MockObject>() {
        return Ok(missing_class(py, mock.get().path().as_str())?.into_any());
    }
    if let Ok(classes) = value.cast::<PyTuple>() {
        let usable = classes.iter().map(|class| catchable(&class)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, usable)?.into_any());
    }
    Ok(value.clone())
}
