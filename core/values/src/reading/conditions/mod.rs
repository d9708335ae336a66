//! The conditions of a function as terms over what may be injected: what a branch asks, and what asking it the other way
//! would take.
//!
//! A reading of the syntax in source order, in which a local stands for the term that was bound to it last. Loops and
//! joins are not followed, so a term is a hint: whoever acts on one checks by executing. Solving stands in
//! `campaign/solve/`.

mod reader;

use std::collections::BTreeMap;
use std::rc::Rc;

use ruff_python_ast::Operator;

use twincell_syntax::site::Comparator;

use crate::value::Recipe;

pub use reader::conditions;

/// How deep terms nest; what lies deeper is unknown.
const MAX_DEPTH: u32 = 24;

/// An expression, as far as it can be turned around.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    Literal(Recipe),
    /// A parameter, or what the function does not bind.
    Name(String),
    Attribute(Rc<Term>, String),
    Subscript(Rc<Term>, Rc<Term>),
    /// Positional and keyword arguments in order.
    Call(Rc<Term>, Vec<Rc<Term>>),
    Await(Rc<Term>),
    Binary(Rc<Term>, Operator, Rc<Term>),
    Negative(Rc<Term>),
    /// What iterating gives.
    Element(Rc<Term>),
    /// One of so many that something is unpacked into.
    Part(Rc<Term>, usize, usize),
    /// A tuple or list of terms.
    Display(Vec<Rc<Term>>),
    /// `a or b`: its first true one.
    First(Vec<Rc<Term>>),
    /// `a if c else b`.
    Either(Rc<Condition>, Rc<Term>, Rc<Term>),
    /// `element for ... if conditions`; the element is in terms of [`Term::Element`].
    Comprehension(Rc<Term>, Vec<Condition>, Rc<Term>),
    /// The truth of a condition, as a value.
    Truth(Rc<Condition>),
    Unknown,
}

/// What is true or not.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// `number` is that of the comparison in the site table, unless it is part of a chain.
    Compare {
        number: Option<u32>,
        comparator: Comparator,
        left: Rc<Term>,
        right: Rc<Term>,
    },
    /// `site` is that of the call, if it is one.
    Truth {
        term: Rc<Term>,
        site: Option<u32>,
    },
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// A branch: its condition, and what it decides over.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub condition: Condition,
    pub line: u32,
    /// Lines that run only where it is false, and only where it is true; ranges, both ends included.
    pub regions: [Vec<(u32, u32)>; 2],
}

/// All conditions of one function, by the numbers of its site table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditions {
    pub branches: BTreeMap<u32, Decided>,
    /// With the line of each.
    pub comparisons: BTreeMap<u32, (Condition, u32)>,
    /// Terms of calls that ask (`x.startswith(y)`), by site, with the line of each.
    pub calls: BTreeMap<u32, (Rc<Term>, u32)>,
}
