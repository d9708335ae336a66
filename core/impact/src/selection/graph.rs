//! A version of a project as a graph of uses: which unit names which, over the names of modules.
//!
//! A node is a unit, a name of a module, or a module as a value. Imports lead from names to names, so a name that is imported
//! from elsewhere is another edge. An attribute of a value whose type is not known has no edge: `walk` leads it to the
//! members of classes that were reached. `link` makes it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::ModuleId;

use super::names::{NameId, Names};
use super::result::{StepKind, Symbol};
use super::text::{Text, Unit};

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
    pub by_id: FxHashMap<ModuleId, usize>,
    /// Module and position of each unit.
    pub units: Vec<(u32, u32)>,
    /// The module and name of each node for a name.
    pub slots: Vec<(usize, NameId)>,
    pub slot_of: FxHashMap<(usize, NameId), Node>,
    pub first_slot: Node,
    pub edges: Vec<Vec<(StepKind, Node)>>,
    /// Attributes of modules and classes that texts do not tell, beyond those of the unit itself.
    pub mentions: FxHashMap<Node, Vec<NameId>>,
    pub classes: FxHashMap<Node, ClassFacts>,
    /// The members of classes by name: class and member.
    pub members: FxHashMap<NameId, Vec<(Node, Node)>>,
    /// What modules define, by name: module and node.
    pub globals: FxHashMap<NameId, Vec<(usize, Node)>>,
}

impl Graph {
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
