//! Which functions of a version are tests, and what runs around each of them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Node};
use super::names::{NameId, Names};
use super::result::{SelectionOptions, StepKind, TestName};
use super::text::UnitKind;

/// A test as pytest collects it.
#[derive(Debug)]
pub(super) struct CollectedTest {
    pub name: TestName,
    pub line: u32,
    pub module: usize,
    pub node: Node,
    /// The class that is collected.
    pub class: Option<Node>,
}

/// What runs around each test of a module: nodes to begin from, and fixtures by name.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub roots: Vec<(StepKind, Node)>,
    pub fixtures: FxHashMap<NameId, Vec<Node>>,
}

/// Methods and functions that run around tests, and names that pytest reads.
const SETUPS: [&str; 26] = [
    "setUp",
    "tearDown",
    "setUpClass",
    "tearDownClass",
    "setUpModule",
    "tearDownModule",
    "asyncSetUp",
    "asyncTearDown",
    "setup",
    "teardown",
    "setup_method",
    "teardown_method",
    "setup_class",
    "teardown_class",
    "setup_function",
    "teardown_function",
    "setup_module",
    "teardown_module",
    "run",
    "load_tests",
    "pytestmark",
    "pytest_plugins",
    "pytest_generate_tests",
    "collect_ignore",
    "collect_ignore_glob",
    "__test__",
];

/// Whether a name matches a pattern with `*`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    match parts.as_slice() {
        [one] => *one == name,
        [first, middle @ .., last] => {
            let Some(mut rest) = name.strip_prefix(first) else { return false };
            for part in middle {
                let Some(at) = rest.find(part) else { return false };
                rest = &rest[at + part.len()..];
            }
            rest.ends_with(last)
        }
        [] => false,
    }
}

/// Whether a file holds tests.
pub(super) fn is_test_file(path: &str, options: &SelectionOptions) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    options.test_files.iter().any(|pattern| matches(pattern, if pattern.contains('/') { path } else { name }))
}

/// The tests of a version, by path and line.
pub(super) fn collected(graph: &Graph, names: &Names, options: &SelectionOptions) -> Vec<CollectedTest> {
    let mut found = Vec::new();
    let is_test = |name: NameId| options.test_functions.iter().any(|prefix| names.text(name).starts_with(&**prefix));
    for (module, at) in graph.modules.iter().enumerate() {
        if !is_test_file(&at.path, options) {
            continue;
        }
        // What the module defines, and what it imports, under the name that it has here.
        let mut here: Vec<(NameId, Node)> = Vec::new();
        for (position, unit) in at.text.units.iter().enumerate().filter(|(_, unit)| unit.class.is_none()) {
            here.push((unit.name, at.first + position as Node));
        }
        let own = here.len();
        for import in &at.text.imports {
            here.extend(
                graph
                    .slot(module, import.name)
                    .into_iter()
                    .flat_map(|slot| defined(graph, slot))
                    .map(|node| (import.name, node)),
            );
        }
        for star in graph.star_names(module) {
            here.extend(
                graph.slot(module, star).into_iter().flat_map(|slot| defined(graph, slot)).map(|node| (star, node)),
            );
        }
        for (position, (name, node)) in here.into_iter().enumerate() {
            let Some((_, unit)) = graph.unit(node) else { continue };
            let line = if position < own { unit.line } else { 0 };
            let test = |qualname: String, node: Node, class: Option<Node>, line: u32| CollectedTest {
                name: TestName { path: at.path.clone(), qualname: qualname.into() },
                line,
                module,
                node,
                class,
            };
            match unit.kind {
                UnitKind::Function if is_test(name) && unit.fixture.is_none() => {
                    found.push(test(names.text(name).to_string(), node, None, line));
                }
                UnitKind::Class => class(graph, names, options, (name, node), &mut |qualname, member| {
                    let line = graph.unit(member).map_or(0, |(_, unit)| unit.line);
                    found.push(test(qualname, member, Some(node), line));
                }),
                _ => {}
            }
        }
    }
    found.sort_by(|one, other| (&one.name.path, one.line, &one.name).cmp(&(&other.name.path, other.line, &other.name)));
    let mut seen = FxHashSet::default();
    // Of several definitions of one name, all are followed.
    found.retain(|test| seen.insert((test.name.clone(), test.node)));
    found
}

/// The tests of a class and of classes in it.
fn class(
    graph: &Graph,
    names: &Names,
    options: &SelectionOptions,
    (name, node): (NameId, Node),
    give: &mut dyn FnMut(String, Node),
) {
    let Some(facts) = graph.classes.get(&node) else { return };
    let own = names.text(name);
    let is_named = options.test_classes.iter().any(|prefix| own.starts_with(&**prefix));
    if !is_named && !facts.is_test_case {
        return;
    }
    let mut seen: FxHashSet<NameId> = FxHashSet::default();
    for ancestor in graph.ancestors(node) {
        let mut here = Vec::new();
        for (member, unit) in graph.classes.get(&ancestor).into_iter().flat_map(|facts| &facts.members) {
            let Some((_, found)) = graph.unit(*unit) else { continue };
            match found.kind {
                UnitKind::Method | UnitKind::Attribute
                    if options.test_functions.iter().any(|prefix| names.text(*member).starts_with(&**prefix))
                        && !seen.contains(member) =>
                {
                    here.push(*member);
                    give(format!("{own}.{}", names.text(*member)), *unit);
                }
                UnitKind::Class if ancestor == node => {
                    class(graph, names, options, (*member, *unit), &mut |qualname, test| {
                        give(format!("{own}.{qualname}"), test);
                    });
                }
                _ => {}
            }
        }
        seen.extend(here);
    }
}

/// The functions and classes that a name leads to.
fn defined(graph: &Graph, slot: Node) -> Vec<Node> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::from_iter([slot]);
    let mut open = vec![slot];
    while let Some(next) = open.pop() {
        for (kind, to) in &graph.edges[next as usize] {
            if !matches!(kind, StepKind::Name | StepKind::Constant) || !seen.insert(*to) {
                continue;
            }
            match graph.unit(*to) {
                Some(_) => found.push(*to),
                None => open.push(*to),
            }
        }
    }
    found
}

/// What runs around the tests of a module.
pub(super) fn surroundings(graph: &Graph, names: &Names, options: &SelectionOptions, module: usize) -> Surroundings {
    let path: &Arc<str> = &graph.modules[module].path;
    let mut found = Surroundings::default();
    let mut folder: &str = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut above = Vec::new();
    loop {
        let conftest = if folder.is_empty() { "conftest.py".to_owned() } else { format!("{folder}/conftest.py") };
        above.extend(graph.by_path.get(conftest.as_str()).copied());
        if folder.is_empty() {
            break;
        }
        folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
    }
    for (at, kind) in above.iter().map(|at| (*at, StepKind::Conftest)).chain([(module, StepKind::Setup)]) {
        let module = &graph.modules[at];
        found.roots.push((if kind == StepKind::Setup { StepKind::Import } else { kind }, module.first));
        for (position, unit) in module.text.units.iter().enumerate() {
            let node = module.first + position as Node;
            let name = names.text(unit.name);
            let is_free = unit.class.is_none();
            let is_hook =
                is_free && (SETUPS.contains(&&**name) || kind == StepKind::Conftest && name.starts_with("pytest_"));
            if is_hook {
                found.roots.push((kind, node));
            }
            if is_free && unit.fixture.is_some_and(|fixture| fixture.is_autouse) {
                found.roots.push((StepKind::Fixture, node));
            }
        }
    }
    for (at, other) in graph.modules.iter().enumerate() {
        let is_near = at == module || above.contains(&at);
        let name = other.path.rsplit('/').next().unwrap_or_default();
        // Fixtures of plugins and of modules that are imported are anywhere but in other tests.
        if !is_near && (is_test_file(&other.path, options) || name == "conftest.py") && !graph.loads(module, at) {
            continue;
        }
        for (position, unit) in other.text.units.iter().enumerate() {
            let Some(fixture) = unit.fixture else { continue };
            let node = other.first + position as Node;
            found.fixtures.entry(fixture.name).or_default().push(node);
            if fixture.is_autouse && !is_near && unit.class.is_none() && graph.loads(module, at) {
                found.roots.push((StepKind::Fixture, node));
            }
        }
    }
    found
}

/// What runs around the tests of a class.
pub(super) fn around_class(graph: &Graph, names: &Names, class: Node) -> Vec<(StepKind, Node)> {
    let mut found = vec![(StepKind::Member, class)];
    for ancestor in graph.ancestors(class) {
        found.push((StepKind::Member, ancestor));
        for (name, member) in graph.classes.get(&ancestor).into_iter().flat_map(|facts| &facts.members) {
            let Some((_, unit)) = graph.unit(*member) else { continue };
            if SETUPS.contains(&&**names.text(*name)) || unit.fixture.is_some_and(|fixture| fixture.is_autouse) {
                found.push((StepKind::Setup, *member));
            }
        }
    }
    found
}
