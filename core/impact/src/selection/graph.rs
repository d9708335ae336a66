//! A version of a project -> a graph of uses: which unit names which, over the names of modules.
//!
//! A node is a unit, a name of a module, or a module as a value. Imports lead from names to names, so a name that is imported
//! from elsewhere is another edge. An attribute of a value whose type is not known has no edge: `walk` leads it to the
//! members of classes that were reached.

use std::cell::Cell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{ModuleId, Project, module_of_import, submodule};
use twincell_syntax::python::{is_builtin, is_builtin_exception, is_of_stdlib};

use super::names::{NameId, Names};
use super::result::{StepKind, Symbol};
use super::text::{Text, Unit, UnitKind, read};
use super::uses::{ImportPath, Unnamed};

pub(super) type Node = u32;

/// A module of a version.
#[derive(Debug)]
pub(super) struct Module {
    pub id: ModuleId,
    pub path: Arc<str>,
    pub text: Arc<Text>,
    /// The node of its first unit.
    pub first: Node,
    /// The node of the module as a value.
    pub value: Node,
    /// What it imports on import, of the project.
    pub loads: Vec<usize>,
    /// The first parts of what it imports from outside, if nothing is around the import.
    pub outside: FxHashSet<NameId>,
}

/// What a class is, beyond its text.
#[derive(Debug, Default, Clone)]
pub(super) struct ClassFacts {
    /// Nodes of classes of the project.
    pub bases: Vec<Node>,
    /// It, or a class that it inherits from, has a base from outside that may call its methods.
    pub is_called_from_outside: bool,
    /// A decorator, a metaclass or `__init_subclass__` may read all that it holds.
    pub is_read_whole: bool,
    /// Its definition runs code of the project.
    pub runs_code: bool,
    pub is_test_case: bool,
    /// By name: nodes of members.
    pub members: Vec<(NameId, Node)>,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub modules: Vec<Module>,
    pub by_path: FxHashMap<Arc<str>, usize>,
    by_id: FxHashMap<ModuleId, usize>,
    /// Module and position of each unit.
    units: Vec<(u32, u32)>,
    /// The module and name of each node for a name.
    pub slots: Vec<(usize, NameId)>,
    slot_of: FxHashMap<(usize, NameId), Node>,
    first_slot: Node,
    pub edges: Vec<Vec<(StepKind, Node)>>,
    /// Attributes of modules and classes that texts do not tell, beyond those of the unit itself.
    pub mentions: FxHashMap<Node, Vec<NameId>>,
    pub classes: FxHashMap<Node, ClassFacts>,
    /// The members of classes by name: class and member.
    pub members: FxHashMap<NameId, Vec<(Node, Node)>>,
    /// What modules define, by name: module and node.
    pub globals: FxHashMap<NameId, Vec<(usize, Node)>>,
}

/// What a name of a module may be.
#[derive(Debug, Default, Clone)]
struct Meaning {
    modules: Vec<usize>,
    classes: Vec<Node>,
    is_outside: bool,
    /// Something else of the project, or nobody knows.
    is_other: bool,
}

/// Texts that were read, by identity.
#[derive(Debug, Default)]
pub(super) struct Texts(FxHashMap<usize, (Arc<twincell_semantic::ModuleText>, Arc<Text>)>);

impl Texts {
    fn read(&mut self, text: Arc<twincell_semantic::ModuleText>, names: &mut Names) -> Arc<Text> {
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
/// How many calls are followed to see what a call leaves behind.
const MAX_CALLS: u32 = 6;
/// How many names one query follows.
const MAX_DEPTH: u32 = 40;

impl Graph {
    /// Reads a version. Modules that are not read are given with it.
    pub fn of(project: &Project, names: &mut Names, texts: &mut Texts) -> (Self, Vec<Arc<str>>) {
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
        let depth = Cell::new(0);
        let mut folders: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for module in &graph.modules {
            let place = module.path.strip_suffix("/__init__.py").or_else(|| module.path.strip_suffix(".py"));
            let Some((folder, name)) = place.and_then(|place| place.rsplit_once('/')) else { continue };
            folders.entry(name.to_owned()).or_default().push(format!("{folder}/"));
        }
        let mut builder = Builder { graph, project, names, depth, folders };
        builder.link();
        (builder.graph, unread)
    }

    pub fn unit(&self, node: Node) -> Option<(usize, &Unit)> {
        let (module, position) = *self.units.get(node as usize)?;
        Some((module as usize, self.modules[module as usize].text.units.get(position as usize)?))
    }

    /// The module that a node is as a value.
    pub fn value(&self, node: Node) -> Option<usize> {
        let units = self.units.len() as Node;
        (node >= units && node < self.first_slot).then(|| (node - units) as usize)
    }

    pub fn slot(&self, module: usize, name: NameId) -> Option<Node> {
        self.slot_of.get(&(module, name)).copied()
    }

    /// Where a node stands.
    pub fn symbol(&self, node: Node, names: &Names) -> Symbol {
        if let Some((module, unit)) = self.unit(node) {
            return Symbol {
                path: self.modules[module].path.clone(),
                qualname: unit.qualname.clone(),
                line: unit.line,
            };
        }
        if let Some(module) = self.value(node) {
            return Symbol { path: self.modules[module].path.clone(), qualname: "".into(), line: 1 };
        }
        let (module, name) = self.slots[(node - self.first_slot) as usize];
        Symbol { path: self.modules[module].path.clone(), qualname: names.text(name).clone(), line: 0 }
    }

    pub fn slot_at(&self, node: Node) -> Option<(usize, NameId)> {
        self.slots.get(node.checked_sub(self.first_slot)? as usize).copied()
    }

    /// A class and those that it inherits from.
    pub fn ancestors(&self, class: Node) -> Vec<Node> {
        let mut found = vec![class];
        let mut next = 0;
        while let Some(class) = found.get(next).copied() {
            next += 1;
            for base in self.classes.get(&class).into_iter().flat_map(|facts| &facts.bases) {
                if !found.contains(base) {
                    found.push(*base);
                }
            }
        }
        found
    }

    /// Whether a module imports another one itself.
    pub fn loads(&self, module: usize, other: usize) -> bool {
        self.modules[module].loads.binary_search(&other).is_ok()
    }

    /// The names that `import *` brings into a module and that have a node.
    pub fn star_names(&self, module: usize) -> Vec<NameId> {
        if self.modules[module].text.stars.is_empty() {
            return Vec::new();
        }
        let own = &self.modules[module].text;
        let is_own = |name: NameId| own.units.iter().any(|unit| unit.class.is_none() && unit.name == name);
        let is_star = |(at, name): &(usize, NameId)| {
            *at == module && !is_own(*name) && !own.imports.iter().any(|import| import.name == *name)
        };
        self.slots.iter().copied().filter(is_star).map(|(_, name)| name).collect()
    }

    /// The modules that an import of a module runs, itself included.
    pub fn loaded(&self, module: usize) -> FxHashSet<usize> {
        let mut seen = FxHashSet::from_iter([module]);
        let mut open = vec![module];
        while let Some(next) = open.pop() {
            for load in &self.modules[next].loads {
                if seen.insert(*load) {
                    open.push(*load);
                }
            }
        }
        seen
    }
}

struct Builder<'a> {
    graph: Graph,
    project: &'a Project,
    names: &'a mut Names,
    depth: Cell<u32>,
    /// Where modules lie, by the last part of their names.
    folders: FxHashMap<String, Vec<String>>,
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
                let is_quiet = QUIET_BASES.contains(&&*last) || is_builtin_exception(&last);
                facts.is_called_from_outside |= (meaning.is_outside || meaning.classes.is_empty()) && !is_quiet;
                facts.bases.extend(meaning.classes);
            }
            facts.is_read_whole = has_keywords || !decorators.is_empty();
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

    /// The module of the project that an import names.
    fn found(&self, from: usize, path: &ImportPath) -> Option<usize> {
        let dotted = self.names.text(path.module).clone();
        self.find(from, path.level, &dotted)
    }

    fn find(&self, from: usize, level: u32, dotted: &str) -> Option<usize> {
        let at = &self.graph.modules[from];
        match module_of_import(self.project, at.id, level, dotted) {
            Some(id) => self.graph.by_id.get(&id).copied(),
            None if level == 0 => self.find_anywhere(&at.path, dotted),
            None => None,
        }
    }

    /// A module of another place where imports may look, by settings that texts do not tell: the nearest one.
    fn find_anywhere(&self, from: &str, dotted: &str) -> Option<usize> {
        let root = dotted.split('.').next().unwrap_or_default();
        let folders = self.folders.get(root).filter(|_| !is_of_stdlib(root))?;
        let inner = dotted.replace('.', "/");
        let shared = |folder: &str| folder.bytes().zip(from.bytes()).take_while(|(one, other)| one == other).count();
        let mut near: Vec<&String> = folders.iter().collect();
        near.sort_by_key(|folder| std::cmp::Reverse(shared(folder)));
        near.into_iter().find_map(|folder| {
            let file = self.graph.by_path.get(format!("{folder}{inner}.py").as_str());
            file.or_else(|| self.graph.by_path.get(format!("{folder}{inner}/__init__.py").as_str())).copied()
        })
    }

    /// Whether something of the project has this place, if only a folder.
    fn is_inside(&self, from: usize, path: &ImportPath) -> bool {
        let dotted = self.names.text(path.module);
        path.level > 0
            || module_of_import(self.project, self.graph.modules[from].id, 0, dotted).is_some()
            || self.find(from, 0, dotted).is_some()
    }

    fn sub(&self, module: usize, name: NameId) -> Option<usize> {
        let id = submodule(self.project, self.graph.modules[module].id, self.names.text(name))?;
        self.graph.by_id.get(&id).copied()
    }

    /// All modules whose statements an import runs: packages around the module as well.
    fn run_by(&self, from: usize, path: &ImportPath) -> Vec<usize> {
        let mut found = Vec::new();
        let dotted = self.names.text(path.module).clone();
        let parts: Vec<&str> = dotted.split('.').filter(|part| !part.is_empty()).collect();
        for count in usize::from(path.level == 0)..=parts.len() {
            found.extend(self.find(from, path.level, &parts[..count].join(".")));
        }
        if let Some(name) = path.name {
            let inner = match dotted.is_empty() {
                true => self.names.text(name).to_string(),
                false => format!("{dotted}.{}", self.names.text(name)),
            };
            found.extend(self.find(from, path.level, &inner));
        }
        let around: Vec<usize> = found.iter().flat_map(|module| self.packages(*module)).collect();
        found.extend(around);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The packages around a module.
    fn packages(&self, module: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let path = &self.graph.modules[module].path;
        let mut folder = path.rsplit_once('/').map(|(folder, _)| folder);
        while let Some(current) = folder {
            match self.graph.by_path.get(format!("{current}/__init__.py").as_str()) {
                Some(package) => found.push(*package),
                None => break,
            }
            folder = current.rsplit_once('/').map(|(folder, _)| folder);
        }
        found
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

    /// What a name of a module may be.
    fn meaning(&self, module: usize, name: NameId) -> Meaning {
        let mut meaning = Meaning::default();
        if self.depth.get() > MAX_DEPTH {
            meaning.is_other = true;
            return meaning;
        }
        self.depth.set(self.depth.get() + 1);
        let at = &self.graph.modules[module];
        for (_, node) in self.graph.globals.get(&name).into_iter().flatten().filter(|(other, _)| *other == module) {
            match self.graph.classes.contains_key(node) {
                true => meaning.classes.push(*node),
                false => meaning.is_other = true,
            }
        }
        meaning.is_other |= at.text.bound.contains(&name);
        for import in at.text.imports.iter().filter(|import| import.name == name) {
            let other = self.meaning_of_import(module, &import.path);
            meaning.join(other);
        }
        meaning.modules.extend(self.sub(module, name));
        let is_known = !meaning.is_empty();
        for star in &at.text.stars {
            match self.found(module, star) {
                Some(other) if other != module => meaning.join(self.meaning(other, name)),
                Some(_) => {}
                None if !is_known => meaning.is_outside = true,
                None => {}
            }
        }
        self.depth.set(self.depth.get() - 1);
        meaning
    }

    fn meaning_of_import(&self, module: usize, path: &ImportPath) -> Meaning {
        let mut meaning = Meaning::default();
        match path.name {
            Some(name) => match self.found(module, path) {
                Some(other) if other == module => match self.sub(other, name) {
                    Some(sub) => meaning.modules.push(sub),
                    None => meaning.is_other = true,
                },
                Some(other) => {
                    let found = self.meaning(other, name);
                    meaning.is_other |= found.is_empty();
                    meaning.join(found);
                }
                None => match self.run_by(module, path).last() {
                    // A name in a namespace package.
                    Some(_) => {
                        let dotted = self.names.text(path.module);
                        let inner = match dotted.is_empty() {
                            true => self.names.text(name).to_string(),
                            false => format!("{dotted}.{}", self.names.text(name)),
                        };
                        meaning.modules.extend(self.find(module, path.level, &inner));
                        meaning.is_other |= meaning.modules.is_empty();
                    }
                    None => meaning.is_outside = true,
                },
            },
            None => {
                let dotted = self.names.text(path.module);
                let first = if path.is_whole { dotted } else { dotted.split('.').next().unwrap_or_default() };
                match self.find(module, 0, first) {
                    Some(found) => meaning.modules.push(found),
                    // A namespace package.
                    None if self.is_inside(module, path) => meaning.is_other = true,
                    None => meaning.is_outside = true,
                }
            }
        }
        meaning
    }

    fn meaning_of_root(&self, module: usize, name: NameId) -> Meaning {
        let mut meaning = self.meaning(module, name);
        if meaning.is_empty() && is_builtin(self.names.text(name)) {
            meaning.is_outside = true;
        }
        meaning
    }

    fn meaning_of_chain(&self, module: usize, chain: &[NameId]) -> Meaning {
        let Some((root, rest)) = chain.split_first() else { return Meaning::default() };
        let mut meaning = self.meaning_of_root(module, *root);
        for name in rest {
            let mut next = Meaning { is_outside: meaning.is_outside, is_other: meaning.is_other, ..Meaning::default() };
            for module in &meaning.modules {
                next.join(self.meaning(*module, *name));
            }
            for class in &meaning.classes {
                for class in self.graph.ancestors(*class) {
                    let members = self.graph.classes.get(&class).into_iter().flat_map(|facts| &facts.members);
                    for (_, member) in members.filter(|(member, _)| member == name) {
                        match self.graph.classes.contains_key(member) {
                            true => next.classes.push(*member),
                            false => next.is_other = true,
                        }
                    }
                }
            }
            meaning = next;
        }
        meaning
    }

    /// Whether a call, and with `depth` a call of what it gives, only makes a value: it leaves nothing behind that others
    /// see. Calls of what is outside do, unless their name says that they register something.
    fn is_quiet_call(&self, module: usize, chain: &Option<Vec<NameId>>, depth: usize, most: u32) -> bool {
        let Some(chain) = chain else { return false };
        if most == 0 {
            return false;
        }
        let last = chain.last().map(|name| self.names.text(*name).as_ref()).unwrap_or_default();
        if last.contains("register") {
            return false;
        }
        let root = self.meaning_of_root(module, chain[0]);
        if root.is_outside && !root.is_other && root.modules.is_empty() && root.classes.is_empty() {
            return true;
        }
        let Some(found) = self.defined(module, chain) else { return false };
        !found.is_empty() && found.into_iter().all(|node| self.is_quiet(node, depth, most - 1))
    }

    /// Whether a call of a function or class leaves nothing behind.
    fn is_quiet(&self, node: Node, depth: usize, most: u32) -> bool {
        let Some((module, unit)) = self.graph.unit(node) else { return false };
        match unit.kind {
            UnitKind::Function | UnitKind::Method => {
                unit.decorators.is_empty()
                    && (0..=depth.min(1)).all(|depth| {
                        let calls = unit.calls.by_depth.get(depth);
                        calls.into_iter().flatten().all(|chain| self.is_quiet_call(module, chain, 0, most))
                    })
            }
            UnitKind::Class => {
                let Some(facts) = self.graph.classes.get(&node) else { return false };
                if facts.is_read_whole || facts.is_called_from_outside || facts.runs_code || depth > 0 {
                    return false;
                }
                let members = self.graph.ancestors(node).into_iter();
                let members = members.flat_map(|class| &self.graph.classes[&class].members);
                members.into_iter().all(|(name, member)| match &**self.names.text(*name) {
                    "__init__" | "__new__" => self.is_quiet(*member, 0, most),
                    "__setattr__" | "__init_subclass__" | "__set_name__" => false,
                    _ => true,
                })
            }
            // What was made outside of things that leave nothing behind is outside as well.
            UnitKind::Variable => {
                let own = |name: &NameId| *name == unit.name;
                let names = unit.uses.names.iter().filter(|name| !own(name)).map(|name| vec![*name]);
                let called = unit.uses.callees.iter().flatten().filter(|chain| chain.len() == 1);
                let called: FxHashSet<NameId> = called.map(|chain| chain[0]).collect();
                let made = unit.uses.callees.iter().all(|chain| self.is_quiet_call(module, chain, 0, most));
                let mut given =
                    names.filter(|chain| !called.contains(&chain[0])).chain(unit.uses.chains.iter().cloned());
                made && !unit.uses.callees.is_empty()
                    && given.all(|chain| self.is_quiet_call(module, &Some(chain), 0, most))
            }
            _ => false,
        }
    }

    /// The functions and classes that a name with attributes surely stands for.
    fn defined(&self, module: usize, chain: &[NameId]) -> Option<Vec<Node>> {
        let (last, before) = chain.split_last()?;
        let modules = match before {
            [] => vec![module],
            before => {
                let meaning = self.meaning_of_chain(module, before);
                if meaning.is_other || meaning.is_outside || !meaning.classes.is_empty() {
                    return None;
                }
                meaning.modules
            }
        };
        let mut found = Vec::new();
        for module in modules {
            found.extend(self.defined_in(module, *last, 0)?);
        }
        Some(found)
    }

    fn defined_in(&self, module: usize, name: NameId, depth: u32) -> Option<Vec<Node>> {
        let at = &self.graph.modules[module];
        if depth > MAX_DEPTH || at.text.bound.contains(&name) {
            return None;
        }
        let own = self.graph.globals.get(&name).into_iter().flatten().filter(|(other, _)| *other == module);
        let mut found: Vec<Node> = own.map(|(_, node)| *node).collect();
        for import in at.text.imports.iter().filter(|import| import.name == name) {
            let (Some(name), Some(other)) = (import.path.name, self.found(module, &import.path)) else { return None };
            found.extend(self.defined_in(other, name, depth + 1)?);
        }
        Some(found)
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

    /// Whether a decorator may note what it is given.
    fn registers(&self, module: usize, unit: &Unit) -> bool {
        let mut decorators = unit.decorators.iter();
        decorators.any(|one| !self.is_quiet_call(module, &one.callee, usize::from(one.is_called), MAX_CALLS))
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
            } else if facts.is_called_from_outside && kind == Some(UnitKind::Attribute) {
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

impl Meaning {
    fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.classes.is_empty() && !self.is_outside && !self.is_other
    }

    fn join(&mut self, other: Meaning) {
        self.modules.extend(other.modules);
        self.classes.extend(other.classes);
        self.modules.sort_unstable();
        self.modules.dedup();
        self.classes.sort_unstable();
        self.classes.dedup();
        self.is_outside |= other.is_outside;
        self.is_other |= other.is_other;
    }
}
