//! Which tests a change needs: every test of the new version, with the shortest chain from a change to it, or none.
//!
//! [`select`] makes a graph of uses of each version (`graph`, `link`) from what each unit of a text names (`text`, `uses`), finds
//! what differs (`changes`, `files`), and walks from each test to the nearest change (`walk`). The graph is
//! conservative, as that of NameRTS (names where nothing else is known) and of Ekstazi (files that are read): a test that is untouched
//! uses nothing that differs, in neither version. It runs nothing and makes no sentence.

mod calls;
mod changes;
mod collected;
mod files;
mod graph;
mod link;
mod meaning;
mod names;
mod quiet;
mod result;
mod text;
mod uses;
mod walk;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{Project, same_text};
use twincell_syntax::Side;

use changes::{Changes, changes};
use collected::{CollectedTest, Surroundings, around_class, collected, surroundings};
pub use files::is_extension;
use graph::Graph;
use link::{Texts, link};
use names::Names;
pub use result::{
    Chain, CodeChange, CodeChangeKind, Doubt, DoubtKind, FileChange, FileContent, SELECTION_VERSION, SelectedTest,
    Selection, SelectionOptions, Step, StepKind, Symbol, TestName, TestState,
};
use uses::Unnamed;
use walk::{Found, Walker};

use crate::prover::Prover;

/// Says of each test of the new version whether it may see what differs. A prover says which changed functions do the same.
pub fn select(old: &Project, new: &Project, options: &SelectionOptions, prover: &dyn Prover) -> Selection {
    let mut names = Names::default();
    let mut texts = Texts::default();
    let (old_graph, unread_before) = link(old, &mut names, &mut texts);
    let (new_graph, unread) = link(new, &mut names, &mut texts);
    let mut of_old = changes((old, &old_graph), (new, &new_graph), false);
    let mut of_new = changes((new, &new_graph), (old, &old_graph), true);
    changes::prove((&old_graph, &mut of_old), (&new_graph, &mut of_new), prover);
    let mut doubts: Vec<Doubt> = Vec::new();
    for path in unread.into_iter().chain(unread_before) {
        let kind = if is_same_module(old, new, &path) { DoubtKind::Unread } else { DoubtKind::UnreadChange };
        doubts.push(Doubt { path, line: 0, kind });
    }
    let versions = &mut [(&old_graph, &mut of_old), (&new_graph, &mut of_new)];
    doubts.extend(files::files(&options.files, &names, versions));
    doubts.extend(of_code(&new_graph));
    doubts.sort();
    doubts.dedup();

    let before = collected(&old_graph, &names, options);
    let after = collected(&new_graph, &names, options);
    let mut found: FxHashMap<&TestName, (Side, Found)> = FxHashMap::default();
    let walk = |graph: &Graph, changes: &Changes, tests: &'_ [CollectedTest]| -> Vec<(usize, Found)> {
        let mut walker = Walker::new(graph, changes, &names);
        let mut around_module: FxHashMap<usize, Surroundings> = FxHashMap::default();
        let mut all = Vec::new();
        for (position, test) in tests.iter().enumerate().filter(|_| !changes.is_empty()) {
            let near =
                around_module.entry(test.module).or_insert_with(|| surroundings(graph, &names, options, test.module));
            let around = test.class.map(|class| around_class(graph, &names, class)).unwrap_or_default();
            all.extend(walker.nearest(test, near, &around).map(|found| (position, found)));
        }
        all
    };
    let of_tests = [
        (Side::New, &after, walk(&new_graph, &of_new, &after)),
        (Side::Old, &before, walk(&old_graph, &of_old, &before)),
    ];
    for (side, tests, chains) in of_tests {
        for (position, chain) in chains {
            let name = &tests[position].name;
            match found.get(name) {
                Some((_, known)) if (known.is_proved, known.steps.len()) <= (chain.is_proved, chain.steps.len()) => {}
                _ => drop(found.insert(name, (side, chain))),
            }
        }
    }
    let old_names: FxHashSet<&TestName> = before.iter().map(|test| &test.name).collect();
    let mut seen: FxHashSet<&TestName> = FxHashSet::default();
    let mut tests = Vec::new();
    for test in after.iter().filter(|test| seen.insert(&test.name)) {
        let state = found.get(&test.name).map_or(TestState::Untouched, |(side, chain)| {
            let (graph, changes) = match side {
                Side::Old => (&old_graph, &of_old),
                Side::New => (&new_graph, &of_new),
            };
            let why = chain_of(*side, chain, graph, changes, &names);
            if chain.is_proved { TestState::CannotSee { why } } else { TestState::MustRun { why } }
        });
        tests.push(SelectedTest { test: test.name.clone(), is_added: !old_names.contains(&test.name), state });
    }
    let mut removed: Vec<TestName> =
        before.iter().filter(|test| !seen.contains(&test.name)).map(|test| test.name.clone()).collect();
    removed.dedup();
    let run_all = doubts.iter().any(|doubt| doubt.kind.concerns_all());
    Selection { version: SELECTION_VERSION, tests, removed, doubts, run_all }
}

/// Whether a module that is too long to be followed defines the same in both versions.
fn is_same_module(old: &Project, new: &Project, path: &str) -> bool {
    let (Some(one), Some(other)) = (old.module_at(path), new.module_at(path)) else { return false };
    let symbols = || old.symbols_of(one).zip(new.symbols_of(other));
    let is_same = |(one, other)| old.name(one) == new.name(other) && same_text(old, one, new, other);
    old.symbols_of(one).count() == new.symbols_of(other).count() && symbols().all(is_same)
}

/// A chain without names of modules that only lead on.
fn chain_of(side: Side, found: &Found, graph: &Graph, changes: &Changes, names: &Names) -> Chain {
    let mut steps = Vec::new();
    let mut pending: Option<StepKind> = None;
    for (kind, node) in &found.steps {
        let kind = match (pending.take(), kind) {
            // The name of a variable, through another name.
            (Some(StepKind::Constant), StepKind::Name) => StepKind::Constant,
            (Some(StepKind::Import), StepKind::Name) => StepKind::Import,
            (_, kind) => *kind,
        };
        match graph.slot_at(*node) {
            Some(_) => pending = Some(kind),
            None => steps.push(Step { kind, user: graph.symbol(*node, names) }),
        }
    }
    let file = match found.kind {
        CodeChangeKind::DataFile => changes.files.get(&found.node).map(Arc::clone),
        _ => None,
    };
    Chain { side, change: CodeChange { kind: found.kind, place: graph.symbol(found.node, names), file }, steps }
}

/// What the texts of a version make unsure.
fn of_code(graph: &Graph) -> Vec<Doubt> {
    let mut found = Vec::new();
    for module in &graph.modules {
        let doubt = |line, kind| Doubt { path: module.path.clone(), line, kind };
        if module.text.is_broken {
            found.push(doubt(0, DoubtKind::Unread));
        }
        for (unnamed, line) in module.text.units.iter().flat_map(|unit| &unit.uses.unnamed) {
            let kind = match unnamed {
                Unnamed::Module(_) => DoubtKind::DynamicImport,
                Unnamed::Attribute(_) => DoubtKind::DynamicAttribute,
                Unnamed::Code => DoubtKind::Exec,
                // All fixtures are followed.
                Unnamed::Fixture => continue,
            };
            found.push(doubt(*line, kind));
        }
    }
    found
}

#[cfg(test)]
mod tests;
