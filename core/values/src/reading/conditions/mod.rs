//! The conditions of a function as terms over values that may be injected: what a branch tests, and what its negation
//! needs.
//!
//! The syntax is read in source order, and a local stands for the term that was last bound to it. Loops and joins are
//! not followed, so a term is a hint that users check by execution. `compare` solves the conditions.

mod bound;
mod reader;

use std::collections::BTreeMap;
use std::rc::Rc;

use ruff_python_ast::Operator;

use twincell_syntax::site::Comparator;

use crate::value::Recipe;

pub use reader::conditions;

/// The maximum depth of terms. Anything deeper is unknown.
const MAX_DEPTH: u32 = 24;

/// An expression, as far as it can be inverted.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    Literal(Recipe),
    /// A parameter, or a name that the function does not bind.
    Name(String),
    Attribute(Rc<Term>, String),
    Subscript(Rc<Term>, Rc<Term>),
    /// The positional and keyword arguments in order.
    Call(Rc<Term>, Vec<Rc<Term>>),
    Await(Rc<Term>),
    Binary(Rc<Term>, Operator, Rc<Term>),
    Negative(Rc<Term>),
    /// The items of an iteration.
    Element(Rc<Term>),
    /// One of the targets into which something is unpacked, and their number.
    Part(Rc<Term>, usize, usize),
    /// A tuple or list of terms.
    Display(Vec<Rc<Term>>),
    /// `a or b`: the first true operand.
    First(Vec<Rc<Term>>),
    /// `a if c else b`.
    Either(Rc<Condition>, Rc<Term>, Rc<Term>),
    /// `element for ... if conditions`. The element is in terms of [`Term::Element`].
    Comprehension(Rc<Term>, Vec<Condition>, Rc<Term>),
    /// The truth of a condition, as a value.
    Truth(Rc<Condition>),
    Unknown,
}

/// A proposition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// `number` is the comparison's number in the site table, unless it is part of a chain.
    Compare {
        number: Option<u32>,
        comparator: Comparator,
        left: Rc<Term>,
        right: Rc<Term>,
    },
    /// `site` is the number of the call's site, if it is one.
    Truth {
        term: Rc<Term>,
        site: Option<u32>,
    },
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// A branch: its condition, and the lines that it controls.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub condition: Condition,
    pub line: u32,
    /// The lines that run only if it is false, and those that run only if it is true, as ranges with both ends
    /// included.
    pub regions: [Vec<(u32, u32)>; 2],
}

/// All conditions of one function, by the numbers of its site table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditions {
    pub branches: BTreeMap<u32, Decided>,
    /// Each with its line.
    pub comparisons: BTreeMap<u32, (Condition, u32)>,
    /// The terms of calls that test (`x.startswith(y)`), by site, each with its line.
    pub calls: BTreeMap<u32, (Rc<Term>, u32)>,
}
