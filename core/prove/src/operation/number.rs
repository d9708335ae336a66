//! Arithmetic and order.

use super::{Context, EFFECT, Outcome, decide};
use crate::constant::Constant;
use crate::facts::Facts;
use crate::result::Rule;
use crate::state::Side;
use crate::term::{Term, Terms};
use crate::types::Type;

/// The highest power that is written out.
const MAX_POWER: i128 = 8;
const MAX_SHIFT: i128 = 100;

impl Context<'_> {
    pub(super) fn unary(&mut self, facts: &Facts, name: &str, value: Term) -> Outcome {
        let terms = &mut self.terms;
        match (name, terms.class(value)) {
            // It warns since 3.12.
            ("~", Type::Bool) => EFFECT,
            ("-" | "+" | "~", Type::Int | Type::Bool) => {
                let value = match number(terms, facts, value) {
                    Ok(value) => value,
                    Err(outcome) => return outcome,
                };
                Outcome::Value(match name {
                    "-" => terms.negate(value),
                    "+" => value,
                    _ => {
                        let negative = terms.negate(value);
                        terms.plus(negative, -1)
                    }
                })
            }
            ("-", Type::Float) => match terms.as_constant(value) {
                Some(Constant::Float(bits)) => {
                    let negative = -f64::from_bits(*bits);
                    Outcome::Value(terms.constant(Constant::Float(negative.to_bits())))
                }
                _ => Outcome::Value(terms.pure("- of float", &[value], Type::Float)),
            },
            _ => EFFECT,
        }
    }

    pub(super) fn binary(
        &mut self,
        side: &mut Side,
        facts: &Facts,
        name: &str,
        a: Term,
        b: Term,
        in_place: bool,
    ) -> Outcome {
        let (left, right) = (side.class(&self.terms, a), side.class(&self.terms, b));
        match (&left, &right) {
            (Type::Int | Type::Bool, Type::Int | Type::Bool) => self.whole(facts, name, a, b, &left, &right),
            (Type::Float, Type::Float) => self.floats(name, a, b),
            (Type::Float, Type::Int) | (Type::Int, Type::Float) => {
                let [a, b] = [a, b].map(|term| self.as_float(term));
                match (a, b) {
                    (Some(a), Some(b)) => self.floats(name, a, b),
                    _ => EFFECT,
                }
            }
            (Type::Text, Type::Text) if name == "+" => {
                self.rules.insert(Rule::Texts);
                Outcome::Value(self.terms.concat(&[a, b]))
            }
            (Type::Text, Type::Int) | (Type::Int, Type::Text) if name == "*" => {
                let (text, times) = if left == Type::Text { (a, b) } else { (b, a) };
                Outcome::Value(self.terms.pure("repeated text", &[text, times], Type::Text))
            }
            _ => self.binary_of_lists(side, name, a, b, in_place),
        }
    }

    fn whole(&mut self, facts: &Facts, name: &str, a: Term, b: Term, left: &Type, right: &Type) -> Outcome {
        let terms = &mut self.terms;
        if matches!(name, "&" | "|" | "^") && (left, right) == (&Type::Bool, &Type::Bool) {
            let [a, b] = [decide!(self, facts, a), decide!(self, facts, b)];
            return Outcome::Value(self.terms.bool(match name {
                "&" => a & b,
                "|" => a | b,
                _ => a ^ b,
            }));
        }
        let (a, b) = match (number(terms, facts, a), number(terms, facts, b)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(outcome), _) | (_, Err(outcome)) => return outcome,
        };
        self.rules.insert(Rule::Arithmetic);
        match name {
            "+" => Outcome::Value(terms.add(a, b)),
            "-" => Outcome::Value(terms.subtract(a, b)),
            "*" => Outcome::Value(terms.multiply(a, b)),
            "&" | "|" | "^" => Outcome::Value(terms.bitwise(name, a, b)),
            "//" | "%" => {
                let is_zero = terms.is_zero(b);
                if decide!(self, facts, is_zero) {
                    let name = self.terms.text(name);
                    return Outcome::Raise(self.terms.raised("ZeroDivisionError", &[name]));
                }
                Outcome::Value(if name == "%" { self.terms.modulo(a, b) } else { self.terms.quotient(a, b) })
            }
            "**" => match terms.as_int(b) {
                Some(power) if (0..=MAX_POWER).contains(&power) => {
                    let mut result = terms.int(1);
                    for _ in 0..power {
                        result = terms.multiply(result, a);
                    }
                    Outcome::Value(result)
                }
                _ => EFFECT,
            },
            "<<" | ">>" => match terms.as_int(b) {
                Some(by) if (0..=MAX_SHIFT).contains(&by) => {
                    let times = terms.int(1 << by);
                    Outcome::Value(if name == "<<" { terms.multiply(a, times) } else { terms.quotient(a, times) })
                }
                _ => Outcome::Effect(Type::Int),
            },
            "/" => Outcome::Effect(Type::Float),
            _ => EFFECT,
        }
    }

    /// A float, or a whole number that is one without a loss.
    fn as_float(&mut self, term: Term) -> Option<Term> {
        match self.terms.as_constant(term) {
            Some(Constant::Int(value)) if value.abs() < 1 << 50 => {
                let value = *value as f64;
                Some(self.terms.constant(Constant::Float(value.to_bits())))
            }
            _ => (*self.terms.class(term) == Type::Float).then_some(term),
        }
    }

    fn floats(&mut self, name: &str, a: Term, b: Term) -> Outcome {
        if !matches!(name, "+" | "-" | "*") {
            return EFFECT;
        }
        if let (Some(Constant::Float(left)), Some(Constant::Float(right))) =
            (self.terms.as_constant(a), self.terms.as_constant(b))
        {
            let (left, right) = (f64::from_bits(*left), f64::from_bits(*right));
            let result = match name {
                "+" => left + right,
                "-" => left - right,
                _ => left * right,
            };
            return Outcome::Value(self.terms.constant(Constant::Float(result.to_bits())));
        }
        Outcome::Value(self.terms.pure(&format!("{name} of floats"), &[a, b], Type::Float))
    }

    pub(super) fn compare(&mut self, side: &Side, facts: &Facts, name: &str, a: Term, b: Term) -> Outcome {
        let (left, right) = (side.class(&self.terms, a), side.class(&self.terms, b));
        let is_whole = |class: &Type| matches!(class, Type::Int | Type::Bool);
        if is_whole(&left) && is_whole(&right) {
            let terms = &mut self.terms;
            let (a, b) = match (number(terms, facts, a), number(terms, facts, b)) {
                (Ok(a), Ok(b)) => (a, b),
                (Err(outcome), _) | (_, Err(outcome)) => return outcome,
            };
            self.rules.insert(Rule::Arithmetic);
            return Outcome::Value(match name {
                "==" => terms.same_number(a, b),
                "!=" => {
                    let same = terms.same_number(a, b);
                    terms.not(same)
                }
                "<" => terms.less(a, b),
                ">" => terms.less(b, a),
                "<=" => {
                    let difference = terms.subtract(a, b);
                    terms.at_most_zero(difference)
                }
                _ => {
                    let difference = terms.subtract(b, a);
                    terms.at_most_zero(difference)
                }
            });
        }
        if matches!((&left, &right), (Type::Float, Type::Float | Type::Int) | (Type::Int, Type::Float)) {
            let [Some(a), Some(b)] = [a, b].map(|term| self.as_float(term)) else { return EFFECT };
            // `a > b` is `b < a`, also for what is no number.
            let (name, a, b) = match name {
                ">" => ("<", b, a),
                ">=" => ("<=", b, a),
                _ => (name, a, b),
            };
            if name == "!=" {
                let same = self.terms.pure("== of floats", &[a.min(b), a.max(b)], Type::Bool);
                return Outcome::Value(self.terms.not(same));
            }
            let (a, b) = if name == "==" { (a.min(b), a.max(b)) } else { (a, b) };
            return Outcome::Value(self.terms.pure(&format!("{name} of floats"), &[a, b], Type::Bool));
        }
        if (&left, &right) == (&Type::Text, &Type::Text) {
            self.rules.insert(Rule::Texts);
            let terms = &mut self.terms;
            return Outcome::Value(match name {
                "==" => terms.same_text(a, b),
                "!=" => {
                    let same = terms.same_text(a, b);
                    terms.not(same)
                }
                "<" => terms.text_before(a, b),
                ">" => terms.text_before(b, a),
                "<=" => {
                    let before = terms.text_before(b, a);
                    terms.not(before)
                }
                _ => {
                    let before = terms.text_before(a, b);
                    terms.not(before)
                }
            });
        }
        // Values of different builtin types are not equal.
        let is_scalar = |class: &Type| matches!(class, Type::None | Type::Bool | Type::Int | Type::Text);
        if matches!(name, "==" | "!=") && is_scalar(&left) && is_scalar(&right) {
            let same = left == Type::None && right == Type::None;
            self.is_plausible = false;
            return Outcome::Value(self.terms.bool(same == (name == "==")));
        }
        self.compare_lists(side, name, a, b)
    }
}

/// A value as a whole number: that of a truth depends on it.
pub(super) fn number(terms: &mut Terms, facts: &Facts, term: Term) -> Result<Term, Outcome> {
    if *terms.class(term) != Type::Bool {
        return Ok(term);
    }
    match facts.decide(terms, term) {
        Some(value) => Ok(terms.int(i128::from(value))),
        None => Err(Outcome::Fork(term)),
    }
}

impl Terms {
    fn text_before(&mut self, a: Term, b: Term) -> Term {
        match (self.as_text(a), self.as_text(b)) {
            _ if a == b => self.bool(false),
            // UTF-8 has the order of code points.
            (Some(left), Some(right)) => {
                let before = left < right;
                self.bool(before)
            }
            _ => self.pure("before", &[a, b], Type::Bool),
        }
    }
}
