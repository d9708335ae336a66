//! What a function uses of its module: names that the module's own statements bind.
//!
//! A function that did not change can behave otherwise because a constant or an import did. Functions and classes are
//! left out: they are compared on their own.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::comparable::ComparableStmt;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};

use super::Function;
use super::parse::{parse, with_stack_for};

/// Names that both functions read and that the two modules bind differently, in order.
pub fn changed_dependencies(functions: &[Function; 2], modules: [&str; 2]) -> Vec<String> {
    if modules[0] == modules[1] {
        return vec![];
    }
    with_stack_for(modules[0].len().max(modules[1].len()), || {
        let [old, new] = modules.map(parse);
        let (old, new) = (bindings(&old.syntax().body), bindings(&new.syntax().body));
        let changed: BTreeSet<&str> =
            old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)).copied().collect();
        if changed.is_empty() {
            return vec![];
        }
        let read = functions.each_ref().map(|function| {
            let mut read = names(&function.text);
            read.retain(|name| function.parameters.iter().all(|parameter| parameter.name != *name));
            read
        });
        changed.into_iter().filter(|name| read.iter().any(|read| read.contains(*name))).map(String::from).collect()
    })
}

/// Statements that bind each name of a module, in order.
fn bindings(body: &[Stmt]) -> BTreeMap<&str, Vec<ComparableStmt<'_>>> {
    let mut found: BTreeMap<&str, Vec<ComparableStmt<'_>>> = BTreeMap::new();
    for stmt in body {
        for name in bound(stmt) {
            found.entry(name).or_default().push(stmt.into());
        }
    }
    found
}

fn bound(stmt: &Stmt) -> Vec<&str> {
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
        // What stands in a compound statement depends on the whole of it.
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

#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'a> Visitor<'a> for Names {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx.is_load()
        {
            self.0.insert(name.id.to_string());
        }
        walk_expr(self, expr);
    }
}

fn names(text: &str) -> BTreeSet<String> {
    let mut names = Names::default();
    for stmt in &parse(text).syntax().body {
        names.visit_stmt(stmt);
    }
    names.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::functions;

    fn changed(old: &str, new: &str) -> Vec<String> {
        let one = |text: &str| functions(text).0.remove(0);
        changed_dependencies(&[one(old), one(new)], [old, new])
    }

    const F: &str = "\ndef f(x):\n    return x * LIMIT\n";

    #[test]
    fn a_constant_that_changed_counts_where_it_is_read() {
        assert_eq!(changed(&format!("LIMIT = 1{F}"), &format!("LIMIT = 2{F}")), ["LIMIT"]);
        assert_eq!(changed(&format!("OTHER = 1{F}"), &format!("OTHER = 2{F}")), [""; 0]);
    }

    #[test]
    fn layout_of_a_constant_does_not_count() {
        assert_eq!(changed(&format!("LIMIT = 1{F}"), &format!("LIMIT=1  # one{F}")), [""; 0]);
    }

    #[test]
    fn a_constant_bound_within_a_statement_counts() {
        let module = |value: u32| format!("try:\n    import x\nexcept ImportError:\n    LIMIT = {value}{F}");
        assert_eq!(changed(&module(1), &module(2)), ["LIMIT"]);
    }

    #[test]
    fn an_import_that_changed_counts() {
        assert_eq!(changed(&format!("from a import LIMIT{F}"), &format!("from b import LIMIT{F}")), ["LIMIT"]);
    }
}
