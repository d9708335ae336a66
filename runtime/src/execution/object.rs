//! The mock object as data: its access path, its origin, and the assignments of the code to it.
//!
//! Its answers are elsewhere: attributes and items in `inject::members`, operators in `inject::operators`, calls in
//! `calls::missing`. `hooks::mock_object` is the face that Python sees.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use twincell_values::path::{AccessPath, AccessPathBuf};

use crate::execution::{code, state};

#[derive(Default)]
pub(crate) struct Assigned {
    pub attributes: Vec<(String, Option<Py<PyAny>>)>,
    /// (key as text, key, value). A deleted item has no value.
    pub items: Vec<(String, Py<PyAny>, Option<Py<PyAny>>)>,
}

/// The number of assignments to an object at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) attributes: usize,
    pub(crate) items: usize,
}

/// An injected object that stands for a callable, a resource, an object, a module or a class.
#[pyclass(frozen, module = "twincell", name = "Mock", weakref)]
pub struct MockObject {
    pub(crate) path: AccessPathBuf,
    /// Attributes are reached only by their own name, as for the result of `from module import name`.
    pub(crate) bare: bool,
    /// A missing module: a name imported from it is an object, unless code uses it by this very name.
    pub(crate) module: bool,
    /// The callee and the arguments, if the object is the result of calling another mock object.
    pub(crate) origin: Option<(AccessPathBuf, Py<PyTuple>)>,
    /// A real class whose methods and attributes it has (`self` in module context).
    pub(crate) real: Option<Py<PyAny>>,
    pub(crate) assigned: Mutex<Assigned>,
}

impl MockObject {
    pub(crate) fn new(path: impl Into<AccessPathBuf>) -> Self {
        Self { path: path.into(), bare: false, module: false, origin: None, real: None, assigned: Mutex::default() }
    }

    pub(crate) fn module(path: impl Into<AccessPathBuf>, bare: bool) -> Self {
        Self { bare, module: true, ..Self::new(path) }
    }

    pub(crate) fn from_call(path: AccessPathBuf, callee: AccessPathBuf, arguments: Py<PyTuple>) -> Self {
        Self { origin: Some((callee, arguments)), ..Self::new(path) }
    }

    pub(crate) fn with_real(path: impl Into<AccessPathBuf>, real: Py<PyAny>) -> Self {
        Self { real: Some(real), ..Self::new(path) }
    }

    pub(crate) fn path(&self) -> AccessPath<'_> {
        self.path.as_path()
    }

    /// The name of the exception class for which it stands, and the arguments with which it was made.
    pub(crate) fn exception_form(&self, py: Python<'_>) -> (AccessPathBuf, Py<PyTuple>) {
        match &self.origin {
            Some((callee, arguments)) => (callee.clone(), arguments.clone_ref(py)),
            None => (self.path.clone(), PyTuple::empty(py).unbind()),
        }
    }

    /// The dotted path of what a module holds under a name.
    pub(crate) fn target(&self, name: &str) -> AccessPathBuf {
        if self.path.as_str().is_empty() { name.into() } else { self.path().attribute(name) }
    }

    pub(crate) fn attribute_path(&self, name: &str) -> AccessPathBuf {
        let imported = || {
            let target = self.target(name);
            state::with(|execution| {
                let import = execution.index.imported(execution.version, target.as_str());
                import.map(|import| import.canonical.clone())
            })
        };
        if let Some(path) = self.module.then(imported).flatten().flatten() {
            return path.into();
        }
        if self.bare {
            return name.into();
        }
        self.path().attribute(&self.canonical_attribute(name)).bounded()
    }

    /// The name of an attribute in access paths: its old name, if the methods' own object has it renamed, and its public
    /// one, if only this version keeps it behind a property.
    pub(crate) fn canonical_attribute(&self, name: &str) -> String {
        state::with(|execution| {
            execution.index.canonical_attribute(execution.version, self.path.as_str(), name).map(str::to_string)
        })
        .flatten()
        .or_else(|| self.wrapped_attribute(name))
        .unwrap_or_else(|| name.to_string())
    }

    /// The public name of an attribute that only the running version keeps behind a property.
    fn wrapped_attribute(&self, name: &str) -> Option<String> {
        if !name.starts_with('_')
            || state::with(|execution| execution.index.wraps_attributes(execution.version)) != Some(true)
        {
            return None;
        }
        let classes = self.real.as_ref().map(|real| Python::attach(|py| code::class_names(real.bind(py))));
        state::with(|execution| {
            let (index, version) = (&execution.index, execution.version);
            let own = index.own_object(version).filter(|(_, own)| self.path == *own);
            let classes = classes.or_else(|| own.map(|(class, _)| vec![class.to_owned()]));
            index.wrapped_attribute(version, classes.as_deref(), name).map(str::to_owned)
        })
        .flatten()
    }

    /// An attribute that the code assigned (`Some(None)`: deleted).
    pub(crate) fn assigned_attribute(&self, py: Python<'_>, name: &str) -> Option<Option<Py<PyAny>>> {
        let assigned = self.assigned.lock().ok()?;
        let found = assigned.attributes.iter().rev().find(|(own, _)| own == name)?;
        Some(found.1.as_ref().map(|value| value.clone_ref(py)))
    }

    /// The present number of assignments.
    pub(crate) fn mark(&self) -> Mark {
        let assigned = self.assigned.lock();
        assigned.map_or(Mark::default(), |assigned| Mark {
            attributes: assigned.attributes.len(),
            items: assigned.items.len(),
        })
    }

    /// Undoes later assignments.
    pub(crate) fn forget_since(&self, mark: Mark) {
        let forgotten = self.assigned.lock().map(|mut assigned| {
            let (attributes, items) =
                (mark.attributes.min(assigned.attributes.len()), mark.items.min(assigned.items.len()));
            (assigned.attributes.split_off(attributes), assigned.items.split_off(items))
        });
        // Finalizers run here, outside the lock.
        drop(forgotten);
    }
}
