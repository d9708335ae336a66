//! Values from what the change compared: where a test's value was compared with another one, the other one takes its place.
//!
//! This is the correspondence of inputs and comparisons of Redqueen (Aschermann et al., 2019), for literals in tests: a
//! value that arrives unchanged in a comparison, within a text or as the length of one, is replaced so that the
//! comparison comes out the other way.

use twincell_testing::{Observed, Relation};

/// Two values that changed files compared while a test ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Whether a function that changed compared them.
    pub is_near: bool,
    pub relation: Relation,
    pub left: Observed,
    pub right: Observed,
}

/// How many values are proposed for one place.
const MOST: usize = 12;
/// The longest text that is made for the sake of its length, in characters.
const LONGEST: i64 = 400;
/// Shorter parts of a text are in it by chance.
const SHORTEST_PART: usize = 2;

/// Each comparison from both sides: one value, the other, and whether the one is the left.
fn sides(all: &[Compared]) -> impl Iterator<Item = (u8, &Compared, &Observed, &Observed, bool)> {
    all.iter().flat_map(|one| {
        let order = if one.is_near { 0 } else { 1 };
        [(order, one, &one.left, &one.right, true), (order, one, &one.right, &one.left, false)]
    })
}

/// Texts in the place of one, with how promising each is.
pub fn texts(text: &str, all: &[Compared]) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    for (order, compared, own, other, is_left) in sides(all) {
        let made = match (readable(own), readable(other)) {
            (Some(own), Some(other)) => replaced(text, own, other, compared.relation, is_left),
            _ => resized(text, own, other),
        };
        for one in made {
            if one != text && !found.contains(&(order, one.clone())) && found.len() < MOST {
                found.push((order, one));
            }
        }
    }
    found
}

fn readable(value: &Observed) -> Option<&str> {
    match value {
        Observed::Str(text) => Some(text),
        Observed::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn replaced(text: &str, own: &str, other: &str, relation: Relation, is_left: bool) -> Vec<String> {
    let with = match relation {
        // The part is put where it is looked for.
        Relation::Start if is_left => format!("{other}{own}"),
        Relation::End | Relation::Member if is_left => format!("{own}{other}"),
        _ => other.to_owned(),
    };
    if own == text {
        return if with == other { vec![with] } else { vec![with, other.to_owned()] };
    }
    let is_part = own.chars().count() >= SHORTEST_PART && text.contains(own);
    if is_part { vec![text.replacen(own, &with, 1)] } else { vec![] }
}

/// A text whose length was compared.
fn resized(text: &str, own: &Observed, other: &Observed) -> Vec<String> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let (Some(own), Some(other)) = (integer(own), integer(other)) else { return vec![] };
    let Some(last) = text.chars().last().filter(|_| own == length) else { return vec![] };
    let lengths = around(other).into_iter().filter(|wanted| (0..=LONGEST).contains(wanted));
    lengths
        .map(|wanted| text.chars().chain(std::iter::repeat(last)).take(usize::try_from(wanted).unwrap_or(0)).collect())
        .collect()
}

/// Whole numbers in the place of one.
pub fn integers(number: i64, all: &[Compared]) -> Vec<(u8, i64)> {
    let mut found = Vec::new();
    for (order, compared, own, other, _) in sides(all) {
        let (Some(own), Some(other)) = (integer(own), integer(other)) else { continue };
        let values = if compared.relation == Relation::Order { around(other).to_vec() } else { vec![other] };
        for value in values {
            if own == number && value != number && !found.contains(&(order, value)) && found.len() < MOST {
                found.push((order, value));
            }
        }
    }
    found
}

/// Other numbers in the place of one that is not whole.
pub fn floats(number: f64, all: &[Compared]) -> Vec<(u8, f64)> {
    let mut found: Vec<(u8, f64)> = Vec::new();
    for (order, _, own, other, _) in sides(all) {
        let (Some(own), Some(other)) = (float(own), float(other)) else { continue };
        if own.to_bits() == number.to_bits() && other.to_bits() != number.to_bits() && found.len() < MOST {
            found.push((order, other));
        }
    }
    found
}

/// Numbers of items in the place of that of a container.
pub fn sizes(size: usize, all: &[Compared]) -> Vec<(u8, usize)> {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for (order, _, own, other, _) in sides(all) {
        let (Some(own), Some(other)) = (integer(own), integer(other)) else { continue };
        let sizes = around(other).into_iter().filter_map(|wanted| usize::try_from(wanted).ok());
        for wanted in sizes.filter(|wanted| own == size && (1..64).contains(wanted)) {
            if !found.contains(&(order, wanted)) && found.len() < 3 {
                found.push((order, wanted));
            }
        }
    }
    found
}

fn around(number: i64) -> [i64; 3] {
    [number, number.saturating_add(1), number.saturating_sub(1)]
}

fn integer(value: &Observed) -> Option<i64> {
    if let Observed::Int(text) = value { text.parse().ok() } else { None }
}

fn float(value: &Observed) -> Option<f64> {
    match value {
        Observed::Float(text) | Observed::Int(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Observed {
        Observed::Str(text.to_owned())
    }

    fn int(number: i64) -> Observed {
        Observed::Int(number.to_string())
    }

    fn compared(relation: Relation, left: Observed, right: Observed) -> Vec<Compared> {
        vec![Compared { is_near: true, relation, left, right }]
    }

    fn of(text: &str, all: &[Compared]) -> Vec<String> {
        texts(text, all).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_text_becomes_what_it_was_compared_with() {
        let all = compared(Relation::Equal, text("GET"), text("HEAD"));
        assert_eq!(of("GET", &all), ["HEAD"]);
        assert_eq!(of("HEAD", &all), ["GET"]);
        assert_eq!(of("GET /", &all), ["HEAD /"]);
        assert!(of("POST", &all).is_empty());
    }

    #[test]
    fn a_part_is_put_where_it_was_looked_for() {
        assert_eq!(of("name", &compared(Relation::Start, text("name"), text("no-"))), ["no-name", "no-"]);
        assert_eq!(of("a.py", &compared(Relation::End, text("a.py"), text("c"))), ["a.pyc", "c"]);
        assert_eq!(of("a=b", &compared(Relation::Member, text("a=b"), text(";"))), ["a=b;", ";"]);
    }

    #[test]
    fn a_text_gets_the_length_that_its_own_was_compared_with() {
        assert_eq!(of("abc", &compared(Relation::Order, int(3), int(5))), ["abccc", "abcccc", "abcc"]);
        assert!(of("ab", &compared(Relation::Order, int(3), int(5))).is_empty());
    }

    #[test]
    fn numbers_stand_on_both_sides_of_what_they_were_compared_with() {
        let order = compared(Relation::Order, int(3), int(10));
        assert_eq!(integers(3, &order), [(0, 10), (0, 11), (0, 9)]);
        assert_eq!(integers(3, &compared(Relation::Equal, int(3), int(10))), [(0, 10)]);
        assert_eq!(floats(0.5, &compared(Relation::Order, Observed::Float("0.5".into()), int(2))), [(0, 2.0)]);
        assert_eq!(sizes(3, &order), [(0, 10), (0, 11), (0, 9)]);
    }
}
