//! Function -> a tree that holds only what matters to behavior.
//!
//! The tree drops comments, docstrings, annotations, the function's own decorators, parentheses, quotes, the
//! concatenation of literals, and the notation of numbers. A local is labelled with its scope and its number in that
//! scope. So trees that differ only in names of locals can be told from others. `diff` compares trees.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{
    Alias, AnyNodeRef, BoolOp, CmpOp, Comprehension, Expr, FStringPart, Identifier, InterpolatedStringElement,
    Operator, Singleton, Stmt, StmtFunctionDef, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use super::labels::{Label, is_idle, label, shape};
use super::parse::{Lines, errors, parse};
use super::scopes::Bindings;
use super::{CodeKind, Function, snippet};

/// A normalised tree, with the lines of each node (1-based, both ends inclusive).
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) label: Label,
    pub(super) children: Vec<Node>,
    pub(super) lines: (u32, u32),
    /// The hash of the whole subtree, as `diff` last computed it.
    pub(super) hash: u64,
}

/// The label of a list of statements.
pub(super) const BODY: &str = "Body";

/// The tree of one function. `None` if its text does not parse.
pub(super) fn normalize(function: &Function) -> Option<Node> {
    let parsed = parse(&function.text);
    let lines = Lines::new(&function.text);
    if !errors(&parsed, &lines).is_empty() {
        return None;
    }
    let mut facts = Facts::default();
    facts.visit_body(parsed.suite());
    let mut builder = Builder {
        lines: &lines,
        names_matter: facts.names_matter,
        keywords: facts.keywords,
        scopes: Vec::new(),
        scope_count: 0,
        stack: vec![Node { label: Label::Kind("Root".into()), children: Vec::new(), lines: (1, 1), hash: 0 }],
    };
    match parsed.suite().first()? {
        _ if function.kind == CodeKind::Snippet => builder.snippet(parsed.suite(), &snippet(&function.text).unread),
        Stmt::ClassDef(_) if function.kind == CodeKind::Class => builder.visit_stmt(parsed.suite().first()?),
        Stmt::FunctionDef(definition) => builder.function_itself(definition),
        Stmt::Assign(assign) => builder.visit_expr(&assign.value),
        Stmt::AnnAssign(assign) => builder.visit_expr(assign.value.as_deref()?),
        _ => return None,
    }
    builder.stack.pop()?.children.pop()
}

/// Facts about a whole function that its names depend on.
#[derive(Default)]
struct Facts {
    /// Whether `locals()` or a similar function can see names.
    names_matter: bool,
    /// Callees and keywords of calls. A parameter that may be passed by keyword keeps its name.
    keywords: BTreeSet<(String, String)>,
}

impl<'a> SourceOrderVisitor<'a> for Facts {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            if let Expr::Name(name) = call.func.as_ref() {
                self.names_matter |= matches!(name.id.as_str(), "locals" | "vars" | "eval" | "exec" | "dir");
            }
            let names = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
            self.keywords.extend(names.map(|name| (callee(&call.func).to_owned(), name.to_string())));
        }
        source_order::walk_expr(self, expr);
    }
}

/// The last identifier of a callee.
fn callee(expr: &Expr) -> &str {
    match expr {
        Expr::Name(name) => &name.id,
        Expr::Attribute(attribute) => &attribute.attr,
        _ => "",
    }
}

struct Scope {
    id: usize,
    is_class: bool,
    bindings: Bindings,
    /// The parameters that callers inside the function may name.
    fixed: BTreeSet<String>,
    numbers: BTreeMap<String, usize>,
}

struct Builder<'a> {
    lines: &'a Lines<'a>,
    names_matter: bool,
    keywords: BTreeSet<(String, String)>,
    scopes: Vec<Scope>,
    scope_count: usize,
    stack: Vec<Node>,
}

impl<'a> Builder<'a> {
    fn open(&mut self, label: Label, range: TextRange) {
        let first = self.lines.line(range.start());
        let last = if range.is_empty() { first } else { self.lines.line(range.end()) };
        self.stack.push(Node { label, children: Vec::new(), lines: (first, last), hash: 0 });
    }

    fn close(&mut self) {
        if self.stack.len() > 1
            && let Some(node) = self.stack.pop()
            && let Some(parent) = self.stack.last_mut()
        {
            parent.children.push(node);
        }
    }

    fn leaf(&mut self, label: Label, range: TextRange) {
        self.open(label, range);
        self.close();
    }

    fn text(&mut self, text: impl Into<String>, range: TextRange) {
        self.leaf(Label::Text(text.into()), range);
    }

    /// A leaf that has no position of its own, such as an operator.
    fn mark(&mut self, text: &str) {
        let lines = self.stack.last().map_or((1, 1), |node| (node.lines.0, node.lines.0));
        let node = Node { label: Label::Text(text.into()), children: Vec::new(), lines, hash: 0 };
        if let Some(parent) = self.stack.last_mut() {
            parent.children.push(node);
        }
    }

    /// A name that is loaded or bound, resolved from the current scope.
    fn name(&mut self, name: &str, range: TextRange) {
        let label = self.resolve(name);
        self.leaf(label, range);
    }

    fn resolve(&mut self, name: &str) -> Label {
        let innermost = self.scopes.len().saturating_sub(1);
        for (index, scope) in self.scopes.iter_mut().enumerate().rev() {
            if scope.is_class && index != innermost {
                continue;
            }
            if scope.bindings.globals.contains(name) {
                break;
            }
            if !scope.bindings.is_local(name) {
                continue;
            }
            if scope.is_class {
                return Label::Text(format!("class {name}"));
            }
            if self.names_matter || scope.fixed.contains(name) {
                break;
            }
            let next = scope.numbers.len();
            let number = *scope.numbers.entry(name.to_owned()).or_insert(next);
            return Label::Local { scope: scope.id, number, name: name.to_owned() };
        }
        Label::Text(format!("name {name}"))
    }

    fn in_scope(&mut self, bindings: Bindings, is_class: bool, fixed: BTreeSet<String>, visit: impl FnOnce(&mut Self)) {
        let id = self.scope_count;
        self.scope_count += 1;
        self.scopes.push(Scope { id, is_class, bindings, fixed, numbers: BTreeMap::new() });
        visit(self);
        self.scopes.pop();
    }

    /// The parameters that some call in the text may name by keyword: a call of this function's own name where only
    /// such calls can reach it, or any call otherwise.
    fn fixed(&self, parameters: &ruff_python_ast::Parameters, called: Option<&str>) -> BTreeSet<String> {
        parameters
            .iter()
            .map(|parameter| parameter.name().as_str())
            .filter(|parameter| {
                self.keywords
                    .iter()
                    .any(|(callee, keyword)| keyword == parameter && called.is_none_or(|called| called == callee))
            })
            .map(str::to_owned)
            .collect()
    }

    fn defaults(&mut self, parameters: &'a ruff_python_ast::Parameters) {
        self.open(Label::Kind(format!("Defaults {}", shape(parameters))), parameters.range);
        for parameter in parameters.iter_non_variadic_params() {
            match parameter.default() {
                Some(default) => self.visit_expr(default),
                None => self.text("required", parameter.range),
            }
        }
        self.close();
    }

    fn parameter_names(&mut self, parameters: &'a ruff_python_ast::Parameters) {
        self.open(Label::Kind("Parameters".into()), parameters.range);
        for parameter in parameters.iter() {
            self.name(parameter.name(), parameter.name().range);
        }
        self.close();
    }

    /// Names of a snippet are like locals, except those that later code may read.
    fn snippet(&mut self, body: &'a [Stmt], unread: &BTreeSet<String>) {
        let mut bindings = Bindings::of_body(body);
        let name_of = |stmt: &'a Stmt| match stmt {
            Stmt::FunctionDef(function) => Some(function.name.as_str()),
            Stmt::ClassDef(class) => Some(class.name.as_str()),
            _ => None,
        };
        let defined: BTreeSet<&str> = body.iter().filter_map(name_of).collect();
        bindings.bound.retain(|name| !unread.contains(name) && !defined.contains(name.as_str()));
        self.open(Label::Kind("Snippet".into()), TextRange::default());
        self.in_scope(bindings, false, BTreeSet::new(), |this| {
            this.visit_body(body);
            // The last expression is the result of a cell. A text by itself may be a docstring.
            if let Some(Stmt::Expr(last)) = body.last()
                && last.value.is_literal_expr()
                && !last.value.is_string_literal_expr()
            {
                this.visit_expr(&last.value);
            }
        });
        self.close();
    }

    fn function_itself(&mut self, function: &'a StmtFunctionDef) {
        self.open(Label::Kind(format!("Function async={}", function.is_async)), function.range);
        self.defaults(&function.parameters);
        let bindings = Bindings::of_function(&function.parameters, function.type_params.as_deref(), &function.body);
        let fixed = self.fixed(&function.parameters, Some(&function.name));
        self.in_scope(bindings, false, fixed, |this| {
            this.parameter_names(&function.parameters);
            this.visit_body(&function.body);
        });
        self.close();
    }

    fn comprehension(&mut self, kind: &str, range: TextRange, elements: &[&'a Expr], generators: &'a [Comprehension]) {
        self.open(Label::Kind(kind.into()), range);
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.in_scope(Bindings::of_comprehension(generators), false, BTreeSet::new(), |this| {
            for (index, generator) in generators.iter().enumerate() {
                this.open(Label::Kind(format!("For async={}", generator.is_async)), generator.range);
                this.visit_expr(&generator.target);
                if index > 0 {
                    this.visit_expr(&generator.iter);
                }
                for condition in &generator.ifs {
                    this.visit_expr(condition);
                }
                this.close();
            }
            for element in elements {
                this.visit_expr(element);
            }
        });
        self.close();
    }

    /// Adjacent literals are one literal, and an f-string without expressions is a string.
    fn f_string(&mut self, f_string: &'a ruff_python_ast::ExprFString) {
        self.open(Label::Kind("FString".into()), f_string.range);
        let mut literal = String::new();
        for part in &f_string.value {
            match part {
                FStringPart::Literal(text) => literal.push_str(text),
                FStringPart::FString(inner) => {
                    for element in &inner.elements {
                        match element {
                            InterpolatedStringElement::Literal(text) => literal.push_str(text),
                            InterpolatedStringElement::Interpolation(_) => {
                                self.flush(&mut literal, f_string.range);
                                self.visit_interpolated_string_element(element);
                            }
                        }
                    }
                }
            }
        }
        let plain = self.stack.last().is_some_and(|node| node.children.is_empty());
        if plain && let Some(node) = self.stack.last_mut() {
            node.label = Label::Text(format!("str {literal}"));
        } else {
            self.flush(&mut literal, f_string.range);
        }
        self.close();
    }

    fn flush(&mut self, literal: &mut String, range: TextRange) {
        if !literal.is_empty() {
            self.text(std::mem::take(literal), range);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Builder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        self.open(label(node), node.range());
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.close();
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        let range = match (body.first(), body.last()) {
            (Some(first), Some(last)) => TextRange::new(first.start(), last.end()),
            _ => {
                let start = self.stack.last().map_or(1, |node| node.lines.0);
                let label = Label::Kind(BODY.into());
                self.stack.push(Node { label, children: Vec::new(), lines: (start, start), hash: 0 });
                return self.close();
            }
        };
        self.open(Label::Kind(BODY.into()), range);
        for stmt in body.iter().filter(|stmt| !is_idle(stmt)) {
            self.visit_stmt(stmt);
        }
        self.close();
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let in_class = self.scopes.last().is_some_and(|scope| scope.is_class);
        match stmt {
            Stmt::FunctionDef(function) => {
                self.open(Label::Kind(format!("Function async={}", function.is_async)), function.range);
                for decorator in &function.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.name(&function.name, function.name.range);
                self.defaults(&function.parameters);
                let bindings =
                    Bindings::of_function(&function.parameters, function.type_params.as_deref(), &function.body);
                let fixed = self.fixed(&function.parameters, None);
                self.in_scope(bindings, false, fixed, |this| {
                    this.parameter_names(&function.parameters);
                    this.visit_body(&function.body);
                });
                self.close();
            }
            Stmt::ClassDef(class) => {
                self.open(Label::Kind("Class".into()), class.range);
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                // An instance shows the name of its class.
                self.text(class.name.as_str(), class.name.range);
                self.name(&class.name, class.name.range);
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.in_scope(Bindings::of_body(&class.body), true, BTreeSet::new(), |this| {
                    this.visit_body(&class.body);
                });
                self.close();
            }
            Stmt::AnnAssign(assign) if in_class => {
                self.open(Label::Kind("Annotated".into()), assign.range);
                self.visit_expr(&assign.target);
                self.visit_expr(&assign.annotation);
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                }
                self.close();
            }
            Stmt::AnnAssign(assign) if assign.value.is_none() && assign.target.is_name_expr() => {}
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.name(&name.id, name.range),
            Expr::FString(f_string) => self.f_string(f_string),
            // The parser does not know lone surrogates. All of them become this character, and only the text
            // distinguishes them.
            Expr::StringLiteral(string) if string.value.to_str().contains('\u{FFFD}') => {
                self.text(format!("written {}", self.lines.text(expr.range())), expr.range());
            }
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) => self.leaf(label(expr.into()), expr.range()),
            Expr::Lambda(lambda) => {
                self.open(Label::Kind("Lambda".into()), lambda.range);
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                let bindings = Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body);
                let fixed =
                    lambda.parameters.as_deref().map(|parameters| self.fixed(parameters, None)).unwrap_or_default();
                self.in_scope(bindings, false, fixed, |this| {
                    if let Some(parameters) = &lambda.parameters {
                        this.parameter_names(parameters);
                    }
                    this.visit_expr(&lambda.body);
                });
                self.close();
            }
            Expr::ListComp(comp) => self.comprehension("ListComp", comp.range, &[&comp.elt], &comp.generators),
            Expr::SetComp(comp) => self.comprehension("SetComp", comp.range, &[&comp.elt], &comp.generators),
            Expr::Generator(comp) => self.comprehension("Generator", comp.range, &[&comp.elt], &comp.generators),
            Expr::DictComp(comp) => match &comp.key {
                Some(key) => self.comprehension("DictComp", comp.range, &[key, &comp.value], &comp.generators),
                None => self.comprehension("DictComp **", comp.range, &[&comp.value], &comp.generators),
            },
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_identifier(&mut self, identifier: &'a Identifier) {
        let binds = self.stack.last().is_some_and(|node| match &node.label {
            Label::Kind(kind) => ["ExceptHandler", "PatternMatchAs", "PatternMatchStar", "PatternMatchMapping"]
                .iter()
                .any(|binding| kind.starts_with(binding)),
            _ => false,
        });
        if binds {
            self.name(identifier, identifier.range);
        } else {
            self.text(identifier.as_str(), identifier.range);
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        // `import a.b` binds `a`, `import a.b as c` binds the submodule.
        let first = alias.name.split('.').next().unwrap_or_default();
        let from = self.stack.last().is_some_and(|node| node.label != Label::Kind("StmtImport ".into()));
        let bound = match &alias.asname {
            Some(name) => name.as_str(),
            None if from => alias.name.as_str(),
            None => first,
        };
        let submodule = alias.asname.is_some() && alias.name.contains('.');
        self.open(Label::Kind(format!("Alias {} {submodule}", alias.name)), alias.range);
        self.name(bound, alias.range);
        self.close();
    }

    fn visit_singleton(&mut self, singleton: &'a Singleton) {
        self.mark(match singleton {
            Singleton::None => "None",
            Singleton::True => "True",
            Singleton::False => "False",
        });
    }

    fn visit_bool_op(&mut self, op: &'a BoolOp) {
        self.mark(op.as_str());
    }

    fn visit_operator(&mut self, op: &'a Operator) {
        self.mark(op.as_str());
    }

    fn visit_unary_op(&mut self, op: &'a UnaryOp) {
        self.mark(op.as_str());
    }

    fn visit_cmp_op(&mut self, op: &'a CmpOp) {
        self.mark(op.as_str());
    }
}
