//! What the orders that were decided say of others, so that `<` and `==` hold together: both are transitive, and numbers
//! and texts have their own order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::path::Question;
use crate::value::{Decision, Recipe};

/// How the questions begin whose answers order two values.
const STARTS: [&str; 3] = ["order(", "int(", "zero("];

/// The orders of values, which go by the texts under which questions name them.
#[derive(Debug, Default)]
pub struct Orders {
    places: FxHashMap<String, usize>,
    values: Vec<Value>,
    /// The values that are plain, in their own order.
    plain: BTreeMap<Plain, Vec<usize>>,
    /// Pairs that are known to differ, the smaller place first.
    apart: FxHashSet<(usize, usize)>,
}

#[derive(Debug, Default)]
struct Value {
    text: String,
    plain: Option<Plain>,
    equal: Vec<usize>,
    above: Vec<usize>,
    below: Vec<usize>,
    /// The hash that it showed.
    hash: Option<isize>,
}

/// A plain value that has an order to its like.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Plain {
    /// By its bits, which have the order of the numbers.
    Number(u64),
    Text(String),
}

impl Plain {
    /// The value that a text writes, as Python would. A text with an escape is none of these.
    fn read(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return (!inner.contains('\\')).then(|| Plain::Text(inner.to_owned()));
        }
        number(text).map(|number| Plain::Number(ascending(number)))
    }

    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Orders {
    /// Notes what a decision says.
    pub fn note(&mut self, path: &str, decision: &Decision) {
        if !STARTS.iter().any(|start| path.starts_with(start)) {
            return;
        }
        match (Question::parse(path), decision) {
            (Question::Order { one, other }, Decision::Value(Recipe::Int(order))) => {
                self.relate(one, other, (*order - 1).cmp(&0));
            }
            (Question::Number(of), Decision::Value(Recipe::Int(number))) => {
                self.relate(of.as_str(), &number.to_string(), Ordering::Equal);
            }
            (Question::Zero(of), Decision::Value(Recipe::Str(kind))) => {
                if let Some(zero) = zero(kind) {
                    self.relate(of.as_str(), zero, Ordering::Equal);
                }
            }
            _ => {}
        }
    }

    fn relate(&mut self, one: &str, other: &str, order: Ordering) {
        let (one, other) = (self.place(one), self.place(other));
        match order {
            Ordering::Less => {
                self.values[one].above.push(other);
                self.values[other].below.push(one);
            }
            Ordering::Equal => {
                self.values[one].equal.push(other);
                self.values[other].equal.push(one);
            }
            Ordering::Greater => {
                self.values[one].below.push(other);
                self.values[other].above.push(one);
            }
        }
    }

    fn place(&mut self, text: &str) -> usize {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.values.len();
        let plain = Plain::read(text);
        if let Some(plain) = &plain {
            self.plain.entry(plain.clone()).or_default().push(place);
        }
        self.places.insert(text.to_owned(), place);
        self.values.push(Value { text: text.to_owned(), plain, ..Value::default() });
        place
    }

    /// The order of two values, if it follows from what was decided.
    pub fn implied(&mut self, one: &str, other: &str) -> Option<Ordering> {
        let known = |text: &str| self.places.contains_key(text) || Plain::read(text).is_some();
        if !known(one) || !known(other) {
            return None;
        }
        let (one, other) = (self.place(one), self.place(other));
        match self.reached(one, Ordering::Less)[other] {
            Some(Ordering::Equal) => return Some(Ordering::Equal),
            Some(_) => return Some(Ordering::Less),
            None => {}
        }
        self.reached(one, Ordering::Greater)[other].map(|_| Ordering::Greater)
    }

    /// For each value, whether it is known to be equal to this one, or beyond it: above for `Less`, below for
    /// `Greater`.
    fn reached(&self, start: usize, direction: Ordering) -> Vec<Option<Ordering>> {
        let mut found: Vec<Option<Ordering>> = vec![None; self.values.len()];
        let mut open = vec![(start, Ordering::Equal)];
        while let Some((place, order)) = open.pop() {
            match found[place] {
                Some(known) if known == order || known == direction => continue,
                _ => found[place] = Some(order),
            }
            let value = &self.values[place];
            open.extend(value.equal.iter().map(|&next| (next, order)));
            let beyond = if direction == Ordering::Less { &value.above } else { &value.below };
            open.extend(beyond.iter().map(|&next| (next, direction)));
            let Some(own) = &value.plain else { continue };
            open.extend(self.plain.get(own).into_iter().flatten().map(|&next| (next, order)));
            let next = match direction {
                Ordering::Less => self.plain.range((Bound::Excluded(own), Bound::Unbounded)).next(),
                _ => self.plain.range(..own).next_back(),
            };
            let next = next.filter(|(next, _)| next.is_like(own));
            open.extend(next.into_iter().flat_map(|(_, places)| places).map(|&next| (next, direction)));
        }
        found
    }

    /// The numbers to which a value has an order, with this order.
    pub fn to_numbers(&self, text: &str) -> Vec<(f64, Ordering)> {
        let Some(&place) = self.places.get(text) else { return vec![] };
        let side = |direction| {
            let found = self.reached(place, direction).into_iter().zip(&self.values);
            found.filter_map(|(order, value)| Some((number(&value.text)?, order?))).collect::<Vec<_>>()
        };
        let mut known = side(Ordering::Less);
        known.extend(side(Ordering::Greater).into_iter().filter(|(_, order)| *order == Ordering::Greater));
        known
    }

    /// The texts of all values that are known to be equal to this one, with its own, in their order.
    pub fn equals(&self, text: &str) -> Vec<&str> {
        let Some(&place) = self.places.get(text) else { return vec![] };
        let found = self.reached(place, Ordering::Less).into_iter().zip(&self.values);
        let equal = found.filter(|(order, _)| *order == Some(Ordering::Equal));
        let mut texts: Vec<&str> = equal.map(|(_, value)| value.text.as_str()).collect();
        texts.sort_unstable();
        texts
    }

    /// Notes that two values differ, without an order.
    pub fn tell_apart(&mut self, one: &str, other: &str) {
        let (one, other) = (self.place(one), self.place(other));
        self.apart.insert((one.min(other), one.max(other)));
    }

    /// Whether two values that have no order are known to differ: one of the values that are equal to the first was told
    /// apart from one of those that are equal to the second, or the two showed different hashes.
    pub fn are_apart(&self, one: &str, other: &str) -> bool {
        let class = |text: &str| -> Vec<usize> {
            let Some(&place) = self.places.get(text) else { return vec![] };
            let found = self.reached(place, Ordering::Less).into_iter().enumerate();
            found.filter(|(_, order)| *order == Some(Ordering::Equal)).map(|(place, _)| place).collect()
        };
        let (first, second) = (class(one), class(other));
        let differ = |one: usize, other: usize| {
            self.apart.contains(&(one.min(other), one.max(other)))
                || matches!((self.values[one].hash, self.values[other].hash), (Some(one), Some(other)) if one != other)
        };
        first.iter().any(|&one| second.iter().any(|&other| differ(one, other)))
    }

    /// The hash that a value showed.
    pub fn hash(&self, text: &str) -> Option<isize> {
        self.values[*self.places.get(text)?].hash
    }

    /// Notes the hash that a value shows.
    pub fn show_hash(&mut self, text: &str, hash: isize) {
        let place = self.place(text);
        self.values[place].hash = Some(hash);
    }
}

/// The false value of this kind, as code writes it.
fn zero(kind: &str) -> Option<&'static str> {
    match kind {
        "number" => Some("0"),
        "str" => Some("''"),
        "bytes" => Some("b''"),
        "list" => Some("[]"),
        "tuple" => Some("()"),
        "dict" => Some("{}"),
        "set" => Some("set()"),
        _ => None,
    }
}

/// The number that a text writes, as Python would.
fn number(text: &str) -> Option<f64> {
    let may_be = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    may_be.then(|| text.parse().ok()).flatten().filter(|number: &f64| !number.is_nan())
}

/// Bits that have the order of the numbers. The two zeros are equal.
fn ascending(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    fn orders(known: &[(&str, &str, Ordering)]) -> Orders {
        let mut orders = Orders::default();
        for (one, other, order) in known {
            orders.note(&Question::Order { one, other }.to_string(), &Decision::Value(Recipe::Int(*order as i64 + 1)));
        }
        orders
    }

    #[test]
    fn order_and_equality_are_transitive_and_symmetric() {
        let mut orders = orders(&[("a", "b", Less), ("c", "b", Equal), ("d", "c", Greater), ("e", "a", Equal)]);
        assert_eq!(orders.implied("a", "d"), Some(Less));
        assert_eq!(orders.implied("d", "e"), Some(Greater));
        assert_eq!(orders.implied("b", "c"), Some(Equal));
        assert_eq!(orders.implied("a", "x"), None);
        assert_eq!(orders.equals("a"), ["a", "e"]);
    }

    #[test]
    fn numbers_have_their_own_order() {
        let mut orders = orders(&[("a", "3", Greater), ("b", "-0.5", Less), ("c", "2.0", Equal)]);
        assert_eq!(orders.implied("a", "2"), Some(Greater));
        assert_eq!(orders.implied("a", "4"), None);
        assert_eq!(orders.implied("b", "a"), Some(Less));
        assert_eq!(orders.implied("c", "2"), Some(Equal));
        assert_eq!(orders.implied("c", "a"), Some(Less));
        assert_eq!(orders.to_numbers("c"), [(3.0, Less), (2.0, Equal), (2.0, Equal), (4.0, Less), (-0.5, Greater)]);
    }

    #[test]
    fn texts_have_their_own_order() {
        let mut orders = orders(&[("a", "'b'", Less), ("c", "'d'", Greater), ("d", "''", Equal), ("e", "7", Less)]);
        assert_eq!(orders.implied("a", "c"), Some(Less));
        assert_eq!(orders.implied("d", "c"), Some(Less));
        assert_eq!(orders.implied("a", "e"), None);
        assert_eq!(orders.implied("a", "'a'"), None);
    }

    #[test]
    fn what_is_told_apart_stays_apart_under_other_names() {
        let mut orders = orders(&[("a", "b", Equal)]);
        orders.tell_apart("b", "'x'");
        assert!(orders.are_apart("a", "'x'") && orders.are_apart("'x'", "b"));
        assert!(!orders.are_apart("a", "'y'"));
        orders.show_hash("a", 1);
        orders.show_hash("c", 2);
        assert!(orders.are_apart("b", "c"));
    }

    #[test]
    fn numbers_and_kinds_of_false_values_are_equalities() {
        let mut orders = Orders::default();
        for (path, value) in [("int(a)", Recipe::Int(3)), ("zero(b)", Recipe::Str("str".into()))] {
            orders.note(path, &Decision::Value(value));
        }
        assert_eq!((orders.implied("a", "3"), orders.implied("b", "''")), (Some(Equal), Some(Equal)));
    }
}
