//! Tests of which one expectation is opened: what is expected to raise runs as it stands, and ends the test.
//!
//! A block that catches an exception hides what was raised. Without it, the test shows the exception itself.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt, StmtWith};
use ruff_text_size::{Ranged, TextRange};

use crate::body::{cleanups, expects_exception, removable, suites, without};
use crate::code::{Code, Edit, definition, indent};

/// How many expectations of a test are opened.
const MOST: usize = 4;

/// The test once for each of its expectations that something raises, without the statements behind it.
pub fn opened(code: &Code) -> Vec<Code> {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return vec![] };
    let mut found: Vec<(TextRange, String)> = Vec::new();
    suites(&function.body, &mut |suite| {
        for stmt in suite {
            let inner = match stmt {
                Stmt::With(with) => of_block(code, with),
                Stmt::Expr(one) => of_call(code, &one.value),
                _ => None,
            };
            found.extend(inner.map(|inner| (stmt.range(), inner)));
        }
    });
    found.sort_by_key(|(range, _)| range.start());
    found.truncate(MOST);
    found
        .into_iter()
        .filter_map(|(range, inner)| ending(code, range)?.edited(vec![Edit::replace(range, inner)]))
        .collect()
}

/// `f(x)` of `with pytest.raises(E): f(x)`.
fn of_block(code: &Code, with: &StmtWith) -> Option<String> {
    let [item] = with.items.as_slice() else { return None };
    let (first, last) = (with.body.first()?, with.body.last()?);
    let text = code.slice(TextRange::new(first.start(), last.end()));
    // Lines of a text must stay where they are.
    if !expects_exception(&item.context_expr) || text.contains("'''") || text.contains("\"\"\"") {
        return None;
    }
    let (outer, inner) = (indent(code.text(), with.start().to_usize()), indent(code.text(), first.start().to_usize()));
    Some(text.replace(&format!("\n{inner}"), &format!("\n{outer}")))
}

/// `f(x)` of `self.assertRaises(E, f, x)`.
fn of_call(code: &Code, call: &Expr) -> Option<String> {
    let call = call.as_call_expr().filter(|_| expects_exception(call))?;
    let function = call.arguments.args.get(1)?;
    let given = call.arguments.args.iter().skip(2).map(|argument| code.slice(argument));
    let named = call.arguments.keywords.iter().map(|keyword| code.slice(keyword));
    let function = match function {
        Expr::Name(_) | Expr::Attribute(_) => code.slice(function).to_owned(),
        // The second argument of `assertRaisesRegex` is a pattern.
        Expr::Lambda(lambda) if call.arguments.args.len() == 2 => {
            return Some(code.slice(lambda.body.as_ref()).to_owned());
        }
        _ => return None,
    };
    Some(format!("{function}({})", given.chain(named).collect::<Vec<_>>().join(", ")))
}

/// The code without what begins behind a statement. What cleans up behind it stays.
pub fn ending(code: &Code, range: TextRange) -> Option<Code> {
    let kept = cleanups(code);
    let stays =
        |later: &TextRange| kept.iter().any(|(whole, last)| whole.contains_range(range) && last.contains_range(*later));
    let begins_later = |later: &TextRange| later.start() >= range.end() && !stays(later);
    let key = |range: TextRange| -> (u32, u32) { (range.start().to_u32(), range.end().to_u32()) };
    let later: BTreeSet<(u32, u32)> = removable(code).into_iter().filter(begins_later).map(key).collect();
    without(code, &later)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Vec<String> {
        let code = Code::new(&format!("def test(self):\n{body}"));
        opened(&code).iter().map(|code| code.lines().strip_prefix("def test(self):\n").unwrap().to_owned()).collect()
    }

    #[test]
    fn what_is_expected_to_raise_ends_the_test() {
        for (before, after) in [
            ("    with pytest.raises(E):\n        f()\n        g()\n    h()\n", vec!["    f()\n    g()\n"]),
            ("    a()\n    with self.assertRaises(E) as e: f()\n    h(e)\n", vec!["    a()\n    f()\n"]),
            ("    self.assertRaises(E, f.g, 1, b=2)\n    h()\n", vec!["    f.g(1, b=2)\n"]),
            ("    pytest.raises(E, lambda: f(1))\n", vec!["    f(1)\n"]),
            ("    self.assertRaisesRegex(E, 'a', f)\n", vec![]),
            ("    with pytest.warns(E):\n        f()\n", vec![]),
            (
                "    if a:\n        with raises(E):\n            f(1)\n    with raises(E):\n        f(2)\n",
                vec!["    if a:\n        f(1)\n", "    if a:\n        with raises(E):\n            f(1)\n    f(2)\n"],
            ),
        ] {
            assert_eq!(of(before), after, "{before}");
        }
    }
}
