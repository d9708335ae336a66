//! Changes that compute the same values: what they impact ends where they do.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{analyze, check, project};
use crate::{
    Entries, Equivalence, FunctionPlace, Impact, ImpactOptions, Level, NoProver, Prover, Shown, State, StepPlace,
    VariableName, impact_levels,
};

#[test]
fn an_extracted_local_impacts_nothing() {
    check(
        "  def f(a, b):
-     return g(a + b)
+     total = a + b
+     return g(total)
  def g(x):
      y = x
      return y
  def h(a):
      z = f(a, 1)
      return z
",
    );
}

#[test]
fn a_renamed_local_impacts_nothing() {
    check(
        "  def f(a):
-     x = g(a)
-     return x
+     found = g(a)
+     return found
  def g(x):
      return x
  def h(a):
      z = f(a)
      return z
",
    );
}

#[test]
fn a_constant_gets_a_name() {
    check(
        "+ LIMIT = 10
  def f(a):
-     return g(a, 10)
+     return g(a, LIMIT)
  def g(x, n):
      y = n
      return y
",
    );
}

#[test]
fn another_constant_impacts() {
    check(
        "+ LIMIT = 11
  def f(a):
-     return g(a, 10)
+     return g(a, LIMIT)
  def g(x, n):
      z = x
~     y = n
~     return y
",
    );
}

#[test]
fn a_condition_that_is_turned_around_decides_the_same() {
    check(
        "  def f(a):
-     if not not a:
+     if (1 if a else 0):
          return g(a)
      return 2
  def g(x):
      return x
  def h(a):
      z = f(a)
      return z
",
    );
}

#[test]
fn an_argument_reaches_what_depends_on_it() {
    check(
        "  def f(a):
-     x = g(a, 1)
+     x = g(a, 2)
      y = x
      return y
  def g(x, n):
~     print(n)
      return x
",
    );
}

#[test]
fn an_argument_among_others_is_another_one() {
    check(
        "  def f(a):
-     x = g(a, 1)
+     x = g(a, 2)
~     return x
  def g(*all):
~     return all
",
    );
}

#[test]
fn what_stays_in_a_loop_depends_on_how_the_loop_ends() {
    check(
        "  def f(items):
      x = None
~     for x in items:
          pass
-         if x: break
~     return x
",
    );
}

#[test]
fn a_new_object_that_two_see_is_no_copy() {
    check(
        "  def f(a, b):
-     t = a + b
-     g(t)
-     h(t)
+     g(a + b)
+     h(a + b)
  def g(x):
~     x.append(1)
  def h(x):
~     print(x[0])
",
    );
}

#[test]
fn a_return_depends_on_whether_it_runs() {
    check(
        "  def f(a, b):
-     if a:
+     if b:
~         return 1
  def h(a):
~     z = f(a, 1)
~     return z
",
    );
}

#[test]
fn a_result_says_what_pruned_a_statement() {
    let old = "def f(a, b):\n    return g(a + b)\n\ndef g(x):\n    return x\n";
    let new = "def f(a, b):\n    c = a + b\n    return g(c)\n\ndef g(x):\n    return x\n";
    let found = analyze(old, new);
    let pruned: Vec<(u32, u32, Equivalence)> = found
        .statements
        .iter()
        .filter_map(|one| Some((one.place.lines.0, one.pruned.as_ref()?.k, one.pruned.as_ref()?.equivalence)))
        .collect();
    assert_eq!(pruned, [(6, 0, Equivalence::SameValues)]);
    assert!(found.statements.iter().all(|one| one.pruned.is_none() || one.state == State::NotImpacted));
    let levels: Vec<(Option<u32>, usize)> = found.levels.iter().map(|one| (one.k, one.impacted)).collect();
    assert_eq!(levels, [(None, 1), (Some(0), 0)]);
}

/// Shows everything of one function, by looking into one call.
struct Shows(&'static str);

impl Prover for Shows {
    fn depth(&self) -> u32 {
        1
    }

    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, depth: u32) -> Option<Shown> {
        (depth == 1 && &*old.function == self.0 && old == new).then(Shown::default)
    }
}

const OLD: &str = "def f(a):\n    return a * 2\n\ndef g(a):\n    x = f(a)\n    return x\n";
const NEW: &str = "def f(a):\n    return a + a\n\ndef g(a):\n    x = f(a)\n    return x\n";

fn levels(prover: &dyn Prover, depth: Option<u32>, most: usize) -> Impact {
    let options = ImpactOptions { depth, ..ImpactOptions::default() };
    let mut count = 0;
    impact_levels(&project(OLD), &project(NEW), &Entries::default(), &options, prover, &|| false, &mut |_| {
        count += 1;
        if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
}

#[test]
fn a_proof_stops_what_a_function_returns() {
    let counts = |found: &Impact| -> Vec<(Option<u32>, usize)> {
        found.levels.iter().map(|one| (one.k, one.impacted)).collect()
    };
    let found = levels(&Shows("f"), None, usize::MAX);
    assert_eq!(counts(&found), [(None, 2), (Some(0), 2), (Some(1), 0)]);
    let pruned: Vec<_> = found.statements.iter().filter_map(|one| one.pruned.as_ref()).collect();
    assert!(pruned.iter().all(|one| (one.k, one.equivalence) == (1, Equivalence::Proved)), "{pruned:?}");
    assert_eq!(pruned.len(), 2);
    assert_eq!(counts(&levels(&Shows("g"), None, usize::MAX)), [(None, 2), (Some(0), 2), (Some(1), 2)]);
    assert_eq!(counts(&levels(&Shows("f"), Some(0), usize::MAX)), [(None, 2), (Some(0), 2)]);
    assert_eq!(counts(&levels(&NoProver, None, usize::MAX)), [(None, 2), (Some(0), 2)]);
}

/// Shows everything, by the functions alone.
struct Always;

impl Prover for Always {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, _: &FunctionPlace, _: &FunctionPlace, _: u32) -> Option<Shown> {
        Some(Shown::default())
    }
}

/// Shows what stands in its table, by looking into other functions.
struct LooksInto(&'static str, &'static [&'static str]);

impl Prover for LooksInto {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, _: &FunctionPlace, new: &FunctionPlace, _: u32) -> Option<Shown> {
        let looked_into = self.1.iter().map(|name| Arc::from(*name)).collect();
        (&*new.function == self.0).then_some(Shown { looked_into })
    }
}

#[test]
fn the_change_of_a_proved_function_shows_inside_of_it_alone() {
    let old = "class A: pass\n\ndef f(a, log):\n    n = len(a)\n    log(n)\n    a.x = n + 1\n    m = n\n    return m\n\n\
               def g(a: A):\n    return a.x\n\ndef log(n):\n    print(n)\n\ndef h():\n    a = A()\n    f(a, log)\n    return g(a)\n";
    let lines = |new: &str, prover: &dyn Prover| {
        let options = ImpactOptions::default();
        let go_on = &mut |_: &Level| ControlFlow::Continue(());
        let found =
            impact_levels(&project(old), &project(new), &Entries::default(), &options, prover, &|| false, go_on);
        let is_impacted = |one: &&crate::StatementImpact| matches!(one.state, State::Impacted { .. });
        found.statements.iter().filter(is_impacted).map(|one| one.place.lines.0).collect::<Vec<_>>()
    };
    // Locals of the function go on being impacted.
    let new = old.replace("n = len(a)", "n = 0 + len(a)");
    let all = lines(&new, &NoProver);
    assert!([5, 6, 7, 8, 11, 14, 19].iter().all(|line| all.contains(line)), "{all:?}");
    assert_eq!(lines(&new, &LooksInto("f", &[])), [5, 6, 7, 8]);
    // So does what the function calls for another reason, and what somebody else calls that the proof looked into.
    let moved = old.replace("    log(n)\n    a.x = n + 1\n", "    put(a, n, log)\n")
        + "\ndef put(a, n, log):\n    log(n)\n    a.x = n + 1\n";
    let apart = |prover: &dyn Prover, text: &str| lines(text, prover).contains(&10);
    assert!(apart(&NoProver, &moved));
    assert!(!apart(&LooksInto("f", &["put"]), &moved));
    assert!(apart(&LooksInto("f", &[]), &moved));
    assert!(apart(&LooksInto("f", &["put"]), &format!("{moved}\nimport atexit\natexit.register(put)\n")));
    assert!(apart(&LooksInto("f", &["put"]), &moved.replace("    f(a, log)\n", "    f(a, log)\n    put(a, 1, log)\n")));
}

/// The lines that the last level leaves impacted.
fn left(old: &str, new: &str, prover: &dyn Prover) -> Vec<u32> {
    let go_on = &mut |_: &Level| ControlFlow::Continue(());
    let (old, new, options) = (project(old), project(new), ImpactOptions::default());
    let found = impact_levels(&old, &new, &Entries::default(), &options, prover, &|| false, go_on);
    let all = found.statements.iter().filter(|one| matches!(one.state, State::Impacted { .. }));
    all.map(|one| one.place.lines.0).collect()
}

#[test]
fn an_extracted_function_changes_nothing_that_its_caller_returns() {
    let old = "def f(x):\n    return x.a * 2\n\ndef top(x):\n    return f(x)\n";
    let new = "def f(x):\n    return g(x)\n\ndef g(x):\n    return x.a * 2\n\ndef top(x):\n    return f(x)\n";
    assert!(left(old, new, &NoProver).contains(&8));
    assert_eq!(left(old, new, &LooksInto("f", &["g"])), [0; 0]);
}

#[test]
fn what_changes_below_a_function_that_is_looked_into_goes_on() {
    let old = "class P:\n    def move(self, by):\n        return by\n\ndef f(x):\n    return g(x, 1)\n\ndef g(x, by):\n    \
               return x.move(by)\n\ndef top():\n    return f(P())\n";
    let new =
        old.replace("return by\n", "return by + 5\n").replace("g(x, 1)", "k(1, x)").replace("g(x, by)", "k(by, x)");
    assert!(left(old, &new, &LooksInto("f", &["g", "k"])).contains(&12));
}

#[test]
fn a_proof_that_looks_into_what_both_versions_have_prunes_nothing() {
    let old = "def f(x):\n    return g(x + 1)\n\ndef g(y):\n    z = y\n    return z * 2\n";
    let new = old.replace("g(x + 1)", "g(x)").replace("z * 2", "(z + 1) * 2");
    assert!(left(old, &new, &LooksInto("f", &["g"])).contains(&5));
}

#[test]
fn a_new_constant_is_heard_by_a_proved_function() {
    let old = "def p():\n    try:\n        r = FLAG\n    except NameError:\n        r = 0\n    return r\n\ndef q():\n    return p()\n";
    let new = "FLAG = 2\n\ndef p():\n    try:\n        return FLAG\n    except NameError:\n        return 0\n\ndef q():\n    return p()\n";
    assert!(left(old, new, &LooksInto("p", &[])).contains(&10));
}

#[test]
fn what_a_proof_prunes_has_its_chain_with_the_step_that_is_ruled_out() {
    let found = levels(&Always, None, usize::MAX);
    let pruned: Vec<_> = found.statements.iter().filter_map(|one| one.pruned.as_ref()).collect();
    assert_eq!(pruned.len(), 2);
    for one in pruned {
        assert_eq!((one.k, one.equivalence), (0, Equivalence::Proved));
        assert_eq!(one.at, one.chain[one.cut].at);
        let (path, function) = ("main.py".into(), "f".into());
        assert_eq!(one.at, StepPlace::Variable(VariableName::Returned { path, function }));
    }
}

#[test]
fn a_snapshot_is_the_result_of_its_level() {
    let mut snapshots = Vec::new();
    let options = ImpactOptions::default();
    let (old, new) = (project(OLD), project(NEW));
    let found = impact_levels(&old, &new, &Entries::default(), &options, &Shows("f"), &|| false, &mut |level| {
        snapshots.push((level.summary.impacted, level.snapshot.clone()));
        ControlFlow::Continue(())
    });
    for (impacted, snapshot) in &snapshots {
        let result = snapshot.impact();
        let is_impacted = |one: &&crate::StatementImpact| matches!(one.state, State::Impacted { .. });
        assert_eq!(result.statements.iter().filter(is_impacted).count(), *impacted);
        assert_eq!(result.is_partial, !snapshot.is_last());
    }
    assert_eq!(snapshots.last().unwrap().1.impact(), found);
}

#[test]
fn an_interrupt_leaves_the_last_whole_level() {
    let asked = std::cell::Cell::new(0);
    let after = |most: u32| {
        asked.set(0);
        let is_interrupted = || {
            asked.set(asked.get() + 1);
            asked.get() > most
        };
        let options = ImpactOptions::default();
        let (old, new) = (project(OLD), project(NEW));
        impact_levels(&old, &new, &Entries::default(), &options, &Shows("f"), &is_interrupted, &mut |_| {
            ControlFlow::Continue(())
        })
    };
    let whole = after(u32::MAX);
    let counts = |found: &Impact| (found.levels.len(), found.is_partial);
    assert_eq!(counts(&whole), (3, false));
    let most = asked.get();
    let all: Vec<_> = (0..=most).map(|most| counts(&after(most))).collect();
    assert!(all.is_sorted_by_key(|one| one.0) && all.contains(&(1, true)) && all.contains(&(2, true)), "{all:?}");
    assert_eq!(all.last(), Some(&(3, false)));
}

#[test]
fn whoever_gets_the_levels_may_end_them() {
    let found = levels(&Shows("f"), None, 2);
    assert_eq!((found.levels.len(), found.is_partial), (2, true));
    assert!(!levels(&Shows("f"), None, usize::MAX).is_partial);
}
