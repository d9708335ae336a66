//! The answers of a mock object to operators, iteration and awaiting. Every answer is a decision under a path that
//! names the operation.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use twincell_syntax::site::SiteKind;
use twincell_values::drawing::PathKnowledge;
use twincell_values::path::{self, AccessPath, AccessPathBuf, Question};
use twincell_values::reading::Key;
use twincell_values::value::{Decision, Recipe};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::comparing::length;
use crate::inject::resolve::{self, ValueRequest};
use crate::inject::{failures, protocols, running};
use crate::observe;

pub(crate) fn binary(
    slf: &Bound<'_, MockObject>,
    sign: &str,
    other: &Bound<'_, PyAny>,
    reversed: bool,
) -> PyResult<MockObject> {
    let own = slf.get().path();
    if sign == "*" && integer(other) == Some(1) {
        // What is asked of the result is asked of the object.
        return Ok(MockObject::new(own));
    }
    let sum = moved(own, sign, other, reversed);
    if let Some((of, 0)) = sum {
        return Ok(MockObject::new(of));
    }
    let path = match &sum {
        Some((of, by)) => path::sum(of.into(), *by),
        None => {
            let text = observe::short(other);
            let is_number = other.is_instance_of::<PyInt>() || other.is_instance_of::<PyFloat>();
            let commutes = matches!(sign, "*" | "&" | "|" | "^") || sign == "+" && is_number;
            let swap = if commutes { text.as_str() < own.as_str() } else { reversed };
            if swap { path::binary(&text, sign, own.as_str()) } else { path::binary(own.as_str(), sign, &text) }
        }
    };
    failures::may_by(slf.py(), || path.to_string(), failures::of_operator)?;
    let path = path.bounded();
    if let Some(sum) = sum {
        state::with(|execution| execution.run.moved.insert(path.clone(), sum));
    }
    Ok(MockObject::new(path))
}

/// The object and the integer of which the operation gives the sum, if it does. All ways to add integers to an object
/// lead to the same, so that it has one name.
fn moved(own: AccessPath<'_>, sign: &str, other: &Bound<'_, PyAny>, reversed: bool) -> Option<(AccessPathBuf, i64)> {
    let by = match sign {
        "+" => integer(other)?,
        "-" if !reversed => integer(other)?.checked_neg()?,
        _ => return None,
    };
    let (of, before) = unmoved(own);
    Some((of, before.checked_add(by).filter(|sum| *sum != i64::MIN)?))
}

/// The object and the integer of which a path names the sum, or what it names and zero.
pub(crate) fn unmoved(path: AccessPath<'_>) -> (AccessPathBuf, i64) {
    let known = state::with(|execution| execution.run.moved.get(path.as_str()).cloned()).flatten();
    known.unwrap_or_else(|| (path.to_buf(), 0))
}

/// The integer that a value is. A truth value is none.
fn integer(value: &Bound<'_, PyAny>) -> Option<i64> {
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}

/// A fresh iterator over the object's items. When the code unpacks, it gets as many items as it wants.
pub(crate) fn iterate(slf: &Bound<'_, MockObject>) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let path = slf.get().path();
    failures::may(py, || Question::Iteration(path).to_string())?;
    let count = match running::unpack_count(py) {
        Some(count) => unpacked(path, count),
        None => length(path),
    };
    let items = (0..count).map(|index| item(py, path, index)).collect::<PyResult<Vec<_>>>()?;
    Ok(Py::new(py, Items { items: items.into(), path: path.to_buf() })?.into_any())
}

/// The object's items from the last to the first.
pub(crate) fn iterate_back(slf: &Bound<'_, MockObject>) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let path = slf.get().path();
    let items = items(py, path)?.into_iter().rev().collect();
    Ok(Py::new(py, Items { items, path: path.to_buf() })?.into_any())
}

/// The text of an index under which the same item of an object is known: `-1` for the last position. `None` if the item
/// goes by its own index.
pub(crate) fn other_index(path: AccessPath<'_>, index: i64) -> Option<String> {
    state::with(|execution| {
        // Numbers that are looked up in a mapping are no positions.
        let (_, uses) = execution.index.known(path)?;
        if !uses.keys.iter().all(|key| matches!(key, Key::Int | Key::Slice)) {
            return None;
        }
        let draw = &execution.draw;
        let length = match draw.taken(&Question::Length(path).to_string())? {
            Decision::Value(Recipe::Int(length)) => *length,
            _ => return None,
        };
        let other = if index < 0 { index.checked_add(length)? } else { index.checked_sub(length)? };
        let is_inside = (-length..length).contains(&index) && (-length..length).contains(&other);
        let known = is_inside && draw.given(path.item(other).bounded().as_str()).is_some();
        known.then(|| other.to_string())
    })
    .flatten()
}

/// All items that iterating over an object gives.
pub(crate) fn items(py: Python<'_>, path: AccessPath<'_>) -> PyResult<Vec<Py<PyAny>>> {
    failures::may(py, || Question::Iteration(path).to_string())?;
    (0..length(path)).map(|index| item(py, path, index)).collect()
}

/// Unpacking gets as many items as it wants. If another number was decided before, this is a synthesized result.
fn unpacked(path: AccessPath<'_>, count: usize) -> usize {
    let question = Question::Length(path).to_string();
    let length = Decision::Value(Recipe::Int(i64::try_from(count).unwrap_or(i64::MAX)));
    let other = state::with(|execution| {
        if execution.loading {
            return false;
        }
        execution.draw.taken(&question).is_some_and(|known| *known != length) || {
            execution.draw.imply(&question, length);
            false
        }
    });
    if other == Some(true) {
        state::synthesized(&question);
    }
    count
}

/// The item of an object at a position.
pub(crate) fn item(py: Python<'_>, path: AccessPath<'_>, index: usize) -> PyResult<Py<PyAny>> {
    let identifier = path.last_name();
    let key = other_index(path, index as i64).unwrap_or_else(|| index.to_string());
    let is_line = state::with(|execution| execution.run.text_files.contains(path.as_str())).unwrap_or(false);
    resolve::value(
        py,
        path.item(key).bounded().as_path(),
        &ValueRequest { kind: SiteKind::Subscript, identifier, is_line, ..ValueRequest::default() },
    )
}

/// `next(x)`: the object's items, one after the other.
pub(crate) fn next(slf: &Bound<'_, MockObject>) -> PyResult<Option<Py<PyAny>>> {
    let path = slf.get().path();
    let key = Question::Next(path).to_string();
    failures::may(slf.py(), || key.clone())?;
    let index = state::with(|execution| {
        let count = execution.run.occurrences.entry(key).or_insert(0);
        *count += 1;
        *count as usize - 1
    });
    match index {
        Some(index) if index < length(path) => item(slf.py(), path, index).map(Some),
        _ => Ok(None),
    }
}

pub(crate) fn awaited(slf: &Bound<'_, MockObject>) -> PyResult<Ready> {
    protocols::protocol(slf, "__await__");
    let path = slf.get().path().awaited().bounded();
    failures::await_may_fail(slf.py(), path.as_path())?;
    let request = ValueRequest { kind: SiteKind::Call, ..ValueRequest::default() };
    resolve::value(slf.py(), path.as_path(), &request).map(Ready::new)
}

/// An iterator over injected items, also an async one.
#[pyclass(module = "twincell")]
pub struct Items {
    items: std::collections::VecDeque<Py<PyAny>>,
    path: AccessPathBuf,
}

#[pymethods]
impl Items {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self) -> Option<Py<PyAny>> {
        self.items.pop_front()
    }

    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__(&mut self) -> PyResult<Ready> {
        self.items.pop_front().map(Ready::new).ok_or_else(|| pyo3::exceptions::PyStopAsyncIteration::new_err(()))
    }

    fn __repr__(&self) -> String {
        format!("<iterator of {}>", self.path)
    }
}

/// An awaitable whose value already exists.
#[pyclass(module = "twincell")]
pub struct Ready {
    value: Option<Py<PyAny>>,
}

impl Ready {
    pub(crate) fn new(value: Py<PyAny>) -> Self {
        Self { value: Some(value) }
    }
}

#[pymethods]
impl Ready {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(PyStopIteration::new_err((self.value.take().unwrap_or_else(|| py.None()),)))
    }
}
