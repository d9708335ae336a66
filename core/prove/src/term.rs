//! Symbolic values. Terms are hash-consed: two equal terms have the same number, so congruence is equality of numbers.

use rustc_hash::FxHashMap;

use crate::constant::Constant;
use crate::types::Type;

/// A term in [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term(u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operator {
    Constant(Constant),
    /// A parameter, the result of an effect, or a variable at the head of a loop.
    Symbol(u32),
    /// A container that one version made and that nobody else has seen.
    Object(u32),
    Builtin(String),
    Name(String),
    /// What a variable holds that is not bound.
    Unbound,
    /// What an iterator gives that has no more items.
    Stop,
    Tuple,
    /// A whole number: a constant plus terms, each times a factor.
    Linear(i128, Vec<i128>),
    /// A product of two or more whole numbers, sorted.
    Product,
    /// Of a whole number.
    AtMostZero,
    IsZero,
    Not,
    /// A text of two or more parts.
    Concat,
    /// The content of a list, by its items.
    Elements,
    /// The content of a list, by its parts.
    Joined,
    /// The content of a container at a state of the heap.
    Snapshot,
    /// The state of the heap after a change of a container that changes nothing else.
    Write(&'static str),
    /// An exception that an operation of a builtin type raises.
    Raised(&'static str),
    /// A function of its arguments that cannot fail.
    Pure(String),
}

#[derive(Debug, Clone)]
struct Node {
    operator: Operator,
    arguments: Box<[Term]>,
    class: Type,
    /// Whether an object is in it.
    has_object: bool,
    depth: u32,
}

/// The bound of terms in each other.
const MAX_DEPTH: u32 = 400;

#[derive(Debug, Default)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    known: FxHashMap<(Operator, Box<[Term]>), Term>,
    symbols: u32,
    objects: u32,
    /// The number of terms, where a large one counts for many.
    weight: usize,
    deepest: u32,
}

impl Terms {
    /// The term as it stands. `simplify` has the constructors that bring terms to a normal form.
    pub fn intern(&mut self, operator: Operator, arguments: &[Term], class: Type) -> Term {
        let key = (operator, arguments.to_vec().into_boxed_slice());
        if let Some(term) = self.known.get(&key) {
            return *term;
        }
        let term = Term(self.nodes.len() as u32);
        let has_object =
            matches!(key.0, Operator::Object(_)) || arguments.iter().any(|argument| self.has_object(*argument));
        let size = match &key.0 {
            Operator::Constant(Constant::Text(text)) => text.len(),
            _ => arguments.len(),
        };
        self.weight += 1 + size / 8;
        let depth = 1 + arguments.iter().map(|argument| self.nodes[argument.0 as usize].depth).max().unwrap_or(0);
        self.deepest = self.deepest.max(depth);
        self.nodes.push(Node { operator: key.0.clone(), arguments: key.1.clone(), class, has_object, depth });
        self.known.insert(key, term);
        term
    }

    pub fn symbol(&mut self, class: Type) -> Term {
        self.symbols += 1;
        self.intern(Operator::Symbol(self.symbols), &[], class)
    }

    pub fn object(&mut self) -> (u32, Term) {
        self.objects += 1;
        (self.objects, self.intern(Operator::Object(self.objects), &[], Type::Any))
    }

    pub fn constant(&mut self, value: Constant) -> Term {
        let class = Type::of_constant(&value);
        self.intern(Operator::Constant(value), &[], class)
    }

    pub fn int(&mut self, value: i128) -> Term {
        self.constant(Constant::Int(value))
    }

    pub fn bool(&mut self, value: bool) -> Term {
        self.constant(Constant::Bool(value))
    }

    pub fn text(&mut self, value: &str) -> Term {
        self.constant(Constant::Text(value.to_string()))
    }

    pub fn none(&mut self) -> Term {
        self.constant(Constant::None)
    }

    pub fn unbound(&mut self) -> Term {
        self.intern(Operator::Unbound, &[], Type::MaybeUnbound)
    }

    pub fn pure(&mut self, name: &str, arguments: &[Term], class: Type) -> Term {
        self.intern(Operator::Pure(name.to_string()), arguments, class)
    }

    pub fn raised(&mut self, kind: &'static str, arguments: &[Term]) -> Term {
        self.intern(Operator::Raised(kind), arguments, Type::Any)
    }

    pub fn operator(&self, term: Term) -> &Operator {
        &self.nodes[term.0 as usize].operator
    }

    pub fn arguments(&self, term: Term) -> &[Term] {
        &self.nodes[term.0 as usize].arguments
    }

    pub fn class(&self, term: Term) -> &Type {
        &self.nodes[term.0 as usize].class
    }

    pub fn has_object(&self, term: Term) -> bool {
        self.nodes[term.0 as usize].has_object
    }

    pub fn is_too_deep(&self) -> bool {
        self.deepest > MAX_DEPTH
    }

    pub fn len(&self) -> usize {
        self.weight
    }

    pub fn as_constant(&self, term: Term) -> Option<&Constant> {
        match self.operator(term) {
            Operator::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_int(&self, term: Term) -> Option<i128> {
        match self.as_constant(term) {
            Some(Constant::Int(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn as_bool(&self, term: Term) -> Option<bool> {
        match self.as_constant(term) {
            Some(Constant::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn as_text(&self, term: Term) -> Option<&str> {
        match self.as_constant(term) {
            Some(Constant::Text(value)) => Some(value),
            _ => None,
        }
    }

    pub fn as_object(&self, term: Term) -> Option<u32> {
        match self.operator(term) {
            Operator::Object(id) => Some(*id),
            _ => None,
        }
    }

    pub fn as_builtin(&self, term: Term) -> Option<&str> {
        match self.operator(term) {
            Operator::Builtin(name) => Some(name),
            _ => None,
        }
    }

    pub fn is_unbound(&self, term: Term) -> bool {
        matches!(self.operator(term), Operator::Unbound)
    }
}
