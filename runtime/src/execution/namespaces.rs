//! The namespaces of classes, read without code of their metaclasses.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

static DESCRIPTORS: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
static NAMES: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

/// The namespaces of a class and its bases in the order of look-up. That of `object` is the last.
pub(crate) fn namespaces<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (order, namespace) = descriptors(class.py())?;
    let order = order.call_method1("__get__", (class,))?.cast_into::<PyTuple>()?;
    order.iter().map(|base| namespace.call_method1("__get__", (base,))).collect()
}

/// A copy of a class's own namespace.
pub(crate) fn class_members<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    let (_, namespace) = descriptors(class.py())?;
    let members = namespace.call_method1("__get__", (class,))?;
    Ok(class.py().get_type::<PyDict>().call1((members,))?.cast_into::<PyDict>()?)
}

/// The members of a class by name.
pub(crate) fn class_namespace<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let members = class_members(class)?;
    let named = members.iter().filter_map(|(name, value)| Some((name.extract::<String>().ok()?, value)));
    Ok(named.collect())
}

/// The descriptors of `__mro__` and `__dict__`, which belong to `type`.
fn descriptors(py: Python<'_>) -> PyResult<(&Bound<'_, PyAny>, &Bound<'_, PyAny>)> {
    let (order, namespace) = DESCRIPTORS.get_or_try_init(py, || {
        let of_type = py.get_type::<PyType>().getattr("__dict__")?;
        Ok::<_, PyErr>((of_type.get_item("__mro__")?.unbind(), of_type.get_item("__dict__")?.unbind()))
    })?;
    Ok((order.bind(py), namespace.bind(py)))
}

/// The module and the qualified name of a class, if both are texts.
pub(crate) fn module_and_name(class: &Bound<'_, PyType>) -> Option<(String, String)> {
    let (module, name) = NAMES
        .get_or_try_init(class.py(), || {
            let of_type = class.py().get_type::<PyType>().getattr("__dict__")?;
            Ok::<_, PyErr>((of_type.get_item("__module__")?.unbind(), of_type.get_item("__qualname__")?.unbind()))
        })
        .ok()?;
    let text = |descriptor: &Py<PyAny>| {
        descriptor.bind(class.py()).call_method1("__get__", (class,)).ok()?.extract::<String>().ok()
    };
    Some((text(module)?, text(name)?))
}
