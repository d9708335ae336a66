//! Definitions of classes whose metaclass is missing, or one of whose bases is.
//!
//! A missing base adds nothing (`MockObject.__mro_entries__`), and `type` takes the place of a missing metaclass. Keywords of
//! the definition are for what is missing where nothing else takes them: `class Hero(Model, table=True)`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::execution::namespaces;
use crate::execution::object::MockObject;
use crate::inject::builtins;

/// `__build_class__` of code under comparison.
#[pyfunction]
#[pyo3(signature = (*arguments, **keywords))]
pub(super) fn build_class(
    py: Python<'_>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    if let Some(keywords) = keywords {
        let metaclass = keywords.get_item("metaclass")?;
        let lacks_its_own = metaclass.as_ref().is_some_and(is_missing);
        if lacks_its_own {
            keywords.del_item("metaclass")?;
        }
        let metaclass = metaclass.filter(|_| !lacks_its_own);
        // Behind the body and the name of the class.
        let bases: Vec<Bound<'_, PyAny>> = arguments.iter().skip(2).collect();
        if (lacks_its_own || bases.iter().any(lacks_a_base)) && !takes_keywords(py, &bases, metaclass.as_ref())? {
            keywords.clear();
            metaclass.map(|metaclass| keywords.set_item("metaclass", metaclass)).transpose()?;
        }
    }
    builtins::plain_builtin(py, "__build_class__")?.call(arguments, keywords).map(Bound::unbind)
}

fn is_missing(one: &Bound<'_, PyAny>) -> bool {
    one.is_instance_of::<MockObject>()
}

/// Whether a class is missing, or was defined with a missing base.
fn lacks_a_base(class: &Bound<'_, PyAny>) -> bool {
    is_missing(class)
        || namespaces(class).iter().any(|members| {
            let written = members.get_item("__orig_bases__");
            written.is_ok_and(|bases| {
                bases.cast::<PyTuple>().is_ok_and(|bases| bases.iter().any(|base| is_missing(&base)))
            })
        })
}

/// Whether a real metaclass or a real base takes keywords of a definition.
fn takes_keywords(py: Python<'_>, bases: &[Bound<'_, PyAny>], metaclass: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    let plain = [py.get_type::<PyType>().into_any(), py.import("abc")?.getattr("ABCMeta")?];
    let is_plain = |class: &Bound<'_, PyAny>| plain.iter().any(|known| known.is(class));
    let real = || bases.iter().filter(|base| !is_missing(base));
    let has_hook = |members: &Bound<'_, PyAny>| members.contains("__init_subclass__").unwrap_or(false);
    Ok(metaclass.is_some_and(|metaclass| !is_plain(metaclass))
        || real().any(|base| !is_plain(&base.get_type()) || namespaces(base).iter().any(has_hook)))
}

/// The namespaces of a class and of its bases but `object`.
fn namespaces<'py>(class: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    let mut namespaces =
        class.cast::<PyType>().ok().and_then(|class| namespaces::namespaces(class).ok()).unwrap_or_default();
    namespaces.pop();
    namespaces
}
