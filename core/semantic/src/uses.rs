//! Which symbol uses which, where each is referred to, and what can be reached over uses.
//!
//! A use is told from names (`resolve`) and from values (`flow`). A method leads to those that override it, a class to its
//! special methods, and a field to the methods that assign it: Python goes from one to the other by itself.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::answers::{Basis, CallKind, Callee, Graph, ReferencePlace, Referent};
use crate::classes::nearest_overrides;
use crate::flow::flow;
use crate::ids::{ModuleId, NameId, ScopeId, SymbolId};
use crate::module::{SymbolKind, Target};
use crate::project::Project;
use crate::resolve::{Trail, from_import, module_or_external, name_in_scope, unique};

/// What a symbol uses directly, sorted.
pub fn uses(project: &Project, symbol: SymbolId) -> &[(Referent, Basis)] {
    graph(project).uses.get(&symbol).map_or(&[], |uses| uses)
}

/// The symbols that use something directly, sorted.
pub fn used_by<'p>(project: &'p Project, used: &Referent) -> &'p [(SymbolId, Basis)] {
    graph(project).used_by.get(used).map_or(&[], |users| users)
}

/// The places that refer to something, in order. Its definitions are not among them, and assignments are.
pub fn references<'p>(project: &'p Project, referred: &Referent) -> &'p [ReferencePlace] {
    graph(project).references.get(referred).map_or(&[], |places| places)
}

/// Which way to go along uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To what is used.
    Uses,
    /// To what uses it.
    Users,
}

/// How far to go.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub symbols: usize,
    pub distance: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { symbols: 1_000_000, distance: u32::MAX }
    }
}

/// What was reached.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Each symbol with its distance and the one that it was reached from, nearest first.
    pub symbols: Vec<(SymbolId, u32, Option<SymbolId>)>,
    /// There is more behind a bound.
    pub is_cut: bool,
}

impl Reach {
    /// Whether a symbol was reached.
    pub fn contains(&self, symbol: SymbolId) -> bool {
        self.symbols.iter().any(|(one, ..)| *one == symbol)
    }
}

/// The symbols that can be reached from some over any number of uses, themselves included.
pub fn reaches(project: &Project, from: &[SymbolId], direction: Direction, bounds: Bounds) -> Reach {
    let mut reach = Reach::default();
    let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
    let mut open: VecDeque<(SymbolId, u32, Option<SymbolId>)> = from.iter().map(|one| (*one, 0, None)).collect();
    while let Some((symbol, distance, before)) = open.pop_front() {
        if !seen.insert(symbol) {
            continue;
        }
        if reach.symbols.len() >= bounds.symbols {
            reach.is_cut = true;
            break;
        }
        reach.symbols.push((symbol, distance, before));
        let next: Vec<SymbolId> = match direction {
            Direction::Uses => uses(project, symbol)
                .iter()
                .filter_map(|(used, _)| match used {
                    Referent::Symbol(used) => Some(*used),
                    Referent::External(_) => None,
                })
                .collect(),
            Direction::Users => used_by(project, &Referent::Symbol(symbol)).iter().map(|(user, _)| *user).collect(),
        };
        let new = next.into_iter().filter(|one| !seen.contains(one));
        if distance >= bounds.distance {
            reach.is_cut |= new.count() > 0;
        } else {
            open.extend(new.map(|one| (one, distance + 1, Some(symbol))));
        }
    }
    reach
}

fn graph(project: &Project) -> &Graph {
    project.memos.graph.get_or_init(|| {
        let mut graph = Graph::default();
        let mut pairs: FxHashSet<(SymbolId, Referent, Basis)> = FxHashSet::default();
        for module in project.modules() {
            names_and_attributes(project, module, &mut graph, &mut pairs);
        }
        for call in &flow(project).calls {
            let used = match &call.callee {
                Callee::Code(code) => Referent::Symbol(code.symbol(project)),
                Callee::Class(class) => Referent::Symbol(*class),
                Callee::External(path) => Referent::External(path.clone()),
            };
            let basis = if call.kind == CallKind::Callback { Basis::Callback } else { Basis::Value };
            pairs.insert((call.caller.symbol(project), used, basis));
        }
        implicit(project, &mut pairs);
        for (user, used, basis) in pairs {
            if used != Referent::Symbol(user) {
                graph.uses.entry(user).or_default().push((used.clone(), basis));
                graph.used_by.entry(used).or_default().push((user, basis));
            }
        }
        graph.uses.values_mut().for_each(|uses| uses.sort());
        graph.used_by.values_mut().for_each(|users| users.sort());
        graph.references.values_mut().for_each(|places| places.sort());
        graph
    })
}

fn names_and_attributes(
    project: &Project,
    module: ModuleId,
    graph: &mut Graph,
    pairs: &mut FxHashSet<(SymbolId, Referent, Basis)>,
) {
    let Some(text) = project.module(module) else { return };
    let mut names: FxHashMap<(ScopeId, NameId), Vec<Referent>> = FxHashMap::default();
    for (position, reference) in text.references.iter().enumerate() {
        let (found, basis) = match reference.target {
            Target::Name(name) => {
                let found = names
                    .entry((reference.scope, name))
                    .or_insert_with(|| name_in_scope(project, module, reference.scope, name, &mut Trail::default()));
                (found.clone(), Basis::Name)
            }
            Target::Attribute(..) => {
                let found = flow(project).attributes.get(&(module, position as u32));
                (found.cloned().unwrap_or_default(), Basis::Value)
            }
            Target::Import(path) => (vec![module_or_external(project, module, path)], Basis::Name),
            Target::ImportFrom(path, name) => {
                (unique(from_import(project, module, path, name, &mut Trail::default())), Basis::Name)
            }
        };
        let owner = SymbolId::new(module, reference.owner);
        for referent in found {
            let range = (reference.range.start().to_u32(), reference.range.end().to_u32());
            let place = ReferencePlace { module, range, owner, is_store: reference.is_store };
            pairs.insert((owner, referent.clone(), basis));
            graph.references.entry(referent).or_default().push(place);
        }
    }
}

fn implicit(project: &Project, pairs: &mut FxHashSet<(SymbolId, Referent, Basis)>) {
    for module in project.modules() {
        let Some(text) = project.module(module) else { continue };
        for (one, other) in &text.bound_with {
            let other = Referent::Symbol(SymbolId::new(module, *other));
            pairs.insert((SymbolId::new(module, *one), other, Basis::Implicit));
        }
        for (local, symbol) in text.symbols.iter().enumerate() {
            let id = SymbolId::new(module, local as u32);
            if symbol.kind != SymbolKind::Method {
                continue;
            }
            if symbol.name().starts_with("__") && symbol.name().ends_with("__") {
                let class = SymbolId::new(module, symbol.parent);
                pairs.insert((class, Referent::Symbol(id), Basis::Implicit));
            }
            for other in nearest_overrides(project, id) {
                pairs.insert((id, Referent::Symbol(other), Basis::Override));
            }
        }
    }
}
