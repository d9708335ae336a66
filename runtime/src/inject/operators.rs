//! The answers of a versatile object to operators, truth, length, iteration and awaiting.
//!
//! Every answer is a decision under a path that names the operation, so both versions get the same answer and a witness
//! can show it: `bool(x)`, `len(x)`, `order(x, 1)`.

use std::cmp::Ordering;

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use twincell_engine::observed::Observed;
use twincell_syntax::site::SiteKind;
use twincell_values::drawing::{Draw, Known};
use twincell_values::path::{self, AccessPath, Question, bounded};
use twincell_values::reading::Key;
use twincell_values::value::{Choice, Decision, Recipe};

use crate::execution::object::Versatile;
use crate::execution::state;
use crate::inject::resolve::{self, ValueRequest};
use crate::inject::{failures, protocols, unpacking};
use crate::observe;

/// Objects are true more often than not.
const TRUE_PROBABILITY: f64 = 0.75;
/// The number of items of an injected iterable: 0 to 3.
const LENGTH_WEIGHTS: [f64; 4] = [0.2, 0.35, 0.3, 0.15];
/// The number to which an injected object converts: 0 to 4.
const NUMBER_WEIGHTS: [f64; 5] = [0.25, 0.3, 0.2, 0.15, 0.1];

/// The drawn order of two values: less, equal, greater.
const ORDER_WEIGHTS: [f64; 3] = [0.35, 0.3, 0.35];

/// The truth of an object, consistent with earlier decisions: it is false if it is empty, counts to nothing or equals
/// zero.
pub(crate) fn truth(path: &str) -> bool {
    state::with(|execution| {
        if execution.loading {
            return true;
        }
        let draw = &mut execution.draw;
        let of = AccessPath::new(path);
        let own = Question::Truth(of).to_string();
        if draw.taken(&own).is_none() {
            let number = |question: Question<'_>| match draw.taken(&question.to_string()) {
                Some(Decision::Value(Recipe::Int(number))) => Some(*number),
                _ => None,
            };
            let known = number(Question::Length(of)).or_else(|| number(Question::Number(of)));
            let differs = || number(Question::Order { one: path, other: "0" }).map(|order| order != 1);
            if let Some(truth) = known.map(|number| number != 0).or_else(differs) {
                draw.imply(&own, Decision::Value(Recipe::Bool(truth)));
            }
        }
        draw.truth(&own, TRUE_PROBABILITY)
    })
    .unwrap_or(true)
}

/// The truth of an object, if it was asked for.
fn known_truth(draw: &Draw, path: &str) -> Option<bool> {
    match draw.taken(&Question::Truth(path.into()).to_string()) {
        Some(Decision::Value(Recipe::Bool(truth))) => Some(*truth),
        _ => None,
    }
}

/// The decided order of an object relative to numbers, as (number, order).
fn known_orders(draw: &Draw, path: &str) -> Vec<(f64, Ordering)> {
    let one = |choice: &Choice| {
        let number = Question::ordered_with(&choice.path, path)?.parse().ok()?;
        match &choice.decision {
            Decision::Value(Recipe::Int(order)) => Some((number, (*order - 1).cmp(&0))),
            _ => None,
        }
    };
    draw.choices().iter().filter_map(one).collect()
}

/// The order of an object relative to a number, if earlier decisions determine it.
fn implied_order(draw: &Draw, path: &str, number: f64) -> Option<Ordering> {
    if let Some(Decision::Value(Recipe::Int(own))) = draw.taken(&Question::Number(path.into()).to_string()) {
        return (*own as f64).partial_cmp(&number);
    }
    let of_orders = known_orders(draw, path).into_iter().find_map(|(known, order)| match order {
        Ordering::Less if known <= number => Some(Ordering::Less),
        Ordering::Greater if known >= number => Some(Ordering::Greater),
        Ordering::Equal => known.partial_cmp(&number),
        _ => None,
    });
    let is_zero = || number == 0.0 && known_truth(draw, path) == Some(false);
    of_orders.or_else(|| is_zero().then_some(Ordering::Equal))
}

/// Which of the false values this one is, if any.
fn zero(value: &Bound<'_, PyAny>) -> Option<&'static str> {
    let text = match observe::value(value) {
        Observed::Bool(false) => "number",
        Observed::Int(text) if text == "0" => "number",
        Observed::Float(text) if matches!(text.as_str(), "0.0" | "-0.0") => "number",
        Observed::Str(text) if text.is_empty() => "str",
        Observed::Bytes(bytes) if bytes.is_empty() => "bytes",
        Observed::List(items) if items.is_empty() => "list",
        Observed::Tuple(items) if items.is_empty() => "tuple",
        Observed::Dict(items) if items.is_empty() => "dict",
        Observed::Set(items) if items.is_empty() => "set",
        _ => return None,
    };
    Some(text)
}

/// A false object equals one of the false values: the one that is compared first.
fn is_zero(path: &str, kind: &str) -> bool {
    if truth(path) {
        return false;
    }
    state::with(|execution| {
        if execution.loading {
            return false;
        }
        let own = Question::Zero(path.into()).to_string();
        execution.draw.settle(&own, Decision::Value(Recipe::Str(kind.to_string())));
        matches!(execution.draw.taken(&own), Some(Decision::Value(Recipe::Str(known))) if known == kind)
    })
    .unwrap_or(false)
}

/// As many items as the object's truth allows.
pub(crate) fn length(path: &str) -> usize {
    let drawn = state::with(|execution| {
        if execution.loading {
            return 0;
        }
        let mut weights = LENGTH_WEIGHTS;
        match execution.draw.taken(&Question::Truth(path.into()).to_string()) {
            Some(Decision::Value(Recipe::Bool(true))) => weights[0] = 0.0,
            Some(Decision::Value(Recipe::Bool(false))) => weights = [1.0, 0.0, 0.0, 0.0],
            _ => {}
        }
        execution.draw.number(&Question::Length(path.into()).to_string(), &weights)
    });
    usize::try_from(drawn.unwrap_or(0)).unwrap_or(0)
}

pub(crate) fn number(path: &str) -> i64 {
    state::with(|execution| {
        if execution.loading {
            return 1;
        }
        let draw = &mut execution.draw;
        let own = Question::Number(path.into()).to_string();
        let mut weights = NUMBER_WEIGHTS;
        if draw.taken(&own).is_none() {
            let orders = known_orders(draw, path);
            let truth = known_truth(draw, path);
            for (number, weight) in weights.iter_mut().enumerate() {
                let number = number as f64;
                let fits = orders.iter().all(|(known, order)| number.partial_cmp(known) == Some(*order))
                    && truth.is_none_or(|truth| truth == (number != 0.0));
                *weight = if fits { *weight } else { 0.0 };
            }
            if weights.iter().all(|weight| *weight == 0.0) {
                draw.imply(&own, Decision::Value(Recipe::Int(next_to(&orders))));
            }
        }
        draw.number(&own, &weights)
    })
    .unwrap_or(1)
}

/// A number with the order relative to others that was decided: one next to one of them.
fn next_to(orders: &[(f64, Ordering)]) -> i64 {
    let candidate = |&(known, order): &(f64, Ordering)| match order {
        Ordering::Less => (known.ceil() as i64).saturating_sub(1),
        Ordering::Equal => known as i64,
        Ordering::Greater => (known.floor() as i64).saturating_add(1),
    };
    let fits = |number: &i64| orders.iter().all(|(known, order)| (*number as f64).partial_cmp(known) == Some(*order));
    orders.iter().map(candidate).find(fits).or_else(|| orders.first().map(candidate)).unwrap_or(0)
}

/// `int(x)`, `float(x)`.
pub(crate) fn converted(py: Python<'_>, path: &str) -> PyResult<i64> {
    failures::may_by(py, || Question::Number(path.into()).to_string(), failures::of_number)?;
    Ok(number(path))
}

pub(crate) fn contains(slf: &Bound<'_, Versatile>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let text = observe::short(value);
    if let Ok(assigned) = slf.get().assigned.lock()
        && let Some((_, _, value)) = assigned.items.iter().rev().find(|(own, _, _)| *own == text)
    {
        return Ok(value.is_some());
    }
    let path = slf.get().path();
    // A test for presence is not answered by a failure.
    let question = || Question::Item { item: &text, holder: path.into() }.to_string();
    failures::may_by(slf.py(), question, |name| !is_not_found(name))?;
    Ok(has_item(path, &text))
}

/// Whether this is among the items of an object, or among its keys. A key that was looked up successfully is; one whose
/// look-up failed is not.
pub(crate) fn has_item(path: &str, key: &str) -> bool {
    let has = state::with(|execution| {
        if execution.loading {
            return false;
        }
        let is_key = is_key(execution, path, key);
        let draw = &mut execution.draw;
        let question = Question::Item { item: key, holder: path.into() }.to_string();
        if is_key && draw.taken(&question).is_none() {
            let item = bounded(AccessPath::new(path).item(key));
            // A planned answer decides about a planned item.
            let is_planned = draw.given(&question).is_some();
            let known = match if is_planned { draw.taken(&item) } else { draw.given(&item) } {
                Some(Decision::Value(_) | Decision::Same(_)) => Some(true),
                Some(Decision::Fail) => Some(false),
                Some(Decision::Raise(name)) if is_not_found(name) => Some(false),
                _ => None,
            };
            if let Some(known) = known {
                draw.imply(&question, Decision::Value(Recipe::Bool(known)));
            }
        }
        draw.truth(&question, 0.5)
    });
    has.unwrap_or(false)
}

/// Whether this exception says that there is no such item.
fn is_not_found(name: &str) -> bool {
    matches!(name, "KeyError" | "IndexError" | "LookupError")
}

/// Whether it was decided before that this is, or is not, among the keys of an object, without its value. A look-up that
/// was planned to fail does not, if the key is there.
pub(crate) fn known_item(path: &str, key: &str) -> Option<bool> {
    let known = |execution: &mut state::Execution| {
        let item = bounded(AccessPath::new(path).item(key));
        if execution.loading || !is_key(execution, path, key) || execution.draw.taken(&item).is_some() {
            return None;
        }
        // The other version may have run in a process of its own.
        let known = match execution.draw.given(&Question::Item { item: key, holder: path.into() }.to_string()) {
            Some(Decision::Value(Recipe::Bool(known))) => *known,
            _ => return None,
        };
        let fails = match execution.draw.given(&item) {
            Some(Decision::Fail) => true,
            Some(Decision::Raise(name)) => is_not_found(name),
            _ => false,
        };
        if known && fails {
            execution.draw.forget(&item);
        }
        Some(known)
    };
    state::with(known).flatten()
}

/// An object in which texts are looked up has keys, and so has one that the code uses as a mapping. Other values may
/// also be searched for among items.
fn is_key(execution: &state::Execution, path: &str, key: &str) -> bool {
    let is_mapping = || execution.index.known(path).is_some_and(|(_, uses)| uses.keys.contains(&Key::Member));
    key.starts_with(['\'', '"']) || is_mapping()
}

/// One decision orders two values, so that all six comparisons agree.
pub(crate) fn compare(slf: &Bound<'_, Versatile>, other: &Bound<'_, PyAny>, op: CompareOp) -> bool {
    let own = slf.get().path();
    let text = observe::short(other);
    if let Ok(other) = other.cast::<Versatile>()
        && other.get().path() == own
    {
        return matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
    }
    let swapped = other.is_instance_of::<Versatile>() && text.as_str() < own;
    let (one, two) = if swapped { (text.as_str(), own) } else { (own, text.as_str()) };
    let path = Question::Order { one, other: two }.to_string();
    let number = match observe::value(other) {
        Observed::Int(text) | Observed::Float(text) => text.parse().ok(),
        _ => None,
    };
    if matches!(op, CompareOp::Eq | CompareOp::Ne) && !other.is_instance_of::<Versatile>() {
        // A value that may equal a plain one is injected as a plain one. A false object, however, equals something, and
        // so does one whose order relative to the value says so.
        let equal = zero(other).is_some_and(|kind| is_zero(own, kind)) || is_ordered_as_equal(own, &path, number);
        return equal == matches!(op, CompareOp::Eq);
    }
    let order = state::with(|execution| {
        if execution.loading {
            return 0;
        }
        let draw = &mut execution.draw;
        let mut weights = ORDER_WEIGHTS;
        if draw.are_apart(&path) {
            weights[1] = 0.0;
            if draw.given(&path) == Some(&Decision::Value(Recipe::Int(1))) {
                draw.imply(&path, Decision::Value(Recipe::Int(2)));
            }
        } else if draw.taken(&path).is_none()
            && let Some(number) = number
        {
            if let Some(order) = implied_order(draw, own, number) {
                draw.imply(&path, Decision::Value(Recipe::Int(order as i64 + 1)));
            } else if number == 0.0 && known_truth(draw, own) == Some(true) {
                weights[1] = 0.0;
            }
        }
        draw.number(&path, &weights)
    })
    .unwrap_or(0)
        - 1;
    let order = if swapped { -order } else { order };
    match op {
        CompareOp::Lt => order < 0,
        CompareOp::Le => order <= 0,
        CompareOp::Eq => order == 0,
        CompareOp::Ne => order != 0,
        CompareOp::Gt => order > 0,
        CompareOp::Ge => order >= 0,
    }
}

/// Whether the order of an object relative to a plain value, under `path`, was decided as equal. Otherwise it differs
/// from this value for the rest of the execution, so that `x <= 5` and `x < 5 or x == 5` agree.
fn is_ordered_as_equal(own: &str, path: &str, number: Option<f64>) -> bool {
    state::with(|execution| {
        if execution.loading {
            return false;
        }
        let draw = &mut execution.draw;
        if draw.given(path).is_some() && !draw.are_apart(path) {
            return draw.number(path, &ORDER_WEIGHTS) == 1;
        }
        let equal = number.is_some_and(|number| implied_order(draw, own, number) == Some(Ordering::Equal));
        if equal {
            draw.imply(path, Decision::Value(Recipe::Int(1)));
        } else {
            draw.tell_apart(path);
        }
        equal
    })
    .unwrap_or(false)
}

pub(crate) fn binary(
    slf: &Bound<'_, Versatile>,
    sign: &str,
    other: &Bound<'_, PyAny>,
    reversed: bool,
) -> PyResult<Versatile> {
    let own = slf.get().path();
    let text = observe::short(other);
    let commutes = matches!(sign, "*" | "&" | "|" | "^")
        || sign == "+" && (other.is_instance_of::<PyInt>() || other.is_instance_of::<PyFloat>());
    let swap = if commutes { text.as_str() < own } else { reversed };
    let path = if swap { path::binary(&text, sign, own) } else { path::binary(own, sign, &text) };
    failures::may_by(slf.py(), || path.clone(), failures::of_operator)?;
    Ok(Versatile::new(bounded(path)))
}

/// A fresh iterator over the object's items. When the code unpacks, it gets as many items as it wants.
pub(crate) fn iterate(slf: &Bound<'_, Versatile>) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let path = slf.get().path();
    failures::may(py, || Question::Iteration(path.into()).to_string())?;
    let count = match unpacking::unpack_count(py) {
        Some(count) => unpacked(path, count),
        None => length(path),
    };
    let items = (0..count).map(|index| item(py, path, index)).collect::<PyResult<Vec<_>>>()?;
    Ok(Py::new(py, Items { items: items.into(), path: path.to_string() })?.into_any())
}

/// The object's items from the last to the first.
pub(crate) fn iterate_back(slf: &Bound<'_, Versatile>) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let path = slf.get().path();
    let items = items(py, path)?.into_iter().rev().collect();
    Ok(Py::new(py, Items { items, path: path.to_string() })?.into_any())
}

/// The text of an index under which the same item of an object is known: `-1` for the last position. `None` if the item
/// goes by its own index.
pub(crate) fn other_index(path: &str, index: i64) -> Option<String> {
    state::with(|execution| {
        // Numbers that are looked up in a mapping are no positions.
        let (_, uses) = execution.index.known(path)?;
        if !uses.keys.iter().all(|key| matches!(key, Key::Int | Key::Slice)) {
            return None;
        }
        let draw = &execution.draw;
        let length = match draw.taken(&Question::Length(path.into()).to_string())? {
            Decision::Value(Recipe::Int(length)) => *length,
            _ => return None,
        };
        let other = if index < 0 { index.checked_add(length)? } else { index.checked_sub(length)? };
        let is_inside = (-length..length).contains(&index) && (-length..length).contains(&other);
        let known = is_inside && draw.given(&bounded(AccessPath::new(path).item(other))).is_some();
        known.then(|| other.to_string())
    })
    .flatten()
}

/// All items that iterating over an object gives.
pub(crate) fn items(py: Python<'_>, path: &str) -> PyResult<Vec<Py<PyAny>>> {
    failures::may(py, || Question::Iteration(path.into()).to_string())?;
    (0..length(path)).map(|index| item(py, path, index)).collect()
}

/// Unpacking gets as many items as it wants. If another number was decided before, this is a forced operation.
fn unpacked(path: &str, count: usize) -> usize {
    let question = Question::Length(path.into()).to_string();
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
        state::forced(&question);
    }
    count
}

fn item(py: Python<'_>, path: &str, index: usize) -> PyResult<Py<PyAny>> {
    let identifier = AccessPath::new(path).last_name();
    let key = other_index(path, index as i64).unwrap_or_else(|| index.to_string());
    resolve::value(
        py,
        &bounded(AccessPath::new(path).item(key)),
        &ValueRequest { kind: SiteKind::Subscript, identifier, ..ValueRequest::default() },
    )
}

/// `next(x)`: the object's items, one after the other.
pub(crate) fn next(slf: &Bound<'_, Versatile>) -> PyResult<Option<Py<PyAny>>> {
    let path = slf.get().path();
    let key = Question::Next(path.into()).to_string();
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

pub(crate) fn awaited(slf: &Bound<'_, Versatile>) -> PyResult<Ready> {
    protocols::protocol(slf, "__await__");
    let path = slf.get().path();
    let request = ValueRequest { kind: SiteKind::Call, ..ValueRequest::default() };
    resolve::value(slf.py(), &bounded(AccessPath::new(path).awaited()), &request).map(Ready::new)
}

/// An iterator over injected items, also an async one.
#[pyclass(module = "twincell")]
pub struct Items {
    items: std::collections::VecDeque<Py<PyAny>>,
    path: String,
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

#[cfg(test)]
mod tests {
    use super::next_to;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn a_number_fits_all_that_was_said_of_it() {
        assert_eq!(next_to(&[(10.0, Greater), (5.0, Greater)]), 11);
        assert_eq!(next_to(&[(5.0, Equal), (10.0, Less)]), 5);
        assert_eq!(next_to(&[(10.5, Less), (9.0, Greater)]), 10);
        assert_eq!(next_to(&[(f64::INFINITY, Greater)]), i64::MAX);
        assert_eq!(next_to(&[]), 0);
    }
}
