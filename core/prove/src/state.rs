//! What one version knows at a point of its execution: its variables, the containers that only it can see, and the heap.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::Replaced;
use crate::program::BlockId;
use crate::term::{Operator, Term, Terms};
use crate::types::Type;

/// What an object is that nobody else has seen. Its changeable parts are fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its content.
    List,
    /// Its content.
    Dict,
    /// Its items as they were added.
    Set,
    /// Its arguments.
    Exception(String),
    /// What it captures.
    Closure(String),
    Generator(String),
    /// The next number and the end, with a step.
    Range(i128),
    /// What it goes through, and the index of the next item.
    Items,
}

impl Kind {
    pub fn class(&self) -> Type {
        match self {
            Kind::List => Type::List(Box::new(Type::Any)),
            Kind::Dict => Type::Dict(Box::new(Type::Any), Box::new(Type::Any)),
            _ => Type::Any,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub kind: Kind,
    pub fields: Vec<Term>,
}

#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub block: BlockId,
    pub step: usize,
    pub slots: Vec<Term>,
    pub objects: BTreeMap<u32, Object>,
    pub heap: Term,
    /// Whether it goes on beyond the head of a loop at which it stands.
    pub crosses: bool,
    pub ended: Option<Ended>,
}

/// How a version ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Returned(Term),
    Raised(Term),
}

impl Side {
    pub fn replace(&mut self, terms: &mut Terms, replaced: &Replaced) {
        let mut memo = FxHashMap::default();
        for term in self.slots.iter_mut().chain(self.objects.values_mut().flat_map(|object| &mut object.fields)) {
            *term = terms.replace(*term, replaced, &mut memo);
        }
        self.heap = terms.replace(self.heap, replaced, &mut memo);
        if let Some(Ended::Returned(term) | Ended::Raised(term)) = &mut self.ended {
            *term = terms.replace(*term, replaced, &mut memo);
        }
    }

    pub fn enter(&mut self, block: BlockId) {
        self.block = block;
        self.step = 0;
        self.crosses = false;
    }

    pub fn make(&mut self, terms: &mut Terms, kind: Kind, fields: Vec<Term>) -> Term {
        let (id, term) = terms.object();
        self.objects.insert(id, Object { kind, fields });
        term
    }

    pub fn object(&self, terms: &Terms, term: Term) -> Option<&Object> {
        self.objects.get(&terms.as_object(term)?)
    }

    pub fn set_field(&mut self, terms: &Terms, term: Term, field: usize, value: Term) {
        if let Some(id) = terms.as_object(term)
            && let Some(object) = self.objects.get_mut(&id)
            && let Some(place) = object.fields.get_mut(field)
        {
            *place = value;
        }
    }

    /// The type of a value; a container of one's own is what it is.
    pub fn class(&self, terms: &Terms, term: Term) -> Type {
        match (self.object(terms, term), terms.operator(term)) {
            (Some(object), _) => object.kind.class(),
            (None, Operator::Tuple) => Type::Tuple,
            _ => terms.class(term).clone(),
        }
    }

    /// The items of a list, a tuple or a text as they are now.
    pub fn items(&self, terms: &mut Terms, term: Term) -> Option<Term> {
        if let Some(object) = self.object(terms, term) {
            return matches!(object.kind, Kind::List).then(|| object.fields[0]);
        }
        match (terms.operator(term), terms.class(term)) {
            (Operator::Tuple, _) | (_, Type::Text) => Some(term),
            (_, Type::List(_)) => Some(terms.snapshot(term, self.heap)),
            _ => None,
        }
    }

    /// The entries of a dictionary as they are now.
    pub fn entries(&self, terms: &mut Terms, term: Term) -> Option<Term> {
        if let Some(object) = self.object(terms, term) {
            return matches!(object.kind, Kind::Dict).then(|| object.fields[0]);
        }
        match terms.class(term) {
            Type::Dict(..) => Some(terms.snapshot(term, self.heap)),
            _ => None,
        }
    }
}

impl Terms {
    /// The content of a container at a state of the heap.
    pub fn snapshot(&mut self, container: Term, heap: Term) -> Term {
        if let Operator::Write(kind) = *self.operator(heap) {
            let arguments = self.arguments(heap).to_vec();
            let is_list = |class: &Type| matches!(class, Type::List(_));
            if arguments[1] == container {
                let before = self.snapshot(container, arguments[0]);
                return match kind {
                    "append" => {
                        let item = self.elements(&arguments[2..3]);
                        self.joined(&[before, item])
                    }
                    "put" => self.entries_with(before, arguments[2], arguments[3]),
                    _ => self.items_with(before, arguments[2], arguments[3]),
                };
            }
            if is_list(self.class(arguments[1])) != is_list(self.class(container)) {
                return self.snapshot(container, arguments[0]);
            }
        }
        let is_typed = *self.class(heap) == Type::Heap(true);
        let class = match self.class(container).clone() {
            Type::List(item) => Type::Items(if is_typed { item } else { Box::new(Type::Any) }),
            Type::Dict(key, value) if is_typed => Type::Entries(key, value),
            Type::Dict(..) => Type::Entries(Box::new(Type::Any), Box::new(Type::Any)),
            _ => Type::Any,
        };
        self.intern(Operator::Snapshot, &[container, heap], class)
    }

    /// The items of a list after `items[index] = value`.
    pub fn items_with(&mut self, content: Term, index: Term, value: Term) -> Term {
        if let (Operator::Elements, Some(index)) = (self.operator(content), self.as_int(index)) {
            let mut items = self.arguments(content).to_vec();
            let at = if index < 0 { index + items.len() as i128 } else { index };
            if let Some(place) = usize::try_from(at).ok().and_then(|at| items.get_mut(at)) {
                *place = value;
                return self.elements(&items);
            }
        }
        let class = match self.class(content) {
            Type::Items(item) => Type::Items(Box::new(item.join(self.class(value)))),
            _ => Type::Items(Box::new(Type::Any)),
        };
        self.pure("with item", &[content, index, value], class)
    }

    /// The entries of a dictionary after `entries[key] = value`.
    pub fn entries_with(&mut self, content: Term, key: Term, value: Term) -> Term {
        let class = match self.class(content) {
            Type::Entries(keys, values) => {
                Type::Entries(Box::new(keys.join(self.class(key))), Box::new(values.join(self.class(value))))
            }
            _ => Type::Entries(Box::new(Type::Any), Box::new(Type::Any)),
        };
        self.pure("with entry", &[content, key, value], class)
    }
}
