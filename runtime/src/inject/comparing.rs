//! The answers of a mock object about itself and others: truth, length, number, order, equality, hash.
//!
//! Every answer is a decision under a path that names the question, so both versions get the same answer and a witness
//! can show it: `bool(x)`, `len(x)`, `order(x, 1)`. Together they are one consistent world: what follows from earlier
//! answers is not drawn.

use std::cmp::Ordering;

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString, PyTuple};
use xxhash_rust::xxh3::xxh3_64;

use twincell_engine::observed::Observed;
use twincell_values::drawing::Draw;
use twincell_values::path::{self, AccessPath, Question};
use twincell_values::value::{Decision, Recipe};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::failures;
use crate::inject::operators::unmoved;
use crate::observe;

/// The number zero, as it stands in questions of order.
const NOTHING: &str = "0";
/// The empty text, as it stands there.
const EMPTY_TEXT: &str = "''";

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
pub(crate) fn truth(path: AccessPath<'_>) -> bool {
    state::with(|execution| {
        if execution.loading {
            return true;
        }
        let draw = &mut execution.draw;
        let of = path;
        let own = Question::Truth(of).to_string();
        if draw.taken(&own).is_none() {
            let number = |question: Question<'_>| match draw.taken(&question.to_string()) {
                Some(Decision::Value(Recipe::Int(number))) => Some(*number),
                _ => None,
            };
            let known = number(Question::Length(of)).or_else(|| number(Question::Number(of)));
            if let Some(truth) =
                known.map(|number| number != 0).or_else(|| known_zero(draw, path).map(|is_zero| !is_zero))
            {
                draw.imply(&own, Decision::Value(Recipe::Bool(truth)));
            }
        }
        draw.truth(&own, TRUE_PROBABILITY)
    })
    .unwrap_or(true)
}

/// The truth of an object, if it was asked for.
fn known_truth(draw: &Draw, path: AccessPath<'_>) -> Option<bool> {
    match draw.taken(&Question::Truth(path).to_string()) {
        Some(Decision::Value(Recipe::Bool(truth))) => Some(*truth),
        _ => None,
    }
}

/// Whether an object equals zero, if earlier decisions tell. One that equals any false value does not have to.
fn known_zero(draw: &mut Draw, path: AccessPath<'_>) -> Option<bool> {
    draw.orders.implied(path.as_str(), NOTHING).map(|order| order == Ordering::Equal)
}

/// The order of two values, of which the second is a number if `number` is given, if earlier decisions determine it.
fn implied_order(draw: &mut Draw, one: &str, other: &str, number: Option<f64>) -> Option<Ordering> {
    let is_zero = |draw: &Draw| {
        number == Some(0.0) && known_truth(draw, one.into()) == Some(false) && draw.orders.hash(one).is_none()
    };
    draw.orders.implied(one, other).or_else(|| is_zero(draw).then_some(Ordering::Equal))
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
fn is_zero(path: AccessPath<'_>, kind: &str) -> bool {
    if truth(path) {
        return false;
    }
    state::with(|execution| {
        if execution.loading {
            return false;
        }
        let own = Question::Zero(path).to_string();
        if execution.draw.orders.hash(path.as_str()).is_some() && execution.draw.taken(&own).is_none() {
            // It has the hash of no plain value.
            return false;
        }
        execution.draw.settle(&own, Decision::Value(Recipe::Str(kind.to_string())));
        matches!(execution.draw.taken(&own), Some(Decision::Value(Recipe::Str(known))) if known == kind)
    })
    .unwrap_or(false)
}

/// As many items as the object's truth allows.
pub(crate) fn length(path: AccessPath<'_>) -> usize {
    let drawn = state::with(|execution| {
        if execution.loading {
            return 0;
        }
        let mut weights = LENGTH_WEIGHTS;
        match execution.draw.taken(&Question::Truth(path).to_string()) {
            Some(Decision::Value(Recipe::Bool(true))) => weights[0] = 0.0,
            Some(Decision::Value(Recipe::Bool(false))) => weights = [1.0, 0.0, 0.0, 0.0],
            _ => {}
        }
        execution.draw.number(&Question::Length(path).to_string(), &weights)
    });
    usize::try_from(drawn.unwrap_or(0)).unwrap_or(0)
}

pub(crate) fn number(path: AccessPath<'_>) -> i64 {
    let (of, by) = unmoved(path);
    if by != 0 {
        return number(of.as_path()).saturating_add(by);
    }
    state::with(|execution| {
        if execution.loading {
            return 1;
        }
        let draw = &mut execution.draw;
        let own = Question::Number(path).to_string();
        let mut weights = NUMBER_WEIGHTS;
        if draw.taken(&own).is_none() {
            let orders = draw.orders.to_numbers(path.as_str());
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
pub(crate) fn converted(py: Python<'_>, path: AccessPath<'_>) -> PyResult<i64> {
    failures::may_by(py, || Question::Number(path).to_string(), failures::of_number)?;
    Ok(number(path))
}

/// Numbers below are read and written as they are.
const EXACT: f64 = 1e15;

/// One decision orders two values, so that all six comparisons agree.
pub(crate) fn compare(slf: &Bound<'_, MockObject>, other: &Bound<'_, PyAny>, op: CompareOp) -> bool {
    let own = slf.get().path().as_str();
    let text = observe::short(other);
    let number = match observe::value(other) {
        Observed::Int(text) | Observed::Float(text) => text.parse().ok(),
        _ => None,
    };
    let is_object = other.is_instance_of::<MockObject>();
    if is_object && text == own {
        return matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
    }
    let swapped = is_object && text.as_str() < own;
    let (one, two) = if swapped { (text.as_str(), own) } else { (own, text.as_str()) };
    let path = Question::Order { one, other: two }.to_string();
    let shifted = Shifted::of(one, two, number);
    if matches!(op, CompareOp::Eq | CompareOp::Ne) && !is_object {
        let differs = || {
            let implied = state::with(|execution| implied_order(&mut execution.draw, own, &text, number)).flatten();
            implied.is_some_and(|order| order != Ordering::Equal)
        };
        // A value that may equal a plain one is injected as a plain one. A false object, however, equals something, and
        // so does one whose order relative to the value says so.
        let equal = !differs()
            && (zero(other).is_some_and(|kind| is_zero(own.into(), kind))
                || is_ordered_as_equal(own, &text, &path, number));
        return equal == matches!(op, CompareOp::Eq);
    }
    let order = state::with(|execution| {
        if execution.loading {
            return 0;
        }
        let draw = &mut execution.draw;
        let mut weights = ORDER_WEIGHTS;
        if draw.taken(&path).is_none() {
            let known = shifted.as_ref().and_then(|shifted| shifted.implied(draw));
            if let Some(order) = known.or_else(|| implied_order(draw, one, two, number)) {
                draw.imply(&path, Decision::Value(Recipe::Int(order as i64 + 1)));
            } else if draw.orders.are_apart(one, two) || !is_object && draw.orders.hash(own).is_some() {
                weights[1] = 0.0;
                if draw.given(&path) == Some(&Decision::Value(Recipe::Int(1))) {
                    draw.imply(&path, Decision::Value(Recipe::Int(2)));
                }
            } else if number == Some(0.0) && known_truth(draw, own.into()) == Some(true) {
                weights[1] = 0.0;
            }
            if two == EMPTY_TEXT {
                // No text is less.
                weights[0] = 0.0;
                if draw.given(&path) == Some(&Decision::Value(Recipe::Int(0))) {
                    draw.imply(&path, Decision::Value(Recipe::Int(2)));
                }
            }
        }
        let order = draw.number(&path, &weights);
        if let Some(shifted) = &shifted {
            shifted.note(draw, order);
        }
        order
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

/// Two values of which the order says that of others.
struct Shifted {
    one: String,
    other: String,
    /// Whether the others have the reverse order.
    is_reversed: bool,
}

impl Shifted {
    /// Two values with the order of these, where one of these is the sum of an object and an integer: `x` and `2` for
    /// `x + 1` and `3`. All ways to write the same comparison lead to the same two.
    fn of(one: &str, other: &str, number: Option<f64>) -> Option<Self> {
        let (of, by) = unmoved(one.into());
        if let Some(number) = number {
            let rest = number - by as f64;
            let is_exact = rest + by as f64 == number && [number, rest].iter().all(|one| one.abs() < EXACT);
            let other = if rest.fract() == 0.0 { (rest as i64).to_string() } else { format!("{rest:?}") };
            return (by != 0 && is_exact).then_some(Self { one: of.into_string(), other, is_reversed: false });
        }
        let (others, its) = unmoved(other.into());
        let more = its.checked_sub(by).filter(|more| (by, its) != (0, 0) && *more != i64::MIN)?;
        Some(match of < others {
            true => Self {
                one: of.into_string(),
                other: path::sum(others.as_path(), more).into_string(),
                is_reversed: false,
            },
            false => Self {
                one: others.into_string(),
                other: path::sum(of.as_path(), -more).into_string(),
                is_reversed: true,
            },
        })
    }

    fn implied(&self, draw: &mut Draw) -> Option<Ordering> {
        let order = draw.orders.implied(&self.one, &self.other)?;
        Some(if self.is_reversed { order.reverse() } else { order })
    }

    /// Notes the order of the others: 0 to 2 for less, equal, greater.
    fn note(&self, draw: &mut Draw, order: i64) {
        let question = Question::Order { one: &self.one, other: &self.other }.to_string();
        draw.orders.note(&question, &Decision::Value(Recipe::Int(if self.is_reversed { 2 - order } else { order })));
    }
}

/// Whether the order of an object relative to a plain value, under `question`, was decided as equal. Otherwise it differs
/// from this value for the rest of the execution, so that `x <= 5` and `x < 5 or x == 5` agree.
fn is_ordered_as_equal(own: &str, other: &str, question: &str, number: Option<f64>) -> bool {
    state::with(|execution| {
        if execution.loading {
            return false;
        }
        let draw = &mut execution.draw;
        if draw.given(question).is_some() && !draw.orders.are_apart(own, other) {
            return draw.number(question, &ORDER_WEIGHTS) == 1;
        }
        let equal = implied_order(draw, own, other, number) == Some(Ordering::Equal);
        if equal {
            draw.imply(question, Decision::Value(Recipe::Int(1)));
        } else {
            draw.orders.tell_apart(own, other);
        }
        equal
    })
    .unwrap_or(false)
}

/// The hash of an object: that of all values that it equals. What shows another hash is not equal for the rest of the
/// execution.
pub(crate) fn hash(slf: &Bound<'_, MockObject>) -> PyResult<isize> {
    let path = slf.get().path();
    let known = state::with(|execution| {
        let draw = &execution.draw;
        if let Some(hash) = draw.orders.hash(path.as_str()) {
            return (Some(hash), vec![]);
        }
        let mut equal = draw.orders.equals(path.as_str());
        equal.extend(draw.given_orders.equals(path.as_str()));
        let hash = equal.iter().find_map(|text| draw.orders.hash(text));
        (hash, equal.into_iter().map(str::to_owned).collect())
    });
    let (hash, equal) = known.unwrap_or_default();
    let hash = match hash {
        Some(hash) => hash,
        None => match equal.iter().find_map(|text| plain(slf.py(), text)) {
            Some(value) => value.hash()?,
            None => xxh3_64(equal.iter().min().map_or(path.as_str(), String::as_str).as_bytes()) as isize,
        },
    };
    // Python keeps this one for failures.
    let hash = if hash == -1 { -2 } else { hash };
    state::with(|execution| {
        if !execution.loading {
            execution.draw.orders.show_hash(path.as_str(), hash);
        }
    });
    Ok(hash)
}

/// The number, or the empty value with a hash, that a text in a question of order writes.
fn plain<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(PyInt::new(py, number).into_any());
    }
    let may_be_float = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    if let Some(number) = may_be_float.then(|| text.parse().ok()).flatten() {
        return Some(PyFloat::new(py, number).into_any());
    }
    match text {
        EMPTY_TEXT => Some(PyString::new(py, "").into_any()),
        "b''" => Some(PyBytes::new(py, b"").into_any()),
        "()" => Some(PyTuple::empty(py).into_any()),
        _ => None,
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
