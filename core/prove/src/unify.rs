//! Whether values of the two versions are equal, where each has made objects of its own.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::state::Side;
use crate::term::{Term, Terms};

/// Which object of the first version is which of the second.
pub(crate) type Bijection = BTreeMap<Term, Term>;

pub(crate) enum Comparison {
    Same(Bijection),
    /// It may depend on this condition.
    Unclear(Term),
    Other,
}

/// Compares values pairwise. Objects are equal if their kinds and fields are, and if they are shared in the same way.
pub(crate) fn compare(terms: &Terms, sides: &[Side; 2], first: &[Term], second: &[Term]) -> Comparison {
    let mut bijection = Bijection::new();
    if first.len() == second.len() && first.iter().zip(second).all(|(a, b)| unify(terms, sides, *a, *b, &mut bijection))
    {
        return Comparison::Same(bijection);
    }
    let mut conditions = Vec::new();
    for (a, b) in first.iter().zip(second).filter(|(a, b)| a != b) {
        terms.conditions(*a, &mut conditions);
        terms.conditions(*b, &mut conditions);
    }
    // What is drawn as a truth by an effect is no reason to go on.
    match conditions.first() {
        Some(condition) => Comparison::Unclear(*condition),
        None => Comparison::Other,
    }
}

pub(crate) fn unify(terms: &Terms, sides: &[Side; 2], a: Term, b: Term, bijection: &mut Bijection) -> bool {
    equal(terms, sides, (a, b), bijection, &mut FxHashSet::default())
}

/// `known` has the pairs that are equal under this bijection, which only grows.
fn equal(
    terms: &Terms,
    sides: &[Side; 2],
    (a, b): (Term, Term),
    bijection: &mut Bijection,
    known: &mut FxHashSet<(Term, Term)>,
) -> bool {
    if known.contains(&(a, b)) {
        return true;
    }
    if !terms.has_object(a) && !terms.has_object(b) {
        return a == b;
    }
    if let (Some(_), Some(_)) = (terms.as_object(a), terms.as_object(b)) {
        if let Some(partner) = bijection.get(&a) {
            return *partner == b;
        }
        if bijection.values().any(|partner| *partner == b) {
            return false;
        }
        let (Some(first), Some(second)) = (sides[0].object(terms, a), sides[1].object(terms, b)) else {
            return false;
        };
        bijection.insert(a, b);
        return first.kind == second.kind
            && first.fields.len() == second.fields.len()
            && first.fields.iter().zip(&second.fields).all(|(a, b)| equal(terms, sides, (*a, *b), bijection, known));
    }
    let same_shape = terms.operator(a) == terms.operator(b) && terms.arguments(a).len() == terms.arguments(b).len();
    let is_equal = same_shape
        && terms
            .arguments(a)
            .iter()
            .zip(terms.arguments(b))
            .all(|(a, b)| equal(terms, sides, (*a, *b), bijection, known));
    if is_equal {
        known.insert((a, b));
    }
    is_equal
}

/// The objects in a term.
pub(crate) fn objects(terms: &Terms, term: Term, found: &mut Vec<Term>) {
    terms.parts(term, &mut |part| {
        if terms.as_object(part).is_some() && !found.contains(&part) {
            found.push(part);
        }
        terms.has_object(part)
    });
}
