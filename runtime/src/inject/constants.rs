//! Containers that a module holds as they are: what is in them is known, so what they lack is not injected.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple, PyType};

use crate::execution::code::MODULE_NAME;
use crate::execution::state;
use crate::observe::classes;

/// How deep a container may lie in others.
const DEPTH: usize = 3;

/// Whether an object is a container with content that the module of the running version holds: under a name, as an
/// attribute of one of its classes, or within such a container. An empty container may be filled elsewhere, and an
/// injected one is no constant.
pub(crate) fn is_one(object: &Bound<'_, PyAny>) -> bool {
    if !is_container(object) || object.is_truthy().is_ok_and(|filled| !filled) {
        return false;
    }
    let py = object.py();
    let identity = object.as_ptr() as usize;
    let globals = state::with(|execution| {
        let is_possible = !execution.loading && !execution.run.identities.contains_key(&identity);
        execution.globals.as_ref().filter(|_| is_possible).map(|globals| globals.clone_ref(py))
    });
    let Some(globals) = globals.flatten() else { return false };
    globals.bind(py).iter().any(|(_, value)| holds(&value, object, DEPTH) || holds_as_attribute(&value, object))
}

/// Containers of these classes run no code of the program.
fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PySet>()
        || value.is_exact_instance_of::<PyFrozenSet>()
}

/// Whether a real container is an object, or holds it.
fn holds(container: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>, depth: usize) -> bool {
    let identity = container.as_ptr() as usize;
    let is_injected = || state::with(|execution| execution.run.identities.contains_key(&identity)) == Some(true);
    if !is_container(container) || is_injected() {
        return false;
    }
    if container.is(object) {
        return true;
    }
    let within = |value: &Bound<'_, PyAny>| depth > 0 && holds(value, object, depth - 1);
    if let Ok(dict) = container.cast_exact::<PyDict>() {
        return dict.iter().any(|(_, value)| within(&value));
    }
    if let Ok(list) = container.cast_exact::<PyList>() {
        return list.iter().any(|value| within(&value));
    }
    container.cast_exact::<PyTuple>().is_ok_and(|tuple| tuple.iter().any(|value| within(&value)))
}

/// Whether a value is a class of the module with this container among its attributes.
fn holds_as_attribute(value: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
    let Ok(class) = value.cast::<PyType>() else { return false };
    let is_own = classes::module_and_name(class).is_some_and(|(module, _)| module == MODULE_NAME);
    is_own
        && classes::class_members(class)
            .is_ok_and(|members| members.iter().any(|(_, value)| holds(&value, object, DEPTH)))
}
