//! Proposals for a condition, checked by evaluating the condition on them.

use twincell_syntax::functions;
use twincell_syntax::instrument::instrument;
use twincell_values::reading::{Conditions, conditions};

use super::*;

/// The conditions of a function over `x`, `y` and `z`.
fn read(body: &str) -> Conditions {
    let text = format!("def f(x, y, z):\n    {body}\n");
    let function = functions(&text).0.into_iter().next().unwrap();
    let instrumented = instrument(&function).unwrap();
    conditions(&function, &instrumented.sites)
}

fn int(value: i64) -> Recipe {
    Recipe::Int(value)
}

fn text(value: &str) -> Recipe {
    Recipe::Str(value.into())
}

fn chosen(values: &[(&str, Recipe)]) -> Vec<Choice> {
    let choice =
        |(path, value): &(&str, Recipe)| Choice { path: (*path).to_string(), decision: Decision::Value(value.clone()) };
    values.iter().map(choice).collect()
}

fn parameters() -> Vec<String> {
    ["x", "y", "z"].map(String::from).into()
}

/// Proposals for the condition of `if CONDITION: pass`, and those that fulfil it as far as it can be evaluated.
fn solved(condition: &str, values: &[(&str, Recipe)], wanted: bool) -> (Vec<Assignment>, usize) {
    let read = read(&format!("if {condition}: pass"));
    let decided = read.branches.values().next().unwrap();
    let (choices, parameters) = (chosen(values), parameters());
    let facts = Facts::new(&choices, &[], Side::Old, &[], &parameters);
    let found = solve(&facts, &decided.condition, wanted);
    let fulfils =
        |way: &&Assignment| Solver { facts: &facts, fuel: FUEL }.truth(&decided.condition, way) == Some(wanted);
    let fulfilling = found.iter().filter(fulfils).count();
    (found, fulfilling)
}

fn assert_both_ways(condition: &str, values: &[(&str, Recipe)]) {
    let is_true = |wanted| {
        let (found, fulfilling) = solved(condition, values, wanted);
        // The result is already as wanted, so nothing is proposed.
        fulfilling > 0 || found.is_empty()
    };
    assert!(is_true(true), "{condition} true: {:?}", solved(condition, values, true).0);
    assert!(is_true(false), "{condition} false: {:?}", solved(condition, values, false).0);
    let moved = [true, false].iter().any(|wanted| solved(condition, values, *wanted).1 > 0);
    assert!(moved, "{condition}");
}

#[test]
fn each_arithmetic_operator_is_turned_round() {
    for condition in [
        "x + 3 == 10",
        "3 + x == 10",
        "x - 3 == 10",
        "3 - x == 10",
        "x * 7 == 77",
        "7 * x == 77",
        "x // 7 == 11",
        "x % 7 == 5",
        "x ** 2 == 81",
        "x ^ 90 == 77",
        "x & 12 == 8",
        "x | 3 == 11",
        "x << 3 == 64",
        "x >> 2 == 5",
        "-x == 4",
        "(x + 1) * 2 - 3 == 39",
    ] {
        assert_both_ways(condition, &[("x", int(0)), ("y", int(0)), ("z", int(0))]);
    }
}

#[test]
fn each_comparison_is_turned_round() {
    for condition in ["x == 5", "x != 5", "x < 5", "x <= 5", "x > 5", "x >= 5", "5 < x", "x == y + 40", "x < y"] {
        for value in [3, 5, 9] {
            assert_both_ways(condition, &[("x", int(value)), ("y", int(5)), ("z", int(0))]);
        }
    }
    assert_both_ways("x is None", &[("x", int(1))]);
    assert_both_ways("x is not None", &[("x", Recipe::None)]);
    assert_both_ways("not x", &[("x", int(1))]);
    assert_both_ways("x == 'a' + y", &[("x", text("b")), ("y", text("c"))]);
}

#[test]
fn the_order_of_two_sides_is_set_exactly() {
    let read = read("return x * 2 < y");
    let (condition, _) = read.comparisons.values().next().unwrap();
    let choices = chosen(&[("x", int(4)), ("y", int(100))]);
    let parameters = parameters();
    let facts = Facts::new(&choices, &[], Side::Old, &[], &parameters);
    let found = solve_order(&facts, condition, Ordering::Equal);
    assert!(found.iter().any(|way| way.get("y") == Some(&Decision::Value(int(8)))), "{found:?}");
}

#[test]
fn parts_of_a_condition_are_solved_together_or_one_by_one() {
    let values = [("x", int(0)), ("y", int(0)), ("z", text(""))];
    for condition in
        ["x > 5 and y == 7", "x > 5 and (y == 7 or z == 'a')", "not (x == 0 or y == 0)", "x == 3 or y == 4"]
    {
        assert_both_ways(condition, &values);
    }
}

#[test]
fn lengths_are_set() {
    for value in [text("ab"), Recipe::List(vec![int(1)]), Recipe::Tuple(vec![]), Recipe::Set(vec![int(1)])] {
        assert_both_ways("len(x) == 4", &[("x", value.clone())]);
        assert_both_ways("len(x) > 2", &[("x", value)]);
    }
    let (found, _) = solved("len(x) == 3", &[("x", Recipe::Mock(AbstractValue::Object))], true);
    assert_eq!(found[0].get("len(x)"), Some(&Decision::Value(int(3))));
}

#[test]
fn members_are_put_in_and_taken_out() {
    let dict = Recipe::Dict(vec![(text("a"), int(1))]);
    assert_both_ways("'k' in x", &[("x", dict.clone())]);
    assert_both_ways("'a' in x", &[("x", dict)]);
    assert_both_ways("7 in x", &[("x", Recipe::List(vec![int(1)]))]);
    assert_both_ways("x in ('a', 'b')", &[("x", text("c"))]);
    assert_both_ways("x not in (1, 2)", &[("x", int(1))]);
    assert_both_ways("'needle' in x", &[("x", text("hay"))]);
}

#[test]
fn items_and_methods_of_texts_are_turned_round() {
    assert_both_ways("x[1] == 'b'", &[("x", Recipe::List(vec![text("a"), text("c")]))]);
    assert_both_ways("x['k'] == 9", &[("x", Recipe::Dict(vec![(text("k"), int(1))]))]);
    assert_both_ways("x.get('k') == 9", &[("x", Recipe::Dict(vec![]))]);
    assert_both_ways("x.strip().lower() == 'magic'", &[("x", text("no"))]);
    assert_both_ways("x.startswith('usr-')", &[("x", text("no"))]);
    assert_both_ways("x.endswith(('.a', '.b'))", &[("x", text("no"))]);
    assert_both_ways("x.isdigit()", &[("x", text("no"))]);
    assert_both_ways("int(x) == 12", &[("x", text("5"))]);
}

#[test]
fn a_constant_takes_the_place_of_a_value_by_its_name() {
    for condition in ["x is MISSING", "x == Color.RED"] {
        let (found, _) = solved(condition, &[("x", int(1))], true);
        let named = |way: &Assignment| matches!(way.get("x"), Some(Decision::Value(Recipe::Named(_))));
        assert!(found.iter().any(named), "{condition}: {found:?}");
    }
    let (found, _) = solved("x in (Color.RED, Color.BLUE)", &[("x", int(1))], true);
    assert_eq!(found[1].get("x"), Some(&Decision::Value(Recipe::Named("Color.BLUE".into()))));
}

#[test]
fn nothing_is_proposed_where_nothing_can_be_done() {
    for (condition, wanted) in
        [("1 == 2", true), ("x * 2 == 7", true), ("len('abc') == 4", true), ("x & 12 == 3", true)]
    {
        let (found, _) = solved(condition, &[("x", int(4))], wanted);
        assert!(found.is_empty(), "{condition}: {found:?}");
    }
}

#[test]
fn a_pattern_gives_texts_that_it_finds() {
    let samples = shapes::matching(r"^v(\d+)\.(\d{3})-(alpha|beta)$", true);
    assert!(samples.iter().any(|text| text.starts_with('v') && text.ends_with("-alpha")), "{samples:?}");
    assert!(shapes::matching("(", true).is_empty());
}
