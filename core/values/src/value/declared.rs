//! What an annotation declares about a value, where all of it is understood.
//!
//! Callers of code with declared parameters pass values of these classes, so others are not drawn: a difference that
//! shows only on a list passed for a `str` concerns nobody. The code itself may contradict its annotations, so classes
//! that it asks for (`isinstance`, `is None`) are drawn as well.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AbstractValue, Provider, Recipe, Shape, library};

/// A type, as far as drawing needs it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// Never empty.
    pub classes: Vec<AbstractValue>,
    /// Whether `str` stands for bytes.
    pub bytes: bool,
    /// The type of the items, or of the values of a dictionary; absent if they may be anything.
    pub items: Option<Box<Declared>>,
    /// The type of the keys; absent if they may be anything.
    pub keys: Option<Box<Declared>>,
    /// The type of each item of a tuple, where they are declared one by one.
    pub parts: Vec<Declared>,
    /// The only values; empty if any value of the classes will do.
    pub literals: Vec<Recipe>,
    /// Whether no others are tried: nothing else is there.
    pub is_closed: bool,
    /// The classes of libraries for which `object` stands; empty if it may be any object.
    pub library: Vec<String>,
    /// The classes of the module for which `object` stands.
    pub models: Vec<Model>,
    /// What makes values of classes for which `object` stands, in place of their models.
    pub provided: Vec<Arc<Provider>>,
    /// What the code says of a table or an array.
    pub shape: Option<Box<Shape>>,
}

/// A class of the module whose constructor takes its fields by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub class: String,
    pub fields: Vec<Field>,
    /// What its objects have beside fields. Only reading code needs it.
    #[serde(skip)]
    pub members: Vec<String>,
    /// Whether its values are dictionaries, as those of a `TypedDict`.
    pub is_mapping: bool,
    /// Whether another module defines it, whose imports its fields go by. Only reading code needs it.
    #[serde(skip)]
    pub is_of_other: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    /// Absent if it may be anything.
    pub declared: Option<Declared>,
    pub has_default: bool,
}

impl Declared {
    pub fn of(classes: &[AbstractValue]) -> Self {
        Self { classes: classes.to_vec(), ..Self::default() }
    }

    /// Whether it is a tuple and not a list.
    pub fn is_tuple(&self) -> bool {
        self.classes.contains(&AbstractValue::Tuple) && !self.classes.contains(&AbstractValue::List)
    }

    /// `A | B`.
    pub fn or(mut self, other: &Self) -> Self {
        let both = |a: Option<Box<Self>>, b: &Option<Box<Self>>| match (a, b) {
            (Some(a), Some(b)) => Some(Box::new(a.or(b))),
            // One side has no items at all, so it says nothing about them.
            (a, b) => a.or_else(|| b.clone()),
        };
        let is_none = |declared: &Self| declared.classes == [AbstractValue::None];
        if is_none(&self) {
            self.literals = other.literals.clone();
            self.is_closed = other.is_closed;
        } else if !is_none(other) && self.literals.is_empty() != other.literals.is_empty() {
            self.literals.clear();
        } else {
            self.literals.extend(
                other.literals.iter().filter(|value| !self.literals.contains(value)).cloned().collect::<Vec<_>>(),
            );
        }
        if self.parts != other.parts {
            self.parts.clear();
        }
        self.bytes |= other.bytes;
        let of_object = |declared: &Self| declared.classes.contains(&AbstractValue::Object);
        if of_object(&self) && of_object(other) && self.is_any_object() != other.is_any_object() {
            self.library.clear();
            self.models.clear();
            self.provided.clear();
        } else {
            let further = other.models.iter().filter(|model| self.models.iter().all(|own| own.class != model.class));
            let further: Vec<_> = further.cloned().collect();
            self.models.extend(further);
            let more: Vec<_> = other.library.iter().filter(|class| !self.library.contains(class)).cloned().collect();
            self.library.extend(more);
            let more: Vec<_> = other.provided.iter().filter(|one| !self.provided.contains(one)).cloned().collect();
            self.provided.extend(more);
        }
        for class in &other.classes {
            if !self.classes.contains(class) {
                self.classes.push(*class);
            }
        }
        self.items = both(self.items, &other.items);
        self.keys = both(self.keys, &other.keys);
        match (&mut self.shape, &other.shape) {
            (Some(own), Some(other)) => own.add(other),
            (None, Some(other)) => self.shape = Some(other.clone()),
            (_, None) => {}
        }
        self
    }

    /// Whether this holds for every class of a library in it. What the classes of another module hold is declared there, and
    /// may be of any that comes with Python.
    pub fn is_of_library(&self, holds: &dyn Fn(&str) -> bool) -> bool {
        let models = self.models.iter().filter(|model| !model.is_mapping).map(|model| &model.class);
        let provided = self.provided.iter().map(|provider| &provider.class);
        let mut own = self.library.iter().chain(models).chain(provided);
        let holds_there = |class: &str| library::is_standard(class) || holds(class);
        let of_model = |model: &Model| {
            let holds: &dyn Fn(&str) -> bool = if model.is_of_other { &holds_there } else { holds };
            model.fields.iter().filter_map(|field| field.declared.as_ref()).all(|field| field.is_of_library(holds))
        };
        own.all(|class| holds(class))
            && self.parts().all(|part| part.is_of_library(holds))
            && self.models.iter().all(of_model)
    }

    /// The number of types that it consists of.
    pub fn count(&self) -> usize {
        1 + self.within().map(Self::count).sum::<usize>()
    }

    /// Whether it is of classes of libraries, or of the module's own.
    pub fn is_of_classes(&self) -> bool {
        !self.library.is_empty() || !self.models.is_empty() || !self.provided.is_empty()
    }

    /// Whether `object` stands for any object.
    fn is_any_object(&self) -> bool {
        !self.is_of_classes() && self.literals.is_empty()
    }

    /// The modules of its classes that do not come with Python.
    pub fn modules(&self) -> Vec<String> {
        let own = self.library.iter().filter(|class| !library::is_standard(class));
        let own = own.map(|class| library::module_of(class).to_owned());
        own.chain(self.within().flat_map(Self::modules)).collect()
    }

    /// What makes values of its classes, each once.
    pub fn providers(&self) -> Vec<Arc<Provider>> {
        let mut found = self.provided.clone();
        for further in self.within().flat_map(Self::providers) {
            if !found.contains(&further) {
                found.push(further);
            }
        }
        found
    }

    /// Takes other providers in place of its own, or none.
    pub fn replace_providers(&mut self, by: &dyn Fn(&Arc<Provider>) -> Option<Arc<Provider>>) {
        self.provided = self.provided.iter().filter_map(by).collect();
        let parts = self.parts.iter_mut().chain(self.items.as_deref_mut()).chain(self.keys.as_deref_mut());
        let fields = self.models.iter_mut().flat_map(|model| &mut model.fields);
        let parts = parts.chain(fields.filter_map(|field| field.declared.as_mut()));
        parts.for_each(|part| part.replace_providers(by));
    }

    /// The types of its parts, its items, its keys and the fields of its models.
    fn within(&self) -> impl Iterator<Item = &Self> {
        let fields = self.models.iter().flat_map(|model| &model.fields).filter_map(|field| field.declared.as_ref());
        self.parts().chain(fields)
    }

    /// The types of its parts, its items and its keys.
    fn parts(&self) -> impl Iterator<Item = &Self> {
        self.parts.iter().chain(self.items.as_deref()).chain(self.keys.as_deref())
    }

    /// The names of the classes of its models and of those within them.
    pub fn classes_of_models(&self) -> Vec<&str> {
        let own = self.models.iter().map(|model| model.class.as_str());
        own.chain(self.within().flat_map(Self::classes_of_models)).collect()
    }

    /// The models of classes that have no provider.
    pub fn own_models(&self) -> impl Iterator<Item = &Model> {
        let is_provided = |model: &Model| self.provided.iter().any(|provider| provider.class == model.class);
        self.models.iter().filter(move |model| !is_provided(model))
    }

    /// Whether this value is of the type.
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
            Recipe::Made(call) => {
                self.library.iter().any(|own| library::makes(&call.class, own))
                    || self.models.iter().any(|model| model.class == call.class)
            }
            Recipe::Provided(value) => self.provided.iter().any(|own| own.class == value.by.class),
            Recipe::Mock(_) if !self.is_any_object() => false,
            _ if !self.classes.contains(&recipe.abstract_value()) => false,
            Recipe::Tuple(list) if !self.parts.is_empty() => {
                list.len() == self.parts.len() && self.parts.iter().zip(list).all(|(part, item)| part.admits(item))
            }
            Recipe::List(list) | Recipe::Tuple(list) | Recipe::Set(list) => items(list),
            Recipe::Dict(_) if self.models.iter().any(|model| model.is_mapping) => true,
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
