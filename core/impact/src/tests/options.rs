//! Entries, bounds, and what a result lists besides statements.

use std::ops::ControlFlow;

use super::{analyze, project};
use crate::{
    Cut, Entries, Entry, Impact, ImpactOptions, Level, NoProver, Sources, State, UnsoundKind, impact, impact_levels,
};

const OLD: &str =
    "def one(a):\n    return a\n\ndef two(a):\n    x = one(a)\n    return x\n\ndef three(a):\n    return a\n";
const NEW: &str =
    "def one(a):\n    return a * 2\n\ndef two(a):\n    x = one(a)\n    return x\n\ndef three(a):\n    return a\n";

fn impacted(found: &Impact) -> Vec<u32> {
    let all = found.statements.iter().filter(|one| matches!(one.state, State::Impacted { .. }));
    all.map(|one| one.place.lines.0).collect()
}

#[test]
fn what_no_entry_reaches_is_not_impacted() {
    let entry = |function: &str| Entry { module: "main".into(), function: function.into() };
    let with = |function: &str| {
        impact(&project(OLD), &project(NEW), &Entries(vec![entry(function)]), &ImpactOptions::default())
    };
    assert_eq!(impacted(&with("two")), [5, 6]);
    let found = with("three");
    assert_eq!(impacted(&found), Vec::<u32>::new());
    assert_eq!(found.statements.iter().filter(|one| one.state == State::Changed).count(), 1);
    let reached: Vec<(&str, bool)> = found.functions.iter().map(|one| (&*one.function, one.is_reached)).collect();
    assert_eq!(reached, [("", true), ("one", false), ("three", true), ("two", false)]);
    assert_eq!(with("four").unknown_entries, [entry("four")]);
}

#[test]
fn functions_count_their_statements_and_removed_ones_are_listed() {
    let found = analyze(OLD, NEW);
    let two = found.functions.iter().find(|one| &*one.function == "two").unwrap();
    assert_eq!((two.changed, two.impacted, two.not_impacted), (0, 2, 0));
    let removed: Vec<(u32, u32)> = found.removed.iter().map(|one| one.lines).collect();
    assert_eq!(removed, [(2, 2)]);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Impact>(&text).unwrap(), found);
}

#[test]
fn a_result_says_what_was_cut() {
    let options = ImpactOptions { max_chain: 2, max_statements: 3, ..ImpactOptions::default() };
    let found = impact(&project(OLD), &project(NEW), &Entries::default(), &options);
    assert_eq!(found.statements.len(), 3);
    assert_eq!(found.cut, [Cut::Chains, Cut::Statements]);
}

#[test]
fn state_outside_of_the_project_carries_impact_unless_it_is_left_out() {
    let old = "import os\ndef f(path):\n    os.remove(path)\ndef g(path):\n    return os.stat(path)\n";
    let new = old.replace("remove(path)", "remove(path + '~')");
    let inside = ImpactOptions { outside: false, ..ImpactOptions::default() };
    let with = |options: ImpactOptions| impacted(&impact(&project(old), &project(&new), &Entries::default(), &options));
    assert_eq!(with(ImpactOptions::default()), [5]);
    assert_eq!(with(inside), Vec::<u32>::new());
}

#[test]
fn whole_functions_may_be_sources_and_later_levels_are_the_same() {
    let old = "def f(a):\n    b = a\n    return 1\ndef g(a):\n    return f(a)\n";
    let new = old.replace("b = a", "b = [a]");
    let with = |sources: Sources| {
        let options = ImpactOptions { sources, ..ImpactOptions::default() };
        let mut levels = Vec::new();
        let mut keep = |level: &Level| {
            levels.push(level.impacted.iter().map(|one| one.lines.0).collect::<Vec<_>>());
            ControlFlow::Continue(())
        };
        let (old, new) = (project(old), project(&new));
        impact_levels(&old, &new, &Entries::default(), &options, &NoProver, &|| false, &mut keep);
        levels
    };
    assert_eq!(with(Sources::Statements), [[0; 0], [0; 0]]);
    assert_eq!(with(Sources::Functions), [vec![3, 5], vec![]]);
}

#[test]
fn what_is_not_followed_is_listed_with_its_place() {
    let text = "class A: pass\ndef f(a, name):\n    eval(name)\n    setattr(a, name, 1)\n    setattr(a, 'x', 1)\n    \
                A.y = 2\n    return vars(a)\nclass B(metaclass=M): pass\nfrom z import *\n";
    let found: Vec<(u32, UnsoundKind)> = analyze(text, text).unsound.iter().map(|one| (one.line, one.kind)).collect();
    let expected = [
        (3, UnsoundKind::DynamicCode),
        (4, UnsoundKind::DynamicAttribute),
        (6, UnsoundKind::Monkeypatch),
        (7, UnsoundKind::Namespace),
        (8, UnsoundKind::Metaclass),
        (9, UnsoundKind::StarImport),
    ];
    assert_eq!(found, expected);
    let broken = analyze("", "def f(:\n    x = (\n");
    assert_eq!(broken.unsound.first().map(|one| one.kind), Some(UnsoundKind::Broken));
}
