//! The relation between the variables of both versions at the heads of two loops.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::facts::Replaced;
use crate::program::{BlockId, Slot};
use crate::state::Side;
use crate::term::{Term, Terms};
use crate::types::Type;

/// What may change: of one of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    Slot(usize, Slot),
    Field(usize, Term, usize),
    Heap(usize),
}

/// The variables at the heads of two loops.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub heads: [BlockId; 2],
    pub values: BTreeMap<Variable, Term>,
    /// The part of each variable that changes, and its type.
    pub parts: BTreeMap<Variable, (usize, Type)>,
    /// The number that a changing number is taken to stay at least or at most.
    pub bounds: BTreeMap<Variable, (Bound, Term)>,
}

/// On which side of its first value a number stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bound {
    #[default]
    Above,
    Below,
    None,
}

/// What is related at the heads of two loops.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relation {
    pub changing: BTreeSet<Variable>,
    /// To which part of the partition each belongs, by the ways around that told it apart.
    pub parts: BTreeMap<Variable, Vec<usize>>,
    pub classes: BTreeMap<Variable, Type>,
    pub bounds: BTreeMap<Variable, Bound>,
}

impl Variable {
    pub fn side(self) -> usize {
        match self {
            Variable::Slot(side, _) | Variable::Field(side, ..) | Variable::Heap(side) => side,
        }
    }

    pub fn value(self, terms: &Terms, sides: &[Side; 2]) -> Option<Term> {
        let side = &sides[self.side()];
        match self {
            Variable::Slot(_, slot) => side.slots.get(slot).copied(),
            Variable::Field(_, object, field) => side.object(terms, object)?.fields.get(field).copied(),
            Variable::Heap(_) => Some(side.heap),
        }
    }

    pub fn set(self, terms: &Terms, sides: &mut [Side; 2], value: Term) {
        let side = &mut sides[self.side()];
        match self {
            Variable::Slot(_, slot) => side.slots[slot] = value,
            Variable::Field(_, object, field) => side.set_field(terms, object, field, value),
            Variable::Heap(_) => side.heap = value,
        }
    }
}

impl Frame {
    pub fn replace(&mut self, terms: &mut Terms, which: usize, replaced: &Replaced) {
        let mut memo = FxHashMap::default();
        for (variable, value) in &mut self.values {
            if variable.side() == which {
                *value = terms.replace(*value, replaced, &mut memo);
            }
        }
        for (_, value) in self.bounds.values_mut() {
            *value = terms.replace(*value, replaced, &mut memo);
        }
    }
}

/// That a number is on its side of another.
pub(crate) fn bounded(terms: &mut Terms, bound: Bound, number: Term, other: Term) -> Option<Term> {
    let difference = match bound {
        Bound::Above => terms.subtract(other, number),
        Bound::Below => terms.subtract(number, other),
        Bound::None => return None,
    };
    Some(terms.at_most_zero(difference))
}
