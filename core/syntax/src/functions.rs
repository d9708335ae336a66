//! Text -> its functions, each with its own text.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{AnyParameterRef, Expr, ModModule, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextSize};

use super::parse::{Lines, normalize_newlines, parse, slice, with_stack_for};
use super::scopes::{Bindings, mangle};
use super::{CodeKind, Function, SourceError};
use crate::{Parameter, ParameterKind};

/// All functions of a text in order of appearance, nested ones after the function that holds them. Where the text has
/// errors, functions in the parts that parse are still found.
///
/// Names are CPython's `__qualname__`. The second function of the same name gets `#2`. Private parameters are mangled
/// as in CPython.
pub fn functions(text: &str) -> (Vec<Function>, Vec<SourceError>) {
    let text = normalize_newlines(text);
    let (found, _, errors) = find(&text);
    (found, errors)
}

/// The classes of a text outside functions, each without its decorators, as for functions.
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
            counts: BTreeMap::new(),
            found: Vec::new(),
            classes: Vec::new(),
        };
        finder.visit_body(parsed.suite());
        (finder.found, finder.classes, errors)
    })
}

enum Scope {
    Class {
        path: String,
        name: String,
    },
    /// `path` is the prefix of names inside; `qualname` has the number of a duplicate.
    Function {
        path: String,
        qualname: String,
        globals: BTreeSet<String>,
    },
}

struct Finder<'text> {
    text: &'text str,
    parsed: &'text Parsed<ModModule>,
    lines: &'text Lines<'text>,
    scopes: Vec<Scope>,
    counts: BTreeMap<String, u32>,
    found: Vec<Function>,
    classes: Vec<Function>,
}

impl Finder<'_> {
    fn path_of(&self, name: &str) -> String {
        match self.scopes.last() {
            Some(Scope::Class { path, .. }) => format!("{path}.{name}"),
            Some(Scope::Function { globals, .. }) if globals.contains(name) => name.to_owned(),
            Some(Scope::Function { path, .. }) => format!("{path}.<locals>.{name}"),
            None => name.to_owned(),
        }
    }

    fn class_name(&self) -> Option<&str> {
        self.scopes.iter().rev().find_map(|scope| match scope {
            Scope::Class { name, .. } => Some(name.as_str()),
            Scope::Function { .. } => None,
        })
    }

    fn parent(&self) -> Option<&str> {
        self.scopes.iter().rev().find_map(|scope| match scope {
            Scope::Function { qualname, .. } => Some(qualname.as_str()),
            Scope::Class { .. } => None,
        })
    }

    /// The path, with `#2`, `#3`, ... if it already occurred.
    fn number(&mut self, path: &str) -> String {
        let count = self.counts.entry(path.to_owned()).or_default();
        *count += 1;
        if *count == 1 { path.to_owned() } else { format!("{path}#{count}") }
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        let path = self.path_of(&function.name);
        let qualname = self.number(&path);
        let start = definition_start(function, self.parsed.tokens());
        let class_name = self.class_name().map(str::to_owned);
        let mut yields = YieldFinder(false);
        yields.visit_body(&function.body);
        self.found.push(Function {
            qualname: qualname.clone(),
            name: function.name.to_string(),
            parent: self.parent().map(str::to_owned),
            text: self.extract(start.to_usize(), self.end_of_statement(function.end())),
            first_line: self.lines.line(start),
            parameters: self.parameters(&function.parameters, class_name.as_deref()),
            decorators: function
                .decorator_list
                .iter()
                .map(|decorator| slice(self.text, &decorator.expression).to_owned())
                .collect(),
            class_name,
            is_async: function.is_async,
            is_generator: yields.0,
            kind: CodeKind::Function,
        });
        let globals = Bindings::of_body(&function.body).globals;
        self.scopes.push(Scope::Function { path, qualname, globals });
        self.visit_body(&function.body);
        self.scopes.pop();
    }

    fn class(&mut self, class: &StmtClassDef, path: &str) {
        let start = match class.decorator_list.last() {
            Some(last) => first_token(self.parsed.tokens(), last.end(), &[TokenKind::Class]).unwrap_or(class.start()),
            None => class.start(),
        };
        self.classes.push(Function {
            qualname: path.to_owned(),
            name: class.name.to_string(),
            class_name: None,
            parent: None,
            text: self.extract(start.to_usize(), self.end_of_statement(class.end())),
            first_line: self.lines.line(start),
            parameters: vec![],
            decorators: (class.decorator_list.iter())
                .map(|decorator| slice(self.text, &decorator.expression).to_owned())
                .collect(),
            is_async: false,
            is_generator: false,
            kind: CodeKind::Class,
        });
    }

    fn lambda(&mut self, stmt: &Stmt, name: &str, lambda: &ruff_python_ast::ExprLambda) {
        let path = self.path_of(name);
        let qualname = self.number(&path);
        let class_name = self.class_name().map(str::to_owned);
        let mut yields = YieldFinder(false);
        yields.visit_expr(&lambda.body);
        self.found.push(Function {
            qualname,
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
        });
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
                if self.parent().is_none() {
                    self.class(class, &path);
                }
                self.scopes.push(Scope::Class { path, name: class.name.to_string() });
                self.visit_body(&class.body);
                self.scopes.pop();
            }
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Expr::Lambda(lambda)) = (assign.targets.as_slice(), assign.value.as_ref())
                    && self.parent().is_none()
                {
                    self.lambda(stmt, &name.id, lambda);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let (Expr::Name(name), Some(Expr::Lambda(lambda))) =
                    (assign.target.as_ref(), assign.value.as_deref())
                    && self.parent().is_none()
                {
                    self.lambda(stmt, &name.id, lambda);
                }
            }
            _ => source_order::walk_stmt(self, stmt),
        }
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
