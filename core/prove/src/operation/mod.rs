//! What an operation of Python does with symbolic values.
//!
//! On values whose types are known it is a function of them, and says when it fails. On all others it is an effect: Python code
//! of the user may run, which must happen in the same order in both versions.

mod builtin;
mod container;
mod number;
mod text;

use std::collections::BTreeSet;

use crate::constant::Constant;
use crate::facts::Facts;
use crate::names::{Meaning, Names};
use crate::program::Operation;
use crate::result::{Assumption, Construct, Reason, Rule};
use crate::state::{Kind, Side};
use crate::term::{Operator, Term, Terms};
use crate::types::Type;

pub(crate) enum Outcome {
    /// It cannot fail, and has changed nothing but what only this version can see.
    Value(Term),
    Raise(Term),
    /// What it does depends on this condition.
    Fork(Term),
    /// Code of the user or of the system runs, and gives a value of a type.
    Effect(Type),
    Refuse(Reason),
}

/// What evaluation needs beside the state.
pub(crate) struct Context<'a> {
    pub terms: Terms,
    pub names: &'a dyn Names,
    /// The name under which each version calls itself.
    pub own_names: [&'a str; 2],
    /// The types that the parameters are taken to have, and those of them that are containers.
    pub parameters: Vec<Type>,
    pub containers: BTreeSet<Type>,
    pub rules: BTreeSet<Rule>,
    pub assumptions: BTreeSet<Assumption>,
    /// Whether all values of known types were used in a way in which their types can be used.
    pub is_plausible: bool,
}

/// The value of a condition, or a fork on it.
macro_rules! decide {
    ($context:expr, $facts:expr, $condition:expr) => {{
        let condition = $condition;
        match $facts.decide(&mut $context.terms, condition) {
            Some(value) => value,
            None => return $crate::operation::Outcome::Fork(condition),
        }
    }};
}
pub(crate) use decide;

const EFFECT: Outcome = Outcome::Effect(Type::Any);

impl Context<'_> {
    /// The function itself, as its name stands for it.
    pub fn itself(&mut self) -> Term {
        self.terms.intern(Operator::Name("<itself>".to_string()), &[], Type::Any)
    }

    /// Whether the function calls itself on arguments of the types for which it is being proved, which induction needs.
    pub fn is_induction(&self, layout: &[String], given: &[Term], heap: Term) -> bool {
        let has_containers = !self.containers.is_empty();
        layout.iter().all(String::is_empty)
            && given.len() <= self.parameters.len()
            && (!has_containers || *self.terms.class(heap) == Type::Heap(true))
            && given.iter().zip(&self.parameters).all(|(value, class)| {
                *class == Type::Any || (class == self.terms.class(*value) && self.terms.as_object(*value).is_none())
            })
    }

    pub fn evaluate(
        &mut self,
        which: usize,
        side: &mut Side,
        facts: &Facts,
        operation: &Operation,
        given: &[Term],
    ) -> Outcome {
        let classes: Vec<Type> = given.iter().map(|term| side.class(&self.terms, *term)).collect();
        let terms = &mut self.terms;
        match (operation, given) {
            (Operation::Truth, [value]) => self.truth(side, facts, *value),
            (Operation::Not, [value]) if classes[0] == Type::Bool => Outcome::Value(terms.not(*value)),
            (Operation::Unary(name), [value]) => self.unary(facts, name, *value),
            (Operation::Binary(name) | Operation::InPlace(name), [a, b]) => {
                let in_place = matches!(operation, Operation::InPlace(_));
                self.binary(side, facts, name, *a, *b, in_place)
            }
            (Operation::Compare(name), [a, b]) => self.compare(side, facts, name, *a, *b),
            (Operation::Contains, [item, container]) => self.contains(side, *item, *container),
            (Operation::Is, [a, b]) => match terms.identical(*a, *b) {
                Some(answer) => {
                    let is_symbol = |term: Term| matches!(terms.operator(term), Operator::Symbol(_));
                    self.is_plausible &= terms.as_bool(answer).is_none() || !(is_symbol(*a) || is_symbol(*b));
                    Outcome::Value(answer)
                }
                None => Outcome::Refuse(Reason::Construct(Construct::Identity)),
            },
            (Operation::Attribute(name), [value]) => self.attribute(side, name, *value),
            (Operation::Item, [container, key]) => self.item(side, facts, *container, *key),
            (Operation::SetItem, [container, key, value]) => self.set_item(side, facts, *container, *key, *value),
            (Operation::Slice, [lower, upper, step]) => {
                Outcome::Value(terms.pure("slice", &[*lower, *upper, *step], Type::Any))
            }
            (Operation::Call { layout }, [callee, arguments @ ..]) => {
                self.call(side, facts, *callee, layout, arguments)
            }
            (Operation::Iterate, [value]) => self.iterate(side, *value),
            (Operation::Next, [iterator]) => self.next(side, facts, *iterator),
            (Operation::Exhausted, [item]) => match terms.operator(*item) {
                Operator::Stop => Outcome::Value(terms.bool(true)),
                Operator::Symbol(_) if *terms.class(*item) == Type::Drawn => {
                    Outcome::Value(terms.pure("is over", given, Type::Bool))
                }
                _ => Outcome::Value(terms.bool(false)),
            },
            (Operation::Format(conversion), [value, specification]) => {
                self.format(facts, *conversion, *value, *specification)
            }
            (Operation::Join, parts) => {
                if parts.len() > 1 {
                    self.rules.insert(Rule::Texts);
                }
                Outcome::Value(self.terms.concat(parts))
            }
            (Operation::Tuple, items) => Outcome::Value(terms.intern(Operator::Tuple, items, Type::Tuple)),
            (Operation::List, items) => {
                let content = terms.elements(items);
                Outcome::Value(side.make(terms, Kind::List, vec![content]))
            }
            (Operation::Dict, []) => {
                let class = Type::Entries(Box::new(Type::Never), Box::new(Type::Never));
                let content = terms.pure("no entries", &[], class);
                Outcome::Value(side.make(terms, Kind::Dict, vec![content]))
            }
            (Operation::Set, items) if classes.iter().all(Type::is_plain) => {
                let content = terms.elements(items);
                Outcome::Value(side.make(terms, Kind::Set, vec![content]))
            }
            (Operation::Append, [list, item]) => self.append(side, *list, *item),
            (Operation::Put, [dict, key, value]) => self.put(side, *dict, *key, *value),
            (Operation::Unpack(count), [value]) => match terms.operator(*value) {
                Operator::Tuple if terms.arguments(*value).len() == *count => Outcome::Value(*value),
                _ => EFFECT,
            },
            (Operation::Part(index), [value]) => match terms.operator(*value) {
                Operator::Tuple => match terms.arguments(*value).get(*index) {
                    Some(part) => Outcome::Value(*part),
                    None => EFFECT,
                },
                _ => {
                    let index = terms.int(*index as i128);
                    Outcome::Value(terms.pure("item", &[*value, index], Type::Any))
                }
            },
            (Operation::Global(name), []) => self.name(which, name),
            (Operation::Matches, [exception, class]) => self.matches(side, facts, *exception, *class),
            (Operation::Raise, [exception]) => match side.object(terms, *exception) {
                Some(object) if matches!(object.kind, Kind::Exception(_)) => Outcome::Raise(*exception),
                _ => match terms.as_builtin(*exception) {
                    Some(name) if builtin::is_plain_exception(name) => {
                        let kind = Kind::Exception(name.to_string());
                        let arguments = terms.intern(Operator::Tuple, &[], Type::Tuple);
                        Outcome::Raise(side.make(terms, kind, vec![arguments]))
                    }
                    _ => EFFECT,
                },
            },
            (Operation::AssertionError, arguments) => {
                let arguments = terms.intern(Operator::Tuple, arguments, Type::Tuple);
                Outcome::Value(side.make(terms, Kind::Exception("AssertionError".to_string()), vec![arguments]))
            }
            (Operation::Closure(text), captured) => {
                Outcome::Value(side.make(terms, Kind::Closure(text.clone()), captured.to_vec()))
            }
            (Operation::Generator(text), captured) => {
                Outcome::Value(side.make(terms, Kind::Generator(text.clone()), captured.to_vec()))
            }
            _ => EFFECT,
        }
    }

    fn name(&mut self, which: usize, name: &str) -> Outcome {
        match self.names.meaning(name) {
            _ if name == self.own_names[which] && self.names.calls_itself() => {
                self.rules.insert(Rule::Recursion);
                Outcome::Value(self.itself())
            }
            Meaning::Builtin => match name {
                "NotImplemented" | "Ellipsis" | "__debug__" => EFFECT,
                _ => Outcome::Value(self.terms.intern(Operator::Builtin(name.to_string()), &[], Type::Any)),
            },
            Meaning::Same => {
                self.assumptions.insert(Assumption::StableName(name.to_string()));
                Outcome::Value(self.terms.intern(Operator::Name(name.to_string()), &[], Type::Any))
            }
            Meaning::Different => Outcome::Refuse(Reason::Name(name.to_string())),
        }
    }

    /// Whether a value counts as true, as a condition.
    pub fn truth(&mut self, side: &Side, facts: &Facts, value: Term) -> Outcome {
        let terms = &mut self.terms;
        if let Some(content) = side.items(terms, value) {
            let length = terms.length(content);
            let is_empty = terms.is_zero(length);
            return Outcome::Value(terms.not(is_empty));
        }
        if let Some(content) = side.entries(terms, value) {
            let length = terms.length(content);
            let is_empty = terms.is_zero(length);
            return Outcome::Value(terms.not(is_empty));
        }
        if let Some(object) = side.object(terms, value) {
            return match object.kind {
                Kind::Closure(_) | Kind::Generator(_) | Kind::Exception(_) => Outcome::Value(terms.bool(true)),
                _ => EFFECT_OF_TRUTH,
            };
        }
        match (terms.operator(value), terms.class(value)) {
            (_, Type::Bool) => Outcome::Value(value),
            (_, Type::None) => Outcome::Value(terms.bool(false)),
            (_, Type::Int) => {
                let is_zero = terms.is_zero(value);
                let _ = facts;
                Outcome::Value(terms.not(is_zero))
            }
            (Operator::Constant(Constant::Float(bits)), _) => {
                let truth = f64::from_bits(*bits) != 0.0;
                Outcome::Value(terms.bool(truth))
            }
            (_, Type::Float) => Outcome::Value(terms.pure("truth", &[value], Type::Bool)),
            (Operator::Constant(Constant::Bytes(bytes)), _) => {
                let truth = !bytes.is_empty();
                Outcome::Value(terms.bool(truth))
            }
            (Operator::Constant(Constant::Ellipsis) | Operator::Builtin(_), _) => Outcome::Value(terms.bool(true)),
            _ => EFFECT_OF_TRUTH,
        }
    }
}

const EFFECT_OF_TRUTH: Outcome = Outcome::Effect(Type::Bool);
