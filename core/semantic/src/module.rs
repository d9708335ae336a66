//! What one text says by itself: its symbols, scopes, references, and the steps by which values move. It does not depend
//! on where the text stands nor on any other text, so it is computed once for each content.

use std::sync::Arc;

use ruff_text_size::TextRange;
use rustc_hash::FxHashMap;

use crate::ids::{NameId, NodeId, ScopeId};

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    Module,
    Class,
    Function,
    Method,
    /// A variable of a module or of a class.
    Variable,
    /// An attribute that methods assign: `self.items = []`.
    Field,
}

/// A symbol as one text defines it. Definitions of one qualified name are one symbol: overloads, the parts of a property,
/// the branches of an `if`.
#[derive(Debug, Clone)]
pub struct Symbol {
    pub kind: SymbolKind,
    /// CPython's `__qualname__`. It is empty for the module itself.
    pub qualname: Arc<str>,
    /// Where it is defined, in order. Offsets are those of the text with `\n` for every line end.
    pub places: Vec<SymbolPlace>,
    /// A hash of what defines it, without its name, comments, docstrings and layout. That of a class leaves out the
    /// symbols that it holds.
    pub(crate) hash: u64,
    /// The symbol that holds it.
    pub(crate) parent: u32,
}

impl Symbol {
    /// The last part of its name.
    pub fn name(&self) -> &str {
        self.qualname.rsplit('.').next().unwrap_or(&self.qualname)
    }
}

/// One definition of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolPlace {
    /// The whole definition, with decorators.
    pub range: TextRange,
    /// The name in it.
    pub name: TextRange,
}

/// What one text says.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub names: Vec<Arc<str>>,
    pub ids: FxHashMap<Arc<str>, NameId>,
    /// The first is the module.
    pub symbols: Vec<Symbol>,
    pub symbol_of: FxHashMap<Arc<str>, u32>,
    pub scopes: Vec<Scope>,
    pub nodes: u32,
    pub steps: Vec<Step>,
    pub calls: Vec<Call>,
    pub references: Vec<Reference>,
    /// Where the values of expressions are.
    pub expressions: Vec<(TextRange, NodeId)>,
    /// The values of expressions that are numbers, truth values or `None`, whatever is in them.
    pub plain: Vec<NodeId>,
    /// Modules whose names `import *` brings here.
    pub stars: Vec<ModulePath>,
    /// What `__all__` lists, if the text has one that can be read.
    pub exported: Option<Vec<Arc<str>>>,
    /// Symbols that one statement binds together with a first one: `b` of `a, b = f()`.
    pub bound_with: Vec<(u32, u32)>,
    /// The scopes of each class and function.
    pub scopes_of: FxHashMap<u32, Vec<ScopeId>>,
    /// The symbols that each symbol holds.
    pub held_by: FxHashMap<u32, Vec<u32>>,
    /// The names of variables and attributes that something deletes.
    pub deleted: Vec<NameId>,
    /// Something may make objects without `__init__`.
    pub makes_bare: bool,
    pub is_broken: bool,
    /// It could not be read at all: too long, nested too deep, no UTF-8, or no longer there.
    pub is_unread: bool,
    /// Places that an import of the module need not evaluate, in order: branches, what a handler or a context manager is
    /// around, annotations, the right side of `or`. Bodies of functions are scopes of their own.
    pub unsure: Vec<TextRange>,
}

/// A module as an import names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModulePath {
    pub level: u32,
    pub dotted: NameId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    Function,
    Lambda,
    Comprehension,
}

/// How a method gets its first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Receiver {
    #[default]
    Instance,
    Class,
    /// It is a static method.
    Static,
    /// It is no method.
    None,
}

#[derive(Debug)]
pub(crate) struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<ScopeId>,
    /// The innermost symbol that the scope belongs to.
    pub owner: u32,
    /// What the scope is called in a call graph. That of a lambda has a number.
    pub name: Arc<str>,
    /// All values that a name of the scope ever has.
    pub variables: FxHashMap<NameId, NodeId>,
    pub bindings: FxHashMap<NameId, Vec<Binding>>,
    pub parameters: Vec<Parameter>,
    pub returns: NodeId,
    /// What a generator yields.
    pub yields: Option<NodeId>,
    pub receiver: Receiver,
    pub is_property: bool,
    /// The bases of a class, as dotted names where they are some.
    pub bases: Vec<Option<Dotted>>,
    /// The attributes that methods of a class assign, with their symbols.
    pub fields: Vec<(NameId, u32)>,
    /// The names that the body of a module or of a class binds whatever happens, those of a class to what no look-up runs.
    pub always: Vec<NameId>,
    /// The attributes that `__init__` of a class sets before anything else gets the object.
    pub initial: Vec<NameId>,
    /// `__init__` of a class goes on with that of the next class, or there is none.
    pub goes_above: bool,
}

/// A name with attributes: `a.b.C`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dotted {
    pub scope: ScopeId,
    pub first: NameId,
    pub rest: Vec<NameId>,
}

/// What a name stands for in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Binding {
    Symbol(u32),
    /// A variable of the module or of a class that only another name is assigned to.
    Alias(u32, Dotted),
    /// `import a.b` binds `a`; `import a.b as c` binds `a.b`.
    Module(ModulePath),
    From(ModulePath, NameId),
    /// A local, which is no symbol, with what it is another name of.
    Local(Option<Dotted>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    Positional,
    KeywordOnly,
    Rest,
    Keywords,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub name: NameId,
    pub node: NodeId,
    pub kind: ParameterKind,
}

/// Which element of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Text(NameId),
    Number(i64),
    Value(NodeId),
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ContainerKind {
    List,
    Tuple,
    Set,
    Dict,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Literal {
    Function(ScopeId),
    Class(ScopeId),
    Text(NameId),
    Number(i64),
    /// An instance of a builtin type of which nothing else matters: `float`.
    Plain(&'static str),
    /// With its length, if that is known.
    Container(ContainerKind, Option<u32>),
}

/// How values move.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Copy {
        from: NodeId,
        to: NodeId,
    },
    New {
        to: NodeId,
        literal: Literal,
    },
    /// A name that no scope of the text binds.
    Free {
        to: NodeId,
        name: NameId,
    },
    Import {
        to: NodeId,
        module: ModulePath,
    },
    ImportFrom {
        to: NodeId,
        module: ModulePath,
        name: NameId,
    },
    Load {
        base: NodeId,
        name: NameId,
        to: NodeId,
        scope: ScopeId,
    },
    Store {
        base: NodeId,
        name: NameId,
        from: NodeId,
    },
    Index {
        base: NodeId,
        key: Key,
        to: NodeId,
        scope: ScopeId,
    },
    StoreIndex {
        base: NodeId,
        key: Key,
        from: NodeId,
        scope: ScopeId,
    },
    Slice {
        base: NodeId,
        low: Option<i64>,
        high: Option<i64>,
        to: NodeId,
    },
    /// The element at a place, counted from the end if negative, or any after it.
    Element {
        base: NodeId,
        to: NodeId,
        scope: ScopeId,
    },
    /// All elements of one container are some of another one.
    Spread {
        base: NodeId,
        to: NodeId,
        scope: ScopeId,
    },
    Call(u32),
    /// A method that Python calls by itself.
    Special {
        base: NodeId,
        name: &'static str,
        arguments: Vec<NodeId>,
        to: NodeId,
        scope: ScopeId,
    },
    Raise {
        value: NodeId,
        scope: ScopeId,
    },
    /// An object of a class that an annotation names.
    Annotated {
        class: NodeId,
        to: NodeId,
        /// The annotation names all classes that are allowed.
        is_whole: bool,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument<Node = NodeId, Name = NameId> {
    Positional(Node),
    Star(Node),
    Keyword(Name, Node),
    Keywords(Node),
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub callee: NodeId,
    pub arguments: Vec<Argument>,
    pub result: NodeId,
    pub scope: ScopeId,
    /// It applies a decorator.
    pub decorates: bool,
}

/// A place of the text that names something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    pub range: TextRange,
    /// The symbol whose text holds it.
    pub owner: u32,
    pub scope: ScopeId,
    pub target: Target,
    pub is_store: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    Name(NameId),
    Attribute(NodeId, NameId),
    Import(ModulePath),
    ImportFrom(ModulePath, NameId),
}

impl Module {
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name.0 as usize).map_or("", |name| name)
    }

    /// The number of a name, if the text has it.
    pub fn name_id(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// What the name of a variable of the module or of a class stands for.
    pub fn scopes_with(&self, variable: u32) -> Option<&[Binding]> {
        let symbol = self.symbols.get(variable as usize)?;
        let name = self.name_id(symbol.name())?;
        let scopes = match symbol.parent {
            0 => &[ScopeId(0)][..],
            parent => self.scopes_of.get(&parent)?,
        };
        scopes.iter().find_map(|scope| self.scope(*scope)?.bindings.get(&name)).map(|bindings| bindings.as_slice())
    }

    pub fn scope(&self, scope: ScopeId) -> Option<&Scope> {
        self.scopes.get(scope.0 as usize)
    }

    /// Whether an import of the module evaluates a place of this scope unless it fails before.
    pub fn is_sure(&self, scope: ScopeId, range: TextRange) -> bool {
        let mut next = Some(scope);
        while let Some(current) = next.and_then(|scope| self.scope(scope)) {
            if !matches!(current.kind, ScopeKind::Module | ScopeKind::Class) {
                return false;
            }
            next = current.parent;
        }
        // They are in order and none holds another one.
        let after = self.unsure.partition_point(|unsure| unsure.end() <= range.start());
        self.unsure.get(after).is_none_or(|unsure| unsure.start() >= range.end())
    }
}
