//! Elements of containers, by keys as far as these are known, and what is iterated.

use std::sync::Arc;

use super::objects::{Field, Object, ObjectId};
use super::solver::{CallOf, Edge, KeyOf, Node, Operation, Solver, Watch};
use crate::answers::Code;
use crate::module::ContainerKind;

impl Solver<'_> {
    /// An operation on `base` also waits for keys.
    pub(super) fn keyed(&mut self, key: Node, base: Node, number: u32) {
        self.edge(key, Edge::Operation(number));
        self.unkeyed.push((base, number));
    }

    /// The keys that a node holds.
    fn keys(&mut self, node: Node) -> Vec<Field> {
        let mut keys = Vec::new();
        for object in self.set(node).to_vec() {
            match self.objects.get(object).cloned() {
                Some(Object::Text(text)) => keys.push(Field::Text(self.name(&text))),
                Some(Object::Number(number)) => keys.push(Field::Number(number)),
                _ => {}
            }
        }
        keys
    }

    /// The pairs of container and key that come with a new object, which is one or the other.
    fn pairs(&mut self, node: Node, object: ObjectId, base: Node, key: KeyOf) -> Vec<(ObjectId, Field)> {
        match key {
            KeyOf::Field(field) => vec![(object, field)],
            KeyOf::Node(key_node) => {
                let mut pairs = Vec::new();
                if node == base {
                    pairs.extend(self.keys(key_node).into_iter().map(|key| (object, key)));
                }
                if node == key_node {
                    let key = match self.objects.get(object).cloned() {
                        Some(Object::Text(text)) => Some(Field::Text(self.name(&text))),
                        Some(Object::Number(number)) => Some(Field::Number(number)),
                        _ => None,
                    };
                    pairs.extend(key.into_iter().flat_map(|key| self.set(base).iter().map(move |base| (*base, key))));
                }
                pairs
            }
        }
    }

    pub(super) fn index(&mut self, node: Node, object: ObjectId, base: Node, key: KeyOf, to: Node, code: Code) {
        if node == base || matches!(key, KeyOf::Field(_)) {
            self.index_whole(object, to, code);
        }
        for (container, key) in self.pairs(node, object, base, key) {
            self.index_one(container, key, to);
        }
    }

    /// What a subscript gives whatever the key is.
    fn index_whole(&mut self, object: ObjectId, to: Node, code: Code) {
        match self.objects.get(object).cloned() {
            Some(Object::Instance(class)) => {
                let name = self.name("__getitem__");
                let iterates = self.name("__iter__");
                if self.is_defined(class, name) {
                    let call = CallOf { arguments: Vec::new(), result: to, code, decorates: false };
                    self.special(object, name, Arc::new(call));
                } else if self.is_defined(class, iterates) {
                    self.element(object, to, code);
                }
            }
            Some(Object::Generator(module, scope)) => self.yielded(module, scope, to),
            // `C[int]` is `C` for what is called.
            Some(Object::External(_) | Object::Class(_) | Object::Unknown) => self.add(to, object),
            _ => {}
        }
    }

    fn index_one(&mut self, container: ObjectId, key: Field, to: Node) {
        if !matches!(self.objects.get(container), Some(Object::Container(..))) {
            return;
        }
        let Some(key) = self.counted(container, key) else {
            self.watch(container, Watch::All(to));
            return;
        };
        let element = self.field(container, key);
        self.copy(element, to);
        let any = self.field(container, Field::Any);
        self.copy(any, to);
    }

    /// A key that does not count from the end, or nothing if the length is not known.
    fn counted(&self, container: ObjectId, key: Field) -> Option<Field> {
        match key {
            Field::Any => None,
            Field::Number(number) if number < 0 => {
                let Some(Object::Container(ContainerKind::List | ContainerKind::Tuple, ..)) =
                    self.objects.get(container)
                else {
                    return Some(key);
                };
                self.lengths.get(&container).map(|length| Field::Number(number + i64::from(*length)))
            }
            _ => Some(key),
        }
    }

    pub(super) fn store_index(&mut self, node: Node, object: ObjectId, base: Node, key: KeyOf, from: Node, code: Code) {
        if (node == base || matches!(key, KeyOf::Field(_)))
            && matches!(self.objects.get(object), Some(Object::Instance(_)))
        {
            let name = self.name("__setitem__");
            let nothing = self.node();
            let arguments =
                vec![crate::module::Argument::Positional(nothing), crate::module::Argument::Positional(from)];
            let result = self.node();
            let call = CallOf { arguments, result, code, decorates: false };
            self.special(object, name, Arc::new(call));
        }
        for (container, key) in self.pairs(node, object, base, key) {
            if matches!(self.objects.get(container), Some(Object::Container(..))) {
                let key = self.counted(container, key).unwrap_or(Field::Any);
                let to = self.field(container, key);
                self.copy(from, to);
            } else {
                self.given.push(from);
            }
        }
    }

    /// An operation whose key nobody knows takes all elements. Says whether that was so.
    pub(super) fn without_key(&mut self, base: Node, number: u32) -> bool {
        let Some(operation) = self.operations.get(number as usize).cloned() else { return false };
        match operation {
            Operation::Index { key: KeyOf::Node(key), to, code, .. } if self.keys(key).is_empty() => {
                self.operation(base, Operation::Index { base, key: KeyOf::Field(Field::Any), to, code });
                true
            }
            Operation::StoreIndex { key: KeyOf::Node(key), from, .. } if self.keys(key).is_empty() => {
                self.operation(base, Operation::Gather { from });
                true
            }
            _ => false,
        }
    }

    pub(super) fn slice(&mut self, object: ObjectId, low: Option<i64>, high: Option<i64>, to: Node) {
        let Some(Object::Container(kind, ..)) = self.objects.get(object).cloned() else {
            self.add(to, object);
            return;
        };
        let length = self.lengths.get(&object).map(|length| i64::from(*length));
        let from_end = |bound: i64| if bound < 0 { length.map(|length| (length + bound).max(0)) } else { Some(bound) };
        let low = low.and_then(from_end);
        let known_high = high.and_then(from_end);
        let into = self.add_new(to, Object::Container(kind, to, 3));
        match low {
            Some(low) if high.is_none() || known_high.is_some() => {
                self.watch(object, Watch::Shifted { low, high: known_high, into });
            }
            _ => {
                let any = self.field(into, Field::Any);
                self.watch(object, Watch::All(any));
            }
        }
    }

    /// What iterating over an object gives.
    pub(super) fn element(&mut self, object: ObjectId, to: Node, code: Code) {
        match self.objects.get(object).cloned() {
            Some(Object::Container(kind, ..)) if kind != ContainerKind::Dict => self.watch(object, Watch::All(to)),
            Some(Object::Generator(module, scope)) => self.yielded(module, scope, to),
            Some(Object::External(_) | Object::Unknown) => self.add(to, object),
            Some(Object::Instance(class)) => {
                let (iterates, gets) = (self.name("__iter__"), self.name("__getitem__"));
                if self.is_defined(class, iterates) {
                    let iterator = self.node();
                    let call = CallOf { arguments: Vec::new(), result: iterator, code, decorates: false };
                    self.special(object, iterates, Arc::new(call));
                    let next = self.name("__next__");
                    let call = CallOf { arguments: Vec::new(), result: to, code, decorates: false };
                    self.operation(iterator, Operation::Special { name: next, call: Arc::new(call) });
                    let inner = Operation::Iterator { to, code };
                    self.operation(iterator, inner);
                } else if self.is_defined(class, gets) {
                    let call = CallOf { arguments: Vec::new(), result: to, code, decorates: false };
                    self.special(object, gets, Arc::new(call));
                }
            }
            _ => {}
        }
    }

    /// What an iterator that `__iter__` returned gives, if it is none of the project's.
    pub(super) fn iterator(&mut self, object: ObjectId, to: Node, code: Code) {
        if !matches!(self.objects.get(object), Some(Object::Instance(_))) {
            self.element(object, to, code);
        }
    }

    /// All elements of an object become elements of the containers that a node holds.
    pub(super) fn spread(&mut self, object: ObjectId, to: Node, code: Code) {
        if matches!(self.objects.get(object), Some(Object::Container(..))) {
            self.operation(to, Operation::SpreadInto { from: object });
            return;
        }
        let element = self.node();
        self.element(object, element, code);
        self.operation(to, Operation::Gather { from: element });
    }

    /// A container takes the elements of another one, with their keys if both are dicts.
    pub(super) fn spread_into(&mut self, container: ObjectId, from: ObjectId) {
        let kind_of = |object| match self.objects.get(object) {
            Some(Object::Container(kind, ..)) => Some(*kind),
            _ => None,
        };
        let (Some(own), Some(other)) = (kind_of(container), kind_of(from)) else { return };
        if container == from {
            return;
        }
        if own == ContainerKind::Dict && other == ContainerKind::Dict {
            self.watch(from, Watch::Same(container));
            return;
        }
        let any = self.field(container, Field::Any);
        self.watch(from, Watch::All(any));
    }

    /// A container takes what a node holds.
    pub(super) fn gather(&mut self, container: ObjectId, from: Node) {
        if matches!(self.objects.get(container), Some(Object::Container(..))) {
            let any = self.field(container, Field::Any);
            self.copy(from, any);
        } else {
            self.given.push(from);
        }
    }
}
