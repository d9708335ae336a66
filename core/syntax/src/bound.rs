//! The names that a statement of a module or a class body binds.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};

/// The names that a statement binds at its own level, except those of functions and classes.
pub(super) fn bound(stmt: &Stmt) -> Vec<&str> {
    let mut names = named(stmt);
    if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
        names.extend(assigned_within(stmt));
    }
    names
}

/// The names that its targets, its imports and the statements within it bind.
fn named(stmt: &Stmt) -> Vec<&str> {
    match stmt {
        Stmt::Assign(node) => node.targets.iter().flat_map(target).collect(),
        Stmt::AnnAssign(node) => target(&node.target),
        Stmt::AugAssign(node) => target(&node.target),
        Stmt::Import(node) => node
            .names
            .iter()
            .map(|alias| match &alias.asname {
                Some(name) => name.as_str(),
                None => alias.name.as_str().split('.').next().unwrap_or_default(),
            })
            .collect(),
        Stmt::ImportFrom(node) => {
            node.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str()).collect()
        }
        // The content of a compound statement depends on the whole statement.
        Stmt::If(node) => {
            let clauses = node.elif_else_clauses.iter().flat_map(|clause| &clause.body);
            node.body.iter().chain(clauses).flat_map(bound).collect()
        }
        Stmt::Try(node) => {
            let handlers = node.handlers.iter().flat_map(|handler| {
                let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                &handler.body
            });
            let rest = node.orelse.iter().chain(&node.finalbody);
            node.body.iter().chain(handlers).chain(rest).flat_map(bound).collect()
        }
        Stmt::With(node) => node.body.iter().flat_map(bound).collect(),
        Stmt::For(node) => target(&node.target).into_iter().chain(node.body.iter().flat_map(bound)).collect(),
        _ => vec![],
    }
}

/// The names that the expressions of a statement bind: `n` of `if n := f():`.
fn assigned_within(stmt: &Stmt) -> Vec<&str> {
    struct Assigned<'a>(Vec<&'a str>);
    impl<'a> Visitor<'a> for Assigned<'a> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Named(node) = expr {
                self.0.extend(target(&node.target));
            }
            if !expr.is_lambda_expr() {
                walk_expr(self, expr);
            }
        }

        /// Statements within the statement are read by themselves.
        fn visit_body(&mut self, _: &'a [Stmt]) {}
    }
    let mut assigned = Assigned(vec![]);
    walk_stmt(&mut assigned, stmt);
    assigned.0
}

fn target(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(node) => node.elts.iter().flat_map(target).collect(),
        Expr::List(node) => node.elts.iter().flat_map(target).collect(),
        Expr::Starred(node) => target(&node.value),
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::parse;

    #[test]
    fn expressions_bind_names_wherever_they_stand() {
        for (code, expected) in [
            ("print(n := 3)", &["n"][..]),
            ("x = (n := 3)", &["x", "n"]),
            ("if n := f():\n    x = 1\nelif m := g():\n    pass", &["x", "n", "m"]),
            ("while (n := f()):\n    pass", &["n"]),
            ("for a in (n := f()):\n    b = (c := 1)", &["a", "b", "c", "n"]),
            ("with open(n := 'x'):\n    pass", &["n"]),
            ("assert (n := f())", &["n"]),
            ("x = lambda: (n := 3)", &["x"]),
            ("def g(x=(n := 3)):\n    y = (m := 1)", &[]),
        ] {
            let parsed = parse(code);
            let found: Vec<&str> = parsed.suite().iter().flat_map(super::bound).collect();
            assert_eq!(found, expected, "{code}");
        }
    }
}
