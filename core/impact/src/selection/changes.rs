//! What differs between two versions, as nodes of the graph of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{ImportFailure, Missing, Project, import_failures};

use super::graph::{Graph, Module, Node};
use super::names::NameId;
use super::result::CodeChangeKind;
use super::text::{BoundImport, Unit, UnitKind};
use crate::prover::{FunctionPlace, Prover};

/// The number of changed functions for which a proof is tried.
const MOST_PROOFS: usize = 100;

/// The changed nodes of one version.
#[derive(Debug, Default)]
pub(super) struct Changes {
    nodes: FxHashMap<Node, CodeChangeKind>,
    /// The changed files that units seem to open.
    pub files: FxHashMap<Node, Arc<str>>,
    /// Changed functions that are proved to do the same.
    proved: FxHashSet<Node>,
}

impl Changes {
    pub fn of(&self, node: Node) -> Option<CodeChangeKind> {
        self.nodes.get(&node).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn is_proved(&self, node: Node) -> bool {
        self.proved.contains(&node)
    }

    /// Notes a change. One of the text of code is kept before others.
    pub fn note(&mut self, node: Node, kind: CodeChangeKind) {
        let weight = |kind: CodeChangeKind| match kind {
            CodeChangeKind::Docstring => 1,
            CodeChangeKind::Annotation => 2,
            CodeChangeKind::Source => 0,
            _ => 3,
        };
        let entry = self.nodes.entry(node).or_insert(kind);
        if weight(kind) > weight(*entry) {
            *entry = kind;
        }
    }
}

/// Notes the changed functions of both versions that a prover shows to do the same.
pub(super) fn prove(old: (&Graph, &mut Changes), new: (&Graph, &mut Changes), prover: &dyn Prover) {
    let functions = |graph: &Graph, changes: &Changes| -> BTreeMap<(Arc<str>, Arc<str>), Vec<Node>> {
        let mut found: BTreeMap<_, Vec<Node>> = BTreeMap::new();
        for (node, _) in changes.nodes.iter().filter(|(_, kind)| **kind == CodeChangeKind::Changed) {
            if let Some((module, unit)) = graph.unit(*node)
                && matches!(unit.kind, UnitKind::Function | UnitKind::Method)
            {
                found.entry((graph.modules[module].path.clone(), unit.qualname.clone())).or_default().push(*node);
            }
        }
        found
    };
    let before = functions(old.0, old.1);
    let both = functions(new.0, new.1).into_iter().filter_map(|(place, now)| Some((before.get(&place)?, now, place)));
    for (before, now, (path, function)) in both.take(MOST_PROOFS) {
        let (&[one], &[other]) = (&before[..], &now[..]) else { continue };
        let place = FunctionPlace { path, function, ordinal: 0 };
        if prover.proves(&place, &place, prover.depth()).is_some() {
            old.1.proved.insert(one);
            new.1.proved.insert(other);
        }
    }
}

/// The changes of one version against another.
pub(super) fn changes(own: (&Project, &Graph), other: (&Project, &Graph), is_new: bool) -> Changes {
    let mut changes = Changes::default();
    let gone = if is_new { CodeChangeKind::Added } else { CodeChangeKind::Removed };
    let (graph, other_graph) = (own.1, other.1);
    let outside: FxHashSet<NameId> =
        other_graph.modules.iter().flat_map(|module| module.outside.iter().copied()).collect();
    for (at, module) in graph.modules.iter().enumerate() {
        let Some(beside) = other_graph.by_path.get(&module.path).map(|at| &other_graph.modules[*at]) else {
            let needs_new = module.outside.iter().any(|one| !outside.contains(one));
            whole(graph, at, (gone, needs_new), &mut changes);
            continue;
        };
        if !Arc::ptr_eq(&module.text, &beside.text) && module.text.hash != beside.text.hash {
            texts(module, beside, gone, &mut changes);
            slots(graph, at, module, beside, &mut changes);
        }
        if runs_other(graph, at, module, other_graph, beside) || module.outside.iter().any(|one| !outside.contains(one))
        {
            changes.note(module.first, CodeChangeKind::Import);
        }
    }
    let failures = |(project, graph): (&Project, &Graph)| -> Vec<ImportFailure> {
        let modules: Vec<_> = graph.modules.iter().map(|module| module.id).collect();
        import_failures(project, &modules, &|_| true)
    };
    let beside: BTreeSet<(Arc<str>, Missing)> =
        failures(other).into_iter().map(|one| (one.path, one.missing)).collect();
    for failure in failures(own) {
        if !beside.contains(&(failure.path.clone(), failure.missing.clone()))
            && let Some(at) = graph.by_path.get(&failure.path)
        {
            changes.note(graph.modules[*at].first, CodeChangeKind::Import);
        }
    }
    changes
}

/// A module that only one version has. Where importing it does nothing, what it has are its units, and itself as a value: those who
/// import it and run more by this are found as importers.
fn whole(graph: &Graph, at: usize, (gone, needs_new): (CodeChangeKind, bool), changes: &mut Changes) {
    let module = &graph.modules[at];
    changes.note(module.value, gone);
    for position in 1..module.text.units.len() as Node {
        changes.note(module.first + position, gone);
    }
    let is_conftest = module.path.rsplit('/').next() == Some("conftest.py");
    let runs_others = || graph.loaded(at).into_iter().any(|load| graph.modules[load].text.has_effects);
    if module.text.has_effects || needs_new || module.text.is_broken || is_conftest && runs_others() {
        changes.note(module.first, gone);
    }
}

/// The units of a module that are others than those of its other version.
fn texts(module: &Module, beside: &Module, gone: CodeChangeKind, changes: &mut Changes) {
    let mut before: FxHashMap<&str, Vec<&Unit>> = FxHashMap::default();
    beside.text.units.iter().for_each(|unit| before.entry(&unit.qualname).or_default().push(unit));
    let mut now: FxHashMap<&str, Vec<&Unit>> = FxHashMap::default();
    module.text.units.iter().for_each(|unit| now.entry(&unit.qualname).or_default().push(unit));
    for (position, unit) in module.text.units.iter().enumerate() {
        let node = module.first + position as Node;
        let (own, others) = (&now[&*unit.qualname], before.get(&*unit.qualname));
        let Some(others) = others else {
            changes.note(node, gone);
            continue;
        };
        let is_same = |of: &dyn Fn(&Unit) -> u64| {
            own.len() == others.len() && own.iter().zip(others).all(|(one, other)| of(one) == of(other))
        };
        let kind =
            if !is_same(&|unit| unit.meaning) || own.iter().zip(others).any(|(one, other)| one.kind != other.kind) {
                CodeChangeKind::Changed
            } else if !is_same(&|unit| unit.annotations) {
                CodeChangeKind::Annotation
            } else if !is_same(&|unit| unit.docs) {
                CodeChangeKind::Docstring
            } else {
                CodeChangeKind::Source
            };
        changes.note(node, kind);
    }
    if module.text.is_broken != beside.text.is_broken || module.text.stars != beside.text.stars {
        changes.note(module.first, CodeChangeKind::Changed);
    }
}

/// The names that imports bind to something else.
fn slots(graph: &Graph, at: usize, module: &Module, beside: &Module, changes: &mut Changes) {
    let by_name = |imports: &[BoundImport]| {
        let mut found: FxHashMap<NameId, Vec<BoundImport>> = FxHashMap::default();
        for import in imports {
            let of_name = found.entry(import.name).or_default();
            if !of_name.contains(import) {
                of_name.push(import.clone());
            }
        }
        found
    };
    let before = by_name(&beside.text.imports);
    for (name, imports) in by_name(&module.text.imports) {
        if before.get(&name) != Some(&imports)
            && let Some(slot) = graph.slot(at, name)
        {
            changes.note(slot, CodeChangeKind::Import);
        }
    }
}

/// Whether a module imports another one on import that did something, or that imports it in turn.
fn runs_other(graph: &Graph, at: usize, module: &Module, other: &Graph, beside: &Module) -> bool {
    let before: FxHashSet<&str> = beside.loads.iter().map(|load| &*other.modules[*load].path).collect();
    let added = module.loads.iter().filter(|load| !before.contains(&*graph.modules[**load].path));
    let mut known: Option<FxHashSet<Arc<str>>> = None;
    for load in added {
        let known = known.get_or_insert_with(|| {
            let at = other.by_path[&module.path];
            other.loaded(at).into_iter().map(|load| other.modules[load].path.clone()).collect()
        });
        let of_load = graph.loaded(*load);
        if of_load.contains(&at) {
            return true;
        }
        let is_effect =
            |load: &usize| graph.modules[*load].text.has_effects && !known.contains(&graph.modules[*load].path);
        if of_load.iter().any(is_effect) {
            return true;
        }
    }
    false
}
