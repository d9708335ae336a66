//! Edits of statements: line marks, definitions, `raise`, `except`, annotations, `nonlocal`. `visitor` walks
//! expressions.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    ExceptHandler, Expr, Identifier, Stmt, StmtAnnAssign, StmtClassDef, StmtFunctionDef, StmtImportFrom, StmtNonlocal,
    StmtRaise, StmtTry, StmtWith, WithItem,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::visitor::{Instrumenter, Scope};
use crate::dotted;
use crate::scopes::Bindings;
use crate::site::BranchKind;

impl<'a> Instrumenter<'a> {
    pub(super) fn statement(&mut self, stmt: &'a Stmt) {
        if is_simple(stmt) {
            let line = self.lines.line(stmt.start());
            self.table.lines.push(line);
            self.edits.insert(stmt.start().to_usize(), format!("_tc_l({line});"));
            self.statement_start = stmt.start();
        }
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::If(branch) => {
                self.branch(BranchKind::If, &branch.test);
                self.visit_body(&branch.body);
                for clause in &branch.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
            }
            Stmt::While(repeat) => {
                self.branch(BranchKind::While, &repeat.test);
                self.visit_body(&repeat.body);
                self.visit_body(&repeat.orelse);
            }
            Stmt::For(repeat) => {
                self.visit_expr(&repeat.target);
                self.header(stmt.start(), &repeat.iter);
                self.visit_body(&repeat.body);
                self.visit_body(&repeat.orelse);
            }
            Stmt::Match(choice) => {
                self.header(stmt.start(), &choice.subject);
                for case in &choice.cases {
                    self.visit_match_case(case);
                }
            }
            Stmt::Assert(assert) => {
                self.branch(BranchKind::Assert, &assert.test);
                if let Some(message) = &assert.msg {
                    self.visit_expr(message);
                }
            }
            Stmt::Raise(raise) => self.raise(raise),
            Stmt::Try(attempt) => self.attempt(attempt),
            Stmt::With(with) => self.with(with),
            Stmt::AnnAssign(assign) => self.annotated(assign),
            Stmt::Expr(statement) => {
                let value = match statement.value.as_ref() {
                    Expr::Await(awaited) => &awaited.value,
                    _ => &statement.value,
                };
                let used = self.result == Some(statement.range());
                self.discarded = ((value.is_call_expr() || value.is_yield_expr()) && !used).then(|| value.range());
                self.visit_expr(&statement.value);
                self.discarded = None;
            }
            Stmt::Global(global) => self.spell_all(&global.names),
            Stmt::Nonlocal(nonlocal) => self.nonlocal(nonlocal),
            Stmt::Import(import) => {
                for alias in import.names.iter().filter_map(|alias| alias.asname.as_ref()) {
                    self.spell(alias, alias.range);
                }
            }
            Stmt::ImportFrom(import) => {
                self.suppressors.extend(suppressors(import));
                for alias in import.names.iter().filter_map(|alias| alias.asname.as_ref()) {
                    self.spell(alias, alias.range);
                }
            }
            Stmt::TypeAlias(_) => {}
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    /// Marks the line on which a compound statement begins, by what it evaluates there first.
    fn header(&mut self, start: TextSize, first: &'a Expr) {
        let line = self.lines.line(start);
        self.table.lines.push(line);
        self.edits.insert(first.start().to_usize(), format!("_tc_l({line}) or ("));
        self.visit_expr(first);
        self.edits.insert(first.end().to_usize(), ")");
    }

    pub(super) fn function(&mut self, function: &'a StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        self.spell(&function.name, function.name.range);
        self.visit_parameters(&function.parameters);
        if let Some(returns) = function.returns.as_ref().filter(|_| !self.keeps_annotations) {
            self.drop_annotation(function.parameters.end(), returns.range(), false);
        }
        let bindings = Bindings::of_function(&function.parameters, function.type_params.as_deref(), &function.body);
        self.in_function(bindings, |this| this.documented_body(&function.body));
    }

    pub(super) fn assigned_lambda(&mut self, targets: &'a [Expr], value: &'a Expr) {
        for target in targets {
            self.visit_expr(target);
        }
        if let Expr::Lambda(lambda) = value {
            self.marked_lambda(lambda);
        }
    }

    pub(super) fn annotated_lambda(&mut self, assign: &'a StmtAnnAssign) {
        self.drop_annotation(assign.target.end(), assign.annotation.range(), false);
        if let Some(value) = &assign.value {
            self.assigned_lambda(std::slice::from_ref(&assign.target), value);
        }
    }

    /// The statements of a module, with the value of the last expression used.
    pub(super) fn snippet(&mut self, body: &'a [Stmt]) {
        if let Some(Stmt::Expr(last)) = body.last() {
            self.result = Some(last.range());
        }
        self.documented_body(body);
    }

    pub(super) fn class(&mut self, class: &'a StmtClassDef) {
        for decorator in &class.decorator_list {
            self.visit_decorator(decorator);
        }
        self.spell(&class.name, class.name.range);
        if let Some(arguments) = &class.arguments {
            self.visit_arguments(arguments);
        }
        self.scopes.push(Scope { is_class: true, bindings: Bindings::of_body(&class.body) });
        // The compiler mangles with the name that it is given here.
        let name = self.written(&class.name);
        self.inner_classes.push(name);
        self.documented_body(&class.body);
        self.inner_classes.pop();
        self.scopes.pop();
    }

    /// A docstring remains the first statement.
    fn documented_body(&mut self, body: &'a [Stmt]) {
        let documented = matches!(body.first(), Some(Stmt::Expr(first)) if first.value.is_string_literal_expr());
        self.visit_body(body.get(usize::from(documented)..).unwrap_or(&[]));
    }

    fn raise(&mut self, raise: &'a StmtRaise) {
        if let Some(exception) = &raise.exc {
            self.wrap(exception, "_tc_r(");
        }
        if let Some(cause) = &raise.cause {
            self.visit_expr(cause);
        }
    }

    fn attempt(&mut self, attempt: &'a StmtTry) {
        let caught: Vec<String> = attempt
            .handlers
            .iter()
            .flat_map(|ExceptHandler::ExceptHandler(handler)| match handler.type_.as_deref() {
                None => vec!["Exception".to_owned()],
                Some(Expr::Tuple(tuple)) => tuple.elts.iter().filter_map(dotted).collect(),
                Some(single) => dotted(single).into_iter().collect(),
            })
            .collect();
        let around = self.cleanups.len();
        if let (Some(first), Some(last)) = (attempt.finalbody.first(), attempt.finalbody.last()) {
            self.cleaned_up_by(TextRange::new(first.start(), last.end()));
        }
        self.catches.push(caught);
        self.visit_body(&attempt.body);
        self.catches.pop();
        for handler in &attempt.handlers {
            self.visit_except_handler(handler);
        }
        self.visit_body(&attempt.orelse);
        self.cleanups.truncate(around);
        self.visit_body(&attempt.finalbody);
    }

    /// `with suppress(E):` is a `try` body whose `except` clauses name `E`.
    fn with(&mut self, with: &'a StmtWith) {
        let around = (self.catches.len(), self.cleanups.len());
        for (number, item) in with.items.iter().enumerate() {
            if number == 0 {
                self.header(with.start(), &item.context_expr);
            } else {
                self.visit_expr(&item.context_expr);
            }
            if let Some(target) = &item.optional_vars {
                self.visit_expr(target);
            }
            self.catches.extend(self.suppressed(item));
            self.cleaned_up_by(item.context_expr.range());
        }
        self.visit_body(&with.body);
        self.catches.truncate(around.0);
        self.cleanups.truncate(around.1);
    }

    /// The classes that a context manager suppresses, if it is `suppress`.
    fn suppressed(&self, item: &WithItem) -> Option<Vec<String>> {
        let Expr::Call(call) = &item.context_expr else { return None };
        let suppresses = match call.func.as_ref() {
            Expr::Name(name) => self.suppressors.iter().any(|own| *own == name.id.as_str()),
            Expr::Attribute(attribute) => attribute.attr.as_str() == SUPPRESS && attribute.value.is_name_expr(),
            _ => false,
        };
        let classes: Vec<String> = call.arguments.args.iter().filter_map(dotted).collect();
        (suppresses && !classes.is_empty()).then_some(classes)
    }

    pub(super) fn handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(caught) = &handler.type_ {
            self.edits.insert(caught.start().to_usize(), "_tc_e(");
            self.header(handler.start(), caught);
            self.edits.insert(caught.end().to_usize(), ")");
        }
        if let Some(name) = &handler.name {
            self.spell(name, name.range);
        }
        self.visit_body(&handler.body);
    }

    fn annotated(&mut self, assign: &'a StmtAnnAssign) {
        self.visit_expr(&assign.target);
        let in_class = self.scopes.last().is_some_and(|scope| scope.is_class);
        if in_class {
            self.visit_expr(&assign.annotation);
        } else if self.keeps_annotations {
            // Annotations of locals are never evaluated.
        } else if assign.value.is_some() {
            self.drop_annotation(assign.target.end(), assign.annotation.range(), false);
        } else {
            // Without a value, only the annotation makes the name local.
            let (start, end) = (assign.annotation.start().to_usize(), assign.annotation.end().to_usize());
            let breaks = self.breaks(assign.annotation.range(), false);
            self.edits.replace(start, end, format!("None{breaks}"));
        }
        if let Some(value) = &assign.value {
            self.visit_expr(value);
        }
    }

    /// Removes `: T` or `-> T`. Line ends stay, behind a backslash where no bracket is open.
    pub(super) fn drop_annotation(&mut self, after: TextSize, annotation: TextRange, bracketed: bool) {
        let opener = [TokenKind::Colon, TokenKind::Rarrow]
            .into_iter()
            .filter_map(|kind| self.tokens.next(after, kind))
            .filter(|token| token.end() <= annotation.start())
            .min_by_key(Ranged::start);
        let Some(opener) = opener else { return };
        let end = self.tokens.end_with_parentheses(opener.end(), annotation);
        let range = TextRange::new(opener.start(), end);
        let breaks = self.breaks(range, bracketed);
        self.edits.replace(range.start().to_usize(), range.end().to_usize(), breaks);
    }

    /// The line ends in a range, which must be kept.
    fn breaks(&self, range: TextRange, bracketed: bool) -> String {
        let count = self.lines.starts_within(range.start().to_usize(), range.end().to_usize()).len();
        if bracketed { "\n".repeat(count) } else { " \\\n".repeat(count) }
    }

    fn spell_all(&mut self, names: &'a [Identifier]) {
        for name in names {
            self.spell(name, name.range);
        }
    }

    /// A name that no enclosing function binds any more is now a global.
    fn nonlocal(&mut self, nonlocal: &'a StmtNonlocal) {
        let around = self.scopes.split_last().map_or(&[][..], |(_, around)| around);
        let is_bound =
            |name: &&Identifier| around.iter().any(|scope| !scope.is_class && scope.bindings.is_local(name.as_str()));
        let (kept, freed): (Vec<_>, Vec<_>) = nonlocal.names.iter().partition(is_bound);
        let start = nonlocal.start().to_usize();
        if freed.is_empty() {
            return self.spell_all(&nonlocal.names);
        }
        if kept.is_empty() {
            self.edits.replace(start, start + "nonlocal".len(), "global");
            return self.spell_all(&nonlocal.names);
        }
        let breaks = self.breaks(nonlocal.range(), false);
        let list = |names: &[&Identifier]| names.iter().map(|name| self.written(name)).collect::<Vec<_>>().join(", ");
        let text = format!("nonlocal {}; global {}{breaks}", list(&kept), list(&freed));
        self.edits.replace(start, nonlocal.end().to_usize(), text);
    }
}

/// The context manager of `contextlib` whose body may fail.
pub(super) const SUPPRESS: &str = "suppress";

/// The names under which an import provides `contextlib.suppress`.
pub(super) fn suppressors(import: &StmtImportFrom) -> impl Iterator<Item = String> {
    let aliases = if import.module.as_deref() == Some("contextlib") { &*import.names } else { &[] };
    aliases
        .iter()
        .filter(|alias| alias.name.as_str() == SUPPRESS)
        .filter_map(|alias| alias.asname.as_ref().map(|name| name.to_string()))
}

/// Whether a mark and a semicolon can precede this statement.
fn is_simple(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::FunctionDef(_)
        | Stmt::ClassDef(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::If(_)
        | Stmt::With(_)
        | Stmt::Match(_)
        | Stmt::Try(_) => false,
        Stmt::ImportFrom(import) => import.module.as_deref() != Some("__future__"),
        _ => true,
    }
}
