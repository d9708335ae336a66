//! One set of parameters of a parametrised test at a time.

use ruff_python_ast::{Expr, ExprCall, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::body::last_name;
use crate::code::{Code, Edit, definition};

/// How many sets of parameters of a test are of interest.
const MAX_CASES: usize = 8;
/// What a set of parameters is called while it runs.
const ID: &str = "case";

/// The test once for each set of its parameters, where these stand in its decorators. Otherwise the test itself.
pub fn cases(code: &Code) -> Vec<Code> {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return vec![code.clone()] };
    let lists: Vec<Vec<TextRange>> = parametrized(function).filter_map(sets).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    if most == 0 || lists.len() != parametrized(function).count() {
        return vec![code.clone()];
    }
    let one = |number: usize| {
        let edits = lists.iter().filter(|sets| sets.len() > 1).map(|sets| {
            let kept = sets[number % sets.len()];
            let whole = TextRange::new(sets[0].start(), sets[sets.len() - 1].end());
            Edit::replace(whole, code.slice(kept))
        });
        code.edited(edits.collect())
    };
    // Sets at the end are often the special ones.
    let step = most.div_ceil(MAX_CASES).max(1);
    let found: Vec<Code> = (0..most).rev().step_by(step).filter_map(one).collect();
    found.into_iter().rev().collect()
}

/// The test in the form that runs, and what its node id ends with. Sets of parameters have an id that is known.
pub fn runnable(code: &Code) -> (Code, String) {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return (code.clone(), String::new()) };
    let mut edits = Vec::new();
    let mut count = 0;
    for call in parametrized(function) {
        if sets(call).is_none_or(|sets| sets.len() != 1) {
            return (code.clone(), String::new());
        }
        count += 1;
        let ids = format!("ids=['{ID}']");
        match call.arguments.keywords.iter().find(|keyword| keyword.arg.as_deref() == Some("ids")) {
            Some(keyword) => edits.push(Edit::replace(keyword.range(), ids)),
            None => {
                let last = call.arguments.args.iter().map(Ranged::end);
                let last = last.chain(call.arguments.keywords.iter().map(Ranged::end)).max();
                edits.extend(last.map(|at| Edit::insert(at.to_usize(), format!(", {ids}"))));
            }
        }
    }
    match code.edited(edits) {
        Some(code) if count > 0 => (code, format!("[{}]", vec![ID; count].join("-"))),
        _ => (code.clone(), String::new()),
    }
}

/// The decorators `pytest.mark.parametrize`.
pub fn parametrized(function: &StmtFunctionDef) -> impl Iterator<Item = &ExprCall> {
    let calls = function.decorator_list.iter().filter_map(|decorator| decorator.expression.as_call_expr());
    calls.filter(|call| last_name(&call.func) == Some("parametrize"))
}

/// Where each set of parameters stands.
fn sets(call: &ExprCall) -> Option<Vec<TextRange>> {
    let by_name = || call.arguments.find_keyword("argvalues").map(|keyword| &keyword.value);
    let items: &[Expr] = match call.arguments.args.get(1).or_else(by_name)? {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) if tuple.parenthesized => &tuple.elts,
        _ => return None,
    };
    let is_whole = !items.is_empty() && !items.iter().any(Expr::is_starred_expr);
    is_whole.then(|| items.iter().map(Ranged::range).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_parameters_is_a_test_with_a_known_id() {
        let code =
            Code::new("@pytest.mark.parametrize('a, b', [\n    (1, 2),\n    (3, f(4)),\n])\ndef test(a, b): pass\n");
        let found = cases(&code);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].lines(), "@pytest.mark.parametrize('a, b', [\n    (3, f(4)),\n])\ndef test(a, b): pass\n");
        let (code, suffix) = runnable(&found[1]);
        assert_eq!(suffix, "[case]");
        assert!(code.lines().contains("    (3, f(4)),\n], ids=['case'])"), "{}", code.lines());
        for whole in ["@mark.parametrize('a', everything)\ndef test(a): pass\n", "def test(): pass\n"] {
            let code = Code::new(whole);
            assert_eq!(cases(&code), std::slice::from_ref(&code));
            assert_eq!(runnable(&code).1, "");
        }
    }
}
