//! Which names a scope binds, and how private names are mangled. These are Python's rules, applied to one scope at a
//! time.
//!
//! Visitors that keep a stack of [`Bindings`] resolve names across scopes.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt, TypeParams};

use crate::parse::{parse, with_stack_for};

/// The bindings and declarations of one scope (function, lambda, class body, comprehension).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bindings {
    pub bound: BTreeSet<String>,
    pub globals: BTreeSet<String>,
    pub nonlocals: BTreeSet<String>,
}

impl Bindings {
    /// The scope of a function: parameters, type parameters, and all names that its body binds.
    pub fn of_function(parameters: &Parameters, type_params: Option<&TypeParams>, body: &[Stmt]) -> Self {
        let mut bindings = Self::of_body(body);
        bindings.bind_parameters(parameters);
        for parameter in type_params.into_iter().flat_map(|params| params.type_params.iter()) {
            bindings.bound.insert(parameter.name().to_string());
        }
        bindings
    }

    /// The scope of a lambda: its parameters and the targets of walrus operators in its body.
    pub fn of_lambda(parameters: Option<&Parameters>, body: &Expr) -> Self {
        let mut collector = Collector::default();
        collector.visit_expr(body);
        if let Some(parameters) = parameters {
            collector.bindings.bind_parameters(parameters);
        }
        collector.bindings
    }

    /// The scope of a class body, or of a function without its parameters.
    pub fn of_body(body: &[Stmt]) -> Self {
        let mut collector = Collector::default();
        collector.visit_body(body);
        collector.bindings
    }

    /// The targets of a comprehension.
    pub fn of_comprehension(generators: &[Comprehension]) -> Self {
        let mut collector = Collector::default();
        for generator in generators {
            collector.visit_expr(&generator.target);
        }
        collector.bindings
    }

    /// Whether the name is a local of this scope.
    pub fn is_local(&self, name: &str) -> bool {
        self.bound.contains(name) && !self.globals.contains(name) && !self.nonlocals.contains(name)
    }

    fn bind_parameters(&mut self, parameters: &Parameters) {
        for parameter in parameters.iter() {
            self.bound.insert(parameter.name().to_string());
        }
    }
}

/// The names that functions of a text declare as global.
pub fn declared_globals(text: &str) -> BTreeSet<String> {
    #[derive(Default)]
    struct Declared(BTreeSet<String>);

    impl<'a> SourceOrderVisitor<'a> for Declared {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if let Stmt::Global(global) = stmt {
                self.0.extend(global.names.iter().map(ToString::to_string));
            }
            source_order::walk_stmt(self, stmt);
        }

        fn visit_expr(&mut self, _: &'a Expr) {}
    }

    with_stack_for(text.len(), || {
        let mut declared = Declared::default();
        declared.visit_body(parse(text).suite());
        declared.0
    })
}

/// The names of the attributes that a text assigns: `items` for `self.items = []` and `cls.items += x`.
pub fn assigned_attributes(text: &str) -> BTreeSet<String> {
    #[derive(Default)]
    struct Assigned(BTreeSet<String>);

    impl<'a> SourceOrderVisitor<'a> for Assigned {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(node) = expr
                && node.ctx.is_store()
            {
                self.0.insert(node.attr.to_string());
            }
            source_order::walk_expr(self, expr);
        }
    }

    with_stack_for(text.len(), || {
        let mut assigned = Assigned::default();
        assigned.visit_body(parse(text).suite());
        assigned.0
    })
}

/// Walks one scope. It enters inner scopes only for names that they bind in this one.
#[derive(Default)]
struct Collector {
    bindings: Bindings,
    /// The depth of comprehensions, whose targets belong to themselves.
    comprehensions: u32,
}

impl Collector {
    fn bind(&mut self, name: &str) {
        self.bindings.bound.insert(name.to_owned());
    }

    fn defaults(&mut self, parameters: &Parameters) {
        for default in parameters.iter_non_variadic_params().filter_map(|parameter| parameter.default()) {
            self.visit_expr(default);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Collector {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bind(&function.name);
                for decorator in &function.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.defaults(&function.parameters);
            }
            Stmt::ClassDef(class) => {
                self.bind(&class.name);
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
            }
            Stmt::Global(global) => {
                self.bindings.globals.extend(global.names.iter().map(ToString::to_string));
            }
            Stmt::Nonlocal(nonlocal) => {
                self.bindings.nonlocals.extend(nonlocal.names.iter().map(ToString::to_string));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    self.bind(alias.asname.as_ref().map_or(first, |name| name.as_str()));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name));
                }
            }
            Stmt::TypeAlias(alias) => self.visit_expr(&alias.name),
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                if self.comprehensions == 0 && !matches!(name.ctx, ExprContext::Load) {
                    self.bind(&name.id);
                }
            }
            Expr::Named(named) => {
                if let Expr::Name(name) = named.target.as_ref() {
                    self.bind(&name.id);
                }
                self.visit_expr(&named.value);
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehensions += 1;
                source_order::walk_expr(self, expr);
                self.comprehensions -= 1;
            }
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name);
        }
        source_order::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name);
        }
        source_order::walk_pattern(self, pattern);
    }
}

/// A private name as CPython stores it inside this class; any other name unchanged.
pub fn mangle(name: &str, class: Option<&str>) -> String {
    match class.map(|class| class.trim_start_matches('_')) {
        Some(class) if !class.is_empty() && is_private(name) => format!("_{class}{name}"),
        _ => name.to_owned(),
    }
}

/// The name begins with two underscores and does not end with two.
pub fn is_private(name: &str) -> bool {
    name.starts_with("__") && !name.ends_with("__") && !name.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_assigned_in_every_form_of_target() {
        let text =
            "def f(self):\n    self.a = self.b\n    self.c += 1\n    for self.d, x in y:\n        (z, w.e) = y\n";
        assert_eq!(Vec::from_iter(assigned_attributes(text)), ["a", "c", "d", "e"]);
    }

    #[test]
    fn only_statements_declare_globals() {
        let text =
            "def f():\n    global a, \\\n        b\n    '''\n    global c\n    '''\n    def g():\n        global d\n";
        assert_eq!(Vec::from_iter(declared_globals(text)), ["a", "b", "d"]);
    }
}
