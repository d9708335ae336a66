//! Attributes and items of mock objects: first those that the code assigned, then those of the real class, then
//! injected ones.

use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PySlice, PyTuple, PyType};

use twincell_syntax::site::SiteKind;
use twincell_values::drawing::PathKnowledge;
use twincell_values::path::AccessPath;

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::resolve::{self, ValueRequest};
use crate::inject::{exceptions, membership, names, operators, reflection, replacement};
use crate::observe;

/// Dunder attributes that are data. The others are protocols that a mock object does not claim.
const DATA_DUNDERS: [&str; 4] = ["__version__", "__author__", "__file__", "__all__"];

/// The attribute as real code of the class gives it, bound to this object.
fn real_attribute(slf: &Bound<'_, MockObject>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let py = slf.py();
    let Some(real) = &slf.get().real else { return Ok(None) };
    for class in real.bind(py).getattr("__mro__")?.cast::<PyTuple>()?.iter() {
        if class.is(py.get_type::<pyo3::PyAny>()) {
            continue;
        }
        let namespace = class.getattr("__dict__")?;
        if !namespace.contains(name)? {
            continue;
        }
        let found = namespace.get_item(name)?;
        if found.is_instance_of::<MockObject>() {
            return Ok(Some(found.unbind()));
        }
        let kind = found.get_type();
        if needs_own_layout(&kind)? {
            return Ok(None);
        }
        if kind.name()? == "property"
            && let Ok(function) = found.getattr("fget")
            && replacement::property(slf.get().attribute_path(name).as_path(), name, &function)
        {
            return Ok(None);
        }
        if kind.name()? == "cached_property"
            && let Ok(function) = found.getattr("func")
        {
            if replacement::property(slf.get().attribute_path(name).as_path(), name, &function) {
                return Ok(None);
            }
            // It would keep the value in a dictionary, which this object does not have.
            return Ok(Some(function.call1((slf,))?.unbind()));
        }
        return if let Ok(getter) = kind.getattr("__get__") {
            Ok(Some(getter.call1((&found, slf, real.bind(py)))?.unbind()))
        } else {
            Ok(Some(found.unbind()))
        };
    }
    Ok(None)
}

/// Looks up an attribute. `site` is the place of the code.
pub(crate) fn attribute(slf: &Bound<'_, MockObject>, name: &str, site: Option<u32>) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let this = slf.get();
    match this.assigned_attribute(py, name) {
        Some(Some(value)) => return Ok(value),
        Some(None) => return Err(PyAttributeError::new_err(format!("{} was deleted", this.attribute_path(name)))),
        None => {}
    }
    if name == "__class__"
        && let Some(real) = &this.real
    {
        return Ok(real.clone_ref(py));
    }
    if let Some(value) = real_attribute(slf, name)? {
        return Ok(value);
    }
    // Code that writes out a dunder name means it. A look-up from within Python asks for a protocol.
    if site.is_none() && name.starts_with("__") && name.ends_with("__") && !DATA_DUNDERS.contains(&name) {
        return Err(PyAttributeError::new_err(name.to_string()));
    }
    let path = this.attribute_path(name);
    if let Some(found) = imported(slf, name, path.as_path())? {
        return Ok(found);
    }
    if this.module && site.is_none() {
        let used = state::with(|execution| execution.loading || execution.index.known(path.as_path()).is_some());
        if used == Some(false) {
            return resolve::imported(py, path.as_path());
        }
    }
    // If any version asks whether it exists, it may be missing for all.
    let is_asked = state::with(|execution| !execution.loading && execution.index.is_asked_for(name));
    if is_asked == Some(true) && !reflection::has_attribute(path.as_path()) {
        let error = PyAttributeError::new_err(path.to_string());
        exceptions::mark_intended(error.value(py).as_any());
        return Err(error);
    }
    resolve::value(
        py,
        path.as_path(),
        &ValueRequest {
            site,
            kind: SiteKind::Attribute,
            identifier: name,
            raises: true,
            failure: Some("AttributeError"),
            declared: site.is_none().then(|| resolve::of_protocol(name, false)).flatten(),
            ..ValueRequest::default()
        },
    )
}

/// What a missing module holds, if the versions reach that, or something in it, through different imports.
fn imported(slf: &Bound<'_, MockObject>, name: &str, path: AccessPath<'_>) -> PyResult<Option<Py<PyAny>>> {
    let (py, this) = (slf.py(), slf.get());
    if !this.module {
        return Ok(None);
    }
    let target = this.target(name);
    let (at_load, holds) = state::with(|execution| {
        let (index, version) = (&execution.index, execution.version);
        let import = index.imported(version, target.as_str()).filter(|_| !execution.loading);
        (import.map(|import| import.at_load), index.holds_imported(version, target.as_str()))
    })
    .unwrap_or_default();
    if at_load.is_some()
        && let Some(real) = names::pure(py, target.as_str())
    {
        return Ok(Some(real));
    }
    match at_load {
        // As it is where a module binds it.
        Some(true) => resolve::bound(py, path).map(Some),
        None if holds => resolve::imported(py, target.as_path()).map(Some),
        _ => Ok(None),
    }
}

/// Looks up an item.
pub(crate) fn item(slf: &Bound<'_, MockObject>, key: &Bound<'_, PyAny>, site: Option<u32>) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let this = slf.get();
    if let Some(sliced) = sliced(slf, key)? {
        return Ok(sliced);
    }
    let index = key.cast_exact::<PyInt>().ok().and_then(|index| index.extract().ok());
    let other = index.and_then(|index| operators::other_index(this.path(), index));
    let text = other.unwrap_or_else(|| observe::short(key));
    {
        let Ok(assigned) = this.assigned.lock() else { return Ok(py.None()) };
        if let Some((_, _, value)) = assigned.items.iter().rev().find(|(own, _, _)| *own == text) {
            return match value {
                Some(value) => Ok(value.clone_ref(py)),
                None => Err(PyKeyError::new_err(text)),
            };
        }
    }
    let path = this.path().item(&text).bounded();
    let known = membership::known_item(this.path(), &text);
    let request = ValueRequest {
        site,
        kind: SiteKind::Subscript,
        identifier: this.path().last_name(),
        // An item that exists is found.
        raises: known != Some(true),
        failure: Some("KeyError").filter(|_| known != Some(true)),
        ..ValueRequest::default()
    };
    if known == Some(false) {
        let error = PyKeyError::new_err(key.clone().unbind());
        if resolve::is_caught(path.as_path(), &request) {
            exceptions::mark_intended(error.value(py).as_any());
        }
        return Err(error);
    }
    resolve::value(py, path.as_path(), &request)
}

/// A slice of an object over whose items some version iterates: a list of these items.
fn sliced(slf: &Bound<'_, MockObject>, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    let (py, path) = (slf.py(), slf.get().path());
    let is_iterated = || {
        let slice = path.item(observe::short(key)).bounded();
        let iterated = state::with(|execution| {
            let index = &execution.index;
            !execution.loading && (index.is_iterated(path) || index.is_iterated(slice.as_path()))
        });
        iterated == Some(true) && slf.get().assigned.lock().is_ok_and(|assigned| assigned.items.is_empty())
    };
    if !key.is_instance_of::<PySlice>() || !is_iterated() {
        return Ok(None);
    }
    let items = PyList::new(py, operators::items(py, path)?)?;
    Ok(Some(items.as_any().get_item(key)?.unbind()))
}

/// Descriptors that read the memory of a real instance: slots, and those of classes written in C. There is nothing to
/// read here, so the attribute is missing.
fn needs_own_layout(kind: &Bound<'_, PyType>) -> PyResult<bool> {
    const KINDS: [&str; 4] = ["member_descriptor", "getset_descriptor", "method_descriptor", "wrapper_descriptor"];
    let name = kind.name()?;
    Ok(kind.module()? == "builtins" && KINDS.iter().any(|own| name == *own))
}
