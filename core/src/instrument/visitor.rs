//! Expressions: value sites, branches, names. Statements are in the file beside this one.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Comprehension, Decorator, ElifElseClause, ExceptHandler, Expr, ExprAttribute, ExprCall, ExprCompare, ExprContext,
    ExprIf, ExprLambda, ExprName, ExprSlice, ExprSubscript, Identifier, InterpolatedStringElement, Keyword, MatchCase,
    Parameter, Pattern, Stmt, TString, TypeParams,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::InstrumentError;
use super::edits::Edits;
use super::path::render;
use super::tokens::TokenStream;
use crate::site::{Branch, BranchKind, Comparator, Comparison, Site, SiteKind, SiteTable};
use crate::source::parse::Lines;
use crate::source::scopes::{Bindings, is_private, mangle};

/// One scope around the place where the visitor is.
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
    /// Class around the extracted function, left behind: its private names must be written out.
    pub(super) outer_class: Option<&'a str>,
    /// Classes inside the function, innermost last: the compiler mangles their private names.
    pub(super) inner_classes: Vec<String>,
    /// What the handlers of the `try` bodies around here catch, innermost last.
    pub(super) catches: Vec<Vec<String>>,
    /// `finally` clauses and `with` statements around here.
    pub(super) finished: usize,
    /// The names that `contextlib.suppress` goes by.
    pub(super) suppressors: Vec<String>,
    /// The call or `yield` whose value the statement at hand drops.
    pub(super) discarded: Option<TextRange>,
    /// Where the simple statement at hand starts.
    pub(super) statement_start: TextSize,
    /// The last expression of a snippet: its value is the snippet's.
    pub(super) result: Option<TextRange>,
    /// Text that must stay as it is: only names are noted.
    quiet: bool,
    /// Functions stay where they are, with all that their annotations name.
    pub(super) keeps_annotations: bool,
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
            finished: 0,
            suppressors: vec![super::statements::SUPPRESS.to_owned()],
            discarded: None,
            statement_start: TextSize::default(),
            result: None,
            quiet: false,
            keeps_annotations: false,
        }
    }

    pub(super) fn finish(mut self) -> Result<(String, SiteTable), InstrumentError> {
        self.table.lines.sort_unstable();
        self.table.lines.dedup();
        Ok((self.edits.apply(self.text)?, self.table))
    }

    /// Goes over text that must not change.
    pub(super) fn quietly(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.quiet, true);
        visit(self);
        self.quiet = before;
    }

    fn site(&mut self, kind: SiteKind, range: TextRange, identifier: String) -> usize {
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
        self.table.sites.push(site);
        self.table.sites.len() - 1
    }

    /// What a consumer may do at a `yield`.
    fn yielded(&mut self, range: TextRange) {
        self.table.yields.sent |= self.discarded != Some(range);
        // A consumer that asks for no more ends the generator where it stands.
        let finished =
            ["Exception", "GeneratorExit"].iter().filter(|_| self.finished > 0).map(|name| (*name).to_owned());
        for name in self.catches.iter().rev().flatten().cloned().chain(finished) {
            if !self.table.yields.thrown.contains(&name) {
                self.table.yields.thrown.push(name);
            }
        }
    }

    /// As the compiler would name it at this place.
    fn mangled(&self, name: &str) -> String {
        mangle(name, self.inner_classes.last().map(String::as_str).or(self.outer_class))
    }

    /// A private name of the class left behind has to be written out.
    pub(super) fn spell(&mut self, name: &str, range: TextRange) {
        if !self.quiet && is_private(name) {
            let written = self.written(name);
            if written != name {
                self.edits.replace(range.start().to_usize(), range.end().to_usize(), written);
            }
        }
    }

    /// How a name must be written here.
    pub(super) fn written(&self, name: &str) -> String {
        if self.inner_classes.is_empty() { mangle(name, self.outer_class) } else { name.to_owned() }
    }

    /// `identifier` of a callee or container.
    fn last_identifier(&self, expr: &Expr) -> String {
        match expr {
            Expr::Name(name) => self.mangled(&name.id),
            Expr::Attribute(attribute) => self.mangled(&attribute.attr),
            _ => String::new(),
        }
    }

    /// Wraps a whole expression; what stands unparenthesised only where it stood gets parentheses of its own.
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

    /// A condition that decides a branch.
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

    fn name(&mut self, name: &'a ExprName) {
        // After a mark's semicolon the parser takes a leading `match` for the statement, unless parenthesised.
        if name.id == "match" && name.start() == self.statement_start {
            self.edits.insert(name.start().to_usize(), "(");
            self.edits.insert(name.end().to_usize(), ")");
        }
        if !matches!(name.ctx, ExprContext::Load) {
            return self.spell(&name.id, name.range);
        }
        let number = self.site(SiteKind::Name, name.range, self.mangled(&name.id));
        if self.quiet {
            return;
        }
        if self.is_free_in_class(&name.id) {
            self.edits.replace(name.start().to_usize(), name.end().to_usize(), format!("_tc_n({number})"));
        } else {
            self.spell(&name.id, name.range);
        }
    }

    /// In a class body: bound neither there nor in a function around it.
    fn is_free_in_class(&self, name: &str) -> bool {
        let Some((class, around)) = self.scopes.split_last() else { return false };
        class.is_class
            && !class.bindings.is_local(name)
            && !around.iter().any(|scope| !scope.is_class && scope.bindings.is_local(name))
    }

    fn attribute(&mut self, attribute: &'a ExprAttribute) {
        let range = attribute.attr.range;
        if !matches!(attribute.ctx, ExprContext::Load) || self.quiet {
            self.visit_expr(&attribute.value);
            return self.spell(&attribute.attr, range);
        }
        let number = self.site(SiteKind::Attribute, attribute.range, self.mangled(&attribute.attr));
        self.edits.insert(attribute.start().to_usize(), format!("_tc_a({number}, "));
        self.visit_expr(&attribute.value);
        if let Some(dot) = self.tokens.last_before(range.start(), TokenKind::Dot) {
            self.edits.replace(dot.start().to_usize(), dot.end().to_usize(), "");
        }
        self.edits.replace(range.start().to_usize(), range.end().to_usize(), ")");
    }

    fn call(&mut self, call: &'a ExprCall) {
        if self.quiet {
            self.visit_expr(&call.func);
            return self.visit_arguments(&call.arguments);
        }
        let number = self.site(SiteKind::Call, call.range(), self.last_identifier(&call.func));
        self.edits.insert(call.start().to_usize(), format!("_tc_c({number}, "));
        self.visit_expr(&call.func);
        let open = call.arguments.start().to_usize();
        self.edits.replace(open, open + 1, if call.arguments.is_empty() { "" } else { ", " });
        if let ([Expr::Generator(generator)], true) = (&*call.arguments.args, call.arguments.keywords.is_empty())
            && !generator.parenthesized
        {
            // Beside the callee it is no longer the sole argument.
            self.edits.insert(generator.start().to_usize(), "(");
            self.visit_arguments(&call.arguments);
            self.edits.insert(generator.end().to_usize(), ")");
        } else {
            self.visit_arguments(&call.arguments);
        }
    }

    fn subscript(&mut self, subscript: &'a ExprSubscript) {
        if !matches!(subscript.ctx, ExprContext::Load) || self.quiet {
            self.visit_expr(&subscript.value);
            return self.visit_expr(&subscript.slice);
        }
        let number = self.site(SiteKind::Subscript, subscript.range, self.last_identifier(&subscript.value));
        self.edits.insert(subscript.start().to_usize(), format!("_tc_s({number}, "));
        self.visit_expr(&subscript.value);
        let close = subscript.end().to_usize();
        let Some(open) = self.tokens.next(subscript.value.end(), TokenKind::Lsqb) else { return };
        let mut after = ")";
        match subscript.slice.as_ref() {
            Expr::Tuple(tuple) if !tuple.parenthesized => {
                // `a[*b]` is a tuple without a comma.
                let alone = tuple.elts.len() == 1
                    && !self.tokens.has_comma(TextRange::new(tuple.elts[0].end(), subscript.end()));
                after = if alone { ",))" } else { "))" };
                self.edits.replace(open.start().to_usize(), open.end().to_usize(), ", (");
                for element in &tuple.elts {
                    self.key(element);
                }
            }
            key => {
                self.edits.replace(open.start().to_usize(), open.end().to_usize(), ", ");
                self.key(key);
            }
        }
        self.edits.replace(close - 1, close, after);
    }

    /// A key, or one dimension of one.
    fn key(&mut self, key: &'a Expr) {
        match key {
            Expr::Slice(slice) => self.slice(slice),
            _ => self.visit_expr(key),
        }
    }

    /// `a:b:c` -> `_tc_k(a, b, c)`.
    fn slice(&mut self, slice: &'a ExprSlice) {
        self.edits.insert(slice.start().to_usize(), "_tc_k(");
        if let Some(lower) = &slice.lower {
            self.visit_expr(lower);
        }
        let first = self.tokens.next(slice.lower.as_deref().map_or(slice.start(), Ranged::end), TokenKind::Colon);
        let Some(first) = first else { return };
        let mut text = String::from(if slice.lower.is_some() { ", " } else { "None, " });
        if slice.upper.is_none() {
            text.push_str("None");
        }
        self.edits.replace(first.start().to_usize(), first.end().to_usize(), text);
        if let Some(upper) = &slice.upper {
            self.visit_expr(upper);
        }
        let after_upper = slice.upper.as_deref().map_or(first.end(), Ranged::end);
        let second = self.tokens.next(after_upper, TokenKind::Colon).filter(|colon| colon.end() <= slice.end());
        match second {
            Some(second) => {
                let text = if slice.step.is_some() { ", " } else { ", None" };
                self.edits.replace(second.start().to_usize(), second.end().to_usize(), text);
                if let Some(step) = &slice.step {
                    self.visit_expr(step);
                }
                self.edits.insert(slice.end().to_usize(), ")");
            }
            None => self.edits.insert(slice.end().to_usize(), ", None)"),
        }
    }

    /// `a == b` -> `_tc_q(n, op, a, b)`; `false` where it is left alone. Chains stay as they are: their middle is
    /// evaluated once.
    fn comparison(&mut self, compare: &'a ExprCompare) -> bool {
        let (Some(comparator), [right]) = (comparator(compare), &*compare.comparators) else {
            return false;
        };
        let after = compare.left.end();
        let first = self.tokens.next(after, operator_token(comparator));
        let second = match comparator {
            Comparator::NotIn => self.tokens.next(after, TokenKind::In),
            Comparator::IsNot => self.tokens.next(after, TokenKind::Not),
            _ => None,
        };
        let (Some(first), false) = (first, self.quiet) else {
            return false;
        };
        let number = self.table.comparisons.len();
        self.table.comparisons.push(Comparison {
            comparator,
            start: compare.start().to_u32(),
            end: compare.end().to_u32(),
            line: self.lines.line(compare.start()),
        });
        self.edits.insert(compare.start().to_usize(), format!("_tc_q({number}, {}, ", comparator as u8));
        self.visit_expr(&compare.left);
        self.edits.replace(first.start().to_usize(), first.end().to_usize(), ",");
        if let Some(second) = second {
            self.edits.replace(second.start().to_usize(), second.end().to_usize(), "");
        }
        self.visit_expr(right);
        self.edits.insert(compare.end().to_usize(), ")");
        true
    }

    fn ternary(&mut self, ternary: &'a ExprIf) {
        self.visit_expr(&ternary.body);
        self.branch(BranchKind::Ternary, &ternary.test);
        self.visit_expr(&ternary.orelse);
    }

    fn lambda(&mut self, lambda: &'a ExprLambda) {
        if let Some(parameters) = &lambda.parameters {
            self.visit_parameters(parameters);
        }
        self.in_function(Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body), |this| {
            this.visit_expr(&lambda.body);
        });
    }

    /// A lambda that is the function itself: its body is a line.
    pub(super) fn marked_lambda(&mut self, lambda: &'a ExprLambda) {
        if let Some(parameters) = &lambda.parameters {
            self.visit_parameters(parameters);
        }
        let line = self.lines.line(lambda.body.start());
        self.table.lines.push(line);
        self.in_function(Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body), |this| {
            this.wrap(&lambda.body, &format!("_tc_l({line}) or ("));
        });
    }

    /// Enters a function's scope; `try` statements around it catch nothing there.
    pub(super) fn in_function(&mut self, bindings: Bindings, visit: impl FnOnce(&mut Self)) {
        let catches = std::mem::take(&mut self.catches);
        let finished = std::mem::take(&mut self.finished);
        self.scopes.push(Scope { is_class: false, bindings });
        visit(self);
        self.scopes.pop();
        self.finished = finished;
        self.catches = catches;
    }

    /// A comprehension in source order: the first iterable belongs to the scope around it.
    fn comprehension(&mut self, elements: &[&'a Expr], generators: &'a [Comprehension]) {
        let bindings = Bindings::of_comprehension(generators);
        self.scopes.push(Scope { is_class: false, bindings });
        for element in elements {
            self.visit_expr(element);
        }
        for (index, generator) in generators.iter().enumerate() {
            self.visit_expr(&generator.target);
            if index == 0 {
                let scope = self.scopes.pop();
                self.visit_expr(&generator.iter);
                self.scopes.extend(scope);
            } else {
                self.visit_expr(&generator.iter);
            }
            for condition in &generator.ifs {
                self.branch(BranchKind::Comprehension, condition);
            }
        }
        self.scopes.pop();
    }
}

/// The operator of a comparison that is no chain.
fn comparator(compare: &ExprCompare) -> Option<Comparator> {
    let [op] = &*compare.ops else { return None };
    Some(Comparator::of(*op))
}

/// The operator's first token.
fn operator_token(comparator: Comparator) -> TokenKind {
    match comparator {
        Comparator::Eq => TokenKind::EqEqual,
        Comparator::NotEq => TokenKind::NotEqual,
        Comparator::Lt => TokenKind::Less,
        Comparator::LtE => TokenKind::LessEqual,
        Comparator::Gt => TokenKind::Greater,
        Comparator::GtE => TokenKind::GreaterEqual,
        Comparator::In => TokenKind::In,
        Comparator::NotIn => TokenKind::Not,
        Comparator::Is | Comparator::IsNot => TokenKind::Is,
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
