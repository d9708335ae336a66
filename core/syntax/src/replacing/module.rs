//! What a module defines and imports, by name, as statements that replace functions need it.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprLambda, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextSize};

/// The methods that get what a class is called with.
const MAKERS: [&str; 4] = ["__new__", "__init__", "__post_init__", "__call__"];

/// The functions that run when somebody asks a class for something other than a method by its name.
fn runs_by_itself(method: &StmtFunctionDef) -> bool {
    let is_special = method.name.starts_with("__") && method.name.ends_with("__");
    let gives_value = |one: &Expr| match one {
        Expr::Name(name) => name.id.ends_with("property"),
        Expr::Attribute(attribute) => attribute.attr.ends_with("property"),
        _ => false,
    };
    is_special || method.decorator_list.iter().any(|one| gives_value(&one.expression))
}

/// A piece of code that runs when it is called.
#[derive(Clone, Copy)]
pub enum Code<'a> {
    Function {
        node: &'a StmtFunctionDef,
        is_method: bool,
    },
    Lambda(&'a ExprLambda),
    /// What defines it stands outside of functions. It uses what it inherits.
    Class(&'a StmtClassDef),
}

impl<'a> Code<'a> {
    pub fn parameters(self) -> Option<&'a Parameters> {
        match self {
            Code::Function { node, .. } => Some(&node.parameters),
            Code::Lambda(node) => node.parameters.as_deref(),
            Code::Class(_) => None,
        }
    }
}

/// What a module has at its top level, by name.
#[derive(Default)]
pub struct Module<'a> {
    /// Where its functions and classes begin, the first of each name.
    pub defined: BTreeMap<&'a str, TextSize>,
    /// Whether it is a cell, so that a name may stand for a function of an earlier one.
    pub is_cell: bool,
    /// Whether there may be functions under its own names.
    pub has_functions: bool,
    pub classes: BTreeMap<&'a str, TextSize>,
    /// The modules and other things that it imports, with where they come from.
    pub imported: BTreeMap<&'a str, String>,
    /// The names that something else is assigned to.
    pub variables: BTreeSet<&'a str>,
    /// All its functions.
    pub codes: Vec<Code<'a>>,
    /// Those that run where a name or an attribute of this name is called.
    pub by_name: BTreeMap<&'a str, Vec<Called>>,
}

/// A function that a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Called {
    /// Its position in [`Module::codes`].
    pub code: usize,
    /// Whether it gets what the call gives.
    pub gets: bool,
}

impl<'a> Module<'a> {
    pub fn of(body: &'a [Stmt], is_cell: bool) -> Self {
        let mut module = Self::default();
        module.note(body);
        module.is_cell = is_cell;
        module.has_functions = is_cell || !module.defined.is_empty();
        module
    }

    fn add(&mut self, name: &'a str, code: Code<'a>) {
        self.by_name.entry(name).or_default().push(Called { code: self.codes.len(), gets: true });
        self.codes.push(code);
    }

    fn note(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::FunctionDef(node) => {
                    self.defined.entry(&node.name).or_insert(node.start());
                    self.add(&node.name, Code::Function { node, is_method: false });
                }
                Stmt::ClassDef(node) => {
                    self.defined.entry(&node.name).or_insert(node.start());
                    self.classes.entry(&node.name).or_insert(node.start());
                    self.note_class(node);
                }
                Stmt::Import(node) => {
                    for alias in &node.names {
                        let whole = alias.name.as_str();
                        let root = whole.split('.').next().unwrap_or_default();
                        let (name, target) = match &alias.asname {
                            Some(name) => (name.as_str(), whole),
                            None => (root, root),
                        };
                        self.imported.insert(name, target.to_owned());
                    }
                }
                Stmt::ImportFrom(node) => {
                    let dots = ".".repeat(node.level as usize);
                    let from = format!("{dots}{}", node.module.as_deref().unwrap_or_default());
                    let dot = if from.is_empty() || from.ends_with('.') { "" } else { "." };
                    for alias in &node.names {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name);
                        self.imported.insert(name.as_str(), format!("{from}{dot}{}", alias.name));
                    }
                }
                Stmt::Assign(node) => {
                    if let [Expr::Name(name)] = node.targets.as_slice() {
                        self.note_value(&name.id, name.start(), &node.value);
                    }
                }
                _ => {
                    if let Stmt::For(node) = stmt {
                        self.variables.extend(node.target.as_name_expr().map(|name| name.id.as_str()));
                    }
                    crate::index::inner_bodies(stmt).into_iter().for_each(|inner| self.note(inner));
                }
            }
        }
    }

    /// A lambda with a name is a function like any other, and what has two names can be reached by both.
    fn note_value(&mut self, name: &'a str, start: TextSize, value: &'a Expr) {
        match value {
            Expr::Lambda(node) => {
                self.defined.entry(name).or_insert(start);
                self.add(name, Code::Lambda(node));
            }
            Expr::Name(other) => {
                let other = other.id.as_str();
                if let Some(codes) = self.by_name.get(other).cloned() {
                    self.by_name.entry(name).or_default().extend(codes);
                }
                if let Some(target) = self.imported.get(other).cloned() {
                    self.imported.insert(name, target);
                }
            }
            Expr::Call(call) if is_import(&call.func) => {
                let named = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
                let target = named.map_or_else(String::new, |text| text.value.to_str().to_owned());
                self.imported.insert(name, target);
            }
            _ => drop(self.variables.insert(name)),
        }
    }

    fn note_class(&mut self, class: &'a StmtClassDef) {
        self.add(&class.name, Code::Class(class));
        for stmt in &class.body {
            match stmt {
                Stmt::FunctionDef(node) => {
                    let is_static = |one: &Expr| one.as_name_expr().is_some_and(|name| &name.id == "staticmethod");
                    let is_method = !node.decorator_list.iter().any(|one| is_static(&one.expression));
                    self.add(&node.name, Code::Function { node, is_method });
                    if runs_by_itself(node) {
                        let gets = MAKERS.contains(&node.name.as_str());
                        let called = Called { code: self.codes.len() - 1, gets };
                        self.by_name.entry(&class.name).or_default().push(called);
                    }
                }
                Stmt::ClassDef(inner) => self.note_class(inner),
                Stmt::Assign(node) => {
                    if let ([Expr::Name(name)], Expr::Lambda(lambda)) = (node.targets.as_slice(), node.value.as_ref()) {
                        self.add(&name.id, Code::Lambda(lambda));
                    }
                }
                _ => {}
            }
        }
    }
}

/// `importlib.import_module`, `__import__`.
pub fn is_import(function: &Expr) -> bool {
    match function {
        Expr::Name(name) => matches!(name.id.as_str(), "import_module" | "__import__"),
        Expr::Attribute(attribute) => attribute.attr == *"import_module",
        _ => false,
    }
}
