//! What a function calls while it runs, by depth, to tell wrappers from what registers.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use twincell_syntax::scopes::Bindings;

use super::names::{NameId, Names};
use super::uses::{dotted, generic};

/// What a function calls itself, and what the functions in it call: those that a decorator with arguments gives.
#[derive(Debug, Default)]
pub(super) struct OwnCalls {
    /// The callees by depth, as names with attributes. Nothing stands for another expression, and for a write to what is not
    /// a local.
    pub by_depth: [BTreeSet<Option<Vec<NameId>>>; 2],
}

/// The locals of a function that are nothing but containers which it made: `**options`, and `items` of `items = []`.
fn own_containers(function: &StmtFunctionDef) -> BTreeSet<String> {
    #[derive(Default)]
    struct Assigned<'a> {
        made: BTreeSet<&'a str>,
        others: BTreeSet<&'a str>,
    }

    impl<'a> SourceOrderVisitor<'a> for Assigned<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if let Stmt::Assign(assign) = stmt
                && let [Expr::Name(name)] = assign.targets.as_slice()
                && is_new_container(&assign.value)
            {
                self.made.insert(&name.id);
                return;
            }
            source_order::walk_stmt(self, stmt);
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr
                && !name.ctx.is_load()
            {
                self.others.insert(&name.id);
            }
            source_order::walk_expr(self, expr);
        }
    }

    let mut assigned = Assigned::default();
    assigned.visit_body(&function.body);
    let parameters = &function.parameters;
    assigned.others.extend(parameters.iter_non_variadic_params().map(|one| one.parameter.name.as_str()));
    let variadic = [&parameters.vararg, &parameters.kwarg].into_iter().flatten();
    assigned.made.extend(variadic.map(|one| one.name.as_str()));
    assigned.made.difference(&assigned.others).map(|name| (*name).to_owned()).collect()
}

fn is_new_container(value: &Expr) -> bool {
    match value {
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::ListComp(_) | Expr::DictComp(_) | Expr::SetComp(_) => true,
        Expr::Call(call) => {
            matches!(dotted(&call.func), Some(("list" | "dict" | "set" | "sorted", attributes)) if attributes.is_empty())
        }
        _ => false,
    }
}

/// Collects the calls of a function.
pub(super) struct OwnCallsReader<'n> {
    pub names: &'n mut Names,
    pub found: OwnCalls,
    depth: usize,
    locals: Bindings,
    /// Locals that hold a container which the function made.
    own: BTreeSet<String>,
}

impl<'n> OwnCallsReader<'n> {
    pub fn new(names: &'n mut Names, function: &StmtFunctionDef) -> Self {
        let locals = Bindings::of_function(&function.parameters, None, &function.body);
        Self { names, found: OwnCalls::default(), depth: 0, locals, own: own_containers(function) }
    }

    fn callee(&mut self, expr: &Expr) {
        // The same method of the classes that it inherits from is looked at by itself.
        if let Expr::Attribute(attribute) = expr
            && let Expr::Call(call) = attribute.value.as_ref()
            && matches!(dotted(&call.func), Some(("super", _)))
        {
            return;
        }
        if matches!(dotted(expr), Some((root, attributes)) if attributes.len() == 1 && self.own.contains(root)) {
            return;
        }
        let chain = dotted(generic(expr)).map(|(root, attributes)| {
            let mut ids = vec![self.names.id(root)];
            ids.extend(attributes.iter().map(|name| self.names.id(name)));
            ids
        });
        if let Some(found) = self.found.by_depth.get_mut(self.depth) {
            found.insert(chain);
        }
    }

    fn target(&mut self, target: &Expr) {
        let base = match target {
            Expr::Attribute(attribute) => attribute.value.as_ref(),
            Expr::Subscript(subscript) => subscript.value.as_ref(),
            _ => return,
        };
        let is_local = dotted(base).is_some_and(|(root, _)| self.depth > 0 || self.locals.is_local(root));
        if !is_local && let Some(found) = self.found.by_depth.get_mut(self.depth) {
            found.insert(None);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for OwnCallsReader<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                for decorator in &function.decorator_list {
                    if !decorator.expression.is_call_expr() {
                        self.callee(&decorator.expression);
                    }
                    self.visit_expr(&decorator.expression);
                }
                self.depth += 1;
                if self.depth < 2 {
                    self.visit_body(&function.body);
                }
                self.depth -= 1;
            }
            Stmt::Global(_) | Stmt::Delete(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_) => {
                if let Some(found) = self.found.by_depth.get_mut(self.depth) {
                    found.insert(None);
                }
            }
            _ => {
                match stmt {
                    Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.target(target)),
                    Stmt::AugAssign(assign) => self.target(&assign.target),
                    Stmt::AnnAssign(assign) => self.target(&assign.target),
                    _ => {}
                }
                source_order::walk_stmt(self, stmt);
            }
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => {}
            Expr::Call(call) => {
                self.callee(&call.func);
                source_order::walk_expr(self, expr);
            }
            _ => source_order::walk_expr(self, expr),
        }
    }
}
