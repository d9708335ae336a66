//! The simple language of the paper (section 2.1): procedures whose nodes read and write variables in single-assignment
//! form. `lower` makes programs, and the other modules only read them.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

number!(
    /// A function, a lambda, or the body of a module.
    ProcedureId
);
number!(
    /// A statement of the text, or the head of one that holds others.
    StatementId
);
number!(
    /// A simple statement of a procedure.
    NodeId
);
number!(
    /// A variable, which one node writes unless it is shared.
    VariableId
);

/// One version of a project.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub procedures: Vec<Procedure>,
    pub statements: Vec<Statement>,
    pub nodes: Vec<Node>,
    pub variables: Vec<Variable>,
    pub call_sites: Vec<CallSite>,
    pub unsound: Vec<Unsound>,
    /// There are more procedures or statements than a bound allows.
    pub is_cut: bool,
}

#[derive(Debug)]
pub(crate) struct Procedure {
    pub path: Arc<str>,
    /// The dotted name of the module.
    pub module: Arc<str>,
    /// Empty for the body of a module.
    pub qualname: Arc<str>,
    /// Which of the definitions of this name it is.
    pub ordinal: u32,
    /// A hash of all its statements.
    pub key: u64,
    /// How often it is called: the input that the entry node reads.
    pub called: VariableId,
    pub inputs: Vec<VariableId>,
    /// The inputs that have default values, with these.
    pub defaults: Vec<(VariableId, VariableId)>,
    /// In the order of [`Output::ALL`].
    pub outputs: [VariableId; 4],
    pub nodes: Range<u32>,
}

#[derive(Debug)]
pub(crate) struct Statement {
    pub procedure: ProcedureId,
    /// The function or class whose body holds it.
    pub function: Arc<str>,
    /// First and last line, 1-based. A statement that holds others has the lines of its head.
    pub lines: (u32, u32),
    /// A hash of its text without layout, comments, docstrings and annotations.
    pub key: u64,
}

/// What a node does, as far as its counterpart in another version must do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    Entry,
    Parameter,
    Return,
    Raised,
    /// Whether something is raised.
    Raises,
    Failed,
    End,
    Phi,
    /// Control meets here because of a statement that itself reads nothing at this point.
    Landing,
    Step,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub procedure: ProcedureId,
    pub statement: Option<StatementId>,
    pub role: Role,
    /// A hash of the text that it comes from.
    pub key: u64,
    /// The text has all that the node does, whatever the statement around it is.
    pub is_whole: bool,
    pub reads: Vec<VariableId>,
    pub writes: Vec<VariableId>,
    /// For a call of procedures alone: the part of `reads` that says what is called. Only this part reaches what is
    /// written directly. The rest goes through the procedures.
    pub dispatch: Option<Vec<VariableId>>,
    /// The branching nodes on which it is control-dependent, and by which of their sides.
    pub controls: Vec<(NodeId, u8)>,
    pub is_branching: bool,
    /// Some way leads to it from the entry.
    pub runs: bool,
    /// It calls something, of the project or not.
    pub is_call: bool,
    /// What it computes, as far as operators and constants say that.
    pub term: Option<Term<VariableId>>,
    /// For a join of versions: from which nodes they come.
    pub joins: Vec<(Option<VariableId>, NodeId)>,
}

/// A value as operators upon variables and constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term<V> {
    Variable(V),
    /// A hash of the value and its type.
    Constant(u64),
    Apply(Operator, Vec<Term<V>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Operator {
    /// A hash of what it does.
    pub id: u64,
    /// The result may be a new object that can be changed.
    pub is_fresh: bool,
    /// It may fail.
    pub fails: bool,
    /// It may do more than give a value.
    pub acts: bool,
}

impl Operator {
    /// An operator that gives a value without identity, and never fails.
    pub fn plain(what: impl Hash) -> Self {
        Self { id: hash_of(what), is_fresh: false, fails: false, acts: false }
    }

    /// `not x`.
    pub fn not() -> Self {
        Self::plain("not")
    }

    /// An operator that may fail.
    pub fn failing(what: impl Hash, is_fresh: bool) -> Self {
        Self { is_fresh, fails: true, ..Self::plain(what) }
    }

    /// A call, or a change of an object.
    pub fn acting(what: impl Hash) -> Self {
        Self { acts: true, ..Self::failing(what, true) }
    }

    /// `a if c else b`, of `c`, `a` and `b`.
    pub fn choice() -> Self {
        Self::plain("choice")
    }
}

/// A hash that is the same in every run.
pub(crate) fn hash_of(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

impl<V> Term<V> {
    /// The term with other variables, if each has one.
    pub fn map<W>(&self, variable: &impl Fn(&V) -> Option<W>) -> Option<Term<W>> {
        Some(match self {
            Term::Variable(one) => Term::Variable(variable(one)?),
            Term::Constant(hash) => Term::Constant(*hash),
            Term::Apply(operator, parts) => {
                Term::Apply(*operator, parts.iter().map(|part| part.map(variable)).collect::<Option<_>>()?)
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Variable {
    /// A version of a local, or the value of an expression.
    Local(Arc<str>),
    Called(ProcedureId),
    Input(ProcedureId, Arc<str>),
    Output(ProcedureId, Output),
    Shared(Shared),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Output {
    /// What it returns and yields.
    Return,
    /// What statements raise, its own and those of what it calls.
    Raised,
    /// Whether they do, whatever the exceptions are.
    Raises,
    /// The failures of operations.
    Failed,
}

impl Output {
    pub const ALL: [Self; 4] = [Self::Return, Self::Raised, Self::Raises, Self::Failed];
}

/// A variable that several procedures see. It has one version: each write may reach each read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Shared {
    /// A variable of a module, by the module's path.
    Global(Arc<str>, Arc<str>),
    /// A variable of a function that functions in it see: the path, the function's name and its number among those of the
    /// name, and the variable.
    Captured(Arc<str>, Arc<str>, Arc<str>),
    /// A default value of a parameter: path, function, parameter.
    Default(Arc<str>, Arc<str>, Arc<str>),
    /// The attributes of this name, of all objects, for those who do not know the object.
    Attribute(Arc<str>),
    /// Those of objects of related classes, by the number of the family.
    AttributeOf(u32, Arc<str>),
    /// What is stored under this name in objects of which nothing is known.
    UnknownAttribute(Arc<str>),
    /// All attributes of the objects that something outside of the project gets, which reads them by no name.
    AnyAttribute,
    /// The elements that were put into containers after they were made, for those who do not know the container.
    Items(Items),
    /// Those of the containers that one place makes, by its number.
    ItemsAt(u32),
    /// What is put into containers of which nothing is known.
    UnknownItems(Items),
    /// The elements of containers that something outside of the project gets or makes.
    GivenItems,
    /// The elements of the containers that one attribute or variable alone holds.
    ItemsOf(Arc<Shared>),
    /// The elements of such containers, as far as unknown code changes them.
    ForeignItems,
    /// What consumers of generators decided.
    Consumption,
    /// The state of everything outside of the project.
    Outside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Items {
    Sequence,
    Mapping,
    Set,
}

impl Shared {
    /// The variable as another version may have it, which numbers classes and containers in its own way.
    pub fn unnumbered(&self) -> Self {
        match self {
            Self::AttributeOf(_, name) => Self::AttributeOf(0, name.clone()),
            Self::ItemsAt(_) => Self::ItemsAt(0),
            other => other.clone(),
        }
    }
}

/// A call of one procedure at one node.
#[derive(Debug)]
pub(crate) struct CallSite {
    pub node: NodeId,
    pub callee: ProcedureId,
    /// Each input formal with what the actual reads.
    pub inputs: Vec<(VariableId, Vec<VariableId>)>,
    /// The actual of each input, where it is one value.
    pub terms: Vec<Option<Term<VariableId>>>,
    /// Each output formal with the variable that receives it.
    pub outputs: Vec<(VariableId, VariableId)>,
}

/// What the analysis does not follow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unsound {
    pub path: Arc<str>,
    /// 1-based.
    pub line: u32,
    pub kind: UnsoundKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnsoundKind {
    /// `eval`, `exec`, `compile`, `__import__` and their like run a text, or `type` makes a class.
    DynamicCode,
    /// `setattr`, `getattr` or `delattr` with a name that the text does not say.
    DynamicAttribute,
    /// `globals()`, `locals()`, `vars()` and `__dict__` reach variables by no name.
    Namespace,
    /// An attribute of a class or of a module is replaced from elsewhere.
    Monkeypatch,
    /// A class has a metaclass or `__init_subclass__`.
    Metaclass,
    /// `from x import *` of something outside of the project.
    StarImport,
    /// Parts of the text do not parse.
    Broken,
    /// Parts of the old version's text do not parse, where the new one does.
    BrokenBefore,
    /// The file is too large, or the project has too much code.
    NotRead,
}
