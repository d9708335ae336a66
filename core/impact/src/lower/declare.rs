//! The procedures of a project and the scopes of their names, before any of them is lowered.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Comprehension, Expr, ExprLambda, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::Project;
use twincell_syntax::scopes::{Bindings, mangle};

use super::source::Source;
use super::stars::Stars;
use crate::program::ProcedureId;

/// The most procedures of a project that are lowered.
const MAX_PROCEDURES: usize = 100_000;

/// A scope of names: a module, a function, a class body, or a comprehension.
#[derive(Debug)]
pub(super) struct Frame {
    pub kind: FrameKind,
    /// The module and the offset at which the scope starts: no other scope of the kind has both.
    pub key: (usize, TextSize),
    pub bindings: Bindings,
    /// The function that it is, or that holds it, as shared variables name it.
    pub function: Arc<str>,
    pub outer: Option<Rc<Frame>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    Module,
    Function,
    Class,
    Comprehension,
}

/// The code of a procedure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body<'a> {
    Module(&'a [Stmt]),
    Function(&'a StmtFunctionDef),
    Lambda(&'a ExprLambda),
}

#[derive(Debug)]
pub(super) struct Declaration<'a> {
    pub module: usize,
    pub qualname: Arc<str>,
    pub ordinal: u32,
    pub body: Body<'a>,
    /// The scope of its names.
    pub frame: Rc<Frame>,
    /// The innermost class around it, by whose name private names are mangled.
    pub class: Option<Arc<str>>,
    /// The call of a method gives its first parameter.
    pub takes_receiver: bool,
    /// It runs when its result is consumed, not when it is called.
    pub is_lazy: bool,
}

impl<'a> Declaration<'a> {
    pub fn parameters(&self) -> Option<&'a Parameters> {
        match self.body {
            Body::Module(_) => None,
            Body::Function(function) => Some(&function.parameters),
            Body::Lambda(lambda) => lambda.parameters.as_deref(),
        }
    }
}

/// Where a name is bound.
pub(super) enum Found {
    /// The scope, and whether another procedure than its own asks.
    In(Rc<Frame>),
    Nowhere,
}

/// What is known of a project before its procedures are lowered.
#[derive(Debug, Default)]
pub(super) struct Declared<'a> {
    pub procedures: Vec<Declaration<'a>>,
    /// Functions and lambdas by module and start.
    pub at: FxHashMap<(usize, TextSize), ProcedureId>,
    pub named: FxHashMap<(usize, Arc<str>), Vec<ProcedureId>>,
    /// Lambdas by module and the function or class that holds them.
    pub lambdas: FxHashMap<(usize, Arc<str>), Vec<ProcedureId>>,
    /// Functions in class bodies, by name.
    pub methods: FxHashMap<Arc<str>, Vec<ProcedureId>>,
    /// Functions of modules that answer for names that these have not.
    pub module_answers: Vec<ProcedureId>,
    /// Methods with a decorator that may make their name an attribute that runs them.
    pub properties: FxHashMap<Arc<str>, Vec<ProcedureId>>,
    /// Variables that inner procedures see, by scope.
    pub captured: FxHashSet<((usize, TextSize), Arc<str>)>,
    /// Names of attributes and of imports from modules, by which another module may see a variable.
    pub words: FxHashSet<Arc<str>>,
    /// The names of attributes that some statement assigns.
    pub assigned: FxHashSet<Arc<str>>,
    /// Some class has methods that the text does not show: it has a decorator or a base outside of the project.
    pub has_generated_methods: bool,
    /// The names that bodies of classes bind to something else than a plain function or a literal.
    pub class_variables: FxHashSet<Arc<str>>,
    /// The attributes that positional patterns read, as classes say.
    pub match_args: BTreeSet<Arc<str>>,
    /// Some class says what makes it.
    pub has_metaclasses: bool,
    pub stars: Stars,
    pub is_cut: bool,
}

pub(super) fn declare<'a>(project: &Project, sources: &'a [Source<'a>]) -> Declared<'a> {
    let own: Vec<Bindings> = sources.iter().map(|source| with_globals(source.body)).collect();
    let stars = Stars::of(project, sources, |module| own[module].bound.iter().cloned().collect());
    let mut declared = Declared { stars, ..Declared::default() };
    for ((module, source), mut bindings) in sources.iter().enumerate().zip(own) {
        bindings.bound.extend(declared.stars.got_by(module).map(ToString::to_string));
        let frame = Rc::new(Frame {
            kind: FrameKind::Module,
            key: (module, TextSize::default()),
            bindings,
            function: "".into(),
            outer: None,
        });
        let body = Body::Module(source.body);
        declared.add(module, "".into(), body, frame.clone(), None, false, false);
        let mut visitor =
            Declarer { declared: &mut declared, module, frame, prefix: String::new(), class: None, in_class: false };
        visitor.visit_body(source.body);
    }
    declared
}

/// The names that a module's body binds, and those that functions declare as global.
fn with_globals(body: &[Stmt]) -> Bindings {
    #[derive(Default)]
    struct Globals(Vec<String>);

    impl<'a> SourceOrderVisitor<'a> for Globals {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Global(global) => self.0.extend(global.names.iter().map(ToString::to_string)),
                _ => source_order::walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, _: &'a Expr) {}
    }

    let mut globals = Globals::default();
    globals.visit_body(body);
    let mut bindings = Bindings::of_body(body);
    bindings.globals.clear();
    bindings.bound.extend(globals.0);
    bindings
}

/// Looks a name up, from the innermost scope outwards.
pub(super) fn look_up(frame: &Rc<Frame>, name: &str) -> (Found, bool) {
    let mut next = Some(frame.clone());
    let (mut is_outside, mut only_module) = (false, false);
    while let Some(frame) = next {
        let is_visible = frame.kind != FrameKind::Class || !is_outside;
        if frame.bindings.globals.contains(name) && is_visible {
            only_module = true;
        }
        let may_be = if only_module { frame.kind == FrameKind::Module } else { is_visible };
        if may_be && frame.bindings.is_local(name) {
            return (Found::In(frame), is_outside);
        }
        is_outside |= frame.kind == FrameKind::Function;
        next = frame.outer.clone();
    }
    (Found::Nowhere, is_outside)
}

impl<'a> Declared<'a> {
    /// All methods that may answer for attributes.
    pub fn answering(&self) -> impl Iterator<Item = ProcedureId> {
        let methods = ["__getattribute__", "__getattr__"].into_iter().filter_map(|name| self.methods.get(name));
        methods.flatten().copied()
    }

    /// Whether another module may see a variable of a module.
    pub fn is_seen_elsewhere(&self, module: usize, name: &str) -> bool {
        self.words.contains(name) || self.stars.brought_by(module).binary_search_by(|one| (**one).cmp(name)).is_ok()
    }

    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        module: usize,
        qualname: Arc<str>,
        body: Body<'a>,
        frame: Rc<Frame>,
        class: Option<Arc<str>>,
        takes_receiver: bool,
        is_lazy: bool,
    ) -> Option<ProcedureId> {
        if self.procedures.len() >= MAX_PROCEDURES {
            self.is_cut = true;
            return None;
        }
        let id = ProcedureId(self.procedures.len() as u32);
        let same = self.named.entry((module, qualname.clone())).or_default();
        let ordinal = same.len() as u32;
        same.push(id);
        self.procedures.push(Declaration { module, qualname, ordinal, body, frame, class, takes_receiver, is_lazy });
        Some(id)
    }
}

struct Declarer<'d, 'a> {
    declared: &'d mut Declared<'a>,
    module: usize,
    frame: Rc<Frame>,
    /// What precedes the names of definitions here: `C.`, `f.<locals>.`.
    prefix: String,
    class: Option<Arc<str>>,
    in_class: bool,
}

impl<'a> Declarer<'_, 'a> {
    fn within(&mut self, kind: FrameKind, start: TextSize, bindings: Bindings, work: impl FnOnce(&mut Self)) {
        let function = match kind {
            FrameKind::Function => self.prefix.trim_end_matches(".<locals>.").into(),
            _ => self.frame.function.clone(),
        };
        let outer = self.frame.clone();
        let key = (self.module, start);
        self.frame = Rc::new(Frame { kind, key, bindings, function, outer: Some(outer.clone()) });
        work(self);
        self.frame = outer;
    }

    fn name(&mut self, name: &str) {
        if let (Found::In(frame), true) = look_up(&self.frame, name) {
            self.declared.captured.insert((frame.key, name.into()));
        }
    }

    fn function(&mut self, function: &'a StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        self.defaults(&function.parameters);
        self.name(&function.name);
        let qualname: Arc<str> = format!("{}{}", self.prefix, function.name).into();
        let plain = |name: &str| function.decorator_list.iter().any(|one| is_named(&one.expression, name));
        let takes_receiver = self.in_class && !plain("staticmethod");
        let is_lazy = function.is_async || yields(&function.body);
        let bindings = Bindings::of_function(&function.parameters, function.type_params.as_deref(), &function.body);
        let outer = (std::mem::take(&mut self.prefix), self.in_class);
        let is_method = self.in_class;
        self.prefix = format!("{qualname}.<locals>.");
        self.in_class = false;
        self.within(FrameKind::Function, function.start(), bindings, |this| {
            let body = Body::Function(function);
            let (module, frame, class) = (this.module, this.frame.clone(), this.class.clone());
            let mangled: Arc<str> = mangle(&function.name, class.as_deref()).into();
            if let Some(id) = this.declared.add(module, qualname, body, frame, class, takes_receiver, is_lazy) {
                this.declared.at.insert((module, function.start()), id);
                if this.frame.function == function.name.as_str().into() && &function.name == "__getattr__" && !is_method
                {
                    this.declared.module_answers.push(id);
                }
                if is_method {
                    let is_plain = |name: &str| ["staticmethod", "classmethod", "abstractmethod"].contains(&name);
                    let may_be_property = function.decorator_list.iter().any(|one| match &one.expression {
                        Expr::Name(name) => !is_plain(&name.id),
                        Expr::Attribute(attribute) => !is_plain(&attribute.attr),
                        _ => true,
                    });
                    if may_be_property {
                        this.declared.properties.entry(mangled.clone()).or_default().push(id);
                    }
                    this.declared.methods.entry(mangled).or_default().push(id);
                }
            }
            this.visit_body(&function.body);
        });
        (self.prefix, self.in_class) = outer;
    }

    fn lambda(&mut self, lambda: &'a ExprLambda) {
        if let Some(parameters) = lambda.parameters.as_deref() {
            self.defaults(parameters);
        }
        let holder: Arc<str> = self.prefix.as_str().into();
        let bindings = Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body);
        let qualname: Arc<str> = format!("{}<lambda>", self.prefix).into();
        let outer = (std::mem::take(&mut self.prefix), std::mem::take(&mut self.in_class));
        self.prefix = format!("{qualname}.<locals>.");
        self.within(FrameKind::Function, lambda.start(), bindings, |this| {
            let (module, frame, class) = (this.module, this.frame.clone(), this.class.clone());
            let is_lazy = has_yield(&lambda.body);
            if let Some(id) = this.declared.add(module, qualname, Body::Lambda(lambda), frame, class, false, is_lazy) {
                this.declared.at.insert((module, lambda.start()), id);
                this.declared.lambdas.entry((module, holder)).or_default().push(id);
            }
            this.visit_expr(&lambda.body);
        });
        (self.prefix, self.in_class) = outer;
    }

    fn class(&mut self, class: &'a StmtClassDef) {
        for decorator in &class.decorator_list {
            self.visit_decorator(decorator);
        }
        if let Some(arguments) = class.arguments.as_deref() {
            self.visit_arguments(arguments);
        }
        let known = ["object", "Exception", "ABC", "Protocol", "Generic", "NamedTuple"];
        let outside = class.bases().iter().any(|base| {
            let name = match base {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                _ => "",
            };
            name == "NamedTuple" || !known.contains(&name) && !self.frame.bindings.bound.contains(name)
        });
        self.declared.has_generated_methods |= !class.decorator_list.is_empty() || outside;
        let is_plain = |one: &&Stmt| match one {
            Stmt::FunctionDef(function) => function.decorator_list.is_empty(),
            Stmt::Assign(node) => node.value.is_literal_expr(),
            _ => false,
        };
        let others = class.body.iter().filter(|one| !is_plain(one));
        let variables: BTreeSet<String> =
            others.flat_map(|one| Bindings::of_body(std::slice::from_ref(one)).bound).collect();
        for one in &class.body {
            if let Stmt::Assign(node) = one
                && node.targets.iter().any(|target| is_named(target, "__match_args__"))
            {
                let named = match &*node.value {
                    Expr::Tuple(tuple) => tuple.elts.as_slice(),
                    Expr::List(list) => list.elts.as_slice(),
                    _ => &[],
                };
                let names = named.iter().filter_map(|one| one.as_string_literal_expr());
                self.declared.match_args.extend(names.map(|one| Arc::from(one.value.to_str())));
            }
        }
        let own = Some(class.name.as_str());
        let keywords = class.arguments.iter().flat_map(|arguments| &arguments.keywords);
        let is_named = keywords.into_iter().any(|one| one.arg.as_ref().is_some_and(|name| name == "metaclass"));
        // `with_metaclass(M, B)`, and as Python 2 has it.
        self.declared.has_metaclasses |=
            is_named || class.bases().iter().any(Expr::is_call_expr) || variables.contains("__metaclass__");
        self.declared.class_variables.extend(variables.iter().map(|name| Arc::from(mangle(name, own))));
        self.name(&class.name);
        let prefix = format!("{}{}.", self.prefix, class.name);
        let outer = (std::mem::replace(&mut self.prefix, prefix), std::mem::replace(&mut self.in_class, true));
        let around = self.class.replace(class.name.as_str().into());
        self.within(FrameKind::Class, class.start(), Bindings::of_body(&class.body), |this| {
            this.visit_body(&class.body);
        });
        self.class = around;
        (self.prefix, self.in_class) = outer;
    }

    fn defaults(&mut self, parameters: &'a Parameters) {
        for default in parameters.iter_non_variadic_params().filter_map(|parameter| parameter.default()) {
            self.visit_expr(default);
        }
    }

    fn comprehension(&mut self, expr: &'a Expr, generators: &'a [Comprehension]) {
        self.within(FrameKind::Comprehension, expr.start(), Bindings::of_comprehension(generators), |this| {
            source_order::walk_expr(this, expr);
        });
    }
}

impl<'a> SourceOrderVisitor<'a> for Declarer<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.declared.words.insert(alias.name.as_str().into());
                    self.name(alias.asname.as_ref().unwrap_or(&alias.name));
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    self.name(alias.asname.as_ref().map_or(first, |name| name.as_str()));
                }
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.name(&name.id),
            Expr::Attribute(attribute) => {
                let name: Arc<str> = mangle(&attribute.attr, self.class.as_deref()).into();
                if !attribute.ctx.is_load() {
                    self.declared.assigned.insert(name.clone());
                }
                self.declared.words.insert(name);
                self.visit_expr(&attribute.value);
            }
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::ListComp(node) => self.comprehension(expr, &node.generators),
            Expr::SetComp(node) => self.comprehension(expr, &node.generators),
            Expr::DictComp(node) => self.comprehension(expr, &node.generators),
            Expr::Generator(node) => self.comprehension(expr, &node.generators),
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ruff_python_ast::ExceptHandler) {
        let ruff_python_ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.name(name);
        }
        source_order::walk_except_handler(self, handler);
    }
}

fn is_named(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Name(one) if one.id == name)
}

/// Whether a body yields, inner functions apart.
fn yields(body: &[Stmt]) -> bool {
    let mut finder = Yields(false);
    finder.visit_body(body);
    finder.0
}

fn has_yield(expr: &Expr) -> bool {
    let mut finder = Yields(false);
    finder.visit_expr(expr);
    finder.0
}

struct Yields(bool);

impl<'a> SourceOrderVisitor<'a> for Yields {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            source_order::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.0 = true,
            Expr::Lambda(_) => {}
            _ => source_order::walk_expr(self, expr),
        }
    }
}
