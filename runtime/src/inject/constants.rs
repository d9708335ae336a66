//! Containers that a module holds as they are: what is in them is known, so what they lack is not injected.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple, PyType};

use crate::execution::code::{MODULE_NAME, callers_globals};
use crate::execution::namespaces;
use crate::execution::state;

/// How deep a container may lie in others.
const DEPTH: usize = 3;
/// How many values a search looks at.
const MOST: usize = 5000;

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
    let globals = globals.into_bound(py);
    // A helper of another module has its own.
    let others = callers_globals(py).filter(|others| !others.is(&globals));
    let mut search = Search { object, left: MOST };
    std::iter::once(globals)
        .chain(others)
        .any(|names| names.iter().any(|(_, value)| search.holds(&value, DEPTH) || search.holds_as_attribute(&value)))
}

/// Containers of these classes run no code of the program.
fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PySet>()
        || value.is_exact_instance_of::<PyFrozenSet>()
}

/// A search for an object in containers.
struct Search<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
    /// How many values may still be looked at.
    left: usize,
}

impl<'py> Search<'_, 'py> {
    /// Whether a real container is the object, or holds it.
    fn holds(&mut self, container: &Bound<'py, PyAny>, depth: usize) -> bool {
        let identity = container.as_ptr() as usize;
        let is_injected = || state::with(|execution| execution.run.identities.contains_key(&identity)) == Some(true);
        if self.left == 0 || !is_container(container) || is_injected() {
            return false;
        }
        self.left -= 1;
        if container.is(self.object) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        if let Ok(dict) = container.cast_exact::<PyDict>() {
            return dict.iter().take(MOST).any(|(_, value)| self.holds(&value, depth - 1));
        }
        if let Ok(list) = container.cast_exact::<PyList>() {
            return list.iter().take(MOST).any(|value| self.holds(&value, depth - 1));
        }
        let tuple = container.cast_exact::<PyTuple>();
        tuple.is_ok_and(|tuple| tuple.iter().take(MOST).any(|value| self.holds(&value, depth - 1)))
    }

    /// Whether a value is a class of the module with the object among its attributes.
    fn holds_as_attribute(&mut self, value: &Bound<'py, PyAny>) -> bool {
        let Ok(class) = value.cast::<PyType>() else { return false };
        let is_own = namespaces::module_and_name(class).is_some_and(|(module, _)| module == MODULE_NAME);
        is_own
            && namespaces::class_members(class)
                .is_ok_and(|members| members.iter().any(|(_, value)| self.holds(&value, DEPTH)))
    }
}
