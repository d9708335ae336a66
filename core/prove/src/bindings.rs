//! How often a function binds each of its names. A closure sees the variable, not its value, so only names that are bound once
//! may be captured by value.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Pattern, Stmt};

/// One for a binding outside of loops, two or more otherwise.
pub(crate) fn counts(body: &[Stmt]) -> BTreeMap<String, usize> {
    let mut counter = Counter::default();
    counter.visit_body(body);
    counter.counts
}

#[derive(Default)]
struct Counter {
    counts: BTreeMap<String, usize>,
    loops: usize,
}

impl Counter {
    fn bind(&mut self, name: &str) {
        *self.counts.entry(name.to_string()).or_default() += if self.loops > 0 { 2 } else { 1 };
    }
}

impl<'a> SourceOrderVisitor<'a> for Counter {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(node) => {
                self.bind(&node.name);
                // What a nested function binds as `nonlocal` is refused elsewhere.
                return;
            }
            Stmt::ClassDef(node) => return self.bind(&node.name),
            Stmt::Import(node) => {
                for alias in &node.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.bind(name.split('.').next().unwrap_or_default());
                }
            }
            Stmt::ImportFrom(node) => {
                for alias in &node.names {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            _ => {}
        }
        let is_loop = matches!(stmt, Stmt::For(_) | Stmt::While(_));
        self.loops += usize::from(is_loop);
        source_order::walk_stmt(self, stmt);
        self.loops -= usize::from(is_loop);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        if let Some(name) = &node.name {
            // It is bound, and unbound at the end.
            self.bind(name);
            self.bind(name);
        }
        source_order::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(node) => node.name.as_ref(),
            Pattern::MatchStar(node) => node.name.as_ref(),
            Pattern::MatchMapping(node) => node.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name);
        }
        source_order::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx != ExprContext::Load
        {
            self.bind(&name.id);
        }
        let is_loop = matches!(
            expr,
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) | Expr::Lambda(_)
        );
        self.loops += usize::from(is_loop);
        source_order::walk_expr(self, expr);
        self.loops -= usize::from(is_loop);
    }
}
