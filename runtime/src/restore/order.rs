//! Hashes of classes, functions and objects that do not depend on addresses.
//!
//! Python hashes them by address. So the order of a set of classes would depend on what a worker did before, and would
//! be another one in each of two versions that have their own classes. Here a class or a function is hashed by its name,
//! and an object by the order in which hashes are first asked for. When a version is repeated these numbers fall instead
//! of rising, so that a dependence on their order shows as nondeterminism. What exists when a worker starts keeps its
//! hash, because dictionaries hold it already.
//!
//! A new class gets its hash function from the descriptor `object.__hash__`, a class itself from the slot of its
//! metaclass, a function from the slot of its type. All are replaced, if they are where CPython has them since 3.10.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::OnceLock;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFunction, PyList, PyString, PyType};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

type Hash = unsafe extern "C" fn(*mut ffi::PyObject) -> ffi::Py_hash_t;

/// Where a type has `tp_hash`, and the descriptor of a slot its function, in bytes.
const SLOT: usize = 120;
const WRAPPED: usize = 48;
/// The hash of the first object, away from those of small integers.
const FIRST: ffi::Py_hash_t = 1 << 40;
/// The number of known objects at which those that are gone are forgotten.
const MANY: usize = 4096;

struct ObjectHashes {
    /// The classes and functions that exist since the start, by address.
    old: FxHashSet<usize>,
    /// By address: a weak reference to the object, and its hash.
    hashes: FxHashMap<usize, (Py<PyAny>, ffi::Py_hash_t)>,
    /// The number of objects that this run has hashed.
    count: ffi::Py_hash_t,
    falls: bool,
    /// The number of entries at which to look for objects that are gone.
    limit: usize,
}

/// State that is shared by threads of which only one runs Python at a time.
struct UnderLock(RefCell<ObjectHashes>);

// SAFETY: only threads that hold the interpreter's lock come here, and none runs Python code while it borrows the state.
unsafe impl Sync for UnderLock {}

static KNOWN: UnderLock = UnderLock(RefCell::new(ObjectHashes {
    old: FxHashSet::with_hasher(FxBuildHasher),
    hashes: FxHashMap::with_hasher(FxBuildHasher),
    count: 0,
    falls: false,
    limit: MANY,
}));

/// Python's own hash by address.
static BY_ADDRESS: OnceLock<Hash> = OnceLock::new();
/// The descriptor of `type.__qualname__`, which no metaclass can replace.
static QUALNAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Replaces the hash functions, once for each process, before the audit hook listens and before foreign code runs.
/// Where Python is not built as expected, everything stays as it is.
#[cfg(target_pointer_width = "64")]
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    let object = py.get_type::<PyAny>();
    // SAFETY: the slot of a type of Python's own is a function of this kind or null.
    let own: Option<Hash> = unsafe {
        let slot = ffi::PyType_GetSlot(object.as_type_ptr(), ffi::Py_tp_hash);
        std::mem::transmute::<*mut c_void, Option<Hash>>(slot)
    };
    let descriptor = object.getattr("__dict__")?.get_item("__hash__")?;
    let Some(by_address) = own.filter(|_| QUALNAME.get(py).is_none()) else { return Ok(()) };
    let _ = BY_ADDRESS.set(by_address);
    let _ = QUALNAME.set(py, py.get_type::<PyType>().getattr("__dict__")?.get_item("__qualname__")?.unbind());
    let mut old: FxHashSet<usize> = py
        .import("gc")?
        .call_method0("get_objects")?
        .cast_into::<PyList>()?
        .iter()
        .filter(|object| object.is_exact_instance_of::<PyFunction>())
        .map(|function| function.as_ptr() as usize)
        .collect();
    let mut left = vec![object.clone()];
    let subclasses = py.get_type::<PyType>().getattr("__subclasses__")?;
    while let Some(class) = left.pop() {
        if !old.insert(class.as_ptr() as usize) {
            continue;
        }
        for subclass in subclasses.call1((&class,))?.cast_into::<PyList>()?.iter() {
            left.push(subclass.cast_into::<PyType>()?);
        }
        let is_metaclass = class.is_subclass_of::<PyType>()?;
        if is_metaclass || class.is(py.get_type::<PyFunction>()) {
            // SAFETY: a type is larger than this, and lives as long as the process.
            unsafe { replace(class.as_ptr().cast::<u8>().add(SLOT), by_address) };
        }
    }
    if let Ok(mut known) = KNOWN.0.try_borrow_mut() {
        known.old = old;
    }
    // SAFETY: the descriptor of a slot is larger than this, and `object` keeps it for as long as the process lives.
    unsafe { replace(descriptor.as_ptr().cast::<u8>().add(WRAPPED), by_address) };
    Ok(())
}

#[cfg(not(target_pointer_width = "64"))]
pub(crate) fn prepare(_py: Python<'_>) -> PyResult<()> {
    Ok(())
}

/// Replaces the function at a place, if it is the one that is expected there.
///
/// # Safety
/// The place must be readable and writable, aligned, and as large as a pointer.
#[cfg(target_pointer_width = "64")]
unsafe fn replace(place: *mut u8, expected: Hash) {
    let place = place.cast::<*const c_void>();
    // SAFETY: as the caller promises.
    unsafe {
        if place.read() == expected as *const c_void {
            place.write(hash as *const c_void);
        }
    }
}

/// Begins a run of a version.
pub(crate) fn begin(repeated: bool) {
    if let Ok(mut known) = KNOWN.0.try_borrow_mut() {
        (known.count, known.falls) = (0, repeated);
    }
}

/// The hash of an object, as Python asks for it.
unsafe extern "C" fn hash(object: *mut ffi::PyObject) -> ffi::Py_hash_t {
    // SAFETY: Python calls this with the lock held, and with an object that lives meanwhile.
    unsafe {
        let py = Python::assume_attached();
        match stable(py, &Bound::from_borrowed_ptr(py, object)) {
            Some(hash) => hash,
            None => BY_ADDRESS.get().map_or(0, |by_address| by_address(object)),
        }
    }
}

/// A hash that does not depend on the address. `None` for what exists since the start, and for objects that cannot be
/// recognized, because no weak reference leads to them.
fn stable(py: Python<'_>, object: &Bound<'_, PyAny>) -> Option<ffi::Py_hash_t> {
    let address = object.as_ptr() as usize;
    {
        let known = KNOWN.0.try_borrow().ok()?;
        if let Some((reference, hash)) = known.hashes.get(&address)
            && leads_to(reference, object)
        {
            return Some(*hash);
        }
        if known.old.contains(&address) {
            return None;
        }
    }
    let of_name = match object.cast::<PyType>() {
        Ok(class) => Some(QUALNAME.get(py)?.bind(py).call_method1("__get__", (class,))),
        Err(_) => object.is_exact_instance_of::<PyFunction>().then(|| object.getattr("__qualname__")),
    };
    let of_name = of_name.and_then(Result::ok).and_then(|name| name.cast_into::<PyString>().ok());
    // SAFETY: the lock is held. The result is a new reference, or null with an exception that is cleared.
    let reference =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyWeakref_NewRef(object.as_ptr(), std::ptr::null_mut())) };
    let reference = reference.ok()?.unbind();
    let mut known = KNOWN.0.try_borrow_mut().ok()?;
    let hash = match of_name {
        Some(name) => xxhash_rust::xxh3::xxh3_64(name.to_string_lossy().as_bytes()) as ffi::Py_hash_t,
        None => {
            known.count += 1;
            if known.falls { FIRST - known.count } else { FIRST + known.count }
        }
    };
    // Python takes -1 for an error.
    let hash = if hash == -1 { -2 } else { hash };
    if known.hashes.len() >= known.limit {
        known.hashes.retain(|_, (reference, _)| is_alive(reference));
        known.limit = MANY.max(2 * known.hashes.len());
    }
    known.hashes.insert(address, (reference, hash));
    Some(hash)
}

fn leads_to(reference: &Py<PyAny>, object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the lock is held, and the reference is a weak reference. The result is borrowed and only compared.
    unsafe { ffi::PyWeakref_GetObject(reference.as_ptr()) == object.as_ptr() }
}

fn is_alive(reference: &Py<PyAny>) -> bool {
    // SAFETY: as above.
    unsafe { ffi::PyWeakref_GetObject(reference.as_ptr()) != ffi::Py_None() }
}
