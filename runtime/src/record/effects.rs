//! Whether a call changed its receiver or its arguments, seen from outside: the parts of the object before and after
//! the call, compared by identity, one level deep.
//!
//! The counts are sound in one direction: a counted change did happen while the call ran. These changes are not seen:
//! deeper ones, those in slots, in objects without a namespace, in globals and outside the process, and those by
//! generators and coroutines, whose work begins after the call.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyByteArray, PyDict, PyFrozenSet, PyList, PyListMethods, PyModule, PySet, PySetMethods, PyString, PyTuple, PyType,
};

/// The first calls of a site are watched, and then one in this many.
const FIRST: u64 = 24;
const EACH: u64 = 64;
/// The maximum number of examined arguments, and of examined parts of one object.
const ARGUMENTS: usize = 4;
const PARTS: usize = 64;

/// What the watched calls of one site changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effects {
    pub calls: u64,
    pub watched: u64,
    /// The object whose method was called.
    pub receiver: u64,
    /// One of the arguments, and not the receiver.
    pub arguments: u64,
}

impl Effects {
    /// Counts a call. Returns whether to watch it.
    pub(super) fn begins(&mut self) -> bool {
        self.calls += 1;
        self.calls <= FIRST || self.calls.is_multiple_of(EACH)
    }

    pub(super) fn ends(&mut self, change: Change) {
        self.watched += 1;
        self.receiver += u64::from(change.receiver);
        self.arguments += u64::from(change.arguments && !change.receiver);
    }
}

pub(super) struct Change {
    receiver: bool,
    arguments: bool,
}

/// The state before a call of everything that may change in it.
pub(super) struct Before<'py> {
    receiver: Option<(Bound<'py, PyAny>, u64)>,
    arguments: Vec<(Bound<'py, PyAny>, u64)>,
}

impl<'py> Before<'py> {
    pub(super) fn of(callee: &Bound<'py, PyAny>, arguments: &Bound<'py, PyTuple>) -> Self {
        let marked = |value: Bound<'py, PyAny>| fingerprint(&value).map(|mark| (value, mark));
        Self {
            receiver: receiver(callee).and_then(marked),
            arguments: arguments.iter().take(ARGUMENTS).filter_map(marked).collect(),
        }
    }

    pub(super) fn change(self) -> Change {
        let changed = |(value, mark): &(Bound<'py, PyAny>, u64)| fingerprint(value) != Some(*mark);
        Change { receiver: self.receiver.as_ref().is_some_and(changed), arguments: self.arguments.iter().any(changed) }
    }
}

static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The object to which a bound method is bound.
fn receiver<'py>(callee: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = callee.py();
    let method = METHOD.import(py, "types", "MethodType").ok()?;
    let class = callee.get_type();
    let receiver = if class.is(method) {
        // A member of the builtin class, so nothing runs.
        callee.getattr("__self__").ok()?
    } else if class.as_ptr() == (&raw mut ffi::PyCFunction_Type).cast() {
        // SAFETY: the callee is a function in C, by its exact type. The reference is borrowed from it, or null if it has no
        // `self`.
        unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyCFunction_GetSelf(callee.as_ptr())) }?
    } else {
        return None;
    };
    (!receiver.is_instance_of::<PyModule>()).then_some(receiver)
}

/// A number that changes when a part is added, removed or exchanged. `None` for an object that cannot change.
fn fingerprint(value: &Bound<'_, PyAny>) -> Option<u64> {
    if value.is_none() || value.is_exact_instance_of::<PyString>() || value.is_instance_of::<PyModule>() {
        return None;
    }
    match (contents(value), namespace(value)) {
        (None, None) => None,
        (contents, namespace) => Some(mix(contents.unwrap_or(1), namespace.unwrap_or(2))),
    }
}

/// The content of a builtin container, or of a class that extends one: its own memory is read, and no method is called.
fn contents(value: &Bound<'_, PyAny>) -> Option<u64> {
    if let Ok(list) = value.cast::<PyList>() {
        let parts = (0..list.len().min(PARTS)).filter_map(|index| list.get_item(index).ok());
        return Some(parts.fold(list.len() as u64, |mark, part| mix(mark, address(&part))));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Some(entries(dict));
    }
    if let Ok(bytes) = value.cast_exact::<PyByteArray>() {
        return Some(
            bytes.to_vec().iter().take(PARTS * 8).fold(bytes.len() as u64, |mark, byte| mix(mark, (*byte).into())),
        );
    }
    if let Ok(set) = value.cast::<PySet>() {
        return Some(set.len() as u64);
    }
    None
}

fn entries(dict: &Bound<'_, PyDict>) -> u64 {
    let (mut position, mut key, mut item) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: it is a dictionary. This is the number of entries as it knows it itself, whatever a subclass says.
    let mut mark = unsafe { ffi::PyDict_Size(dict.as_ptr()) } as u64;
    for _ in 0..PARTS {
        // SAFETY: it is a dictionary, and nothing changes it between two steps: this runs no code and gives borrowed
        // references.
        if unsafe { ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut key, &raw mut item) } == 0 {
            break;
        }
        mark = mix(mix(mark, key as u64), item as u64);
        // One level deep: `self.items.append(x)` in a method changes `self`.
        // SAFETY: `PyDict_Next` set the item, which the dictionary holds.
        let held = unsafe { Bound::from_borrowed_ptr(dict.py(), item) };
        mark = mix(mark, held_length(&held));
    }
    mark
}

fn held_length(held: &Bound<'_, PyAny>) -> u64 {
    let length = if let Ok(list) = held.cast_exact::<PyList>() {
        list.len()
    } else if let Ok(dict) = held.cast_exact::<PyDict>() {
        dict.len()
    } else if let Ok(set) = held.cast_exact::<PySet>() {
        set.len()
    } else {
        return 0;
    };
    length as u64 + 1
}

/// The attributes of an object with a namespace, whatever its class makes of the name `__dict__`.
fn namespace(value: &Bound<'_, PyAny>) -> Option<u64> {
    if value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PySet>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyFrozenSet>()
    {
        return None;
    }
    // SAFETY: the value is an object. This gives a new reference, or null and an AttributeError.
    let found = unsafe {
        Bound::from_owned_ptr_or_err(value.py(), ffi::PyObject_GenericGetDict(value.as_ptr(), std::ptr::null_mut()))
    };
    Some(entries(found.ok()?.cast::<PyDict>().ok()?))
}

fn address(value: &Bound<'_, PyAny>) -> u64 {
    value.as_ptr() as u64
}

fn mix(mark: u64, part: u64) -> u64 {
    (mark.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
}
