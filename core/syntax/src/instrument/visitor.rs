//! The walk over a text: scopes, value sites, branches and names. The neighbouring files edit expressions and
//! statements.

use std::hash::{Hash, Hasher};

use ruff_python_ast::token::Token;
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Decorator, ElifElseClause, ExceptHandler, Expr, Identifier, InterpolatedStringElement, Keyword, MatchCase,
    Parameter, Pattern, Stmt, TString, TypeParams,
};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHasher;

use super::InstrumentError;
use super::edits::Edits;
use super::path::render;
use super::tokens::TokenStream;
use crate::parse::Lines;
use crate::scopes::{Bindings, is_private, mangle};
use crate::site::{Branch, BranchKind, Site, SiteKind, SiteTable};

/// A scope around the visitor's current place.
pub(super) struct Scope {
    pub(super) is_class: bool,
    pub(super) bindings: Bindings,
}

/// Walks one function in source order and collects edits and sites.
pub(super) struct Instrumenter<'a> {
    text: &'a str,
    pub(super) lines: &'a Lines<'a>,
    pub(super) tokens: TokenStream<'a>,
    pub(super) edits: Edits,
    pub(super) table: SiteTable,
    pub(super) scopes: Vec<Scope>,
    /// The class around the extracted function, which the text loses: its private names must be written out.
    pub(super) outer_class: Option<&'a str>,
    /// The classes inside the function, innermost last. The compiler mangles their private names.
    pub(super) inner_classes: Vec<String>,
    /// The exceptions that the handlers of the enclosing `try` bodies catch, innermost last.
    pub(super) catches: Vec<Vec<String>>,
    /// The fingerprints of the enclosing `finally` clauses and of the items of `with` statements, innermost last.
    pub(super) cleanups: Vec<u64>,
    /// The names of `contextlib.suppress` in this text.
    pub(super) suppressors: Vec<String>,
    /// The call or `yield` whose value the current statement drops.
    pub(super) discarded: Option<TextRange>,
    /// The start of the current simple statement.
    pub(super) statement_start: TextSize,
    /// The last expression of a snippet, whose value is the snippet's value.
    pub(super) result: Option<TextRange>,
    /// Within text that must not change, only names are recorded.
    pub(super) quiet: bool,
    /// Functions keep their place and their annotations.
    pub(super) keeps_annotations: bool,
    /// Names report their values, as all other sites do.
    pub(super) reports_names: bool,
}

impl<'a> Instrumenter<'a> {
    pub(super) fn new(text: &'a str, lines: &'a Lines<'a>, tokens: &'a [Token]) -> Self {
        Self {
            text,
            lines,
            tokens: TokenStream(tokens),
            edits: Edits::default(),
            table: SiteTable::default(),
            scopes: Vec::new(),
            outer_class: None,
            inner_classes: Vec::new(),
            catches: Vec::new(),
            cleanups: Vec::new(),
            suppressors: vec![super::statements::SUPPRESS.to_owned()],
            discarded: None,
            statement_start: TextSize::default(),
            result: None,
            quiet: false,
            keeps_annotations: false,
            reports_names: false,
        }
    }

    pub(super) fn finish(mut self) -> Result<(String, SiteTable), InstrumentError> {
        self.table.lines.sort_unstable();
        self.table.lines.dedup();
        Ok((self.edits.apply(self.text)?, self.table))
    }

    /// Visits text that must not change.
    pub(super) fn quietly(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.quiet, true);
        visit(self);
        self.quiet = before;
    }

    pub(super) fn site(&mut self, kind: SiteKind, range: TextRange, identifier: String) -> usize {
        let site = Site {
            kind,
            start: range.start().to_u32(),
            end: range.end().to_u32(),
            line: self.lines.line(range.start()),
            identifier,
            path: render(self.text, self.tokens.within(range)),
            catches: self.catches.iter().rev().flatten().cloned().collect(),
            discarded: self.discarded == Some(range) && kind == SiteKind::Call,
        };
        let number = self.table.sites.len();
        if !self.cleanups.is_empty() {
            let mut hasher = FxHasher::default();
            self.cleanups.hash(&mut hasher);
            self.table.cleanups.push((number as u32, hasher.finish()));
        }
        self.table.sites.push(site);
        number
    }

    /// Notes that code in the range runs after a failure within what is visited next.
    pub(super) fn cleaned_up_by(&mut self, range: TextRange) {
        let mut hasher = FxHasher::default();
        render(self.text, self.tokens.within(range)).hash(&mut hasher);
        self.cleanups.push(hasher.finish());
    }

    /// What a consumer may do at a `yield`.
    pub(super) fn yielded(&mut self, range: TextRange) {
        self.table.yields.sent |= self.discarded != Some(range);
        // A consumer that asks for nothing more ends the generator where it is.
        let finished =
            ["Exception", "GeneratorExit"].iter().filter(|_| !self.cleanups.is_empty()).map(|name| (*name).to_owned());
        for name in self.catches.iter().rev().flatten().cloned().chain(finished) {
            if !self.table.yields.thrown.contains(&name) {
                self.table.yields.thrown.push(name);
            }
        }
    }

    /// The name as the compiler would store it at this place.
    pub(super) fn mangled(&self, name: &str) -> String {
        mangle(name, self.inner_classes.last().map(String::as_str).or(self.outer_class))
    }

    /// Whether a private name of the lost class must be written out.
    pub(super) fn spell(&mut self, name: &str, range: TextRange) {
        if !self.quiet && is_private(name) {
            let written = self.written(name);
            if written != name {
                self.edits.replace(range.start().to_usize(), range.end().to_usize(), written);
            }
        }
    }

    /// The form in which a name must be written here.
    pub(super) fn written(&self, name: &str) -> String {
        if self.inner_classes.is_empty() { mangle(name, self.outer_class) } else { name.to_owned() }
    }

    /// The `identifier` of a callee or container.
    pub(super) fn last_identifier(&self, expr: &Expr) -> String {
        match expr {
            Expr::Name(name) => self.mangled(&name.id),
            Expr::Attribute(attribute) => self.mangled(&attribute.attr),
            _ => String::new(),
        }
    }

    /// Wraps a whole expression, in its own parentheses if it would otherwise need those of its context.
    pub(super) fn wrap(&mut self, expr: &'a Expr, before: &str) {
        let own = match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) => true,
            Expr::Tuple(tuple) => !tuple.parenthesized,
            Expr::Generator(generator) => !generator.parenthesized,
            _ => false,
        };
        self.edits.insert(expr.start().to_usize(), if own { format!("{before}(") } else { before.to_owned() });
        self.visit_expr(expr);
        self.edits.insert(expr.end().to_usize(), if own { "))" } else { ")" });
    }

    /// Marks a condition that decides a branch.
    pub(super) fn branch(&mut self, kind: BranchKind, condition: &'a Expr) {
        if self.quiet {
            return self.visit_expr(condition);
        }
        let line = self.lines.line(condition.start());
        let number = self.table.branches.len();
        self.table.branches.push(Branch {
            kind,
            start: condition.start().to_u32(),
            end: condition.end().to_u32(),
            line,
        });
        self.table.lines.push(line);
        self.wrap(condition, &format!("_tc_b({number}, "));
    }
}

impl<'a> SourceOrderVisitor<'a> for Instrumenter<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.statement(stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.name(name),
            Expr::Attribute(attribute) => self.attribute(attribute),
            Expr::Call(call) => self.call(call),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::If(ternary) => self.ternary(ternary),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::Compare(compare) if self.comparison(compare) => {}
            Expr::Yield(_) => {
                self.yielded(expr.range());
                source_order::walk_expr(self, expr);
            }
            Expr::ListComp(comp) => self.comprehension(&[&comp.elt], &comp.generators),
            Expr::SetComp(comp) => self.comprehension(&[&comp.elt], &comp.generators),
            Expr::Generator(comp) => self.comprehension(&[&comp.elt], &comp.generators),
            Expr::DictComp(comp) => match &comp.key {
                Some(key) => self.comprehension(&[key, &comp.value], &comp.generators),
                None => self.comprehension(&[&comp.value], &comp.generators),
            },
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.spell(&parameter.name, parameter.name.range);
        if let Some(annotation) = parameter.annotation.as_ref().filter(|_| !self.keeps_annotations) {
            self.drop_annotation(parameter.name.end(), annotation.range(), true);
        }
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        // CPython does not mangle these.
        self.visit_expr(&keyword.value);
    }

    fn visit_decorator(&mut self, decorator: &'a Decorator) {
        self.visit_expr(&decorator.expression);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        self.handler(handler);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        if let Some(test) = &clause.test {
            self.branch(BranchKind::If, test);
        }
        self.visit_body(&clause.body);
    }

    fn visit_match_case(&mut self, case: &'a MatchCase) {
        self.visit_pattern(&case.pattern);
        if let Some(guard) = &case.guard {
            self.branch(BranchKind::Guard, guard);
        }
        self.visit_body(&case.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.quietly(|this| source_order::walk_pattern(this, pattern));
    }

    fn visit_type_params(&mut self, _params: &'a TypeParams) {}

    fn visit_t_string(&mut self, t_string: &'a TString) {
        self.quietly(|this| source_order::walk_t_string(this, t_string));
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        let InterpolatedStringElement::Interpolation(interpolation) = element else { return };
        if interpolation.debug_text.is_some() {
            self.quietly(|this| this.visit_expr(&interpolation.expression));
        } else {
            self.visit_expr(&interpolation.expression);
        }
        for part in interpolation.format_spec.iter().flat_map(|spec| spec.elements.iter()) {
            self.visit_interpolated_string_element(part);
        }
    }

    fn visit_identifier(&mut self, _identifier: &'a Identifier) {}
}
