//! Defaults of parameters that outlive a call: made once, when the function is defined, and shared by all calls.

use ruff_python_ast::{Expr, Stmt};

use super::parse::{parse, with_stack_for};

/// Whether a default of the function in this text is made when the function is defined: a list, the result of a call.
/// Literals, and names of what exists anyway, are not.
pub fn has_lasting_defaults(text: &str) -> bool {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let parameters = match parsed.suite().first() {
            Some(Stmt::FunctionDef(function)) => Some(&*function.parameters),
            Some(Stmt::Assign(assign)) => assign.value.as_lambda_expr().and_then(|lambda| lambda.parameters.as_deref()),
            _ => None,
        };
        let defaults = parameters.into_iter().flat_map(|parameters| parameters.iter().filter_map(|one| one.default()));
        defaults.into_iter().any(is_made)
    })
}

fn is_made(default: &Expr) -> bool {
    match default {
        Expr::NoneLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::EllipsisLiteral(_)
        | Expr::Name(_)
        | Expr::Attribute(_)
        | Expr::Lambda(_) => false,
        Expr::UnaryOp(node) => is_made(&node.operand),
        Expr::BinOp(node) => is_made(&node.left) || is_made(&node.right),
        Expr::Tuple(node) => node.elts.iter().any(is_made),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_calls_last_and_literals_do_not() {
        for made in ["[]", "{}", "set()", "time.time()", "(1, [])", "[x for x in y]"] {
            assert!(has_lasting_defaults(&format!("def f(a, b={made}): 0\n")), "{made}");
            assert!(has_lasting_defaults(&format!("f = lambda *, b={made}: 0\n")), "{made}");
        }
        for literal in ["None", "-1", "'a'", "(1, 'a')", "LIMIT", "os.sep", "60 * 60"] {
            assert!(!has_lasting_defaults(&format!("async def f(a, b={literal}): 0\n")), "{literal}");
        }
        assert!(!has_lasting_defaults("class A: pass\n") && !has_lasting_defaults("def f(a): return []\n"));
    }
}
