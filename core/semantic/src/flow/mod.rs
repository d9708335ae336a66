//! Which values reach which expressions, and so which functions are called: the query behind `calls` and the attributes of
//! objects.
//!
//! This is a points-to analysis by inclusion (Andersen 1994), for Python as PyCG has it (Salis et al., ICSE 2021): all
//! objects of a class are one, contexts are not told apart, and containers keep their elements by key as far as keys are
//! known. Versions of variables (`lower`) follow the order of statements. Every set, the number of nodes and the number
//! of moves are bounded; [`Flow::is_cut`] says whether a bound was met.

mod always;
mod attributes;
mod calls;
mod containers;
mod link;
mod objects;
mod solver;
mod values;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::answers::{Ancestor, CallEdge, Code, Flow, Referent};
use crate::ids::{ModuleId, ScopeId, SymbolId};
use crate::module::{ScopeKind, Target};
use crate::project::Project;
use crate::resolve::{Trail, ancestors, class_attribute, member, own_attribute, unique};
pub use always::{always_has, module_always_has};
use objects::Object;
use solver::Solver;
pub use values::{elements, is_function_given_away, is_given_away, is_site_given_away, values};

impl Code {
    /// The module that holds it.
    pub fn module(self) -> ModuleId {
        self.module
    }

    /// Its qualified name in the module: `C.f`, `f.<locals>.<lambda1>`, or nothing for the module itself.
    pub fn qualname(self, project: &Project) -> Arc<str> {
        project.scope(self.module, self.scope).map(|scope| scope.name.clone()).unwrap_or_default()
    }

    /// The symbol that its text belongs to.
    pub fn symbol(self, project: &Project) -> SymbolId {
        let owner = project.scope(self.module, self.scope).map_or(0, |scope| scope.owner);
        SymbolId::new(self.module, owner)
    }
}

/// All calls that may happen, each pair of pieces of code once for each kind.
pub fn calls(project: &Project) -> &[CallEdge] {
    &flow(project).calls
}

/// Whether the calls were cut because the project is too big.
pub fn calls_are_cut(project: &Project) -> bool {
    flow(project).is_cut
}

/// All pieces of code of a project.
pub fn codes(project: &Project) -> impl Iterator<Item = Code> + '_ {
    project.modules().flat_map(|module| {
        let scopes = project.module(module).map(|text| text.scopes.as_slice()).unwrap_or_default();
        scopes
            .iter()
            .enumerate()
            .filter(|(_, scope)| scope.kind != ScopeKind::Comprehension)
            .map(move |(position, _)| Code { module, scope: ScopeId(position as u32) })
    })
}

pub(crate) fn flow(project: &Project) -> &Flow {
    project.memos.flow.get_or_init(|| answers_of(&solved(project)))
}

fn solved(project: &Project) -> Solver<'_> {
    let mut solver = Solver::new(project);
    solver.link();
    solver.solve();
    solver
}

fn answers_of(solver: &Solver<'_>) -> Flow {
    let mut calls: Vec<CallEdge> = solver.calls.iter().cloned().collect();
    calls.sort();
    Flow { calls, attributes: attributes(solver), is_cut: solver.is_cut }
}

fn attributes(solver: &Solver<'_>) -> FxHashMap<(ModuleId, u32), Vec<Referent>> {
    let project = solver.project;
    let mut found = FxHashMap::default();
    let mut known: FxHashMap<(objects::ObjectId, &str), Vec<Referent>> = FxHashMap::default();
    for module in project.modules() {
        let Some(text) = project.module(module) else { continue };
        for (position, reference) in text.references.iter().enumerate() {
            let Target::Attribute(base, name) = reference.target else { continue };
            let name = text.name(name);
            let mut referents = Vec::new();
            for object in solver.set(solver.global(module, base)) {
                let known = known.entry((*object, name)).or_insert_with(|| attribute_of(solver, *object, name));
                referents.extend(known.iter().cloned());
            }
            if !referents.is_empty() {
                found.insert((module, position as u32), unique(referents));
            }
        }
    }
    found
}

/// What a name is in an object.
fn attribute_of(solver: &Solver<'_>, object: objects::ObjectId, name: &str) -> Vec<Referent> {
    let project = solver.project;
    match solver.objects.get(object) {
        Some(Object::Module(module)) => member(project, *module, name, true, &mut Trail::default()),
        Some(Object::Class(class) | Object::Instance(class)) => {
            class_attribute(project, *class, name, &mut Trail::default())
        }
        Some(Object::Super(class, receiver)) => {
            let Some(Object::Class(own) | Object::Instance(own)) = solver.objects.get(*receiver) else {
                return Vec::new();
            };
            let line = ancestors(project, *own);
            let behind = line.iter().position(|one| *one == Ancestor::Class(*class)).map_or(line.len(), |at| at + 1);
            let found = line.iter().skip(behind).find_map(|ancestor| match ancestor {
                Ancestor::Class(class) => Some(own_attribute(project, *class, name)).filter(|found| !found.is_empty()),
                Ancestor::External(path) => Some(vec![Referent::External(format!("{path}.{name}").into())]),
            });
            found.unwrap_or_default()
        }
        Some(Object::External(path)) => vec![Referent::External(format!("{path}.{name}").into())],
        _ => Vec::new(),
    }
}
