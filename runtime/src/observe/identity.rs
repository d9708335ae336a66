//! Which of the objects that callers see after a run are one and the same: the result is the list that was passed, two
//! attributes hold one list, the result is a table of the module.
//!
//! Only objects that code can change count, because nobody can tell equal ones apart otherwise. An injected object is
//! known by its access path already. What the result of an unknown call is, is not known, so it counts as a new object.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};
use rustc_hash::{FxHashMap, FxHashSet};

use twincell_engine::observed::{Observed, Slot};
use twincell_values::path::{AccessPath, AccessPathBuf};

use crate::execution::code::MODULE_NAME;
use crate::execution::namespaces;
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::observe::{self, classes};

/// The maximum number of places that are looked at after one run, the maximum number of places of one container, and
/// their maximum depth.
const MAX_PLACES: usize = 600;
const MAX_ENTRIES: usize = 40;
const MAX_DEPTH: usize = 4;
/// The place of what the code returns.
pub(crate) const RESULT: &str = "result";
/// The place of what a second call returns.
pub(crate) const AGAIN: &str = "result of a second call";

/// Who holds an object.
enum Holder {
    /// It was met in this place first.
    Place(String),
    /// A global of the module.
    Module,
}

/// The places that were looked at, and what was found.
#[derive(Default)]
pub(crate) struct Identities {
    holders: FxHashMap<usize, Holder>,
    visited: FxHashSet<usize>,
    places: usize,
    found: Vec<Slot>,
}

/// Whether a path leads through the result of a call.
pub(crate) fn is_of_call(path: AccessPath<'_>) -> bool {
    path.before_first_call().is_some()
}

impl Identities {
    /// An object that callers hold under this path.
    pub fn known(&mut self, value: &Bound<'_, PyAny>, path: AccessPath<'_>) {
        if !is_of_call(path) && is_mutable(value) {
            self.holders.entry(identity(value)).or_insert_with(|| Holder::Place(path.to_string()));
        }
    }

    /// Looks at the object in a place, and at those that it holds. `of_module` says which objects the module has kept
    /// from the start.
    pub fn look(&mut self, place: &str, value: &Bound<'_, PyAny>, of_module: &dyn Fn(usize) -> bool) {
        self.look_within(place, value, of_module, false, 0);
    }

    /// Looks at what a global holds. What a global holds that only one version has is not compared.
    pub fn look_at_global(
        &mut self,
        name: &str,
        value: &Bound<'_, PyAny>,
        is_shared: bool,
        of_module: &dyn Fn(usize) -> bool,
    ) {
        let found = self.found.len();
        self.look_at_parts(name, value, of_module);
        if !is_shared {
            self.found.truncate(found);
        }
    }

    fn look_at_parts(&mut self, name: &str, value: &Bound<'_, PyAny>, of_module: &dyn Fn(usize) -> bool) {
        let place = format!("global {name}");
        if let Ok(class) = value.cast::<PyType>() {
            for (attribute, held) in
                namespaces::class_namespace(class).unwrap_or_default().into_iter().take(MAX_ENTRIES)
            {
                self.look_within(&format!("{place}.{attribute}"), &held, of_module, true, 1);
            }
        } else {
            self.look_within(&place, value, of_module, true, 0);
        }
    }

    /// What was found, each once.
    pub fn into_slots(self) -> Vec<(Slot, Observed)> {
        let mut slots = self.found;
        slots.sort();
        slots.dedup();
        slots.into_iter().map(|slot| (slot, Observed::Bool(true))).collect()
    }

    fn look_within(
        &mut self,
        place: &str,
        value: &Bound<'_, PyAny>,
        of_module: &dyn Fn(usize) -> bool,
        global: bool,
        depth: usize,
    ) {
        self.places += 1;
        if self.places > MAX_PLACES || depth > MAX_DEPTH {
            return;
        }
        if is_mutable(value) {
            let identity = identity(value);
            match self.holders.get(&identity) {
                Some(Holder::Place(other)) if other == place => {}
                Some(Holder::Place(other)) => {
                    self.found.push(Slot::Same { place: place.to_owned(), other: other.clone() });
                    return;
                }
                Some(Holder::Module) if global => return,
                Some(Holder::Module) => {
                    self.found.push(Slot::Kept(place.to_owned()));
                    return;
                }
                None if !global && of_module(identity) => {
                    self.found.push(Slot::Kept(place.to_owned()));
                    return;
                }
                None if global => {
                    self.holders.insert(identity, Holder::Module);
                }
                None => {
                    self.holders.insert(identity, Holder::Place(place.to_owned()));
                }
            }
            if !self.visited.insert(identity) {
                return;
            }
        }
        for (inner, held) in contents(place.into(), value) {
            self.look_within(inner.as_str(), &held, of_module, global, depth + 1);
        }
    }
}

fn identity(value: &Bound<'_, PyAny>) -> usize {
    value.as_ptr() as usize
}

/// Whether code can change the object. What is neither a container nor an object of the compared module counts as
/// unchangeable.
pub(crate) fn is_mutable(value: &Bound<'_, PyAny>) -> bool {
    if value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyByteArray>()
    {
        return true;
    }
    if value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyFrozenSet>()
        || value.is_instance_of::<PyBaseException>()
        || value.is_instance_of::<PyType>()
    {
        return false;
    }
    let class = value.get_type();
    match class.module().map(|module| module.to_string()).as_deref() {
        Ok("collections") => class.name().is_ok_and(|name| name == "deque"),
        // There is one object for each member of an enumeration, whoever gives it.
        Ok(MODULE_NAME) => !is_frozen(&class) && !class.hasattr("__members__").unwrap_or(true),
        _ => false,
    }
}

/// Whether a class is a frozen dataclass.
fn is_frozen(class: &Bound<'_, PyType>) -> bool {
    let parameters = namespaces::class_namespace(class).ok().and_then(|namespace| {
        namespace.into_iter().find(|(name, _)| name == "__dataclass_params__").map(|(_, parameters)| parameters)
    });
    parameters
        .and_then(|parameters| parameters.getattr("frozen").ok())
        .is_some_and(|frozen| frozen.is_truthy().unwrap_or(false))
}

/// What an object holds, each under its own place.
pub(crate) fn contents<'py>(
    place: AccessPath<'_>,
    value: &Bound<'py, PyAny>,
) -> Vec<(AccessPathBuf, Bound<'py, PyAny>)> {
    let numbered = |items: Vec<Bound<'py, PyAny>>| {
        items.into_iter().enumerate().map(|(index, item)| (place.item(index), item)).collect()
    };
    if let Ok(list) = value.cast::<PyList>() {
        return numbered(list.iter().take(MAX_ENTRIES).collect());
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return numbered(tuple.iter().take(MAX_ENTRIES).collect());
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let entry = |(key, held): (Bound<'py, PyAny>, _)| (place.item(observe::short(&key)), held);
        return dict.iter().take(MAX_ENTRIES).map(entry).collect();
    }
    if let Ok(mock) = value.cast::<MockObject>() {
        return assigned(place, mock);
    }
    let is_own = value.get_type().module().is_ok_and(|module| module == MODULE_NAME);
    if !is_own || value.is_instance_of::<PyType>() {
        return vec![];
    }
    let public_only = state::with(|execution| execution.run.public_only).unwrap_or(false);
    let Ok(namespace) = observe::object_namespace(value) else { return vec![] };
    let attributes = namespace.iter().filter_map(|(name, held)| {
        let name = classes::unwrapped(&value.get_type(), name.extract::<String>().ok()?);
        if public_only && name.starts_with('_') {
            return None;
        }
        Some((place.attribute(&name), held))
    });
    attributes.take(MAX_ENTRIES).collect()
}

/// What the code assigned to an injected object, the last value of each place.
fn assigned<'py>(place: AccessPath<'_>, object: &Bound<'py, MockObject>) -> Vec<(AccessPathBuf, Bound<'py, PyAny>)> {
    let py = object.py();
    let mock = object.get();
    let mut found: Vec<(AccessPathBuf, Option<Py<PyAny>>)> = Vec::new();
    let names: Vec<(String, Option<Py<PyAny>>)> = {
        let Ok(assigned) = mock.assigned.lock() else { return vec![] };
        let of = |value: &Option<Py<PyAny>>| value.as_ref().map(|value| value.clone_ref(py));
        let attributes = assigned.attributes.iter().map(|(name, value)| (name.clone(), of(value)));
        found.extend(assigned.items.iter().map(|(key, _, value)| (place.item(key), of(value))));
        attributes.collect()
    };
    let named = |(name, value): (String, _)| (place.attribute(&mock.canonical_attribute(&name)), value);
    found.extend(names.into_iter().map(named));
    let last: FxHashMap<&str, usize> =
        found.iter().enumerate().map(|(position, (place, _))| (place.as_str(), position)).collect();
    let kept: Vec<usize> = (0..found.len()).filter(|&at| last.get(found[at].0.as_str()) == Some(&at)).collect();
    let value = |at: usize| Some((found[at].0.clone(), found[at].1.as_ref()?.bind(py).clone()));
    kept.into_iter().take(MAX_ENTRIES).filter_map(value).collect()
}
