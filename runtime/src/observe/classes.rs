//! What classes hold: functions, properties, and attributes that only one version keeps behind a property.

use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};

use crate::execution::namespaces::{class_namespace, module_and_name};
use crate::execution::{code, state};

/// The name of an attribute of a real object as the other version has it, which keeps it behind no property.
pub(crate) fn unwrapped(class: &Bound<'_, PyType>, name: String) -> String {
    let wraps = || state::with(|execution| execution.index.wraps_attributes(execution.version)) == Some(true);
    if !name.starts_with('_') || !wraps() {
        return name;
    }
    let classes = code::class_names(class.as_any());
    let public = state::with(|execution| {
        execution.index.wrapped_attribute(execution.version, Some(&classes), &name).map(str::to_owned)
    });
    public.flatten().unwrap_or(name)
}

/// Whether a class has a property that only stands before what its objects have by this name in the other version.
pub(crate) fn is_wrapping(class: &Bound<'_, PyType>, name: &str) -> bool {
    let Ok(class) = class.qualname() else { return false };
    let class = class.to_string();
    state::with(|execution| execution.index.is_wrapping(execution.version, &class, name)) == Some(true)
}

/// The function behind a static method, a class method or a property, as a class holds it.
pub(crate) fn function_of<'py>(member: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if member.is_exact_instance_of::<PyFunction>() {
        return Some(member.clone());
    }
    let kind = member.get_type();
    let (module, name) = module_and_name(&kind)?;
    let attribute = match (module.as_str(), name.as_str()) {
        ("builtins", "staticmethod" | "classmethod") => "__func__",
        ("builtins", "property") => "fget",
        ("functools", "cached_property") => "func",
        _ => return None,
    };
    member.getattr(attribute).ok().filter(|function| function.is_exact_instance_of::<PyFunction>())
}

/// The qualified names of the functions that a class of the code under comparison defines, and the classes within it.
pub(crate) fn methods(class: &Bound<'_, PyAny>) -> Vec<String> {
    let Ok(class) = class.cast::<PyType>() else { return Vec::new() };
    if !class.module().is_ok_and(|module| module == code::MODULE_NAME) {
        return Vec::new();
    }
    let Ok(owner) = class.qualname() else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in class_namespace(class).unwrap_or_default() {
        let name = format!("{owner}.{name}");
        // A class that stands under another name is not within this one.
        if value.cast::<PyType>().is_ok_and(|inner| inner.qualname().is_ok_and(|own| own == name.as_str())) {
            found.extend(methods(&value));
        }
        if function_of(&value).is_some() {
            found.push(name);
        }
    }
    found
}
