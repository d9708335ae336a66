//! What is always there: names that a module or a class binds whatever happens, and attributes that objects of a class have
//! before anything else sees them.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use twincell_syntax::scopes::Bindings;

use super::hashing::without_docstring;

/// The names that a module's body binds, if it runs to its end.
pub(super) fn of_module(body: &[Stmt]) -> BTreeSet<String> {
    let is_sure = |stmt: &&Stmt| match stmt {
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Assign(_) | Stmt::Import(_) | Stmt::ImportFrom(_) => true,
        Stmt::AnnAssign(assign) => assign.value.is_some(),
        _ => false,
    };
    body.iter().filter(is_sure).flat_map(|stmt| Bindings::of_body(std::slice::from_ref(stmt)).bound).collect()
}

/// The names that a class's body binds to what no look-up runs: plain methods, and values that are written out.
pub(super) fn of_class(class: &StmtClassDef) -> BTreeSet<String> {
    let (mut plain, mut other) = (BTreeSet::new(), BTreeSet::new());
    for stmt in &class.body {
        let into = if is_plain(stmt) { &mut plain } else { &mut other };
        into.extend(Bindings::of_body(std::slice::from_ref(stmt)).bound);
    }
    plain.retain(|name| !other.contains(name));
    plain
}

fn is_plain(stmt: &Stmt) -> bool {
    let is_written_out = |value: &Expr| {
        value.is_literal_expr()
            || matches!(value, Expr::FString(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Dict(_) | Expr::Set(_))
    };
    match stmt {
        Stmt::FunctionDef(function) => function.decorator_list.iter().all(|decorator| {
            let name = match &decorator.expression {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                _ => "",
            };
            matches!(name, "staticmethod" | "classmethod" | "abstractmethod")
        }),
        Stmt::Assign(assign) => is_written_out(&assign.value),
        Stmt::AnnAssign(assign) => assign.value.as_deref().is_some_and(is_written_out),
        _ => false,
    }
}

/// What `__init__` of a class does at first.
#[derive(Default)]
pub(super) struct Beginning {
    /// The attributes that it sets before anything else gets the object.
    pub names: BTreeSet<String>,
    /// It goes on with the `__init__` of the next class.
    pub goes_above: bool,
}

pub(super) fn beginning(class: &StmtClassDef) -> Beginning {
    let is_init = |stmt: &&Stmt| Bindings::of_body(std::slice::from_ref(*stmt)).bound.contains("__init__");
    let mut found = Beginning::default();
    match class.body.iter().filter(is_init).collect::<Vec<_>>()[..] {
        [] => found.goes_above = true,
        [Stmt::FunctionDef(init)] if init.decorator_list.is_empty() => of_init(init, &mut found),
        _ => {}
    }
    found
}

fn of_init(init: &StmtFunctionDef, found: &mut Beginning) {
    let Some(own) = first_name(&init.parameters) else { return };
    for stmt in without_docstring(&init.body) {
        let (targets, value) = match stmt {
            Stmt::Assign(assign) => (assign.targets.as_slice(), Some(&*assign.value)),
            Stmt::AnnAssign(assign) => (std::slice::from_ref(&*assign.target), assign.value.as_deref()),
            Stmt::Expr(node) => {
                found.goes_above = calls_above(&node.value, own);
                return;
            }
            _ => return,
        };
        let Some(value) = value else { continue };
        if mentions(value, own) {
            return;
        }
        for target in targets {
            match target {
                Expr::Attribute(attribute) if is_name(&attribute.value, own) => {
                    found.names.insert(attribute.attr.to_string());
                }
                Expr::Name(name) if name.id != own => {}
                _ => return,
            }
        }
    }
}

fn first_name(parameters: &Parameters) -> Option<&str> {
    let first = parameters.posonlyargs.iter().chain(&parameters.args).next()?;
    Some(first.name().as_str())
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Name(one) if one.id == name)
}

/// `super().__init__(...)`, whose arguments do not hold the object.
fn calls_above(expr: &Expr, own: &str) -> bool {
    let Expr::Call(call) = expr else { return false };
    let Expr::Attribute(method) = &*call.func else { return false };
    let Expr::Call(of) = &*method.value else { return false };
    let arguments = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|one| &one.value));
    let is_above = of.arguments.is_empty() && is_name(&of.func, "super") && &method.attr == "__init__";
    is_above && arguments.into_iter().all(|one| !mentions(one, own))
}

fn mentions(expr: &Expr, name: &str) -> bool {
    struct Finder<'n> {
        name: &'n str,
        found: bool,
    }

    impl<'a> SourceOrderVisitor<'a> for Finder<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            // These see the object without its name.
            self.found |=
                matches!(expr, Expr::Name(one) if one.id == self.name || one.id == "super" || one.id == "locals");
            source_order::walk_expr(self, expr);
        }
    }

    let mut finder = Finder { name, found: false };
    finder.visit_expr(expr);
    finder.found
}

/// What a text takes away from objects, or makes without it.
#[derive(Default)]
pub(super) struct Taken {
    /// The names of variables and attributes that it deletes.
    pub names: BTreeSet<String>,
    /// It makes objects without `__init__`.
    pub makes_bare: bool,
    in_new: bool,
}

pub(super) fn taken(body: &[Stmt]) -> Taken {
    let mut taken = Taken::default();
    taken.visit_body(body);
    taken
}

impl Taken {
    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => drop(self.names.insert(name.id.to_string())),
            Expr::Attribute(attribute) => drop(self.names.insert(attribute.attr.to_string())),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.target(one)),
            Expr::List(list) => list.elts.iter().for_each(|one| self.target(one)),
            _ => {}
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Taken {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.target(target)),
            Stmt::FunctionDef(function) if &function.name == "__new__" => {
                let outside = std::mem::replace(&mut self.in_new, true);
                source_order::walk_stmt(self, stmt);
                self.in_new = outside;
                return;
            }
            _ => {}
        }
        source_order::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) => self.makes_bare |= !self.in_new && &attribute.attr == "__new__",
            Expr::Call(call) => {
                let deletes = match &*call.func {
                    Expr::Name(name) => name.id == "delattr",
                    Expr::Attribute(attribute) => matches!(attribute.attr.as_str(), "delattr" | "__delattr__"),
                    _ => false,
                };
                let texts = call.arguments.args.iter().filter_map(|one| one.as_string_literal_expr());
                self.names.extend(texts.filter(|_| deletes).map(|text| text.value.to_str().to_owned()));
            }
            _ => {}
        }
        source_order::walk_expr(self, expr);
    }
}
