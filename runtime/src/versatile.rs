//! The versatile object: behaves plausibly under nearly every operation.
//!
//! It knows its access path; what it gives (attributes, items, results of calls) is resolved by path, so both versions
//! get the same. What code assigns to it is remembered and observed. Operators live in `operators.rs`, calls in
//! `call.rs`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use twincell_core::behavior::Observed;
use twincell_core::site::SiteKind;
use twincell_core::value::Known;

use crate::observe;
use crate::resolve::{self, Request};
use crate::state;

/// Dunder attributes that are data; the others are protocols that a versatile object does not claim.
const DATA_DUNDERS: [&str; 4] = ["__version__", "__author__", "__file__", "__all__"];

#[derive(Default)]
pub(crate) struct Assigned {
    pub attributes: Vec<(String, Option<Py<PyAny>>)>,
    /// (key as text, key, value); a deleted item has no value.
    pub items: Vec<(String, Py<PyAny>, Option<Py<PyAny>>)>,
}

/// How much had been assigned to an object at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    attributes: usize,
    items: usize,
}

/// An injected object that stands for a callable, a resource, an object, a module or a class.
#[pyclass(frozen, module = "twincell", name = "Versatile", weakref)]
pub struct Versatile {
    path: String,
    /// Attributes are reached by their own name alone: what `from module import name` gives.
    bare: bool,
    /// A module that is missing: what is imported from it is an object, unless code uses it by that very name.
    module: bool,
    /// Callee and arguments, when the object is what a call of another versatile object gave.
    origin: Option<(String, Py<PyTuple>)>,
    /// A real class whose methods and attributes it has (`self` in module context).
    real: Option<Py<PyAny>>,
    pub(crate) assigned: Mutex<Assigned>,
}

impl Versatile {
    pub(crate) fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), bare: false, module: false, origin: None, real: None, assigned: Mutex::default() }
    }

    pub(crate) fn module(path: impl Into<String>, bare: bool) -> Self {
        Self { bare, module: true, ..Self::new(path) }
    }

    pub(crate) fn from_call(path: String, callee: String, arguments: Py<PyTuple>) -> Self {
        Self { origin: Some((callee, arguments)), ..Self::new(path) }
    }

    pub(crate) fn with_real(path: impl Into<String>, real: Py<PyAny>) -> Self {
        Self { real: Some(real), ..Self::new(path) }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Name of the exception class that it stands for, and the arguments it was made with.
    pub(crate) fn exception_form(&self, py: Python<'_>) -> (String, Py<PyTuple>) {
        match &self.origin {
            Some((callee, arguments)) => (callee.clone(), arguments.clone_ref(py)),
            None => (self.path.clone(), PyTuple::empty(py).unbind()),
        }
    }

    pub(crate) fn attribute_path(&self, name: &str) -> String {
        if self.bare {
            return name.to_string();
        }
        observe::bounded_path(format!("{}.{}", self.path, self.canonical_attribute(name)))
    }

    /// The name by which an attribute goes in access paths: its old one, where the methods' own object has it renamed.
    fn canonical_attribute(&self, name: &str) -> String {
        state::with(|execution| {
            execution.prepared.canonical_attribute(execution.version, &self.path, name).map(str::to_string)
        })
        .flatten()
        .unwrap_or_else(|| name.to_string())
    }

    /// An attribute that the code assigned (`Some(None)`: deleted).
    fn assigned_attribute(&self, py: Python<'_>, name: &str) -> Option<Option<Py<PyAny>>> {
        let assigned = self.assigned.lock().ok()?;
        let found = assigned.attributes.iter().rev().find(|(own, _)| own == name)?;
        Some(found.1.as_ref().map(|value| value.clone_ref(py)))
    }

    /// How much is assigned now.
    pub(crate) fn mark(&self) -> Mark {
        let assigned = self.assigned.lock();
        assigned.map_or(Mark::default(), |assigned| Mark {
            attributes: assigned.attributes.len(),
            items: assigned.items.len(),
        })
    }

    /// Forgets what was assigned since.
    pub(crate) fn forget_since(&self, mark: Mark) {
        let forgotten = self.assigned.lock().map(|mut assigned| {
            let (attributes, items) =
                (mark.attributes.min(assigned.attributes.len()), mark.items.min(assigned.items.len()));
            (assigned.attributes.split_off(attributes), assigned.items.split_off(items))
        });
        // Finalizers run here, outside of the lock.
        drop(forgotten);
    }

    /// What the code assigned since: the last value of each attribute and item, by name.
    pub(crate) fn observed_since(&self, py: Python<'_>, mark: Mark) -> Vec<(String, Observed)> {
        let mut found: Vec<(String, Option<Py<PyAny>>)> = Vec::new();
        {
            let Ok(assigned) = self.assigned.lock() else { return vec![] };
            for (name, value) in assigned.attributes.iter().skip(mark.attributes) {
                found.push((
                    format!(".{}", self.canonical_attribute(name)),
                    value.as_ref().map(|value| value.clone_ref(py)),
                ));
            }
            for (text, _, value) in assigned.items.iter().skip(mark.items) {
                found.push((format!("[{text}]"), value.as_ref().map(|value| value.clone_ref(py))));
            }
        }
        let mut observed: BTreeMap<String, Observed> = BTreeMap::new();
        for (name, value) in found {
            let deleted = || Observed::Elided { reason: "deleted".into() };
            observed.insert(name, value.map_or_else(deleted, |value| observe::value(value.bind(py))));
        }
        observed.into_iter().collect()
    }

    /// The attribute as real code of the class gives it, bound to this object.
    fn real_attribute(slf: &Bound<'_, Self>, name: &str) -> PyResult<Option<Py<PyAny>>> {
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
            if found.is_instance_of::<Versatile>() {
                return Ok(Some(found.unbind()));
            }
            let kind = found.get_type();
            if needs_own_layout(&kind)? {
                return Ok(None);
            }
            if kind.name()? == "property"
                && let Ok(function) = found.getattr("fget")
                && crate::substitute::property(&slf.get().attribute_path(name), name, &function)
            {
                return Ok(None);
            }
            if kind.name()? == "cached_property"
                && let Ok(function) = found.getattr("func")
            {
                if crate::substitute::property(&slf.get().attribute_path(name), name, &function) {
                    return Ok(None);
                }
                // It would keep the value in a dictionary that this object does not have.
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

    /// Attribute look-up; `site` says where the code stands.
    pub(crate) fn attribute(slf: &Bound<'_, Self>, name: &str, site: Option<u32>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let this = slf.get();
        match this.assigned_attribute(py, name) {
            Some(Some(value)) => return Ok(value),
            Some(None) => return Err(PyAttributeError::new_err(format!("{} was deleted", this.attribute_path(name)))),
            None => {}
        }
        if let Some(value) = Self::real_attribute(slf, name)? {
            return Ok(value);
        }
        // Code that writes a dunder out means it; a look-up from within Python asks for a protocol.
        if site.is_none() && name.starts_with("__") && name.ends_with("__") && !DATA_DUNDERS.contains(&name) {
            return Err(PyAttributeError::new_err(name.to_string()));
        }
        let path = this.attribute_path(name);
        if this.module && site.is_none() {
            let used = state::with(|execution| execution.loading || execution.prepared.known(&path).is_some());
            if used == Some(false) {
                return resolve::imported(py, &path);
            }
        }
        // Where any version asks whether it is there, it may be missing for all.
        let is_asked = state::with(|execution| !execution.loading && execution.prepared.is_asked_for(name));
        if is_asked == Some(true) && !crate::builtin::has_attribute(&path) {
            let error = PyAttributeError::new_err(path);
            crate::exceptions::mark_intended(error.value(py).as_any());
            return Err(error);
        }
        resolve::value(
            py,
            &path,
            &Request {
                site,
                kind: SiteKind::Attribute,
                identifier: name,
                raises: true,
                failure: Some("AttributeError"),
                declared: site.is_none().then(|| resolve::of_protocol(name, false)).flatten(),
                ..Request::default()
            },
        )
    }

    /// Item look-up.
    pub(crate) fn item(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, site: Option<u32>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let text = observe::short(key);
        {
            let Ok(assigned) = this.assigned.lock() else { return Ok(py.None()) };
            if let Some((_, _, value)) = assigned.items.iter().rev().find(|(own, _, _)| *own == text) {
                return match value {
                    Some(value) => Ok(value.clone_ref(py)),
                    None => Err(pyo3::exceptions::PyKeyError::new_err(text)),
                };
            }
        }
        let path = observe::bounded_path(format!("{}[{text}]", this.path));
        let known = crate::operators::known_item(&this.path, &text);
        let request = Request {
            site,
            kind: SiteKind::Subscript,
            identifier: last_identifier(&this.path),
            // What is there is found.
            raises: known != Some(true),
            failure: Some("KeyError").filter(|_| known != Some(true)),
            ..Request::default()
        };
        if known == Some(false) {
            let error = pyo3::exceptions::PyKeyError::new_err(key.clone().unbind());
            if resolve::is_caught(&path, &request) {
                crate::exceptions::mark_intended(error.value(py).as_any());
            }
            return Err(error);
        }
        resolve::value(py, &path, &request)
    }
}

/// Descriptors that read the memory of a real instance: slots, and what classes written in C define. There is nothing
/// to read here, so the attribute is missing.
fn needs_own_layout(kind: &Bound<'_, PyType>) -> PyResult<bool> {
    const KINDS: [&str; 4] = ["member_descriptor", "getset_descriptor", "method_descriptor", "wrapper_descriptor"];
    let name = kind.name()?;
    Ok(kind.module()? == "builtins" && KINDS.iter().any(|own| name == *own))
}

/// `c` of `a.b.c`; empty when the path ends otherwise.
pub(crate) fn last_identifier(path: &str) -> &str {
    let start = path.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    &path[start..]
}

#[pymethods]
impl Versatile {
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
        match name {
            "__name__" | "__qualname__" => {
                return Ok(PyString::new(slf.py(), last_identifier(&slf.get().path)).into_any().unbind());
            }
            _ => {}
        }
        Self::attribute(slf, name, None)
    }

    fn __setattr__(&self, name: String, value: Py<PyAny>) {
        if let Ok(mut assigned) = self.assigned.lock() {
            assigned.attributes.push((name, Some(value)));
        }
    }

    fn __delattr__(&self, name: String) {
        if let Ok(mut assigned) = self.assigned.lock() {
            assigned.attributes.push((name, None));
        }
    }

    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::item(slf, key, None)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: Py<PyAny>) {
        let text = observe::short(key);
        if let Ok(mut assigned) = self.assigned.lock() {
            assigned.items.push((text, key.clone().unbind(), Some(value)));
        }
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) {
        let text = observe::short(key);
        if let Ok(mut assigned) = self.assigned.lock() {
            assigned.items.push((text, key.clone().unbind(), None));
        }
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        crate::texts::of(py, "repr", &self.path, None)
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        crate::texts::of(py, "str", &self.path, None)
    }

    fn __format__(&self, specification: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
        let py = specification.py();
        let text = crate::texts::of(py, "str", &self.path, None)?.into_any();
        let format = py.import("builtins")?.getattr("format")?;
        // `f'{x:.2f}'` and `'%.2f' % x` show the same number.
        let written = specification.to_string();
        if written.ends_with(['e', 'E', 'f', 'F', 'g', 'G', '%']) {
            let number = crate::operators::number(&self.path) as f64;
            return Ok(format.call1((number, specification))?.unbind());
        }
        if written.ends_with(['d', 'b', 'o', 'x', 'X']) {
            let number = crate::operators::number(&self.path);
            return Ok(format.call1((number, specification))?.unbind());
        }
        Ok(format.call1((&text, specification)).unwrap_or(text).unbind())
    }

    fn __hash__(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.path.as_bytes())
    }

    fn __fspath__(&self) -> String {
        self.path.clone()
    }

    fn __copy__(slf: Bound<'_, Self>) -> Py<Self> {
        slf.unbind()
    }

    fn __deepcopy__(slf: Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.unbind()
    }

    /// As a base class it adds nothing.
    fn __mro_entries__<'py>(&self, bases: &Bound<'py, PyAny>) -> Bound<'py, PyTuple> {
        PyTuple::empty(bases.py())
    }

    fn __instancecheck__(&self, value: &Bound<'_, PyAny>) -> bool {
        crate::builtin::is_instance_of_missing(value, &self.path)
    }

    fn __subclasscheck__(&self, value: &Bound<'_, PyAny>) -> bool {
        crate::builtin::is_instance_of_missing(value, &self.path)
    }

    #[pyo3(signature = (*arguments, **keywords))]
    fn __call__(
        slf: &Bound<'_, Self>,
        arguments: &Bound<'_, PyTuple>,
        keywords: Option<&Bound<'_, pyo3::types::PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        crate::call::versatile(slf, None, arguments, keywords)
    }

    fn __bool__(&self) -> bool {
        crate::operators::truth(&self.path)
    }

    fn __len__(&self) -> usize {
        crate::operators::length(&self.path)
    }

    fn __contains__(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        crate::operators::contains(slf, value)
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::operators::iterate(slf)
    }

    fn __next__(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        crate::operators::next(slf)
    }

    fn __reversed__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::operators::iterate(slf)
    }

    fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, op: pyo3::basic::CompareOp) -> bool {
        crate::operators::compare(slf, other, op)
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<i64> {
        crate::operators::converted(py, &self.path)
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<i64> {
        crate::operators::converted(py, &self.path)
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        crate::operators::converted(py, &self.path).map(|number| number as f64)
    }

    fn __enter__(slf: &Bound<'_, Self>) -> Py<PyAny> {
        crate::call::record_protocol(slf, "__enter__");
        slf.clone().into_any().unbind()
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> bool {
        crate::call::record_protocol(slf, "__exit__");
        false
    }

    fn __await__(slf: &Bound<'_, Self>) -> PyResult<crate::operators::Ready> {
        crate::operators::awaited(slf)
    }

    fn __aiter__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::operators::iterate(slf)
    }

    fn __anext__(slf: &Bound<'_, Self>) -> PyResult<crate::operators::Ready> {
        crate::operators::next(slf)?
            .map(crate::operators::Ready::new)
            .ok_or_else(|| pyo3::exceptions::PyStopAsyncIteration::new_err(()))
    }

    fn __aenter__(slf: &Bound<'_, Self>) -> crate::operators::Ready {
        crate::call::record_protocol(slf, "__aenter__");
        crate::operators::Ready::new(slf.clone().into_any().unbind())
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> crate::operators::Ready {
        crate::call::record_protocol(slf, "__aexit__");
        crate::operators::Ready::new(slf.py().None())
    }

    fn __add__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "+", other, false)
    }
    fn __radd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "+", other, true)
    }
    fn __sub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "-", other, false)
    }
    fn __rsub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "-", other, true)
    }
    fn __mul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "*", other, false)
    }
    fn __rmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "*", other, true)
    }
    fn __truediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "/", other, false)
    }
    fn __rtruediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "/", other, true)
    }
    fn __floordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "//", other, false)
    }
    fn __rfloordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "//", other, true)
    }
    fn __mod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "%", other, false)
    }
    fn __rmod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "%", other, true)
    }
    fn __pow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "**", other, false)
    }
    fn __rpow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "**", other, true)
    }
    fn __matmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "@", other, false)
    }
    fn __rmatmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "@", other, true)
    }
    fn __and__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "&", other, false)
    }
    fn __rand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "&", other, true)
    }
    fn __or__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "|", other, false)
    }
    fn __ror__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "|", other, true)
    }
    fn __xor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "^", other, false)
    }
    fn __rxor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "^", other, true)
    }
    fn __lshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "<<", other, false)
    }
    fn __rlshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, "<<", other, true)
    }
    fn __rshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, ">>", other, false)
    }
    fn __rrshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        crate::operators::binary(slf, ">>", other, true)
    }
    fn __neg__(&self) -> Self {
        Versatile::new(observe::bounded_path(format!("(-{})", self.path)))
    }
    fn __pos__(&self) -> Self {
        Versatile::new(observe::bounded_path(format!("(+{})", self.path)))
    }
    fn __invert__(&self) -> Self {
        Versatile::new(observe::bounded_path(format!("(~{})", self.path)))
    }
    fn __abs__(&self) -> Self {
        Versatile::new(observe::bounded_path(format!("abs({})", self.path)))
    }
}
