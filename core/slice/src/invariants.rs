//! Likely invariants of one variable at a program point, and what one set of them has that another does not imply.
//!
//! The paper on DEFINER (section 3) takes those of Daikon that speak of a single variable. These are the ones that can be told from
//! bounded plain data: constant, one of a few values, range, modulus, not `None`, type, and length.

use std::collections::{BTreeMap, BTreeSet};

use twincell_testing::{Point, Value};

/// The maximum number of values of "one of".
const FEW: usize = 3;
/// The number of different integers from which a modulus is inferred.
const ENOUGH: usize = 3;

fn class(value: &Value) -> &str {
    match value {
        Value::None => "None",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Text(_) => "str",
        Value::Sized { class, .. } | Value::Object { class } => class,
    }
}

fn length(value: &Value) -> Option<u64> {
    match value {
        Value::Text(text) => Some(text.chars().count() as u64),
        Value::Sized { length, .. } => Some(*length),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// Whether two values are known to be the same. Objects are never.
fn are_same(left: &Value, right: &Value) -> bool {
    !matches!(left, Value::Object { .. } | Value::Sized { .. }) && left == right
}

/// A predicate that held for all values seen at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Invariant {
    Constant(Value),
    OneOf(Vec<Value>),
    /// Numbers, bounds included.
    Range {
        least: f64,
        most: f64,
    },
    /// `x mod modulus == remainder`.
    Modulus {
        modulus: i64,
        remainder: i64,
    },
    NotNone,
    Type(String),
    Length {
        least: u64,
        most: u64,
    },
}

impl Invariant {
    /// Whether `other` holds wherever this one does.
    fn implies(&self, other: &Self) -> bool {
        let values: Option<&[Value]> = match self {
            Self::Constant(value) => Some(std::slice::from_ref(value)),
            Self::OneOf(values) => Some(values),
            _ => None,
        };
        match (self, other) {
            _ if self == other => true,
            (Self::Range { least, most }, Self::Range { least: low, most: high }) => low <= least && most <= high,
            (Self::Length { least, most }, Self::Length { least: low, most: high }) => low <= least && most <= high,
            (Self::Modulus { modulus, remainder }, Self::Modulus { modulus: other, remainder: rest }) => {
                *other != 0 && modulus % other == 0 && remainder.rem_euclid(*other) == *rest
            }
            (Self::Range { .. } | Self::Modulus { .. } | Self::Length { .. }, Self::NotNone) => true,
            (Self::Type(class), Self::NotNone) => class != "None",
            _ => values.is_some_and(|values| values.iter().all(|value| other.holds(value))),
        }
    }

    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Constant(own) => are_same(own, value),
            Self::OneOf(all) => all.iter().any(|own| are_same(own, value)),
            Self::Range { least, most } => number(value).is_some_and(|number| *least <= number && number <= *most),
            Self::Modulus { modulus, remainder } => {
                matches!(value, Value::Int(number) if *modulus != 0 && number.rem_euclid(*modulus) == *remainder)
            }
            Self::NotNone => *value != Value::None,
            Self::Type(own) => class(value) == own,
            Self::Length { least, most } => length(value).is_some_and(|length| *least <= length && length <= *most),
        }
    }
}

/// What one run of the tests has shown, by program point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invariants {
    points: BTreeMap<Point, Vec<Invariant>>,
}

impl Invariants {
    /// Infers what held for all values of each point.
    pub fn inferred<'v>(seen: impl IntoIterator<Item = (&'v Point, &'v [Value])>) -> Self {
        let points = seen.into_iter().filter(|(_, values)| !values.is_empty());
        Self { points: points.map(|(point, values)| (point.clone(), infer(values))).collect() }
    }

    /// The points with an invariant that nothing in `other` implies, `I \ I'` in the paper.
    pub fn delta(&self, other: &Self) -> BTreeSet<&Point> {
        let is_lost = |point: &Point, own: &Invariant| {
            !other.points.get(point).is_some_and(|theirs| theirs.iter().any(|their| their.implies(own)))
        };
        let lost = self.points.iter().filter(|(point, all)| all.iter().any(|own| is_lost(point, own)));
        lost.map(|(point, _)| point).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

fn infer(values: &[Value]) -> Vec<Invariant> {
    let mut found = Vec::new();
    let mut different: Vec<&Value> = Vec::new();
    for value in values {
        if different.len() <= FEW && !different.iter().any(|known| are_same(known, value)) {
            different.push(value);
        }
    }
    let are_values = different.iter().all(|value| are_same(value, value));
    match different.as_slice() {
        [one] if are_values => found.push(Invariant::Constant((*one).clone())),
        few if are_values && few.len() <= FEW => {
            found.push(Invariant::OneOf(few.iter().map(|value| (*value).clone()).collect()));
        }
        _ => {}
    }
    let first = class(&values[0]);
    if values.iter().all(|value| class(value) == first) {
        found.push(Invariant::Type(first.to_owned()));
    }
    if values.iter().all(|value| *value != Value::None) {
        found.push(Invariant::NotNone);
    }
    let numbers: Option<Vec<f64>> =
        values.iter().map(|value| number(value).filter(|number| !number.is_nan())).collect();
    if let Some(numbers) = numbers {
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        found.push(Invariant::Range { least, most });
    }
    found.extend(modulus(values));
    let lengths: Option<Vec<u64>> = values.iter().map(length).collect();
    if let Some(lengths) = lengths {
        let (least, most) = (lengths.iter().min().copied(), lengths.iter().max().copied());
        found.push(Invariant::Length { least: least.unwrap_or_default(), most: most.unwrap_or_default() });
    }
    found
}

/// The greatest modulus with one remainder for all integers.
fn modulus(values: &[Value]) -> Option<Invariant> {
    let numbers: Option<BTreeSet<i64>> =
        values.iter().map(|value| if let Value::Int(number) = value { Some(*number) } else { None }).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= ENOUGH)?;
    let first = *numbers.first()?;
    let mut modulus: u64 = 0;
    for number in &numbers {
        let (mut large, mut small) = (modulus, number.abs_diff(first));
        while small != 0 {
            (large, small) = (small, large % small);
        }
        modulus = large;
    }
    let modulus = i64::try_from(modulus).ok().filter(|modulus| *modulus > 1)?;
    Some(Invariant::Modulus { modulus, remainder: first.rem_euclid(modulus) })
}

#[cfg(test)]
mod tests {
    use twincell_testing::Variable;

    use super::*;

    fn ints(values: &[i64]) -> Vec<Value> {
        values.iter().map(|value| Value::Int(*value)).collect()
    }

    #[test]
    fn values_show_what_holds_for_all_of_them() {
        assert_eq!(infer(&ints(&[2, 2]))[0], Invariant::Constant(Value::Int(2)));
        assert_eq!(infer(&ints(&[0, 2]))[0], Invariant::OneOf(ints(&[0, 2])));
        let many = infer(&ints(&[1, 5, 9, 13]));
        assert!(many.contains(&Invariant::Modulus { modulus: 4, remainder: 1 }));
        assert!(many.contains(&Invariant::Range { least: 1.0, most: 13.0 }));
        assert!(!many.iter().any(|one| matches!(one, Invariant::OneOf(_) | Invariant::Constant(_))));
        let texts = infer(&[Value::Text("ab".into()), Value::Text("abc".into())]);
        assert!(texts.contains(&Invariant::Length { least: 2, most: 3 }) && texts.contains(&Invariant::NotNone));
        assert_eq!(infer(&[Value::Object { class: "A".into() }]), [Invariant::Type("A".into()), Invariant::NotNone]);
        // No number lies in a range with one that is none.
        assert!(!infer(&[Value::Float(f64::NAN)]).iter().any(|one| matches!(one, Invariant::Range { .. })));
    }

    #[test]
    fn the_extremes_of_integers_overflow_nothing() {
        let extremes = infer(&ints(&[i64::MIN, 0, i64::MAX]));
        assert!(extremes.contains(&Invariant::Type("int".into())));
    }

    #[test]
    fn what_another_run_implies_is_not_lost() {
        let point = |name: &str| Point { file: "foo.py".into(), function: name.into(), variable: Variable::Returned };
        let (h, g) = (point("B.h"), point("B.g"));
        let of = |first: &[Value], second: &[Value]| Invariants::inferred([(&h, first), (&g, second)]);
        let before = of(&ints(&[1, 2, 3, 4]), &ints(&[0, 5]));
        // A constant within the range, and one of the two values.
        assert!(before.delta(&of(&ints(&[2]), &ints(&[5]))).iter().all(|point| **point == h));
        assert_eq!(before.delta(&before).len(), 0);
        assert_eq!(before.delta(&of(&ints(&[1, 2, 3, 4]), &ints(&[6]))), [&g].into());
        // What is not called any more has lost all.
        assert_eq!(before.delta(&Invariants::default()).len(), 2);
    }
}
