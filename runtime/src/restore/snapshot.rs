//! What imported modules held before code ran, and whether they still hold it: their attributes of any type, those of
//! their classes and of the objects that they made, and the content of their lists, dicts and sets. So a registry of the
//! standard library counts, and so does an attribute of a class.
//!
//! A look at all this takes no reference to any object. A worker shares its memory with the zygote, page by page, until it
//! writes to a page, and a count of references is written to. What is filled by looking (caches) does not count.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFunction, PyList, PyModule, PyModuleMethods, PySet, PyType};

use crate::observe;

/// Modules whose state is put back before each run, or belongs to the worker itself.
const OWN_WAYS: [&str; 6] = ["__main__", "builtins", "random", "tempfile", "threading", "uuid"];
/// Attributes that the worker sets before each run or compares itself, and those that Python fills by itself.
const BOOKKEEPING: [&str; 22] = [
    "stdin",
    "stdout",
    "stderr",
    "argv",
    "last_type",
    "last_value",
    "last_traceback",
    "last_exc",
    "_counter",
    "_process_counter",
    "modulesbyfile",
    "_filesbymodname",
    "_threads_queues",
    "_event_loop_policy",
    "_filters_version",
    observe::OF_ABSTRACT_CLASSES,
    "ps1",
    "ps2",
    "_value2member_map_",
    "modules",
    "environ",
    "meta_path",
];

const SOURCE: &std::ffi::CStr = cr"
def namespace(cls):
    # The dict of a class is behind a proxy, which hands comparisons on to it.
    found = []
    class Taker:
        __hash__ = None
        def __eq__(self, other):
            found.append(other)
            return True
    type.__getattribute__(cls, '__dict__') == Taker()
    return found[0] if found and type(found[0]) is dict else None
";

/// Something with content, and the content that it had.
enum SavedContainer {
    Dict(Py<PyDict>, Vec<(Py<PyAny>, Py<PyAny>)>),
    List(Py<PyList>, Vec<Py<PyAny>>),
    Set(Py<PySet>, Vec<Py<PyAny>>),
}

struct Snapshot {
    /// The addresses of what was looked at. It stays alive, so no other object gets them.
    seen: HashSet<usize>,
    /// The number of names under which modules among them are imported.
    modules: usize,
    held: Vec<SavedContainer>,
}

static SNAPSHOT: Mutex<Option<Snapshot>> = Mutex::new(None);
static NAMESPACE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Records what modules hold now.
pub(crate) fn note(py: Python<'_>) -> PyResult<()> {
    let mut kept = SNAPSHOT.lock().unwrap_or_else(PoisonError::into_inner);
    let snapshot = kept.get_or_insert_with(|| Snapshot { seen: HashSet::new(), modules: 0, held: Vec::new() });
    snapshot.held.iter_mut().filter(|held| !held.is_unchanged(py)).for_each(|held| held.renew(py));
    let modules = modules(py)?;
    let mut new = Vec::new();
    // SAFETY: as `each` asks.
    unsafe {
        each(&modules, |name, module| {
            if !snapshot.seen.contains(&(module as usize)) {
                new.push((Bound::from_borrowed_ptr(py, name), Bound::from_borrowed_ptr(py, module)));
            }
            true
        });
    }
    for (name, module) in new {
        let Ok(name) = name.extract::<String>() else { continue };
        snapshot.module(&name, &module)?;
    }
    snapshot.modules = snapshot.count(&modules);
    Ok(())
}

fn modules(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?)
}

/// Whether modules hold what they held when they were noted.
pub(crate) fn is_unchanged(py: Python<'_>) -> bool {
    let kept = SNAPSHOT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.as_ref()
        .is_none_or(|snapshot| snapshot.has_all_modules(py) && snapshot.held.iter().all(|held| held.is_unchanged(py)))
}

impl Snapshot {
    /// The number of names under which modules that were looked at are imported.
    fn count(&self, modules: &Bound<'_, PyDict>) -> usize {
        let mut found = 0;
        // SAFETY: as `each` asks.
        unsafe {
            each(modules, |_, module| {
                found += usize::from(self.seen.contains(&(module as usize)));
                true
            });
        }
        found
    }

    /// Whether no module was removed or exchanged.
    fn has_all_modules(&self, py: Python<'_>) -> bool {
        modules(py).is_ok_and(|modules| self.count(&modules) >= self.modules)
    }

    fn module(&mut self, name: &str, module: &Bound<'_, PyAny>) -> PyResult<()> {
        self.seen.insert(module.as_ptr() as usize);
        // It is never let go, so that its address stays its own.
        std::mem::forget(module.clone());
        let Ok(module) = module.cast::<PyModule>() else { return Ok(()) };
        let first = name.split('.').next().unwrap_or_default();
        if OWN_WAYS.contains(&name) || first.starts_with("twincell") {
            return Ok(());
        }
        self.attributes(&module.dict())
    }

    /// A dict of attributes, and the content of what they are.
    fn attributes(&mut self, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        if !self.seen.insert(attributes.as_ptr() as usize) {
            return Ok(());
        }
        self.dict(attributes);
        for (name, value) in attributes.iter() {
            let Ok(name) = name.extract::<String>() else { continue };
            if name.starts_with("__") || is_bookkeeping(&name) || self.seen.contains(&(value.as_ptr() as usize)) {
                continue;
            }
            self.value(&value)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(class) = value.cast::<PyType>() {
            self.seen.insert(class.as_ptr() as usize);
            if let Ok(attributes) = namespace(class)?.cast_into::<PyDict>() {
                self.attributes(&attributes)?;
            }
        } else if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.seen.insert(dict.as_ptr() as usize);
            self.dict(dict);
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.seen.insert(list.as_ptr() as usize);
            self.held.push(SavedContainer::List(list.clone().unbind(), list.iter().map(Bound::unbind).collect()));
        } else if let Ok(set) = value.cast_exact::<PySet>() {
            self.seen.insert(set.as_ptr() as usize);
            self.held.push(SavedContainer::Set(set.clone().unbind(), set.iter().map(Bound::unbind).collect()));
        } else if !value.is_exact_instance_of::<PyModule>()
            && !value.is_exact_instance_of::<PyFunction>()
            && !value.get_type().module()?.to_string_lossy().starts_with("twincell")
            && let Ok(attributes) = observe::object_namespace(value)
        {
            self.seen.insert(value.as_ptr() as usize);
            self.attributes(&attributes)?;
        }
        Ok(())
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>) {
        self.held.push(SavedContainer::Dict(dict.clone().unbind(), entries(dict)));
    }
}

fn entries(dict: &Bound<'_, PyDict>) -> Vec<(Py<PyAny>, Py<PyAny>)> {
    dict.iter().map(|(key, value)| (key.unbind(), value.unbind())).collect()
}

fn namespace<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let taken = NAMESPACE.get_or_try_init(py, || {
        let module = PyModule::from_code(py, SOURCE, c"twincell_snapshot.py", c"twincell_snapshot")?;
        Ok::<_, PyErr>(module.getattr("namespace")?.unbind())
    })?;
    taken.bind(py).call1((class,))
}

impl SavedContainer {
    /// Takes the present content for the one that it had.
    fn renew(&mut self, py: Python<'_>) {
        match self {
            SavedContainer::Dict(dict, before) => *before = entries(dict.bind(py)),
            SavedContainer::List(list, before) => *before = list.bind(py).iter().map(Bound::unbind).collect(),
            SavedContainer::Set(set, before) => *before = set.bind(py).iter().map(Bound::unbind).collect(),
        }
    }

    fn is_unchanged(&self, py: Python<'_>) -> bool {
        match self {
            SavedContainer::Dict(dict, before) => {
                let mut known = before.iter();
                // SAFETY: as `each` asks.
                let same = unsafe {
                    each(dict.bind(py), |key, value| {
                        known.next().is_some_and(|(name, held)| name.as_ptr() == key && held.as_ptr() == value)
                    })
                };
                same && known.next().is_none() || is_same_but_for_bookkeeping(dict.bind(py), before)
            }
            SavedContainer::List(list, before) => {
                let list = list.bind(py);
                // SAFETY: the index is below the length, and the item is compared and not followed.
                let item = |at: usize| unsafe { ffi::PyList_GetItem(list.as_ptr(), at as ffi::Py_ssize_t) };
                list.len() == before.len() && before.iter().enumerate().all(|(at, held)| item(at) == held.as_ptr())
            }
            SavedContainer::Set(set, before) => {
                let set = set.bind(py);
                set.len() == before.len() && before.iter().all(|held| contains(set, held))
            }
        }
    }
}

/// Whether a set has a member, which is found without a reference to it.
fn contains(set: &Bound<'_, PySet>, member: &Py<PyAny>) -> bool {
    // SAFETY: both live, and this thread holds the interpreter.
    let found = unsafe { ffi::PySet_Contains(set.as_ptr(), member.as_ptr()) };
    if found < 0 {
        drop(PyErr::take(set.py()));
    }
    found == 1
}

/// Calls a function for each entry of a dict while it returns true. Whether it always did.
///
/// # Safety
///
/// The function runs no code of Python, and keeps no pointer without a reference.
unsafe fn each(
    dict: &Bound<'_, PyDict>,
    mut visit: impl FnMut(*mut ffi::PyObject, *mut ffi::PyObject) -> bool,
) -> bool {
    let mut position = 0;
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the dict lives, this thread holds the interpreter, and no code of Python runs between two steps.
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut value) } != 0 {
        if !visit(key, value) {
            return false;
        }
    }
    true
}

/// Whether all that differs are entries that Python or the worker fill by themselves.
fn is_same_but_for_bookkeeping(dict: &Bound<'_, PyDict>, before: &[(Py<PyAny>, Py<PyAny>)]) -> bool {
    let py = dict.py();
    let name = |key: &Bound<'_, PyAny>| key.extract::<String>().unwrap_or_default();
    let mut remaining = dict.len();
    for (key, held) in before {
        let now = dict.get_item(key).ok().flatten();
        remaining -= usize::from(now.is_some());
        let is_same = now.as_ref().is_some_and(|now| now.is(held));
        let is_made_on_demand = || held.is_none(py) && name(key.bind(py)).starts_with('_');
        if !is_same && !is_bookkeeping(&name(key.bind(py))) && !is_made_on_demand() {
            return false;
        }
    }
    // A module that was imported becomes an attribute of its package.
    let is_added_by_itself = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = name(&key);
        name.starts_with("__") && name.ends_with("__") || is_bookkeeping(&name) || value.is_instance_of::<PyModule>()
    };
    let known: HashSet<usize> = before.iter().map(|(key, _)| key.as_ptr() as usize).collect();
    let is_new = |key: &Bound<'_, PyAny>| !known.contains(&(key.as_ptr() as usize));
    remaining == 0 || dict.iter().filter(|(key, _)| is_new(key)).all(is_added_by_itself)
}

fn is_bookkeeping(name: &str) -> bool {
    BOOKKEEPING.contains(&name) || name.to_ascii_lowercase().contains("cache") || name == "__warningregistry__"
}
