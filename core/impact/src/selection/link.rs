//! The texts of a version -> a graph: the members and bases of classes, what modules import, and the edges of each unit.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{ModuleText, Project};
use twincell_syntax::python::{is_builtin, is_of_stdlib};

use super::graph::{ClassFacts, Graph, Module, Node};
use super::meaning::{Builder, Meaning};
use super::names::{NameId, Names};
use super::quiet::MAX_CALLS;
use super::result::StepKind;
use super::text::{Text, Unit, UnitKind, read};
use super::uses::{ImportPath, Unnamed};

/// Texts that were read, by identity.
#[derive(Debug, Default)]
pub(super) struct Texts(FxHashMap<usize, (Arc<ModuleText>, Arc<Text>)>);

impl Texts {
    fn read(&mut self, text: Arc<ModuleText>, names: &mut Names) -> Arc<Text> {
        let key = Arc::as_ptr(&text) as usize;
        let entry = self.0.entry(key).or_insert_with(|| {
            let found = Arc::new(read(&text.text, names));
            (text, found)
        });
        entry.1.clone()
    }
}

/// Bases from outside that call no method but special ones.
const QUIET_BASES: [&str; 8] =
    ["object", "Generic", "Protocol", "ABC", "NamedTuple", "TypedDict", "type", "namedtuple"];

/// Reads a version. Modules that are not read are given with it.
pub(super) fn link(project: &Project, names: &mut Names, texts: &mut Texts) -> (Graph, Vec<Arc<str>>) {
    let mut graph = Graph::default();
    let mut unread = Vec::new();
    for id in project.modules().filter(|id| project.path(*id).ends_with(".py")) {
        let path: Arc<str> = project.path(id).into();
        let Some(text) = project.text(id) else {
            unread.push(path);
            continue;
        };
        let text = texts.read(text, names);
        let module = graph.modules.len();
        let first = graph.units.len() as Node;
        graph.units.extend((0..text.units.len() as u32).map(|unit| (module as u32, unit)));
        graph.by_path.insert(path.clone(), module);
        graph.by_id.insert(id, module);
        graph.modules.push(Module {
            id,
            path,
            text,
            first,
            value: 0,
            loads: Vec::new(),
            outside: FxHashSet::default(),
        });
    }
    let mut next = graph.units.len() as Node;
    for module in &mut graph.modules {
        module.value = next;
        next += 1;
    }
    graph.first_slot = next;
    graph.edges = vec![Vec::new(); next as usize];
    let mut builder = Builder::new(graph, project, names);
    builder.link();
    (builder.graph, unread)
}

impl Builder<'_> {
    fn link(&mut self) {
        self.note_members();
        self.note_bases();
        for module in 0..self.graph.modules.len() {
            self.loads(module);
        }
        for module in 0..self.graph.modules.len() {
            let text = self.graph.modules[module].text.clone();
            let first = self.graph.modules[module].first;
            let value = self.graph.modules[module].value;
            self.edge(value, StepKind::Import, first);
            for import in &text.imports {
                self.slot(module, import.name);
            }
            for load in self.graph.modules[module].loads.clone() {
                let body = self.graph.modules[load].first;
                self.edge(first, StepKind::Import, body);
            }
            for (position, unit) in text.units.iter().enumerate() {
                let node = first + position as Node;
                self.unit(module, node, unit);
            }
        }
        for edges in &mut self.graph.edges {
            let mut seen = FxHashSet::default();
            edges.retain(|edge| seen.insert(*edge));
        }
    }

    fn edge(&mut self, from: Node, kind: StepKind, to: Node) {
        if from != to {
            self.graph.edges[from as usize].push((kind, to));
        }
    }

    fn note_members(&mut self) {
        for module in 0..self.graph.modules.len() {
            let text = self.graph.modules[module].text.clone();
            let first = self.graph.modules[module].first;
            for (position, unit) in text.units.iter().enumerate() {
                let node = first + position as Node;
                if unit.kind == UnitKind::Class {
                    self.graph.classes.entry(node).or_default();
                }
                match unit.class {
                    Some(class) => {
                        let class = first + class;
                        self.graph.classes.entry(class).or_default().members.push((unit.name, node));
                        self.graph.members.entry(unit.name).or_default().push((class, node));
                    }
                    None if !matches!(unit.kind, UnitKind::Body | UnitKind::Main) => {
                        self.graph.globals.entry(unit.name).or_default().push((module, node));
                    }
                    None => {}
                }
            }
        }
    }

    fn note_bases(&mut self) {
        let mut classes: Vec<Node> = self.graph.classes.keys().copied().collect();
        classes.sort_unstable();
        let init = self.names.id("__init_subclass__");
        for class in &classes {
            let Some((module, unit)) = self.graph.unit(*class) else { continue };
            let (bases, decorators, has_keywords) = (unit.bases.clone(), unit.decorators.clone(), unit.has_keywords);
            let mut facts = ClassFacts::default();
            for base in bases {
                let Some(base) = base else {
                    facts.is_called_from_outside = true;
                    continue;
                };
                let last = base.last().map(|name| self.names.text(*name).to_string()).unwrap_or_default();
                let meaning = self.meaning_of_chain(module, &base);
                facts.is_test_case |= last.ends_with("TestCase");
                // Its fields are its items.
                facts.is_read_whole |= last == "NamedTuple";
                let is_quiet = QUIET_BASES.contains(&&*last) || base.len() == 1 && is_builtin(&last);
                facts.is_called_from_outside |= (meaning.is_outside || meaning.classes.is_empty()) && !is_quiet;
                facts.bases.extend(meaning.classes);
            }
            facts.is_read_whole |= has_keywords || !decorators.is_empty();
            facts.runs_code = has_keywords;
            let all = self.graph.classes.entry(*class).or_default();
            facts.members = std::mem::take(&mut all.members);
            *all = facts;
        }
        // What holds for a class holds for those below it.
        let mut changed = true;
        while changed {
            changed = false;
            for class in &classes {
                let bases = self.graph.classes[class].bases.clone();
                for base in bases.into_iter().filter(|base| base != class) {
                    let Some(above) = self.graph.classes.get(&base) else { continue };
                    let has_hook = above.members.iter().any(|(name, _)| *name == init);
                    let (outside, whole, runs, test) = (
                        above.is_called_from_outside,
                        above.is_read_whole || has_hook,
                        above.runs_code || has_hook,
                        above.is_test_case,
                    );
                    let Some(own) = self.graph.classes.get_mut(class) else { continue };
                    let before = (own.is_called_from_outside, own.is_read_whole, own.runs_code, own.is_test_case);
                    own.is_called_from_outside |= outside;
                    own.is_read_whole |= whole;
                    own.runs_code |= runs;
                    own.is_test_case |= test;
                    let after = (own.is_called_from_outside, own.is_read_whole, own.runs_code, own.is_test_case);
                    changed |= before != after;
                }
            }
        }
    }

    fn loads(&mut self, module: usize) {
        let text = self.graph.modules[module].text.clone();
        let mut found = self.packages(module);
        let mut outside = FxHashSet::default();
        for import in &text.imports {
            let run = self.run_by(module, &import.path);
            if run.is_empty() && !import.is_guarded && !self.is_inside(module, &import.path) {
                let dotted = self.names.text(import.path.module).clone();
                let root = dotted.split('.').next().unwrap_or_default();
                if !is_of_stdlib(root) {
                    outside.insert(self.names.id(root));
                }
            }
            found.extend(run);
        }
        text.stars.iter().for_each(|star| found.extend(self.run_by(module, star)));
        found.retain(|load| *load != module);
        found.sort_unstable();
        found.dedup();
        self.graph.modules[module].loads = found;
        self.graph.modules[module].outside = outside;
    }

    /// The node of a name of a module, with its edges.
    fn slot(&mut self, module: usize, name: NameId) -> Node {
        if let Some(known) = self.graph.slot_of.get(&(module, name)) {
            return *known;
        }
        let node = self.graph.edges.len() as Node;
        self.graph.edges.push(Vec::new());
        self.graph.slots.push((module, name));
        self.graph.slot_of.insert((module, name), node);
        let text = self.graph.modules[module].text.clone();
        let first = self.graph.modules[module].first;
        let own: Vec<Node> = self
            .graph
            .globals
            .get(&name)
            .into_iter()
            .flatten()
            .filter(|(other, _)| *other == module)
            .map(|(_, node)| *node)
            .collect();
        for unit in own {
            let is_variable = self.graph.unit(unit).is_some_and(|(_, unit)| unit.kind == UnitKind::Variable);
            self.edge(node, if is_variable { StepKind::Constant } else { StepKind::Name }, unit);
        }
        // Whoever has a name of a module has imported it.
        self.edge(node, StepKind::Import, first);
        for import in text.imports.iter().filter(|import| import.name == name) {
            self.import(module, node, &import.path, &[], false);
        }
        for star in &text.stars {
            if let Some(other) = self.found(module, star).filter(|other| *other != module) {
                let slot = self.slot(other, name);
                self.edge(node, StepKind::Name, slot);
                let all = self.names.id("__all__");
                let all = self.slot(other, all);
                self.edge(node, StepKind::Name, all);
            }
        }
        if let Some(sub) = self.sub(module, name) {
            let body = self.graph.modules[sub].first;
            self.edge(node, StepKind::Import, body);
        }
        let hook = self.names.id("__getattr__");
        if name != hook && self.graph.globals.get(&hook).is_some_and(|all| all.iter().any(|(at, _)| *at == module)) {
            let hook = self.slot(module, hook);
            self.edge(node, StepKind::Implicit, hook);
        }
        node
    }

    /// What an import and attributes of what it binds use.
    fn import(&mut self, module: usize, node: Node, path: &ImportPath, attributes: &[NameId], is_value: bool) {
        for run in self.run_by(module, path) {
            let body = self.graph.modules[run].first;
            self.edge(node, StepKind::Import, body);
        }
        if let (Some(name), Some(other)) = (path.name, self.found(module, path)) {
            let slot = self.slot(other, name);
            self.edge(node, StepKind::Name, slot);
        }
        let meaning = self.meaning_of_import(module, path);
        self.follow(node, meaning, attributes, is_value);
    }

    /// The edges of attributes of what has a meaning.
    fn follow(&mut self, node: Node, meaning: Meaning, attributes: &[NameId], is_value: bool) {
        let mut meaning = meaning;
        for (position, name) in attributes.iter().enumerate() {
            if meaning.is_other || !meaning.classes.is_empty() || meaning.is_empty() {
                self.mention(node, &attributes[position..]);
            }
            let mut next = Meaning::default();
            for module in std::mem::take(&mut meaning.modules) {
                let slot = self.slot(module, *name);
                self.edge(node, StepKind::Name, slot);
                let found = self.meaning(module, *name);
                // A name that the module may get in another way.
                if found.is_empty() {
                    self.mention(node, &attributes[position + 1..]);
                }
                next.join(found);
            }
            if next.is_empty() {
                return;
            }
            meaning = next;
        }
        if is_value {
            for module in meaning.modules {
                let value = self.graph.modules[module].value;
                self.edge(node, StepKind::WholeModule, value);
            }
        }
    }

    /// Notes attributes that are read of an unknown value.
    fn mention(&mut self, node: Node, attributes: &[NameId]) {
        self.graph.mentions.entry(node).or_default().extend(attributes);
    }

    fn unit(&mut self, module: usize, node: Node, unit: &Unit) {
        let first = self.graph.modules[module].first;
        self.edge(node, StepKind::Import, first);
        if let Some(class) = unit.class {
            self.edge(node, StepKind::Member, first + class);
        }
        for name in &unit.uses.names {
            let slot = self.slot(module, *name);
            self.edge(node, StepKind::Name, slot);
            let meaning = self.meaning_of_root(module, *name);
            for value in meaning.modules {
                let value = self.graph.modules[value].value;
                self.edge(node, StepKind::WholeModule, value);
            }
        }
        for chain in &unit.uses.chains {
            let slot = self.slot(module, chain[0]);
            self.edge(node, StepKind::Name, slot);
            let meaning = self.meaning_of_root(module, chain[0]);
            self.follow(node, meaning, &chain[1..], true);
        }
        for (path, attributes) in &unit.uses.imports {
            self.import(module, node, path, attributes, true);
        }
        for dotted in &unit.uses.dotted {
            self.dotted(module, node, *dotted);
        }
        for word in &unit.uses.words {
            // A module that is run or imported by name.
            let text = self.names.text(*word).clone();
            if let Some(found) = self.find(module, 0, &text) {
                self.run(node, found);
            }
        }
        for text in &unit.uses.texts {
            let text = self.names.text(*text).clone();
            if text.ends_with(".py") {
                self.file(node, &text);
            }
        }
        for (unnamed, _) in &unit.uses.unnamed {
            if let Unnamed::Module(prefix) = unnamed {
                let prefix = prefix.map(|prefix| self.names.text(prefix).clone());
                self.any_module(module, node, prefix.as_deref());
            }
        }
        let registers = match unit.kind {
            UnitKind::Function | UnitKind::Method => self.registers(module, unit),
            UnitKind::Variable | UnitKind::Attribute => {
                unit.uses.callees.iter().any(|chain| !self.is_quiet_call(module, chain, 0, MAX_CALLS))
            }
            UnitKind::Class => {
                self.registers(module, unit) || self.graph.classes.get(&node).is_some_and(|facts| facts.runs_code)
            }
            UnitKind::Main => {
                let value = self.graph.modules[module].value;
                self.edge(value, StepKind::Implicit, node);
                false
            }
            UnitKind::Body | UnitKind::Order => false,
        };
        if registers {
            self.edge(first, StepKind::Registered, node);
        }
        if unit.kind == UnitKind::Class {
            self.class(node);
        }
    }

    /// What a class that is used uses by itself.
    fn class(&mut self, node: Node) {
        let Some(facts) = self.graph.classes.get(&node).cloned() else { return };
        for (name, member) in &facts.members {
            let text = self.names.text(*name).clone();
            let is_special = text.starts_with("__") && text.ends_with("__");
            let kind = self.graph.unit(*member).map(|(_, unit)| unit.kind);
            let is_method = kind == Some(UnitKind::Method);
            let is_test = text.starts_with("test") && facts.is_called_from_outside;
            let is_read = facts.is_read_whole && !is_test;
            let is_called = facts.is_called_from_outside && is_method && !is_test;
            let is_order = kind == Some(UnitKind::Order);
            if is_special || is_called || is_read || is_order && facts.is_called_from_outside {
                self.edge(node, StepKind::Implicit, *member);
            } else if is_order {
                continue;
            } else if facts.is_called_from_outside && matches!(kind, Some(UnitKind::Attribute | UnitKind::Class)) {
                self.edge(node, StepKind::Implicit, *member);
            }
        }
        for base in &facts.bases {
            self.edge(node, StepKind::Name, *base);
        }
    }

    /// A module that runs as a program or is imported by name.
    fn run(&mut self, node: Node, module: usize) {
        let value = self.graph.modules[module].value;
        self.edge(node, StepKind::Text, value);
        let main = self.names.id("__main__");
        if let Some(main) = self.sub(module, main) {
            let value = self.graph.modules[main].value;
            self.edge(node, StepKind::Text, value);
        }
    }

    /// A dotted name in a text: a module, or what a module has.
    fn dotted(&mut self, module: usize, node: Node, dotted: NameId) {
        let text = self.names.text(dotted).clone();
        let parts: Vec<&str> = text.split('.').collect();
        for count in (1..=parts.len()).rev() {
            let Some(found) = self.find(module, 0, &parts[..count].join(".")) else { continue };
            let rest: Vec<NameId> = parts[count..].iter().map(|part| self.names.id(part)).collect();
            let body = self.graph.modules[found].first;
            self.edge(node, StepKind::Text, body);
            match rest.is_empty() {
                true => self.run(node, found),
                false => {
                    let meaning = Meaning { modules: vec![found], ..Meaning::default() };
                    self.follow(node, meaning, &rest, true);
                }
            }
            return;
        }
    }

    /// A file of code that a text names: it may run. Where the text has the whole path, it may be read as well.
    fn file(&mut self, node: Node, text: &str) {
        let text = text.trim_start_matches("./");
        let name = text.rsplit('/').next().unwrap_or(text);
        if name == "__init__.py" && name == text || name == ".py" {
            return;
        }
        for other in 0..self.graph.modules.len() {
            let path = self.graph.modules[other].path.clone();
            let is_whole = text.contains('/') && (*path == *text || path.ends_with(&format!("/{text}")));
            if is_whole {
                self.whole(node, StepKind::Text, other);
            } else if path.rsplit('/').next() == Some(name) {
                let value = self.graph.modules[other].value;
                self.edge(node, StepKind::Text, value);
            }
        }
    }

    /// Any module whose name begins with a text. Tests import no tests in this way.
    fn any_module(&mut self, from: usize, node: Node, prefix: Option<&str>) {
        for other in 0..self.graph.modules.len() {
            let at = &self.graph.modules[other];
            let name = self.project.module_name(at.id);
            let is_named = prefix.is_none_or(|prefix| name.starts_with(prefix) || prefix.starts_with('.'));
            if other != from && is_named && !is_of_tests(&at.path) {
                let value = at.value;
                self.edge(node, StepKind::DynamicImport, value);
            }
        }
    }

    /// A module with all that it defines.
    fn whole(&mut self, node: Node, kind: StepKind, module: usize) {
        let at = &self.graph.modules[module];
        let (first, count, value) = (at.first, at.text.units.len() as Node, at.value);
        self.edge(node, kind, value);
        for unit in first..first + count {
            self.edge(node, kind, unit);
        }
    }
}

/// Whether a file is one of tests, or lies where they do.
fn is_of_tests(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or_default();
    let is_named = name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py";
    is_named || name == "setup.py" || parts.any(|part| part == "tests" || part == "test")
}
