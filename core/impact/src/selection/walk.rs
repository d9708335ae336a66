//! From a test over what it uses to the nearest change.
//!
//! An attribute whose value has no known type reaches the members of that name of all classes that were reached: an object of
//! a class is made where the class is named (rapid type analysis, Bacon and Sweeney 1996).

use rustc_hash::FxHashMap;

use super::changes::Changes;
use super::collected::{CollectedTest, Surroundings};
use super::graph::{Graph, Node};
use super::names::{NameId, Names};
use super::result::{CodeChangeKind, StepKind};
use super::text::UnitKind;
use super::uses::Unnamed;

/// What the standard library calls on whatever it is given.
const DUCK: [&str; 34] = [
    "read",
    "readline",
    "readlines",
    "readinto",
    "write",
    "writelines",
    "flush",
    "close",
    "closed",
    "seek",
    "tell",
    "fileno",
    "isatty",
    "truncate",
    "readable",
    "writable",
    "seekable",
    "name",
    "mode",
    "encoding",
    "errors",
    "buffer",
    "keys",
    "items",
    "values",
    "get",
    "update",
    "acquire",
    "release",
    "put",
    "send",
    "throw",
    "filter",
    "format",
];

/// Where a walk came from: a node and how it uses what was reached.
#[derive(Debug, Clone, Copy)]
struct Trace {
    from: Option<Node>,
    kind: StepKind,
}

/// The nearest change of a test: its node, and the nodes from it to the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether all that the test reaches is proved to do the same.
    pub is_proved: bool,
    pub node: Node,
    pub kind: CodeChangeKind,
    /// How each uses the one before it.
    pub steps: Vec<(StepKind, Node)>,
}

pub(super) struct Walker<'a> {
    graph: &'a Graph,
    changes: &'a Changes,
    names: &'a Names,
    traces: FxHashMap<Node, Trace>,
    queue: Vec<Node>,
    /// Who mentioned an attribute.
    attributes: FxHashMap<NameId, (Node, StepKind)>,
    words: FxHashMap<NameId, Node>,
    classes: Vec<Node>,
    prefixes: Vec<(NameId, Node)>,
    /// Changes that matter only if somebody reads docstrings, annotations or lines.
    waiting: Vec<(CodeChangeKind, Node)>,
    reads: [bool; 3],
    duck: Vec<NameId>,
}

impl<'a> Walker<'a> {
    pub fn new(graph: &'a Graph, changes: &'a Changes, names: &'a Names) -> Self {
        Self {
            graph,
            changes,
            names,
            traces: FxHashMap::default(),
            queue: Vec::new(),
            attributes: FxHashMap::default(),
            words: FxHashMap::default(),
            classes: Vec::new(),
            prefixes: Vec::new(),
            waiting: Vec::new(),
            reads: [false; 3],
            duck: DUCK.iter().filter_map(|name| names.known(name)).collect(),
        }
    }

    /// The nearest change that a test may see. If there is none, the nearest one that is proved to do the same.
    pub fn nearest(
        &mut self,
        test: &CollectedTest,
        surroundings: &Surroundings,
        around: &[(StepKind, Node)],
    ) -> Option<Found> {
        self.traces.clear();
        self.queue.clear();
        self.attributes.clear();
        self.words.clear();
        self.classes.clear();
        self.prefixes.clear();
        self.waiting.clear();
        self.reads = [false; 3];
        self.traces.insert(test.node, Trace { from: None, kind: StepKind::Test });
        self.queue.push(test.node);
        for (kind, node) in around.iter().chain(&surroundings.roots) {
            self.reach(*node, test.node, *kind);
        }
        for name in self.duck.clone() {
            self.attributes.insert(name, (test.node, StepKind::Implicit));
        }
        let (mut next, mut proved) = (0, None);
        while let Some(node) = self.queue.get(next).copied() {
            next += 1;
            if let Some(kind) = self.changes.of(node) {
                match kind {
                    // Whoever reads a docstring, annotations or lines may see a change that does the same.
                    CodeChangeKind::Changed if self.changes.is_proved(node) && node != test.node => {
                        proved = proved.or_else(|| Some(Found { is_proved: true, ..self.found(node, kind) }));
                        let read = [CodeChangeKind::Docstring, CodeChangeKind::Annotation, CodeChangeKind::Source];
                        self.waiting.extend(read.map(|kind| (kind, node)));
                    }
                    CodeChangeKind::Docstring | CodeChangeKind::Annotation | CodeChangeKind::Source => {
                        self.waiting.push((kind, node));
                    }
                    kind => return Some(self.found(node, kind)),
                }
            }
            self.step(node, test.node, surroundings);
            if let Some(found) = self.waited() {
                return Some(found);
            }
        }
        proved
    }

    fn waited(&self) -> Option<Found> {
        let is_read = |kind: CodeChangeKind| match kind {
            CodeChangeKind::Docstring => self.reads[0],
            CodeChangeKind::Annotation => self.reads[1],
            _ => self.reads[2],
        };
        let (kind, node) = self.waiting.iter().find(|(kind, _)| is_read(*kind))?;
        Some(self.found(*node, *kind))
    }

    fn found(&self, node: Node, kind: CodeChangeKind) -> Found {
        let mut steps = Vec::new();
        let mut current = node;
        while let Some(trace) = self.traces.get(&current) {
            let Some(from) = trace.from else { break };
            steps.push((trace.kind, from));
            current = from;
        }
        Found { is_proved: false, node, kind, steps }
    }

    fn reach(&mut self, node: Node, from: Node, kind: StepKind) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.traces.entry(node) {
            entry.insert(Trace { from: Some(from), kind });
            self.queue.push(node);
        }
    }

    fn step(&mut self, node: Node, test: Node, surroundings: &Surroundings) {
        let graph = self.graph;
        for (kind, to) in &graph.edges[node as usize] {
            self.reach(*to, node, *kind);
        }
        for name in graph.mentions.get(&node).into_iter().flatten() {
            self.mention(*name, node, StepKind::Attribute);
        }
        if let Some(module) = graph.value(node) {
            let at = &graph.modules[module];
            for position in 0..at.text.units.len() {
                let unit = &at.text.units[position];
                if unit.class.is_none() && self.is_mentioned(unit.name) {
                    let (from, kind) = self.mentioned(unit.name, node);
                    self.reach(at.first + position as Node, from, kind);
                }
            }
            return;
        }
        let Some((module, unit)) = graph.unit(node) else { return };
        if unit.kind == UnitKind::Body {
            let at = &graph.modules[module];
            for position in 0..at.text.units.len() {
                let name = at.text.units[position].name;
                if at.text.units[position].class.is_none()
                    && let Some(from) = self.words.get(&name).copied()
                {
                    self.reach(at.first + position as Node, from, StepKind::Text);
                }
            }
        }
        if unit.kind == UnitKind::Class {
            self.classes.push(node);
            for position in 0..graph.classes.get(&node).map_or(0, |facts| facts.members.len()) {
                let (name, member) = graph.classes[&node].members[position];
                if self.is_mentioned(name) {
                    let (from, kind) = self.mentioned(name, node);
                    self.reach(member, from, kind);
                }
            }
        }
        for name in &unit.uses.attributes {
            self.mention(*name, node, StepKind::Attribute);
        }
        let is_asking = unit.fixture.is_some() || node == test;
        for word in &unit.uses.words {
            self.mention(*word, node, StepKind::Text);
            if self.words.insert(*word, node).is_none() {
                for (module, global) in graph.globals.get(word).into_iter().flatten() {
                    if self.traces.contains_key(&graph.modules[*module].first) {
                        self.reach(*global, node, StepKind::Text);
                    }
                }
            }
            for fixture in surroundings.fixtures.get(word).into_iter().flatten() {
                self.reach(*fixture, node, StepKind::Fixture);
            }
        }
        if is_asking {
            for parameter in &unit.parameters {
                for fixture in surroundings.fixtures.get(parameter).into_iter().flatten() {
                    self.reach(*fixture, node, StepKind::Fixture);
                }
            }
        }
        for (unnamed, _) in &unit.uses.unnamed {
            if *unnamed == Unnamed::Fixture {
                for fixture in surroundings.fixtures.values().flatten() {
                    self.reach(*fixture, node, StepKind::Fixture);
                }
            }
            if let Unnamed::Attribute(Some(prefix)) = unnamed
                && self.prefixes.iter().all(|(known, _)| known != prefix)
            {
                self.prefixes.push((*prefix, node));
                let text = self.names.text(*prefix);
                for position in 0..self.classes.len() {
                    let class = self.classes[position];
                    for (name, member) in &graph.classes[&class].members {
                        if self.names.text(*name).starts_with(&**text) {
                            self.reach(*member, node, StepKind::DynamicAttribute);
                        }
                    }
                }
            }
        }
        self.reads[0] |= unit.uses.reads_docs;
        self.reads[1] |= unit.uses.reads_annotations;
        self.reads[2] |= unit.uses.reads_source;
    }

    fn is_mentioned(&self, name: NameId) -> bool {
        self.attributes.contains_key(&name) || self.prefix(name).is_some()
    }

    fn prefix(&self, name: NameId) -> Option<Node> {
        let text = self.names.text(name);
        self.prefixes.iter().find(|(prefix, _)| text.starts_with(&**self.names.text(*prefix))).map(|(_, node)| *node)
    }

    fn mentioned(&self, name: NameId, class: Node) -> (Node, StepKind) {
        match self.attributes.get(&name) {
            Some((_, StepKind::Implicit)) => (class, StepKind::Implicit),
            Some(found) => *found,
            None => (self.prefix(name).unwrap_or(class), StepKind::DynamicAttribute),
        }
    }

    fn mention(&mut self, name: NameId, node: Node, kind: StepKind) {
        if self.attributes.contains_key(&name) {
            return;
        }
        self.attributes.insert(name, (node, kind));
        let graph = self.graph;
        for (class, member) in graph.members.get(&name).into_iter().flatten() {
            if self.traces.contains_key(class) {
                self.reach(*member, node, kind);
            }
        }
        for (module, global) in graph.globals.get(&name).into_iter().flatten() {
            if self.traces.contains_key(&graph.modules[*module].value) {
                self.reach(*global, node, kind);
            }
        }
    }
}
