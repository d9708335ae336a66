//! Which values are mappings by the way the code looks things up in them: it tests for the very key that it looks up
//! (`if x in m: m[x]`), or it handles the `KeyError` of a look-up.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, ExceptHandler, Expr, ExprSubscript, Stmt};
use ruff_text_size::Ranged;

use super::collector::Collector;
use super::{Key, add_missing};

/// The class of exception that says that a mapping lacks a key.
const NO_KEY: &str = "KeyError";

/// Notes the keys of mappings in a text.
pub(super) fn note(collector: &mut Collector, text: &str, body: &[Stmt]) {
    // Most functions test for nothing and handle nothing.
    if !text.contains(" in ") && !text.contains(NO_KEY) {
        return;
    }
    let mut tests = Tests { text, found: BTreeSet::new() };
    body.iter().for_each(|stmt| tests.visit_stmt(stmt));
    let mut lookups = Lookups { text, tested: tests.found, handled: 0, found: Vec::new() };
    body.iter().for_each(|stmt| lookups.visit_stmt(stmt));
    for node in lookups.found {
        collector.note(&node.value, |uses| add_missing(&mut uses.keys, &[Key::Member]));
    }
}

fn written<'a>(text: &'a str, expr: &Expr) -> &'a str {
    text.get(expr.range().to_std_range()).unwrap_or_default()
}

/// What is tested for being in what, as it is written.
struct Tests<'t> {
    text: &'t str,
    found: BTreeSet<(&'t str, &'t str)>,
}

impl<'a> Visitor<'a> for Tests<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Compare(node) = expr
            && let ([CmpOp::In | CmpOp::NotIn], [holder]) = (node.ops.as_ref(), node.comparators.as_ref())
        {
            self.found.insert((written(self.text, &node.left), written(self.text, holder)));
        }
        walk_expr(self, expr);
    }
}

/// The look-ups of keys.
struct Lookups<'t, 'a> {
    text: &'t str,
    tested: BTreeSet<(&'t str, &'t str)>,
    /// How many `try` statements around handle a missing key.
    handled: u32,
    found: Vec<&'a ExprSubscript>,
}

impl<'a> Visitor<'a> for Lookups<'_, 'a> {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let Stmt::Try(node) = stmt else { return walk_stmt(self, stmt) };
        let handles = node.handlers.iter().any(|ExceptHandler::ExceptHandler(handler)| {
            matches!(handler.type_.as_deref(), Some(Expr::Name(name)) if name.id.as_str() == NO_KEY)
        });
        self.handled += u32::from(handles);
        node.body.iter().for_each(|stmt| self.visit_stmt(stmt));
        self.handled -= u32::from(handles);
        let handlers = node.handlers.iter().flat_map(|ExceptHandler::ExceptHandler(handler)| &handler.body);
        handlers.chain(&node.orelse).chain(&node.finalbody).for_each(|stmt| self.visit_stmt(stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Subscript(node) = expr
            && !matches!(node.slice.as_ref(), Expr::Slice(_))
        {
            let is_tested =
                || self.tested.contains(&(written(self.text, &node.slice), written(self.text, &node.value)));
            if self.handled > 0 || is_tested() {
                self.found.push(node);
            }
        }
        walk_expr(self, expr);
    }
}
