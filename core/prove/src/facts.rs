//! What is known on a path: which conditions hold, and what symbols are equal to.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::constant::Constant;
use crate::term::{Operator, Term, Terms};
use crate::types::Type;

#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Conditions that are no negations.
    truths: BTreeMap<Term, bool>,
}

/// Replacements of terms, applied to a whole state.
pub(crate) type Replaced = BTreeMap<Term, Term>;

impl Facts {
    /// Whether a condition surely holds or surely does not.
    pub fn decide(&self, terms: &mut Terms, condition: Term) -> Option<bool> {
        if let Some(value) = terms.as_bool(condition) {
            return Some(value);
        }
        if let Operator::Not = terms.operator(condition) {
            let inner = terms.arguments(condition)[0];
            return self.decide(terms, inner).map(|value| !value);
        }
        if let Some(value) = self.truths.get(&condition) {
            return Some(*value);
        }
        match terms.operator(condition) {
            Operator::AtMostZero => {
                let number = terms.arguments(condition)[0];
                self.order(terms, number)
            }
            Operator::IsZero => {
                let number = terms.arguments(condition)[0];
                if let Some(divides) = self.divides(terms, number) {
                    return Some(divides);
                }
                let negative = terms.negate(number);
                match (self.order(terms, number), self.order(terms, negative)) {
                    (Some(true), Some(true)) => Some(true),
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    _ => None,
                }
            }
            Operator::Pure(name) if name == "is" => self.distinct(terms, condition),
            _ => None,
        }
    }

    /// What is divisible by 400 is divisible by 4, and what is not divisible by 4 is not divisible by 400.
    fn divides(&self, terms: &Terms, remainder: Term) -> Option<bool> {
        let parts = |term: Term| match (terms.operator(term), terms.arguments(term)) {
            (Operator::Pure(name), [number, by]) if name == "%" => Some((*number, terms.as_int(*by)?)),
            _ => None,
        };
        let (number, by) = parts(remainder)?;
        self.truths.iter().find_map(|(fact, holds)| {
            if *terms.operator(*fact) != Operator::IsZero {
                return None;
            }
            let (other_number, other) = parts(terms.arguments(*fact)[0])?;
            if other_number != number || by <= 0 || other <= 0 {
                return None;
            }
            match holds {
                true if other % by == 0 => Some(true),
                false if by % other == 0 => Some(false),
                _ => None,
            }
        })
    }

    /// A value that is `None` is not `True`.
    fn distinct(&self, terms: &Terms, condition: Term) -> Option<bool> {
        let arguments = terms.arguments(condition);
        let is_constant = |term: Term| terms.as_constant(term).is_some();
        let other = *arguments.iter().find(|term| !is_constant(**term))?;
        let known = self.truths.iter().any(|(fact, holds)| {
            *holds
                && *fact != condition
                && matches!(terms.operator(*fact), Operator::Pure(name) if name == "is")
                && terms.arguments(*fact).contains(&other)
                && terms.arguments(*fact).iter().any(|term| is_constant(*term))
                && arguments.iter().any(|term| is_constant(*term))
        });
        known.then_some(false)
    }

    /// Whether a number is surely at most zero, by at most two known facts.
    fn order(&self, terms: &mut Terms, number: Term) -> Option<bool> {
        if let Some(value) = terms.as_int(number) {
            return Some(value <= 0);
        }
        let mut bounds: Vec<Term> = Vec::new();
        for (fact, holds) in self.truths.clone() {
            match (terms.operator(fact), holds) {
                (Operator::AtMostZero, true) => bounds.push(terms.arguments(fact)[0]),
                (Operator::AtMostZero, false) => {
                    let inner = terms.arguments(fact)[0];
                    let other = terms.negate(inner);
                    bounds.push(terms.plus(other, 1));
                }
                (Operator::IsZero, true) => {
                    let inner = terms.arguments(fact)[0];
                    bounds.push(inner);
                    bounds.push(terms.negate(inner));
                }
                (Operator::IsZero, false) => {
                    // What is not negative and not zero is at least one.
                    let inner = terms.arguments(fact)[0];
                    if terms.is_at_least(inner, 0) {
                        let other = terms.negate(inner);
                        bounds.push(terms.plus(other, 1));
                    }
                }
                _ => {}
            }
        }
        bounds.truncate(MAX_BOUNDS);
        let negative = terms.negate(number);
        let above = terms.plus(negative, 1);
        // number <= bound <= 0, or number >= 1
        let mut follows = |goal: Term| -> bool {
            for (index, one) in bounds.iter().enumerate() {
                // goal = one + rest, with one <= 0
                let rest = terms.subtract(goal, *one);
                let opposite = terms.negate(rest);
                if terms.is_at_least(opposite, 0) {
                    return true;
                }
                for other in &bounds[index..] {
                    let rest = terms.subtract(rest, *other);
                    let opposite = terms.negate(rest);
                    if terms.is_at_least(opposite, 0) {
                        return true;
                    }
                }
            }
            false
        };
        if follows(number) {
            return Some(true);
        }
        if follows(above) {
            return Some(false);
        }
        None
    }

    /// Takes a condition as given. None if it cannot be; otherwise what is now to be replaced by what it equals.
    pub fn assume(&mut self, terms: &mut Terms, condition: Term, value: bool) -> Option<Replaced> {
        if let Some(known) = self.decide(terms, condition) {
            return (known == value).then(Replaced::new);
        }
        if let Operator::Not = terms.operator(condition) {
            let inner = terms.arguments(condition)[0];
            return self.assume(terms, inner, !value);
        }
        self.truths.insert(condition, value);
        let mut replaced = Replaced::new();
        if value {
            self.equalities(terms, condition, &mut replaced);
        }
        if let Operator::AtMostZero = terms.operator(condition) {
            let number = terms.arguments(condition)[0];
            // p <= 0 and p >= 0, or p >= 1 and p <= 1
            let number = if value { number } else { terms.plus(number, -1) };
            let equal = terms.is_zero(number);
            if terms.as_bool(equal).is_none() && self.decide(terms, equal) == Some(true) {
                self.equalities(terms, equal, &mut replaced);
            }
        }
        if matches!(terms.operator(condition), Operator::Symbol(_)) {
            let truth = terms.bool(value);
            replaced.insert(condition, truth);
        }
        if !replaced.is_empty() && !self.replace(terms, &replaced) {
            return None;
        }
        Some(replaced)
    }

    fn equalities(&self, terms: &mut Terms, condition: Term, replaced: &mut Replaced) {
        match terms.operator(condition).clone() {
            Operator::IsZero => {
                let number = terms.arguments(condition)[0];
                let parts = terms.arguments(number).to_vec();
                let candidates = if parts.is_empty() { vec![number] } else { parts };
                for atom in candidates.into_iter().rev() {
                    if !matches!(terms.operator(atom), Operator::Symbol(_)) {
                        continue;
                    }
                    // number = atom * factor + rest
                    for factor in [1, -1] {
                        let rest = terms.add_times(number, atom, -factor);
                        if !terms.mentions(rest, atom) {
                            let value = if factor == 1 { terms.negate(rest) } else { rest };
                            replaced.insert(atom, value);
                            return;
                        }
                    }
                }
            }
            Operator::Pure(name) if name == "same text" => {
                let [a, b] = [terms.arguments(condition)[0], terms.arguments(condition)[1]];
                for (symbol, value) in [(b, a), (a, b)] {
                    if matches!(terms.operator(symbol), Operator::Symbol(_)) && !terms.mentions(value, symbol) {
                        replaced.insert(symbol, value);
                        return;
                    }
                }
            }
            Operator::Pure(name) if name == "is" => {
                let [a, b] = [terms.arguments(condition)[0], terms.arguments(condition)[1]];
                for (symbol, value) in [(b, a), (a, b)] {
                    let is_symbol = matches!(terms.operator(symbol), Operator::Symbol(_));
                    let is_value = matches!(
                        terms.as_constant(value),
                        Some(Constant::None | Constant::Bool(_) | Constant::Ellipsis)
                    );
                    if is_symbol && is_value {
                        replaced.insert(symbol, value);
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    /// Replaces terms in all facts. False if they then contradict each other.
    pub fn replace(&mut self, terms: &mut Terms, replaced: &Replaced) -> bool {
        let mut memo = FxHashMap::default();
        let old = std::mem::take(&mut self.truths);
        for (fact, value) in old {
            let fact = terms.replace(fact, replaced, &mut memo);
            let (fact, value) = match terms.operator(fact) {
                Operator::Not => (terms.arguments(fact)[0], !value),
                _ => (fact, value),
            };
            match terms.as_bool(fact) {
                Some(known) if known != value => return false,
                Some(_) => {}
                None => {
                    if self.truths.insert(fact, value).is_some_and(|other| other != value) {
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// How many known bounds are combined.
const MAX_BOUNDS: usize = 40;

impl Terms {
    pub fn mentions(&self, term: Term, part: Term) -> bool {
        let mut found = false;
        self.parts(term, &mut |one| {
            found |= one == part;
            !found
        });
        found
    }

    /// A term with others in the place of some of its parts.
    pub fn replace(&mut self, term: Term, replaced: &Replaced, memo: &mut FxHashMap<Term, Term>) -> Term {
        if let Some(other) = replaced.get(&term) {
            return *other;
        }
        if self.arguments(term).is_empty() {
            return term;
        }
        if let Some(known) = memo.get(&term) {
            return *known;
        }
        let arguments = self.arguments(term).to_vec();
        let new: Vec<Term> = arguments.iter().map(|argument| self.replace(*argument, replaced, memo)).collect();
        let result = self.rebuild(term, &new);
        memo.insert(term, result);
        result
    }

    /// A term in which every condition that is decided stands as a constant.
    pub fn decided(&mut self, term: Term, facts: &Facts, memo: &mut FxHashMap<Term, Term>) -> Term {
        if let Some(known) = memo.get(&term) {
            return *known;
        }
        let result = if *self.class(term) == Type::Bool
            && let Some(value) = facts.decide(self, term)
        {
            self.bool(value)
        } else if self.arguments(term).is_empty() {
            term
        } else {
            let arguments = self.arguments(term).to_vec();
            let new: Vec<Term> = arguments.iter().map(|argument| self.decided(*argument, facts, memo)).collect();
            self.rebuild(term, &new)
        };
        memo.insert(term, result);
        result
    }

    /// The conditions in a term that are no constants.
    pub fn conditions(&self, term: Term, found: &mut Vec<Term>) {
        self.parts(term, &mut |part| {
            let is_condition = *self.class(part) == Type::Bool && self.as_constant(part).is_none();
            if is_condition {
                found.push(part);
            }
            !is_condition
        });
    }

    /// Looks at each part of a term once, since there may be many ways to a part. `look`
    /// says whether to go on into a part. The first parts come first.
    pub fn parts(&self, term: Term, look: &mut dyn FnMut(Term) -> bool) {
        let (mut open, mut seen) = (vec![term], FxHashSet::default());
        while let Some(next) = open.pop() {
            if seen.insert(next) && look(next) {
                open.extend(self.arguments(next).iter().rev());
            }
        }
    }
}
