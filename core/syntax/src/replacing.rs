//! Statements that run when a module is imported and may put something else in the place of its functions and classes.
//!
//! `globals()["pay"] = f`, `pay.__code__ = ...`, `from other import *`, `del pay`, `os.getcwd = fake`, and calls by name of
//! the module's own functions that do such a thing. What a function of another module does with what it is given is not
//! known here, nor what methods and closures do, and counts as nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use ruff_python_ast::comparable::{ComparableExpr, ComparableStmt};
use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{CmpOp, Decorator, ExceptHandler, Expr, Pattern, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextSize};

use crate::PerSide;
use crate::bound::bound;
use crate::parse::{Lines, normalize_newlines, parse, with_stack_for};
use crate::scopes::Bindings;

/// The functions of Python that reach names as texts.
const REFLECTIVE: [&str; 8] = ["globals", "locals", "vars", "setattr", "delattr", "exec", "eval", "__import__"];

/// The attributes that hold the names of an object, or change them.
const NAMESPACES: [&str; 6] = ["__dict__", "__globals__", "__setattr__", "__delattr__", "f_globals", "f_locals"];

/// The methods that run when an object of their class is made, and those of them that get the object.
const MAKERS: [&str; 3] = ["__new__", "__init__", "__post_init__"];
const OF_OBJECTS: [&str; 2] = ["__init__", "__post_init__"];

/// The 1-based lines, in each text, of the statements of this kind that the other text does not have.
pub fn replacing(old: &str, new: &str) -> PerSide<Vec<u32>> {
    let found = PerSide::new(old, new).map(of_text);
    PerSide::of(|side| {
        let mut others: BTreeMap<u64, usize> = BTreeMap::new();
        for (_, content) in &found[side.other()] {
            *others.entry(*content).or_default() += 1;
        }
        let is_own = |(_, content): &&(u32, u64)| match others.get_mut(content) {
            Some(left @ 1..) => {
                *left -= 1;
                false
            }
            _ => true,
        };
        let mut lines: Vec<u32> = found[side].iter().filter(is_own).map(|(line, _)| *line).collect();
        lines.dedup();
        lines
    })
}

/// The line and the content of each such statement. What a statement calls of the module belongs to its content.
fn of_text(text: &str) -> Vec<(u32, u64)> {
    let text = normalize_newlines(text);
    with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let mut module = Module { defined: BTreeMap::new(), imported: BTreeSet::new(), functions: BTreeMap::new() };
        module.note(&parsed.syntax().body);
        if module.defined.is_empty() {
            return vec![];
        }
        let mut search = Search::of(&module);
        search.visit_body(&parsed.syntax().body);
        let lines = Lines::new(&text);
        search.found.into_iter().map(|(start, content)| (lines.line(start), content)).collect()
    })
}

/// What a module has at its top level, by name.
struct Module<'a> {
    /// Where its functions and classes begin, the first of each name.
    defined: BTreeMap<&'a str, TextSize>,
    imported: BTreeSet<&'a str>,
    /// The functions, and by the name of a class what makes its objects.
    functions: BTreeMap<&'a str, Vec<&'a StmtFunctionDef>>,
}

impl<'a> Module<'a> {
    fn note(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::FunctionDef(node) => {
                    self.defined.entry(&node.name).or_insert(node.start());
                    self.functions.entry(&node.name).or_default().push(node);
                }
                Stmt::ClassDef(node) => {
                    self.defined.entry(&node.name).or_insert(node.start());
                    let methods = node.body.iter().filter_map(Stmt::as_function_def_stmt);
                    let makers = methods.filter(|method| MAKERS.contains(&method.name.as_str()));
                    self.functions.entry(&node.name).or_default().extend(makers);
                }
                Stmt::Import(_) | Stmt::ImportFrom(_) => self.imported.extend(bound(stmt)),
                // A lambda with a name is a function like any other.
                Stmt::Assign(node) if node.value.is_lambda_expr() => {
                    if let [Expr::Name(name)] = node.targets.as_slice() {
                        self.defined.entry(&name.id).or_insert(node.start());
                    }
                }
                _ => crate::index::inner_bodies(stmt).into_iter().for_each(|inner| self.note(inner)),
            }
        }
    }
}

struct Search<'m, 'a> {
    module: &'m Module<'a>,
    /// The methods of the class whose body this is, and where they begin.
    class: Option<BTreeMap<&'a str, TextSize>>,
    /// In a function that the module calls, the names that it takes from the module.
    globals: Option<BTreeSet<String>>,
    /// In such a function, its parameters: what it is called with may be a function or a module.
    parameters: BTreeSet<&'a str>,
    /// The object that a method makes.
    first: Option<&'a str>,
    /// How many statements are around this place that may not run.
    depth: u32,
    /// The statement of this place, if it holds no others.
    simple: Option<&'a Stmt>,
    found: Vec<(TextSize, u64)>,
    /// What was found in the functions that the module calls; nothing for one that is being searched.
    of_functions: BTreeMap<&'a str, u64>,
}

impl<'m, 'a> Search<'m, 'a> {
    fn of(module: &'m Module<'a>) -> Self {
        let of_functions = BTreeMap::new();
        Self {
            module,
            class: None,
            globals: None,
            parameters: BTreeSet::new(),
            first: None,
            depth: 0,
            simple: None,
            found: vec![],
            of_functions,
        }
    }

    fn add(&mut self, start: TextSize, own: impl Hash) {
        let mut hasher = DefaultHasher::new();
        self.simple.map(ComparableStmt::from).hash(&mut hasher);
        own.hash(&mut hasher);
        self.found.push((self.simple.map_or(start, Ranged::start), hasher.finish()));
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

    /// Whether assigning to this changes a function, a class or a module.
    fn is_foreign(&self, target: &Expr) -> bool {
        let is_attribute = target.is_attribute_expr();
        let held = target.as_subscript_expr().and_then(|node| node.value.as_attribute_expr());
        // `sys.modules["json"] = fake`
        if held.is_some_and(|held| &held.attr == "modules") {
            return true;
        }
        let mut root = target;
        loop {
            root = match root {
                Expr::Attribute(node) => &node.value,
                Expr::Subscript(node) => &node.value,
                Expr::Name(_) if std::ptr::eq(root, target) => return false,
                Expr::Name(name) => {
                    let name = name.id.as_str();
                    return self.module.defined.contains_key(name)
                        || is_attribute && self.first != Some(name) && self.is_from_elsewhere(name);
                }
                _ => return false,
            }
        }
    }

    /// Whether a name may stand for a module, or for a function that is given.
    fn is_from_elsewhere(&self, name: &str) -> bool {
        self.module.imported.contains(name) || self.parameters.contains(name) || name == "__builtins__"
    }

    /// Whether this is the object that a method makes.
    fn is_first(&self, expr: Option<&Expr>) -> bool {
        let name = expr.and_then(Expr::as_name_expr).map(|name| name.id.as_str());
        name.is_some() && name == self.first
    }

    /// What the module's own functions of this name do when they are called here.
    fn follow(&mut self, name: &str, at: TextSize) {
        let Some((name, functions)) = self.module.functions.get_key_value(name) else { return };
        if !self.of_functions.contains_key(name) {
            self.of_functions.insert(name, 0);
            let mut inner = Search { of_functions: std::mem::take(&mut self.of_functions), ..Search::of(self.module) };
            for function in functions {
                inner.globals = Some(Bindings::of_body(&function.body).globals);
                inner.parameters = function.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
                let first = function.parameters.iter().next().map(|parameter| parameter.name().as_str());
                inner.first = first.filter(|_| OF_OBJECTS.contains(&function.name.as_str()));
                inner.visit_body(&function.body);
            }
            let mut hasher = DefaultHasher::new();
            let contents: Vec<u64> = inner.found.iter().map(|(_, content)| *content).collect();
            contents.hash(&mut hasher);
            // What is put in the place of a function may be made anywhere in it.
            for stmt in functions.iter().flat_map(|function| &function.body) {
                ComparableStmt::from(stmt).hash(&mut hasher);
            }
            self.of_functions = inner.of_functions;
            self.of_functions.insert(name, if contents.is_empty() { 0 } else { hasher.finish() });
        }
        if let Some(content @ 1..) = self.of_functions.get(name).copied() {
            self.add(at, content);
        }
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

impl<'a> Visitor<'a> for Search<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.simple = (!is_compound(stmt)).then_some(stmt);
        match stmt {
            Stmt::FunctionDef(node) => {
                if self.may_not_run() && self.replaces(&node.name, stmt.start()) {
                    // What it does then is its own matter.
                    self.add(stmt.start(), node.name.as_str());
                }
                for decorator in &node.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&node.parameters);
                return;
            }
            Stmt::ClassDef(node) => {
                if self.may_not_run() && self.replaces(&node.name, stmt.start()) {
                    self.add(stmt.start(), node.name.as_str());
                }
                for decorator in &node.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(arguments) = &node.arguments {
                    self.visit_arguments(arguments);
                }
                let methods = node.body.iter().filter_map(Stmt::as_function_def_stmt);
                let methods = methods.rev().map(|method| (method.name.as_str(), method.start())).collect();
                let outer = (self.class.replace(methods), std::mem::take(&mut self.depth));
                self.visit_body(&node.body);
                (self.class, self.depth) = outer;
                return;
            }
            // The name of a star import is `*`.
            Stmt::Import(_) | Stmt::ImportFrom(_)
                if bound(stmt).into_iter().any(|name| name == "*" || self.replaces(name, stmt.start())) =>
            {
                self.add(stmt.start(), ComparableStmt::from(stmt));
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
            Stmt::AnnAssign(node) if node.value.is_none() => return,
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

    fn visit_expr(&mut self, expr: &'a Expr) {
        let is_hit = match expr {
            Expr::Name(node) if node.ctx.is_store() || node.ctx.is_del() => self.replaces(&node.id, expr.start()),
            Expr::Attribute(node) if node.ctx.is_store() || node.ctx.is_del() => self.is_foreign(expr),
            Expr::Subscript(node) if node.ctx.is_store() || node.ctx.is_del() => self.is_foreign(expr),
            Expr::Name(node) if self.module.defined.contains_key(node.id.as_str()) => false,
            Expr::Name(node) => REFLECTIVE.contains(&node.id.as_str()),
            Expr::Attribute(node) if matches!(node.value.as_ref(), Expr::Name(name) if &name.id == "builtins") => {
                REFLECTIVE.contains(&node.attr.as_str())
            }
            Expr::Attribute(node) => NAMESPACES.contains(&node.attr.as_str()) && !self.is_first(Some(&node.value)),
            _ => false,
        };
        if is_hit {
            self.add(expr.start(), ComparableExpr::from(expr));
        }
        if let Expr::Call(call) = expr
            && let Expr::Name(name) = call.func.as_ref()
        {
            self.follow(&name.id, call.start());
            // `setattr(self, name, value)` changes the object that is made.
            if self.is_first(call.arguments.args.first()) && REFLECTIVE.contains(&name.id.as_str()) {
                self.visit_arguments(&call.arguments);
                return;
            }
        }
        if !expr.is_lambda_expr() {
            walk_expr(self, expr);
        }
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
            self.add(node.start(), node.name.as_deref());
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
            self.add(pattern.start(), name);
        }
        walk_pattern(self, pattern);
    }

    fn visit_decorator(&mut self, decorator: &'a Decorator) {
        if let Expr::Name(name) = &decorator.expression {
            self.follow(&name.id, decorator.start());
        }
        self.visit_expr(&decorator.expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str =
        "import os\n\ndef pay(x):\n    return x\n\nclass Till:\n    def open(self):\n        return 1\n";

    fn lines(added: &str) -> Vec<u32> {
        replacing(MODULE, &format!("{MODULE}{added}")).new
    }

    #[test]
    fn what_may_replace_a_function_is_found() {
        for statement in [
            "globals()['pay'] = print",
            "vars(os)['getcwd'] = print",
            "setattr(os, 'getcwd', None)",
            "pay.__code__ = print.__code__",
            "pay.__defaults__ = (1,)",
            "Till.open = print",
            "os.getcwd = print",
            "__builtins__.len = print",
            "from elsewhere import *",
            "from elsewhere import f as pay",
            "import pay",
            "del pay",
            "pay = print",
            "pay, other = print, 1",
            "for pay in [print]: pass",
            "with open('f') as pay: pass",
            "if (pay := print): pass",
            "try:\n    x = 1\nexcept OSError as pay:\n    pass",
            "match 1:\n    case pay: pass",
            "exec('def pay(x): pass')",
            "def other(x=globals().update(pay=1)): pass",
            "@setattr(os, 'a', 1)\ndef other(): pass",
            "class Other:\n    globals()['pay'] = print",
            "class Other:\n    def f(self): pass\n    f = print",
            "if os.name:\n    def fake(): pass\n    pay = fake",
            "if os.name:\n    def pay(x): pass",
            "try:\n    class Till: pass\nexcept OSError: pass",
            "def setup():\n    global pay\n    pay = print\nsetup()",
            "def inner():\n    globals()['pay'] = 1\ndef setup():\n    inner()\nsetup()",
            "class Patch:\n    def __init__(self):\n        pay.__code__ = 1\nPatch()",
            "def patch(f):\n    os.getcwd = f\n@patch\ndef other(): pass",
            "def patch(module, name, value): setattr(module, name, value)\npatch(os, 'getcwd', print)",
            "def patch(f): f.__code__ = print.__code__\npatch(pay)",
            "class Patch:\n    def __new__(cls): setattr(cls, 'open', 1)\nPatch()",
            "def setup():\n    global pay\n    pay = lambda x: 0\nsetup()",
            "def setup():\n    global pay\n    def pay(x): return 0\nsetup()",
            "if os.name:\n    pay = lambda x: 0",
            "pay = also = lambda x: 0",
            "import sys\nsys.modules['os'] = print",
            "import builtins\nbuiltins.exec('')",
            "pay.__globals__.update(helper=1)",
            "named = lambda x: x\nnamed = print",
        ] {
            assert!(!lines(&format!("{statement}\n")).is_empty(), "{statement}");
        }
    }

    #[test]
    fn what_leaves_functions_alone_is_not() {
        for statement in [
            "LIMIT = 3",
            "from os.path import join",
            "os.environ['A'] = 'b'",
            "table = {}\ntable['pay'] = pay",
            "pay = lambda x: 1",
            "pay: int",
            "def pay(x):\n    return 2",
            "def later():\n    globals()['pay'] = 1",
            "class Other:\n    pay = 3",
            "class Made:\n    def __init__(self, **given):\n        setattr(self, 'a', given)\nMade()",
            "if __name__ == '__main__':\n    exec('pay = 1')",
            "print(pay(2))",
        ] {
            assert_eq!(lines(&format!("{statement}\n")), [0; 0], "{statement}");
        }
        assert_eq!(replacing("x = 1\n", "x = 1\nexec('')\n").new, [0; 0]);
    }

    #[test]
    fn only_what_one_text_has_counts_and_a_called_function_belongs_to_it() {
        let with = |value: &str| format!("{MODULE}def setup():\n    globals()['pay'] = {value}\n\n\nsetup()\n");
        assert_eq!(replacing(&with("1"), &with("1")), PerSide::default());
        assert_eq!(replacing(&with("1"), &with("2")), PerSide { old: vec![13], new: vec![13] });
        assert_eq!(replacing(&with("1"), MODULE), PerSide { old: vec![13], new: vec![] });
        // The statement that replaces is the same, and what it puts there is not.
        let with =
            |value: &str| format!("{MODULE}def setup():\n    global pay\n    f = {value}\n    pay = f\nsetup()\n");
        assert_eq!(replacing(&with("1"), &with("2")).new, [13]);
    }

    #[test]
    fn functions_that_call_each_other_are_searched_once() {
        let functions: String = (0..400).map(|n| format!("def f{n}():\n    f{}(); f{}()\n", n + 1, n + 2)).collect();
        let text = format!("{functions}def f400():\n    f0()\n    exec('')\nf0()\n");
        assert_eq!(replacing("", &text).new, [804]);
    }
}
