//! The text of a module -> its units: what it runs on import, classes, functions, methods and variables, each with what it
//! means and what it uses.
//!
//! A unit's meaning leaves out layout, comments, docstrings and annotations. What stands in a branch outside of functions has
//! the conditions around it in its meaning. Blocks for type checkers alone are left out.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ruff_python_ast::comparable::{ComparableExpr, ComparableStmt};
use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_python_ast::visitor::transformer::{self, Transformer};
use ruff_python_ast::{
    AtomicNodeIndex, Decorator, ExceptHandler, Expr, Parameters, Stmt, StmtAssign, StmtClassDef, StmtFunctionDef,
    StmtIf, StmtPass, Suite,
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHasher;
use twincell_syntax::parse::{Lines, normalize_newlines, parse, with_stack_for};
use twincell_syntax::scopes::Bindings;

use super::calls::{OwnCalls, OwnCallsReader};
use super::names::{NameId, Names};
use super::uses::{ImportPath, Reader, Uses, dotted, generic, imported};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum UnitKind {
    /// The statements that run on import and define nothing. Each module has one, the first.
    Body,
    Class,
    Function,
    Method,
    /// A variable of the module.
    Variable,
    /// A variable of a class.
    Attribute,
    /// The order in which a class defines variables.
    Order,
    /// What runs if the module is the program.
    Main,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fixture {
    pub name: NameId,
    pub is_autouse: bool,
}

#[derive(Debug)]
pub(super) struct Unit {
    pub kind: UnitKind,
    pub qualname: Arc<str>,
    /// The last part of its name.
    pub name: NameId,
    pub line: u32,
    /// The position of the class that holds it.
    pub class: Option<u32>,
    pub meaning: u64,
    pub docs: u64,
    pub annotations: u64,
    pub uses: Uses,
    pub parameters: Vec<NameId>,
    /// Those that may do more than to mark.
    pub decorators: Vec<Decoration>,
    pub calls: OwnCalls,
    pub fixture: Option<Fixture>,
    pub bases: Vec<Option<Vec<NameId>>>,
    /// Whether the head of a class has keywords: a metaclass, or what `__init_subclass__` gets.
    pub has_keywords: bool,
}

/// A decorator that may do more than to mark.
#[derive(Debug, Clone)]
pub(super) struct Decoration {
    /// Its callee, and nothing for what is no name.
    pub callee: Option<Vec<NameId>>,
    /// Whether a call gives the decorator.
    pub is_called: bool,
}

/// A name that an import outside of functions binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoundImport {
    pub name: NameId,
    pub path: ImportPath,
    pub around: u64,
    /// Whether a handler or a condition is around it.
    pub is_guarded: bool,
}

#[derive(Debug)]
pub(super) struct Text {
    pub units: Vec<Unit>,
    pub imports: Vec<BoundImport>,
    /// Modules whose names `import *` brings.
    pub stars: Vec<ImportPath>,
    /// Names that statements of the body bind otherwise.
    pub bound: BTreeSet<NameId>,
    /// Whether the body does anything.
    pub has_effects: bool,
    pub is_broken: bool,
    /// A hash of the whole text.
    pub hash: u64,
}

/// Decorators that only mark or wrap what they are given.
const MARKS: [&str; 22] = [
    "staticmethod",
    "classmethod",
    "property",
    "cached_property",
    "setter",
    "getter",
    "deleter",
    "abstractmethod",
    "abstractproperty",
    "abstractclassmethod",
    "override",
    "final",
    "contextmanager",
    "asynccontextmanager",
    "wraps",
    "lru_cache",
    "cache",
    "total_ordering",
    "unique",
    "runtime_checkable",
    "deprecated",
    "coroutine",
];

pub(super) fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Reads a text. Whatever does not parse is left out, and then the whole text is part of what the body means.
pub(super) fn read(text: &str, names: &mut Names) -> Text {
    let text = normalize_newlines(text);
    with_stack_for(text.len(), || {
        let lines = Lines::new(&text);
        let parsed = parse(&text);
        let is_broken = !parsed.errors().is_empty() || parsed.suite().is_empty() && !text.trim().is_empty();
        let line_of = |offset: u32| lines.line(offset.into());
        let mut units =
            Units { names, line_of: &line_of, units: Vec::new(), effects: Vec::new(), found: Found::default() };
        let name = units.names.id("");
        units.units.push(units.blank(UnitKind::Body, "".into(), name, 1, None));
        let mut suite = parsed.into_suite();
        let docs = docstring(&mut suite);
        if docs != 0 {
            let name = units.names.id("__doc__");
            let unit = units.blank(UnitKind::Variable, "__doc__".into(), name, 1, None);
            units.units.push(Unit { meaning: docs, ..unit });
        }
        let rest = units.suite(suite, &Around::default());
        units.effects.extend(rest);
        let effects = std::mem::take(&mut units.effects);
        let uses = units.uses(false, |reader| effects.iter().for_each(|stmt| reader.visit_stmt(stmt)));
        let hash = hash_of(&*text);
        if let Some(body) = units.units.first_mut() {
            body.docs = docs;
            body.meaning = statements(&effects);
            if is_broken {
                body.meaning = hash_of((body.meaning, hash));
            }
            body.uses = uses;
        }
        let Found { imports, stars, bound } = units.found;
        Text { units: units.units, imports, stars, bound, has_effects: !effects.is_empty(), is_broken, hash }
    })
}

#[derive(Default)]
struct Found {
    imports: Vec<BoundImport>,
    stars: Vec<ImportPath>,
    bound: BTreeSet<NameId>,
}

struct Units<'n> {
    names: &'n mut Names,
    line_of: &'n dyn Fn(u32) -> u32,
    units: Vec<Unit>,
    effects: Vec<Stmt>,
    found: Found,
}

/// What is around a statement outside of functions.
#[derive(Default, Clone)]
struct Around {
    class: Option<u32>,
    /// Qualified names begin with it.
    prefix: String,
    /// The hash of the conditions.
    conditions: u64,
    is_guarded: bool,
}

impl Around {
    fn branch(&self, condition: impl Hash) -> Self {
        Self { conditions: hash_of((self.conditions, hash_of(condition))), is_guarded: true, ..self.clone() }
    }
}

impl Units<'_> {
    fn blank(&self, kind: UnitKind, qualname: Arc<str>, name: NameId, line: u32, class: Option<u32>) -> Unit {
        Unit {
            kind,
            qualname,
            name,
            line,
            class,
            meaning: 0,
            docs: 0,
            annotations: 0,
            uses: Uses::default(),
            parameters: Vec::new(),
            decorators: Vec::new(),
            calls: OwnCalls::default(),
            fixture: None,
            bases: Vec::new(),
            has_keywords: false,
        }
    }

    fn uses(&mut self, in_class: bool, read: impl FnOnce(&mut Reader<'_>)) -> Uses {
        let mut reader = Reader::new(&mut *self.names, self.line_of);
        reader.in_class = in_class;
        read(&mut reader);
        reader.uses
    }

    fn line(&self, range: TextRange) -> u32 {
        (self.line_of)(range.start().to_u32())
    }

    /// Takes units out of statements and gives the others.
    fn suite(&mut self, suite: Suite, around: &Around) -> Suite {
        let mut rest = Suite::new();
        for stmt in suite {
            if let Some(stmt) = self.statement(stmt, around) {
                rest.push(stmt);
            }
        }
        rest
    }

    fn inner(&mut self, suite: &mut Suite, around: &Around) {
        let taken = std::mem::take(suite);
        *suite = self.suite(taken, around);
    }

    fn statement(&mut self, mut stmt: Stmt, around: &Around) -> Option<Stmt> {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function, around),
            Stmt::ClassDef(class) => self.class(class, around),
            Stmt::Import(_) | Stmt::ImportFrom(_) if around.class.is_none() => self.import(&stmt, around),
            Stmt::Pass(_) => {}
            Stmt::Expr(ref expression) if expression.value.is_literal_expr() => {}
            Stmt::Assign(ref assign) if assign.targets.iter().all(is_plain) => {
                let targets: Vec<&Expr> = assign.targets.iter().collect();
                self.variables(&targets, &stmt, around);
            }
            Stmt::TypeAlias(ref alias) => self.variables(&[&*alias.name], &stmt, around),
            Stmt::AnnAssign(assign) if assign.target.is_name_expr() => {
                let is_field = around.class.is_some();
                if !is_field && assign.value.is_none() {
                    return None;
                }
                let target = assign.target.clone();
                let stmt = if is_field { Stmt::AnnAssign(assign) } else { plain_assignment(Stmt::AnnAssign(assign)) };
                self.variables(&[&*target], &stmt, around);
            }
            Stmt::If(branch) => return self.branch(branch, around),
            Stmt::Try(ref mut guarded) => {
                self.inner(&mut guarded.body, &around.branch("try"));
                for handler in &mut guarded.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    let caught = handler.type_.as_deref().map(ComparableExpr::from);
                    let inner = around.branch(("except", caught));
                    self.inner(&mut handler.body, &inner);
                }
                self.inner(&mut guarded.orelse, &around.branch("else"));
                self.inner(&mut guarded.finalbody, &around.branch("finally"));
                return Some(stmt);
            }
            Stmt::With(ref mut with) => {
                let inner = around.branch("with");
                self.inner(&mut with.body, &inner);
                self.bind(&stmt);
                return Some(stmt);
            }
            _ => {
                self.bind(&stmt);
                self.definitions_in(&stmt, around);
                return Some(stmt);
            }
        }
        None
    }

    /// Imports in statements that are kept whole.
    fn definitions_in(&mut self, stmt: &Stmt, around: &Around) {
        let bodies: Vec<&Suite> = match stmt {
            Stmt::For(stmt) => vec![&stmt.body, &stmt.orelse],
            Stmt::While(stmt) => vec![&stmt.body, &stmt.orelse],
            Stmt::Match(stmt) => stmt.cases.iter().map(|case| &case.body).collect(),
            _ => return,
        };
        let inner = around.branch("loop");
        for stmt in bodies.into_iter().flatten() {
            if matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_)) {
                self.import(stmt, &inner);
            }
        }
    }

    /// Notes the names that a statement of the body binds.
    fn bind(&mut self, stmt: &Stmt) {
        for name in Bindings::of_body(std::slice::from_ref(stmt)).bound {
            let id = self.names.id(&name);
            self.found.bound.insert(id);
        }
    }

    fn branch(&mut self, mut branch: StmtIf, around: &Around) -> Option<Stmt> {
        let is_for_checkers = match branch.test.as_ref() {
            Expr::Name(name) => &name.id == "TYPE_CHECKING",
            Expr::Attribute(attribute) => &attribute.attr == "TYPE_CHECKING",
            _ => false,
        };
        let is_main = matches!(branch.test.as_ref(), Expr::Compare(compare)
            if matches!(compare.left.as_ref(), Expr::Name(name) if &name.id == "__name__"));
        if is_for_checkers {
            branch.body = Suite::new();
        } else if is_main {
            let body = std::mem::take(&mut branch.body);
            let name = self.names.id("<main>");
            let line = self.line(branch.range);
            let bindings = Bindings::of_body(&body);
            let bound: Vec<NameId> = bindings.bound.iter().map(|name| self.names.id(name)).collect();
            self.found.bound.extend(bound);
            let uses = self.uses(false, |reader| {
                body.iter().for_each(|stmt| reader.visit_stmt(stmt));
            });
            let unit = self.blank(UnitKind::Main, "<main>".into(), name, line, None);
            self.units.push(Unit { meaning: statements(&body), uses, ..unit });
        } else {
            let inner = around.branch(("if", ComparableExpr::from(branch.test.as_ref())));
            self.inner(&mut branch.body, &inner);
        }
        let otherwise = hash_of(ComparableExpr::from(branch.test.as_ref()));
        for (position, clause) in branch.elif_else_clauses.iter_mut().enumerate() {
            let inner = match is_for_checkers || is_main {
                true => around.clone(),
                false => around.branch(("else", otherwise, position, clause.test.as_ref().map(ComparableExpr::from))),
            };
            let body = std::mem::take(&mut clause.body);
            clause.body = self.suite(body, &inner);
        }
        let is_left = branch.elif_else_clauses.iter().any(|clause| !clause.body.is_empty());
        (is_left || !is_for_checkers && !is_main).then_some(Stmt::If(branch))
    }

    fn import(&mut self, stmt: &Stmt, around: &Around) {
        let star = self.names.id("*");
        for (bound, path) in imported(stmt, self.names) {
            if path.name == Some(star) {
                self.found.stars.push(path);
                continue;
            }
            let name = self.names.id(&bound);
            let (around, is_guarded) = (around.conditions, around.is_guarded);
            self.found.imports.push(BoundImport { name, path, around, is_guarded });
        }
    }

    fn variables(&mut self, targets: &[&Expr], stmt: &Stmt, around: &Around) {
        let mut bound = Vec::new();
        targets.iter().for_each(|target| plain_names(target, &mut bound));
        let value = ComparableStmt::from(stmt);
        let meaning = hash_of((around.conditions, value));
        let line = self.line(stmt.range());
        for name in bound {
            let uses = self.uses(around.class.is_some(), |reader| reader.visit_stmt(stmt));
            let id = self.names.id(&name);
            let kind = if around.class.is_some() { UnitKind::Attribute } else { UnitKind::Variable };
            let unit = self.blank(kind, format!("{}{name}", around.prefix).into(), id, line, around.class);
            self.units.push(Unit { meaning, uses, ..unit });
        }
    }

    fn decorators(&mut self, decorators: &[Decorator]) -> Vec<Decoration> {
        let mut found = Vec::new();
        for decorator in decorators {
            let is_called = decorator.expression.is_call_expr();
            match dotted(callee(&decorator.expression)) {
                Some((root, attributes)) => {
                    let last = attributes.last().copied().unwrap_or(root);
                    if !MARKS.contains(&last) && root != "pytest" && !is_fixture(last) {
                        let mut ids = vec![self.names.id(root)];
                        ids.extend(attributes.iter().map(|name| self.names.id(name)));
                        found.push(Decoration { callee: Some(ids), is_called });
                    }
                }
                None => found.push(Decoration { callee: None, is_called }),
            }
        }
        found
    }

    fn fixture(&mut self, name: &str, decorators: &[Decorator]) -> Option<Fixture> {
        for decorator in decorators {
            let Some((root, attributes)) = dotted(callee(&decorator.expression)) else { continue };
            if !is_fixture(attributes.last().copied().unwrap_or(root)) {
                continue;
            }
            let mut found = Fixture { name: self.names.id(name), is_autouse: false };
            if let Expr::Call(call) = &decorator.expression {
                for keyword in &call.arguments.keywords {
                    match (keyword.arg.as_ref().map(|name| name.as_str()), &keyword.value) {
                        (Some("name"), Expr::StringLiteral(text)) => found.name = self.names.id(text.value.to_str()),
                        (Some("autouse"), Expr::BooleanLiteral(value)) => found.is_autouse = value.value,
                        (Some("autouse"), _) => found.is_autouse = true,
                        _ => {}
                    }
                }
            }
            return Some(found);
        }
        None
    }

    fn function(&mut self, mut function: StmtFunctionDef, around: &Around) {
        let is_overload = |decorator: &Decorator| match dotted(&decorator.expression) {
            Some((root, attributes)) => attributes.last().copied().unwrap_or(root) == "overload",
            None => false,
        };
        if function.decorator_list.iter().any(is_overload) {
            return;
        }
        let name = function.name.to_string();
        let line = self.line(function.name.range());
        let decorators = self.decorators(&function.decorator_list);
        let fixture = self.fixture(&name, &function.decorator_list);
        let mut annotations = annotations_of(&function.parameters, function.returns.as_deref());
        let mut docs = docstring(&mut function.body);
        let parameters = function.parameters.iter().map(|parameter| self.names.id(parameter.name())).collect();
        let uses = self.uses(false, |reader| {
            function.decorator_list.iter().for_each(|decorator| reader.visit_decorator(decorator));
        });
        Strip.visit_parameters(&mut function.parameters);
        function.returns = None;
        function.type_params = None;
        function.body.iter_mut().for_each(|stmt| Strip.visit_stmt(stmt));
        let mut all = self.uses(false, |reader| {
            reader.visit_parameters(&function.parameters);
            let bindings = Bindings::of_function(&function.parameters, None, &function.body);
            reader.within(bindings, |reader| function.body.iter().for_each(|stmt| reader.visit_stmt(stmt)));
        });
        all.join(uses);
        let mut reader = OwnCallsReader::new(self.names, &function);
        reader.visit_body(&function.body);
        let calls = reader.found;
        let id = self.names.id(&name);
        let mut meaning = hash_of((around.conditions, ComparableStmt::from(&Stmt::FunctionDef(function))));
        // A decorator may read both.
        if !decorators.is_empty() {
            meaning = hash_of((meaning, docs, annotations));
            (docs, annotations) = (0, 0);
        }
        let kind = if around.class.is_some() { UnitKind::Method } else { UnitKind::Function };
        let unit = self.blank(kind, format!("{}{name}", around.prefix).into(), id, line, around.class);
        self.units.push(Unit { meaning, docs, annotations, uses: all, parameters, decorators, calls, fixture, ..unit });
    }

    fn class(&mut self, mut class: StmtClassDef, around: &Around) {
        let name = class.name.to_string();
        let line = self.line(class.name.range());
        let decorators = self.decorators(&class.decorator_list);
        let mut docs = docstring(&mut class.body);
        let (mut bases, mut has_keywords) = (Vec::new(), false);
        if let Some(arguments) = class.arguments.as_deref() {
            has_keywords = !arguments.keywords.is_empty();
            for base in &arguments.args {
                bases.push(dotted(generic(base)).map(|(root, attributes)| {
                    let mut ids = vec![self.names.id(root)];
                    ids.extend(attributes.iter().map(|name| self.names.id(name)));
                    ids
                }));
            }
        }
        let id = self.names.id(&name);
        let qualname: Arc<str> = format!("{}{name}", around.prefix).into();
        let position = self.units.len() as u32;
        self.units.push(self.blank(UnitKind::Class, qualname.clone(), id, line, around.class));
        let body = std::mem::take(&mut class.body);
        let inner = Around { class: Some(position), prefix: format!("{qualname}."), ..around.clone() };
        let rest = self.suite(body, &inner);
        let fields: Vec<NameId> = self
            .units
            .iter()
            .skip(position as usize + 1)
            .filter(|unit| unit.class == Some(position) && unit.kind == UnitKind::Attribute)
            .map(|unit| unit.name)
            .collect();
        let order = hash_of(fields.iter().map(|name| self.names.text(*name).clone()).collect::<Vec<_>>());
        let order_name = self.names.id("<order>");
        let unit = self.blank(UnitKind::Order, format!("{qualname}.<order>").into(), order_name, line, Some(position));
        self.units.push(Unit { meaning: order, ..unit });
        let uses = self.uses(true, |reader| {
            class.decorator_list.iter().for_each(|decorator| reader.visit_decorator(decorator));
            class.arguments.iter().for_each(|arguments| reader.visit_arguments(arguments));
            rest.iter().for_each(|stmt| reader.visit_stmt(stmt));
        });
        class.type_params = None;
        let of_body = statements(&rest);
        let mut meaning = hash_of((around.conditions, ComparableStmt::from(&Stmt::ClassDef(class)), of_body));
        if !decorators.is_empty() || has_keywords {
            meaning = hash_of((meaning, docs));
            docs = 0;
        }
        self.effects.extend(rest);
        if let Some(unit) = self.units.get_mut(position as usize) {
            (unit.meaning, unit.docs, unit.uses) = (meaning, docs, uses);
            (unit.decorators, unit.bases, unit.has_keywords) = (decorators, bases, has_keywords);
        }
    }
}

/// Whether a decorator of this name makes a fixture.
fn is_fixture(name: &str) -> bool {
    name == "fixture" || name.ends_with("_fixture")
}

fn callee(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call(call) => &call.func,
        expr => expr,
    }
}

fn statements(suite: &[Stmt]) -> u64 {
    hash_of(suite.iter().map(ComparableStmt::from).collect::<Vec<_>>())
}

/// Whether a target is a name, or several.
fn is_plain(target: &Expr) -> bool {
    match target {
        Expr::Name(_) => true,
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_plain),
        Expr::List(list) => list.elts.iter().all(is_plain),
        _ => false,
    }
}

fn plain_names(target: &Expr, found: &mut Vec<String>) {
    match target {
        Expr::Name(name) => found.push(name.id.to_string()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| plain_names(one, found)),
        Expr::List(list) => list.elts.iter().for_each(|one| plain_names(one, found)),
        _ => {}
    }
}

/// Takes the docstring out of a body and gives its hash.
fn docstring(body: &mut Suite) -> u64 {
    match body.first() {
        Some(Stmt::Expr(first)) if first.value.is_string_literal_expr() => match body.remove(0) {
            Stmt::Expr(first) => hash_of(ComparableExpr::from(first.value.as_ref())),
            _ => 0,
        },
        _ => 0,
    }
}

fn annotations_of(parameters: &Parameters, returns: Option<&Expr>) -> u64 {
    let of_parameters: Vec<_> =
        parameters.iter().map(|parameter| parameter.annotation().map(ComparableExpr::from)).collect();
    hash_of((of_parameters, returns.map(ComparableExpr::from)))
}

fn pass(range: TextRange) -> Stmt {
    Stmt::Pass(StmtPass { node_index: AtomicNodeIndex::NONE, range })
}

/// `x: int = 1` -> `x = 1`.
fn plain_assignment(stmt: Stmt) -> Stmt {
    match stmt {
        Stmt::AnnAssign(assign) => match assign.value {
            Some(value) => Stmt::Assign(StmtAssign {
                node_index: AtomicNodeIndex::NONE,
                range: assign.range,
                targets: [*assign.target].into_iter().collect(),
                value,
            }),
            None => Stmt::AnnAssign(assign),
        },
        stmt => stmt,
    }
}

/// Takes docstrings and annotations out of the body of a function. Those of a class in it are kept.
struct Strip;

impl Transformer for Strip {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                docstring(&mut function.body);
                function.returns = None;
                function.type_params = None;
                self.visit_parameters(&mut function.parameters);
                function.decorator_list.iter_mut().for_each(|decorator| self.visit_decorator(decorator));
                function.body.iter_mut().for_each(|stmt| self.visit_stmt(stmt));
            }
            Stmt::ClassDef(class) => {
                let is_field = |stmt: &Stmt| matches!(stmt, Stmt::AnnAssign(_));
                class.body.iter_mut().filter(|stmt| !is_field(stmt)).for_each(|stmt| self.visit_stmt(stmt));
            }
            Stmt::AnnAssign(assign) if assign.value.is_some() => {
                let taken = std::mem::replace(stmt, pass(TextRange::default()));
                *stmt = plain_assignment(taken);
                transformer::walk_stmt(self, stmt);
            }
            Stmt::AnnAssign(_) => *stmt = pass(TextRange::default()),
            _ => transformer::walk_stmt(self, stmt),
        }
    }

    fn visit_parameters(&self, parameters: &mut Parameters) {
        for parameter in parameters.posonlyargs.iter_mut().chain(&mut parameters.args).chain(&mut parameters.kwonlyargs)
        {
            parameter.parameter.annotation = None;
        }
        for parameter in [&mut parameters.vararg, &mut parameters.kwarg].into_iter().flatten() {
            parameter.annotation = None;
        }
    }
}
