//! The abstract value of a real one, by its exact type and without running code of that type: a subclass of `dict` is
//! an object.
//!
//! A value with `__enter__` and `__exit__` is a resource, even if it can be called. Callables are functions, methods,
//! classes and other native callables. An object whose class is written in Python and has a `__call__` remains an
//! object. Stand-ins of `unittest.mock` have no class, since they say nothing about the values of a program.

use std::sync::Mutex;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType,
    PyWeakrefReference,
};
use rustc_hash::FxHashMap;

use twincell_values::value::AbstractValue;

use crate::execution::namespaces;

/// The modules whose classes are stand-ins.
const MOCKS: [&str; 3] = ["unittest.mock", "mock.mock", "mock"];

/// The facts about a class, under its address.
struct ClassFacts {
    value: Option<AbstractValue>,
    /// Removes the entry when the class goes, so that no other class takes its place. Builtin classes stay.
    _watch: Option<Py<PyWeakrefReference>>,
}

/// Held only between two calls of Python, so that nobody waits for it.
static CLASSES: Mutex<Option<FxHashMap<usize, ClassFacts>>> = Mutex::new(None);

/// The class of a value. `None` for stand-ins.
pub(super) fn of(value: &Bound<'_, PyAny>) -> Option<AbstractValue> {
    let class = value.get_type();
    let known = with(value.py(), |classes| classes.get(&(class.as_ptr() as usize)).map(|known| known.value));
    match known {
        Some(value) => value,
        None => look(&class),
    }
}

fn with<R>(py: Python<'_>, f: impl FnOnce(&mut FxHashMap<usize, ClassFacts>) -> R) -> R {
    let mut classes = CLASSES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    f(classes.get_or_insert_with(|| builtin(py)))
}

fn builtin(py: Python<'_>) -> FxHashMap<usize, ClassFacts> {
    use AbstractValue as A;
    let none = py.None().bind(py).get_type();
    let classes = [
        (none, A::None),
        (py.get_type::<PyBool>(), A::Bool),
        (py.get_type::<PyInt>(), A::Int),
        (py.get_type::<PyFloat>(), A::Float),
        (py.get_type::<PyString>(), A::Str),
        (py.get_type::<PyList>(), A::List),
        (py.get_type::<PyTuple>(), A::Tuple),
        (py.get_type::<PyDict>(), A::Dict),
        (py.get_type::<PySet>(), A::Set),
        (py.get_type::<PyFrozenSet>(), A::Set),
        (py.get_type::<PyType>(), A::Callable),
    ];
    let known = |value| ClassFacts { value: Some(value), _watch: None };
    classes.into_iter().map(|(class, value)| (class.as_ptr() as usize, known(value))).collect()
}

/// A class that was not seen before.
fn look(class: &Bound<'_, PyType>) -> Option<AbstractValue> {
    let value = classify(class);
    let address = class.as_ptr() as usize;
    if let Ok(watch) = watch(class, address) {
        with(class.py(), |classes| classes.insert(address, ClassFacts { value, _watch: Some(watch) }));
    }
    value
}

fn watch(class: &Bound<'_, PyType>, address: usize) -> PyResult<Py<PyWeakrefReference>> {
    let forget = PyCFunction::new_closure(class.py(), None, None, move |arguments, _| {
        let gone = with(arguments.py(), |classes| classes.remove(&address));
        drop(gone);
    })?;
    PyWeakrefReference::new_with(class, forget).map(Bound::unbind)
}

fn classify(class: &Bound<'_, PyType>) -> Option<AbstractValue> {
    let (mut enters, mut exits, mut call) = (false, false, None);
    for namespace in namespaces::namespaces(class).unwrap_or_default() {
        let has = |name: &str| namespace.contains(name).unwrap_or(false);
        let module = namespace.get_item("__module__").ok().and_then(|name| name.extract::<String>().ok());
        if module.is_some_and(|module| MOCKS.contains(&module.as_str())) {
            return None;
        }
        enters |= has("__enter__");
        exits |= has("__exit__");
        call = call.or_else(|| namespace.get_item("__call__").ok());
    }
    // The call of a builtin class is a slot, that of a class in Python is a function, and that of classes themselves
    // may come from a metaclass. Two classes are compared, and nothing runs.
    let slot = SLOT.import(class.py(), "types", "WrapperDescriptorType").ok();
    let is_native = |call: Bound<'_, PyAny>| slot.is_some_and(|slot| call.get_type().is(slot));
    // SAFETY: both are classes that live. This compares them and runs nothing.
    let is_class = unsafe { ffi::PyType_IsSubtype(class.as_type_ptr(), &raw mut ffi::PyType_Type) } != 0;
    let calls = is_class || call.is_some_and(is_native);
    Some(match (enters && exits, calls) {
        (true, _) => AbstractValue::Resource,
        (false, true) => AbstractValue::Callable,
        (false, false) => AbstractValue::Object,
    })
}

static SLOT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
