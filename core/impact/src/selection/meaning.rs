//! What names of a module may be: modules, classes, something else of the project, or something outside.

use std::cell::Cell;

use rustc_hash::FxHashMap;
use twincell_semantic::{Project, module_of_import, submodule};
use twincell_syntax::python::{is_builtin, is_of_stdlib};

use super::graph::{Graph, Node};
use super::names::{NameId, Names};
use super::uses::ImportPath;

/// How many names one query follows.
const MAX_DEPTH: u32 = 40;

/// What a name of a module may be.
#[derive(Debug, Default, Clone)]
pub(super) struct Meaning {
    pub modules: Vec<usize>,
    pub classes: Vec<Node>,
    pub is_outside: bool,
    /// Something else of the project, or nobody knows.
    pub is_other: bool,
}

/// A graph while it is made, with what names are looked up in.
pub(super) struct Builder<'a> {
    pub graph: Graph,
    pub project: &'a Project,
    pub names: &'a mut Names,
    depth: Cell<u32>,
    /// Where modules lie, by the last part of their names.
    folders: FxHashMap<String, Vec<String>>,
}

impl<'a> Builder<'a> {
    pub fn new(graph: Graph, project: &'a Project, names: &'a mut Names) -> Self {
        let mut folders: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for module in &graph.modules {
            let place = module.path.strip_suffix("/__init__.py").or_else(|| module.path.strip_suffix(".py"));
            let Some((folder, name)) = place.and_then(|place| place.rsplit_once('/')) else { continue };
            folders.entry(name.to_owned()).or_default().push(format!("{folder}/"));
        }
        Self { graph, project, names, depth: Cell::new(0), folders }
    }

    /// The module of the project that an import names.
    pub(super) fn found(&self, from: usize, path: &ImportPath) -> Option<usize> {
        let dotted = self.names.text(path.module).clone();
        self.find(from, path.level, &dotted)
    }

    pub(super) fn find(&self, from: usize, level: u32, dotted: &str) -> Option<usize> {
        let at = &self.graph.modules[from];
        match module_of_import(self.project, at.id, level, dotted) {
            Some(id) => self.graph.by_id.get(&id).copied(),
            None if level == 0 => self.find_anywhere(&at.path, dotted),
            None => None,
        }
    }

    /// A module of another place where imports may look, by settings that texts do not tell: the nearest one.
    pub(super) fn find_anywhere(&self, from: &str, dotted: &str) -> Option<usize> {
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
    pub(super) fn is_inside(&self, from: usize, path: &ImportPath) -> bool {
        let dotted = self.names.text(path.module);
        path.level > 0
            || module_of_import(self.project, self.graph.modules[from].id, 0, dotted).is_some()
            || self.find(from, 0, dotted).is_some()
    }

    pub(super) fn sub(&self, module: usize, name: NameId) -> Option<usize> {
        let id = submodule(self.project, self.graph.modules[module].id, self.names.text(name))?;
        self.graph.by_id.get(&id).copied()
    }

    /// All modules whose statements an import runs: packages around the module as well.
    pub(super) fn run_by(&self, from: usize, path: &ImportPath) -> Vec<usize> {
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
    pub(super) fn packages(&self, module: usize) -> Vec<usize> {
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

    /// What a name of a module may be.
    pub(super) fn meaning(&self, module: usize, name: NameId) -> Meaning {
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

    pub(super) fn meaning_of_import(&self, module: usize, path: &ImportPath) -> Meaning {
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

    pub(super) fn meaning_of_root(&self, module: usize, name: NameId) -> Meaning {
        let mut meaning = self.meaning(module, name);
        if meaning.is_empty() && is_builtin(self.names.text(name)) {
            meaning.is_outside = true;
        }
        meaning
    }

    pub(super) fn meaning_of_chain(&self, module: usize, chain: &[NameId]) -> Meaning {
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

    /// The functions and classes that a name with attributes surely stands for.
    pub(super) fn defined(&self, module: usize, chain: &[NameId]) -> Option<Vec<Node>> {
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

    pub(super) fn defined_in(&self, module: usize, name: NameId, depth: u32) -> Option<Vec<Node>> {
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
}

impl Meaning {
    pub(super) fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.classes.is_empty() && !self.is_outside && !self.is_other
    }

    pub(super) fn join(&mut self, other: Meaning) {
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
