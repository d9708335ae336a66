//! What values are, as far as the analysis tells them apart.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ids::{ModuleId, ScopeId, SymbolId};
use crate::module::ContainerKind;

/// An object's number.
pub(super) type ObjectId = u32;

/// A value, or all values that are not told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Object {
    Module(ModuleId),
    Class(SymbolId),
    Function(ModuleId, ScopeId),
    /// All objects of a class.
    Instance(SymbolId),
    /// A function and its first argument.
    Bound(ObjectId, ObjectId),
    /// `super()` in a class, for a receiver.
    Super(SymbolId, ObjectId),
    /// What a generator function returns.
    Generator(ModuleId, ScopeId),
    /// What is made at one place: the node that it is made in, and a number that tells several apart.
    Container(ContainerKind, u32, u8),
    /// A method of a container.
    ContainerMethod(ObjectId, Arc<str>),
    /// By its dotted path, and what comes out of it.
    External(Arc<str>),
    Text(Arc<str>),
    Number(i64),
    /// A number, a truth value or `None`.
    Plain,
    /// Any other value: nothing says where it comes from.
    Unknown,
}

/// A part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Field {
    Attribute(u32),
    Text(u32),
    Number(i64),
    /// Elements whose keys are not known.
    Any,
}

/// All objects, each once.
#[derive(Debug, Default)]
pub(super) struct Objects {
    all: Vec<Object>,
    numbers: FxHashMap<Object, ObjectId>,
}

impl Objects {
    pub fn number(&mut self, object: Object) -> ObjectId {
        if let Some(number) = self.numbers.get(&object) {
            return *number;
        }
        let number = self.all.len() as ObjectId;
        self.all.push(object.clone());
        self.numbers.insert(object, number);
        number
    }

    pub fn get(&self, number: ObjectId) -> Option<&Object> {
        self.all.get(number as usize)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }
}
