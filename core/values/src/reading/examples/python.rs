//! Examples as Python: the calls in a file, in doctests, and in the decorators of tests.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Decorator, Expr, ExprCall, Operator, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextSize};

use twincell_syntax::SourceError;
use twincell_syntax::parse::{Lines, errors, normalize_newlines, parse, slice, with_stack_for};
use twincell_syntax::python::{is_builtin, is_builtin_exception, is_pure_import};

use super::{Call, DEEPEST, MOST_CALLS, Passed};
use crate::reading::literals::{container, is_hashable};
use crate::reading::written::{literal, named};
use crate::value::{ConstructorCall, Recipe, library, short_module};

/// The maximum number of values that a decorator or a loop gives a test.
const MOST_ROUNDS: usize = 50;
/// The maximum number of items or characters of a value that is calculated: `"a" * 100`.
const LONGEST: usize = 10_000;

/// The calls in a file, in its order. Errors say which parts were not read.
pub fn calls_of_python(text: &str) -> (Vec<Call>, Vec<SourceError>) {
    let text = normalize_newlines(text);
    with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let lines = Lines::new(&text);
        let mut reader = Reader::new(&lines, 0);
        reader.body(parsed.suite());
        (reader.calls, errors(&parsed, &lines))
    })
}

/// Where an example stands that code brings with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Docstring,
    Decorator,
}

/// The calls that a module brings with it: the doctests in its docstrings, and what `@example` and
/// `@pytest.mark.parametrize` pass to its tests and these to functions.
pub fn written_beside(module: &str) -> Vec<(Beside, Call)> {
    let decorated = module.contains("@example") || module.contains(".example(") || module.contains(".parametrize(");
    if !decorated && !module.contains(">>>") {
        return vec![];
    }
    let text = normalize_newlines(module);
    with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let lines = Lines::new(&text);
        let mut imports = Reader::new(&lines, 0);
        imports.imports(parsed.suite());
        let mut found = Vec::new();
        let mut docstrings = Vec::new();
        docstrings_of(parsed.suite(), &mut docstrings);
        for docstring in docstrings {
            found.extend(
                doctest(&text, docstring, &lines, &imports.imports).into_iter().map(|call| (Beside::Docstring, call)),
            );
        }
        if decorated {
            let mut reader =
                Reader { imports: imports.imports.clone(), only_decorated: true, ..Reader::new(&lines, 0) };
            reader.body(parsed.suite());
            found.extend(reader.calls.into_iter().map(|call| (Beside::Decorator, call)));
        }
        found
    })
}

/// The docstrings of a module, its classes and its functions.
fn docstrings_of<'a>(body: &'a [Stmt], found: &mut Vec<&'a Expr>) {
    if let Some(Stmt::Expr(first)) = body.first()
        && first.value.is_string_literal_expr()
    {
        found.push(&first.value);
    }
    for stmt in body {
        match stmt {
            Stmt::FunctionDef(node) => docstrings_of(&node.body, found),
            Stmt::ClassDef(node) => docstrings_of(&node.body, found),
            _ => {}
        }
    }
}

/// The calls in the doctest of one docstring. Its lines are read as they stand in the text.
fn doctest(text: &str, docstring: &Expr, lines: &Lines<'_>, imports: &BTreeMap<String, String>) -> Vec<Call> {
    let written = slice(text, docstring);
    if !written.contains(">>>") {
        return vec![];
    }
    let is_raw = written.split(['"', '\'']).next().is_some_and(|prefix| prefix.to_lowercase().contains('r'));
    let mut program = String::new();
    let mut goes_on = false;
    for line in written.lines() {
        let code = line.trim_start().trim_start_matches(['"', '\'']);
        let code = match code.strip_prefix(">>>") {
            Some(code) => Some(code),
            None if goes_on => code.strip_prefix("..."),
            None => None,
        };
        goes_on = code.is_some();
        let code = code.unwrap_or_default();
        let code = code.strip_prefix(' ').unwrap_or(code);
        // The docstring may end on the line.
        let code = code.strip_suffix("\"\"\"").or_else(|| code.strip_suffix("'''")).unwrap_or(code);
        program += &if is_raw { code.to_owned() } else { code.replace("\\\\", "\\") };
        program.push('\n');
    }
    let parsed = parse(&program);
    let own = Lines::new(&program);
    let mut reader = Reader { imports: imports.clone(), ..Reader::new(&own, lines.line(docstring.start()) - 1) };
    reader.body(parsed.suite());
    reader.calls
}

/// Reads statements in order: which names stand for which values, and which calls there are.
struct Reader<'a> {
    lines: &'a Lines<'a>,
    /// The number of lines before the text.
    before: u32,
    /// What names of imports stand for.
    imports: BTreeMap<String, String>,
    bound: BTreeMap<String, Recipe>,
    /// Whether only functions that decorators give values count.
    only_decorated: bool,
    calls: Vec<Call>,
}

impl<'a> Reader<'a> {
    fn new(lines: &'a Lines<'a>, before: u32) -> Self {
        Self {
            lines,
            before,
            imports: BTreeMap::new(),
            bound: BTreeMap::new(),
            only_decorated: false,
            calls: Vec::new(),
        }
    }

    fn line(&self, at: TextSize) -> u32 {
        self.before + self.lines.line(at)
    }

    fn imports(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Import(node) => {
                    for alias in &node.names {
                        let (name, target) = match &alias.asname {
                            Some(asname) => (asname.as_str(), alias.name.as_str()),
                            None => {
                                let first = alias.name.split('.').next().unwrap_or(&alias.name);
                                (first, first)
                            }
                        };
                        self.bound.remove(name);
                        self.imports.insert(name.to_owned(), target.to_owned());
                    }
                }
                Stmt::ImportFrom(node) => {
                    let module = node.module.as_ref().map_or(String::new(), |module| format!("{module}."));
                    for alias in &node.names {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                        self.bound.remove(&name);
                        self.imports.insert(name, format!("{module}{}", alias.name));
                    }
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            if self.calls.len() >= MOST_CALLS {
                return;
            }
            self.imports(std::slice::from_ref(stmt));
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(node) => self.function(node),
            Stmt::ClassDef(node) => {
                let outer = self.bound.clone();
                self.body(&node.body);
                self.bound = outer;
            }
            Stmt::Assign(node) => {
                self.calls_in(&node.value);
                let value = self.value(&node.value, DEEPEST);
                for target in &node.targets {
                    self.bind(target, value.as_ref());
                }
            }
            Stmt::AnnAssign(node) => {
                let value = node.value.as_ref().and_then(|value| {
                    self.calls_in(value);
                    self.value(value, DEEPEST)
                });
                self.bind(&node.target, value.as_ref());
            }
            Stmt::AugAssign(node) => {
                self.calls_in(&node.value);
                self.bind(&node.target, None);
            }
            Stmt::For(node) => {
                self.calls_in(&node.iter);
                let items = match self.value(&node.iter, DEEPEST) {
                    Some(Recipe::List(items) | Recipe::Tuple(items)) => items,
                    _ => vec![],
                };
                for item in items.iter().take(MOST_ROUNDS) {
                    self.bind(&node.target, Some(item));
                    self.body(&node.body);
                }
                if items.is_empty() {
                    self.bind(&node.target, None);
                    self.body(&node.body);
                }
                self.body(&node.orelse);
            }
            Stmt::While(node) => self.body(&node.body),
            Stmt::If(node) => {
                self.calls_in(&node.test);
                self.body(&node.body);
                for clause in &node.elif_else_clauses {
                    self.body(&clause.body);
                }
            }
            Stmt::With(node) => {
                for item in &node.items {
                    self.calls_in(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.bind(target, None);
                    }
                }
                self.body(&node.body);
            }
            Stmt::Try(node) => {
                self.body(&node.body);
                self.body(&node.orelse);
                self.body(&node.finalbody);
            }
            Stmt::Expr(node) => {
                self.calls_in(&node.value);
                // A method may change its object: `rows.append(1)`.
                if let Expr::Call(call) = node.value.as_ref()
                    && let Expr::Attribute(method) = call.func.as_ref()
                    && !matches!(self.value(&method.value, DEEPEST), Some(Recipe::Made(_)))
                    && matches!(method.value.as_ref(), Expr::Name(name) if self.bound.contains_key(name.id.as_str()))
                {
                    self.bind(&method.value, None);
                }
            }
            Stmt::Return(node) => {
                if let Some(value) = &node.value {
                    self.calls_in(value);
                }
            }
            Stmt::Assert(node) => self.calls_in(&node.test),
            _ => {}
        }
    }

    /// A target of an assignment gets a value, or one that is not known.
    fn bind(&mut self, target: &Expr, value: Option<&Recipe>) {
        match (target, value) {
            (Expr::Name(name), Some(value)) => {
                self.bound.insert(name.id.to_string(), value.clone());
            }
            (Expr::Name(name), None) => {
                self.bound.insert(name.id.to_string(), unknown());
            }
            (Expr::Tuple(_) | Expr::List(_), value) => {
                let targets = match target {
                    Expr::Tuple(node) => &node.elts,
                    Expr::List(node) => &node.elts,
                    _ => return,
                };
                let items = match value {
                    Some(Recipe::Tuple(items) | Recipe::List(items)) if items.len() == targets.len() => {
                        items.as_slice()
                    }
                    _ => &[],
                };
                for (position, target) in targets.iter().enumerate() {
                    self.bind(target, items.get(position));
                }
            }
            // An item or an attribute of a value is another one now.
            (Expr::Subscript(node), _) => self.bind(&node.value, None),
            (Expr::Attribute(node), _) => self.bind(&node.value, None),
            _ => {}
        }
    }

    /// A function, whose body runs once for each set of values that its decorators give it.
    fn function(&mut self, node: &StmtFunctionDef) {
        let rounds = self.rounds(node);
        if self.only_decorated && rounds.is_empty() {
            return;
        }
        let (outer, only_decorated) = (self.bound.clone(), std::mem::replace(&mut self.only_decorated, false));
        for (line, values) in &rounds {
            let keywords = values.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
            let function = node.name.to_string();
            self.calls.push(Call { function, keywords, is_open: true, line: *line, ..Call::default() });
        }
        let none = (0, BTreeMap::new());
        for (line, values) in if rounds.is_empty() { std::slice::from_ref(&none) } else { &rounds } {
            let first = self.calls.len();
            for parameter in node.parameters.iter().map(|parameter| parameter.as_parameter().name.to_string()) {
                self.bound.insert(parameter, unknown());
            }
            self.bound.extend(values.clone());
            self.body(&node.body);
            self.bound = outer.clone();
            if *line > 0 {
                self.calls[first..].iter_mut().for_each(|call| call.line = *line);
            }
        }
        self.only_decorated = only_decorated;
    }

    /// What decorators pass to a function, each with its line: `@example(1, x=2)` and
    /// `@pytest.mark.parametrize("a, b", [(1, 2), (3, 4)])`.
    fn rounds(&self, node: &StmtFunctionDef) -> Vec<(u32, BTreeMap<String, Recipe>)> {
        let mut rounds = Vec::new();
        let parameters: Vec<String> =
            node.parameters.iter().map(|parameter| parameter.as_parameter().name.to_string()).collect();
        for Decorator { expression, .. } in &node.decorator_list {
            let Expr::Call(call) = expression else { continue };
            let Some(name) = named(&call.func) else { continue };
            match name.rsplit('.').next() {
                Some("example") => {
                    // Hypothesis fills the last parameters.
                    let given = call.arguments.args.len();
                    let own = parameters.iter().skip(parameters.len().saturating_sub(given));
                    let positional = own.cloned().zip(call.arguments.args.iter());
                    let keywords = call.arguments.keywords.iter();
                    let keywords = keywords.filter_map(|word| Some((word.arg.as_ref()?.to_string(), &word.value)));
                    let value = |(name, value): (String, &Expr)| Some((name, self.value(value, DEEPEST)?));
                    let values: BTreeMap<_, _> = positional.chain(keywords).filter_map(value).collect();
                    if !values.is_empty() {
                        rounds.push((self.line(expression.start()), values));
                    }
                }
                Some("parametrize") => {
                    let [names, Expr::List(rows), ..] = &*call.arguments.args else { continue };
                    let names: Vec<String> = match (self.value(names, DEEPEST), names) {
                        (Some(Recipe::Str(names)), _) => names.split(',').map(|name| name.trim().to_owned()).collect(),
                        (Some(Recipe::Tuple(names) | Recipe::List(names)), _) => names
                            .iter()
                            .filter_map(|name| if let Recipe::Str(name) = name { Some(name.clone()) } else { None })
                            .collect(),
                        _ => continue,
                    };
                    for row in &rows.elts {
                        let values: Vec<&Expr> = match row {
                            _ if names.len() == 1 => vec![row],
                            Expr::Tuple(row) => row.elts.iter().collect(),
                            Expr::List(row) => row.elts.iter().collect(),
                            _ => continue,
                        };
                        let value = |(name, value): (&String, &Expr)| Some((name.clone(), self.value(value, DEEPEST)?));
                        let values: BTreeMap<_, _> = names.iter().zip(values).filter_map(value).collect();
                        if !values.is_empty() {
                            rounds.push((self.line(row.start()), values));
                        }
                    }
                }
                _ => {}
            }
        }
        rounds.truncate(MOST_ROUNDS);
        rounds
    }

    fn calls_in(&mut self, expr: &Expr) {
        if self.only_decorated {
            return;
        }
        Calls { reader: self }.visit_expr(expr);
    }

    /// A call as an example of what it calls.
    fn call(&self, node: &ExprCall) -> Option<Call> {
        let (function, is_imported, is_bound) = self.callee(&node.func)?;
        let passed = |expr: &Expr| self.value(expr, DEEPEST);
        let plain = node.arguments.args.iter().take_while(|argument| !argument.is_starred_expr());
        let arguments: Vec<Passed> = plain.map(passed).collect();
        let is_open = arguments.len() < node.arguments.args.len()
            || node.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let keyword =
            |keyword: &ruff_python_ast::Keyword| Some((keyword.arg.as_ref()?.to_string(), passed(&keyword.value)));
        let keywords = node.arguments.keywords.iter().filter_map(keyword).collect();
        let line = self.line(node.start());
        Some(Call { function, is_imported, is_bound, arguments, keywords, is_open, line, ..Call::default() })
    }

    /// What is called: its dotted name, whether an import brought it, and whether it is a method of an object.
    fn callee(&self, callee: &Expr) -> Option<(String, bool, bool)> {
        if let Expr::Attribute(node) = callee {
            let object = match node.value.as_ref() {
                Expr::Name(name) => self.bound.get(name.id.as_str()).cloned(),
                call @ Expr::Call(_) => self.value(call, DEEPEST),
                _ => None,
            };
            match object {
                Some(Recipe::Made(made)) if library::is_model(&made.class) => {
                    return Some((format!("{}.{}", made.class, node.attr), false, true));
                }
                Some(_) => return None,
                None => {}
            }
        }
        let name = named(callee)?;
        let (first, rest) = name.split_once('.').unwrap_or((&name, ""));
        match self.imports.get(first) {
            _ if self.bound.contains_key(first) => None,
            Some(target) if is_pure_import(target) || is_library(target) => None,
            None if is_builtin(first) => None,
            Some(target) if rest.is_empty() => Some((target.clone(), true, false)),
            Some(target) => Some((format!("{target}.{rest}"), true, false)),
            None => Some((name, false, false)),
        }
    }

    /// The value of an expression, where it is known.
    fn value(&self, expr: &Expr, levels: u32) -> Passed {
        let levels = levels.checked_sub(1)?;
        let value = |expr: &Expr| self.value(expr, levels);
        container(expr, &value).unwrap_or_else(|| match expr {
            Expr::Name(_) | Expr::Attribute(_) => {
                let name = named(expr)?;
                match (self.bound.get(name.split('.').next()?), expr) {
                    (Some(known), Expr::Name(_)) => Some(known.clone()).filter(|known| *known != unknown()),
                    (Some(_), _) => None,
                    // Whether there is such a constant, the code says.
                    (None, _) => Some(Recipe::Named(self.imported(&name))),
                }
            }
            Expr::BinOp(node) => calculated(&value(&node.left)?, node.op, &value(&node.right)?),
            Expr::Call(node) => self.made(node, levels),
            _ => literal(expr),
        })
    }

    /// A dotted name with what an import put under its first part.
    fn imported(&self, name: &str) -> String {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        match self.imports.get(first) {
            Some(target) if target == first && (is_pure_import(first) || is_library(first)) => name.to_owned(),
            // The compared code may be the module, or have the name itself.
            Some(target) if !target.contains('.') && !rest.is_empty() => rest.to_owned(),
            Some(target) => {
                let own = target.rsplit('.').next().unwrap_or(target);
                if rest.is_empty() { own.to_owned() } else { format!("{own}.{rest}") }
            }
            None => name.to_owned(),
        }
    }

    /// What a call of a class, or of something in a library, makes.
    fn made(&self, node: &ExprCall, levels: u32) -> Passed {
        let name = named(&node.func)?;
        let (first, rest) = name.split_once('.').unwrap_or((&name, ""));
        if self.bound.contains_key(first) {
            return None;
        }
        let arguments = node.arguments.args.iter().map(|argument| match argument {
            Expr::Starred(_) => None,
            argument => self.value(argument, levels),
        });
        let arguments = arguments.collect::<Option<Vec<_>>>()?;
        let keyword = |keyword: &ruff_python_ast::Keyword| {
            Some((keyword.arg.as_ref()?.to_string(), self.value(&keyword.value, levels)?))
        };
        let keywords = node.arguments.keywords.iter().map(keyword).collect::<Option<Vec<_>>>()?;
        let made = |class: String, arguments| {
            Some(Recipe::from(ConstructorCall { class, arguments, keywords: keywords.clone() }))
        };
        let target = match self.imports.get(first) {
            Some(target) if rest.is_empty() => Some(target.clone()),
            Some(target) => Some(format!("{target}.{rest}")),
            None => {
                let module = library::packages().find(|module| short_module(module) == Some(first));
                module.map(|module| format!("{module}.{rest}")).filter(|_| !rest.is_empty())
            }
        };
        if target.is_none() && rest.is_empty() {
            return match (first, arguments.as_slice()) {
                ("float", [Recipe::Str(text)]) => text.trim().parse().ok().map(Recipe::Float),
                ("float", [Recipe::Int(number)]) => Some(Recipe::Float(*number as f64)),
                ("list", []) => Some(Recipe::List(vec![])),
                ("tuple", []) => Some(Recipe::Tuple(vec![])),
                ("set", []) => Some(Recipe::Set(vec![])),
                ("dict", []) => {
                    Some(Recipe::Dict(keywords.into_iter().map(|(name, value)| (Recipe::Str(name), value)).collect()))
                }
                ("list", [Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items)]) => {
                    Some(Recipe::List(items.clone()))
                }
                ("tuple", [Recipe::List(items) | Recipe::Tuple(items)]) => Some(Recipe::Tuple(items.clone())),
                ("set", [Recipe::List(items) | Recipe::Tuple(items)]) => {
                    Some(items.clone()).filter(|items| items.iter().all(is_hashable)).map(Recipe::Set)
                }
                ("range" | "frozenset" | "bytearray" | "complex" | "slice" | "bytes", _) => {
                    made(format!("builtins.{first}"), arguments)
                }
                (name, _) if is_builtin_exception(name) => made(format!("builtins.{name}"), arguments),
                // Only a class of the code has such a name.
                (name, _) if name.starts_with(|first: char| first.is_uppercase()) => made(name.to_owned(), arguments),
                _ => None,
            };
        }
        let target = target?;
        let (module, own) = target.rsplit_once('.').unwrap_or(("", &target));
        if is_value_maker(&target) {
            return made(target, arguments);
        }
        let is_class = own.starts_with(|first: char| first.is_uppercase()) && !is_pure_import(module);
        (is_class && !is_library(module)).then(|| made(own.to_owned(), arguments)).flatten()
    }
}

/// What stands for a value that is not known, so that an outer value of the same name does not.
fn unknown() -> Recipe {
    Recipe::Mock(crate::value::AbstractValue::Object)
}

/// Whether a call of this makes a value by computing alone.
fn is_value_maker(target: &str) -> bool {
    let (module, name) = target.rsplit_once('.').unwrap_or(("", target));
    let is_known = library::class_named(name) == Some(target) || is_pure_import(module) && !module.contains('.');
    is_known || is_library(module) && !module.contains('.')
}

fn is_library(module: &str) -> bool {
    library::is_of_tables(module)
}

/// Sums and repetitions of literals: `"a" * 100`, `60 * 60`, `[0] + [1]`.
fn calculated(left: &Recipe, operator: Operator, right: &Recipe) -> Passed {
    use Recipe as R;
    let repeated = |length: usize, count: i64| {
        let count = usize::try_from(count).unwrap_or(0);
        (length.saturating_mul(count) <= LONGEST).then_some(count)
    };
    Some(match (left, operator, right) {
        (R::Int(a), Operator::Add, R::Int(b)) => R::Int(a.checked_add(*b)?),
        (R::Int(a), Operator::Sub, R::Int(b)) => R::Int(a.checked_sub(*b)?),
        (R::Int(a), Operator::Mult, R::Int(b)) => R::Int(a.checked_mul(*b)?),
        (R::Int(a), Operator::Pow, R::Int(b)) => R::Int(a.checked_pow(u32::try_from(*b).ok()?)?),
        (R::Str(a), Operator::Add, R::Str(b)) if a.len() + b.len() <= LONGEST => R::Str(format!("{a}{b}")),
        (R::List(a), Operator::Add, R::List(b)) if a.len() + b.len() <= LONGEST => {
            R::List([a.clone(), b.clone()].concat())
        }
        (R::Str(text), Operator::Mult, R::Int(count)) => R::Str(text.repeat(repeated(text.len(), *count)?)),
        (R::List(items), Operator::Mult, R::Int(count)) => {
            let count = repeated(items.len(), *count)?;
            R::List(items.iter().cycle().take(items.len() * count).cloned().collect())
        }
        _ => return None,
    })
}

/// Finds the calls in an expression, outer ones first.
struct Calls<'r, 'a> {
    reader: &'r mut Reader<'a>,
}

impl<'ast> SourceOrderVisitor<'ast> for Calls<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Call(node) => {
                if self.reader.calls.len() < MOST_CALLS
                    && let Some(call) = self.reader.call(node)
                {
                    self.reader.calls.push(call);
                }
                source_order::walk_expr(self, expr);
            }
            // Their names stand for other values each time.
            Expr::Lambda(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {}
            _ => source_order::walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(calls: &[Call]) -> Vec<String> {
        let passed = |value: &Passed| value.as_ref().map_or("?".to_owned(), Recipe::display);
        let shown = |call: &Call| {
            let keywords = call.keywords.iter().map(|(name, value)| format!("{name}={}", passed(value)));
            let all: Vec<String> = call.arguments.iter().map(passed).chain(keywords).collect();
            format!("{}: {}({}{})", call.line, call.function, all.join(", "), if call.is_open { ", .." } else { "" })
        };
        calls.iter().map(shown).collect()
    }

    fn read(text: &str) -> Vec<String> {
        shown(&calls_of_python(text).0)
    }

    #[test]
    fn arguments_are_literals_values_of_libraries_and_names_of_these() {
        let text = "import datetime\nfrom decimal import Decimal\nimport pandas as pd\nfrom shop import price, Cart\n\
                    cart = {'a': [1, -2.5]}\nprice(cart, rate=Decimal('1.1'))\nprice(datetime.date(2024, 1, 31), load())\n\
                    assert price(pd.DataFrame({'a': [1]}), *rest) == 3\nx = price('a' * 3, float('nan'))\n\
                    price(Cart(2), Cart.EMPTY)\n";
        let calls = read(text);
        for wanted in [
            "6: shop.price({'a': [1, -2.5]}, rate=decimal.Decimal('1.1'))",
            "7: shop.price(datetime.date(2024, 1, 31), ?)",
            "8: shop.price(pd.DataFrame({'a': [1]}), ..)",
            "9: shop.price('aaa', NaN)",
            "10: shop.price(Cart(2), Cart.EMPTY)",
        ] {
            assert!(calls.iter().any(|call| call == wanted), "{wanted}: {calls:#?}");
        }
    }

    #[test]
    fn a_name_that_was_bound_again_or_changed_is_not_known() {
        let text = "x = [1]\nf(x)\nx.append(2)\nf(x)\nx = [1]\nx[0] = 3\nf(x)\ndef test(x):\n    f(x)\nwith y as x:\n    f(x)\n";
        let calls: Vec<String> = read(text).into_iter().filter(|call| call.contains(" f(")).collect();
        assert_eq!(calls, ["2: f([1])", "4: f(?)", "7: f(?)", "9: f(?)", "11: f(?)"]);
    }

    #[test]
    fn methods_are_calls_on_objects_of_their_class() {
        let text = "from shop import Cart\ncart = Cart(3)\ncart.total(2)\nCart(1).total(4)\nself.client.get('x')\n";
        let (calls, _) = calls_of_python(text);
        let bound: Vec<&Call> = calls.iter().filter(|call| call.is_bound).collect();
        assert_eq!(bound.iter().map(|call| call.function.as_str()).collect::<Vec<_>>(), ["Cart.total", "Cart.total"]);
        assert!(calls.iter().any(|call| call.function == "self.client.get" && !call.is_imported));
    }

    #[test]
    fn loops_and_decorators_give_a_test_its_values() {
        let text = "for x in [1, 2]:\n    f(x)\n@pytest.mark.parametrize('a, b', [(1, 'x'),\n  (2, 'y')])\ndef test_f(a, b):\n    assert f(a) == b\n";
        let calls: Vec<String> = read(text).into_iter().filter(|call| call.contains(" f(")).collect();
        assert_eq!(calls, ["2: f(1)", "2: f(2)", "3: f(1)", "4: f(2)"]);
        let text = "@given(x=ints())\n@example(x=5)\ndef test_f(x):\n    assert f(x, 1)\n\ndef other():\n    f(9)\n";
        let calls: Vec<Call> = written_beside(text).into_iter().map(|(_, call)| call).collect();
        assert_eq!(shown(&calls), ["2: test_f(x=5, ..)", "2: f(5, 1)"]);
    }

    #[test]
    fn doctests_are_read_line_by_line_where_they_stand() {
        let text = "import datetime as dt\ndef f(x, y):\n    r\"\"\"Adds.\n\n    >>> a = dt.date(2024,\n    ...     1, 31)\n    >>> f(a,\n    ...   2)\n    3\n    >>> f('\\\\d', [])  # doctest: +SKIP\n    \"\"\"\n\nclass C:\n    '''>>> C(1).m(2)'''\n";
        let calls: Vec<Call> = written_beside(text).into_iter().map(|(_, call)| call).collect();
        let shown = shown(&calls);
        for wanted in ["7: f(datetime.date(2024, 1, 31), 2)", "10: f('\\\\d', [])", "14: C.m(2)"] {
            assert!(shown.iter().any(|call| call == wanted), "{wanted}: {shown:#?}");
        }
    }

    #[test]
    fn what_is_no_python_is_named_and_the_rest_is_read() {
        let (calls, errors) = calls_of_python("f(1)\nf(2\n\nf(3)\n");
        assert!(!calls.is_empty() && errors[0].line >= 2, "{errors:?}");
    }
}
