//! What an annotation says that a value is, where all of it is understood.
//!
//! Code that declares its parameters is called with values of these classes, so others are not drawn for it: a difference
//! that only a list shows, given for a `str`, is nobody's concern. The code itself may contradict its annotations: classes
//! that it asks for (`isinstance`, `is None`) are drawn as well.

use serde::{Deserialize, Serialize};

use super::{AbstractValue, Recipe};

/// A type, as far as drawing needs it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// Never empty.
    pub classes: Vec<AbstractValue>,
    /// `str` stands for bytes.
    pub bytes: bool,
    /// What items are, or the values of a dictionary; absent: anything.
    pub items: Option<Box<Declared>>,
    /// What keys are; absent: anything.
    pub keys: Option<Box<Declared>>,
    /// What each item of a tuple is, where they are told one by one.
    pub parts: Vec<Declared>,
    /// The only values; empty: any of the classes.
    pub literals: Vec<Recipe>,
}

impl Declared {
    pub fn of(classes: &[AbstractValue]) -> Self {
        Self { classes: classes.to_vec(), ..Self::default() }
    }

    /// A tuple, and no list.
    pub fn is_tuple(&self) -> bool {
        self.classes.contains(&AbstractValue::Tuple) && !self.classes.contains(&AbstractValue::List)
    }

    /// `A | B`.
    pub fn or(mut self, other: &Self) -> Self {
        let both = |a: Option<Box<Self>>, b: &Option<Box<Self>>| match (a, b) {
            (Some(a), Some(b)) => Some(Box::new(a.or(b))),
            // One side has no items at all, so it says nothing of them.
            (a, b) => a.or_else(|| b.clone()),
        };
        if self.literals.is_empty() != other.literals.is_empty() {
            self.literals.clear();
        } else {
            self.literals.extend(
                other.literals.iter().filter(|value| !self.literals.contains(value)).cloned().collect::<Vec<_>>(),
            );
        }
        if self.parts != other.parts {
            self.parts.clear();
        }
        for class in &other.classes {
            if !self.classes.contains(class) {
                self.classes.push(*class);
            }
        }
        self.bytes |= other.bytes;
        self.items = both(self.items, &other.items);
        self.keys = both(self.keys, &other.keys);
        self
    }

    /// Is this value of the type?
    pub fn admits(&self, recipe: &Recipe) -> bool {
        let items = |items: &[Recipe]| {
            self.items.as_ref().is_none_or(|declared| items.iter().all(|item| declared.admits(item)))
        };
        if !self.literals.is_empty() {
            return self.literals.contains(recipe)
                || *recipe == Recipe::None && self.classes.contains(&AbstractValue::None);
        }
        match recipe {
            Recipe::Bytes(_) => self.bytes,
            _ if !self.classes.contains(&recipe.abstract_value()) => false,
            Recipe::Tuple(list) if !self.parts.is_empty() => {
                list.len() == self.parts.len() && self.parts.iter().zip(list).all(|(part, item)| part.admits(item))
            }
            Recipe::List(list) | Recipe::Tuple(list) | Recipe::Set(list) => items(list),
            Recipe::Dict(entries) => {
                let of_keys = |key| self.keys.as_ref().is_none_or(|declared| declared.admits(key));
                let of_values = |value| self.items.as_ref().is_none_or(|declared| declared.admits(value));
                entries.iter().all(|(key, value)| of_keys(key) && of_values(value))
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AbstractValue as A;

    #[test]
    fn items_keys_and_parts_are_of_their_types() {
        let numbers = Declared { items: Some(Box::new(Declared::of(&[A::Int]))), ..Declared::of(&[A::List]) };
        assert!(numbers.admits(&Recipe::List(vec![Recipe::Int(1)])));
        assert!(!numbers.admits(&Recipe::List(vec![Recipe::Bool(true)])));
        assert!(!numbers.admits(&Recipe::Tuple(vec![])));
        let pair =
            Declared { parts: vec![Declared::of(&[A::Int]), Declared::of(&[A::Str])], ..Declared::of(&[A::Tuple]) };
        assert!(pair.admits(&Recipe::Tuple(vec![Recipe::Int(1), Recipe::Str("a".into())])));
        assert!(!pair.admits(&Recipe::Tuple(vec![Recipe::Int(1)])));
    }

    #[test]
    fn an_alternative_admits_both() {
        let either = Declared::of(&[A::Int]).or(&Declared::of(&[A::None]));
        assert!(either.admits(&Recipe::None) && either.admits(&Recipe::Int(1)) && !either.admits(&Recipe::Float(1.0)));
    }
}
