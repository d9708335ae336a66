//! The answers to questions about an injected object: its class, and whether it has an attribute.

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Decision, Recipe};

use crate::execution::object::MockObject;
use crate::execution::state;

/// How often an attribute exists that is asked for with an alternative (`hasattr`, `getattr` with a default).
pub(crate) const PRESENT_PROBABILITY: f64 = 0.5;

/// Whether a value is an instance of a missing class. Each mock object has at most one such class and keeps it.
pub(crate) fn is_instance_of_missing(value: &Bound<'_, PyAny>, class: &str) -> bool {
    let Ok(value) = value.cast::<MockObject>() else {
        return value.get_type().name().is_ok_and(|name| name == class);
    };
    let path = value.get().path().to_string();
    state::with(|execution| {
        if execution.loading {
            return false;
        }
        let own = Question::Class((&path).into()).to_string();
        match execution.draw.taken(&own) {
            Some(Decision::Value(Recipe::Str(known))) => known == class,
            _ => {
                let question = Question::Instance { of: (&path).into(), class }.to_string();
                let is = execution.draw.truth(&question, 0.5);
                if is {
                    execution.draw.settle(&own, Decision::Value(Recipe::Str(class.to_string())));
                }
                is
            }
        }
    })
    .unwrap_or(false)
}

/// `isinstance(mock, classes)`: decided for classes that a stand-in may have, and false for the builtin ones.
pub(crate) fn is_instance(value: &Bound<'_, MockObject>, classes: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(classes) = classes.cast::<PyTuple>() {
        for class in classes.iter() {
            if is_instance(value, &class)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    if let Ok(class) = classes.cast::<MockObject>() {
        return Ok(is_instance_of_missing(value, class.get().path().as_str()));
    }
    if let Ok(class) = classes.cast::<PyType>() {
        let name = class.name()?.to_string();
        if name == "object" {
            return Ok(true);
        }
        let real = value.get().real.as_ref().and_then(|real| real.bind(value.py()).cast::<PyType>().ok());
        if real.is_some_and(|real| real.is_subclass(class).unwrap_or(false)) {
            return Ok(true);
        }
        if class.module()? == "builtins" && !class.is_subclass_of::<pyo3::exceptions::PyBaseException>()? {
            return Ok(false);
        }
        return Ok(is_instance_of_missing(value, &name));
    }
    value.is_instance(classes)
}

/// Whether the attribute with this path exists, for tests of it.
pub(crate) fn has_attribute(path: AccessPath<'_>) -> bool {
    let question = || Question::Attribute(path).to_string();
    state::with(|execution| execution.loading || execution.draw.truth(&question(), PRESENT_PROBABILITY)).unwrap_or(true)
}
