//! The mock object as Python sees it: every protocol that it answers. What the answers are is decided in `inject`
//! and `calls`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use twincell_values::path::{self, AccessPath};

use crate::calls::MissingCall;
use crate::execution::object::MockObject;
use crate::inject::comparing;
use crate::inject::members;
use crate::inject::membership;
use crate::inject::operators;
use crate::inject::protocols;
use crate::inject::reflection;
use crate::inject::texts::{self, TextKind};
use crate::observe;

#[pymethods]
impl MockObject {
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
        match name {
            "__name__" | "__qualname__" => {
                return Ok(PyString::new(slf.py(), slf.get().path().last_name()).into_any().unbind());
            }
            _ => {}
        }
        members::attribute(slf, name, None)
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
        members::item(slf, key, None)
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

    /// Python asks it for `isinstance` and `super`.
    #[getter(__class__)]
    fn class<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyAny> {
        match &slf.get().real {
            Some(real) => real.bind(slf.py()).clone(),
            None => slf.get_type().into_any(),
        }
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        texts::of(py, TextKind::Representation, self.path(), None)
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        texts::of(py, TextKind::Text, self.path(), None)
    }

    fn __format__(&self, specification: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
        let py = specification.py();
        let text = texts::of(py, TextKind::Text, self.path(), None)?.into_any();
        let format = py.import("builtins")?.getattr("format")?;
        let written = specification.to_string();
        // `f'{x:%H:%M}'` is `x.strftime('%H:%M')`.
        if written.trim_end_matches('%').contains('%') {
            let arguments = (specification,).into_pyobject(py)?;
            let callee = self.path().attribute("strftime");
            let call = MissingCall {
                callee: callee.as_path(),
                site: None,
                arguments: &arguments,
                keywords: None,
                recorded: true,
                declared: None,
            };
            return Ok(call.answer()?.bind(py).str()?.into_any().unbind());
        }
        // `f'{x:.2f}'` and `'%.2f' % x` show the same number.
        if written.ends_with(['e', 'E', 'f', 'F', 'g', 'G', '%']) {
            let number = comparing::number(self.path()) as f64;
            return Ok(format.call1((number, specification))?.unbind());
        }
        if written.ends_with(['d', 'b', 'o', 'x', 'X']) {
            let number = comparing::number(self.path());
            return Ok(format.call1((number, specification))?.unbind());
        }
        Ok(format.call1((&text, specification)).unwrap_or(text).unbind())
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        comparing::hash(slf)
    }

    fn __fspath__(&self) -> String {
        self.path().to_string()
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
        reflection::is_instance_of_missing(value, self.path().as_str())
    }

    fn __subclasscheck__(&self, value: &Bound<'_, PyAny>) -> bool {
        reflection::is_instance_of_missing(value, self.path().as_str())
    }

    #[pyo3(signature = (*arguments, **keywords))]
    fn __call__(
        slf: &Bound<'_, Self>,
        arguments: &Bound<'_, PyTuple>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let callee = slf.get().path();
        MissingCall { callee, site: None, arguments, keywords, recorded: true, declared: None }.answer()
    }

    fn __bool__(&self) -> bool {
        comparing::truth(self.path())
    }

    fn __len__(&self) -> usize {
        comparing::length(self.path())
    }

    fn __contains__(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        membership::contains(slf, value)
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        operators::iterate(slf)
    }

    fn __next__(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        operators::next(slf)
    }

    fn __reversed__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        operators::iterate_back(slf)
    }

    fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, op: pyo3::basic::CompareOp) -> bool {
        comparing::compare(slf, other, op)
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<i64> {
        comparing::converted(py, self.path())
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<i64> {
        comparing::converted(py, self.path())
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        comparing::converted(py, self.path()).map(|number| number as f64)
    }

    fn __enter__(slf: &Bound<'_, Self>) -> Py<PyAny> {
        protocols::protocol(slf, "__enter__");
        slf.clone().into_any().unbind()
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> bool {
        protocols::protocol(slf, "__exit__");
        false
    }

    fn __await__(slf: &Bound<'_, Self>) -> PyResult<operators::Ready> {
        operators::awaited(slf)
    }

    fn __aiter__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        operators::iterate(slf)
    }

    fn __anext__(slf: &Bound<'_, Self>) -> PyResult<operators::Ready> {
        operators::next(slf)?
            .map(operators::Ready::new)
            .ok_or_else(|| pyo3::exceptions::PyStopAsyncIteration::new_err(()))
    }

    fn __aenter__(slf: &Bound<'_, Self>) -> operators::Ready {
        protocols::protocol(slf, "__aenter__");
        operators::Ready::new(slf.clone().into_any().unbind())
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> operators::Ready {
        protocols::protocol(slf, "__aexit__");
        operators::Ready::new(slf.py().None())
    }

    fn __add__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "+", other, false)
    }
    fn __radd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "+", other, true)
    }
    fn __sub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "-", other, false)
    }
    fn __rsub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "-", other, true)
    }
    fn __mul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "*", other, false)
    }
    fn __rmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "*", other, true)
    }
    fn __truediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "/", other, false)
    }
    fn __rtruediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "/", other, true)
    }
    fn __floordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "//", other, false)
    }
    fn __rfloordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "//", other, true)
    }
    fn __mod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "%", other, false)
    }
    fn __rmod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "%", other, true)
    }
    fn __pow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "**", other, false)
    }
    fn __rpow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "**", other, true)
    }
    fn __matmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "@", other, false)
    }
    fn __rmatmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "@", other, true)
    }
    fn __and__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "&", other, false)
    }
    fn __rand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "&", other, true)
    }
    fn __or__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "|", other, false)
    }
    fn __ror__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "|", other, true)
    }
    fn __xor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "^", other, false)
    }
    fn __rxor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "^", other, true)
    }
    fn __lshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "<<", other, false)
    }
    fn __rlshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, "<<", other, true)
    }
    fn __rshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, ">>", other, false)
    }
    fn __rrshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::binary(slf, ">>", other, true)
    }
    fn __neg__(&self) -> Self {
        MockObject::new(path::unary('-', self.path()).bounded())
    }
    fn __pos__(&self) -> Self {
        MockObject::new(path::unary('+', self.path()).bounded())
    }
    fn __invert__(&self) -> Self {
        MockObject::new(path::unary('~', self.path()).bounded())
    }
    fn __abs__(&self) -> Self {
        MockObject::new(AccessPath::new("abs").call(self.path()).bounded())
    }
}
