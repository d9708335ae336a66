//! Changes that are proved to do the same.

use std::cell::RefCell;

use super::{Files, project};
use crate::selection::{Selection, SelectionOptions, TestState, select};
use crate::{FunctionPlace, Prover, Shown};

/// Proves what it was told of, and notes what it was asked.
#[derive(Default)]
struct Told {
    same: Vec<&'static str>,
    asked: RefCell<Vec<String>>,
}

impl Prover for Told {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, _: u32) -> Option<Shown> {
        assert_eq!(old, new);
        self.asked.borrow_mut().push(format!("{}:{}", new.path, new.function));
        self.same.contains(&&*new.function).then(Shown::default)
    }
}

const SHOP: &str =
    "def price(n):\n    return n * 2\n\n\ndef total(n):\n    return price(n)\n\n\ndef rate():\n    return 1\n";
const TESTS: &str = "import inspect\nimport shop\n\n\ndef test_total():\n    assert shop.total(1) == 2\n\n\ndef test_both():\n    assert shop.total(1) == shop.rate()\n\n\ndef test_source():\n    assert inspect.getsource(shop.price)\n\n\ndef test_other():\n    assert 1\n";

fn states(prover: &Told, files: Files<'_>, changed: Files<'_>) -> Vec<(String, &'static str)> {
    let found: Selection = select(&project(files), &project(changed), &SelectionOptions::default(), prover);
    let state = |state: &TestState| match state {
        TestState::MustRun { .. } => "must run",
        TestState::CannotSee { .. } => "cannot see",
        TestState::Untouched => "untouched",
    };
    found.tests.iter().map(|one| (one.test.qualname.to_string(), state(&one.state))).collect()
}

#[test]
fn a_test_cannot_see_changes_that_are_proved_unless_it_reads_the_source_or_another_change() {
    let old = [("shop.py", SHOP), ("test_shop.py", TESTS)];
    let shop = SHOP.replace("n * 2", "n + n").replace("return 1", "return 2");
    let new = [("shop.py", &*shop), ("test_shop.py", TESTS)];
    let prover = Told { same: vec!["price"], ..Told::default() };
    let expected = [
        ("test_total", "cannot see"),
        ("test_both", "must run"),
        ("test_source", "must run"),
        ("test_other", "untouched"),
    ];
    assert_eq!(states(&prover, &old, &new), expected.map(|(test, state)| (test.to_owned(), state)));
    assert_eq!(*prover.asked.borrow(), ["shop.py:price", "shop.py:rate"]);
}

#[test]
fn a_test_that_changed_runs_whatever_is_proved() {
    let tests = "def test_one():\n    assert 1\n";
    let (old, new) = ([("test_shop.py", tests)], [("test_shop.py", &*tests.replace("1", "2"))]);
    let prover = Told { same: vec!["test_one"], ..Told::default() };
    assert_eq!(states(&prover, &old, &new), [("test_one".to_owned(), "must run")]);
}

#[test]
fn two_functions_of_one_name_are_not_proved() {
    let twice = "def price(n):\n    return n\n\n\ndef price(n):\n    return n * 2\n";
    let tests = "import shop\n\n\ndef test_price():\n    assert shop.price(1)\n";
    let old = [("shop.py", twice), ("test_shop.py", tests)];
    let changed = twice.replace("n * 2", "n + n");
    let prover = Told { same: vec!["price"], ..Told::default() };
    let new = [("shop.py", &*changed), ("test_shop.py", tests)];
    assert_eq!(states(&prover, &old, &new), [("test_price".to_owned(), "must run")]);
    assert!(prover.asked.borrow().is_empty());
}
