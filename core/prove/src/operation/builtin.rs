//! Calls: builtin functions and methods of builtin types, and the classes of exceptions.

use twincell_syntax::python::attributes_of;

use super::text::is_method;
use super::{Context, EFFECT, Outcome, decide};
use crate::facts::Facts;
use crate::result::{Assumption, Rule};
use crate::state::{Kind, Side};
use crate::term::{Operator, Term};
use crate::types::Type;

/// Exceptions whose constructors keep their arguments and do nothing else, with the class above each.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("Exception", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("AssertionError", "Exception"),
    ("LookupError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("RuntimeError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("NameError", "Exception"),
    ("UnboundLocalError", "NameError"),
];

pub(super) fn is_plain_exception(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(known, _)| *known == name)
}

fn is_exception_class(name: &str) -> bool {
    is_plain_exception(name)
        || matches!(
            name,
            "BaseException"
                | "OSError"
                | "IOError"
                | "AttributeError"
                | "StopIteration"
                | "KeyboardInterrupt"
                | "SystemExit"
                | "GeneratorExit"
                | "ImportError"
                | "ModuleNotFoundError"
                | "FileNotFoundError"
                | "PermissionError"
                | "UnicodeDecodeError"
                | "UnicodeEncodeError"
                | "UnicodeError"
                | "EOFError"
                | "TimeoutError"
                | "ConnectionError"
        )
}

fn is_subclass(name: &str, other: &str) -> bool {
    let mut current = name;
    loop {
        if current == other {
            return true;
        }
        match EXCEPTIONS.iter().find(|(known, _)| *known == current) {
            Some((_, above)) => current = above,
            None => return false,
        }
    }
}

impl Context<'_> {
    /// Methods of builtin types are values: the name and the object.
    pub(super) fn attribute(&mut self, side: &Side, name: &str, value: Term) -> Outcome {
        let class = side.class(&self.terms, value);
        let builtin = match class {
            Type::Text => "str",
            Type::List(_) => "list",
            Type::Dict(..) => "dict",
            Type::Int | Type::Bool => "int",
            Type::Float => "float",
            _ => "",
        };
        self.is_plausible &= builtin.is_empty() || attributes_of(builtin).contains(&name);
        let is_known = match class {
            Type::Text => is_method(name),
            Type::List(_) => matches!(name, "append" | "copy" | "extend"),
            Type::Dict(..) => matches!(name, "get" | "copy"),
            _ => false,
        };
        if !is_known {
            return EFFECT;
        }
        Outcome::Value(self.terms.pure(&format!("method {name}"), &[value], Type::Any))
    }

    pub(super) fn call(
        &mut self,
        side: &mut Side,
        facts: &Facts,
        callee: Term,
        layout: &[String],
        given: &[Term],
    ) -> Outcome {
        if layout.iter().any(|shape| !shape.is_empty()) {
            return EFFECT;
        }
        if let Operator::Pure(label) = self.terms.operator(callee)
            && let Some(name) = label.strip_prefix("method ")
        {
            let name = name.to_string();
            let object = self.terms.arguments(callee)[0];
            return self.method(side, facts, &name, object, given);
        }
        let Some(name) = self.terms.as_builtin(callee).map(str::to_string) else { return EFFECT };
        let classes: Vec<Type> = given.iter().map(|term| side.class(&self.terms, *term)).collect();
        let terms = &mut self.terms;
        match (name.as_str(), given) {
            ("len", [value]) => {
                let content = match side.items(terms, *value) {
                    Some(content) => Some(content),
                    None => side.entries(terms, *value),
                };
                match content {
                    Some(content) => {
                        self.rules.insert(Rule::Containers);
                        Outcome::Value(self.terms.length(content))
                    }
                    None => Outcome::Effect(Type::Int),
                }
            }
            ("bool", [value]) => self.truth(side, facts, *value),
            ("bool", []) => Outcome::Value(terms.bool(false)),
            ("str", [value]) => self.as_text_of(facts, *value).unwrap_or(EFFECT),
            ("str", []) => Outcome::Value(terms.text("")),
            ("int", [value]) if classes[0] == Type::Int => Outcome::Value(*value),
            ("int", [value]) if classes[0] == Type::Bool => {
                let truth = decide!(self, facts, *value);
                Outcome::Value(self.terms.int(i128::from(truth)))
            }
            ("int", []) => Outcome::Value(terms.int(0)),
            ("list", []) => {
                let content = terms.elements(&[]);
                Outcome::Value(side.make(terms, Kind::List, vec![content]))
            }
            ("dict", []) => {
                let class = Type::Entries(Box::new(Type::Never), Box::new(Type::Never));
                let content = terms.pure("no entries", &[], class);
                Outcome::Value(side.make(terms, Kind::Dict, vec![content]))
            }
            ("set", []) => {
                let content = terms.elements(&[]);
                Outcome::Value(side.make(terms, Kind::Set, vec![content]))
            }
            ("tuple", []) => Outcome::Value(terms.intern(Operator::Tuple, &[], Type::Tuple)),
            ("list", [value]) if matches!(classes[0], Type::List(_)) => self.copied(side, *value),
            ("abs", [value]) if classes[0] == Type::Int => {
                self.rules.insert(Rule::Arithmetic);
                let zero = self.terms.int(0);
                let is_negative = self.terms.less(*value, zero);
                let negative = decide!(self, facts, is_negative);
                Outcome::Value(if negative { self.terms.negate(*value) } else { *value })
            }
            ("min" | "max", [first, rest @ ..])
                if !rest.is_empty() && classes.iter().all(|class| *class == Type::Int) =>
            {
                self.rules.insert(Rule::Arithmetic);
                let mut best = *first;
                for value in rest {
                    let is_better = match name.as_str() {
                        "min" => self.terms.less(*value, best),
                        _ => self.terms.less(best, *value),
                    };
                    if decide!(self, facts, is_better) {
                        best = *value;
                    }
                }
                Outcome::Value(best)
            }
            ("range", bounds) if (1..=3).contains(&bounds.len()) && classes.iter().all(|class| *class == Type::Int) => {
                let (zero, one) = (terms.int(0), terms.int(1));
                let (start, end, step) = match bounds {
                    [end] => (zero, *end, one),
                    [start, end] => (*start, *end, one),
                    _ => (bounds[0], bounds[1], bounds[2]),
                };
                let is_zero = terms.is_zero(step);
                if decide!(self, facts, is_zero) {
                    let why = self.terms.text("range");
                    return Outcome::Raise(self.terms.raised("ValueError", &[why]));
                }
                Outcome::Value(self.terms.pure("range", &[start, end, step], Type::Range))
            }
            ("sum", [value]) => match side.items(terms, *value) {
                Some(content) if *terms.class(content) == Type::Items(Box::new(Type::Int)) => {
                    self.rules.insert(Rule::Containers);
                    Outcome::Value(self.terms.pure("sum", &[content], Type::Int))
                }
                _ => EFFECT,
            },
            ("sorted", [value]) => match side.items(terms, *value) {
                Some(content)
                    if matches!(classes[0], Type::List(_))
                        && matches!(terms.class(content), Type::Items(item) if matches!(**item, Type::Int | Type::Text)) =>
                {
                    let class = terms.class(content).clone();
                    let content = terms.pure("sorted", &[content], class);
                    Outcome::Value(side.make(terms, Kind::List, vec![content]))
                }
                _ => EFFECT,
            },
            ("isinstance", [value, class]) => self.is_instance(facts, &classes[0], *value, *class),
            (name, arguments) if is_plain_exception(name) => {
                let arguments = terms.intern(Operator::Tuple, arguments, Type::Tuple);
                Outcome::Value(side.make(terms, Kind::Exception(name.to_string()), vec![arguments]))
            }
            _ => EFFECT,
        }
    }

    fn copied(&mut self, side: &mut Side, list: Term) -> Outcome {
        let Some(content) = side.items(&mut self.terms, list) else { return EFFECT };
        self.rules.insert(Rule::OwnContainers);
        Outcome::Value(side.make(&mut self.terms, Kind::List, vec![content]))
    }

    fn method(&mut self, side: &mut Side, facts: &Facts, name: &str, object: Term, given: &[Term]) -> Outcome {
        let class = side.class(&self.terms, object);
        match (&class, name, given) {
            (Type::Text, _, _) => self.text_method(side, facts, name, object, given),
            (Type::List(_), "append", [item]) => self.append(side, object, *item),
            (Type::List(_), "copy", []) => self.copied(side, object),
            (Type::List(_), "extend", [more]) => {
                let is_list = matches!(side.class(&self.terms, *more), Type::List(_));
                let contents = (side.items(&mut self.terms, object), side.items(&mut self.terms, *more));
                let (Some(old), Some(new)) = contents else { return EFFECT };
                if !is_list || self.terms.as_object(object).is_none() {
                    return EFFECT;
                }
                let content = self.terms.joined(&[old, new]);
                side.set_field(&self.terms, object, 0, content);
                Outcome::Value(self.terms.none())
            }
            (Type::Dict(..), "get", [key, rest @ ..]) if rest.len() < 2 => {
                let Some(entries) = side.entries(&mut self.terms, object) else { return EFFECT };
                let Some(has) = self.has_entry(side, entries, *key) else { return EFFECT };
                if decide!(self, facts, has) {
                    return Outcome::Value(self.entry(entries, *key));
                }
                Outcome::Value(rest.first().copied().unwrap_or_else(|| self.terms.none()))
            }
            _ => EFFECT,
        }
    }

    fn is_instance(&mut self, facts: &Facts, of: &Type, value: Term, class: Term) -> Outcome {
        if matches!(self.terms.operator(class), Operator::Tuple) {
            for one in self.terms.arguments(class).to_vec() {
                match self.is_instance(facts, of, value, one) {
                    Outcome::Value(answer) => {
                        if decide!(self, facts, answer) {
                            return Outcome::Value(self.terms.bool(true));
                        }
                    }
                    other => return other,
                }
            }
            return Outcome::Value(self.terms.bool(false));
        }
        let Some(name) = self.terms.as_builtin(class).map(str::to_string) else { return Outcome::Effect(Type::Bool) };
        let known = ["int", "str", "float", "list", "tuple", "dict", "set", "bool", "bytes", "frozenset", "complex"];
        if !known.contains(&name.as_str()) {
            return Outcome::Effect(Type::Bool);
        }
        let own = match of {
            Type::Int => Some("int"),
            Type::Bool => Some("bool"),
            Type::Text => Some("str"),
            Type::Float => Some("float"),
            Type::List(_) => Some("list"),
            Type::Dict(..) => Some("dict"),
            Type::Tuple => Some("tuple"),
            Type::Bytes => Some("bytes"),
            Type::None => Some("NoneType"),
            _ => None,
        };
        if let Some(own) = own {
            self.is_plausible &= own == name;
            return Outcome::Value(self.terms.bool(own == name || (own == "bool" && name == "int")));
        }
        if self.terms.has_object(value) {
            return Outcome::Effect(Type::Bool);
        }
        self.assumptions.insert(Assumption::PlainClasses);
        Outcome::Value(self.terms.pure("is instance", &[value, class], Type::Bool))
    }

    /// Whether an exception is of a class of an `except` clause.
    pub(super) fn matches(&mut self, side: &Side, facts: &Facts, exception: Term, class: Term) -> Outcome {
        if matches!(self.terms.operator(class), Operator::Tuple) {
            for one in self.terms.arguments(class).to_vec() {
                match self.matches(side, facts, exception, one) {
                    Outcome::Value(answer) => {
                        if decide!(self, facts, answer) {
                            return Outcome::Value(self.terms.bool(true));
                        }
                    }
                    other => return other,
                }
            }
            return Outcome::Value(self.terms.bool(false));
        }
        let own = match (side.object(&self.terms, exception), self.terms.operator(exception)) {
            (Some(object), _) => match &object.kind {
                Kind::Exception(name) => Some(name.clone()),
                _ => None,
            },
            (None, Operator::Raised(name)) => Some(name.to_string()),
            _ => None,
        };
        match (own, self.terms.operator(class)) {
            (_, Operator::Builtin(name)) if name == "BaseException" => Outcome::Value(self.terms.bool(true)),
            (Some(own), Operator::Builtin(name)) if is_exception_class(name) => {
                let is_one = is_subclass(&own, name);
                Outcome::Value(self.terms.bool(is_one))
            }
            (_, Operator::Builtin(name)) if !is_exception_class(name) => EFFECT,
            (Some(own), Operator::Name(_)) => {
                // A class of the module may stand above builtin ones only by their own names.
                let own = self.terms.text(&own);
                Outcome::Value(self.terms.pure("matches", &[own, class], Type::Bool))
            }
            (None, Operator::Builtin(_) | Operator::Name(_)) if !self.terms.has_object(exception) => {
                Outcome::Value(self.terms.pure("matches", &[exception, class], Type::Bool))
            }
            _ => Outcome::Effect(Type::Bool),
        }
    }
}
