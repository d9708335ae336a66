//! Texts: their methods, and how values are formatted.

use super::{Context, EFFECT, Outcome, decide};
use crate::constant::Constant;
use crate::facts::Facts;
use crate::result::Rule;
use crate::state::{Kind, Side};
use crate::term::Term;
use crate::types::Type;

/// Methods that give a text, and take as many texts.
const TO_TEXT: &[(&str, usize)] = &[
    ("upper", 0),
    ("lower", 0),
    ("strip", 0),
    ("lstrip", 0),
    ("rstrip", 0),
    ("strip", 1),
    ("lstrip", 1),
    ("rstrip", 1),
    ("title", 0),
    ("capitalize", 0),
    ("swapcase", 0),
    ("casefold", 0),
    ("replace", 2),
    ("removeprefix", 1),
    ("removesuffix", 1),
    ("expandtabs", 0),
];

/// Methods that give a truth, and take as many texts.
const TO_BOOL: &[(&str, usize)] = &[
    ("startswith", 1),
    ("endswith", 1),
    ("isdigit", 0),
    ("isalpha", 0),
    ("isalnum", 0),
    ("isspace", 0),
    ("isupper", 0),
    ("islower", 0),
    ("isdecimal", 0),
    ("isnumeric", 0),
    ("istitle", 0),
    ("isidentifier", 0),
    ("isascii", 0),
    ("isprintable", 0),
];

/// Methods that give a number, and take as many texts.
const TO_INT: &[(&str, usize)] = &[("find", 1), ("rfind", 1), ("count", 1)];

/// Methods of texts that are followed.
pub(super) fn is_method(name: &str) -> bool {
    [TO_TEXT, TO_BOOL, TO_INT].iter().any(|table| table.iter().any(|(known, _)| *known == name))
        || matches!(name, "split" | "join" | "splitlines")
}

impl Context<'_> {
    pub(super) fn text_method(
        &mut self,
        side: &mut Side,
        facts: &Facts,
        name: &str,
        text: Term,
        given: &[Term],
    ) -> Outcome {
        let terms = &mut self.terms;
        let are_texts = given.iter().all(|term| *terms.class(*term) == Type::Text);
        let of = |table: &[(&str, usize)]| table.contains(&(name, given.len()));
        let arguments = [&[text][..], given].concat();
        let label = format!("str.{name}");
        self.rules.insert(Rule::Texts);
        if are_texts && of(TO_TEXT) {
            return Outcome::Value(terms.pure(&label, &arguments, Type::Text));
        }
        if are_texts && of(TO_BOOL) {
            return Outcome::Value(terms.pure(&label, &arguments, Type::Bool));
        }
        if are_texts && of(TO_INT) {
            return Outcome::Value(terms.pure(&label, &arguments, Type::Int));
        }
        match (name, given) {
            ("split" | "splitlines", []) => {
                let content = terms.pure(&label, &arguments, Type::Items(Box::new(Type::Text)));
                Outcome::Value(side.make(terms, Kind::List, vec![content]))
            }
            ("split", [separator]) if are_texts => {
                let length = terms.length(*separator);
                let is_empty = terms.is_zero(length);
                if decide!(self, facts, is_empty) {
                    return Outcome::Raise(self.terms.raised("ValueError", &[]));
                }
                let content = self.terms.pure(&label, &arguments, Type::Items(Box::new(Type::Text)));
                Outcome::Value(side.make(&mut self.terms, Kind::List, vec![content]))
            }
            ("join", [parts]) => {
                let is_list = matches!(side.class(terms, *parts), Type::List(_));
                match side.items(terms, *parts) {
                    Some(content) if is_list && *terms.class(content) == Type::Items(Box::new(Type::Text)) => {
                        Outcome::Value(terms.pure(&label, &[text, content], Type::Text))
                    }
                    _ => EFFECT,
                }
            }
            _ => EFFECT,
        }
    }

    /// `str.format` of one value.
    pub(super) fn format(&mut self, facts: &Facts, conversion: char, value: Term, specification: Term) -> Outcome {
        if self.terms.as_text(specification) != Some("") {
            return Outcome::Effect(Type::Text);
        }
        match (conversion, self.as_text_of(facts, value)) {
            (' ' | 's', Some(outcome)) => outcome,
            _ => Outcome::Effect(Type::Text),
        }
    }

    /// `str(value)` of a builtin type.
    pub(super) fn as_text_of(&mut self, facts: &Facts, value: Term) -> Option<Outcome> {
        self.rules.insert(Rule::Texts);
        let terms = &mut self.terms;
        let text = match (terms.class(value), terms.as_constant(value)) {
            (Type::Text, _) => value,
            (Type::Int, Some(Constant::Int(number))) => {
                let text = number.to_string();
                terms.text(&text)
            }
            (Type::None, _) => terms.text("None"),
            (Type::Bool, _) => match facts.decide(terms, value) {
                Some(truth) => terms.text(if truth { "True" } else { "False" }),
                None => return Some(Outcome::Fork(value)),
            },
            (Type::Int | Type::Float, _) => terms.pure("text of", &[value], Type::Text),
            _ => return None,
        };
        Some(Outcome::Value(text))
    }
}
