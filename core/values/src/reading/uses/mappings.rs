//! Which values are mappings by the way the code looks things up in them: it tests for the very key that it looks up
//! (`if x in m: m[x]`), or it handles the `KeyError` of a look-up.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, ExceptHandler, Expr, ExprSubscript, Stmt, StmtTry};
use ruff_text_size::Ranged;

use super::collector::Collector;
use super::{Key, add_missing};

/// The class of exception that says that a mapping lacks a key.
const NO_KEY: &str = "KeyError";

/// Exceptions of look-ups that do not say what was looked up in.
const NO_ITEM: [&str; 2] = ["IndexError", "LookupError"];

/// Notes the keys of mappings in a text.
pub(super) fn note(collector: &mut Collector, text: &str, body: &[Stmt]) {
    // Many functions have neither.
    if !text.contains(" in ") && !text.contains(NO_KEY) {
        return;
    }
    let mut tests = Tests { text, found: BTreeSet::new() };
    body.iter().for_each(|stmt| tests.visit_stmt(stmt));
    let mut lookups = Lookups { text, tested: tests.found, handled: false, found: Vec::new() };
    body.iter().for_each(|stmt| lookups.visit_stmt(stmt));
    for node in lookups.found {
        if collector.is_position(&node.slice) {
            continue;
        }
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

/// Whether a statement handles that a mapping lacks a key, and not also that a sequence lacks a position.
fn handles(node: &StmtTry) -> bool {
    let classes = node.handlers.iter().filter_map(|ExceptHandler::ExceptHandler(handler)| handler.type_.as_deref());
    let names: Vec<&str> = classes
        .flat_map(|class| match class {
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            other => std::slice::from_ref(other),
        })
        .filter_map(|class| class.as_name_expr())
        .map(|name| name.id.as_str())
        .collect();
    names.contains(&NO_KEY) && !NO_ITEM.iter().any(|name| names.contains(name))
}

/// The look-ups of keys.
struct Lookups<'t, 'a> {
    text: &'t str,
    tested: BTreeSet<(&'t str, &'t str)>,
    /// A `try` statement around handles a missing key.
    handled: bool,
    found: Vec<&'a ExprSubscript>,
}

impl<'a> Visitor<'a> for Lookups<'_, 'a> {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Try(node) => {
                let handled = self.handled;
                self.handled |= handles(node);
                node.body.iter().for_each(|stmt| self.visit_stmt(stmt));
                self.handled = handled;
                let handlers = node.handlers.iter().flat_map(|ExceptHandler::ExceptHandler(handler)| &handler.body);
                handlers.chain(&node.orelse).chain(&node.finalbody).for_each(|stmt| self.visit_stmt(stmt));
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {
                let handled = std::mem::take(&mut self.handled);
                walk_stmt(self, stmt);
                self.handled = handled;
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Subscript(node) = expr
            && !matches!(node.slice.as_ref(), Expr::Slice(_))
        {
            let is_tested =
                || self.tested.contains(&(written(self.text, &node.slice), written(self.text, &node.value)));
            let is_number = matches!(node.slice.as_ref(), Expr::NumberLiteral(_) | Expr::UnaryOp(_));
            if self.handled && !is_number || is_tested() {
                self.found.push(node);
            }
        }
        walk_expr(self, expr);
    }
}
