//! What a module defines and imports, by name, as statements that replace functions need it.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{
    Comprehension, Expr, ExprCall, ExprLambda, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef,
};
use ruff_text_size::{Ranged, TextSize};

use crate::python::is_builtin;

/// The methods that get what a class is called with.
const MAKERS: [&str; 4] = ["__new__", "__init__", "__post_init__", "__call__"];

/// How many parts of what a loop goes through are looked at one by one.
const MOST_TURNS: usize = 16;

/// How long the name of a module may be that is told, in bytes. All that replaces its functions repeats it.
pub const LONGEST_TARGET: usize = 200;

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
    /// The names that are bound to something of which nobody knows what it is, and those bound to plain values only.
    pub variables: BTreeSet<&'a str>,
    pub plain: BTreeSet<&'a str>,
    /// The names that may stand for a function or a class of the module, and for something imported.
    pub own: BTreeSet<&'a str>,
    pub foreign: BTreeMap<&'a str, String>,
    /// Whether its annotations stay texts.
    pub has_lazy_annotations: bool,
    /// All its functions.
    pub codes: Vec<Code<'a>>,
    /// Those that run where a name or an attribute of this name is called.
    pub by_name: BTreeMap<&'a str, Named<'a>>,
    /// What names are bound to, as the names there.
    bound: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// What a name or an attribute calls.
#[derive(Default)]
pub struct Named<'a> {
    pub codes: Vec<Called>,
    /// The names that it stands for.
    pub others: BTreeSet<&'a str>,
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
        Binder { module: &mut module }.visit_body(body);
        module.resolve();
        module.is_cell = is_cell;
        module.has_functions = is_cell || !module.defined.is_empty();
        module
    }

    fn add(&mut self, name: &'a str, code: Code<'a>) {
        self.by_name.entry(name).or_default().codes.push(Called { code: self.codes.len(), gets: true });
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
                        self.imported.insert(name, known(target));
                    }
                }
                Stmt::ImportFrom(node) => {
                    self.has_lazy_annotations |= node.module.as_deref() == Some("__future__")
                        && node.names.iter().any(|alias| &alias.name == "annotations");
                    let dots = ".".repeat(node.level as usize);
                    let from = format!("{dots}{}", node.module.as_deref().unwrap_or_default());
                    let dot = if from.is_empty() || from.ends_with('.') { "" } else { "." };
                    for alias in &node.names {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name);
                        self.imported.insert(name.as_str(), known(&format!("{from}{dot}{}", alias.name)));
                    }
                }
                // A lambda with a name is a function like any other.
                Stmt::Assign(node) => {
                    if let ([Expr::Name(name)], Expr::Lambda(lambda)) = (node.targets.as_slice(), node.value.as_ref()) {
                        self.defined.entry(&name.id).or_insert(name.start());
                        self.add(&name.id, Code::Lambda(lambda));
                    }
                }
                _ => crate::index::inner_bodies(stmt).into_iter().for_each(|inner| self.note(inner)),
            }
        }
    }

    /// What an assignment binds, part by part where both sides have as many.
    fn bind(&mut self, target: &'a Expr, value: &'a Expr) {
        match (target, value) {
            (Expr::Name(name), _) => self.bind_name(&name.id, value),
            (Expr::Starred(node), _) => self.bind(&node.value, value),
            (Expr::Tuple(_) | Expr::List(_), _) => {
                let (targets, values) = (parts(target), parts(value));
                let has_star = targets.iter().chain(values).any(Expr::is_starred_expr);
                if targets.len() == values.len() && !has_star {
                    targets.iter().zip(values).for_each(|(target, value)| self.bind(target, value));
                    return;
                }
                let mut names = Vec::new();
                names_of(target, &mut names);
                self.bind_all(names, value);
            }
            _ => {}
        }
    }

    /// Binds names that may all be what the first of them may.
    fn bind_all(&mut self, names: Vec<&'a str>, value: &'a Expr) {
        if is_plain(value) {
            self.plain.extend(names);
            return;
        }
        let mut names = names.into_iter();
        let Some(first) = names.next() else { return };
        self.bind_name(first, value);
        for name in names {
            self.variables.insert(name);
            self.bound.entry(name).or_default().insert(first);
        }
    }

    /// What a loop binds in its turns.
    fn bind_each(&mut self, target: &'a Expr, values: &'a Expr) {
        match parts(values) {
            // Each name is bound in each turn, so that this is done for a few turns only.
            parts if (1..=MOST_TURNS).contains(&parts.len()) && !parts.iter().any(Expr::is_starred_expr) => {
                parts.iter().for_each(|part| self.bind(target, part));
            }
            _ => self.bind(target, values),
        }
    }

    fn bind_name(&mut self, name: &'a str, value: &'a Expr) {
        match value {
            value if is_plain(value) => {
                self.plain.insert(name);
                return;
            }
            // What has two names can be reached by both.
            Expr::Name(other) => {
                let other = other.id.as_str();
                if other != name && self.by_name.contains_key(other) {
                    self.by_name.entry(name).or_default().others.insert(other);
                }
                match self.imported.get(other).cloned() {
                    Some(target) => drop(self.imported.entry(name).or_insert(target)),
                    None => drop(self.variables.insert(name)),
                }
            }
            Expr::Call(call) if is_import(&call.func) => {
                let named = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
                let target = named.map_or("", |text| text.value.to_str());
                self.imported.entry(name).or_insert_with(|| known(target));
            }
            _ => drop(self.variables.insert(name)),
        }
        let mut names = Vec::new();
        roots(value, &mut names);
        self.bound.entry(name).or_default().extend(names);
    }

    /// Whether a call of this name, or of what has none, may run whatever was put somewhere.
    pub fn is_unnamed(&self, called: Option<&str>) -> bool {
        called.is_none_or(|name| {
            let is_known = self.defined.contains_key(name)
                || self.imported.contains_key(name)
                || self.plain.contains(name)
                || is_builtin(name);
            self.variables.contains(name) || !is_known
        })
    }

    /// Follows names to what they stand for.
    fn resolve(&mut self) {
        let mut users: BTreeMap<&'a str, Vec<&'a str>> = BTreeMap::new();
        for (name, others) in &self.bound {
            others.iter().for_each(|other| users.entry(*other).or_default().push(*name));
        }
        let of = |name: &str| users.get(name).into_iter().flatten().copied();
        let mut due: Vec<&'a str> = self.defined.keys().copied().collect();
        while let Some(name) = due.pop() {
            due.extend(of(name).filter(|user| self.own.insert(*user)));
        }
        let mut due: Vec<(&'a str, String)> = self.imported.clone().into_iter().collect();
        while let Some((name, target)) = due.pop() {
            for user in of(name) {
                if !self.foreign.contains_key(user) {
                    self.foreign.insert(user, target.clone());
                    due.push((user, target.clone()));
                }
            }
        }
        self.plain =
            std::mem::take(&mut self.plain).into_iter().filter(|name| !self.variables.contains(name)).collect();
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
                        self.by_name.entry(&class.name).or_default().codes.push(called);
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

/// What binds names when a module is imported, other than imports and definitions.
struct Binder<'m, 'a> {
    module: &'m mut Module<'a>,
}

impl<'a> Visitor<'a> for Binder<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) => return,
            // It is compared as a function.
            Stmt::Assign(node) if node.value.is_lambda_expr() && node.targets.len() == 1 => return,
            Stmt::Assign(node) => match node.targets.as_slice() {
                [target] => self.module.bind(target, &node.value),
                targets => {
                    let mut names = Vec::new();
                    targets.iter().for_each(|target| names_of(target, &mut names));
                    self.module.bind_all(names, &node.value);
                }
            },
            Stmt::AnnAssign(node) => {
                node.value.iter().for_each(|value| self.module.bind(&node.target, value));
            }
            Stmt::For(node) => self.module.bind_each(&node.target, &node.iter),
            Stmt::With(node) => {
                for item in &node.items {
                    item.optional_vars.iter().for_each(|target| self.module.bind(target, &item.context_expr));
                }
            }
            Stmt::Match(node) => {
                for case in &node.cases {
                    PatternNames { module: self.module, subject: &node.subject }.visit_pattern(&case.pattern);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Named(node) => self.module.bind(&node.target, &node.value),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_comprehension(&mut self, node: &'a Comprehension) {
        self.module.bind_each(&node.target, &node.iter);
        self.visit_expr(&node.iter);
        node.ifs.iter().for_each(|test| self.visit_expr(test));
    }
}

/// The names of a pattern, which may all be what is matched.
struct PatternNames<'m, 'a> {
    module: &'m mut Module<'a>,
    subject: &'a Expr,
}

impl<'a> Visitor<'a> for PatternNames<'_, 'a> {
    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(node) => node.name.as_ref(),
            Pattern::MatchStar(node) => node.name.as_ref(),
            Pattern::MatchMapping(node) => node.rest.as_ref(),
            _ => None,
        };
        name.into_iter().for_each(|name| self.module.bind_name(name, self.subject));
        walk_pattern(self, pattern);
    }
}

/// The parts of what is written out as a tuple, a list or a set.
fn parts(expr: &Expr) -> &[Expr] {
    match expr {
        Expr::Tuple(node) => &node.elts,
        Expr::List(node) => &node.elts,
        Expr::Set(node) => &node.elts,
        _ => &[],
    }
}

/// The names that a target binds.
pub fn names_of<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(name) => names.push(&name.id),
        Expr::Starred(node) => names_of(&node.value, names),
        _ => parts(target).iter().for_each(|part| names_of(part, names)),
    }
}

/// The functions of Python that give one of what they are given.
const PASSING: [&str; 11] =
    ["getattr", "next", "iter", "list", "tuple", "set", "reversed", "sorted", "enumerate", "zip", "max"];

/// The names that stand for what the value of this may be, or for something that holds it.
pub fn roots<'a>(expr: &'a Expr, names: &mut Vec<&'a str>) {
    match expr {
        Expr::Name(name) => names.push(&name.id),
        Expr::Attribute(node) => roots(&node.value, names),
        Expr::Subscript(node) => roots(&node.value, names),
        Expr::Starred(node) => roots(&node.value, names),
        // It is bound to that.
        Expr::Named(node) => roots(&node.target, names),
        Expr::If(node) => [&node.body, &node.orelse].into_iter().for_each(|branch| roots(branch, names)),
        Expr::BoolOp(node) => node.values.iter().for_each(|value| roots(value, names)),
        Expr::Dict(node) => node.items.iter().for_each(|item| roots(&item.value, names)),
        Expr::ListComp(node) => roots(&node.elt, names),
        Expr::SetComp(node) => roots(&node.elt, names),
        Expr::Generator(node) => roots(&node.elt, names),
        Expr::Call(ExprCall { func, arguments, .. })
            if func.as_name_expr().is_some_and(|name| PASSING.contains(&name.id.as_str())) =>
        {
            arguments.args.iter().for_each(|value| roots(value, names));
        }
        _ => parts(expr).iter().for_each(|part| roots(part, names)),
    }
}

/// Whether this is a value that has no functions anyone could replace.
pub fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Compare(_) | Expr::FString(_) | Expr::TString(_) => true,
        Expr::UnaryOp(node) => is_plain(&node.operand),
        Expr::BinOp(node) => is_plain(&node.left) && is_plain(&node.right),
        Expr::Tuple(_) | Expr::List(_) | Expr::Set(_) => parts(expr).iter().all(is_plain),
        Expr::Dict(node) => node.items.iter().all(|item| is_plain(&item.value)),
        _ => expr.is_literal_expr(),
    }
}

/// The name of a module, if it is one that can be repeated for whatever uses it.
fn known(target: &str) -> String {
    if target.len() > LONGEST_TARGET { String::new() } else { target.to_owned() }
}

/// `importlib.import_module`, `__import__`.
pub fn is_import(function: &Expr) -> bool {
    match function {
        Expr::Name(name) => matches!(name.id.as_str(), "import_module" | "__import__"),
        Expr::Attribute(attribute) => attribute.attr == *"import_module",
        _ => false,
    }
}
