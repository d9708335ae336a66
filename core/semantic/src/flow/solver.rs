//! The state of the analysis: which objects reach which node, and what follows from that.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::objects::{Field, Object, ObjectId, Objects};
use crate::answers::{CallEdge, CallKind, Callee, Code};
use crate::ids::{ModuleId, ScopeId, SymbolId};
use crate::module::Argument;
use crate::project::Project;

/// A node's number in the whole project.
pub(super) type Node = u32;

/// How many objects a node may hold. Those beyond are left out.
pub(super) const MAX_OBJECTS: usize = 64;
/// How many texts and numbers a node may hold.
const MAX_CONSTANTS: usize = 8;
/// How many objects move along edges in all.
const MAX_MOVES: u64 = 100_000_000;
/// How many nodes and objects there may be.
const MAX_NODES: usize = 60_000_000;
const MAX_OBJECT_COUNT: usize = 8_000_000;

/// What follows when an object reaches a node.
#[derive(Debug, Clone)]
pub(super) enum Edge {
    Copy(Node),
    /// The object is an attribute of a class, seen through a receiver.
    Bind {
        to: Node,
        receiver: ObjectId,
    },
    /// The object is a function that answers for attributes of a receiver, or of a module.
    Answer {
        to: Node,
        receiver: Option<ObjectId>,
    },
    Operation(u32),
}

/// How a key is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyOf {
    Field(Field),
    Node(Node),
}

/// What is to be done with each object that reaches a node.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Load {
        name: u32,
        to: Node,
        code: Code,
    },
    Store {
        name: u32,
        from: Node,
    },
    Index {
        base: Node,
        key: KeyOf,
        to: Node,
        code: Code,
    },
    StoreIndex {
        base: Node,
        key: KeyOf,
        from: Node,
        code: Code,
    },
    Slice {
        low: Option<i64>,
        high: Option<i64>,
        to: Node,
    },
    Element {
        to: Node,
        code: Code,
    },
    /// The same for what `__iter__` returned.
    Iterator {
        to: Node,
        code: Code,
    },
    /// Elements of the object go into containers at another node.
    Spread {
        to: Node,
        code: Code,
    },
    /// Elements of another object go into the container.
    SpreadInto {
        from: ObjectId,
    },
    /// Objects at another node go into the container.
    Gather {
        from: Node,
    },
    Call(Arc<CallOf>),
    /// The same for `__init__`, whose result is nothing.
    Initialize(Arc<CallOf>),
    /// A function that something outside of the project calls.
    CallBack {
        result: Option<Node>,
        code: Code,
    },
    Special {
        name: u32,
        call: Arc<CallOf>,
    },
    Raise {
        code: Code,
    },
    Annotated {
        to: Node,
    },
    Super {
        class: SymbolId,
        to: Node,
    },
    /// Elements become arguments from a place on.
    Star {
        function: (ModuleId, ScopeId),
        from: usize,
        code: Code,
    },
    Keywords {
        function: (ModuleId, ScopeId),
    },
}

/// A call, by whatever syntax.
#[derive(Debug)]
pub(super) struct CallOf {
    pub arguments: Vec<Argument<Node, u32>>,
    pub result: Node,
    pub code: Code,
    pub decorates: bool,
}

/// Who is told of new fields of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Watch {
    All(Node),
    Shifted {
        low: i64,
        high: Option<i64>,
        into: ObjectId,
    },
    /// Under the same keys.
    Same(ObjectId),
}

#[derive(Debug)]
pub(super) struct Solver<'p> {
    pub project: &'p Project,
    pub objects: Objects,
    pub sets: Vec<Vec<ObjectId>>,
    constants: FxHashMap<Node, usize>,
    edges: Vec<Vec<Edge>>,
    /// How many objects of each node went along its edges.
    done: Vec<u32>,
    pub operations: Vec<Operation>,
    queue: VecDeque<(Node, ObjectId)>,
    moves: u64,
    pub is_cut: bool,

    pub names: Vec<Arc<str>>,
    pub name_numbers: FxHashMap<Arc<str>, u32>,
    /// The first node of each module.
    pub offsets: Vec<Node>,

    pub fields: FxHashMap<(ObjectId, Field), Node>,
    pub fields_of: FxHashMap<ObjectId, Vec<(Field, Node)>>,
    pub watches: FxHashMap<ObjectId, Vec<Watch>>,
    pub lengths: FxHashMap<ObjectId, u32>,
    /// The values of attributes by object and name, and whether the project defines them.
    pub attributes: FxHashMap<(ObjectId, u32), Option<Node>>,
    /// The functions that a look at an attribute calls.
    pub properties: FxHashMap<Node, Vec<(ModuleId, ScopeId)>>,
    pub property_readers: FxHashMap<Node, Vec<Code>>,
    /// Operations whose keys nobody knew so far.
    pub unkeyed: Vec<(Node, u32)>,
    pub calls: FxHashSet<CallEdge>,

    /// Annotations that name all classes of what is at a node: where the classes are, and the node.
    pub declared: Vec<(Node, Node)>,
    /// What something outside of the project gets.
    pub given: Vec<Node>,
    /// What those get who call functions from outside of the project.
    pub returned: Vec<Node>,
    /// Nodes at which nothing is unknown, whatever arrives.
    pub known: FxHashSet<Node>,
}

impl<'p> Solver<'p> {
    pub fn new(project: &'p Project) -> Self {
        Self {
            project,
            objects: Objects::default(),
            sets: Vec::new(),
            constants: FxHashMap::default(),
            edges: Vec::new(),
            done: Vec::new(),
            operations: Vec::new(),
            queue: VecDeque::new(),
            moves: 0,
            is_cut: false,
            names: Vec::new(),
            name_numbers: FxHashMap::default(),
            offsets: Vec::new(),
            fields: FxHashMap::default(),
            fields_of: FxHashMap::default(),
            watches: FxHashMap::default(),
            lengths: FxHashMap::default(),
            attributes: FxHashMap::default(),
            properties: FxHashMap::default(),
            property_readers: FxHashMap::default(),
            unkeyed: Vec::new(),
            calls: FxHashSet::default(),
            declared: Vec::new(),
            given: Vec::new(),
            returned: Vec::new(),
            known: FxHashSet::default(),
        }
    }

    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.name_numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.name_numbers.insert(name, number);
        number
    }

    pub fn text(&self, name: u32) -> Arc<str> {
        self.names.get(name as usize).cloned().unwrap_or_default()
    }

    pub fn nodes(&mut self, count: u32) -> Node {
        let first = self.sets.len() as Node;
        if self.sets.len() + count as usize > MAX_NODES {
            self.is_cut = true;
            return first.saturating_sub(1);
        }
        self.sets.resize(self.sets.len() + count as usize, Vec::new());
        self.edges.resize(self.edges.len() + count as usize, Vec::new());
        self.done.resize(self.done.len() + count as usize, 0);
        first
    }

    pub fn node(&mut self) -> Node {
        self.nodes(1)
    }

    pub fn object(&mut self, object: Object) -> ObjectId {
        if self.objects.len() >= MAX_OBJECT_COUNT {
            self.is_cut = true;
            return self.objects.number(Object::External("…".into()));
        }
        self.objects.number(object)
    }

    pub fn set(&self, node: Node) -> &[ObjectId] {
        self.sets.get(node as usize).map_or(&[], |set| set)
    }

    /// An object reaches a node.
    pub fn add(&mut self, node: Node, object: ObjectId) {
        let Some(set) = self.sets.get_mut(node as usize) else { return };
        if set.contains(&object) || set.len() >= MAX_OBJECTS {
            return;
        }
        if !self.known.is_empty() && self.known.contains(&node) && self.objects.get(object) == Some(&Object::Unknown) {
            return;
        }
        if matches!(self.objects.get(object), Some(Object::Text(_) | Object::Number(_))) {
            let count = self.constants.entry(node).or_default();
            if *count >= MAX_CONSTANTS {
                return;
            }
            *count += 1;
        }
        set.push(object);
        self.queue.push_back((node, object));
    }

    pub fn add_new(&mut self, node: Node, object: Object) -> ObjectId {
        let object = self.object(object);
        self.add(node, object);
        object
    }

    /// Adds an edge, along which go the objects that are there already, too. Those that wait come later.
    pub fn edge(&mut self, from: Node, edge: Edge) {
        if matches!(edge, Edge::Copy(to) if to == from) {
            return;
        }
        let done = self.done.get(from as usize).map_or(0, |done| *done as usize);
        for object in self.set(from).get(..done).unwrap_or_default().to_vec() {
            self.follow(from, object, &edge);
        }
        if let Some(edges) = self.edges.get_mut(from as usize) {
            edges.push(edge);
        }
    }

    pub fn copy(&mut self, from: Node, to: Node) {
        self.edge(from, Edge::Copy(to));
    }

    pub fn operation(&mut self, node: Node, operation: Operation) -> u32 {
        let number = self.operations.len() as u32;
        self.operations.push(operation);
        self.edge(node, Edge::Operation(number));
        number
    }

    /// Moves objects until nothing changes.
    pub fn solve(&mut self) {
        loop {
            self.drain();
            let unkeyed = std::mem::take(&mut self.unkeyed);
            let mut is_done = true;
            for (base, number) in unkeyed {
                is_done &= !self.without_key(base, number);
            }
            if is_done && self.queue.is_empty() {
                return;
            }
        }
    }

    fn drain(&mut self) {
        while let Some((node, object)) = self.queue.pop_front() {
            self.moves += 1 + self.edges.get(node as usize).map_or(0, Vec::len) as u64;
            if self.moves > MAX_MOVES {
                self.is_cut = true;
                self.queue.clear();
                return;
            }
            if let Some(done) = self.done.get_mut(node as usize) {
                *done += 1;
            }
            let mut at = 0;
            // Edges that are added now take this object along by themselves.
            let count = self.edges.get(node as usize).map_or(0, Vec::len);
            while at < count {
                let Some(edge) = self.edges.get(node as usize).and_then(|edges| edges.get(at)).cloned() else { break };
                self.follow(node, object, &edge);
                at += 1;
            }
        }
    }

    fn follow(&mut self, node: Node, object: ObjectId, edge: &Edge) {
        match edge {
            Edge::Copy(to) => self.add(*to, object),
            Edge::Bind { to, receiver } => self.bind(*to, object, *receiver),
            Edge::Answer { to, receiver } => self.answer(*to, object, *receiver),
            Edge::Operation(number) => {
                if let Some(operation) = self.operations.get(*number as usize).cloned() {
                    self.operate(node, object, operation);
                }
            }
        }
    }

    fn operate(&mut self, node: Node, object: ObjectId, operation: Operation) {
        match operation {
            Operation::Load { name, to, code } => self.load(object, name, to, code),
            Operation::Store { name, from } => self.store(object, name, from),
            Operation::Index { base, key, to, code } => self.index(node, object, base, key, to, code),
            Operation::StoreIndex { base, key, from, code } => self.store_index(node, object, base, key, from, code),
            Operation::Slice { low, high, to } => self.slice(object, low, high, to),
            Operation::Element { to, code } => self.element(object, to, code),
            Operation::Iterator { to, code } => self.iterator(object, to, code),
            Operation::Spread { to, code } => self.spread(object, to, code),
            Operation::SpreadInto { from } => self.spread_into(object, from),
            Operation::Gather { from } => self.gather(object, from),
            Operation::Call(call) => self.call(object, &call, true),
            Operation::Initialize(call) => self.call(object, &call, false),
            Operation::CallBack { result, code } => self.call_back(object, result, code),
            Operation::Special { name, call } => self.special(object, name, call),
            Operation::Raise { code } => self.raise(object, code),
            Operation::Annotated { to } => {
                if let Some(Object::Class(class)) = self.objects.get(object) {
                    let class = *class;
                    self.add_new(to, Object::Instance(class));
                }
            }
            Operation::Super { class, to } => {
                if matches!(self.objects.get(object), Some(Object::Instance(_) | Object::Class(_))) {
                    self.add_new(to, Object::Super(class, object));
                }
            }
            Operation::Star { function, from, code } => self.star(object, function, from, code),
            Operation::Keywords { function } => self.keywords(object, function),
        }
    }

    pub fn called(&mut self, code: Code, callee: Callee, kind: CallKind) {
        self.calls.insert(CallEdge { caller: code, callee, kind });
    }

    /// The node of a part of an object. Who watches the object is told of new ones.
    pub fn field(&mut self, object: ObjectId, field: Field) -> Node {
        if let Some(node) = self.fields.get(&(object, field)) {
            return *node;
        }
        let node = self.node();
        self.fields.insert((object, field), node);
        if matches!(field, Field::Attribute(_)) {
            return node;
        }
        self.fields_of.entry(object).or_default().push((field, node));
        for watch in self.watches.get(&object).cloned().unwrap_or_default() {
            self.tell(watch, field, node);
        }
        node
    }

    fn tell(&mut self, watch: Watch, field: Field, node: Node) {
        match (watch, field) {
            (Watch::All(to), _) => self.copy(node, to),
            (Watch::Same(into), field) => {
                let to = self.field(into, field);
                self.copy(node, to);
            }
            (Watch::Shifted { low, high, into }, Field::Number(number)) => {
                if number >= low && high.is_none_or(|high| number < high) {
                    let to = self.field(into, Field::Number(number - low));
                    self.copy(node, to);
                }
            }
            (Watch::Shifted { into, .. }, _) => {
                let to = self.field(into, Field::Any);
                self.copy(node, to);
            }
        }
    }

    pub fn watch(&mut self, object: ObjectId, watch: Watch) {
        for (field, node) in self.fields_of.get(&object).cloned().unwrap_or_default() {
            self.tell(watch, field, node);
        }
        self.watches.entry(object).or_default().push(watch);
    }
}
