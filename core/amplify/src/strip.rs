//! Assertions are taken out of a test; the calls in them stay, and their results get names.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr};
use ruff_python_ast::{AnyNodeRef, BoolOp, Expr, ExprCall, Stmt, UnaryOp};
use ruff_text_size::Ranged;

use crate::body::{fresh, is_expectation, last_name, names, suites};
use crate::code::{Code, Edit, definition, indent};

/// The test without its assertions. `assert f(x) == 3` becomes `result = f(x)`, and a call that stood alone gets a name
/// for its result, too. Blocks of `pytest.raises` stay; what they caught gets a name.
pub fn strip(code: &Code) -> Code {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return code.clone() };
    let mut used = names(code);
    let mut edits = Vec::new();
    let mut taken = BTreeSet::new();
    suites(&function.body, &mut |suite| {
        for stmt in suite {
            let Some(kept) = kept(stmt) else {
                if let Stmt::With(with) = stmt
                    && let [item] = with.items.as_slice()
                    && item.optional_vars.is_none()
                    && is_expectation(&item.context_expr)
                {
                    let name = fresh(&mut used, "caught");
                    edits.push(Edit::insert(item.end().to_usize(), format!(" as {name}")));
                }
                continue;
            };
            if kept.is_empty() {
                taken.insert((stmt.start().to_u32(), stmt.end().to_u32()));
                continue;
            }
            let separator = match crate::body::stands_alone(code.text(), stmt.range()) {
                true => format!("\n{}", indent(code.text(), stmt.start().to_usize())),
                false => "; ".to_owned(),
            };
            let lines: Vec<String> = kept
                .into_iter()
                .map(|expr| {
                    let text = code.slice(expr);
                    let text = if text.contains('\n') { format!("({text})") } else { text.to_owned() };
                    format!("{} = {text}", fresh(&mut used, &wish(expr).to_lowercase()))
                })
                .collect();
            edits.push(Edit::replace(stmt.range(), lines.join(&separator)));
        }
    });
    // Edits first: what is taken out is found again by its text, since nothing is put before it on its line.
    let kept_ranges: Vec<_> = taken.iter().copied().collect();
    let shifted: BTreeSet<(u32, u32)> = kept_ranges
        .into_iter()
        .map(|(start, end)| {
            let before = edits.iter().filter(|edit| edit.range.end <= start as usize);
            let by: i64 = before.map(|edit| edit.with.len() as i64 - edit.range.len() as i64).sum();
            let moved = |at: u32| u32::try_from(i64::from(at) + by).unwrap_or(0);
            (moved(start), moved(end))
        })
        .collect();
    let Some(code) = code.edited(edits) else { return code.clone() };
    crate::body::without(&code, &shifted).unwrap_or(code)
}

/// The expressions that stay of a statement. `None` for a statement that stays as it is.
fn kept(stmt: &Stmt) -> Option<Vec<&Expr>> {
    match stmt {
        Stmt::Assert(assert) => Some(operands(&assert.test)),
        Stmt::Expr(one) => {
            let awaited = match one.value.as_ref() {
                Expr::Await(inner) => inner.value.as_ref(),
                other => other,
            };
            let Expr::Call(call) = awaited else { return None };
            if is_expectation(awaited) {
                return None;
            }
            match last_name(&call.func) {
                Some(name) if is_assertion(name) => Some(asserted(call)),
                Some(_) if has_result(call) => Some(vec![one.value.as_ref()]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a function of this name checks something: `assertEqual`, `assert_frame_equal`, `assert_called_once`.
fn is_assertion(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    name.strip_prefix("assert").is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_lowercase()))
}

/// Whether the result of a call that stands alone may be of interest. Builtin containers and mocks are changed in place.
fn has_result(call: &ExprCall) -> bool {
    const NONE: [&str; 24] = [
        "print",
        "append",
        "extend",
        "insert",
        "remove",
        "clear",
        "sort",
        "reverse",
        "setattr",
        "delattr",
        "skip",
        "fail",
        "skipTest",
        "importorskip",
        "sleep",
        "seek",
        "close",
        "flush",
        "super",
        "add",
        "setUp",
        "tearDown",
        "addCleanup",
        "exec",
    ];
    last_name(&call.func).is_some_and(|name| !NONE.contains(&name))
}

/// What a call of an assertion computes. Expectations of mocks are values of the test, not of the code.
fn asserted(call: &ExprCall) -> Vec<&Expr> {
    let is_mock = last_name(&call.func).is_some_and(|name| {
        name.starts_with("assert_called")
            || name.starts_with("assert_any")
            || name.starts_with("assert_has_calls")
            || name.starts_with("assert_not_called")
            || name.starts_with("assert_awaited")
    });
    if is_mock {
        return vec![];
    }
    call.arguments.args.iter().flat_map(operands).collect()
}

/// The parts of a condition that compute something.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Compare(compare) => {
            let sides = std::iter::once(compare.left.as_ref()).chain(&compare.comparators);
            sides.filter(|side| computes(side)).collect()
        }
        Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => operands(&unary.operand),
        Expr::BoolOp(both) if both.op == BoolOp::And => both.values.iter().flat_map(operands).collect(),
        _ if computes(expr) => vec![expr],
        _ => vec![],
    }
}

/// Whether an expression calls or looks up anything. A function in it is not called.
fn computes(expr: &Expr) -> bool {
    struct Calls(bool);
    impl<'a> SourceOrderVisitor<'a> for Calls {
        fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
            if node.is_expr_lambda() { TraversalSignal::Skip } else { TraversalSignal::Traverse }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::Await(_));
            walk_expr(self, expr);
        }
    }
    let mut calls = Calls(false);
    calls.visit_expr(expr);
    calls.0 && !matches!(expr, Expr::Starred(_) | Expr::Named(_))
}

/// How a value may be called.
fn wish(expr: &Expr) -> &str {
    match expr {
        Expr::Await(inner) => wish(&inner.value),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Subscript(_) => "item",
        Expr::Call(call) => match last_name(&call.func) {
            Some("len") => "length",
            Some("str" | "repr" | "getvalue" | "read") => "text",
            Some("list" | "sorted" | "tuple") => "items",
            Some(name) => match name.strip_prefix("get_").filter(|rest| rest.chars().all(|it| it.is_ascii_lowercase()))
            {
                Some(rest) if !rest.is_empty() && !KEYWORDS.contains(&rest) => rest,
                _ => "result",
            },
            None => "result",
        },
        _ => "result",
    }
}

const KEYWORDS: [&str; 8] = ["class", "def", "from", "global", "import", "in", "is", "for"];

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(body: &str) -> String {
        let code = Code::new(&format!("def test(self, x):\n{body}"));
        strip(&code).lines().strip_prefix("def test(self, x):\n").unwrap().to_owned()
    }

    #[test]
    fn calls_in_assertions_stay_as_statements() {
        for (before, after) in [
            ("    assert f(x) == 3\n", "    result = f(x)\n"),
            ("    assert not f(x)\n    assert g(x).y\n", "    result = f(x)\n    y = g(x).y\n"),
            ("    y = 1\n    assert y == 1, 'no'\n", "    y = 1\n"),
            ("    assert x\n", "    pass\n"),
            ("    assert f(x) and g(\n        x)\n", "    result = f(x)\n    result_2 = (g(\n        x))\n"),
            ("    self.assertEqual(f(x), 3)\n", "    result = f(x)\n"),
            ("    np.testing.assert_allclose(get_total(x), 3)\n", "    total = get_total(x)\n"),
            ("    mock.assert_called_once_with(f(x))\n    g()\n", "    result = g()\n"),
            ("    for i in x:\n        assert i\n    f(x)\n", "    for i in x:\n        pass\n    result = f(x)\n"),
            ("    if x: assert len(x)\n", "    if x: length = len(x)\n"),
            (
                "    with pytest.raises(ValueError):\n        f(x)\n",
                "    with pytest.raises(ValueError) as caught:\n        result = f(x)\n",
            ),
            ("    self.assertRaises(E, f, x)\n", "    self.assertRaises(E, f, x)\n"),
            ("    asserted(x)\n    x.append(1)\n", "    result = asserted(x)\n    x.append(1)\n"),
        ] {
            assert_eq!(stripped(before), after, "{before}");
        }
    }
}
