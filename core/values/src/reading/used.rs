//! What code does with a value, as data. `uses` reads it.

use serde::{Deserialize, Serialize};

use crate::value::{AbstractValue, Declared, Recipe};

/// The form of the subscripts of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Text,
    Int,
    Slice,
    /// One for which the code also tests, or whose absence it handles: the value is a mapping.
    Member,
    Other,
}

/// The uses of one value, from all places of a function that read it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uses {
    pub called: bool,
    /// It is raised, or named by an `except` clause.
    pub exception: bool,
    /// It is the second argument of `isinstance`, or a base class.
    pub class: bool,
    /// The number of targets into which it is unpacked.
    pub unpacked: Option<u8>,
    pub iterated: bool,
    pub awaited: bool,
    pub entered: bool,
    /// It stands alone at the right of `'...' % value`.
    pub formatted: bool,
    /// It is converted to a number: `int(value)`, `float(value)`.
    pub numeric: bool,
    /// A part of it is converted to a number: `int(value[:-1])`.
    pub affixed: bool,
    /// Texts matched by patterns that are searched for in it, or the values of an enumeration.
    pub matching: Vec<String>,
    /// Its separators: `','` for `value.split(',')`.
    pub separators: Vec<String>,
    /// The uses of the list that splitting it gives.
    pub fields: Option<Box<Uses>>,
    /// `**value`.
    pub mapping: bool,
    pub arithmetic: bool,
    /// It is subtracted, divided or raised to a power, which texts and lists do not support, or ordered relative to what
    /// that gives for values of the code: `now - start < limit`.
    pub subtracted: bool,
    /// The classes of values to which it is added or joined; integers for ranges, and for the bounds of slices, which may be None.
    pub like: Vec<AbstractValue>,
    /// The builtin classes that `isinstance` or a pattern of `match` names.
    pub tested: Vec<AbstractValue>,
    /// It is added to or compared with bytes.
    pub bytes: bool,
    /// It is ordered relative to something (`<`, `>=`, ...).
    pub ordered: bool,
    /// It is a key of a dictionary, or a member of a set.
    pub hashed: bool,
    pub keys: Vec<Key>,
    /// The attributes that are read or assigned, each once.
    pub attributes: Vec<String>,
    /// Those of them that are assigned, or used as a method cannot be: `for item in value.items`.
    pub data: Vec<String>,
    /// Literals that it is compared with or that are looked up in it, each once. For patterns of `match`, lists and
    /// dictionaries that match, with objects where any value matches.
    pub candidates: Vec<Recipe>,
    /// The literal keys that are looked up in it, each once.
    pub key_candidates: Vec<Recipe>,
    /// The type that the annotation declares.
    pub declared: Option<Declared>,
    /// The class that the annotation names, where its type is not understood.
    pub named: Option<String>,
    /// Whether the annotation allows None.
    pub optional: bool,
    /// The uses of the values that iterating over it gives.
    pub element: Option<Box<Uses>>,
    /// The uses of its items one by one, where it is unpacked.
    pub parts: Vec<Uses>,
    /// The uses of the values that it has under literal texts.
    pub values: Vec<(String, Uses)>,
    /// The uses of the values that it has under any key: `for value in x.values()`, `x[key]` of a mapping.
    pub entry: Option<Box<Uses>>,
    /// The uses of the value of calling it, where the call is not itself a site.
    pub result: Option<Box<Uses>>,
}

impl Uses {
    /// Adds the uses of the same value at another place.
    pub fn merge(&mut self, other: &Uses) {
        self.called |= other.called;
        self.exception |= other.exception;
        self.class |= other.class;
        self.unpacked = self.unpacked.or(other.unpacked);
        self.iterated |= other.iterated;
        self.awaited |= other.awaited;
        self.entered |= other.entered;
        self.mapping |= other.mapping;
        self.numeric |= other.numeric;
        self.affixed |= other.affixed;
        add_missing(&mut self.matching, &other.matching);
        self.formatted |= other.formatted;
        self.arithmetic |= other.arithmetic;
        self.subtracted |= other.subtracted;
        self.ordered |= other.ordered;
        self.hashed |= other.hashed;
        self.declared = match (self.declared.take(), &other.declared) {
            (Some(own), Some(other)) if own != *other => Some(own.or(other)),
            (own, other) => own.or_else(|| other.clone()),
        };
        self.named = self.named.take().or_else(|| other.named.clone());
        self.optional |= other.optional;
        self.bytes |= other.bytes;
        add_missing(&mut self.separators, &other.separators);
        add_missing(&mut self.like, &other.like);
        add_missing(&mut self.tested, &other.tested);
        add_missing(&mut self.keys, &other.keys);
        add_missing(&mut self.attributes, &other.attributes);
        add_missing(&mut self.data, &other.data);
        add_missing(&mut self.candidates, &other.candidates);
        add_missing(&mut self.key_candidates, &other.key_candidates);
        merge_boxed(&mut self.fields, &other.fields);
        merge_boxed(&mut self.element, &other.element);
        for (index, part) in other.parts.iter().enumerate() {
            match self.parts.get_mut(index) {
                Some(own) => own.merge(part),
                None => self.parts.push(part.clone()),
            }
        }
        for (key, value) in &other.values {
            self.note_value(key, value);
        }
        merge_boxed(&mut self.entry, &other.entry);
        merge_boxed(&mut self.result, &other.result);
    }

    /// Adds the uses of the value under a text.
    pub(super) fn note_value(&mut self, key: &str, used: &Uses) {
        match self.values.iter().position(|(own, _)| own == key) {
            Some(at) => self.values[at].1.merge(used),
            None if self.values.len() < MAX_PARTS => self.values.push((key.to_owned(), used.clone())),
            None => {}
        }
    }

    /// Adds the uses of the item with a number.
    pub(super) fn note_part(&mut self, index: usize, used: &Uses) {
        if index < MAX_PARTS {
            self.parts.resize(self.parts.len().max(index + 1), Uses::default());
            self.parts[index].merge(used);
        }
    }
}

impl Uses {
    /// Whether the code does something with it that a method does not support.
    pub(super) fn is_no_method(&self) -> bool {
        let Uses { iterated, mapping, numeric, arithmetic, ordered, entered, awaited, .. } = *self;
        let asked = [iterated, mapping, numeric, arithmetic, ordered, entered, awaited, self.unpacked.is_some()];
        asked.contains(&true) || !self.keys.is_empty() || !self.like.is_empty()
    }

    /// For a text: whether the code does more with it than hand it on.
    pub fn looks_at_text(&self) -> bool {
        let Uses { candidates, attributes, keys, separators, .. } = self;
        let asked = !(candidates.is_empty() && attributes.is_empty() && keys.is_empty() && separators.is_empty());
        asked || self.iterated || self.numeric || !self.matching.is_empty() || self.ordered || self.unpacked.is_some()
    }
}

/// The maximum number of noted uses of each kind. Every site of a value carries them, and huge functions have many
/// sites.
const MAX_NOTED: usize = 64;

pub(super) fn add_missing<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for item in from {
        if to.len() < MAX_NOTED && !to.contains(item) {
            to.push(item.clone());
        }
    }
}

fn merge_boxed(to: &mut Option<Box<Uses>>, from: &Option<Box<Uses>>) {
    if let Some(from) = from {
        to.get_or_insert_default().merge(from);
    }
}

/// The maximum number of names of an unpacking that are followed.
pub(super) const MAX_PARTS: usize = 32;
