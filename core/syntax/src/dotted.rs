//! Dotted names.

use ruff_python_ast::Expr;

/// `a.b.c`, if the expression is nothing more.
pub fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}
