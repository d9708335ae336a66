//! One set of parameters of a parametrised test at a time.

use std::collections::BTreeSet;

use ruff_python_ast::{Decorator, Expr, ExprCall, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::body::{last_name, names_in};
use crate::code::{Code, Edit, definition, line_end, line_start};
use crate::literal::string;

/// How many sets of parameters of a test are of interest.
const MAX_CASES: usize = 8;
/// What a set of parameters is called while it runs.
const ID: &str = "case";

/// The test once for each set of its parameters. `count` is how many cases of it there are, for sets that do not stand in
/// its decorator.
pub fn cases(code: &Code, count: usize) -> Vec<Code> {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return vec![code.clone()] };
    let elsewhere: Vec<Code> = some(count).filter_map(|at| only(code, at)).collect();
    if !elsewhere.is_empty() {
        return elsewhere;
    }
    let lists: Vec<Vec<TextRange>> = parametrized(function).filter_map(sets).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    if most == 0 || lists.len() != parametrized(function).count() {
        return vec![code.clone()];
    }
    let one = |number: usize| {
        let mut edits = Vec::new();
        for (call, sets) in parametrized(function).zip(&lists).filter(|(_, sets)| sets.len() > 1) {
            let at = number % sets.len();
            let whole = TextRange::new(sets[0].start(), sets[sets.len() - 1].end());
            edits.push(Edit::replace(whole, code.slice(sets[at])));
            edits.extend(ids(call).map(|ids| Edit::replace(ids.range(), id_of(code, ids, sets.len(), at))));
        }
        code.edited(edits)
    };
    some(most).filter_map(one).collect()
}

/// Some of so many sets. Those at the end are often the special ones.
fn some(count: usize) -> impl Iterator<Item = usize> {
    let step = count.div_ceil(MAX_CASES).max(1);
    let found: Vec<usize> = (0..count).rev().step_by(step).collect();
    found.into_iter().rev()
}

fn ids(call: &ExprCall) -> Option<&Expr> {
    call.arguments.find_keyword("ids").map(|keyword| &keyword.value)
}

/// The ids of one set of several: pytest refuses a list of another length.
fn id_of(code: &Code, ids: &Expr, sets: usize, at: usize) -> String {
    let listed = match ids {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::Lambda(_) => return code.slice(ids).to_owned(),
        _ => return "None".to_owned(),
    };
    if listed.len() == sets && !listed.iter().any(Expr::is_starred_expr) {
        format!("[{}]", code.slice(&listed[at]))
    } else {
        "None".to_owned()
    }
}

/// The test in the form that runs, and what its node id ends with. Sets of parameters have an id that is known.
pub fn runnable(code: &Code) -> (Code, String) {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return (code.clone(), String::new()) };
    let mut edits = Vec::new();
    let mut count = 0;
    for call in parametrized(function) {
        let Some([set]) = items(call) else { return (code.clone(), String::new()) };
        // The id of a set itself counts before those of all.
        let own = set.as_call_expr().and_then(|call| call.arguments.find_keyword("id"));
        edits.extend(own.map(|own| Edit::replace(own.value.range(), format!("'{ID}'"))));
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

/// A test whose sets of parameters do not stand in its decorator, with one of them.
fn only(code: &Code, at: usize) -> Option<Code> {
    let parsed = code.parse();
    let mut calls = parametrized(definition(&parsed)?);
    let (Some(call), None) = (calls.next(), calls.next()) else { return None };
    let values = values(call).filter(|_| items(call).is_none())?;
    let text = code.slice(values);
    let slice = if at == 0 { "[:1]".to_owned() } else { format!("[{at}:{}]", at + 1) };
    let one = if values.is_name_expr() { format!("{text}{slice}") } else { format!("[*{text}]{slice}") };
    let mut edits = vec![Edit::replace(values.range(), one)];
    // A list of ids would be too long.
    let ids = ids(call).filter(|ids| !ids.is_lambda_expr());
    edits.extend(ids.map(|ids| Edit::replace(ids.range(), "None")));
    code.edited(edits)
}

/// The code without parameters of its only set that nothing reads.
pub fn without_unused(code: &Code) -> Option<Code> {
    let parsed = code.parse();
    let function = definition(&parsed)?;
    let all = &function.parameters;
    if all.vararg.is_some() || all.kwarg.is_some() || !all.posonlyargs.is_empty() || !all.kwonlyargs.is_empty() {
        return None;
    }
    let read = names_in(&function.body);
    let mut gone: BTreeSet<String> = BTreeSet::new();
    let mut edits = Vec::new();
    for decorator in &function.decorator_list {
        let Some(call) = parametrize(decorator) else { continue };
        let Some(Expr::StringLiteral(named)) = call.arguments.args.first() else { continue };
        let names: Vec<&str> = named.value.to_str().split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let kept: Vec<usize> = (0..names.len()).filter(|at| read.contains(names[*at])).collect();
        let is_plain = items(call).is_none_or(|sets| !sets.iter().any(Expr::is_call_expr));
        if kept.is_empty() && is_plain {
            gone.extend(names.iter().map(|name| (*name).to_owned()));
            let start = line_start(code.text(), decorator.start().to_usize());
            edits.push(Edit { range: start..line_end(code.text(), decorator.end().to_usize()), with: String::new() });
            continue;
        }
        let Some([set]) = items(call) else { continue };
        let values: Vec<&Expr> = match set {
            Expr::Tuple(tuple) if names.len() > 1 => tuple.elts.iter().collect(),
            one if names.len() == 1 && !one.is_call_expr() => vec![one],
            _ => continue,
        };
        if values.len() != names.len() || kept.len() == names.len() {
            continue;
        }
        gone.extend(names.iter().filter(|name| !read.contains(**name)).map(|name| (*name).to_owned()));
        let listed = kept.iter().map(|at| names[*at]).collect::<Vec<_>>().join(", ");
        let given = kept.iter().map(|at| code.slice(values[*at])).collect::<Vec<_>>().join(", ");
        edits.push(Edit::replace(named.range(), string(&listed)));
        edits.push(Edit::replace(set.range(), if kept.len() == 1 { given } else { format!("({given})") }));
    }
    let (first, last) = (all.args.first()?, all.args.last()?);
    let left = all.args.iter().filter(|one| !gone.contains(one.parameter.name.as_str())).map(|one| code.slice(one));
    let left = left.collect::<Vec<_>>().join(", ");
    edits.push(Edit::replace(TextRange::new(first.start(), last.end()), left));
    if gone.is_empty() { None } else { code.edited(edits) }
}

/// The decorators `pytest.mark.parametrize`.
pub fn parametrized(function: &StmtFunctionDef) -> impl Iterator<Item = &ExprCall> {
    function.decorator_list.iter().filter_map(parametrize)
}

fn parametrize(decorator: &Decorator) -> Option<&ExprCall> {
    decorator.expression.as_call_expr().filter(|call| last_name(&call.func) == Some("parametrize"))
}

/// Where each set of parameters stands.
fn sets(call: &ExprCall) -> Option<Vec<TextRange>> {
    Some(items(call)?.iter().map(Ranged::range).collect())
}

fn values(call: &ExprCall) -> Option<&Expr> {
    let by_name = || call.arguments.find_keyword("argvalues").map(|keyword| &keyword.value);
    call.arguments.args.get(1).or_else(by_name)
}

fn items(call: &ExprCall) -> Option<&[Expr]> {
    let items: &[Expr] = match values(call)? {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) if tuple.parenthesized => &tuple.elts,
        _ => return None,
    };
    let is_whole = !items.is_empty() && !items.iter().any(Expr::is_starred_expr);
    is_whole.then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_set_of_many_that_stand_elsewhere_is_taken() {
        for (values, at, expected) in [
            ("SETS", 0, Some("SETS[:1]")),
            ("SETS, ids=IDS", 2, Some("SETS[2:3], ids=None")),
            ("sets()", 1, Some("[*sets()][1:2]")),
            ("[1, 2]", 1, None),
        ] {
            let written = |values: &str| format!("@mark.parametrize('a', {values})\ndef test(a): pass\n");
            let found = only(&Code::new(&written(values)), at);
            assert_eq!(found.map(|code| code.lines().to_owned()), expected.map(written));
        }
    }

    #[test]
    fn parameters_that_nothing_reads_go() {
        for (before, after) in [
            (
                "@mark.parametrize('a, b', [(1, 2)])\ndef test(a, b):\n    f(a)\n",
                Some("@mark.parametrize('a', [1])\ndef test(a):\n    f(a)\n"),
            ),
            (
                "@mark.slow\n@mark.parametrize('a', [1])\ndef test(a, tmp_path):\n    f(tmp_path)\n",
                Some("@mark.slow\ndef test(tmp_path):\n    f(tmp_path)\n"),
            ),
            ("@mark.parametrize('a', SETS)\ndef test(a):\n    f()\n", Some("def test():\n    f()\n")),
            ("@mark.parametrize('a, b', [(1, 2)])\ndef test(a, b):\n    f(a, b)\n", None),
            ("@mark.parametrize('a', [param(1)])\ndef test(a):\n    f()\n", None),
            ("def test(tmp_path):\n    f()\n", None),
        ] {
            assert_eq!(without_unused(&Code::new(before)).as_ref().map(Code::lines), after, "{before}");
        }
    }

    #[test]
    fn each_set_of_parameters_is_a_test_with_a_known_id() {
        let code =
            Code::new("@pytest.mark.parametrize('a, b', [\n    (1, 2),\n    (3, f(4)),\n])\ndef test(a, b): pass\n");
        let found = cases(&code, 2);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].lines(), "@pytest.mark.parametrize('a, b', [\n    (3, f(4)),\n])\ndef test(a, b): pass\n");
        let (code, suffix) = runnable(&found[1]);
        assert_eq!(suffix, "[case]");
        assert!(code.lines().contains("    (3, f(4)),\n], ids=['case'])"), "{}", code.lines());
        for (ids, kept) in [
            ("ids=['one', 'two']", "ids=['two']"),
            ("ids=NAMES", "ids=None"),
            ("ids=lambda it: str(it)", "ids=lambda it: str(it)"),
        ] {
            let code = Code::new(&format!("@mark.parametrize('a', [1, 2], {ids})\ndef test(a): pass\n"));
            let expected = format!("@mark.parametrize('a', [2], {kept})\ndef test(a): pass\n");
            assert_eq!(cases(&code, 2)[1].lines(), expected);
        }
        let code = Code::new("@mark.parametrize('a', [mark.param(2, id='x')])\ndef test(a): pass\n");
        let (code, suffix) = runnable(&code);
        assert_eq!(suffix, "[case]");
        assert!(code.lines().contains("mark.param(2, id='case')"), "{}", code.lines());
        let code = Code::new("def test(): pass\n");
        assert_eq!((cases(&code, 1), runnable(&code).1), (vec![code.clone()], String::new()));
        let code = Code::new("@mark.parametrize('a', everything)\ndef test(a): pass\n");
        assert_eq!((cases(&code, 3).len(), runnable(&code).1), (3, String::new()));
    }
}
