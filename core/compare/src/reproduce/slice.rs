//! The part of a module that a function needs: the statements that bind the names it uses, and what those use in turn.

use std::collections::BTreeSet;

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt};

use twincell_syntax::parse::{normalize_newlines, parse, slice, with_stack_for};
use twincell_syntax::scopes::Bindings;
use twincell_syntax::{CodeKind, Function, dotted};

/// The statements of `module` on which `function` depends, in order. Empty if there are none. Imports of `missing`
/// names are left out where these are given, and then so are imports relative to the package.
pub(super) fn needed(module: &str, function: &Function, missing: Option<&[String]>) -> String {
    let module = normalize_newlines(module);
    with_stack_for(module.len().max(function.text.len()), || {
        let parsed = parse(&module);
        let is_taken =
            |stmt: &&Stmt| !is_left_out(stmt, function) && !missing.is_some_and(|names| is_missing(stmt, names));
        let statements: Vec<Statement<'_>> = parsed.syntax().body.iter().filter(is_taken).map(Statement::new).collect();
        let mut wanted = names_of(&function.text);
        wanted.extend(function.qualname.split('.').next().filter(|_| is_inner(function)).map(String::from));
        let mut taken = vec![false; statements.len()];
        while let Some(next) = (0..statements.len()).find(|&at| !taken[at] && statements[at].touches(&wanted)) {
            taken[next] = true;
            wanted.extend(statements[next].used.iter().cloned());
        }
        let texts = statements.iter().zip(taken).filter(|(_, taken)| *taken);
        texts.map(|(statement, _)| format!("{}\n", slice(&module, statement.stmt))).collect()
    })
}

/// Whether a text defines a class with keywords, such as a metaclass.
pub(super) fn has_class_keywords(text: &str) -> bool {
    struct Search(bool);
    impl<'a> StatementVisitor<'a> for Search {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            self.0 |= matches!(stmt, Stmt::ClassDef(class) if !class.keywords().is_empty());
            walk_stmt(self, stmt);
        }
    }
    with_stack_for(text.len(), || {
        let mut search = Search(false);
        search.visit_body(&parse(text).syntax().body);
        search.0
    })
}

/// Contained in a class or another function.
pub(super) fn is_inner(function: &Function) -> bool {
    function.qualname.contains('.')
}

/// An import that fails, or that would provide a missing name.
fn is_missing(stmt: &Stmt, missing: &[String]) -> bool {
    let is_import = matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_));
    let relative = matches!(stmt, Stmt::ImportFrom(node) if node.level > 0);
    relative
        || is_import && Bindings::of_body(std::slice::from_ref(stmt)).bound.iter().any(|name| missing.contains(name))
}

/// The function itself, which is elsewhere in a reproducer, and statements without effect here.
fn is_left_out(stmt: &Stmt, function: &Function) -> bool {
    match stmt {
        Stmt::FunctionDef(node) => !is_inner(function) && node.name.as_str() == function.name,
        Stmt::ClassDef(node) => function.kind == CodeKind::Class && node.name.as_str() == function.name,
        Stmt::Assign(node) => {
            let named = |target: &Expr| matches!(target, Expr::Name(name) if name.id.as_str() == function.name);
            !is_inner(function) && node.value.is_lambda_expr() && node.targets.iter().all(named)
        }
        Stmt::ImportFrom(node) => node.module.as_deref() == Some("__future__"),
        Stmt::Expr(node) => node.value.is_literal_expr(),
        _ => false,
    }
}

struct Statement<'a> {
    stmt: &'a Stmt,
    bound: BTreeSet<String>,
    used: BTreeSet<String>,
    /// A statement that binds names that nobody can list.
    everything: bool,
}

impl<'a> Statement<'a> {
    fn new(stmt: &'a Stmt) -> Self {
        let mut bound = Bindings::of_body(std::slice::from_ref(stmt)).bound;
        bound.extend(changed(stmt).map(String::from));
        let mut names = Names::default();
        names.visit_stmt(stmt);
        let everything = matches!(stmt, Stmt::ImportFrom(node) if node.names.iter().any(|name| &name.name == "*"));
        Self { stmt, bound, used: names.0, everything }
    }

    fn touches(&self, wanted: &BTreeSet<String>) -> bool {
        self.everything || self.bound.iter().any(|name| wanted.contains(name))
    }
}

/// The name whose value a statement changes without binding it: `x` for `x.append(1)`, `x['a'] = 1`, `x.a += 1`.
fn changed(stmt: &Stmt) -> impl Iterator<Item = &str> {
    let targets: Vec<&Expr> = match stmt {
        Stmt::Expr(node) => match node.value.as_ref() {
            Expr::Call(call) if call.func.is_attribute_expr() => vec![&call.func],
            _ => vec![],
        },
        Stmt::Assign(node) => node.targets.iter().collect(),
        Stmt::AugAssign(node) => vec![&node.target],
        _ => vec![],
    };
    targets.into_iter().filter_map(root)
}

fn root(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(node) => root(&node.value),
        Expr::Subscript(node) => root(&node.value),
        Expr::Call(node) => root(&node.func),
        _ => None,
    }
}

/// The names that are read.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'a> SourceOrderVisitor<'a> for Names {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            self.0.insert(name.id.to_string());
        }
        source_order::walk_expr(self, expr);
    }
}

/// Every name in a text.
fn names_of(text: &str) -> BTreeSet<String> {
    let mut names = Names::default();
    for stmt in &parse(text).syntax().body {
        names.visit_stmt(stmt);
    }
    names.0
}

/// Expressions that must be exception classes: those that `raise` and `except` name, as access paths.
pub(super) fn exceptions(text: &str) -> BTreeSet<String> {
    #[derive(Default)]
    struct Raised(BTreeSet<String>);

    impl Raised {
        fn add(&mut self, expr: &Expr) {
            match expr {
                Expr::Call(call) => self.add(&call.func),
                Expr::Tuple(tuple) => tuple.elts.iter().for_each(|item| self.add(item)),
                _ => self.0.extend(dotted(expr)),
            }
        }
    }

    impl<'a> SourceOrderVisitor<'a> for Raised {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if let Stmt::Raise(raise) = stmt {
                // An exception that is raised without being made may be an instance.
                let is_class = |expr: &Expr| {
                    let path = dotted(expr).unwrap_or_default();
                    expr.is_call_expr()
                        || path.rsplit('.').next().is_some_and(|name| name.starts_with(char::is_uppercase))
                };
                raise.exc.iter().filter(|raised| is_class(raised)).for_each(|raised| self.add(raised));
            }
            source_order::walk_stmt(self, stmt);
        }

        fn visit_except_handler(&mut self, handler: &'a ruff_python_ast::ExceptHandler) {
            let ruff_python_ast::ExceptHandler::ExceptHandler(inner) = handler;
            inner.type_.iter().for_each(|caught| self.add(caught));
            source_order::walk_except_handler(self, handler);
        }
    }

    with_stack_for(text.len(), || {
        let mut raised = Raised::default();
        for stmt in &parse(text).syntax().body {
            raised.visit_stmt(stmt);
        }
        raised.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_syntax::functions;

    const MODULE: &str = "\
'''Doc.'''
from __future__ import annotations
import os, re
LIMIT = 3
OTHER = 4
TABLE = {}
TABLE['a'] = LIMIT
def helper(x):
    return TABLE[x]
class C:
    def m(self):
        return helper('a')
def f(x):
    return f(helper(x))
";

    fn part(name: &str) -> String {
        let function = functions(MODULE).0.into_iter().find(|function| function.qualname == name).unwrap();
        needed(MODULE, &function, None)
    }

    #[test]
    fn what_a_function_uses_is_taken_with_what_that_uses() {
        assert_eq!(part("f"), "LIMIT = 3\nTABLE = {}\nTABLE['a'] = LIMIT\ndef helper(x):\n    return TABLE[x]\n");
    }

    #[test]
    fn a_method_brings_its_class() {
        assert!(part("C.m").contains("class C:") && !part("C.m").contains("def f"));
    }

    #[test]
    fn a_function_that_uses_nothing_needs_nothing() {
        let text = "import os\ndef f(x):\n    return x\n";
        assert_eq!(needed(text, &functions(text).0[0], None), "");
    }

    #[test]
    fn classes_of_exceptions_are_found_where_they_are_raised_and_caught() {
        let text = "def f():\n    try:\n        raise a.B(1)\n    except (C, d.E):\n        raise\n";
        assert_eq!(exceptions(text).into_iter().collect::<Vec<_>>(), ["C", "a.B", "d.E"]);
    }
}
