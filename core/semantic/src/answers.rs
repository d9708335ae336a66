//! What queries answer with: plain data, which the memos of a project hold.

use std::sync::Arc;

use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ModuleId, ScopeId, SymbolId};

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Referent {
    Symbol(SymbolId),
    /// Something that is not of the project, by its dotted path: `json.loads`, `builtins.len`.
    External(Arc<str>),
}

/// A class among those that a class inherits from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ancestor {
    Class(SymbolId),
    External(Arc<str>),
}

/// A piece of code that runs on its own: a function, a lambda, the body of a class or of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    pub(crate) module: ModuleId,
    pub(crate) scope: ScopeId,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Callee {
    Code(Code),
    /// A class, which makes an object. Its `__init__` is a call of its own.
    Class(SymbolId),
    /// Something that is not of the project, by its dotted path.
    External(Arc<str>),
}

/// Why something is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    Direct,
    Decorator,
    /// Python calls it: a property.
    Implicit,
    /// It is an argument of something outside of the project, which may call it.
    Callback,
}

/// One piece of code may call another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallEdge {
    pub caller: Code,
    pub callee: Callee,
    pub kind: CallKind,
}

/// What the analysis found.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub calls: Vec<CallEdge>,
    /// What `object.name` stands for, by the position of the reference in its module.
    pub attributes: FxHashMap<(ModuleId, u32), Vec<Referent>>,
    pub is_cut: bool,
}

/// How it is known that one symbol uses another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// A name or an import.
    Name,
    /// An attribute of a value, or a call of one.
    Value,
    /// Something outside of the project may call it.
    Callback,
    /// Python does it by itself: special methods of a class, methods that assign a field, names that are bound together.
    Implicit,
    /// A method of a subclass may run in its place.
    Override,
}

/// A place that refers to a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReferencePlace {
    pub module: ModuleId,
    /// In the text with `\n` for every line end.
    pub range: (u32, u32),
    /// The symbol whose text holds the place.
    pub owner: SymbolId,
    /// It assigns or deletes.
    pub is_store: bool,
}

impl ReferencePlace {
    /// The place as a range of its text.
    pub fn text_range(&self) -> TextRange {
        TextRange::new(self.range.0.into(), self.range.1.into())
    }
}

/// What a value may be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    Class(SymbolId),
    /// An object of a class.
    Instance(SymbolId),
    Function(Code),
    /// A function with its first argument.
    Method(Code),
    /// A builtin list, tuple, set or dict, by the place that makes it.
    Container(Site),
    /// Something that is not of the project, or what comes out of it, by a dotted path.
    External(Arc<str>),
    /// What a generator function returns.
    Generator(Code),
    Module(ModuleId),
    /// A text or a number.
    Plain,
    /// Any value besides the others.
    Unknown,
}

/// A place that makes containers, in one version of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(pub(crate) u32);

impl Site {
    /// A number that no other place of the version has.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// What expressions may be.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub of: FxHashMap<(ModuleId, u32, u32), Box<[Value]>>,
    /// Classes whose objects are given to something outside of the project.
    pub given: FxHashSet<SymbolId>,
    /// Places whose containers are.
    pub given_sites: FxHashSet<Site>,
    /// Functions that something outside of the project gets, and may call.
    pub given_functions: FxHashSet<Code>,
    /// What containers hold, where all of it is known.
    pub elements: FxHashMap<Site, Box<[Value]>>,
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub uses: FxHashMap<SymbolId, Vec<(Referent, Basis)>>,
    pub used_by: FxHashMap<Referent, Vec<(SymbolId, Basis)>>,
    pub references: FxHashMap<Referent, Vec<ReferencePlace>>,
}
