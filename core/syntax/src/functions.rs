//! Text -> its functions, each with its own text.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{AnyParameterRef, Decorator, Expr, ModModule, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextSize};

use super::parse::{Lines, normalize_newlines, parse, slice, with_stack_for};
use super::scopes::{Bindings, mangle};
use super::{CodeKind, Function, SourceError};
use crate::{Parameter, ParameterKind};

/// All functions of a text in order of appearance, nested ones after the function that holds them. Where the text has
/// errors, functions in the parts that parse are still found.
///
/// Names are CPython's `__qualname__`. The second function of the same name gets `#2`; those that a later definition
/// in the same or an outer block replaces are counted last, so that the name alone means what it means to Python. Private
/// parameters are mangled as in CPython.
pub fn functions(text: &str) -> (Vec<Function>, Vec<SourceError>) {
    let text = normalize_newlines(text);
    let (found, _, errors) = find(&text);
    (found, errors)
}

/// The classes of a text outside functions, each without its decorators, as for functions. Those that a later definition
/// replaces come last.
pub fn classes(text: &str) -> Vec<Function> {
    find(&normalize_newlines(text)).1
}

fn find(text: &str) -> (Vec<Function>, Vec<Function>, Vec<SourceError>) {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let lines = Lines::new(text);
        let errors = super::parse::errors(&parsed, &lines);
        let mut finder = Finder {
            text,
            parsed: &parsed,
            lines: &lines,
            scopes: Vec::new(),
            blocks: Vec::new(),
            opened: 0,
            definitions: Vec::new(),
            found: Vec::new(),
            classes: Vec::new(),
        };
        finder.visit_body(parsed.suite());
        let (found, classes) = finder.named();
        (found, classes, errors)
    })
}

enum Scope {
    Class {
        path: String,
        name: String,
    },
    /// `path` is the prefix of names inside.
    Function {
        path: String,
        globals: BTreeSet<String>,
    },
}

/// How many definitions of one name are looked through for those that a later one replaces, the latest first.
const MOST_ALIKE: usize = 64;

/// A definition of a function or a class.
struct Definition {
    path: String,
    /// The position of the definition whose body holds it.
    outer: Option<usize>,
    /// The blocks around it, the outermost first.
    blocks: Vec<u32>,
    decorators: Vec<String>,
}

impl Definition {
    /// Whether Python forgets the other, earlier definition of the same path when it comes to this one.
    fn replaces(&self, earlier: &Definition) -> bool {
        let name = self.path.rsplit('.').next().unwrap_or(&self.path);
        let callee = |decorator: &String| decorator.split('(').next().unwrap_or_default().trim_end().to_owned();
        // Nobody calls what only declares a type.
        if earlier.decorators.iter().map(callee).any(|callee| callee.rsplit('.').next() == Some("overload")) {
            return earlier.blocks.starts_with(&self.blocks);
        }
        // `@name.setter` builds on what is there, and what `@convert.register` gets is found by `convert`.
        let builds_on = self
            .decorators
            .iter()
            .map(callee)
            .any(|callee| callee.split('.').next() == Some(name) || callee.ends_with(".register"));
        // `@step("a")` and `@step("b")` register functions whose name nobody asks for.
        let registers = |one: &str| one.contains(['(', '.']);
        let are_registered = match (self.decorators.first(), earlier.decorators.first()) {
            (Some(own), Some(other)) => own != other && registers(own) && registers(other),
            _ => false,
        };
        earlier.blocks.starts_with(&self.blocks) && !builds_on && !are_registered
    }
}

struct Finder<'text> {
    text: &'text str,
    parsed: &'text Parsed<ModModule>,
    lines: &'text Lines<'text>,
    /// Each with the position of its definition.
    scopes: Vec<(Scope, usize)>,
    /// The numbers of the blocks around a statement.
    blocks: Vec<u32>,
    opened: u32,
    definitions: Vec<Definition>,
    /// Each with the position of its definition, and without the number of a duplicate.
    found: Vec<(Function, usize)>,
    classes: Vec<(Function, usize)>,
}

impl Finder<'_> {
    fn path_of(&self, name: &str) -> String {
        match self.scopes.last().map(|(scope, _)| scope) {
            Some(Scope::Class { path, .. }) => format!("{path}.{name}"),
            Some(Scope::Function { globals, .. }) if globals.contains(name) => name.to_owned(),
            Some(Scope::Function { path, .. }) => format!("{path}.<locals>.{name}"),
            None => name.to_owned(),
        }
    }

    fn class_name(&self) -> Option<&str> {
        self.scopes.iter().rev().find_map(|(scope, _)| match scope {
            Scope::Class { name, .. } => Some(name.as_str()),
            Scope::Function { .. } => None,
        })
    }

    fn is_in_function(&self) -> bool {
        self.scopes.iter().any(|(scope, _)| matches!(scope, Scope::Function { .. }))
    }

    /// Notes a definition and returns its position.
    fn define(&mut self, path: String, decorators: Vec<String>) -> usize {
        let outer = self.scopes.last().map(|(_, definition)| *definition);
        self.definitions.push(Definition { path, outer, blocks: self.blocks.clone(), decorators });
        self.definitions.len() - 1
    }

    /// The functions and classes with the names that tell them apart.
    fn named(self) -> (Vec<Function>, Vec<Function>) {
        let definitions = &self.definitions;
        let mut last: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut are_replaced = vec![false; definitions.len()];
        for (position, definition) in definitions.iter().enumerate() {
            let current = last.entry(&definition.path).or_default();
            let mut latest = current.split_off(current.len().saturating_sub(MOST_ALIKE));
            latest.retain(|earlier| {
                let replaced = definitions.get(*earlier).is_some_and(|earlier| definition.replaces(earlier));
                if let Some(one) = are_replaced.get_mut(*earlier) {
                    *one |= replaced;
                }
                !replaced
            });
            current.append(&mut latest);
            current.push(position);
        }
        // What stands in a definition goes with it, and stands behind it.
        for (position, definition) in definitions.iter().enumerate() {
            let outer = definition.outer.and_then(|outer| are_replaced.get(outer)).copied().unwrap_or_default();
            are_replaced.get_mut(position).into_iter().for_each(|one| *one |= outer);
        }
        let is_replaced = |position: usize| are_replaced.get(position).copied().unwrap_or_default();
        let of_functions: BTreeSet<usize> = self.found.iter().map(|(_, definition)| *definition).collect();
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut names = vec![String::new(); definitions.len()];
        for replaced in [false, true] {
            for &position in of_functions.iter().filter(|position| is_replaced(**position) == replaced) {
                let Some(Definition { path, .. }) = definitions.get(position) else { continue };
                let count = counts.entry(path).or_default();
                *count += 1;
                if let Some(name) = names.get_mut(position) {
                    *name = if *count == 1 { path.clone() } else { format!("{path}#{count}") };
                }
            }
        }
        let parent = |position: usize| {
            let outer = |at: &usize| definitions.get(*at).and_then(|definition| definition.outer);
            let mut around = std::iter::successors(outer(&position), outer);
            around.find(|outer| of_functions.contains(outer)).and_then(|outer| names.get(outer)).cloned()
        };
        let functions = self.found.into_iter().map(|(function, position)| {
            let qualname = names.get(position).cloned().unwrap_or_default();
            Function { qualname, parent: parent(position), ..function }
        });
        let functions = functions.collect();
        let mut classes = self.classes;
        classes.sort_by_key(|(_, position)| are_replaced.get(*position).copied());
        (functions, classes.into_iter().map(|(class, _)| class).collect())
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        let path = self.path_of(&function.name);
        let decorators = self.decorators(&function.decorator_list);
        let position = self.define(path.clone(), decorators.clone());
        let start = definition_start(function, self.parsed.tokens());
        let class_name = self.class_name().map(str::to_owned);
        let mut yields = YieldFinder(false);
        yields.visit_body(&function.body);
        let function_found = Function {
            qualname: String::new(),
            name: function.name.to_string(),
            parent: None,
            text: self.extract(start.to_usize(), self.end_of_statement(function.end())),
            first_line: self.lines.line(start),
            parameters: self.parameters(&function.parameters, class_name.as_deref()),
            decorators,
            class_name,
            is_async: function.is_async,
            is_generator: yields.0,
            kind: CodeKind::Function,
        };
        self.found.push((function_found, position));
        let globals = Bindings::of_body(&function.body).globals;
        self.scopes.push((Scope::Function { path, globals }, position));
        self.visit_body(&function.body);
        self.scopes.pop();
    }

    fn decorators(&self, decorators: &[Decorator]) -> Vec<String> {
        decorators.iter().map(|decorator| slice(self.text, &decorator.expression).to_owned()).collect()
    }

    fn class(&mut self, class: &StmtClassDef, path: &str, position: usize) {
        let start = match class.decorator_list.last() {
            Some(last) => first_token(self.parsed.tokens(), last.end(), &[TokenKind::Class]).unwrap_or(class.start()),
            None => class.start(),
        };
        let found = Function {
            qualname: path.to_owned(),
            name: class.name.to_string(),
            class_name: None,
            parent: None,
            text: self.extract(start.to_usize(), self.end_of_statement(class.end())),
            first_line: self.lines.line(start),
            parameters: vec![],
            decorators: self.decorators(&class.decorator_list),
            is_async: false,
            is_generator: false,
            kind: CodeKind::Class,
        };
        self.classes.push((found, position));
    }

    fn lambda(&mut self, stmt: &Stmt, name: &str, lambda: &ruff_python_ast::ExprLambda) {
        let path = self.path_of(name);
        let position = self.define(path, vec![]);
        let class_name = self.class_name().map(str::to_owned);
        let mut yields = YieldFinder(false);
        yields.visit_expr(&lambda.body);
        let found = Function {
            qualname: String::new(),
            name: name.to_owned(),
            parent: None,
            text: self.extract(stmt.start().to_usize(), stmt.end().to_usize()),
            first_line: self.lines.line(stmt.start()),
            parameters: lambda
                .parameters
                .as_deref()
                .map(|parameters| self.parameters(parameters, class_name.as_deref()))
                .unwrap_or_default(),
            decorators: Vec::new(),
            class_name,
            is_async: false,
            is_generator: yields.0,
            kind: CodeKind::Function,
        };
        self.found.push((found, position));
    }

    fn parameters(&self, parameters: &Parameters, class: Option<&str>) -> Vec<Parameter> {
        let positional_only = parameters.posonlyargs.len();
        let positional = positional_only + parameters.args.len();
        parameters
            .iter()
            .enumerate()
            .map(|(index, any)| {
                let kind = match any {
                    AnyParameterRef::NonVariadic(_) if index < positional_only => ParameterKind::PositionalOnly,
                    AnyParameterRef::NonVariadic(_) if index < positional => ParameterKind::Positional,
                    AnyParameterRef::NonVariadic(_) => ParameterKind::KeywordOnly,
                    AnyParameterRef::Variadic(parameter) => {
                        let is_keywords =
                            parameters.kwarg.as_deref().is_some_and(|kwarg| kwarg.range == parameter.range);
                        if is_keywords { ParameterKind::VarKeyword } else { ParameterKind::VarPositional }
                    }
                };
                Parameter {
                    name: mangle(any.name(), class),
                    kind,
                    has_default: any.default().is_some(),
                    annotation: any.annotation().map(|annotation| slice(self.text, annotation).to_owned()),
                }
            })
            .collect()
    }

    /// The end of the logical line on which a statement ends, after a comment or a semicolon.
    fn end_of_statement(&self, end: TextSize) -> usize {
        let tokens: &[Token] = self.parsed.tokens();
        let from = tokens.partition_point(|token| token.start() < end);
        let mut after = tokens.get(from..).unwrap_or(&[]).iter();
        after
            .find(|token| token.kind() == TokenKind::Newline)
            .map(|token| token.start().to_usize())
            .unwrap_or(self.text.len())
    }

    /// The text from `start` to `end`, with the first line's indentation removed from every line that does not begin
    /// inside a string.
    fn extract(&self, start: usize, end: usize) -> String {
        // After an error, a node of the parser may end before it begins.
        let end = end.max(start);
        let line_start = self.lines.start_of_line(TextSize::new(start as u32));
        let before = self.text.get(line_start..start).unwrap_or("");
        let indentation = if before.chars().all(|c| matches!(c, ' ' | '\t' | '\x0c')) {
            before.rsplit('\x0c').next().unwrap_or("")
        } else {
            let blank = before.len() - before.trim_start_matches([' ', '\t', '\x0c']).len();
            before.get(..blank).and_then(|blank| blank.rsplit('\x0c').next()).unwrap_or("")
        };
        let mut out = String::with_capacity(end - start + 1);
        let mut from = start;
        for &at in self.lines.starts_within(start, end) {
            out.push_str(self.text.get(from..at).unwrap_or(""));
            let rest = self.text.get(at..end).unwrap_or("");
            from = if self.is_in_string(at) { at } else { at + removable(rest, indentation) };
        }
        out.push_str(self.text.get(from..end).unwrap_or(""));
        out.truncate(out.trim_end_matches([' ', '\t', '\n', '\x0c']).len());
        out.push('\n');
        out
    }

    /// Whether a string, or an f-string as a whole, began before this offset and ends after it.
    fn is_in_string(&self, offset: usize) -> bool {
        let tokens: &[Token] = self.parsed.tokens();
        let after = tokens.partition_point(|token| token.start().to_usize() < offset);
        let mut depth = 0_u32;
        for token in tokens.get(..after).unwrap_or(&[]).iter().rev() {
            match token.kind() {
                TokenKind::String if token.end().to_usize() > offset => return true,
                TokenKind::FStringEnd | TokenKind::TStringEnd if token.end().to_usize() <= offset => depth += 1,
                TokenKind::FStringStart | TokenKind::TStringStart if depth == 0 => return true,
                TokenKind::FStringStart | TokenKind::TStringStart => depth -= 1,
                TokenKind::Newline => return false,
                _ => {}
            }
        }
        false
    }
}

/// The number of bytes of indentation that this line can lose.
fn removable(line: &str, indentation: &str) -> usize {
    let blank = line.len() - line.trim_start_matches([' ', '\t', '\x0c']).len();
    let blank = line.get(..blank).unwrap_or("");
    let form_feed = blank.rfind('\x0c').map_or(0, |at| at + 1);
    let rest = blank.get(form_feed..).unwrap_or("");
    let shared = rest.bytes().zip(indentation.bytes()).take_while(|(a, b)| a == b).count();
    form_feed + shared
}

/// The position of `def` or `async`, after the decorators.
fn definition_start(function: &StmtFunctionDef, tokens: &[Token]) -> TextSize {
    let Some(last) = function.decorator_list.last() else { return function.start() };
    first_token(tokens, last.end(), &[TokenKind::Def, TokenKind::Async]).unwrap_or(function.start())
}

/// The position of the first token of the given kinds from an offset on.
fn first_token(tokens: &[Token], from: TextSize, kinds: &[TokenKind]) -> Option<TextSize> {
    let from = tokens.partition_point(|token| token.start() < from);
    tokens.get(from..).unwrap_or(&[]).iter().find(|token| kinds.contains(&token.kind())).map(Ranged::start)
}

impl<'a> SourceOrderVisitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                let path = self.path_of(&class.name);
                let position = self.define(path.clone(), self.decorators(&class.decorator_list));
                if !self.is_in_function() {
                    self.class(class, &path, position);
                }
                self.scopes.push((Scope::Class { path, name: class.name.to_string() }, position));
                self.visit_body(&class.body);
                self.scopes.pop();
            }
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Expr::Lambda(lambda)) = (assign.targets.as_slice(), assign.value.as_ref())
                    && !self.is_in_function()
                {
                    self.lambda(stmt, &name.id, lambda);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let (Expr::Name(name), Some(Expr::Lambda(lambda))) =
                    (assign.target.as_ref(), assign.value.as_deref())
                    && !self.is_in_function()
                {
                    self.lambda(stmt, &name.id, lambda);
                }
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.opened += 1;
        self.blocks.push(self.opened);
        source_order::walk_body(self, body);
        self.blocks.pop();
    }

    fn visit_expr(&mut self, _expr: &'a Expr) {}
}

/// Finds `yield` in a function's own body.
struct YieldFinder(bool);

impl<'a> SourceOrderVisitor<'a> for YieldFinder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                for decorator in &function.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&function.parameters);
            }
            Stmt::ClassDef(class) => {
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.0 = true,
            Expr::Lambda(_) => {}
            _ => source_order::walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name and the line of each function.
    fn names(text: &str) -> String {
        let names = functions(text).0.into_iter().map(|one| format!("{}:{}", one.qualname, one.first_line));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_name_alone_is_what_python_keeps() {
        for (text, expected) in [
            ("def f(): pass\ndef f(): pass\n", "f#2:1 f:2"),
            ("def f(): pass\nif x:\n    def f(): pass\n", "f:1 f#2:3"),
            ("if x:\n    def f(): pass\nelse:\n    def f(): pass\n", "f:2 f#2:4"),
            ("if x:\n    def f(): pass\ndef f(): pass\n", "f#2:2 f:3"),
            ("def f(): pass\nf = lambda: 1\n", "f#2:1 f:2"),
            ("@overload\ndef f(): pass\n@overload\ndef f(): pass\ndef f(): pass\n", "f#2:2 f#3:4 f:5"),
            ("class C:\n    @property\n    def f(self): pass\n    @f.setter\n    def f(self): pass\n", "C.f:3 C.f#2:5"),
            ("@step('a')\ndef f(): pass\n@step('b')\ndef f(): pass\n", "f:2 f#2:4"),
            ("@t.overload\ndef f(): pass\n@t.overload\ndef f(): pass\n@c.cache\ndef f(): pass\n", "f#2:2 f#3:4 f:6"),
            ("@g.register\ndef _(): pass\n@g.register\ndef _(): pass\n", "_:2 _#2:4"),
            ("@cache\ndef f(): pass\n@cache\ndef f(): pass\n", "f#2:2 f:4"),
            ("class C:\n    def f(self): pass\nclass C:\n    def f(self): pass\n", "C.f#2:2 C.f:4"),
            ("def f():\n    def g(): pass\ndef f():\n    def g(): pass\n", "f#2:1 f.<locals>.g#2:2 f:3 f.<locals>.g:4"),
            ("def f(): pass\nclass f: pass\n", "f:1"),
            ("def \u{fb01}t(): pass\ndef fit(): pass\n", "fit#2:1 fit:2"),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
        let inner = functions("def f():\n    def g(): pass\ndef f():\n    def g(): pass\n").0;
        let parents: Vec<_> = inner.iter().map(|function| function.parent.as_deref()).collect();
        assert_eq!(parents, [None, Some("f#2"), None, Some("f")]);
    }
}
