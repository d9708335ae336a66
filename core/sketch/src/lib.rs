//! What the text of a snippet alone says of its values: attributes, keys, items and results, and what its conditions ask
//! of them. `walk.rs` reads them, and `build.rs` makes values for which conditions hold or do not hold.
//!
//! It is a guess like any other: a run says what it is worth. `environment.rs` holds such values, or those that an
//! execution found, by the names that the text does not define. `natural.rs` says what a name promises, and `network.rs`
//! what reaches a network.
//!
//! ```
//! use twincell_sketch::{Scenario, Sketch};
//! use twincell_values::value::Recipe;
//!
//! let sketch = Sketch::read("if limit > 8:\n    print(limit)\n", "");
//! let limit = |scene: &Scenario| sketch.environment(scene).names[0].1.value.clone();
//! assert_eq!(limit(&Scenario::default()), Some(Recipe::Int(9)));
//! assert_eq!(limit(&Scenario::default().turn([0])), Some(Recipe::Int(1)));
//! ```

mod build;
mod calls;
mod conditions;
mod decisions;
mod definitions;
pub mod environment;
mod foreign;
mod json;
mod machine;
pub mod natural;
pub mod network;
mod plain;
#[cfg(test)]
mod tests;
mod usual;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use twincell_values::value::Recipe;

pub use build::Scenario;
pub use foreign::opens;
pub use json::json;
pub use plain::is_exception;
pub use usual::of_moment;

/// The place of a value in [`Sketch::values`].
pub type Id = usize;

/// What a condition asks of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Truth,
    Equal(Operand),
    Less {
        than: Operand,
        or_equal: bool,
    },
    More {
        than: Operand,
        or_equal: bool,
    },
    Among(Vec<Recipe>),
    Holds(Recipe),
    None,
    Begins(String),
    Ends(String),
    Is(&'static str),
    /// Whether it is an instance of this class, a dotted name.
    Instance(String),
    /// Whether it has this value as a key.
    Keyed(Id),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Literal(Recipe),
    Value(Id),
}

/// One part of a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionPart {
    /// Its number in the snippet, in the order of the text.
    pub condition: usize,
    /// What the test gives where the condition holds.
    pub holds: bool,
    pub test: Test,
}

/// What plain value the uses of a value name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Number,
    Text,
    Bytes,
    /// The source code of an expression of Python.
    Code,
    /// What is added to a moment.
    Duration,
    List,
    Dict,
    Set,
    Frame,
}

/// A value, as far as the text tells.
#[derive(Debug, Clone, Default)]
pub struct Value {
    pub attributes: Vec<(String, Id)>,
    /// By literal keys.
    pub items: Vec<(String, Id)>,
    /// What iterating or an index gives.
    pub element: Option<Id>,
    /// The value by which it is indexed, if that is no literal: `handlers[name]`.
    pub key: Option<Id>,
    /// A tuple is added to it, which only a tuple takes.
    pub is_tuple: bool,
    /// A call is given all of its items: `f(*items)`.
    pub is_spread: bool,
    /// The snippet assigns attributes of it, or looks at its `__dict__`.
    pub is_assigned: bool,
    /// What the snippet calls the value.
    pub called: Option<String>,
    /// What it is unpacked into.
    pub parts: Vec<Id>,
    /// What a call gives.
    pub result: Option<Id>,
    pub awaited: Option<Id>,
    /// `with value as entered`
    pub entered: Option<Id>,
    pub is_entered_async: bool,
    /// `async for item in value`
    pub is_iterated_async: bool,
    pub length: Option<Id>,
    /// The number of items that indices ask for.
    pub least: usize,
    /// The JSON text of this one.
    pub parsed: Option<Id>,
    pub asked: Vec<ConditionPart>,
    /// The snippet gives it this value itself.
    pub known: Option<Recipe>,
    pub kind: Option<Kind>,
    /// What it is if nothing else is known: what parses it reads this.
    pub usual: Option<Recipe>,
    /// The class of `datetime` of which it is a moment.
    pub moment: Option<&'static str>,
    /// Where it comes from: the dotted name of an import, with `()` behind it for what a call of it gives.
    pub origin: Option<String>,
    /// The arguments of the call that gives it.
    pub arguments: Vec<Id>,
    /// The function of the snippet that it is.
    pub function: Option<usize>,
    /// The number of calls of it.
    pub calls: usize,
    /// The functions of the snippet that these calls are given.
    pub given: Vec<Given>,
    /// It decorates functions of the snippet.
    pub decorates: bool,
    /// The function that it is, if it is a lambda.
    pub callback: Option<usize>,
    /// The snippet makes it itself.
    pub is_made: bool,
    /// Another value that it turned out to be.
    same: Option<Id>,
}

/// Where a call is given something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentPlace {
    Position(usize),
    Keyword(String),
}

/// A function of the snippet that a call is given.
#[derive(Debug, Clone)]
pub struct Given {
    pub place: ArgumentPlace,
    /// It is one of a list.
    pub is_item: bool,
    pub name: String,
    /// What it must be given.
    pub parameters: Vec<(String, Id)>,
    pub is_async: bool,
    /// It is given within itself: `root.after(1000, tick)` in `tick`.
    pub is_within: bool,
}

/// A class with what its objects use.
#[derive(Debug, Clone)]
pub struct Class {
    pub name: String,
    /// Dotted names.
    pub bases: Vec<String>,
    pub object: Id,
    /// What `super()` gives.
    pub above: Id,
    /// What it defines: methods, and attributes that it or its methods assign.
    pub own: BTreeSet<String>,
    /// Objects of it are made with arguments.
    pub is_given: bool,
}

/// A call whose value comes from elsewhere.
#[derive(Debug, Clone)]
pub struct Source {
    pub origin: String,
    pub value: Id,
    pub line: u32,
    /// The exceptions that the snippet expects of it, by dotted name.
    pub handled: Vec<String>,
}

impl Source {
    /// Whether it comes from a library that may not be here.
    pub fn is_foreign(&self) -> bool {
        foreign::is_foreign(&self.origin)
    }

    /// The arguments of the call.
    pub fn arguments<'s>(&self, sketch: &'s Sketch) -> &'s [Id] {
        &sketch.value(self.value).arguments
    }
}

/// The values of a snippet.
#[derive(Debug, Clone, Default)]
pub struct Sketch {
    values: Vec<Value>,
    /// The names that the snippet binds nowhere.
    pub free: BTreeMap<String, Id>,
    /// Calls of what is missing that the snippet expects to fail, each with a class of exceptions.
    pub guarded: Vec<(Id, String)>,
    /// The names that it imports from libraries.
    pub imported: Vec<(String, Id)>,
    pub classes: Vec<Class>,
    /// It works with arrays of numpy.
    has_numpy: bool,
    pub sources: Vec<Source>,
    /// The number of conditions.
    pub conditions: usize,
    /// The line of each.
    pub condition_lines: Vec<u32>,
}

impl Sketch {
    /// A value.
    pub fn value(&self, id: Id) -> &Value {
        &self.values[self.find(id)]
    }

    fn find(&self, mut id: Id) -> Id {
        while let Some(other) = self.values[id].same {
            id = other;
        }
        id
    }

    pub fn is_same(&self, one: Id, other: Id) -> bool {
        self.find(one) == self.find(other)
    }

    fn value_mut(&mut self, id: Id) -> &mut Value {
        let id = self.find(id);
        &mut self.values[id]
    }

    fn add(&mut self, value: Value) -> Id {
        self.values.push(value);
        self.values.len() - 1
    }

    fn fresh(&mut self) -> Id {
        self.add(Value::default())
    }

    /// Says that two values are one.
    fn join(&mut self, one: Id, other: Id) {
        let mut waiting = vec![(one, other)];
        while let Some((one, other)) = waiting.pop() {
            let (one, other) = (self.find(one), self.find(other));
            if one == other {
                continue;
            }
            let from = std::mem::take(&mut self.values[other]);
            self.values[other].same = Some(one);
            let to = &mut self.values[one];
            for (mine, theirs) in [(&mut to.attributes, from.attributes), (&mut to.items, from.items)] {
                for (name, id) in theirs {
                    match mine.iter().find(|(known, _)| *known == name) {
                        Some((_, known)) => waiting.push((*known, id)),
                        None => mine.push((name, id)),
                    }
                }
            }
            let optional = [
                (&mut to.element, from.element),
                (&mut to.key, from.key),
                (&mut to.result, from.result),
                (&mut to.awaited, from.awaited),
                (&mut to.entered, from.entered),
                (&mut to.length, from.length),
                (&mut to.parsed, from.parsed),
            ];
            for (mine, theirs) in optional {
                match (*mine, theirs) {
                    (Some(mine), Some(theirs)) => waiting.push((mine, theirs)),
                    (None, theirs) => *mine = theirs,
                    _ => {}
                }
            }
            for (index, part) in from.parts.into_iter().enumerate() {
                match to.parts.get(index) {
                    Some(mine) => waiting.push((*mine, part)),
                    None => to.parts.push(part),
                }
            }
            to.asked.extend(from.asked);
            to.is_entered_async |= from.is_entered_async;
            to.is_iterated_async |= from.is_iterated_async;
            to.is_made |= from.is_made;
            to.is_spread |= from.is_spread;
            to.is_tuple |= from.is_tuple;
            to.is_assigned |= from.is_assigned;
            to.called = to.called.take().or(from.called);
            to.calls += from.calls;
            to.given.extend(from.given);
            to.decorates |= from.decorates;
            to.least = to.least.max(from.least);
            to.kind = to.kind.or(from.kind);
            to.usual = to.usual.take().or(from.usual);
            to.moment = to.moment.or(from.moment);
            to.origin = to.origin.take().or(from.origin);
            to.function = to.function.or(from.function);
            to.callback = to.callback.or(from.callback);
            // Two known values are one of several.
            to.known = to.known.take().or(from.known);
            if to.arguments.is_empty() {
                to.arguments = from.arguments;
            }
        }
    }

    /// Whether stand-ins can do more than give values: call functions that they are given, or be those of libraries.
    pub fn can_act(&self) -> bool {
        !self.imported.is_empty() || self.values.iter().any(|value| !value.given.is_empty())
    }

    /// What has a dotted name, if the snippet calls it.
    pub fn called(&self, dotted: &str) -> Option<Id> {
        let is_it = |id: &Id| {
            let value = &self.values[*id];
            value.same.is_none() && value.origin.as_deref() == Some(dotted) && value.result.is_some()
        };
        (0..self.values.len()).find(is_it)
    }

    /// What the snippet asks of the machine, the moment and chance, and tests: `sys.platform`, `time.time()`.
    pub fn of_machine(&self) -> BTreeMap<&str, Id> {
        let mut found = BTreeMap::new();
        for (id, value) in self.values.iter().enumerate() {
            let origin = value.origin.as_deref().filter(|origin| value.same.is_none() && machine::tells(origin));
            if let Some(origin) = origin.filter(|_| !self.conditions_of(id).is_empty()) {
                found.entry(origin).or_insert(id);
            }
        }
        found
    }

    /// The conditions that ask something of a value or of what it holds, ascending.
    pub fn conditions_of(&self, id: Id) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            let id = self.find(id);
            if !seen.insert(id) {
                continue;
            }
            let value = &self.values[id];
            found.extend(value.asked.iter().map(|asked| asked.condition));
            waiting.extend(value.attributes.iter().chain(&value.items).map(|(_, id)| *id));
            waiting.extend(&value.parts);
            waiting
                .extend([value.element, value.result, value.length, value.awaited, value.parsed].into_iter().flatten());
        }
        found
    }
}
