//! The statements of one piece of code that may replace functions, and the names that it mentions.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use ruff_python_ast::comparable::{ComparableExpr, ComparableStmt};
use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{
    CmpOp, Decorator, ExceptHandler, Expr, ExprAttribute, Parameters, Pattern, Stmt, StmtFunctionDef,
};
use ruff_text_size::{Ranged, TextSize};

use super::level::Level;
use super::module::{Code, LONGEST_TARGET, Module, is_import, names_of, roots};
use crate::bound::bound;
use crate::scopes::Bindings;

/// The attributes that hold the names of an object, or change them.
const NAMESPACES: [&str; 6] = ["__dict__", "__globals__", "__setattr__", "__delattr__", "f_globals", "f_locals"];

/// Something that may replace a function.
pub struct Hit {
    pub start: TextSize,
    /// What the code has to be given for that.
    pub level: Level,
    pub target: Option<String>,
    pub content: u64,
    /// Whether it stands in a call.
    pub in_call: bool,
}

/// A call of what a name or a place holds.
pub struct UnnamedCall<'a> {
    pub start: TextSize,
    pub name: Option<&'a str>,
    pub content: u64,
}

/// A place that mentions a name or an attribute.
pub struct Mention<'a> {
    pub start: TextSize,
    pub name: &'a str,
    /// What is given to it.
    pub level: Level,
    /// The statement around it.
    pub content: u64,
}

pub struct Search<'m, 'a> {
    pub(super) module: &'m Module<'a>,
    /// The methods of the class whose body this is, and where they begin.
    class: Option<BTreeMap<&'a str, TextSize>>,
    /// In a function, the names that it takes from the module.
    globals: Option<BTreeSet<String>>,
    /// In a function, its parameters: what it is called with may be a function or a module.
    pub(super) parameters: BTreeSet<&'a str>,
    /// In a function, the variables and defaults that may stand for a function, a class or a module: what has to be given for
    /// that, and the module.
    pub(super) locals: BTreeMap<&'a str, (Level, Option<String>)>,
    /// The object that a method belongs to, and the class of a class method.
    pub(super) first: Option<&'a str>,
    pub(super) holder: Option<&'a str>,
    /// How many statements are around this place that may not run.
    depth: u32,
    /// Whether this is a part of a call or of a decorator.
    in_call: bool,
    /// Whether this is a part of an annotation, which puts nothing anywhere.
    in_annotation: bool,
    /// The statement of this place, if it holds no others, and the last one whose content was calculated.
    simple: Option<&'a Stmt>,
    known: Cell<Option<(&'a Stmt, u64)>>,
    pub hits: Vec<Hit>,
    pub mentions: Vec<Mention<'a>>,
    /// The functions that are put somewhere outside of functions, and the calls of what may come from there.
    pub stored: BTreeSet<&'a str>,
    pub unnamed_calls: Vec<UnnamedCall<'a>>,
    /// Of a function, all of it.
    pub content: u64,
}

impl<'m, 'a> Search<'m, 'a> {
    fn new(module: &'m Module<'a>) -> Self {
        Self {
            module,
            class: None,
            globals: None,
            parameters: BTreeSet::new(),
            locals: BTreeMap::new(),
            first: None,
            holder: None,
            depth: 0,
            in_call: false,
            in_annotation: false,
            simple: None,
            known: Cell::new(None),
            hits: vec![],
            mentions: vec![],
            stored: BTreeSet::new(),
            unnamed_calls: vec![],
            content: 0,
        }
    }

    /// What runs when the module is imported.
    pub fn of_module(module: &'m Module<'a>, body: &'a [Stmt]) -> Self {
        let mut search = Self::new(module);
        search.visit_body(body);
        search
    }

    /// What runs when a function is called.
    pub fn of_code(module: &'m Module<'a>, code: Code<'a>) -> Self {
        let mut search = Self::new(module);
        search.globals = Some(BTreeSet::new());
        let mut hasher = DefaultHasher::new();
        match code {
            Code::Function { node, is_method } => {
                search.visit_function(node, is_method);
                node.body.iter().for_each(|stmt| ComparableStmt::from(stmt).hash(&mut hasher));
            }
            Code::Lambda(node) => {
                search.note_parameters(code.parameters());
                search.visit_expr(&node.body);
                ComparableExpr::from(node.body.as_ref()).hash(&mut hasher);
            }
            Code::Class(node) => {
                let inherited = node.arguments.iter().flat_map(|arguments| arguments.args.iter());
                inherited.for_each(|class| search.visit_expr(class));
            }
        }
        search.content = hasher.finish();
        search
    }

    /// Adds parameters, and says which of them are new.
    fn note_parameters(&mut self, parameters: Option<&'a Parameters>) -> Vec<&'a str> {
        let parameters = parameters.into_iter().flat_map(|parameters| parameters.iter());
        let mut new = Vec::new();
        for parameter in parameters {
            let name = parameter.name().as_str();
            if let Some(default) = parameter.default() {
                self.note_local(vec![name], default);
            }
            if self.parameters.insert(name) {
                new.push(name);
            }
        }
        new
    }

    /// Notes what names of a function stand for.
    fn note_local(&mut self, names: Vec<&'a str>, value: &'a Expr) {
        let found = match value {
            Expr::Call(call) if is_import(&call.func) => {
                let name = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
                let name = name.map(|text| text.value.to_str()).filter(|name| name.len() <= LONGEST_TARGET);
                Some((Level::Nothing, name.map(str::to_owned)))
            }
            _ => {
                let mut names = Vec::new();
                roots(value, &mut names);
                names.into_iter().filter_map(|root| self.of_root(root)).min_by_key(|(level, _)| *level)
            }
        };
        let Some(found) = found else { return };
        for name in names {
            let known = self.locals.entry(name).or_insert_with(|| found.clone());
            if found.0 < known.0 {
                *known = found.clone();
            }
        }
    }

    /// Notes what the statement of a function binds.
    fn note_locals(&mut self, stmt: &'a Stmt) {
        let mut names = Vec::new();
        let value = match stmt {
            Stmt::Assign(node) => {
                node.targets.iter().for_each(|target| names_of(target, &mut names));
                &node.value
            }
            Stmt::AnnAssign(node) => {
                names_of(&node.target, &mut names);
                let Some(value) = &node.value else { return };
                value
            }
            Stmt::For(node) => {
                names_of(&node.target, &mut names);
                &node.iter
            }
            _ => return,
        };
        self.note_local(names, value);
    }

    fn forget(&mut self, parameters: Vec<&'a str>) {
        for name in parameters {
            self.parameters.remove(name);
        }
    }

    /// The body of a function, with those of the functions in it: somebody may call these, too.
    fn visit_function(&mut self, node: &'a StmtFunctionDef, is_method: bool) {
        let outer = (self.first, self.holder);
        let globals = Bindings::of_body(&node.body).globals;
        let added: Vec<String> = globals.into_iter().collect();
        self.globals.get_or_insert_default().extend(added);
        let parameters = self.note_parameters(Some(&node.parameters));
        if is_method {
            let first = node.parameters.iter().next().map(|parameter| parameter.name().as_str());
            (self.first, self.holder) = if is_of_class(node, first) { (None, first) } else { (first, None) };
        }
        self.visit_body(&node.body);
        (self.first, self.holder) = outer;
        self.forget(parameters);
    }

    /// The content of this place. A statement is looked at once, however much of it counts.
    fn content(&self, own: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        let statement = self.simple.map(|stmt| match self.known.get() {
            Some((known, content)) if std::ptr::eq(known, stmt) => content,
            _ => {
                let mut hasher = DefaultHasher::new();
                ComparableStmt::from(stmt).hash(&mut hasher);
                self.known.set(Some((stmt, hasher.finish())));
                hasher.finish()
            }
        });
        match statement {
            Some(content) => content.hash(&mut hasher),
            None => own.hash(&mut hasher),
        }
        hasher.finish()
    }

    fn add(&mut self, start: TextSize, level: Level, target: Option<String>, own: impl Hash) {
        let content = if self.globals.is_none() { self.content(own) } else { 0 };
        let start = self.simple.map_or(start, Ranged::start);
        self.hits.push(Hit { start, level, target, content, in_call: self.in_call });
    }

    fn mention(&mut self, name: &'a str, start: TextSize, level: Level) {
        if self.module.by_name.contains_key(name) {
            let content = if self.globals.is_none() { self.content(name) } else { 0 };
            // Whatever a lambda outside of functions is given may be a module.
            let level = if self.globals.is_none() && level == Level::Passed { Level::Holder } else { level };
            let start = self.simple.map_or(start, Ranged::start);
            self.mentions.push(Mention { start, name, level, content });
        }
    }

    /// A call of what has no name of a definition.
    fn call_unnamed(&mut self, name: Option<&'a str>, start: TextSize) {
        if self.globals.is_none() {
            let content = self.content("");
            let start = self.simple.map_or(start, Ranged::start);
            self.unnamed_calls.push(UnnamedCall { start, name, content });
        }
    }

    /// Whether binding a name here takes the place of a function or class.
    fn replaces(&self, name: &str, at: TextSize) -> bool {
        match (&self.class, &self.globals) {
            (_, Some(globals)) => globals.contains(name) && self.module.defined.contains_key(name),
            (Some(methods), None) => methods.get(name).is_some_and(|first| *first < at),
            (None, None) => self.module.defined.get(name).is_some_and(|first| *first < at),
        }
    }

    /// Whether a definition here is none that the module always makes.
    fn may_not_run(&self) -> bool {
        self.depth > 0 || self.globals.is_some()
    }

    /// Whether an attribute may be one of this module. What another module has is not.
    fn may_be_own(&self, node: &ExprAttribute) -> bool {
        let is_imported = |expr: &Expr| {
            let root = Self::root(expr);
            root.is_some_and(|root| self.module.imported.contains_key(root) && !self.module.variables.contains(root))
        };
        // A module can import itself.
        !is_imported(&node.value) || node.value.is_name_expr() && self.module.defined.contains_key(node.attr.as_str())
    }

    /// An annotation in a function is not looked at when it runs.
    fn visit_annotation_of_variable(&mut self, expr: &'a Expr) {
        if self.globals.is_none() {
            self.visit_annotation(expr);
        }
    }

    /// A decorator is called with what it decorates.
    fn visit_decorators(&mut self, decorators: &'a [Decorator], level: Level) {
        let outer = std::mem::replace(&mut self.in_call, true);
        for decorator in decorators {
            match &decorator.expression {
                Expr::Name(name) => {
                    self.mention(&name.id, decorator.start(), level);
                    self.call_unnamed(Some(&name.id), decorator.start());
                }
                Expr::Attribute(node) => self.mention(&node.attr, decorator.start(), level),
                Expr::Subscript(_) => self.call_unnamed(None, decorator.start()),
                _ => {}
            }
            self.visit_expr(&decorator.expression);
        }
        self.in_call = outer;
    }
}

/// `__name__ == "__main__"`.
fn is_main(test: &Expr) -> bool {
    let Expr::Compare(node) = test else { return false };
    let is_name = node.left.as_name_expr().is_some_and(|name| &name.id == "__name__");
    let texts = node.comparators.iter().filter_map(Expr::as_string_literal_expr);
    is_name && *node.ops == [CmpOp::Eq] && texts.map(|text| text.value.to_str()).eq(["__main__"])
}

/// Whether a statement holds others.
fn is_compound(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::If(_)
            | Stmt::For(_)
            | Stmt::While(_)
            | Stmt::With(_)
            | Stmt::Try(_)
            | Stmt::Match(_)
    )
}

/// Whether a method belongs to its class and not to an object.
fn is_of_class(method: &StmtFunctionDef, first: Option<&str>) -> bool {
    let is_named_so = |one: &Decorator| one.expression.as_name_expr().is_some_and(|name| &name.id == "classmethod");
    matches!(method.name.as_str(), "__new__" | "__init_subclass__" | "__class_getitem__")
        || matches!(first, Some("cls" | "mcs" | "mcls"))
        || method.decorator_list.iter().any(is_named_so)
}

/// The methods of a class, and where the first of each name begins.
fn methods(body: &[Stmt]) -> BTreeMap<&str, TextSize> {
    let methods = body.iter().filter_map(Stmt::as_function_def_stmt);
    methods.rev().map(|method| (method.name.as_str(), method.start())).collect()
}

impl<'a> Visitor<'a> for Search<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.simple = (!is_compound(stmt)).then_some(stmt);
        if self.globals.is_some() {
            self.note_locals(stmt);
        }
        match stmt {
            Stmt::FunctionDef(node) => {
                if self.may_not_run() && self.replaces(&node.name, stmt.start()) {
                    // What it does then is its own matter.
                    self.add(stmt.start(), Level::Nothing, None, node.name.as_str());
                }
                self.visit_decorators(&node.decorator_list, Level::Function);
                self.visit_parameters(&node.parameters);
                node.returns.iter().for_each(|returns| self.visit_annotation(returns));
                if self.globals.is_some() {
                    self.visit_function(node, false);
                }
                return;
            }
            Stmt::ClassDef(node) => {
                if self.may_not_run() && self.replaces(&node.name, stmt.start()) {
                    self.add(stmt.start(), Level::Nothing, None, node.name.as_str());
                }
                self.visit_decorators(&node.decorator_list, Level::Holder);
                if let Some(arguments) = &node.arguments {
                    self.visit_arguments(arguments);
                    // A metaclass makes the class, and a base is told of it.
                    for keyword in &arguments.keywords {
                        if let Expr::Name(name) = &keyword.value {
                            self.mention(&name.id, keyword.start(), Level::Holder);
                        }
                    }
                    if !arguments.args.is_empty() {
                        self.mention("__init_subclass__", stmt.start(), Level::Holder);
                    }
                }
                if self.globals.is_some() {
                    for inner in &node.body {
                        match inner {
                            Stmt::FunctionDef(method) => self.visit_function(method, true),
                            other => self.visit_stmt(other),
                        }
                    }
                    self.simple = None;
                    return;
                }
                let outer = (self.class.replace(methods(&node.body)), std::mem::take(&mut self.depth));
                self.visit_body(&node.body);
                (self.class, self.depth) = outer;
                return;
            }
            // The name of a star import is `*`.
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                let is_hit = |name: &str| name == "*" && self.module.has_functions || self.replaces(name, stmt.start());
                if bound(stmt).into_iter().any(is_hit) {
                    self.add(stmt.start(), Level::Nothing, None, ComparableStmt::from(stmt));
                }
            }
            // It is compared as a function.
            Stmt::Assign(node)
                if node.value.is_lambda_expr()
                    && self.depth == 0
                    && self.globals.is_none()
                    && matches!(node.targets.as_slice(), [Expr::Name(_)]) =>
            {
                return;
            }
            Stmt::AnnAssign(node) if node.value.is_none() => {
                self.visit_annotation_of_variable(&node.annotation);
                return;
            }
            Stmt::AnnAssign(node) => {
                self.visit_annotation_of_variable(&node.annotation);
                self.depth += 1;
                node.value.iter().for_each(|value| self.visit_expr(value));
                self.visit_expr(&node.target);
                self.depth -= 1;
                return;
            }
            Stmt::If(node) if is_main(&node.test) => {
                // Nothing of it runs when the module is imported.
                for clause in &node.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
                return;
            }
            _ => {}
        }
        self.depth += 1;
        walk_stmt(self, stmt);
        self.depth -= 1;
    }

    fn visit_annotation(&mut self, expr: &'a Expr) {
        if !self.module.has_lazy_annotations {
            let outer = std::mem::replace(&mut self.in_annotation, true);
            self.visit_expr(expr);
            self.in_annotation = outer;
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let hit = match expr {
            Expr::Name(node) if node.ctx.is_store() || node.ctx.is_del() => {
                self.replaces(&node.id, expr.start()).then_some((Level::Nothing, None))
            }
            Expr::Attribute(node) if node.ctx.is_store() || node.ctx.is_del() => self.foreign(expr),
            Expr::Subscript(node) if node.ctx.is_store() || node.ctx.is_del() => self.foreign(expr),
            Expr::Name(node) if self.module.defined.contains_key(node.id.as_str()) => {
                // Whoever gets a function may call it.
                if self.in_call || self.globals.is_some() && !self.in_annotation {
                    self.mention(&node.id, expr.start(), Level::Nothing);
                }
                if self.globals.is_none() && (self.in_call || !self.in_annotation) {
                    self.stored.insert(&node.id);
                }
                None
            }
            Expr::Name(node) => {
                // Whoever gets what stands for a function may call it, too.
                if self.in_call && self.module.own.contains(node.id.as_str()) {
                    self.call_unnamed(Some(&node.id), expr.start());
                }
                self.reflective(&node.id, None)
            }
            Expr::Attribute(node) if self.is_builtins(&node.value) => self.reflective(&node.attr, None),
            // `__builtins__["exec"]`
            Expr::Subscript(node) if self.is_builtins(&node.value) => {
                let name = node.slice.as_string_literal_expr().map(|text| text.value.to_str());
                name.map_or(Some((Level::Nothing, None)), |name| self.reflective(name, None))
            }
            Expr::Attribute(node) => {
                // A property runs when somebody asks for it.
                let may_run =
                    self.in_call || self.globals.is_some() && !self.in_annotation || node.value.is_call_expr();
                if may_run && self.may_be_own(node) {
                    self.mention(&node.attr, expr.start(), Level::Nothing);
                }
                let is_own = self.is_first(Some(&node.value)) || is_super(&node.value);
                (NAMESPACES.contains(&node.attr.as_str()) && !is_own).then(|| {
                    let root = Self::root(&node.value);
                    let is_given = root.is_some_and(|root| self.parameters.contains(root));
                    let target = root.and_then(|root| self.module.imported.get(root)).cloned();
                    (if is_given { Level::Function } else { Level::Nothing }, target)
                })
            }
            _ => None,
        };
        if let Some((level, target)) = hit {
            self.add(expr.start(), level, target, ComparableExpr::from(expr));
        }
        if let Expr::Lambda(node) = expr {
            let parameters = self.note_parameters(node.parameters.as_deref());
            walk_expr(self, expr);
            self.forget(parameters);
            return;
        }
        let Expr::Call(call) = expr else {
            walk_expr(self, expr);
            return;
        };
        let outer = std::mem::replace(&mut self.in_call, true);
        let level = self.level(call);
        match call.func.as_ref() {
            Expr::Name(name) if self.module.defined.contains_key(name.id.as_str()) => {
                self.mention(&name.id, call.start(), level);
                self.call_unnamed(Some(&name.id), call.start());
            }
            Expr::Name(name) => {
                self.mention(&name.id, call.start(), level);
                self.call_unnamed(Some(&name.id), call.start());
                if let Some((level, target)) = self.reflective(&name.id, Some(&call.arguments.args)) {
                    self.add(call.start(), level, target, ComparableExpr::from(expr));
                }
                // `getattr(till, "open")()`
                if &name.id == "getattr"
                    && let [object, Expr::StringLiteral(text), ..] = &*call.arguments.args
                {
                    if let Some((name, _)) = self.module.by_name.get_key_value(text.value.to_str()) {
                        self.mention(name, call.start(), Level::Nothing);
                    }
                    if self.is_builtins(object)
                        && let Some((level, target)) = self.reflective(text.value.to_str(), None)
                    {
                        self.add(call.start(), level, target, ComparableExpr::from(expr));
                    }
                }
            }
            Expr::Attribute(node) => {
                if self.may_be_own(node) {
                    self.mention(&node.attr, call.start(), level);
                }
                // `builtins.setattr(os, name, value)`
                if self.is_builtins(&node.value)
                    && let Some((level, target)) = self.reflective(&node.attr, Some(&call.arguments.args))
                {
                    self.add(call.start(), level, target, ComparableExpr::from(expr));
                }
                // `object.__setattr__(self, name, value)`
                else if !(NAMESPACES.contains(&node.attr.as_str()) && self.is_first(call.arguments.args.first())) {
                    self.visit_expr(&call.func);
                }
            }
            other => {
                if !other.is_lambda_expr() {
                    self.call_unnamed(None, call.start());
                }
                self.visit_expr(other);
            }
        }
        // Whoever gets what was put somewhere may call it.
        let named = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        if call.arguments.args.iter().chain(named).any(Expr::is_subscript_expr) {
            self.call_unnamed(None, call.start());
        }
        self.visit_arguments(&call.arguments);
        self.in_call = outer;
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.visit_stmt(stmt);
        }
        // What follows in the statement around stands in none of these.
        self.simple = None;
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        if node.name.as_ref().is_some_and(|name| self.replaces(name, node.start())) {
            self.add(node.start(), Level::Nothing, None, node.name.as_deref());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(node) => node.name.as_deref(),
            Pattern::MatchStar(node) => node.name.as_deref(),
            Pattern::MatchMapping(node) => node.rest.as_deref(),
            _ => None,
        };
        if name.is_some_and(|name| self.replaces(name, pattern.start())) {
            self.add(pattern.start(), Level::Nothing, None, name);
        }
        walk_pattern(self, pattern);
    }
}

/// `super()`.
fn is_super(expr: &Expr) -> bool {
    let called = expr.as_call_expr().and_then(|call| call.func.as_name_expr());
    called.is_some_and(|name| &name.id == "super")
}
