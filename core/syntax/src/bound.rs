//! The names that a statement of a module or a class body binds.

use ruff_python_ast::{Expr, Stmt};

/// The names that a statement binds at its own level, except those of functions and classes.
pub(super) fn bound(stmt: &Stmt) -> Vec<&str> {
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

fn target(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(node) => node.elts.iter().flat_map(target).collect(),
        Expr::List(node) => node.elts.iter().flat_map(target).collect(),
        Expr::Starred(node) => target(&node.value),
        _ => vec![],
    }
}
